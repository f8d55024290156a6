/** What answers are made of: an answer can be given again as long as nothing of it has changed. */

import type { Held } from '../site/held.ts'
import type { Site } from '../site/site.ts'

export interface Dependencies {
  /** Whether nothing has changed; false also where nobody knows without asking the store. */
  hold(site: Site): boolean
}

/** A document, or a blob, in this version. */
export function onDocument({ resource: { path, version } }: Held): Dependencies {
  return { hold: site => site.held(path)?.resource.version === version }
}
