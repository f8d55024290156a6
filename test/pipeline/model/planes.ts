/** Suites about data models that run on both planes: whichever one a write comes from, it is judged alike (seed 7.2). */

import { after, before, describe } from 'mocha'
import type { TestServerOptions } from '../../support/server.ts'
import { type ModelShelf, openShelf, type Plane } from './shelf.ts'

/** What a suite needs to know of the plane that it runs on. */
export interface OnPlane {
  plane: Plane
  /** A site of the suite, open while its tests run. */
  shelf: ModelShelf
  /** Another site, to be closed by whoever opens it. */
  open(options?: TestServerOptions): Promise<ModelShelf>
  /** The title of an error document; the mount's own page has none beside the status (MOD-134). */
  title(status: string, more: string): string
}

/** @param suite its shelf can be used in hooks and tests only */
export function onBothPlanes(name: string, suite: (on: OnPlane) => void): void {
  for (const plane of ['public surface', 'mount'] as const) {
    describe(`${name}, on the ${plane}`, () => {
      let shelf: ModelShelf | undefined
      before(async () => {
        shelf = await openShelf({}, plane)
      })
      after(() => shelf?.close())
      suite({
        plane,
        get shelf() {
          if (!shelf) throw new Error('The site is not open yet.')
          return shelf
        },
        open: options => openShelf(options, plane),
        title: (status, more) => (plane === 'mount' ? status : `${status} - ${more}`),
      })
    })
  }
}
