import { expect } from 'chai'
import { describe, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { instance, property, schema, shape } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'

onBothPlanes('Data model, advice about shapes', on => {
  describe('MOD-99 what the advice rests on', () => {
    for (const [permits, content, verdict] of [
      [['[itemprop=who]'], '<script itemprop="who">x()</script>', '206'],
      [['b[itemprop="who"]'], '<script itemprop="who">x()</script>', '422 permit'],
      [['b[itemprop="who"]'], '<b itemprop="who">x</b>', '206'],
      [['.entry'], '<b class="entry other">x</b>', '206'],
      [['[class="entry"]'], '<b class="entry other">x</b>', '422 permit'],
      [['[class="entry"]'], '<b class="entry">x</b>', '206'],
    ] as const)
      it(`${permits} with ${content}: ${verdict}`, async () => {
        await on.shelf.clear()
        await on.shelf.list('/p.html')
        await on.shelf.declare(shape({ selector: 'ul#list', permit: permits }))
        expect(verdictOf(await on.shelf.append('/p.html', content))).to.equal(verdict)
      })

    for (const [permit, verdict] of [
      ['meta[itemprop][content]', '206'],
      ['meta[content]', '422 permit'],
    ] as const)
      it(`a default under ${permit}: ${verdict}`, async () => {
        const type = 'https://tides.example/Reading'
        await on.shelf.clear()
        await on.shelf.declare(
          schema(type, {}, property('state', { default: 'raw' })),
          shape({ selector: 'ul#list', permit: ['li[itemscope][itemtype]', permit] }),
        )
        await on.shelf.list('/p.html')
        expect(verdictOf(await on.shelf.append('/p.html', instance(type)))).to.equal(verdict)
      })
  })
})
