/** Sites as plain folders: writing one out, and reading any folder of files as a site to be. */

import { constants, type Dirent } from 'node:fs'
import { copyFile, lstat, mkdir, open, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { blobStream, type StoredBlob } from './blobs.ts'
import { BlobGone, isLost, Unusable } from './errors.ts'
import { fileName, type TakenNames, takenNames } from './filenames.ts'
import { entryOf, fileKey, MANIFEST, MANIFEST_END, type ManifestEntry, openManifest, readManifest } from './manifest.ts'
import { OWN_FOLDER } from './modes.ts'
import { isStorable, splitPath } from './paths.ts'
import type { Property, Resource } from './resource.ts'
import type { SiteStore } from './store.ts'
import { shownSeconds } from './tags.ts'

/** Told now and then during long work. */
export interface ProgressReport {
  /** What is being done. */
  step: string
  done: number
  total?: number
}

export interface TransferOptions {
  progress?: (report: ProgressReport) => void
}

export interface Exported {
  files: number
  bytes: number
  /** What could not be written, one sentence each. */
  problems: string[]
}

/** Files between two reports of progress. */
const REPORT_EVERY = 100

/** Times that a document is looked up again when it changes while it is being written out. */
const ATTEMPTS = 5

/** What became of a resource that could not be written. */
const CHANGING = 'kept changing and was left out'
const LOST = 'was left out: its bytes in the store are missing, or others; run scriptorium check'

/**
 * Writes the bytes of a resource, those of a later version if it changes meanwhile.
 *
 * @returns what was written, or in words why nothing was
 */
async function writeBody(site: SiteStore, resource: Resource, target: string): Promise<Resource | string> {
  let current: Resource | undefined = resource
  let reason = CHANGING
  for (let attempt = 0; attempt < ATTEMPTS && current !== undefined; attempt++) {
    const body = await site.body(current)
    if (body !== undefined && 'bytes' in body) {
      await writeFile(target, body.bytes, { flag: 'wx' })
      return current
    }
    if (body !== undefined) {
      try {
        await writeBlob(body.blob, target)
        return current
      } catch (error) {
        if (!isLost(error)) throw error
        await rm(target, { force: true })
        reason = LOST
      }
    }
    current = await site.find(resource.path)
  }
  return reason
}

/** @throws BlobGone when what there is of the bytes has another size, or is not what was stored */
async function writeBlob(blob: StoredBlob, target: string): Promise<void> {
  if (blob.file !== undefined) {
    // Copies without copying where the file system can, and reads the bytes to the end, which proves them.
    await copyFile(blob.file, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await finished(blobStream(blob).resume())
  } else await writeFile(target, blobStream(blob), { flag: 'wx' })
  const { size } = await lstat(target)
  if (size !== blob.size) throw new BlobGone(`${size} of ${blob.size} bytes`)
}

/** Makes sure that nothing is overwritten or mixed. @throws Unusable when the folder holds anything */
async function prepareTarget(directory: string): Promise<void> {
  // Denied documents are among the files.
  await mkdir(directory, { recursive: true, mode: OWN_FOLDER })
  if ((await readdir(directory)).length > 0)
    throw new Unusable(`the folder ${directory} is not empty; name another one, which the export makes`)
}

/**
 * Writes a site to a folder of plain files, with a sidecar that keeps types, times and properties. The site may change
 * meanwhile: each file is whole, but not all are from one moment.
 * @param directory made when absent, for this user alone
 * @throws Unusable when the folder is not empty; Error of the file system
 */
export async function exportSite(site: SiteStore, directory: string, options: TransferOptions = {}): Promise<Exported> {
  await prepareTarget(directory)
  const manifest = await open(join(directory, MANIFEST), 'wx')
  const exported: Exported = { files: 0, bytes: 0, problems: [] }
  /** Relative folder of each collection, ending in `/`, and the names given out in it. */
  const folders = new Map<string, { folder: string; taken: TakenNames }>()
  folders.set('/', { folder: '', taken: takenNames(MANIFEST) })
  let separator = '\n'
  async function note(resource: Resource, file: string): Promise<void> {
    const entry = entryOf(resource, file, await site.properties(resource.path))
    await manifest.appendFile(separator + JSON.stringify(entry))
    separator = ',\n'
  }

  try {
    await manifest.appendFile(openManifest(site.name))
    const root = await site.find('/')
    if (root !== undefined) await note(root, './')
    for await (const resource of site.walk('/', { collections: true })) {
      const { folder: collection, name } = splitPath(resource.path)
      const parent = folders.get(collection)
      // Made while the export runs, in a collection that was not there when it was passed.
      if (parent === undefined) continue
      const file = parent.folder + fileName(name, parent.taken)
      if (resource.kind === 'collection') {
        await mkdir(join(directory, file))
        folders.set(resource.path, { folder: `${file}/`, taken: takenNames() })
        await note(resource, `${file}/`)
        continue
      }
      const target = join(directory, file)
      const written = await writeBody(site, resource, target)
      if (typeof written === 'string') {
        exported.problems.push(`${resource.path} ${written}`)
        continue
      }
      const seconds = shownSeconds(written)
      await utimes(target, seconds, seconds)
      await note(written, file)
      exported.files++
      exported.bytes += written.size
      if (exported.files % REPORT_EVERY === 0) options.progress?.({ step: 'exporting', done: exported.files })
    }
    await manifest.appendFile(MANIFEST_END)
    await manifest.datasync()
  } finally {
    await manifest.close()
  }
  options.progress?.({ step: 'exporting', done: exported.files, total: exported.files })
  return exported
}

/** A file of a folder, and what it is to be in a site. */
export interface FolderEntry {
  /** Decoded, in NFC; ends in `/` for collections. */
  path: string
  /** Where to read it. */
  file: string
  /** Bytes; 0 for collections. */
  size: number
  /** As the sidecar says, where there is one. */
  type?: string
  kind?: Resource['kind']
  language?: string
  /** Unix milliseconds. */
  created?: number
  modified?: number
  /** Unix seconds. */
  shown?: number
  properties?: Property[]
}

export interface ReadOptions {
  /** Yields collections too, each before its members: empty ones exist, and they may have properties. */
  collections?: boolean
  /** Folder that is left out, relative and ending in `/`: the one that the site is stored in. */
  store?: string | undefined
  /** Told of what is left out: symbolic links, devices, names that are no text, cannot be stored or differ only by normal form. */
  skipped?: (file: string, reason: string) => void
}

/**
 * Takes what the sidecar says of a file; its path only if it can be one, in the same collection: else files of several
 * folders could be meant for one place.
 */
function describe(entry: FolderEntry, known: ManifestEntry | undefined): FolderEntry {
  if (known === undefined) return entry
  const { file: _file, path, ...rest } = known
  const place = path.normalize('NFC')
  const isThere = isStorable(path) && splitPath(place).folder === splitPath(entry.path).folder
  return { ...entry, ...rest, path: isThere && place.endsWith('/') === entry.path.endsWith('/') ? place : entry.path }
}

/** The text of a name, or undefined if it is none. */
function decode(name: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name)
  } catch {
    return undefined
  }
}

/** What the system says of a folder that has changed since it was found, or that others have closed. */
const GONE = ['ENOENT', 'ENOTDIR', 'EACCES']

/** @returns why, where a folder is nested too deep to be named */
async function membersOf(folder: string): Promise<Dirent<Buffer>[] | string> {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG')
      return 'its path is longer than the file system reads'
    throw error
  }
}

/**
 * Reads a folder as a site to be: a plain one, or one that `exportSite` wrote. Nothing outside the folder is read:
 * symbolic links are not followed and the sidecar names no files, it only describes those that are there.
 * @param directory must exist
 * @throws Error of the file system, or when there is a sidecar that cannot be understood
 */
export async function* readFolder(directory: string, options: ReadOptions = {}): AsyncGenerator<FolderEntry> {
  const manifest = await readManifest(directory)
  const skip = options.skipped ?? (() => undefined)

  /** Folders that are still to be read: a list, for a folder in another one may be nested deeper than calls are. */
  const folders = [{ relative: '', collection: '/' }]

  async function* read(relative: string, collection: string): AsyncGenerator<FolderEntry> {
    const folder = join(directory, relative)
    const found = await membersOf(folder).catch((error: NodeJS.ErrnoException) => {
      const isGone = relative !== '' && GONE.includes(error.code ?? '')
      if (isGone) return `it cannot be read (${error.code})`
      throw error
    })
    if (typeof found === 'string') return skip(folder, found)
    const taken = new Set<string>()
    for (const each of found.sort((a, b) => Buffer.compare(a.name, b.name))) {
      const name = decode(each.name)
      const file = join(folder, name ?? each.name.toString('latin1'))
      const kind = each.isDirectory() ? '/' : ''
      if (name === undefined) skip(file, 'its name is not UTF-8')
      else if (!each.isDirectory() && !each.isFile()) skip(file, 'it is neither a file nor a folder')
      else if (`${relative}${name}${kind}` === options.store) skip(file, 'it is the data folder')
      else if (relative === '' && name === MANIFEST) continue
      else {
        const plain = { path: `${collection}${name.normalize('NFC')}${kind}`, file, size: 0 }
        const entry = describe(plain, manifest.get(fileKey(`${relative}${name}${kind}`)))
        if (!isStorable(entry.path)) skip(file, 'its name cannot be stored')
        else if (taken.has(entry.path)) skip(file, 'another one is read under the same name')
        else {
          taken.add(entry.path)
          if (each.isFile()) {
            const size = await lstat(file).then(
              ({ size }) => size,
              () => undefined,
            )
            if (size === undefined) skip(file, 'it is gone')
            else yield { ...entry, size }
          } else {
            if (options.collections) yield entry
            folders.push({ relative: `${relative}${name}/`, collection: entry.path })
          }
        }
      }
    }
  }

  const root = manifest.get('./')
  if (options.collections && root !== undefined) yield { ...describe({ path: '/', file: directory, size: 0 }, root) }
  for (let next = folders.pop(); next; next = folders.pop()) yield* read(next.relative, next.collection)
}
