/**
 * Backups as folders: bytes by their SHA-256 in `objects/`, so that a later backup into the same folder writes only what is
 * new; one list of everything stored (`state-….jsonl`); and `backup.json`, which names the list and is replaced at the very
 * end: a backup that was interrupted leaves the one before it whole.
 */

import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Unusable } from '../errors.ts'
import type { Property, Resource, ResourceKind } from '../resource.ts'
import { listTag, shownSeconds } from '../tags.ts'

export const HEAD = 'backup.json'
export const FORMAT = 1

/** Where the bytes of this digest are. */
export function objectFile(folder: string, digest: string): string {
  return join(folder, 'objects', digest.slice(0, 2), digest.slice(2))
}

/** One site of a backup. */
export interface SavedSite {
  name: string
  files: number
  /** Of all files together. */
  bytes: number
  /** Tag of the root at depth 1 (DAV-52): the same only if everything below is the same. */
  tag: string
}

/** What `backup.json` says. */
export interface Head {
  format: typeof FORMAT
  /** When it was made: RFC 3339. */
  at: string
  /** Name of the list in the same folder. */
  state: string
  /** SHA-256 of the list. */
  digest: string
  sites: SavedSite[]
  /** Values of the installation, such as the key that signs sessions. */
  settings: Record<string, string>
}

/** One line of the list: a site begins, or one resource of it. */
export type Line = { site: string } | SavedResource

export interface SavedResource {
  path: string
  kind: ResourceKind
  digest?: string
  size?: number
  type?: string
  language?: string
  /** Unix seconds that the mount shows. */
  shown?: number
  properties?: Property[]
}

/** The line of a resource. */
export function lineOf(resource: Resource, properties: Property[]): SavedResource {
  const { path, kind, digest, size, type, language } = resource
  const described = { ...(language !== undefined && { language }), ...(properties.length > 0 && { properties }) }
  if (kind === 'collection') return { path, kind, ...described }
  return { path, kind, digest, size, type, shown: shownSeconds(resource), ...described }
}

/** What a root proves of everything below it. */
export function tagOf(root: Resource | undefined): string {
  return root === undefined ? '' : listTag(root)
}

/**
 * @returns what `backup.json` says; undefined when the folder holds none
 * @throws Unusable for one that cannot be understood
 */
export async function readHead(folder: string): Promise<Head | undefined> {
  const text = await readFile(join(folder, HEAD), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (text === undefined) return undefined
  let head: Partial<Head> | null
  try {
    head = JSON.parse(text)
  } catch (error) {
    throw new Unusable(`${join(folder, HEAD)} is not JSON`, { cause: error })
  }
  const { format, state, digest, sites } = head ?? {}
  if (
    format !== FORMAT ||
    typeof digest !== 'string' ||
    !Array.isArray(sites) ||
    !/^state-[\w-]+\.jsonl$/.test(state ?? '')
  )
    throw new Unusable(`${join(folder, HEAD)} has a format that this release does not know`)
  return head as Head
}

/**
 * The lines of the list.
 *
 * @throws Unusable where one cannot be understood
 */
export async function* readLines(folder: string, state: string): AsyncGenerator<Line> {
  const file = join(folder, state)
  let number = 0
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    try {
      yield JSON.parse(text) as Line
    } catch (error) {
      throw new Unusable(`line ${number} of ${file} is torn`, { cause: error })
    }
  }
}
