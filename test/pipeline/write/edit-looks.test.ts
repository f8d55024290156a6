import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody } from '../../../pipeline/body.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { perform } from '../../../pipeline/operation.ts'
import type { TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { type ElementWrite, writeElement } from '../../../pipeline/write/element.ts'
import { page } from '../../support/content.ts'
import { type HostedSite, openHosted } from '../model/hosted.ts'
import { elementsOf } from '../tree/samples.ts'

const ITEMS = 300

const item = (i: number, text: string) =>
  `<li id="i${i}" itemscope itemtype="urn:example:Card"><b itemprop="title">${text}</b> <i class="by">somebody</i></li>`

/** Counts how often somebody looks at the attributes of elements from now on. */
function watching(tree: TreeDocument): { count: number } {
  const looks = { count: 0 }
  for (const element of elementsOf(tree.root)) {
    const { attrs } = element
    const get = () => {
      looks.count++
      return attrs
    }
    Object.defineProperty(element, 'attrs', { configurable: true, enumerable: true, get })
  }
  return looks
}

describe('write/element', () => {
  let hosted: HostedSite

  type Wanted = [op: { op: 'put' | 'delete' } | { op: 'post'; placement: 'append' }, selector: string, text: string]

  async function write(...[op, selector, text]: Wanted): Promise<void> {
    const range = { unit: 'selector', selector, wire: selector } as const
    const wanted: ElementWrite = { ...op, path: '/page.html', range, conditions: undefined, cause: {} }
    await perform(
      writeElement(hosted.site, wanted, () => fullAuthority),
      memoryBody(Buffer.from(text)),
    )
  }

  before(async () => {
    hosted = await openHosted(noCode)
    const items = Array.from({ length: ITEMS }, (_, i) => item(i, `Card ${i}`))
    await hosted.put('/page.html', page(`<ul id="list">${items.join('')}</ul>`))
    // The tree that edits are made in, and what is known of it.
    for (let i = 0; i < 2; i++) await write({ op: 'put' }, '#i5', item(5, `first ${i}`))
  })

  after(() => hosted.close())

  const edits: [what: string, (round: number) => Wanted][] = [
    ['replaces', round => [{ op: 'put' }, '#i7', item(7, `other ${round}`)]],
    ['adds', round => [{ op: 'post', placement: 'append' }, '#list', item(ITEMS + round, 'new')]],
    ['removes', round => [{ op: 'delete' }, `#i${20 + round}`, '']],
  ]
  for (const [what, wanted] of edits)
    it(`HTTP-20 HTTP-24 an edit that ${what} one item looks at hardly any other`, async () => {
      const counts: number[] = []
      for (let round = 0; round < 3; round++) {
        const file = await hosted.site.find('/page.html')
        if (!file) throw new Error('not stored')
        const looks = watching(hosted.site.tree(file))
        await write(...wanted(round))
        counts.push(looks.count)
      }
      // One that takes long all the same, as beside the collection of garbage, is made in a copy.
      expect(Math.min(...counts)).to.be.within(1, ITEMS / 4)
    })
})
