/** The sidecar of an exported site: what plain files cannot keep, one line of JSON per resource. */

import { join } from 'node:path'
import { Unusable } from './errors.ts'
import { isFieldValue } from './field-value.ts'
import { openPlainFile } from './plain-file.ts'
import type { Property, Resource } from './resource.ts'

/** Name of the sidecar in the exported folder. */
export const MANIFEST = '.scriptorium.json'

/** What the sidecar says of one resource. */
export interface ManifestEntry {
  path: string
  /** Relative file name with `/` between segments; that of a collection ends in `/`. */
  file: string
  kind: Resource['kind']
  /** Content type of files. */
  type?: string
  language?: string
  /** Unix milliseconds. */
  created: number
  modified: number
  /** Unix seconds, set by a client (DAV-36). */
  shown?: number
  properties?: Property[]
}

/** Entry of a resource that was written to a file. */
export function entryOf(resource: Resource, file: string, properties: Property[]): ManifestEntry {
  const { path, kind, type, language, created, modified, shown } = resource
  const entry: ManifestEntry = { path, file, kind, created, modified }
  if (kind !== 'collection') entry.type = type
  if (language !== undefined) entry.language = language
  if (shown !== undefined) entry.shown = shown
  if (properties.length > 0) entry.properties = properties
  return entry
}

/** First lines of the sidecar. */
export function openManifest(site: string): string {
  return `{ "format": 1, "site": ${JSON.stringify(site)}, "resources": [`
}

/** Last line of the sidecar. */
export const MANIFEST_END = '\n] }\n'

const isText = (value: unknown): value is string => typeof value === 'string'
const isField = (value: unknown): value is string => isText(value) && isFieldValue(value)
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function isProperty(value: unknown): value is Property {
  const { namespace, name, value: content } = (value ?? {}) as Record<string, unknown>
  return isText(namespace) && isText(name) && isText(content)
}

/** An entry as far as it is well-formed; sidecars may have been edited by hand. */
function readEntry(value: unknown): ManifestEntry | undefined {
  const entry = (value ?? {}) as Record<string, unknown>
  const { path, file, kind, type, language, created, modified, shown, properties } = entry
  if (!isText(path) || !isText(file)) return undefined
  if (kind !== 'document' && kind !== 'blob' && kind !== 'collection') return undefined
  const read: ManifestEntry = {
    path,
    file,
    kind,
    created: isNumber(created) ? created : 0,
    modified: isNumber(modified) ? modified : 0,
  }
  if (isField(type)) read.type = type
  if (isField(language)) read.language = language
  if (isNumber(shown)) read.shown = shown
  if (Array.isArray(properties)) read.properties = properties.filter(isProperty)
  return read
}

/** What stands for a file name on file systems that change its composition. */
export function fileKey(file: string): string {
  return file.normalize('NFC')
}

/**
 * Reads the sidecar of a folder.
 * @returns entries by `fileKey`; empty when there is no sidecar
 * @throws Unusable when there is one that cannot be understood
 */
export async function readManifest(directory: string): Promise<Map<string, ManifestEntry>> {
  const file = join(directory, MANIFEST)
  const handle = await openPlainFile(file, 'refused').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (handle === undefined) return new Map()
  const text = await handle.readFile('utf8').finally(() => handle.close())
  let content: { format?: unknown; resources?: unknown }
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new Unusable(`${file} is not JSON`, { cause: error })
  }
  if (content?.format !== 1 || !Array.isArray(content.resources)) throw new Unusable(`${file} has an unknown format`)
  const entries = content.resources.map(readEntry).filter(entry => entry !== undefined)
  return new Map(entries.map(entry => [fileKey(entry.file), entry]))
}
