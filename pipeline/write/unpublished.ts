/**
 * Unpublished files, which belong to a site's mount and not to the site: drafts and helper files. They are stored like
 * blobs, in a part of the store that no host name reaches, without validation, rules and events.
 */

import { overlongMember } from '../http/path.ts'
import type { Site } from '../site/site.ts'
import type { StagedBlob } from '../store/blobs.ts'
import type { Change } from '../store/commit.ts'
import type { Property, Resource } from '../store/resource.ts'

/** Whether a text is a list of path patterns, as credentials have them. */
function isPatterns(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every(pattern => typeof pattern === 'string')
  } catch {
    return false
  }
}

const isFlag = (value: string) => value === 'true' || value === 'false'

/**
 * What files remember of the request that stored them, by name, and which values it can have. It goes where they go,
 * and gives way to what there is of somebody else who moves or copies them.
 */
export const REMEMBERED = {
  /** Where it is false, what becomes of the file later must leave the configuration of the site alone (SEC-10). */
  configure: isFlag,
  /** What its author may write, where that is not the whole site. */
  scope: isPatterns,
  /** Where it is true, no triggers run for it. */
  raw: isFlag,
  /** Calls of triggers that have led to it. */
  depth: (value: string) => /^\d{1,9}$/.test(value),
  /** Whether its request may not have been carried out. */
  begun: isFlag,
}

export type Remembered = Readonly<Partial<Record<keyof typeof REMEMBERED, string>>>

/** What takes the place of what many files remember: values by name, and names of which none is left. */
export interface Anew {
  derived: Remembered
  dropped: readonly string[]
}

export interface UnpublishedFile {
  path: string
  content: StagedBlob | Uint8Array
  type: string
  language?: string
  /** Unix seconds. */
  shown?: number
  /** Dead properties that come along. */
  properties?: readonly Property[]
  /** Its collection must be there, unpublished as well. */
  needsParent?: boolean
  /** False where what becomes of it later must leave the configuration of the site alone (SEC-10). */
  configure?: boolean
  /** What else becomes of it by, by name; goes along with it. */
  remembered?: Remembered
}

/** Name and value by which a file says that it may not configure; they go along with it. */
const MAY_NOT_CONFIGURE = { configure: 'false' }

/** Whether whoever stored a file may configure the site by it. */
export async function mayConfigureBy({ store }: Pick<Site, 'store'>, path: string): Promise<boolean> {
  return (await store.derived(path, 'configure')) !== MAY_NOT_CONFIGURE.configure
}

/** Changes that store a file. */
export function unpublishedPut(file: UnpublishedFile): Change[] {
  const { path, content, type, language, shown, properties = [], needsParent = false } = file
  const { configure = true, remembered } = file
  const derived: Remembered = { ...remembered, ...(!configure && MAY_NOT_CONFIGURE) }
  const put: Change = {
    op: 'put',
    path,
    ...(needsParent && { needsParent }),
    kind: 'blob',
    content: content instanceof Uint8Array ? { bytes: content } : { staged: content },
    type,
    ...(language !== undefined && { language }),
    ...(shown !== undefined && { shown }),
    ...(Object.keys(derived).length > 0 && { derived }),
  }
  if (properties.length === 0) return [put]
  return [put, { op: 'describe', path, set: [...properties], remove: [] }]
}

/**
 * Carries out changes of unpublished files.
 *
 * @returns the new state by path; undefined when something named by the changes was not as they need it
 * @throws Fault 414 for a collection whose members would come to paths that are too long
 */
export async function commitUnpublished(
  unpublished: Site,
  changes: Change[],
): Promise<Map<string, Resource | undefined> | undefined> {
  if (changes.length === 0) return new Map()
  const result = await unpublished.commit({ changes })
  if (!result.ok && result.reason === 'length') throw overlongMember(result.path)
  return result.ok ? result.resources : undefined
}
