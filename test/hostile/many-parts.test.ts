/** Pages of many parts from many documents (COMP-126): what is the same for all parts is found once. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Composing } from '../../pipeline/compose/composing.ts'
import type { Page } from '../../pipeline/compose/page.ts'
import { transientPlace } from '../../pipeline/compose/session-copies.ts'
import { type Attribute, type ElementNode, HTML_NAMESPACE } from '../../pipeline/tree/nodes.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { NS, page, putAll } from '../support/content.ts'
import { takesLess } from '../support/cost.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('pages of many parts', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
  })
  after(() => server.close())

  it('SEC-12 COMP-126 the documents of a page are gone through once, however many matches are tagged', async () => {
    await putAll(server, {
      '/a.html': page('<b class="x">a</b>'),
      '/b.html': page('<b class="x">b</b>'),
      '/p.html': composed(`<ul r:x=".x"><p:stamp x/></ul>${'<li>1</li>'.repeat(50)}`),
    })
    const { site } = server
    const documentPart = site.documentPart.bind(site)
    let count = 0
    site.documentPart = (resource, others) => {
      if (others?.length === 2) count++
      return documentPart(resource, others)
    }
    const answer = await send('GET', '/p.html', { Range: 'selector=li', Accept: 'multipart/mixed' })
    expect(answer.text.match(/^etag: /gim)).to.have.lengthOf(50)
    expect(count).to.equal(1)
  })

  it('SEC-12 COMP-80 the last of many marked elements without an id has its place as soon as the first', async () => {
    const { site } = server
    const file = await site.find('/p.html')
    if (!file) throw new Error('no page')
    const parent = elementOf(null, [{ name: 'xmlns:p', value: `${NS}/1.0` }])
    const marked = Array.from({ length: 300_000 }, () => elementOf(parent, [{ name: 'p:transient', value: '' }]))
    const read = { file, busy: new Set(marked) } as unknown as Page
    const at = { site, params: new Map(), viewer: { path: '/p.html' } } as unknown as Composing
    const places = (elements: readonly ElementNode[]) =>
      new Set(elements.map(element => transientPlace(at, read, element).name))
    places(marked.slice(0, 10_000))
    expect(await takesLess(150, () => places(marked.slice(-10_000)))).to.have.lengthOf(10_000)
  })
})

function elementOf(parentNode: ElementNode | null, attrs: Attribute[]): ElementNode {
  return { nodeName: 'b', tagName: 'b', namespaceURI: HTML_NAMESPACE, attrs, childNodes: [], parentNode }
}
