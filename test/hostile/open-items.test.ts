/** Items and values in each other are copied, or written anew, once with all that is in them, or paid for each time (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { following } from '../../pipeline/model/effect.ts'
import type { Referrer } from '../../pipeline/model/inheritance.ts'
import { Registry } from '../../pipeline/model/registry.ts'
import { revising } from '../../pipeline/model/revise.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { type Item, readingTopLevelItems } from '../../pipeline/tree/microdata.ts'
import { microdataValue } from '../../pipeline/tree/microdata-value.ts'
import { elementAlone, isText, type TreeDocument } from '../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll, selectFirst } from '../../pipeline/tree/selector/selector.ts'
import { serializeDocument } from '../../pipeline/tree/serialize.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { collect } from '../support/collect.ts'
import { NS, page, put } from '../support/content.ts'
import { client } from '../support/http.ts'
import { startServer } from '../support/server.ts'

const LEVELS = 100
/** Texts of one character each, each in an element. */
const PIECES = 1_000
const TEXT = 'text '.repeat(1_000)

function textIn(document: TreeDocument) {
  const [text] = selectFirst(compileSelector('p'), document)?.childNodes ?? []
  if (!text || !isText(text)) throw new Error('no text')
  let reads = 0
  Object.defineProperty(text, 'value', {
    enumerable: true,
    get() {
      reads++
      return TEXT
    },
  })
  return () => reads
}

describe('items that are left open in each other', () => {
  it('MOD-30 SEC-12 each gets a default: what they hold is read a few times', () => {
    const document = parseDocument('html', `<!DOCTYPE html><body>${'<div>'.repeat(LEVELS)}<p>${TEXT}</p>`)
    const reads = textIn(document)
    const items = selectAll(compileSelector('div'), document)
    const defaults = items.map(to => ({ op: 'append', to, node: elementAlone('i') }) as const)
    const revised = atOnce(revising(document, defaults, []))
    expect(revised && serializeDocument(revised.document).match(/<i><\/i>/g)).to.have.length(LEVELS)
    expect(reads()).to.be.below(LEVELS / 4)
  })
})

describe('values in each other', () => {
  const TYPE = 'urn:t:Thing'
  const VALUE = '<data itemprop="r" value="x">'
  const ITEM = `<div itemscope itemtype="${TYPE}">`

  for (const [name, markup] of [
    ['of one item', ITEM + VALUE.repeat(LEVELS)],
    ['of items in each other', `${ITEM}${VALUE}`.repeat(LEVELS)],
  ] as const)
    it(`MOD-55 SEC-12 ${name} follow another value: what they hold is read a few times`, () => {
      const document = parseDocument('html', `<!DOCTYPE html><body>${markup}<p>${TEXT}</p>`)
      const reads = textIn(document)
      const referrer = { type: TYPE, name: 'r', cardinality: {} } as Referrer
      const effects = [{ referrer, value: 'x', to: 'y' }]
      const registry = Registry.empty({ ns: 'urn:ns', schemaHost: 'urn:host' })
      const result = atOnce(following(registry, { document }, effects, true, TEXT.length))
      if (typeof result === 'string') throw new Error(result)
      expect(serializeDocument(result.place.document)).to.include('value="y"')
      expect(reads()).to.be.below(LEVELS / 4)
    })

  it('HTTP-71 SEC-12 are read one by one for JSON-LD, and each is kept in one piece', () => {
    const { root } = parseDocument(
      'html',
      `<!DOCTYPE html><body>${ITEM}${'<div itemprop="p">'.repeat(LEVELS)}${'<b>x</b> '.repeat(PIECES)}`,
    )
    let steps = 0
    let items: Item[] = []
    collect()
    const before = process.memoryUsage().heapUsed
    const reading = readingTopLevelItems(root, microdataValue)
    let step = reading.next()
    for (; !step.done; step = reading.next()) steps++
    items = step.value
    collect()
    const grown = process.memoryUsage().heapUsed - before
    expect(items[0]?.properties).to.have.length(LEVELS)
    expect(steps).to.be.at.least(LEVELS)
    expect(grown / LEVELS, 'bytes of each').to.be.below(10 * PIECES)
  })

  const self = '<script itemprop="@SLOT" type="text/sessel">self</script>'
  const text = `<div itemprop="@SLOT" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">export default values => values.map(() => "y")</script></div>`
  for (const [language, code] of [
    ['Sessel', self],
    ['JavaScript', text],
  ] as const)
    it(`MOD-70 MOD-71 SEC-12 go through a resolver in ${language}: each copy is paid for`, async () => {
      const server = await startServer({ site: { defaultGet: 'allow' } })
      const declared = (slot: string) =>
        put(
          server,
          '/schema.html',
          page(schema(TYPE, {}, property('r', { code: { markup: code.replaceAll('SLOT', slot) } }))),
        )
      const items = page(`${ITEM}${VALUE.repeat(4 * LEVELS)}<p>${'text '.repeat(40_000)}</p>`)
      try {
        await declared('write')
        const refusal = await put(server, '/items.html', items).catch(error => error)
        expect(refusal).to.have.property('status', 503)
        await declared('read')
        await put(server, '/items.html', items)
        expect((await client(server.port)('GET', '/items.html')).status).to.equal(503)
      } finally {
        await server.close()
      }
    })
})
