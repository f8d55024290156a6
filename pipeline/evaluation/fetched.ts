/** What `GET` of the platform interface gives a program (SES-181). */

import { isReserved } from '../http/path.ts'
import { type Fetched, instantOf, type Reach } from '../language/sessel/sessel.ts'
import type { Dictionary, Source, Value } from '../language/values.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'

/** A stored file: a document by its root element, anything else by its path. */
export function fetchedFile(file: StoredFile, source: Source | undefined): Fetched {
  const metadata = metadataOf(file)
  return source ? { source, metadata } : { path: file.resource.path, metadata }
}

function metadataOf({ resource, tag }: StoredFile): Dictionary {
  return new Map<string, Value>([
    ['mimetype', resource.type.split(';')[0]?.trim() ?? ''],
    ['etag', tag],
    ['created', instantOf(resource.created)],
    ['modified', instantOf(resource.modified)],
    ['size', BigInt(resource.size)],
    ['version', BigInt(resource.version)],
  ])
}

/** `GET` of programs that read the site as it stands. */
export function fetching(site: Site, reach: Reach): (path: string) => Promise<Fetched> {
  return async path => {
    if (isReserved(path, site.settings.brand)) return undefined
    const source = await reach.document(path)
    const file = await site.find(path)
    return file && fetchedFile(file, source)
  }
}
