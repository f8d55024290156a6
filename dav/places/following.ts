/** Drafts and helper files go with what is moved, copied or removed on the site, in the same commit (DAV-8). */

import type { Alongside } from '../../pipeline/write/commit.ts'
import type { Exchange } from '../exchange.ts'
import type { Followed } from './unpublished.ts'

export interface Following {
  /** Stored with the commit of the site. */
  alongside: Alongside
  /** To be called under the leases of the paths: what is to follow, if anything is. */
  look(): Promise<void>
}

export function following({ mount, alongside }: Pick<Exchange, 'mount' | 'alongside'>, followed: Followed): Following {
  let beside: ReturnType<NonNullable<Alongside['beside']>>
  return {
    alongside: {
      notes: () => alongside?.notes() ?? [],
      stored: notes => alongside?.stored(notes),
      beside: () => beside,
    },
    async look() {
      beside = await mount.unpublished.following(followed)
    },
  }
}
