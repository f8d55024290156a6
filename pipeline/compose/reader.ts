/** The reader of one request, with the page that was put together for it: gates and answer look at the same one. */

import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { isSameState } from '../store/resource.ts'
import { type Composition, compose } from './compose.ts'
import type { Languages } from './languages.ts'
import type { Resolved } from './routes.ts'
import type { Viewer } from './viewer.ts'

export interface Reader {
  readonly viewer: Viewer
  readonly languages: Languages
  /** Whether this reader may not see all of what is at a path, so that failures of its parts are looked at one by one (SEC-6). */
  seesParts?: (path: string) => boolean
  /** By what it is told which groups hold the one who has signed in; another object where that may have changed. */
  membership?: (() => unknown) | undefined
  composed?: { file: StoredFile; composition: Composition; membership: unknown }
}

/** Whether two files are the same version of one document: what has left the memory comes back as another object. */
function isSame({ resource: a }: StoredFile, { resource: b }: StoredFile): boolean {
  return a.path === b.path && isSameState(a, b)
}

/**
 * A document that is not plain, as a reader sees it.
 *
 * @param path canonical, as asked for
 * @throws Fault of the composition (COMP-131)
 */
export async function composedFor(
  site: Site,
  { file, params, found }: Resolved,
  path: string,
  reader: Reader,
): Promise<Composition> {
  const { composed } = reader
  const membership = reader.membership?.()
  const isAsNow = composed?.membership === membership && composed?.composition.reads.hold(site)
  if (composed && isAsNow && isSame(composed.file, file)) return composed.composition
  const composition = await compose(site, file, reader.viewer, reader.languages, params, {
    containing: reader.seesParts?.(path) ?? false,
    found,
  })
  reader.composed = { file, composition, membership }
  return composition
}
