import { createRequire } from 'node:module'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import {
  type DocumentKind,
  type ElementNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../../../../pipeline/tree/nodes.ts'
import { STEPS } from '../../../../pipeline/tree/selector/query.ts'
import { compileSelector, selectAll, selectFirst } from '../../../../pipeline/tree/selector/selector.ts'
import { readDom } from '../../../support/dom.ts'
import {
  attributeValue,
  type Dialect,
  pick,
  type Random,
  randomMarkup,
  randomSelector,
  randomTokens,
  randomXml,
  seeded,
  WHOLE,
} from './random.ts'

/** The part of nwsapi that is used; the package has no types. */
type Nwsapi = (global: { document: Document; DOMException: unknown }) => {
  select(selector: string, context: Document): Iterable<Element>
}
const nwsapi: Nwsapi = createRequire(import.meta.url)('nwsapi')

const SEED = process.env.FUZZ ? Number(process.env.FUZZ) : 20_261_120
const SELECTORS = 100
/** Part of the samples that are looked at: all of them where somebody looks for faults. */
const PART = process.env.FUZZ ? 1 : 0.15
/** Rows of tokens. */
const ROWS = 10_000 * PART

/**
 * What nwsapi 2.2.28 gets right. It has no `An+B of S`, no namespaces and no escapes, finds nothing for upper-case names in
 * complex selectors, and differs in some states of controls; in quirks mode it takes the
 * case of ids into account.
 */
const NWSAPI: Dialect = {
  nthOf: false,
  namespaces: false,
  upperCase: false,
  escapes: false,
  exactFlag: false,
  states: false,
}

/** One document in our form and in jsdom's, with the elements of both in the same order. */
interface Pair {
  ours: TreeDocument
  theirs: Document
  numbers: Map<ElementNode | Element, number>
}

function pair(kind: DocumentKind, markup: string): Pair {
  const ours = parseDocument(kind, markup)
  const theirs = readDom(markup, kind === 'html' ? 'text/html' : 'application/xml')
  return { ours, theirs, numbers: number(ours, theirs) }
}

function number(ours: TreeDocument, theirs: Document): Pair['numbers'] {
  const numbers = new Map<ElementNode | Element, number>()
  const nodes = elementsOf(ours.root)
  const elements = [...theirs.querySelectorAll('*')]
  expect(nodes.map(node => node.tagName)).to.deep.equal(
    elements.map(({ prefix, localName }) => (prefix ? `${prefix}:${localName}` : localName)),
  )
  for (const [at, node] of nodes.entries()) numbers.set(node, at)
  for (const [at, element] of elements.entries()) numbers.set(element, at)
  return numbers
}

function elementsOf(parent: ParentNode): ElementNode[] {
  return parent.childNodes.filter(isElement).flatMap(child => [child, ...elementsOf(child)])
}

/** Makes the same random changes in both trees: elements removed and moved, attributes set and dropped. */
function mutate(random: Random, { ours, theirs, numbers }: Pair): Pair['numbers'] {
  for (let change = 0; change < 8; change++) {
    const nodes = elementsOf(ours.root).filter(node => !['html', 'head', 'title', 'body'].includes(node.tagName))
    const elements = [...theirs.querySelectorAll('*')]
    const node = pick(random, nodes)
    const other = pick(random, nodes)
    const twin = (wanted: ElementNode) => elements.find(element => numbers.get(element) === numbers.get(wanted))
    const element = twin(node)
    const target = twin(other)
    if (!element || !target || !node.parentNode) throw new Error('the trees differ')
    const name = pick(random, ['class', 'id', 'title'])
    const value = attributeValue(random, name)
    const roll = random()
    if (roll < 0.5) {
      element.setAttribute(name, value)
      node.attrs = [...node.attrs.filter(a => a.name !== name || a.prefix), { name, value }]
    } else if (roll < 0.65) {
      element.removeAttribute(name)
      node.attrs = node.attrs.filter(a => a.name !== name || a.prefix)
    } else if (!element.contains(target)) {
      element.remove()
      node.parentNode.childNodes = node.parentNode.childNodes.filter(child => child !== node)
      if (roll < 0.8) continue
      target.prepend(element)
      other.childNodes.unshift(node)
      node.parentNode = other
    }
  }
  theirs.normalize()
  return number(ours, theirs)
}

/** The ways in which our engine can work: each has to give the same answer. */
const WAYS: { name: string; free: number }[] = [
  { name: 'at once', free: STEPS.free },
  { name: 'with every result kept', free: 0 },
]

interface Trial {
  seed: number
  documents: number
  kind: DocumentKind
  markup: (random: Random) => string
  dialect: Dialect
  ask: (theirs: Document, selector: string) => Element[]
}

/** Compares 100 answers for each document; returns a line for each that differs. */
function judge({ seed, documents, kind, markup, dialect, ask }: Trial): string[] {
  const random = seeded(seed)
  const differences: string[] = []
  let matched = 0
  for (let document = 0; document < documents; document++) {
    const trees = pair(kind, markup(random))
    for (let turn = 0; turn < SELECTORS; turn++) {
      if (turn === SELECTORS / 2) trees.numbers = mutate(random, trees)
      const text = randomSelector(random, dialect)
      const expected = ask(trees.theirs, text).map(element => trees.numbers.get(element))
      if (expected.length > 0) matched++
      const selector = compileSelector(text)
      for (const way of WAYS) {
        STEPS.free = way.free
        const { ours } = trees
        const found = selectAll(selector, ours).map(node => trees.numbers.get(node))
        const first = selectFirst(selector, ours)
        if (found.join() === expected.join() && (first && trees.numbers.get(first)) === expected[0]) continue
        differences.push(`${text} (${way.name}) → ${found.join()} instead of ${expected.join()}`)
      }
    }
  }
  expect(matched, 'selectors that match something').to.be.greaterThan((documents * SELECTORS) / 3)
  return differences
}

describe('HTTP-45 Selectors, judged by other engines', function () {
  // The others take their time.
  this.timeout(300_000)
  const { free } = STEPS
  afterEach(() => {
    STEPS.free = free
  })

  it('HTTP-45 finds what jsdom finds: random selectors, half of them after changes of the tree', () => {
    const differences = judge({
      seed: SEED,
      documents: 100 * PART,
      kind: 'html',
      markup: random => randomMarkup(random, true),
      dialect: WHOLE,
      ask: askJsdom,
    })
    expect(differences).to.deep.equal([])
  })

  it('HTTP-23 finds in XML what jsdom finds: case-sensitive, local names in any namespace', () => {
    const differences = judge({
      seed: SEED + 1,
      documents: 40 * PART,
      kind: 'xml',
      markup: randomXml,
      dialect: WHOLE,
      ask: askJsdom,
    })
    expect(differences).to.deep.equal([])
  })

  it('HTTP-45 finds what nwsapi finds: random selectors of the language it knows', () => {
    const engines = new WeakMap<Document, ReturnType<Nwsapi>>()
    const differences = judge({
      seed: SEED + 2,
      documents: 100 * PART,
      kind: 'html',
      markup: random => randomMarkup(random, false),
      dialect: NWSAPI,
      ask: (theirs, text) => {
        let engine = engines.get(theirs)
        // Only the document is handed over: with a window nwsapi would ask jsdom's engine.
        const global = { document: theirs, DOMException }
        if (!engine) engines.set(theirs, (engine = nwsapi(global)))
        return [...engine.select(text, theirs)]
      },
    })
    expect(differences).to.deep.equal([])
  })

  it('HTTP-47 refuses what jsdom refuses: random rows of tokens', () => {
    const random = seeded(SEED + 3)
    const page = readDom('')
    const differences: string[] = []
    let valid = 0
    for (let turn = 0; turn < ROWS; turn++) {
      const text = randomTokens(random)
      // No engine has columns to combine; jsdom takes the combinator all the same, browsers do not.
      if (text.includes('||')) continue
      const theirs = accepts(() => page.querySelector(text))
      if (theirs) valid++
      if (accepts(() => compileSelector(text)) !== theirs) differences.push(`${text} is ${theirs ? '' : 'not '}valid`)
    }
    expect(valid).to.be.greaterThan(ROWS / 10)
    expect(differences).to.deep.equal([])
  })
})

function askJsdom(theirs: Document, text: string): Element[] {
  return [...theirs.querySelectorAll(text)]
}

/** Whether a selector is taken; what is thrown has to be an error about the selector. */
function accepts(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch (error) {
    const name = error instanceof Error || error instanceof Object ? Reflect.get(error, 'name') : ''
    if (name !== 'SyntaxError' && name !== 'SelectorError') throw error
    return false
  }
}
