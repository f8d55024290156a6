/** Dead properties come back equivalent, whatever XML they are (DAV-34): generated values, read again by another parser. */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { SaxesParser } from 'saxes'
import { startWire, to, type Wire } from '../wire.ts'

/** Prefixes are bound anew on the way down, so that the same one means this here and that there. */
const PREFIXES = ['', 'a', 'b', 'D', 'x'] as const
const NAMESPACES = ['urn:one', 'urn:two&three', 'DAV:', 'http://x.example/é#', 'urn:\'quoted\'"twice"'] as const

interface Element {
  prefix: (typeof PREFIXES)[number]
  namespace: (typeof NAMESPACES)[number] | ''
  name: string
  attributes: [name: string, value: string][]
  language: string | undefined
  children: (Element | string)[]
}

const escaped = (text: string) => text.replace(/[&<>"'\t\n\r]/g, character => `&#${character.codePointAt(0)};`)

/** Every element declares its own prefix, so that whatever is around it does not matter. */
function write({ prefix, namespace, name, attributes, language, children }: Element): string {
  const tag = namespace === '' || prefix === '' ? name : `${prefix}:${name}`
  const declaration =
    namespace === '' || prefix === '' ? ` xmlns="${escaped(namespace)}"` : ` xmlns:${prefix}="${escaped(namespace)}"`
  const fields = attributes.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')
  const lang = language === undefined ? '' : ` xml:lang="${language}"`
  const content = children.map(child => (typeof child === 'string' ? escaped(child) : write(child))).join('')
  return `<${tag}${declaration}${lang}${fields}>${content}</${tag}>`
}

/** What a document says below the first element of a name: expanded names, attributes and text in order. */
function told(xml: string, name: string): string[] {
  const said: string[] = []
  let depth = 0
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ uri, local, attributes }) => {
    if (depth === 0 && local !== name) return
    depth++
    const fields = Object.values(attributes)
      .filter(({ prefix, local: key }) => prefix !== 'xmlns' && !(prefix === '' && key === 'xmlns'))
      .map(({ uri: space, local: key, value }) => `{${space}}${key}=${value}`)
    said.push(`<{${uri}}${local} ${fields.sort().join(' ')}>`)
  })
  parser.on('text', text => {
    if (depth === 0) return
    if (said.at(-1)?.startsWith('"')) said[said.length - 1] += text
    else said.push(`"${text}`)
  })
  parser.on('closetag', () => {
    if (depth === 0) return
    depth--
    said.push('>')
  })
  parser.write(xml).close()
  return said
}

const text = fc
  .array(
    fc.constantFrom(
      'a',
      'Z',
      ' ',
      '\n',
      '\t',
      '\r',
      '&',
      '<',
      '>',
      '"',
      "'",
      ']]>',
      'é',
      '日',
      '😀',
      '\u0085',
      '\u2028',
      '&amp;',
      '<b>',
    ),
    {
      maxLength: 6,
    },
  )
  .map(characters => characters.join(''))
const attributeNames = fc.uniqueArray(fc.constantFrom('k', 'id', 'Class', 'data-x', 'é'), { maxLength: 3 })
const { element } = fc.letrec<{ element: Element }>(tie => ({
  element: fc
    .record({
      prefix: fc.constantFrom(...PREFIXES),
      namespace: fc.constantFrom(...NAMESPACES, '' as const),
      name: fc.constantFrom('n', 'Name', 'é', 'n.m-o_p', 'prop', 'set'),
      attributes: attributeNames.chain(names =>
        fc
          .tuple(...names.map(() => text))
          .map(values => names.map((name, i): [string, string] => [name, values[i] ?? ''])),
      ),
      language: fc.option(fc.constantFrom('de', 'en-GB'), { nil: undefined }),
      children: fc.array(fc.oneof({ maxDepth: 3, depthSize: 'small' }, text, tie('element')), { maxLength: 3 }),
    })
    // A prefix cannot be bound to no namespace.
    .map(made => (made.namespace === '' ? { ...made, prefix: '' as const } : made)),
}))

describe('values of dead properties', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
    await wire.dav('PUT', '/a.txt', {}, 'a')
  })
  after(() => wire.server.close())

  /** An element of a name that only the test knows, with generated content. */
  const property = fc.record({
    namespace: fc.constantFrom(...NAMESPACES.filter(name => name !== 'DAV:'), '' as const),
    prefix: fc.constantFrom('p', 'D2', ''),
    attributes: attributeNames.map(names => names.map((name): [string, string] => [name, name])),
    language: fc.option(fc.constantFrom('fr'), { nil: undefined }),
    children: fc.array(fc.oneof(text, element), { maxLength: 3 }),
  })

  it('DAV-34 are equivalent when they are read again, and on a copy', async function () {
    this.timeout(300_000)
    await fc.assert(
      fc.asyncProperty(property, async made => {
        const own = { ...made, name: 'probed', prefix: made.namespace === '' ? '' : made.prefix } as Element
        const xml = write(own)
        const update = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>${xml}</D:prop></D:set></D:propertyupdate>`
        const set = await wire.dav('PROPPATCH', '/a.txt', {}, update)
        expect(set.text).to.include('200 OK')
        const empty = write({ ...own, attributes: [], language: undefined, children: [] })
        const ask = `<D:propfind xmlns:D="DAV:"><D:prop>${empty}</D:prop></D:propfind>`
        await wire.dav('COPY', '/a.txt', to('/copy.txt'))
        for (const path of ['/a.txt', '/copy.txt'])
          for (const body of [ask, undefined]) {
            const found = await wire.dav('PROPFIND', path, { Depth: '0' }, body)
            expect(told(found.text, 'probed'), found.text).to.deep.equal(told(xml, 'probed'))
          }
        const removal = `<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop>${empty}</D:prop></D:remove></D:propertyupdate>`
        expect((await wire.dav('PROPPATCH', '/a.txt', {}, removal)).status).to.equal(207)
        expect((await wire.dav('PROPFIND', '/a.txt', { Depth: '0' })).text).not.to.include('probed')
      }),
      { numRuns: Number(process.env.FUZZ ?? 60), seed: Number(process.env.SEED ?? 20311104) },
    )
  })
})
