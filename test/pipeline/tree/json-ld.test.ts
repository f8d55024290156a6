import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { writingJsonLd } from '../../../pipeline/tree/json-ld.ts'
import { TreeError } from '../../../pipeline/tree/limits.ts'
import { topLevelItems } from '../../../pipeline/tree/microdata.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { takesLess } from '../../support/cost.ts'

const read = (source: string): unknown => {
  const text = atOnce(writingJsonLd(topLevelItems(parseDocument('html', source).root)))
  return JSON.parse(text.slice(0, text.length))
}
const item = (type: string, inner = '', more = ''): string => `<div itemscope itemtype="${type}" ${more}>${inner}</div>`
const PERSON = 'https://schema.org/Person'

describe('tree/json-ld', () => {
  describe('HTTP-72 itemtype', () => {
    const cases: [types: string, expected: object][] = [
      [PERSON, { '@context': 'https://schema.org/', '@type': 'Person' }],
      ['https://x.example/v#a/b', { '@context': 'https://x.example/v#', '@type': 'a/b' }],
      ['https://x.example/a/b', { '@context': 'https://x.example/a/', '@type': 'b' }],
      ['Person', { '@type': 'Person' }],
      ['a/b', { '@type': 'a/b' }],
      ['urn:demo:Card', { '@type': 'urn:demo:Card' }],
      ['https://schema.org/', { '@type': 'https://schema.org/' }],
      ['https://x.example/v#', { '@type': 'https://x.example/v#' }],
      ['', {}],
      [
        'https://schema.org/Person https://schema.org/Author',
        { '@context': 'https://schema.org/', '@type': ['Person', 'Author'] },
      ],
      [
        'https://schema.org/Person https://x.example/Author',
        { '@type': ['https://schema.org/Person', 'https://x.example/Author'] },
      ],
      ['https://schema.org/Person Author', { '@type': ['https://schema.org/Person', 'Author'] }],
      ['Person Author', { '@type': ['Person', 'Author'] }],
    ]
    for (const [types, expected] of cases) it(types || 'none', () => expect(read(item(types))).to.deep.equal(expected))
  })

  describe('HTTP-72 mapping', () => {
    it('the example of the specification', () => {
      const source =
        '<p itemscope itemtype="https://schema.org/Offer" itemid="urn:x:7"><data itemprop="price" value="3">three</data> <span itemprop="tag">hot</span><span itemprop="tag">new</span></p>'
      expect(read(source)).to.deep.equal({
        '@context': 'https://schema.org/',
        '@type': 'Offer',
        '@id': 'urn:x:7',
        price: '3',
        tag: ['hot', 'new'],
      })
    })

    it('once is a scalar, more often an array in document order', () => {
      expect(read(item('T', '<b itemprop=a>1</b><b itemprop=b>2</b><b itemprop=a>3</b>'))).to.deep.equal({
        '@type': 'T',
        a: ['1', '3'],
        b: '2',
      })
    })

    it('values are strings as written', () => {
      expect(
        read(item('T', '<data itemprop=n value=3></data><a itemprop=u href="../x?y#z"></a><b itemprop=t> x </b>')),
      ).to.deep.equal({ '@type': 'T', n: '3', u: '../x?y#z', t: ' x ' })
    })

    const nested = (type: string): string => `<p itemprop=n itemscope itemtype="${type}"><b itemprop=a>1</b></p>`
    it('a nested item has no context of its own where it is that of its parent', () => {
      expect(read(item(PERSON, nested('https://schema.org/Place')))).to.deep.equal({
        '@context': 'https://schema.org/',
        '@type': 'Person',
        n: { '@type': 'Place', a: '1' },
      })
    })
    it('and has one where it differs', () => {
      expect(read(item(PERSON, nested('https://x.example/Place')))).to.deep.equal({
        '@context': 'https://schema.org/',
        '@type': 'Person',
        n: { '@context': 'https://x.example/', '@type': 'Place', a: '1' },
      })
      expect(read(item('', nested(PERSON)))).to.deep.equal({
        n: { '@context': 'https://schema.org/', '@type': 'Person', a: '1' },
      })
    })

    it('an item met again inside itself is left out', () => {
      const source = `<p itemscope itemref=x></p><div id=x><b itemprop=a>1</b><i itemprop=n itemscope itemref=x></i></div>`
      expect(read(source)).to.deep.equal({ a: '1', n: { a: '1' } })
    })
    it('also where it is one of several values', () => {
      const source =
        '<p itemscope itemref=x></p><div id=x><i itemprop=n itemscope itemref=y></i></div><div id=y><i itemprop=m itemscope itemref=x></i><b itemprop="n m">1</b></div>'
      expect(read(source)).to.deep.equal({ n: { m: [{}, '1'], n: '1' } })
    })
    it('an item met again elsewhere is written again', () => {
      expect(
        read(
          '<p itemscope itemref="x y"></p><i id=x itemprop=n itemscope itemref=z></i><i id=y itemprop=m itemscope itemref=z></i><i id=z itemprop=k itemscope></i>',
        ),
      ).to.deep.equal({
        n: { k: {} },
        m: { k: {} },
      })
    })

    it('names of object members are names like others', () => {
      const { root } = parseDocument('html', item('T', '<b itemprop="__proto__ constructor">1</b>'))
      const text = atOnce(writingJsonLd(topLevelItems(root)))
      expect(text).to.equal('{"@type":"T","__proto__":"1","constructor":"1"}')
    })
    it('no property takes the place of a keyword; other names with @ stand', () => {
      expect(read(item('T', '<b itemprop="@type @id @context @graph @validate">1</b>'))).to.deep.equal({
        '@type': 'T',
        '@validate': '1',
      })
    })
  })

  describe('HTTP-72 number of items', () => {
    it('none', () => expect(read('<p>')).to.deep.equal({ '@graph': [] }))
    it('one is flat', () => expect(read(item('T'))).to.deep.equal({ '@type': 'T' }))
    it('several in document order; a shared context moves to the top', () => {
      expect(read(item(PERSON, '<b itemprop=a>1</b>') + item('https://schema.org/Place'))).to.deep.equal({
        '@context': 'https://schema.org/',
        '@graph': [{ '@type': 'Person', a: '1' }, { '@type': 'Place' }],
      })
    })
    it('else each keeps its own', () => {
      expect(read(item(PERSON) + item('https://x.example/Place') + item('T'))).to.deep.equal({
        '@graph': [
          { '@context': 'https://schema.org/', '@type': 'Person' },
          { '@context': 'https://x.example/', '@type': 'Place' },
          { '@type': 'T' },
        ],
      })
      expect(read(item('T') + item(''))).to.deep.equal({ '@graph': [{ '@type': 'T' }, {}] })
    })
  })

  describe('hostile items', () => {
    const refused = (source: string): Promise<string> => {
      const items = topLevelItems(parseDocument('html', source).root)
      return takesLess(2000, () => {
        try {
          atOnce(writingJsonLd(items))
        } catch (error) {
          if (error instanceof TreeError) return error.reason
          throw error
        }
        return 'written'
      })
    }
    it('items that double at every step are refused', async () => {
      const step = (i: number): string =>
        `<p id=r${i}><b itemprop=a itemscope itemref=r${i + 1}></b><b itemprop=b itemscope itemref=r${i + 1}></b></p>`
      expect(
        await refused(`<p itemscope itemref=r0></p>${Array.from({ length: 40 }, (_, i) => step(i)).join('')}`),
      ).to.equal('too-large')
    })
    it('items that are all part of each other are refused', async () => {
      expect(
        await refused(
          `<div id=all>${'<p itemprop=n itemscope itemref=all></p>'.repeat(100)}</div><p itemscope itemref=all>`,
        ),
      ).to.equal('too-large')
    })
    it('items that nest endlessly are refused', async () => {
      const step = (i: number): string => `<p id=r${i}><b itemprop=n itemscope itemref=r${i + 1}></b></p>`
      expect(
        await refused(`<p itemscope itemref=r0></p>${Array.from({ length: 20_000 }, (_, i) => step(i)).join('')}`),
      ).to.equal('too-deep')
    })
    it('SEC-12 an item of many names is gone through once, however deep it lies', async () => {
      const element = undefined as never
      const leaf = { element, types: [], properties: [] as { name: string; element: never; value: never }[] }
      const properties = Array.from({ length: 20_000 }, (_, i) => ({ name: `p${i}`, element, value: 'v' as never }))
      let inner = { ...leaf, properties }
      for (let i = 0; i < 300; i++) inner = { ...leaf, properties: [{ name: 'a', element, value: inner as never }] }
      const text = await takesLess(400, () => atOnce(writingJsonLd([inner])))
      expect(text.slice(300 * 5, 300 * 5 + 20)).to.equal('{"p0":"v","p1":"v","')
      expect(text.slice(text.length - 313, text.length)).to.equal(`"p19999":"v"${'}'.repeat(301)}`)
    })
    it('a list of values keeps the place of its first, among many names as among few', () => {
      for (const count of [2, 600]) {
        const names = Array.from({ length: count }, (_, i) => `p${i}`)
        const text = atOnce(
          writingJsonLd(
            topLevelItems(
              parseDocument('html', item('T', [...names, 'p0', 'p0'].map(name => `<b itemprop=${name}>v</b>`).join('')))
                .root,
            ),
          ),
        )
        const members = names.map(name => `"${name}":${name === 'p0' ? '["v","v","v"]' : '"v"'}`)
        expect(text).to.equal(`{"@type":"T",${members.join(',')}}`)
      }
    })
    it('many items are not', async () => {
      expect(await refused(item(PERSON, '<b itemprop=a>1</b><b itemprop=b>2</b>').repeat(20_000))).to.equal('written')
    })
  })
})
