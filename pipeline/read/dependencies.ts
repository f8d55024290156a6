/** What answers are made of: an answer can be given again as long as nothing of it has changed. */

import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { isSameState } from '../store/resource.ts'

export interface Dependencies {
  /** Whether nothing has changed; false also where nobody knows without asking the store. */
  hold(site: Site): boolean
  /** Bytes that it takes; absent where they are few. */
  readonly bytes?: number
}

/** A document, or a blob, in this version. */
export function onDocument({ resource: { path, version, digest } }: StoredFile): Dependencies {
  return {
    hold: site => {
      const file = site.inMemory(path)
      return file !== undefined && isSameState(file.resource, { version, digest })
    },
  }
}
