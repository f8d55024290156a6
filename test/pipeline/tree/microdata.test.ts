import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { TreeError } from '../../../pipeline/tree/limits.ts'
import {
  type Item,
  itemsWithin,
  readingAllItems,
  readingProperties,
  topLevelItems,
} from '../../../pipeline/tree/microdata.ts'
import { microdataValue } from '../../../pipeline/tree/microdata-value.ts'
import { attribute } from '../../../pipeline/tree/nodes.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { takesLess } from '../../support/cost.ts'
import { stepsOf } from '../../support/steps.ts'
import { elementsOf, find, htmlSoup, runs } from './samples.ts'

/** Items as data: names with values; an item met again is its element's id. */
function plain(items: Item[], open: Item[] = []): unknown[] {
  return items.map(item => {
    if (open.includes(item)) return `#${attribute(item.element, 'id')}`
    const path = [...open, item]
    return item.properties.map(({ name, value }) => [name, typeof value === 'string' ? value : plain([value], path)[0]])
  })
}

function read(source: string): unknown[] {
  return plain(topLevelItems(parseDocument('html', source).root))
}

describe('tree/microdata', () => {
  describe('HTTP-71 items', () => {
    const cases: [what: string, source: string, expected: unknown[]][] = [
      ['none', '<p itemprop=a>x</p>', []],
      ['itemscope without itemprop is a top-level item', '<p itemscope><b itemprop=a>x</b></p>', [[['a', 'x']]]],
      ['the body or html may be one', '<body itemscope><b itemprop=a>x', [[['a', 'x']]]],
      [
        'an item in an item without itemprop is top-level, too',
        '<div itemscope><p itemscope><b itemprop=a>x</b></p></div>',
        [[], [['a', 'x']]],
      ],
      [
        'an item that is a property is not',
        '<div itemscope><p itemprop=p itemscope><b itemprop=a>x</b></p></div>',
        [[['p', [['a', 'x']]]]],
      ],
      ['itemprop outside any item makes no item of its own', '<p itemprop=p itemscope><b itemprop=a>x</b></p>', []],
      [
        'an empty itemprop still makes it no top-level item, nor a property',
        '<div itemscope><p itemprop itemscope><b itemprop=a>x</b></p></div>',
        [[]],
      ],
      ['descendants at any depth', '<div itemscope><ul><li><b itemprop=a>x</b></ul></div>', [[['a', 'x']]]],
      [
        'descendants outside nested items',
        '<div itemscope><i itemprop=n itemscope><b itemprop=a>x</b></i><b itemprop=c>y</b></div>',
        [
          [
            ['n', [['a', 'x']]],
            ['c', 'y'],
          ],
        ],
      ],
      [
        'properties inside properties',
        '<div itemscope><p itemprop=a>x<b itemprop=b>y</b></p></div>',
        [
          [
            ['a', 'xy'],
            ['b', 'y'],
          ],
        ],
      ],
      [
        'every token of itemprop is a property',
        '<div itemscope><p itemprop=" a\tb a ">x</p></div>',
        [
          [
            ['a', 'x'],
            ['b', 'x'],
          ],
        ],
      ],
      [
        'a nested item under several names',
        '<div itemscope><p itemprop="a b" itemscope><i itemprop=c>x</i></p></div>',
        [
          [
            ['a', [['c', 'x']]],
            ['b', [['c', 'x']]],
          ],
        ],
      ],
      [
        'contents of templates are left out',
        '<div itemscope><template><b itemprop=a>x</b><p itemscope></p></template></div>',
        [[]],
      ],
      [
        'itemref targets',
        '<p itemscope itemref="x y"></p><b id=x itemprop=a>1</b><i id=y><b itemprop=b>2</b></i>',
        [
          [
            ['a', '1'],
            ['b', '2'],
          ],
        ],
      ],
      [
        'in tree order',
        '<b id=x itemprop=a>1</b><p itemscope itemref="y x"><b itemprop=c>3</b></p><b id=y itemprop=b>2</b>',
        [
          [
            ['a', '1'],
            ['c', '3'],
            ['b', '2'],
          ],
        ],
      ],
      [
        'each element once',
        '<p itemscope itemref="x y x z"><b id=z itemprop=c>3</b></p><i id=x><b id=y itemprop=a>1</b></i>',
        [
          [
            ['c', '3'],
            ['a', '1'],
          ],
        ],
      ],
      [
        'the first of several elements with an id',
        '<p itemscope itemref=x></p><b id=x itemprop=a>1</b><b id=x itemprop=a>2</b>',
        [[['a', '1']]],
      ],
      ['an unknown id is nothing', '<p itemscope itemref="nope"><b itemprop=a>1</b></p>', [[['a', '1']]]],
      [
        'ids in templates are nothing',
        '<p itemscope itemref=x></p><template><b id=x itemprop=a>1</b></template>',
        [[]],
      ],
      ['a reference to itself is nothing', '<p id=x itemscope itemref=x><b itemprop=a>1</b></p>', [[['a', '1']]]],
      ['a reference to an ancestor', '<div id=x><b itemprop=a>1</b><p itemscope itemref=x></p></div>', [[['a', '1']]]],
      [
        'an item inside the target of its own reference',
        '<p itemscope itemref=y></p><div id=y><i itemprop=n itemscope itemref=y></i></div>',
        [[['n', []]]],
      ],
      [
        'an item that is part of itself',
        '<p itemscope itemref=x></p><div id=x><i id=a itemprop=n itemscope itemref=y></i></div><div id=y><i itemprop=m itemscope itemref=x></i></div>',
        [[['n', [['m', [['n', '#a']]]]]]],
      ],
      [
        'a referred item',
        '<p itemscope itemref=x></p><i id=x itemprop=n itemscope><b itemprop=a>1</b></i>',
        [[['n', [['a', '1']]]]],
      ],
    ]
    for (const [what, source, expected] of cases) it(what, () => expect(read(source)).to.deep.equal(expected))

    it('types and identity', () => {
      const [item] = topLevelItems(
        parseDocument('html', '<p itemscope itemtype=" u:a\nu:b u:a" itemid=" urn:x ">').root,
      )
      expect([item?.types, item?.id]).to.deep.equal([['u:a', 'u:b'], 'urn:x'])
      const [bare] = topLevelItems(parseDocument('html', '<p itemscope itemid>').root)
      expect([bare?.types, bare && 'id' in bare]).to.deep.equal([[], false])
    })

    it('properties name their element', () => {
      const { root } = parseDocument('html', '<p itemscope><b itemprop=a>x</b></p>')
      expect(topLevelItems(root)[0]?.properties[0]?.element).to.equal(find(root, 'b'))
    })

    it('a referred item that is met twice is one object', () => {
      const [a, b] = topLevelItems(
        parseDocument('html', '<p itemscope itemref=x></p><p itemscope itemref=x></p><i id=x itemprop=n itemscope>')
          .root,
      )
      expect(a?.properties[0]?.value).to.equal(b?.properties[0]?.value)
    })

    it('values are read by the given reader, which sees the item', () => {
      const { root } = parseDocument('html', '<p itemscope itemtype=t><b itemprop=a>x</b></p>')
      const items = topLevelItems(root, (element, item) => `${item.types} ${element.tagName}`)
      expect(plain(items)).to.deep.equal([[['a', 't b']]])
    })

    it('in XML as in HTML, templates of XHTML included', () => {
      const source =
        '<r><p itemscope=""><b itemprop="a">x</b><h:template xmlns:h="http://www.w3.org/1999/xhtml"/></p><template xmlns="http://www.w3.org/1999/xhtml"><q itemscope=""/></template></r>'
      expect(plain(topLevelItems(parseDocument('xml', source).root))).to.deep.equal([[['a', 'x']]])
      const prefixed = '<r xmlns:h="http://www.w3.org/1999/xhtml"><h:template><q itemscope=""/></h:template></r>'
      expect(topLevelItems(parseDocument('xml', prefixed).root)).to.deep.equal([])
    })
  })

  describe('HTTP-70 items of chosen elements', () => {
    const { root } = parseDocument(
      'html',
      '<main><div id=a itemscope><b itemprop=x>1</b><i id=n itemprop=y itemscope><b itemprop=z>2</b></i><p id=t itemscope><b itemprop=w>3</b></p></div></main><b id=ref itemprop=v>4</b><section id=s itemscope itemref=ref></section>',
    )
    const byId = (id: string) => elementsOf(root).find(e => attribute(e, 'id') === id) ?? find(root, id)
    const ids = (names: string[]): (string | undefined)[] =>
      itemsWithin(names.map(byId)).map(item => attribute(item.element, 'id'))

    it('an itemscope match gives its own item, also a nested one', () => {
      expect(plain(itemsWithin(byId('n')))).to.deep.equal([[['z', '2']]])
      expect(plain(itemsWithin(byId('a')))).to.deep.equal([
        [
          ['x', '1'],
          ['y', [['z', '2']]],
        ],
      ])
    })
    it('another match gives the top-level items inside it', () => {
      expect(ids(['main'])).to.deep.equal(['a', 't'])
      expect(ids(['ref'])).to.deep.equal([])
    })
    it('of several matches each item once, in tree order', () => {
      expect(ids(['main', 'a', 'n', 't'])).to.deep.equal(['a', 'n', 't'])
      expect(ids(['s', 't', 'body'])).to.deep.equal(['a', 't', 's'])
      expect(ids([])).to.deep.equal([])
    })
    it('references reach beyond the match', () => expect(plain(itemsWithin(byId('s')))).to.deep.equal([[['v', '4']]]))
  })

  describe('RULE-1, MOD-2 all items', () => {
    const { root } = parseDocument(
      'html',
      '<div itemscope itemtype=a><p itemprop=p itemscope itemtype=b><i itemscope itemtype=a></i></p></div><template><p itemscope itemtype=a></template>',
    )
    it('nested ones too, in tree order, contents of templates left out', () => {
      const all = atOnce(readingAllItems(root, microdataValue, () => true))
      expect(all.map(item => [item.element.tagName, item.types])).to.deep.equal([
        ['div', ['a']],
        ['p', ['b']],
        ['i', ['a']],
      ])
    })
    it('those of wanted types', () => {
      const wanted = readingAllItems(root, microdataValue, types => types.includes('a'))
      expect(atOnce(wanted).map(item => item.element.tagName)).to.deep.equal(['div', 'i'])
    })
  })

  it('top-level items are those of all items without itemprop', () => {
    const marked = htmlSoup.map(source =>
      source.replaceAll(' class="a b"', ' itemscope itemprop=a').replaceAll(" ID='y'", ' itemscope itemref=x'),
    )
    fc.assert(
      fc.property(marked, source => {
        const { root } = parseDocument('html', source)
        const all = atOnce(readingAllItems(root, microdataValue, () => true))
        const top = all.filter(item => attribute(item.element, 'itemprop') === undefined)
        expect(topLevelItems(root).map(item => item.element)).to.deep.equal(top.map(item => item.element))
        for (const { properties } of top) {
          const order = properties.map(p => elementsOf(root).indexOf(p.element))
          expect(order).to.deep.equal([...order].sort((a, b) => a - b))
        }
      }),
      runs(100),
    )
  })

  describe('hostile references', () => {
    const timed = (source: string): Promise<Item[] | TreeError> => {
      const { root } = parseDocument('html', source)
      return takesLess(2000, () => {
        try {
          return topLevelItems(root)
        } catch (error) {
          if (error instanceof TreeError) return error
          throw error
        }
      })
    }
    const ids = Array.from({ length: 1000 }, (_, i) => `i${i}`)

    it('1,000 items that all refer to each other are read in time linear in the references', async () => {
      const items = await timed(
        ids.map(id => `<p id=${id} itemscope itemref="${ids.join(' ')}"><b itemprop=a>x</b></p>`).join(''),
      )
      expect(items).to.have.length(1000)
    })
    it('a chain of 20,000 items is read', async () => {
      const items = await timed(
        `${Array.from(
          { length: 20_000 },
          (_, i) => `<p id=r${i}><b itemprop=n itemscope itemref=r${i + 1}></b></p>`,
        ).join('')}<p itemscope itemref=r0>`,
      )
      expect(items).to.have.length(1)
    })
    it('few references that multiply much are refused', async () => {
      const all = `<div id=all>${'<p itemscope itemprop=n itemref=all></p>'.repeat(5000)}</div><p itemscope itemref=all></p>`
      expect(await timed(all)).to.include({ reason: 'too-large' })
    })
    it('text that nested properties repeat is limited', async () => {
      const nested = `<div itemscope>${'<div itemprop=a>'.repeat(400)}${'<i>0123456789</i>'.repeat(10_000)}`
      expect(await timed(nested)).to.include({ reason: 'too-large' })
    })
  })

  it('HTTP-71 many properties are those of the item alone, in tree order', () => {
    const part = (id: string) => `<div id=${id}>${`<b itemprop=${id}>x</b>`.repeat(600)}</div>`
    const { root } = parseDocument('html', `${part('a')}${part('b')}${part('c')}<p itemscope itemref="c a">`)
    const [item] = topLevelItems(root)
    const names = [...Array(600).fill('a'), ...Array(600).fill('c')]
    expect(item?.properties.map(({ name }) => name)).to.deep.equal(names)
  })

  it('SEC-12 SEC-7 the document is not gone through for an itemref that leads nowhere', () => {
    const { root } = parseDocument(
      'html',
      `<p itemscope itemref=q><b itemprop=n>1</b></p>${'<i id=q></i>'.repeat(2000)}`,
    )
    const [item] = elementsOf(root).filter(element => element.attrs.some(({ name }) => name === 'itemref'))
    expect(item && stepsOf(readingProperties(item, () => '', { refers: () => false }))).to.equal(0)
    expect(
      item && atOnce(readingProperties(item, () => '', { refers: () => false })).map(({ name }) => name),
    ).to.deep.equal(['n'])
  })
})
