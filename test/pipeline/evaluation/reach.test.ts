/** What a search of a program costs before it looks into any document. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SiteReach } from '../../../pipeline/evaluation/reach.ts'
import type { Allowance } from '../../../pipeline/language/allowance.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import { turnsOf } from '../../support/turns.ts'

const PATHS = Array.from({ length: 400 }, (_, i) => `/d/a-folder/document-${i}.html`)
const ALTERNATIVES = 200
/** What a visitor may send: each of its alternatives takes as much time as a pattern of its own. */
const COSTLY = `/d/*{${Array.from({ length: ALTERNATIVES }, (_, i) => `z${i}[ab]`).join(',')},t-7.}*`

describe('searches of programs', () => {
  const site = { settings: { brand: 'platform' }, documentsWith: () => PATHS } as unknown as Site
  const searched = async (glob: string, covers?: (path: string) => boolean) => {
    const spent = { steps: 0, looks: 0 }
    const allowance = {
      step: (steps = 1) => (spent.steps += steps),
      look: () => spent.looks++,
    } as unknown as Allowance
    const reach = new SiteReach(site, allowance, { scope: '/', ...(covers && { covers }) })
    let found: readonly string[] = []
    const turns = await turnsOf(async () => {
      found = await reach.matching(glob, [[]])
    })
    return { found, turns, ...spent }
  }

  for (const [name, covers] of [
    ['of the site', undefined],
    ['of what a visitor may read', () => true],
  ] as const)
    it(`SEC-12 SES-125 others have their turn while a pattern of many alternatives is held against paths ${name}`, async () => {
      const { found, turns, looks } = await searched(COSTLY, covers)
      expect(found).to.deep.equal(['/d/a-folder/document-7.html'])
      expect(turns).to.be.above(1)
      expect(looks).to.be.at.least((PATHS.length * ALTERNATIVES) / 1000)
    })

  it('SEC-12 SES-125 each alternative is paid for, but not for documents that nobody may know of', async () => {
    expect((await searched('/d/*7.html')).steps).to.equal(PATHS.length)
    expect((await searched(COSTLY)).steps).to.be.at.least((PATHS.length * ALTERNATIVES) / 4)
    expect((await searched(COSTLY, () => false)).steps).to.equal(0)
  })
})
