/** Elements of pages whose directives have no end tag, read and written on the mount: they end where composition ends them (DAV-45, COMP-6). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventsOf, textOf } from '../../http/write-checks.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { enumeration, property, schema } from '../../pipeline/model/markup.ts'
import { NS, page, putAll, rulesPage } from '../../support/content.ts'
import { tagOf } from '../../support/http.ts'
import { leavesTheLoop } from '../../support/loop-hold.ts'
import { partsOf } from '../../support/multipart.ts'
import { outcomeOf, shown, startWire, type Wire } from '../wire.ts'

const PART = '<p:include selector="#x" resource="/parts.html"/>'
const CLOSED = '<p:include selector="#x" resource="/parts.html"></p:include>'

describe('DAV-45 COMP-6 elements beside directives without end tag', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
    await putAll(wire.server, { '/parts.html': '<b id="x">brought</b>' })
  })
  after(() => wire.server.close())

  const at = (selector: string) => ({ Range: `selector=${selector}` })
  const store = (body: string) => putAll(wire.server, { '/page.html': composed(body) })
  const stored = () => textOf(wire.server, '/page.html')

  const READ: [place: string, body: string, selector: string, markup: string][] = [
    ['a directive', `${PART}<p id="rest">rest</p>`, 'p\\:include', CLOSED],
    ['what stands around it', `<div>1${PART}<i>2</i></div>3`, 'div', `<div>1${CLOSED}<i>2</i></div>`],
    [
      'a table',
      `<table><tbody><tr><td>1</td>${PART}</tr></tbody></table>`,
      'table',
      `<table><tbody><tr><td>1</td>${CLOSED}</tr></tbody></table>`,
    ],
    ['what follows it', `${PART}<p id="rest">rest</p>`, 'body > p', '<p id="rest">rest</p>'],
  ]
  for (const [place, body, selector, markup] of READ)
    it(`${place}: GET, QUERY, PUT of the same, its echo and its event`, async () => {
      await store(body)
      const before = await shown(wire.visitor, '/page.html')
      const read = await wire.dav('GET', '/page.html', at(selector))
      expect([read.status, read.text]).to.deep.equal([206, markup])
      const query = await wire.dav('QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, selector)
      const parts = partsOf(query)
      expect(parts.map(({ text, headers }) => [text, headers.ETag])).to.deep.equal([[markup, tagOf(read)]])
      const fields = { ...at(selector), 'If-Match': tagOf(read) }
      const written = await wire.dav('PUT', '/page.html', fields, read.text)
      expect([written.status, written.text]).to.deep.equal([206, markup])
      expect((await wire.dav('GET', '/page.html', at(selector))).headers.etag).to.equal(tagOf(written))
      expect((await eventsOf(wire.server, '/page.html')).at(-1)?.payload).to.include(
        `<div itemprop="body">${markup}</div>`,
      )
      expect(await stored()).to.equal(composed(body.replace(PART, markup.includes(CLOSED) ? CLOSED : PART)))
      expect(await shown(wire.visitor, '/page.html')).to.equal(before)
    })

  const WRITTEN: [name: string, body: string, method: string, selector: string, text: string, expected: string][] = [
    ['the directive alone goes', `${PART}<p>rest</p>`, 'DELETE', 'p\\:include', '', '<p>rest</p>'],
    ['it is replaced alone', `${PART}<p>rest</p>`, 'PUT', 'p\\:include', '<hr>', '<hr><p>rest</p>'],
    ['one without end tag comes', '<i>1</i><p>2</p>', 'PUT', 'i', PART, `${PART}<p>2</p>`],
    [
      'it gets content, and an end tag for it',
      '<div><p:stamp x/>1</div>',
      'POST',
      'p\\:stamp',
      '<i>in</i>',
      '<div><p:stamp x><i>in</i></p:stamp>1</div>',
    ],
    [
      'the same where the slash belongs to a value',
      '<div><p:include selector=b resource=/x/>1</div>',
      'POST',
      'p\\:include',
      '<i>in</i>',
      '<div><p:include selector=b resource=/x/><i>in</i></p:include>1</div>',
    ],
    [
      'misplaced tags behind it are written anew as they are read',
      `${PART}<p>rest</p><p><b class=x>1</p><p>2</p>`,
      'DELETE',
      'b',
      '',
      `${CLOSED}<p>rest</p><p></p><p><b class="x">2</b></p>`,
    ],
    [
      'so are those behind one in a table',
      `<table><tbody><tr>${PART}<td>1</table><p><b class=x>1</p><p>2</p>`,
      'DELETE',
      'b',
      '',
      `<table><tbody><tr>${CLOSED}<td>1</td></tr></tbody></table><p></p><p><b class="x">2</b></p>`,
    ],
  ]
  for (const [name, body, method, selector, text, expected] of WRITTEN)
    it(`HTTP-24 ${name}: ${method}`, async () => {
      await store(body)
      const answer = await wire.dav(method, '/page.html', at(selector), text)
      expect(outcomeOf(answer)).to.be.oneOf(['204', '206'])
      const now = await stored()
      expect(now.slice(now.indexOf('<body>')).replace('</html>', '')).to.equal(`<body>${expected}</body>`)
    })

  it('the element that makes a page one that is composed is told as it is read then', async () => {
    await putAll(wire.server, { '/page.html': '<!doctype html><html><body><div>1</div>2</body></html>' })
    const div = (part: string) => `<div xmlns:p="${NS}/1.0">${part}<i>1</i></div>`
    const written = await wire.dav('PUT', '/page.html', at('div'), div(PART))
    const read = await wire.dav('GET', '/page.html', at('div'))
    expect([written.text, read.text]).to.deep.equal([div(CLOSED), div(CLOSED)])
    expect(tagOf(written)).to.equal(tagOf(read))
    expect(await stored()).to.include(div(PART))
  })

  it('MOD-30 what the data model adds to an element is told with it as it is read', async () => {
    const type = 'https://tides.example/Reading'
    const state = property('state', { type: 'https://tides.example/State', cardinality: '1..1', default: 'raw' })
    const model = page(schema(type, {}, state) + enumeration('https://tides.example/State', 'raw', ''))
    await putAll(wire.server, { '/model.html': model })
    await store(`${PART}<ul></ul>`)
    const written = await wire.dav('POST', '/page.html', at('ul'), `<li itemscope itemtype="${type}">${PART}1</li>`)
    const read = await wire.dav('GET', '/page.html', at('li'))
    expect(read.text).to.match(/<\/p:include>1<meta itemprop="state" content="raw"><\/li>$/)
    expect([written.text, tagOf(written)]).to.deep.equal([read.text, tagOf(read)])
    expect((await eventsOf(wire.server, '/page.html')).at(-1)?.payload).to.include(read.text)
    await putAll(wire.server, { '/model.html': page('') })
  })

  const TOLD: [name: string, method: string, fields: Record<string, string>, body: string][] = [
    ['an element', 'PUT', at('.secret'), '<div class=secret>2</div>'],
    ['several', 'POST', at('body'), '<div class=secret>2</div><div class=secret></div>'],
    ['the element that holds a text', 'POST', at('.secret'), 'text'],
    ['one that goes', 'DELETE', at('.secret'), ''],
    ['one that moves', 'MOVE', at('i'), ''],
    ['one that stays', 'MOVE', at('.secret'), ''],
  ]
  for (const [name, method, fields, body] of TOLD)
    it(`EVT-66 ${name} is denied to subscribers as to readers: ${method}`, async () => {
      const selectors = ['body > .secret', 'p\\:include .secret', '.secret > i']
      const rules = selectors.map(selector => ['*', 'GET', 'Deny', '/page.html', selector] as const)
      await putAll(wire.server, { '/rules.html': rulesPage(...rules) })
      await store(`${PART}<div class=secret>1</div><i>2</i>`)
      const move = { Destination: '/page.html', 'Destination-Range': 'selector=.secret; placement=append' }
      const beside = { ...move, 'Destination-Range': 'selector=.secret; placement=after' }
      const place = method !== 'MOVE' ? {} : fields.Range === 'selector=i' ? move : beside
      const answer = await wire.dav(method, '/page.html', { ...fields, ...place }, body)
      expect(outcomeOf(answer)).to.be.oneOf(['204', '206'])
      const facts = JSON.parse((await eventsOf(wire.server, '/page.html')).at(-1)?.facts ?? '')
      const found = fields.Range === 'selector=i' ? selectors[2] : selectors[0]
      expect(facts.keys).to.deep.equal([[facts.tried.indexOf(found)]])
      await putAll(wire.server, { '/rules.html': page('') })
    })

  it('HTTP-24 prefixes of which nothing is put together mean nothing: tags around them are written anew', async () => {
    const rect = '<svg:rect/>'
    const html = (body: string) => `<!doctype html><html xmlns:svg="http://www.w3.org/2000/svg"><body>${body}`
    await putAll(wire.server, { '/page.html': html(`${rect}<p>rest</p><p><b class=x>1</p><p>2</p>`) })
    const read = await wire.dav('GET', '/page.html', at('svg\\:rect'))
    expect(read.text).to.include('<p>rest</p>')
    expect((await wire.dav('DELETE', '/page.html', at('b'))).status).to.equal(204)
    expect(await stored()).to.include('<p>rest</p><p></p><p><b class="x">2</b></p>')
    const again = await wire.dav('GET', '/page.html', at('svg\\:rect'))
    expect((await wire.dav('PUT', '/page.html', at('svg\\:rect'), again.text)).text).to.equal(again.text)
  })

  it('SEC-12 others are answered while thousands of elements come beside a directive', async () => {
    await store(`${PART}<p>1</p>`)
    const body = '<li>2</li>'.repeat(4000)
    await leavesTheLoop(async () => {
      expect((await wire.dav('POST', '/page.html', at('body'), body)).status).to.equal(206)
      await store(`${PART}<p>1</p>`)
    })
  })

  it('writes at once to several elements each leave the others and the directives', async () => {
    await store(`${PART}<ul>${[1, 2, 3, 4].map(n => `<li id="l${n}"></li>`).join('')}</ul>${PART}`)
    const write = (n: number) => wire.dav('PUT', '/page.html', at(`#l${n}`), `<li id="l${n}">${n}</li>`)
    for (const { status } of await Promise.all([1, 2, 3, 4].map(write))) expect(status).to.equal(206)
    const list = [1, 2, 3, 4].map(n => `<li id="l${n}">${n}</li>`).join('')
    expect(await stored()).to.equal(composed(`${PART}<ul>${list}</ul>${PART}`))
  })
})
