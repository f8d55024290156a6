/** What a composition has read: it decides who may be shown the result, and how long it is the right one. */

import type { Held } from '../site/held.ts'
import type { Site } from '../site/site.ts'

export class Reads {
  /** Something that belongs to the requester was read (COMP-22, COMP-115, COMP-73). */
  personal = false
  /** Something was read that is another one each time, such as the clock. */
  fleeting = false
  /** Versions by path; undefined where nothing was stored. */
  readonly documents = new Map<string, number | undefined>()
  /** The whole site was looked through: number of its state. */
  site: number | undefined
  /** Documents that elements of the result come from, beside the page's own. */
  readonly projected = new Set<Held>()

  /** Whether nothing has changed since. */
  hold(site: Site): boolean {
    if (this.site !== undefined && this.site !== site.changes) return false
    for (const [path, version] of this.documents) {
      if (version === undefined || site.held(path)?.resource.version !== version) return false
    }
    return true
  }
}
