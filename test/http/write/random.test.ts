import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { equalTrees } from '../../../pipeline/tree/compare.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { RUNS } from '../../pipeline/http/seed.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { eventsOf, moving, selecting, textOf } from '../write-checks.ts'

const PATH = '/r.html'
/** Documents in order and out of order. */
const DOCUMENTS = [
  page(
    '<main><ul id="l"><li>1</li><li id="x">2</li></ul><p>text <b>bold</b></p></main><table id="t"><tr><td>c</td></tr></table>',
  ),
  '<title>t</title><ul id=l><li>1<li id=x>2</ul><p>a<p>b<table id=t><td>c',
  '<p>1<b>2<i>3</b>4</i><ul id=l><li id=x>a</ul><table id=t>stray<tr><td>c',
  '\ufeff<!DOCTYPE html>\r\n<ul id="l">\r\n <li id="x">a</li>\r\n</ul>\r\n<pre>\r\n\r\nx</pre><table id="t"></table>\r\n',
  '<template><li>inert</li></template><svg><g><circle/></g></svg><ul id="l"></ul><select><option>o</select><table id="t">',
]
const SELECTORS = [
  '#l',
  '#x',
  'li',
  'li:last-child',
  'p',
  'b',
  'td',
  'tbody',
  '#t',
  'body',
  'body > *',
  '#l > li:nth-child(2)',
  'g',
  'pre',
  ':not(:has(*)):not(title)',
]
const FRAGMENTS = [
  '<li>new</li>',
  '<li id="x">x</li>',
  'text',
  '<p>p<b>q',
  '<tr><td>r</td></tr>',
  '<td>d',
  '<i>i</i> and <u>u</u>',
  '<!-- c --><li>',
  '\n <li>spaced</li>\n',
  '<pre>\n\nx</pre>',
  '&lt;&amp;&eacute;',
  '<svg><a/></svg>',
  '<option>p',
  '<template><b>t</b></template>',
]
const PLACEMENTS = ['append', 'prepend', 'before', 'after']

interface Write {
  kind: 'PUT' | 'POST' | 'DELETE' | 'MOVE'
  target: string
  other: string
  placement: string
  fragment: string
}

const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom('PUT', 'POST', 'POST', 'DELETE', 'MOVE'),
  target: fc.constantFrom(...SELECTORS),
  other: fc.constantFrom(...SELECTORS),
  placement: fc.constantFrom(...PLACEMENTS),
  fragment: fc.constantFrom(...FRAGMENTS),
})

describe('random writes', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())

  function fieldsOf({ kind, target, other, placement }: Write): Fields {
    if (kind === 'MOVE') return moving(PATH, target, other, placement)
    return selecting(target, kind === 'POST' ? placement : undefined)
  }

  /** The tree in memory, patched many times, is that of the stored bytes. */
  async function treeIsThatOfTheBytes(): Promise<void> {
    const held = await server.site.find(PATH)
    const source = (await textOf(server, PATH)).replace(/^\ufeff/, '')
    const tree = held && server.site.tree(held)
    expect(tree?.source).to.equal(source)
    expect(tree && equalTrees(tree.root, parseDocument('html', source).root), source).to.equal(true)
  }

  async function carryOut(step: Write): Promise<void> {
    const before = await textOf(server, PATH)
    const events = await eventsOf(server, PATH)
    const answer = await http(step.kind, PATH, fieldsOf(step), step.fragment)
    expect(answer.status, answer.text).to.be.oneOf([204, 206, 400, 401, 416, 422])
    const now = await eventsOf(server, PATH)
    await treeIsThatOfTheBytes()
    if (answer.status >= 400) {
      expect(await textOf(server, PATH)).to.equal(before)
      expect(now).to.have.length(events.length)
      return
    }
    const whole = tagOf(await http('GET', PATH))
    // A move to where the element is already is no write.
    if (step.kind === 'MOVE' && now.length === events.length) expect(await textOf(server, PATH)).to.equal(before)
    else expect(now).to.have.length(events.length + 1)
    if (answer.status === 204) expect(tagOf(answer)).to.equal(whole)
    else {
      expect(answer.text).to.equal(answer.text.trim())
      const told = /<span itemprop="etag">(.*)<\/span>/.exec(now.at(-1)?.payload ?? '')?.[1]
      // What changed more than the place it was sent to is told as a change of the whole (EVT-23).
      if (told !== whole) expect(tagOf(answer)).to.equal(told ?? whole)
      const next = await http('DELETE', PATH, { ...selecting('#none'), 'If-Match': tagOf(answer) })
      expect(next.status).to.equal(416)
    }
  }

  it('HTTP-24 HTTP-32 whatever is written: tree, bytes, tags and events stay one', async function () {
    this.timeout(300_000)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...DOCUMENTS), fc.array(write, { maxLength: 8 }), async (document, steps) => {
        await put(server, PATH, document)
        for (const step of steps) await carryOut(step)
      }),
      process.env.FUZZ ? RUNS : { ...RUNS, numRuns: 60 },
    )
  })
})
