/** Outbound requests through a real server to real receivers. */

import { get, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { entryOf, FAILED_PREFIX, WAITING_PREFIX } from '../../../pipeline/react/outbound/entry.ts'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, receiver } from './receiver.ts'
import {
  answering,
  meta,
  NS,
  page,
  processor,
  type ReactingSite,
  reactingSite,
  request,
  sessel,
  trigger,
} from './site.ts'

let site: ReactingSite
let to: Receiver | undefined
afterEach(async () => {
  await site?.close()
  await to?.close()
  to = undefined
})

const calling = (documents: Readonly<Record<string, string>>, allowOutbound = true) =>
  reactingSite(documents, { site: { allowOutbound } })

const pair = (key: string, value: string) =>
  `<div itemprop="header" itemscope itemtype="${NS}/Pair">${meta('key', key)}${meta('value', value)}</div>`

const arrived = (count: number) => eventually(() => expect(to?.got).to.have.length(count))
const waiting = async () => (await site.running.store.notes(WAITING_PREFIX)).map(entryOf)
const failed = async () => (await site.running.store.notes(FAILED_PREFIX)).map(entryOf)

describe('What is sent', () => {
  it('REA-80, REA-82, REA-83 url, method, fields with repeats in order, body; then nothing is left', async () => {
    to = await receiver()
    const fields =
      pair('X-A', '1') + meta('header', 'X-B: 2: 3') + pair('X-A', '4') + pair('Content-Type', 'text/plain')
    const dropped =
      pair('Host', 'evil') +
      pair('Content-Length', '1') +
      pair('Proxy-X', '1') +
      pair('Cookie', 'a=1') +
      pair('Expect', 'x')
    site = await calling({
      '/t.html': page(
        trigger({
          resource: '/x',
          action: request(
            'action',
            { url: `${to.url}/hook?q=1`, method: 'put', body: ' wörd ', 'content-type': 'a/b' },
            fields + dropped,
          ),
        }),
      ),
    })
    expect((await site.ask('GET', '/x')).status).to.equal(404)
    await arrived(1)
    const [got] = to.got
    expect(got).to.include({ method: 'PUT', url: '/hook?q=1', body: ' wörd ' })
    const { fields: lines = [] } = got ?? {}
    const pairs = lines.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${lines[i + 1]}`] : []))
    expect(pairs.filter(line => line.startsWith('X-'))).to.deep.equal(['X-A: 1', 'X-B: 2: 3', 'X-A: 4'])
    expect(pairs.filter(line => /^content-type/i.test(line))).to.deep.equal(['Content-Type: text/plain'])
    expect(got?.headers).to.include({ host: `127.0.0.1:${to.port}`, 'user-agent': 'platform' })
    expect(got?.headers['platform-delivery']).to.match(/^[0-9a-f-]{36}$/)
    for (const name of ['cookie', 'proxy-x', 'expect']) expect(got?.headers[name], name).to.equal(undefined)
    await eventually(async () => expect(await waiting()).to.deep.equal([]))
  })

  it('REA-80 defaults; GET sends no body; what cannot be sent is dropped', async () => {
    to = await receiver()
    const call = (fields: Record<string, string>) => trigger({ resource: '/x', action: request('action', fields) })
    site = await calling({
      '/t.html': page(
        call({ url: `${to.url}/default` }) +
          call({ url: `${to.url}/get`, method: 'GET', body: 'x' }) +
          ['', 'not a url', 'ftp://a/', 'http://u:p@127.0.0.1/'].map(url => call({ url })).join('') +
          call({ url: `${to.url}/no`, method: 'BREW' }),
      ),
    })
    await site.ask('GET', '/x')
    await arrived(2)
    const [first, second] = [...to.got].sort((a, b) => a.url.localeCompare(b.url))
    expect(first).to.include({ method: 'POST', url: '/default', body: '' })
    expect(first?.headers['content-type']).to.equal('text/html')
    expect(second).to.include({ method: 'GET', body: '' })
  })

  it('REA-81 dynamic properties, in document order, with the response in processors; null is absent', async () => {
    to = await receiver()
    const order = (name: string, letter: string, value: string) =>
      sessel(name, `Context.order = (Context.order ?? "") + "${letter}"; ${value}`)
    site = await calling({
      '/t.html': page(
        processor({
          method: 'PUT',
          status: '2xx',
          action: `<div itemprop="action" itemscope itemtype="${NS}/HttpRequest">${order('method', 'a', '"PATCH"')}${order('url', 'b', `"${to.url}" + Context.request.path`)}${order('content-type', 'c', 'null')}<div itemprop="header" itemscope itemtype="${NS}/Pair">${meta('key', 'X-Status')}${order('value', 'd', 'Context.response.status')}</div>${order('body', 'e', 'Context.order')}</div>`,
        }),
      ),
    })
    expect((await site.ask('PUT', '/new.html', { body: page('x') })).status).to.equal(201)
    await arrived(1)
    expect(to.got[0]).to.include({ method: 'PATCH', url: '/new.html', body: 'abcde' })
    expect(to.got[0]?.headers).to.include({ 'x-status': '201', 'content-type': 'text/html' })
  })

  it('REA-12 what was queued before a throw, an error or a failure of the core is sent', async () => {
    to = await receiver()
    const call = (path: string) => request('action', { url: `${to?.url}${path}` })
    site = await calling({
      '/t.html': page(
        trigger({ resource: '/throw', action: [call('/throw'), answering(418, 'x')] }) +
          trigger({ resource: '/error', action: [call('/error'), '1 / 0'] }) +
          trigger({ resource: '/core', action: call('/core') }) +
          processor({ resource: '/core', status: '2xx', action: call('/success') }),
      ),
    })
    for (const path of ['/throw', '/error', '/core']) await site.ask('GET', path)
    await arrived(3)
    expect(to.got.map(({ url }) => url).sort()).to.deep.equal(['/core', '/error', '/throw'])
  })

  it('REA-10 a refused request causes no call', async () => {
    to = await receiver()
    site = await calling({
      '/rules.html': page('no rules'),
      '/t.html': page(trigger({ action: request('action', { url: `${to.url}/` }) })),
    })
    expect((await site.ask('PUT', '/x.html', { body: 'x' })).status).to.equal(401)
    expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0, delivered: 0 })
    expect(to.got).to.deep.equal([])
  })

  it('REA-95 64 calls of 1 MiB are the most', async () => {
    to = await receiver()
    const action = request('action', { url: `${to.url}/` })
    site = await calling({
      '/t.html': page(
        trigger({ resource: '/64', action: new Array(64).fill(action) }) +
          trigger({ resource: '/65', action: new Array(65).fill(action) }) +
          trigger({
            resource: '/large',
            action: request(
              'action',
              { url: `${to.url}/` },
              sessel('body', '[1,2,3,4,5,6,7,8,9,10,11,12].reduce((a, b) => a + a, "0123456789".repeat(100))'),
            ),
          }),
      ),
    })
    expect((await site.ask('GET', '/64')).status).to.equal(404)
    expect((await site.ask('GET', '/65')).status).to.equal(500)
    expect((await site.ask('GET', '/large')).status).to.equal(500)
    await arrived(128)
    expect(to.most()).to.be.at.most(4)
  })
})

describe('Failures', () => {
  it('REA-84, REA-85 is tried again with the same delivery id, until it succeeds', async () => {
    to = await receiver((_request, response, _got, all) => response.writeHead(all.length < 2 ? 500 : 200).end())
    site = await calling({
      '/t.html': page(trigger({ resource: '/x', action: request('action', { url: `${to.url}/`, retry: '3' }) })),
    })
    await site.ask('GET', '/x')
    await arrived(2)
    const ids = to.got.map(({ headers }) => headers['platform-delivery'])
    expect(new Set(ids).size).to.equal(1)
    await eventually(async () => expect(await waiting()).to.deep.equal([]))
    expect(await failed()).to.deep.equal([])
    expect(site.running.outbound.figures()).to.include({ delivered: 1, retried: 1, failed: 0 })
  })

  it('REA-84 without retries, a negative or odd number of them, one attempt is all; it is kept as failed', async () => {
    to = await receiver((_, response) => response.writeHead(404).end())
    const call = (retry: string) =>
      trigger({ resource: '/x', action: request('action', { url: `${to?.url}/`, retry }) })
    site = await calling({ '/t.html': page(['', '0', '-1', 'many', '1.5'].map(call).join('')) })
    await site.ask('GET', '/x')
    await eventually(async () => expect(await failed()).to.have.length(5))
    expect(to.got).to.have.length(5)
    expect((await failed()).map(({ failure, attempts }) => [failure, attempts])[0]).to.deep.equal(['status 404', 1])
  })

  it('REA-87 loopback is refused for good unless the operator allows it, and never retried', async () => {
    to = await receiver()
    site = await calling(
      { '/t.html': page(trigger({ resource: '/x', action: request('action', { url: `${to.url}/`, retry: '4' }) })) },
      false,
    )
    await site.ask('GET', '/x')
    await eventually(async () => expect(await failed()).to.have.length(1))
    expect(to.got).to.deep.equal([])
  })
})

describe('Calls to own sites', () => {
  it('REA-88 a path is an anonymous request to the own site; rules, triggers and validation apply', async () => {
    site = await calling(
      {
        '/log.html': page('<ul id="log"></ul>'),
        '/t.html': page(
          trigger({
            resource: '/x',
            action: request(
              'action',
              { url: '/log.html', body: '<li>seen</li>' },
              meta('header', 'Range: selector=#log'),
            ),
          }) + trigger({ resource: '/log.html', method: 'POST', action: 'Context.request.headers["authorization"]' }),
        ),
      },
      false,
    )
    await site.ask('GET', '/x')
    await eventually(async () => expect((await site.ask('GET', '/log.html')).text).to.include('<li>seen</li>'))
    expect(site.running.outbound.figures()).to.include({ delivered: 1 })
  })

  it('REA-88 at depth five no further calls to own sites are made', async () => {
    site = await calling(
      { '/t.html': page(trigger({ method: 'POST', action: request('action', { url: '/again' }) })) },
      false,
    )
    await site.ask('POST', '/again', { headers: { Range: 'selector=p' }, body: 'x' })
    const depths = async () => (await failed()).map(({ depth }) => depth).sort()
    await eventually(async () => expect(await depths()).to.deep.equal([0, 1, 2, 3, 4, 5]))
    expect(site.running.outbound.figures().failed).to.equal(6)
  })

  it('REA-88 the own origin by its name stays inside, another port is another server', async () => {
    to = await receiver()
    site = await calling({
      '/t.html': page(trigger({ resource: '/x', action: [sessel('action', '1')] })),
    })
    const { host } = new URL(site.url)
    const add = (url: string) => request('action', { url, method: 'GET' })
    await site.ask('PUT', '/t.html', {
      body: page(trigger({ resource: '/x', action: [add(`http://${host}/page`), add(`${to.url}/other`)] })),
    })
    await site.ask('GET', '/x')
    await arrived(1)
    expect(to.got[0]?.url).to.equal('/other')
    await eventually(async () => expect((await failed()).map(({ failure }) => failure)).to.deep.equal(['status 404']))
  })
})

describe('Calls to others', () => {
  it('REA-87 whoever calls the site by the host of a receiver does not keep calls from it', async () => {
    to = await receiver()
    const hosts = [`127.0.0.1:${to.port}`, `localhost:${to.port}`, `hooks.example:${to.port}`]
    site = await calling({
      '/t.html': page(
        trigger({ resource: '/x', action: request('action', { url: `http://localhost:${to.port}/hook` }) }),
      ),
    })
    for (const host of hosts) {
      const { statusCode } = await new Promise<IncomingMessage>((resolve, reject) =>
        get(`${site.url}/x`, { headers: { host } }, answer => resolve(answer.resume())).on('error', reject),
      )
      expect(statusCode, host).to.equal(404)
    }
    await arrived(hosts.length)
  })

  it('REA-88 a call that comes back over the network counts as one that has led here', async () => {
    const depths: (number | undefined)[] = []
    to = await receiver(async (incoming, response) => {
      const { outbound } = site.running
      const delivery = String(incoming.headers['platform-delivery'])
      depths.push(outbound.depthOf(delivery))
      await site
        .ask('GET', '/many', { headers: { 'Platform-Delivery': delivery } })
        .then(({ status }) => depths.push(status))
      response.writeHead(204).end()
      await eventually(() => expect(outbound.figures().delivered).to.equal(1))
      depths.push(outbound.depthOf(delivery))
    })
    const nowhere = request('action', { url: 'https://hooks.invalid/' })
    site = await calling({
      '/t.html': page(trigger({ resource: '/x', action: request('action', { url: to.url }) })),
      '/u.html': page(trigger({ resource: '/many', action: Array.from({ length: 17 }, () => nowhere) })),
    })
    await site.ask('GET', '/x')
    // One of depth 1 may queue 16.
    await eventually(() => expect(depths).to.deep.equal([1, 500, 0]))
  })
})

describe('The durable queue', () => {
  it('REA-86 what a stopped server has not delivered the next one sends', async () => {
    site = await calling({
      '/t.html': page(
        trigger({ resource: '/x', action: request('action', { url: 'http://127.0.0.1:9/', retry: '4' }) }),
      ),
    })
    to = await receiver()
    await site.ask('PUT', '/t.html', {
      body: page(trigger({ resource: '/x', action: request('action', { url: `${to.url}/later`, retry: '4' }) })),
    })
    const { url } = to
    await to.close()
    await site.ask('GET', '/x')
    await eventually(async () => expect((await waiting())[0]?.attempts).to.be.at.least(1))
    const [entry] = await waiting()
    await site.stop()
    to = await receiver(undefined, Number(new URL(url).port))
    site = await reactingSite({}, { data: site.data, site: { allowOutbound: true } })
    await arrived(1)
    expect(to.got[0]?.headers['platform-delivery']).to.equal(entry?.delivery)
  })
})
