import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseForStorage, type ReadDocument, readForStorage } from '../../../pipeline/declarations/derive.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { ANY_TOKEN } from '../../../pipeline/tree/tokens.ts'
import { htmlSoup, runs } from '../tree/samples.ts'

const NAMES = { ns: 'https://site.example/ns', schemaHost: 'https://schema.example' }

type Found = Pick<ReadDocument, 'text' | 'derived'>

/** Of the names that selectors ask for, tags may tell more than the tree has: what is implied, or moved. */
function expectSame(read: Found, parsed: Found): void {
  const { tokens, ...others } = read.derived
  const { tokens: held, ...known } = parsed.derived
  expect({ text: read.text, derived: others }).to.deep.equal({ text: parsed.text, derived: known })
  if (!tokens.includes(ANY_TOKEN)) expect(tokens).to.include.members(held)
}

describe('What a commit finds out about a document', () => {
  describe('HTTP-23 COMP-1 is the same with and without a tree', () => {
    const cases: [what: string, source: string, isParsed: boolean][] = [
      ['nothing special', '<p class=a>x</p>', false],
      ['an item', '<p itemscope itemtype="x:a">x</p>', true],
      ['an item in capitals', '<p ITEMSCOPE>x</p>', true],
      ['a prefix', '<p xmlns:p="x:y">x</p>', true],
      ['a prefix in SVG', '<svg XMLNS:xlink="x:y"></svg>', true],
      ['something transient', '<p p:Transient>x</p>', true],
      ['bytes that are not UTF-8', '\x80', false],
      ...['style', 'title', 'xmp'].map((name): [string, string, boolean] => [
        `an item in a ${name} in a choice`,
        `<select><${name}><option itemscope itemtype="x:a" class=b>c</${name}></select>`,
        true,
      ]),
      [
        'something transient in a template of columns',
        '<template><col><style><template xmlns:a="x:y" a:transient class=b></template></style></template>',
        true,
      ],
    ]
    for (const [what, source, isParsed] of cases)
      it(what, async () => {
        const bytes = Buffer.from(source, 'latin1')
        const read = await readForStorage(bytes, 'html', NAMES)
        const { text, derived } = await parseForStorage(bytes, 'html', NAMES)
        expectSame(read, { text, derived })
        expect(read.tree !== undefined).to.equal(isParsed)
      })

    it('in any markup', async () => {
      const marks = fc.constantFrom('', ' itemscope', ' xmlns:a="x:y"', ' a:transient', ' itemScope=1 itemid="a"')
      const source = fc.tuple(htmlSoup, marks, htmlSoup).map(([a, mark, b]) => `${a}<p${mark}>${b}`)
      await fc.assert(
        fc.asyncProperty(source, async markup => {
          const bytes = Buffer.from(markup)
          const { text, derived } = await readForStorage(bytes, 'html', NAMES)
          const parsed = await parseForStorage(bytes, 'html', NAMES)
          expectSame({ text, derived }, parsed)
        }),
        runs(300),
      )
    })
  })

  it('HTTP-23 a limit refuses the document all the same', async () => {
    const refused = await readForStorage(Buffer.from('<div>'.repeat(600)), 'html', NAMES).catch(error => error)
    expect(refused).to.be.instanceOf(Fault)
    expect(refused.status).to.equal(422)
  })

  it('HTTP-181 XML is parsed: it may not be well formed', async () => {
    const refused = await readForStorage(Buffer.from('<a>'), 'xml', NAMES).catch(error => error)
    expect(refused.status).to.equal(422)
  })
})
