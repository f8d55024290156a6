/**
 * Backups as folders: bytes by their SHA-256 in `objects/`, so that a later backup into the same folder writes only what is
 * new; one list of everything stored (`state-….jsonl`); and `backup.json`, which names the list and is replaced at the very
 * end: a backup that was interrupted leaves the one before it whole.
 */

import { hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Change } from '../commit.ts'
import { Unusable } from '../errors.ts'
import { openPlainFile } from '../plain-file.ts'
import type { Property, Resource } from '../resource.ts'
import type { SiteReader } from '../store.ts'
import { listTag, shownSeconds } from '../tags.ts'
import { type Kept, type SavedResource, siteName } from './lines.ts'

export const HEAD = 'backup.json'
export const FORMAT = 1

/** Bytes of `backup.json`: those of a million sites. */
const LONGEST_HEAD = 256 * 1024 * 1024

/** Where the bytes of this digest are. */
export function objectFile(folder: string, digest: string): string {
  return join(folder, 'objects', digest.slice(0, 2), digest.slice(2))
}

const site = z.object({
  name: siteName,
  files: z.int().nonnegative(),
  /** Of all files together. */
  bytes: z.int().nonnegative(),
  /** Tag of the root at depth 1 (DAV-52): the same only if everything below is the same. */
  tag: z.string(),
})

const shape = z.object({
  format: z.literal(FORMAT),
  /** When it was made: RFC 3339. */
  at: z.iso.datetime(),
  /** Name of the list in the same folder. */
  state: z.string().regex(/^state-[\w-]+\.jsonl$/),
  /** SHA-256 of the list. */
  digest: z.string(),
  sites: z.array(site),
  /** Values of the installation, such as the key that signs sessions. */
  settings: z.record(z.string(), z.string()),
})

/** One site of a backup. */
export type SavedSite = z.infer<typeof site>

/** What `backup.json` says. */
export type Head = z.infer<typeof shape>

/** The derived data of these names that blobs of a site have, by path. */
export async function keptOf(reader: SiteReader, kept: Kept = {}): Promise<Map<string, Record<string, string>>> {
  const found = new Map<string, Record<string, string>>()
  for (const name of Object.keys(kept))
    for await (const { path, value } of reader.allDerived(name)) found.set(path, { ...found.get(path), [name]: value })
  return found
}

/** The line of a resource. @param derived that belong to what is stored */
export function lineOf(resource: Resource, properties: Property[], derived?: Record<string, string>): SavedResource {
  const { path, kind, digest, size, type, language, shown } = resource
  const described = { ...(language !== undefined && { language }), ...(properties.length > 0 && { properties }) }
  if (kind === 'collection') return { path, kind, ...(shown !== undefined && { shown }), ...described }
  const kept = kind === 'blob' && derived !== undefined && { derived }
  return { path, kind, digest, size, type, shown: shownSeconds(resource), ...described, ...kept }
}

/** What gives a resource its properties, and a collection the time that a client has set. */
export function described(
  { path, kind, shown }: Pick<Resource, 'path' | 'kind' | 'shown'>,
  properties: Property[],
): Change[] {
  const time = kind === 'collection' && shown !== undefined && { shown }
  return properties.length > 0 || time ? [{ op: 'describe', path, set: properties, remove: [], ...time }] : []
}

/** What a root proves of everything below it. */
export function tagOf(root: Resource | undefined): string {
  return root === undefined ? '' : listTag(root)
}

/** The text of `backup.json`, with the SHA-256 of what it says. */
export function textOfHead(head: Head): string {
  return `${JSON.stringify({ ...head, proof: proofOf(head) }, null, 2)}\n`
}

function proofOf(said: object): string {
  return hash('sha256', JSON.stringify(said))
}

/** Whether it says what was written; of backups that earlier releases made nothing tells. */
function isProved(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('proof' in value)) return true
  const { proof, ...said } = value
  return proof === proofOf(said)
}

/** @throws Unusable where no backup could have written so much */
async function textOf(handle: FileHandle, name: string): Promise<string> {
  const { size } = await handle.stat()
  if (size > LONGEST_HEAD) throw new Unusable(`${name} is larger than that of any backup`)
  return handle.readFile('utf8')
}

/**
 * @returns what `backup.json` says; undefined when the folder holds none
 * @throws Unusable for one that cannot be understood, or is damaged
 */
export async function readHead(folder: string): Promise<Head | undefined> {
  const handle = await openPlainFile(join(folder, HEAD), 'followed').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (handle === undefined) return undefined
  const text = await textOf(handle, join(folder, HEAD)).finally(() => handle.close())
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Unusable(`${join(folder, HEAD)} is not JSON`, { cause: error })
  }
  const head = shape.safeParse(value).data
  if (!head) throw new Unusable(`${join(folder, HEAD)} has a format that this release does not know`)
  if (!isProved(value)) throw new Unusable(`${join(folder, HEAD)} is not what was written`)
  return head
}
