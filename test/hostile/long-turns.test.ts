// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** What anybody can make long is done in steps, and each step is short whatever it is about (SEC-4, LIQ-71). */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { readingRequest } from '../../dav/properties/prop-request.ts'
import { extractingAccess } from '../../pipeline/access/extract.ts'
import { memoryBody } from '../../pipeline/body.ts'
import { awaiting, doing, type Work } from '../../pipeline/compose/work.ts'
import { type Derived, deriving, type ItemEntry, writingStoredForm } from '../../pipeline/declarations/derive.ts'
import { compileTemplate } from '../../pipeline/language/liquid/liquid.ts'
import { rendering } from '../../pipeline/language/liquid/render.ts'
import { Run } from '../../pipeline/language/liquid/run.ts'
import { newElement } from '../../pipeline/language/sessel/dom.ts'
import { compile, evaluate, jsonText, writingJson } from '../../pipeline/language/sessel/sessel.ts'
import type { Value } from '../../pipeline/language/values.ts'
import { entriesOf, forgetEntries, listingEntries } from '../../pipeline/model/entries.ts'
import { itemElements } from '../../pipeline/model/items.ts'
import { bodyText } from '../../pipeline/read/body-text.ts'
import { packEntries, packingEntries } from '../../pipeline/store/packed-entries.ts'
import { cloneTree } from '../../pipeline/tree/clone.ts'
import { collapsed, collapsing } from '../../pipeline/tree/collapse.ts'
import { comparing } from '../../pipeline/tree/compare.ts'
import { measuring, PIECE, parseDocument, TreeError } from '../../pipeline/tree/document.ts'
import { edit } from '../../pipeline/tree/edit/edit.ts'
import { preparingPatch, withPatch } from '../../pipeline/tree/edit/patch.ts'
import { parseFragment } from '../../pipeline/tree/fragment.ts'
import { findingById } from '../../pipeline/tree/ids.ts'
import { writingJsonLd } from '../../pipeline/tree/json-ld.ts'
import { LONG } from '../../pipeline/tree/long-text.ts'
import { readingTopLevelItems, topLevelItems } from '../../pipeline/tree/microdata.ts'
import { type ElementNode, isElement } from '../../pipeline/tree/nodes.ts'
import { writingPlain } from '../../pipeline/tree/plain-json.ts'
import { gatheringText, textContent } from '../../pipeline/tree/serialize.ts'
import { atOnce, inTurns, mapping, NODES_PER_STEP, type Steps } from '../../pipeline/tree/steps.ts'
import { treeBytes } from '../../pipeline/tree/weight.ts'
import { scopeOf } from '../pipeline/language/liquid/rendering.ts'
import { documentAt, hostFor } from '../pipeline/language/sessel/site.ts'
import { programOn } from '../pipeline/language/sessel/turns.ts'
import { NS } from '../support/content.ts'
import { stepsOf } from '../support/steps.ts'
import { unhurried } from '../support/unhurried.ts'

const MEGABYTE = 1024 * 1024

const repeated = (count: number, part: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join('')

/** A template in turns, and how much it may take. */
function* template(source: string, names: Record<string, Value> = {}): Steps<void> {
  const compiled = compileTemplate(source, { kind: 'html', element: 'div' })
  for (const _ of rendering(compiled, new Run(scopeOf(names), unhurried()))) yield
}

const alike = 'a'.repeat(MEGABYTE)
const much = 'a'.repeat(MEGABYTE / 4)
const names = { a: `${alike}b`, b: `${alike}c`, blanks: ' '.repeat(MEGABYTE), list: Array(MEGABYTE / 8).fill('a') }
const texts = { texts: Array.from({ length: 16 }, (_, i) => `${'a'.repeat(MEGABYTE / 4)}${i}`) }
const often = (test: string) => `{% for i in (1..10) %}{% if ${test} %}x{% endif %}{% endfor %}`

describe('long turns', () => {
  const cases: [what: string, least: number, work: () => Steps<unknown>][] = [
    ['SES-232 a list of values as JSON', 100, () => writingJson(Array(100_000).fill('x'))],
    ['SES-232 lists in lists as JSON', 100, () => writingJson(Array(50_000).fill(['x']))],
    ['SES-232 a dictionary as JSON', 10, () => writingJson(new Map(Object.entries({ ...Array(10_000).fill(1) })))],
    ['SES-232 a long text as JSON', 16, () => writingJson('<\u2028\n😀'.repeat(MEGABYTE / 4))],
    ['LIQ-71 the order of long texts', 5, () => template(often('a < b'), names)],
    ['LIQ-71 the likeness of long texts', 5, () => template(often('a == b'), names)],
    ['LIQ-71 a long text of blanks', 5, () => template(often('blanks == blank'), names)],
    ['LIQ-71 a search in a long list', 9, () => template(often('list contains "z"'), names)],
    ['LIQ-71 texts that are sorted', 5, () => template('{% assign x = texts | sort %}', texts)],
    ...['replace: "a", "b"', 'remove: "a"', 'split: "a"'].map((filter): [string, number, () => Steps<unknown>] => [
      `LIQ-71 many parts of a text (${filter})`,
      60,
      () => template(`{% assign x = much | ${filter} %}`, { much }),
    ]),
    [
      'LIQ-71 a range that is not gone through',
      10,
      () => template('{% for i in (1..100000) %}{% break %}{% endfor %}'),
    ],
  ]
  const body = (markup: string) => parseDocument('html', markup).root
  const props = repeated(20_000, i => `<b itemprop=p${i}>x</b>`)
  // Made anew by each case: together they are more than a small heap holds.
  const properties = () => body(`<div itemscope itemtype=urn:t>${props}</div>`)
  const first = (markup: string) => {
    const found = parseFragment('html', markup, newElement('body')).find(isElement)
    if (!found) throw new Error('no element')
    return found
  }
  const item = () => first(`<div itemscope>${props}</div>`)
  const same = () => first(`<div itemscope>${'<b itemprop=p>x</b>'.repeat(20_000)}</div>`)
  const parent = () => first(`<div>${'<p itemscope><b itemprop=p>x</b></p>'.repeat(20_000)}</div>`)
  const long = () => body(`<div itemscope itemtype=urn:t><p itemprop=p>${'text \n'.repeat(MEGABYTE / 4)}</p></div>`)
  const many = () => body('<p itemscope itemtype=urn:t/t></p>'.repeat(20_000))
  const lines = (end: string) => body(`<p ${repeated(10, i => `a${i}="${end.repeat(LONG * 2)}"`)}>x</p>`).childNodes
  const items = Array.from({ length: 20_000 }, (): ItemEntry => [['urn:t'], null])
  const entries = items.map((_, i) => ({ item: `${i}`, keys: ['a'] }))
  const profile = { utf8: true, types: [], namespaces: [] }
  const derived: Derived = { profile, declares: {}, tokens: [], items, entries }
  const row = () => body('<p>x</p>'.repeat(50_000))
  const rule = `<p itemscope itemtype="${NS}/AuthorizationRule"></p>`
  const ruled = () => parseDocument('html', `${rule}${'<p>x</p>'.repeat(50_000)}`)
  const templated = () => parseDocument('html', `<template>${'<p>x</p>'.repeat(50_000)}</template>`)
  const beforeMany = () => {
    const document = parseDocument('html', `<p id=a>x</p>${'<p>x</p>'.repeat(50_000)}`)
    const target = atOnce(findingById(document, 0, 'a'))
    if (!target) throw new Error('no element')
    return edit(document, { op: 'insert', anchor: target, placement: 'append', text: 'y' })
  }
  const asked = () => {
    const markup = `<propfind xmlns="DAV:"><prop>${repeated(50_000, i => `<p${i}/>`)}</prop></propfind>`
    return parseDocument('xml', markup).root.childNodes.find(isElement) as ElementNode
  }
  cases.push(
    ['DAV-32 many properties that are asked for', 90, () => readingRequest(asked())],
    ['SEC-12 HTTP-80 an edit before many elements that is made', 200, () => beforeMany().accepting()],
    ['HTTP-72 items of one vocabulary', 400, () => writingJsonLd(topLevelItems(many()))],
    ['HTTP-72 an item of many properties', 80, () => writingJsonLd(topLevelItems(properties()))],
    ['HTTP-71 an item of many properties', 30, () => readingTopLevelItems(properties(), () => '')],
    ['HTTP-20 the entry of an item of many properties', 60, () => listingEntries(itemElements(properties()), NS)],
    ['MOD-22 a long value', 20, () => listingEntries(itemElements(long()), NS)],
    [
      'HTTP-71 properties that are referred to',
      80,
      () => readingTopLevelItems(body(`<p id=r>${props}</p><p itemscope itemref=r></p>`), () => ''),
    ],
    ['SES-143 microdata of many properties', 120, () => programOn(item(), 'self.microdata()')],
    ['SES-143 microdata of many items', 100, () => programOn(parent(), 'self.children().microdata()')],
    ['SES-42 one of many properties', 40, () => programOn(item(), 'self.p7')],
    ['SES-42 a property of many values', 80, () => programOn(same(), 'self.p')],
    ['SES-80 many values of which each is kept once', 80, () => programOn(item(), 'self.children().unique()')],
    ['SES-80 a value that is not among many', 80, () => programOn(item(), 'self.children().contains("y")')],
    ['SES-80 values of which none is among others', 80, () => programOn(item(), 'self.children().disjoint(["y"])')],
    [
      'SES-80 values that are all among others',
      160,
      () => programOn(item(), 'self.children().subset(self.children())'),
    ],
    ['SES-140 the text of many elements', 40, () => programOn(item(), 'self.text()')],
    ['SES-141 a long value', 40, () => programOn(first(`<p>${'a \n'.repeat(MEGABYTE)}</p>`), 'self.value()')],
    ['SES-143 the markup of many elements', 8, () => programOn(item(), 'self.getHTML()')],
    ['HTTP-71 a long value as JSON', 20, () => writingPlain({ a: ['x'.repeat(2 * MEGABYTE)] })],
    ['SEC-12 HTTP-24 elements with long attributes that are compared', 40, () => comparing(lines('\r\n'), lines('\n'))],
    ['RULE-2 rules among many elements', 280, () => extractingAccess(ruled(), NS)],
    [
      'HTTP-20 what a template of many elements declares',
      80,
      () => deriving(templated(), { ns: NS, schemaHost: NS }, true),
    ],
    ['HTTP-20 what the store keeps of many items', 40, () => writingStoredForm(derived)],
  )
  for (const [what, least, work] of cases)
    it(`${what}: ${least} steps at least`, () => {
      expect(stepsOf(work())).to.be.at.least(least)
    })

  it('SEC-12 HTTP-65 what many matches are turned into is made in steps', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => i)
    expect(stepsOf(mapping(list, i => i))).to.be.at.least(list.length / NODES_PER_STEP)
    expect(atOnce(mapping(list, String))).to.deep.equal(list.map(String))
  })

  it('SEC-12 HTTP-80 of many children few are looked at in one step', () => {
    const document = { kind: 'html' as const, source: '', root: row(), clean: true }
    const [html] = document.root.childNodes
    const [, inside] = html && isElement(html) ? html.childNodes : []
    if (!inside || !isElement(inside)) throw new Error('no body')
    let seen = 0
    inside.childNodes = new Proxy(inside.childNodes, {
      get: (nodes, name) => {
        if (typeof name === 'string' && /^\d/.test(name)) seen++
        return Reflect.get(nodes, name)
      },
    })
    let most = 0
    for (const _ of findingById(document, 0, 'a')) {
      most = Math.max(most, seen)
      seen = 0
    }
    expect(most).to.be.within(1, 2 * NODES_PER_STEP)
  })

  it('SEC-12 HTTP-80 an edit among many comments is shown and hidden again without going through them', () => {
    const [parent] = body(`<p>x</p>${'<!--c-->'.repeat(20_000)}`).childNodes
    const fresh = parseFragment('html', `<p>y</p>${'<!--c-->'.repeat(20_000)}`, newElement('body'))
    if (!parent || !isElement(parent)) throw new Error('no element')
    const inside = parent.childNodes.find(node => isElement(node) && node.tagName === 'body') as ElementNode
    const before = [...inside.childNodes]
    const work = preparingPatch([{ parent: inside, from: 0, to: before.length, nodes: fresh }])
    let steps = 0
    let step = work.next()
    for (; !step.done; step = work.next()) steps++
    expect(steps).to.be.at.least(80)
    expect(step.value.links).to.have.length(1)
    const [gone] = before
    withPatch(step.value, () => {
      expect(inside.childNodes).to.have.length(fresh.length)
      expect(inside.childNodes.every(({ parentNode }) => parentNode === inside)).to.equal(true)
      expect(gone?.parentNode).to.equal(null)
    })
    expect(inside.childNodes.every((node, i) => node === before[i] && node.parentNode === inside)).to.equal(true)
  })

  it('SEC-12 HTTP-20 what is known of an item is no property of its copies', () => {
    const { root } = parseDocument('html', '<p itemscope itemtype=urn:t></p>')
    const [element] = itemElements(root)
    if (!element) throw new Error('no item')
    const [entry] = entriesOf([element], NS)
    expect(entriesOf([element], NS, new Set())[0]).to.equal(entry)
    const other = { ...element, attrs: element.attrs.map(a => (a.name === 'itemtype' ? { ...a, value: 'urn:u' } : a)) }
    expect(entriesOf([other], NS, new Set())[0]?.keys).not.to.deep.equal(entry?.keys)
    forgetEntries([element])
    expect(entriesOf([element], NS, new Set())[0]).not.to.equal(entry)
  })

  it('SEC-12 a copy of a tree weighs as much as its original, without being gone through', () => {
    const document = parseDocument('html', '<p title=x>x</p>'.repeat(10))
    const copy = cloneTree(document)
    copy.root.childNodes = []
    expect(treeBytes(copy)).to.equal(treeBytes(document))
  })

  it('LIQ-71 an expression of more words than one step reads is refused before it is read', () => {
    for (const list of ['a and ', 'a | upcase | ', 'a.', 'a, ', '1 ', 'a==', '""'])
      for (const tag of [`{{ ${list.repeat(100_000)}a }}`, `{% if ${list.repeat(100_000)}a %}{% endif %}`])
        expect(() => compileTemplate(tag, { kind: 'html', element: 'div' }), list).to.throw('too long')
    expect(() => compileTemplate(`{{ "${'a '.repeat(100_000)}" }}`, { kind: 'html', element: 'div' })).not.to.throw()
  })

  it('HTTP-181 attributes with more names than anybody reads are refused', () => {
    const long = 'x '.repeat(32 * 1024)
    for (const name of ['itemtype', 'itemprop', 'itemref']) {
      for (const kind of ['html', 'xml'] as const) {
        const document = (value: string) => `<p itemscope="" ${name}="${value}"></p>`
        expect(() => parseDocument(kind, document(`${long}x`)), `${kind} ${name}`).to.throw(TreeError, name)
        expect(() => parseDocument(kind, document(long))).not.to.throw()
      }
    }
    expect(() => parseDocument('html', `<body><body itemtype="${long}x">`)).to.throw(TreeError, 'itemtype')
  })

  it('HTTP-181 types and values of items do not multiply', () => {
    const types = repeated(500, i => `urn:${i} `)
    const item = `<div itemscope itemtype="${types}">${repeated(100, i => `<b itemprop=p>${i}</b>`)}</div>`
    expect(entriesOf(itemElements(parseDocument('html', item).root), NS)).to.have.length(1)
    const items = parseDocument('html', item.repeat(5)).root
    expect(() => entriesOf(itemElements(items), NS)).to.throw(TreeError, 'too often')
  })

  it('MOD-22 long values are collapsed in steps as at once', () => {
    const pieces = ['a', ' ', '  ', '\n', '\u00a0\t', `${'x'.repeat(LONG - 1)}\n`, ' '.repeat(LONG), '\u2028']
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(text, given => {
        expect(collapsed(given)).to.equal(given.replace(/\s+/g, ' '))
        expect(atOnce(collapsing(given))).to.equal(given.replace(/\s+/g, ' ').trim())
      }),
      { numRuns: 50 },
    )
    const nested = body(`<p>a<b>b<i>c</i></b>d<template>x</template></p>${'<b>y</b>'.repeat(2000)}`)
    expect(atOnce(gatheringText(nested))).to.equal(textContent(nested))
  })

  it('SES-140 the text of an element is the same whether it is long or not', () => {
    const pieces = ['a', ' ', '  ', '\n', '\u00a0', '\t', '<b>b</b>', '<i> </i>', `${'x'.repeat(LONG - 1)}\n`]
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(text, given => {
        const node = first(`<p>${given}</p>`)
        const whole = textContent(node)
        const wanted = whole.replace(/[ \t\n\f\r]+/g, ' ').replace(/^ | $/g, '')
        expect(atOnce(programOn(node, 'self.text()'))).to.equal(whole)
        expect(atOnce(programOn(node, 'self.value()'))).to.equal(wanted || null)
        expect(atOnce(programOn(node, 'self.value() == [self].first().value()'))).to.equal(true)
      }),
      { numRuns: 50 },
    )
  })

  it('SES-140 the text of an element that is too long for one step fails where nobody can wait', () => {
    const node = first(`<p>${'a'.repeat(2 * MEGABYTE)}</p>`)
    expect(atOnce(programOn(node, 'self.text().count()'))).to.equal(BigInt(2 * MEGABYTE))
    expect(() => atOnce(programOn(node, '[self].contains("a")'))).to.throw('longer than')
    const longer = first(`<p>${'a'.repeat(17 * MEGABYTE)}</p>`)
    expect(() => atOnce(programOn(longer, 'self.text()'))).to.throw('longer than')
  })

  it('HTTP-20 what is found out about a document is written in steps as at once', () => {
    const values = [
      1,
      'x',
      null,
      undefined,
      [undefined],
      { a: undefined, b: [{}, [], { c: '"' }] },
      Array(1000).fill([2]),
    ]
    for (const value of values) expect(atOnce(writingPlain([value]))).to.equal(JSON.stringify([value]))
    const list = () => Array.from({ length: 2000 }, (_, i) => ({ item: `${i}`, keys: ['a', '"\n'] }))
    const [packed, inSteps] = [packEntries(list()), list()]
    for (const _ of packingEntries(inSteps));
    expect(packEntries(inSteps)).to.equal(packed)
  })

  it('SES-232 JSON in steps is that of JavaScript', () => {
    const long = '<\u2028\n😀"'.repeat(40_000)
    const value = [long, [], ['a', true, null], new Map<string, Value>([['k', ['x', long]]]), new Map()]
    const wanted = JSON.stringify([long, [], ['a', true, null], { k: ['x', long] }, {}])
    expect(atOnce(writingJson(value)) === wanted).to.equal(true)
    expect(jsonText(`${'x'.repeat(70_000)}\ud83d`)).to.equal(`"${'x'.repeat(70_000)}\ufffd"`)
  })

  /** Whether others had a turn before something ended. */
  async function hadTurn(work: () => Promise<unknown>): Promise<boolean> {
    let hadTurn = false
    setImmediate(() => {
      hadTurn = true
    })
    await work()
    return hadTurn
  }

  it('SEC-12 HTTP-80 others have their turn while a long fragment is decoded', async () => {
    const decode = () => bodyText(memoryBody(Buffer.from('\u0436'.repeat(4 * MEGABYTE))), Number.POSITIVE_INFINITY)
    expect(await hadTurn(decode)).to.equal(true)
  })

  it('SEC-12 HTTP-24 of a text that was edited no more is put together than is measured in one step', () => {
    const parts = fc.array(
      fc.constantFrom('a', '\u0436', '\u{1f600}', '\u{1f600}'.repeat(PIECE / 2), 'b'.repeat(PIECE)),
      { maxLength: 5 },
    )
    fc.assert(
      fc.property(parts, given => {
        const text = given.join('')
        let longest = 0
        const slice = (start: number, end?: number) => {
          const part = text.slice(start, end)
          longest = Math.max(longest, part.length)
          return part
        }
        const measured = atOnce(measuring({ length: text.length, slice }, 0, text.length))
        expect(measured).to.equal(Buffer.byteLength(text))
        expect(longest).to.be.at.most(PIECE + 1)
      }),
      { numRuns: 20 },
    )
  })

  it('SEC-4 COMP-19 others have their turn while a page waits for what is there, again and again', async () => {
    const waiting = function* (): Work<void> {
      for (let i = 0; i < 50_000; i++) yield* awaiting(Promise.resolve())
    }
    expect(await hadTurn(() => doing(waiting()))).to.equal(true)
  })

  it('SEC-12 COMP-19 others have their turn while work hands over to work again and again', async () => {
    let isOver = false
    setImmediate(() => {
      isOver = true
    })
    const giveUp = performance.now() + 10_000
    const handed = function* (): Work<void> {}
    const handing = function* (): Work<boolean> {
      while (!isOver && performance.now() < giveUp) yield handed()
      return isOver
    }
    expect(await doing(handing())).to.equal(true)
  })

  it('SEC-4 SES-124 others have their turn while a program looks for documents that are at hand', async () => {
    const host = hostFor()
    const paths = Array.from({ length: 50_000 }, (_, i) => `/${i}`)
    const program = compile('(${li} from "/*").count()')
    for (const document of [async () => undefined, () => documentAt('/shop.html')]) {
      const reach = { ...host.reach, matching: () => paths, document }
      const looking = () => Promise.resolve(evaluate(program, { ...host, reach }, unhurried()))
      expect(await hadTurn(looking)).to.equal(true)
    }
  })

  it('SEC-4 work on a short text that takes long all the same is left for others', async () => {
    let isOver = false
    setImmediate(() => {
      isOver = true
    })
    const giveUp = performance.now() + 10_000
    const waiting = function* (): Steps<boolean> {
      while (!isOver && performance.now() < giveUp) yield
      return isOver
    }
    expect(await inTurns(waiting(), 0)).to.equal(true)
  })
})
