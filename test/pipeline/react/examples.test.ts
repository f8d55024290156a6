/** The examples of the specification of reactions, as they are written there, on a real server. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, receiver } from './receiver.ts'
import { meta, NS, page, type ReactingSite, reactingSite } from './site.ts'

const LOAN = 'https://library.example/Loan'

/** GET of `/desk/…` needs the token stored in a document nobody may read. */
const GUARD = `<div hidden itemscope itemtype="{ns}/Trigger">
  <meta itemprop="resource" content="/desk/*"><meta itemprop="method" content="GET">
  <div itemprop="when" itemscope itemtype="{ns}/Sessel"><script itemprop="source" type="text/sessel">
    @schema Context url("{ns}/Context");
    Context.request.headers["authorization"] == \${[itemtype="https://library.example/Desk"] [itemprop="token"]}.first().value()
  </script></div>
  <div itemprop="otherwise" itemscope itemtype="{ns}/Sessel"><script itemprop="source" type="text/sessel">
    @schema HTTPResponse url("{ns}/HTTPResponse");
    @schema Pair url("{ns}/Pair");
    throw new HTTPResponse { status: 401, body: "Token needed", header: new Pair { key: "WWW-Authenticate", value: "Basic" } }
  </script></div>
</div>`

const STAMP = `<div hidden itemscope itemtype="{ns}/Trigger">
  <meta itemprop="resource" content="/loans/*"><meta itemprop="method" content="PUT">
  <div itemprop="action" itemscope itemtype="{ns}/Sessel"><script itemprop="source" type="text/sessel">
    @schema Context url("{ns}/Context");
    @schema Site url("{ns}/1.0");
    @schema Loan url("https://library.example/Loan");
    Site.PUT(new Loan { note: Context.request.body }, Context.request.path)
  </script></div>
</div>`

const TELL = `<div hidden itemscope itemtype="{ns}/Processor">
  <meta itemprop="resource" content="/loans/*"><meta itemprop="method" content="POST"><meta itemprop="status" content="2xx">
  <div itemprop="action" itemscope itemtype="{ns}/HttpRequest">
    <meta itemprop="url" content="https://hooks.example/loan"><meta itemprop="content-type" content="application/json"><meta itemprop="retry" content="2">
    <div itemprop="header" itemscope itemtype="{ns}/Pair"><meta itemprop="key" content="X-Token"><meta itemprop="value" content="t-1"></div>
    <div itemprop="body" itemscope itemtype="{ns}/JavaScript/Module"><script type="module" itemprop="source">
      export default (ctx) => JSON.stringify({ at: ctx.request.path, status: ctx.response.status })</script></div>
  </div>
</div>
<div hidden itemscope itemtype="{ns}/Processor">
  <meta itemprop="method" content="GET"><meta itemprop="status" content="404">
  <div itemprop="action" itemscope itemtype="{ns}/Sessel"><script itemprop="source" type="text/sessel">
    @schema Context url("{ns}/Context");
    Context.response.body = "<h1>No such shelf</h1>"
  </script></div>
</div>`

const rule = (from: readonly string[], to: readonly string[]) =>
  `<div hidden itemscope itemtype="{ns}/TransitionConstraint">${meta('selector', `[itemtype='${LOAN}']`)}${meta('property', 'state')}${from.map(each => meta('from', each)).join('')}${to.map(each => meta('to', each)).join('')}</div>`
const MACHINE = [rule([], ['out']), rule(['out'], ['late']), rule(['out', 'late'], ['back']), rule(['back'], [])]

const DESK = `<div itemscope itemtype="https://library.example/Desk"><span itemprop="token">s3cret</span></div>`
const loan = (state: string) => `<div itemscope itemtype="${LOAN}"><b itemprop="state">${state}</b></div>`
const access = (actor: string, resource: string, action: string) =>
  `<div itemscope itemtype="{ns}/AuthorizationRule">${meta('actor', actor)}${meta('method', '*')}${meta('resource', resource)}${meta('action', action)}</div>`

describe('Examples of the specification', () => {
  let site: ReactingSite
  let to: Receiver
  before(async () => {
    to = await receiver()
    site = await reactingSite(
      {
        '/secret.html': page(DESK),
        '/desk/today.html': page('today'),
        '/loans/list.html': page('<main id="open"></main>'),
        '/model.html': page(
          `<div itemscope itemtype="${NS}/Schema">${meta('type', LOAN)}<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('name', 'note')}</div></div>`,
        ),
      },
      { site: { allowOutbound: true } },
    )
    // Nothing is changed but the placeholders, and the address of the receiver.
    const own = (text: string) => page(text.replaceAll('{ns}', NS).replace('https://hooks.example', to.url))
    await put(site, '/guard.html', own(GUARD))
    await put(site, '/stamp.html', own(STAMP))
    await put(site, '/tell.html', own(TELL))
    await put(site, '/machine.html', own(MACHINE.join('')))
    await put(site, '/rules.html', own(access('*', '*', 'Allow') + access('*', '/secret.html', 'Deny')))
  })
  after(async () => {
    await site.close()
    await to.close()
  })

  it('REA-30, REA-33, REA-50 a guard with a challenge', async () => {
    expect((await site.ask('GET', '/secret.html')).status).to.equal(401)
    const refused = await site.ask('GET', '/desk/today.html')
    expect([refused.status, refused.text]).to.deep.equal([401, 'Token needed'])
    expect([refused.headers.get('www-authenticate'), refused.headers.get('etag')]).to.deep.equal(['Basic', null])
    const passed = await site.ask('GET', '/desk/today.html', { headers: { Authorization: 's3cret' } })
    expect([passed.status, passed.text]).to.deep.equal([200, page('today')])
  })

  it('REA-62 the body is stamped on its way in', async () => {
    expect((await site.ask('PUT', '/loans/9.html', { body: 'two weeks' })).status).to.equal(201)
    expect((await site.ask('GET', '/loans/9.html')).text)
      .to.include(`itemtype="${LOAN}"`)
      .and.to.match(/itemprop="note"[^>]*two weeks/)
  })

  it('REA-24, REA-81, REA-83 another system is told after success', async () => {
    const reply = await site.ask('POST', '/loans/list.html', {
      headers: { Range: 'selector=#open' },
      body: '<p>another</p>',
    })
    expect(reply.status).to.equal(206)
    await eventually(() => expect(to.got).to.have.length(1))
    expect(to.got[0]).to.include({ method: 'POST', url: '/loan', body: '{"at":"/loans/list.html","status":206}' })
    expect(to.got[0]?.headers).to.include({ 'content-type': 'application/json', 'x-token': 't-1' })
    expect(
      (await site.ask('POST', '/loans/list.html', { headers: { Range: 'selector=#none' }, body: '<p>' })).status,
    ).to.equal(416)
    await eventually(() => expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))
    expect(to.got).to.have.length(1)
  })

  it('REA-71 a friendlier 404', async () => {
    const reply = await site.ask('GET', '/no-such-shelf.html')
    expect([reply.status, reply.text]).to.deep.equal([404, '<h1>No such shelf</h1>'])
    expect(reply.headers.get('content-type')).to.equal('text/html; charset=utf-8')
  })

  it('REA-100, REA-109 a state machine', async () => {
    await put(site, '/shelf.html', page('<main></main>'))
    const edit = (method: string, selector: string, body: string) =>
      site.ask(method, '/shelf.html', { headers: { Range: `selector=${selector}` }, body })
    const refused = await edit('POST', 'main', loan('late'))
    expect(refused.status).to.equal(422)
    expect(refused.text).to.include('itemprop="from"></').and.to.include('itemprop="to">late<')
    expect((await edit('POST', 'main', loan('out'))).status).to.equal(206)
    expect((await edit('PUT', 'b', '<b itemprop="state">late</b>')).status).to.equal(206)
    const kept = await site.ask('DELETE', '/shelf.html')
    expect([kept.status, kept.text.includes('itemprop="to"></')]).to.deep.equal([422, true])
    expect((await edit('PUT', 'b', '<b itemprop="state">back</b>')).status).to.equal(206)
    expect((await site.ask('DELETE', '/shelf.html')).status).to.equal(204)
  })
})
