import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody } from '../../../pipeline/body.ts'
import { type Derived, deriving } from '../../../pipeline/declarations/derive.ts'
import { derivingEdit } from '../../../pipeline/declarations/derive-edit.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { entriesOf, idKey, listingBoth, typeKey, valueKey } from '../../../pipeline/model/entries.ts'
import { itemElements } from '../../../pipeline/model/items.ts'
import { elementsAround } from '../../../pipeline/model/place.ts'
import { perform } from '../../../pipeline/operation.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { type Edit, EditError, edit, type ProposedEdit } from '../../../pipeline/tree/edit/edit.ts'
import { type ElementNode, isElement, type ParentNode, type TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { revisionOf } from '../../../pipeline/tree/revisions.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { writeElement } from '../../../pipeline/write/element.ts'
import type { ElementWrite } from '../../../pipeline/write/element-target.ts'
import { NS, page } from '../../support/content.ts'
import { takesLess } from '../../support/cost.ts'
import { openHosted } from './hosted.ts'
import { SCHEMA_HOST } from './markup.ts'

const derivation = { ns: NS, schemaHost: SCHEMA_HOST }

/** Shows a proposal, and finds out about the document that it would leave. */
function found(document: TreeDocument, proposal: ProposedEdit) {
  const revision = revisionOf(document)
  return proposal.propose(view => {
    const around = new Set(elementsAround(view.document, view.parents))
    return atOnce(derivingEdit(document, revision, view, derivation, around))
  })
}

/** What is found about a document but its entries; the order of tokens says nothing. */
const told = ({ profile, items, tokens, declares }: Derived) => ({ profile, items, tokens: tokens.sort(), declares })

const keysIn = (markup: string) => {
  const document = parseDocument('html', page(markup))
  return entriesOf(itemElements(document.root), NS).map(({ keys }) => [...keys])
}

describe('Entries of documents', () => {
  it('are items by type, id and values, once each', () => {
    expect(
      keysIn(
        '<p itemscope itemtype="x:a x:b" itemid=" urn:1 "><b itemprop="p q">1</b><b itemprop="p">1</b><b itemprop="p">2</b><i itemprop="r" itemscope itemtype="x:c"></i></p>',
      ),
    ).to.deep.equal([
      [
        idKey('urn:1'),
        typeKey('x:a'),
        typeKey('x:b'),
        valueKey('x:a', 'p', '1'),
        valueKey('x:b', 'p', '1'),
        valueKey('x:a', 'p', '2'),
        valueKey('x:b', 'p', '2'),
        valueKey('x:a', 'q', '1'),
        valueKey('x:b', 'q', '1'),
      ],
      [typeKey('x:c')],
    ])
  })

  it('leave out empty values, items without type and id, and templates', () => {
    expect(keysIn('<p itemscope itemtype="x:a"><b itemprop="p"></b></p>')).to.deep.equal([[typeKey('x:a')]])
    expect(keysIn('<p itemscope><b itemprop="p">1</b></p>')).to.deep.equal([])
    expect(keysIn('<template><p itemscope itemtype="x:a"></p></template>')).to.deep.equal([])
  })

  it('give equal items names of their own, and keep names when others come and go', () => {
    const names = (...markup: string[]) =>
      entriesOf(itemElements(parseDocument('html', page(markup.join(''))).root), NS).map(({ item }) => item)
    const [a, b] = ['<p itemscope itemtype="x:a">', '<p itemscope itemtype="x:b">']
    const [first, second, third] = names(a, b, a)
    expect(new Set([first, second, third]).size).to.equal(3)
    expect(names(b)).to.deep.equal([second])
    expect(names(b, a)).to.deep.equal([second, first])
  })

  it('long values are told apart by digests', () => {
    const long = 'x'.repeat(1000)
    expect(valueKey('t', 'p', `${long}a`)).to.have.length.below(100)
    expect(valueKey('t', 'p', `${long}a`)).not.to.equal(valueKey('t', 'p', `${long}b`))
  })

  it('and everything else that is kept while a tree is edited are those of its text', () => {
    const markup = fc.letrec<{ node: string; list: string }>(tie => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('t', '<b itemprop="p">1</b>', '<b itemprop="p">2</b>', '<i>x</i>'),
        tie('list').map(inside => `<div itemscope itemtype="x:a">${inside}</div>`),
        tie('list').map(inside => `<div itemprop="q" itemscope itemtype="x:b">${inside}</div>`),
        fc.constantFrom('<p id="a" class="b c">u</p>', '<u xmlns:e="x:e">v</u>', '<u e:transient>w</u>'),
        tie('list').map(inside => `<template itemscope>${inside}</template>`),
        tie('list').map(inside => `<p>${inside}</p>`),
        tie('list').map(inside => `<section>${inside}</section>`),
      ),
      list: fc.array(tie('node'), { maxLength: 3 }).map(parts => parts.join('')),
    }))
    const step = fc.record({
      op: fc.constantFrom('replace', 'insert', 'remove', 'move'),
      at: fc.nat(60),
      to: fc.nat(60),
      placement: fc.constantFrom('append', 'prepend', 'before', 'after'),
      text: markup.list.filter(text => text.includes('<')),
      accept: fc.boolean(),
    })
    fc.assert(
      fc.property(markup.list, fc.array(step, { minLength: 1, maxLength: 12 }), (inside, steps) => {
        let document = parseDocument('html', page(`<main>${inside}</main>`))
        atOnce(deriving(document, derivation, true))
        for (const { op, at, to, placement, text, accept } of steps) {
          const elements = below(document.root).slice(3)
          const [target, anchor] = [elements[at % elements.length], elements[to % elements.length]]
          if (!target || !anchor) break
          try {
            const proposal = edit(document, wanted(op as Edit['op'], target, anchor, placement as 'append', text))
            const kept = found(document, proposal)
            const fresh = parseDocument('html', proposal.source)
            expect(kept.derived.entries).to.deep.equal(entriesOf(itemElements(fresh.root), NS))
            expect(told(kept.derived)).to.deep.equal(told(atOnce(deriving(fresh, derivation, true))))
            if (!accept) continue
            document = atOnce(proposal.accepting())
            kept.made(document)
          } catch (error) {
            if (!(error instanceof EditError)) throw error
          }
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 75), seed: 20311104 },
    )
  })

  it('MOD-110 a write to one element of a large document looks at none of the others', () => {
    const rows = Array.from({ length: 50 }, (_, i) => `<p id="r${i}" itemscope itemtype="x:a">${i}</p>`)
    const document = parseDocument('html', page(`<main>${rows.join('')}</main>`))
    const byId = (id: string) => {
      const element = below(document.root).find(({ attrs }) => attrs.some(({ value }) => value === id))
      if (!element) throw new Error(`There is no ${id}.`)
      return element
    }
    const put = (target: ElementNode, text: string) => {
      const proposal = edit(document, { op: 'replace', target, text })
      const kept = found(document, proposal)
      kept.made(atOnce(proposal.accepting()))
      return kept.derived
    }
    expect(put(byId('r20'), '<p id="first" class="new">1</p>').items).to.have.length(49)
    const first = byId('first')
    const other = byId('r40')
    const { childNodes } = other
    let looks = 0
    const get = () => {
      looks++
      return childNodes
    }
    Object.defineProperty(other, 'childNodes', { get })
    const derived = put(first, '<p itemscope itemtype="x:b">2</p>')
    // What stands behind the change gets new places in the source.
    expect(looks).to.equal(1)
    expect(derived.items.map(([types]) => types[0]).indexOf('x:b')).to.equal(20)
    expect(derived.tokens).to.include('type:x:b').and.not.include('.new')
  })
})

function wanted(
  op: Edit['op'],
  target: ElementNode,
  anchor: ElementNode,
  placement: 'append' | 'prepend' | 'before' | 'after',
  text: string,
): Edit {
  if (op === 'replace') return { op, target, text }
  if (op === 'insert') return { op, anchor: target, placement, text }
  return op === 'remove' ? { op, target } : { op: 'move', source: target, anchor, placement }
}

function below(parent: ParentNode): ElementNode[] {
  return parent.childNodes.filter(isElement).flatMap(element => [element, ...below(element)])
}

describe('Entries of documents that pages show otherwise', () => {
  const note = (name: string, ...codes: string[]) =>
    `<${name} class="g" itemscope itemtype="x:a"><s:d><div class="in">${codes.map(code => `<i itemprop="p">${code}</i>`).join('')}</div></s:d></${name}>`
  const markup = (body: string) => `<html xmlns:p="${NS}/1.0" xmlns:s="urn:s"><body>${body}</body></html>`
  const anew = (text: string) => atOnce(deriving(parseDocument('html', text), derivation, true)).entries

  for (const name of ['div', 'p', 'table'])
    it(`COMP-6 MOD-40 have the keys of both readings of a ${name}, each item once`, () => {
      expect(anew(markup(note(name, '1', '2'))).map(({ keys }) => [...keys].sort())).to.deep.equal([
        [typeKey('x:a'), valueKey('x:a', 'p', '1'), valueKey('x:a', 'p', '2')].sort(),
      ])
      // What HTML moves to the item around is a value of that as well.
      const around = anew(markup(`<ul itemscope itemtype="x:b">${note(name, '1')}</ul>`)).map(({ keys }) => keys)
      const moved = name === 'div' ? [] : [valueKey('x:b', 'p', '1')]
      expect(around).to.deep.equal([
        [typeKey('x:b'), ...moved],
        [typeKey('x:a'), valueKey('x:a', 'p', '1')],
      ])
    })

  it('COMP-6 SEC-12 of many items that HTML makes of one tag take time in proportion to them', async () => {
    const document = parseDocument('html', page(`<p><b itemscope itemtype="u:t"><p>${'x<p>'.repeat(50_000)}`))
    const entries = await takesLess(400, () => atOnce(listingBoth(document, document, NS)))
    expect(entries).to.have.length(50_002)
  })

  it('COMP-6 MOD-40 are after edits in the midst of a page what they are made anew', async () => {
    const { site, put, text, close } = await openHosted(noCode)
    try {
      const filler = '<p>x</p>\n'.repeat(150)
      const words = ['div', 'p', 'table', 'p'].map(
        name => `<section class="s">${note(name, 'a', 'b')}${filler}</section>`,
      )
      await put('/n.html', markup(words.join('')))
      for (const [op, selector, body] of [
        ['post', '.s:nth-of-type(2) .in', '<i itemprop="p">c</i>'],
        ['put', '.s:nth-of-type(2) .in i', '<i itemprop="p">dd</i>'],
        ['post', '.s:nth-of-type(1)', note('table', 'e')],
        ['delete', '.s:nth-of-type(3) .in i', ''],
      ] as const) {
        const write = { path: '/n.html', op, range: { unit: 'selector', selector, wire: selector } as const }
        const more = { placement: 'append' as const, conditions: undefined, cause: {} }
        const operation = writeElement(site, { ...write, ...more } as ElementWrite, () => fullAuthority)
        await perform(operation, memoryBody(Buffer.from(body)))
        const wanted = anew(await text('/n.html'))
        for (const key of [typeKey('x:a'), ...['a', 'b', 'c', 'dd', 'e'].map(code => valueKey('x:a', 'p', code))]) {
          const holding = wanted.filter(({ keys }) => keys.includes(key)).map(({ item }) => item)
          const found = (await site.store.lookup([key])).map(({ item }) => item)
          expect(found.sort(), `${op} ${key}`).to.deep.equal(holding.sort())
        }
      }
    } finally {
      await close()
    }
  })
})
