/** Includes through a real server: what they find, what they bring along and how they fail. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { NS, page, put, putAll, remove } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed, served } from './composing.ts'

describe('Includes', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await putAll(server, {
      '/parts/nav.html': page(
        '<nav id="nav" class="a b">Menu <b>one</b></nav><ul><li class="two">1</li><li class="two">2</li></ul>',
      ),
      '/parts/rows.html': page(
        '<table><tbody id="rows"><tr><td>1</td></tr></tbody></table><select><option id="o">x</option></select>',
      ),
      '/near/part.html': page('<p id="near">near</p>'),
      '/near/no\u00a0break.html': page('<p id="kept">kept</p>'),
      '/near/host.html': composed(
        `<p id="host" p:template="text/liquid">{{ 1 }}<p:include selector="#near" resource="part.html"/><b e:n="(\${#near} from 'part.html').count()"><p:stamp n/></b></p>`,
      ),
      '/meta.html':
        '<!doctype html><html><head><meta name="shared" content="m"><title>m</title></head><body></body></html>',
    })
  })
  after(() => server.close())

  async function get(body: string, head?: string): Promise<string> {
    await put(server, '/page.html', composed(body, head))
    const answer = await send('GET', '/page.html')
    return answer.status === 200
      ? answer.text
      : `${answer.status} ${/itemprop="message">([^<]*)/.exec(answer.text)?.[1]}`
  }

  const cases: [rule: string, body: string, expected: string][] = [
    [
      'COMP-25 COMP-26 COMP-10 replaces itself and its content by a copy with all attributes',
      '<!-- c -->\n <p:include selector="#nav" resource="/parts/*"><i>gone</i></p:include> <main title="x &amp; y">t</main>',
      '<!-- c -->\n <nav id="nav" class="a b">Menu <b>one</b></nav> <main title="x &amp; y">t</main>',
    ],
    ['COMP-25 looks through the whole site without resource', '<p:include selector="#near"/>', '<p id="near">near</p>'],
    [
      'COMP-25 takes several globs, and paths from its own directory',
      '<p:include selector="#near" resource="/none/* near/*"></p:include>',
      '<p id="near">near</p>',
    ],
    [
      'COMP-25 SES-125 that of a template, for what it has made, also where another page includes it',
      '<p:include selector="#host" resource="/near/*"/>',
      '<p id="host">1<p id="near">near</p><b>1</b></p>',
    ],
    [
      'COMP-25 a path with a no-break space',
      '<p:include selector="#kept" resource="near/no\u00a0break.html"/>',
      '<p id="kept">kept</p>',
    ],
    [
      'COMP-25 the way up from there',
      '<p:include selector="#near" resource="none/../near/*"/>',
      '<p id="near">near</p>',
    ],
    ['COMP-25 its own directory', '<p:include selector="#near" resource="./near/part.html"/>', '<p id="near">near</p>'],
    [
      'COMP-25 SES-125 no further up than the site',
      '<p:include selector="#near" resource="../../near/*"/>',
      '<p id="near">near</p>',
    ],
    [
      'COMP-7 ends at its slash, so that what follows is a sibling',
      '<p:include selector="#near" resource="/near/part.html"/><b>x</b>',
      '<p id="near">near</p><b>x</b>',
    ],
    [
      'COMP-7 without an end tag in its parent is empty',
      '<div><p:include selector="#near" resource="/near/part.html"><b>x</b></div><i>y</i>',
      '<div><p id="near">near</p><b>x</b></div><i>y</i>',
    ],
    [
      'COMP-6 stays in a table',
      '<table><p:include selector="#rows" resource="/parts/rows.html"></p:include></table>',
      '<table><tbody id="rows"><tr><td>1</td></tr></tbody></table>',
    ],
    [
      'COMP-6 stays in a select, between options',
      '<select><option>a</option><p:include selector="#o" resource="/parts/rows.html"/><option>b</option></select>',
      '<select><option>a</option><option id="o">x</option><option>b</option></select>',
    ],
    [
      'COMP-6 opens and closes nothing in a paragraph',
      '<p>a <p:include selector="#nav b" resource="/parts/nav.html"/> z</p>',
      '<p>a <b>one</b> z</p>',
    ],
  ]
  for (const [rule, body, expected] of cases) it(rule, async () => expect(await get(body)).to.equal(served(expected)))

  for (const end of ['</body>', '</body></html>', '</body></html>\n'])
    for (const body of ['', 'text'])
      it(`COMP-6 behind ${end.trim()} it belongs to the body: ${body || 'an empty one'}`, async () => {
        const text = composed(body).replace('</body></html>', `${end}<p:include selector="#near"></p:include>`)
        await put(server, '/page.html', text)
        const answer = await send('GET', '/page.html')
        const space = end.endsWith('\n') ? '\n' : ''
        expect([answer.status, answer.text]).to.deep.equal([200, served(`${body}${space}<p id="near">near</p>`)])
      })

  it('COMP-6 stays in head', async () => {
    const text = await get(
      '<p>b</p>',
      '<p:include selector="meta[name=shared]" resource="/meta.html"/><title>t</title>',
    )
    expect(text).to.equal(served('<p>b</p>', '<meta name="shared" content="m"><title>t</title>'))
  })

  const failing: [rule: string, body: string, expected: string][] = [
    ['COMP-26 without a match', '<p:include selector="#none"/>', '404'],
    ['COMP-26 with several matches', '<p:include selector=".two" resource="/parts/*"/>', '500'],
    ['COMP-27 without selector', '<p:include resource="/parts/*"/>', '500'],
    ['COMP-27 with an empty selector', '<p:include selector="  " resource="/parts/*"/>', '500'],
    ['COMP-27 with one that does not parse', '<p:include selector="[[" resource="/parts/*"/>', '500'],
    ['COMP-14 as an unknown element of the vocabulary', '<p:import selector="#nav"/>', '500'],
    ['COMP-14 as an element of a binding namespace', '<r:nav>#nav</r:nav>', '500'],
  ]
  for (const [rule, body, expected] of failing)
    it(`${rule} is ${expected}, and no part of the page is served (COMP-130)`, async () => {
      await put(server, '/page.html', composed(`<p>first</p>${body}`))
      const answer = await send('GET', '/page.html')
      expect(String(answer.status)).to.equal(expected)
      expect(answer.text).to.contain(`itemtype="${NS}/Error"`).and.contain('CompositionError').and.not.contain('first')
      expect(answer.headers['cache-control']).to.equal('no-store')
      expect((await send('GET', '/page.html', selecting('p'))).status, 'by selector').to.equal(answer.status)
    })

  const named: [what: string, body: string, expected: string][] = [
    ['without a match', '<p:include selector="#none"/>', '404 An include finds no element “#none”.'],
    [
      'with several matches',
      '<p:include selector=".two" resource="/parts/*"/>',
      '500 The selector of an include matches more than one element: “.two”.',
    ],
    [
      'whose selector has come from elsewhere',
      `<div r:v="[itemtype='urn:told']" p:template="text/liquid"><p:include selector=".{{ v[0].name }}"/></div>`,
      '404 An include finds no element “…”.',
    ],
  ]
  for (const [what, body, expected] of named)
    it(`COMP-26 COMP-148 which include fails is told by its selector, ${what}`, async () => {
      await put(server, '/told.html', page('<p itemscope itemtype="urn:told"><b itemprop="name">hidden</b></p>'))
      expect(await get(body)).to.equal(expected)
      await remove(server, '/told.html')
    })

  it('COMP-12 COMP-28 what is brought in runs by the declarations of its own document', async () => {
    await put(
      server,
      '/parts/inner.html',
      `<!doctype html><html xmlns:q="${NS}/1.0" xmlns:p="urn:else"><body><div id="inner"><q:include selector="#near" resource="/near/*"/></div></body></html>`,
    )
    expect(await get('<p:include selector="#inner" resource="/parts/*"/>')).to.equal(
      served('<div id="inner"><p id="near">near</p></div>'),
    )
  })

  it('COMP-12 COMP-14 unbound, foreign and unbound again prefixes are ordinary markup', async () => {
    const body = `<x:a y:b="1">t</x:a><div xmlns:f="http://ogp.me/ns#"><f:like f:title="2">u</f:like></div><div xmlns:p=""><p:include selector="#nav"></p:include></div>`
    expect(await get(body)).to.equal(
      served(
        '<x:a y:b="1">t</x:a><div><f:like f:title="2">u</f:like></div><div><p:include selector="#nav"></p:include></div>',
      ),
    )
  })

  it('COMP-14 COMP-15 attributes of unknown namespaces and unknown names go silently, elements fail', async () => {
    expect(await get('<p p:nonsense="1" title="t">x</p><div xmlns:u="urn:u"><b u:a="1">y</b></div>')).to.equal(
      served('<p title="t">x</p><div><b>y</b></div>'),
    )
    expect(await get('<div xmlns:u="urn:u"><u:b></u:b></div>')).to.match(
      /^500 no method found for u:b and no doesNotUnderstand defined/,
    )
  })

  it('COMP-19 a page that includes itself ends with 503', async () => {
    expect(await get('<main id="m">x<p:include selector="#m" resource="/page.html"/></main>')).to.match(/^503/)
  })

  it('COMP-19 COMP-5 500 dispatches are served, 501 are not', async () => {
    const times = (n: number) => '<p:include selector="#near" resource="/near/part.html"/>'.repeat(n)
    expect(await get(times(500))).to.equal(served('<p id="near">near</p>'.repeat(500)))
    expect(await get(times(501))).to.match(/^503/)
  })

  it('COMP-18 contents of templates stay as they are stored', async () => {
    const body = '<template><p:include selector="#nav"></p:include><b e:x="1">y</b></template>'
    expect(await get(body)).to.equal(served(body))
  })

  it('COMP-4 COMP-125 an edited part shows at once, under another tag', async () => {
    await put(server, '/page.html', composed('<p:include selector="#v" resource="/v.html"/>'))
    await put(server, '/v.html', page('<p id="v">1</p>'))
    const first = await send('GET', '/page.html')
    expect(first.text).to.contain('<p id="v">1</p>')
    expect(first.headers).not.to.have.property('last-modified')
    const again = await send('GET', '/page.html', { 'If-None-Match': first.headers.etag })
    expect(again.status).to.equal(304)
    await put(server, '/v.html', page('<p id="v">2</p>'))
    const second = await send('GET', '/page.html', { 'If-None-Match': first.headers.etag })
    expect(second.status).to.equal(200)
    expect(second.text).to.contain('<p id="v">2</p>')
    await remove(server, '/v.html')
    expect((await send('GET', '/page.html')).status).to.equal(404)
  })
})
