/** Triggers on the mount, where a site wants them. */

import { hash } from 'node:crypto'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { eventually } from '../../support/eventually.ts'
import { connect } from '../../support/http.ts'
import { type Receiver, receiver } from './receiver.ts'
import { answering, NS, page, processor, type ReactingSite, reactingSite, request, trigger } from './site.ts'

let site: ReactingSite
let to: Receiver | undefined
afterEach(async () => {
  await site?.close()
  await to?.close()
  to = undefined
})

const LOAN = 'https://library.example/Loan'
const guards = page(
  trigger({ method: ['PUT', 'DELETE', 'MOVE', 'COPY'], resource: '/guarded*', action: answering(409, 'guarded') }) +
    trigger({
      method: 'PUT',
      resource: '/stamped*',
      action: `@schema Site url("${NS}/1.0"); @schema Loan url("${LOAN}"); Site.PUT(new Loan { note: String(Context.request.headers["authorization"] == null) + Context.request.body }, Context.request.path)`,
    }) +
    processor({ action: answering(500, 'processor') }),
)
const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${LOAN}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="note"></div></div>`,
)

const mounted = (method: string, path: string, options: { body?: string; headers?: Record<string, string> } = {}) =>
  fetch(site.mountUrl + path, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${site.user}:${site.password}`).toString('base64')}`,
      ...options.headers,
    },
    ...(options.body !== undefined && { body: options.body }),
  })

describe('mountReactions', () => {
  it('REA-6 triggers run for PUT, DELETE, MOVE and COPY of files; processors never', async () => {
    site = await reactingSite(
      { '/schema.html': SCHEMA, '/guarded.html': page('x'), '/t.html': guards },
      { site: { mountReactions: true } },
    )
    const Destination = `${site.mountUrl}/elsewhere.html`
    for (const [method, headers] of [
      ['PUT', {}],
      ['DELETE', {}],
      ['MOVE', { Destination }],
      ['COPY', { Destination }],
    ] as const) {
      const reply = await mounted(method, '/guarded.html', { headers, ...(method === 'PUT' && { body: page('y') }) })
      expect([reply.status, await reply.text()], method).to.deep.equal([409, 'guarded'])
    }
    expect((await mounted('GET', '/guarded.html')).status).to.equal(200)
    expect((await mounted('PUT', '/free.html', { body: page('y') })).status).to.equal(201)
  })

  it('REA-6 DAV-72 a work file that takes an ordinary name is a PUT of that to triggers', async () => {
    site = await reactingSite(
      {
        '/schema.html': SCHEMA,
        '/t.html': guards,
        '/u.html': page(trigger({ method: 'PUT', resource: '/taken.html', action: answering(202, 'taken') })),
      },
      { site: { mountReactions: true } },
    )
    const stored = async (path: string) => Buffer.from((await site.site.find(path))?.bytes ?? []).toString()
    for (const [method, name, status, text] of [
      ['MOVE', 'guarded.html', 409, 'guarded'],
      ['COPY', 'guarded.html', 409, 'guarded'],
      ['MOVE', 'taken.html', 202, 'taken'],
      ['MOVE', 'guarded-folder/', 409, 'guarded'],
    ] as const) {
      const isTree = name.endsWith('/')
      const work = isTree ? '/page.sb-12345678-abcdef/' : '/~$work.tmp'
      if (isTree) await mounted('MKCOL', work)
      expect((await mounted('PUT', isTree ? `${work}a.html` : work, { body: page('new') })).status).to.be.below(300)
      const reply = await mounted(method, work, { headers: { Destination: `${site.mountUrl}/${name}` } })
      expect([reply.status, await reply.text()], `${method} to ${name}`).to.deep.equal([status, text])
      expect(await stored(isTree ? `/${name}a.html` : `/${name}`)).to.equal('')
      expect((await mounted('GET', isTree ? `${work}a.html` : work)).status, `work file after ${name}`).to.equal(200)
    }
    expect((await mounted('PUT', '/~$work.tmp', { body: 'raw' })).status).to.equal(204)
    const headers = { Destination: `${site.mountUrl}/stamped.html` }
    expect((await mounted('MOVE', '/~$work.tmp', { headers })).status).to.equal(201)
    expect(await stored('/stamped.html'))
      .to.include('trueraw')
      .and.to.include(LOAN)
    const { status } = await mounted('PUT', '/stamped', { headers: { 'Content-Type': 'text/plain' }, body: 'raw' })
    expect([status, (await site.site.find('/stamped'))?.kind]).to.deep.equal([201, 'html'])
    expect((await mounted('GET', '/~$work.tmp')).status).to.equal(404)
  })

  it('REA-6 DAV-81 the empty file that a LOCK makes is a PUT to triggers: where they refuse it, nothing is made or locked', async () => {
    site = await reactingSite({ '/t.html': guards }, { site: { mountReactions: true } })
    const body = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
    for (const [path, statuses] of [
      ['/guarded.txt', [409, 409]],
      ['/free.txt', [201, 423]],
    ] as const) {
      const lock = async () => (await mounted('LOCK', path, { body })).status
      expect([await lock(), await lock()], path).to.deep.equal(statuses)
      expect((await site.site.find(path)) !== undefined, path).to.equal(statuses[0] === 201)
    }
  })

  it('REA-86 outbound requests are sent also where the client leaves before it is answered', async () => {
    const hooks = (to = await receiver())
    const action = request('action', { url: `${hooks.url}/hook` })
    site = await reactingSite(
      { '/left.html': page('x'), '/t.html': page(trigger({ method: 'DELETE', resource: '/left.html', action })) },
      { site: { mountReactions: true, allowOutbound: true } },
    )
    const connection = await connect({ port: Number(new URL(site.mountUrl).port) })
    const credentials = Buffer.from(`${site.user}:${site.password}`).toString('base64')
    connection.send(`DELETE /left.html HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${credentials}\r\n\r\n`)
    await new Promise<void>(sent => connection.socket.write('', () => sent()))
    connection.close()
    await eventually(async () => expect(await site.site.find('/left.html')).to.equal(undefined))
    await eventually(() => expect(hooks.got).to.have.length(1))
  })

  it('DAV-43 checksums of a large upload are compared where a trigger has read it before', async () => {
    site = await reactingSite(
      { '/t.html': page(trigger({ method: 'PUT', resource: '/*.bin', action: 'true' })) },
      { site: { mountReactions: true } },
    )
    const body = 'x'.repeat(300 * 1024)
    const sent = (algorithm: string, bytes: string) =>
      mounted('PUT', '/large.bin', { body, headers: { 'oc-checksum': `${algorithm}:${hash(algorithm, bytes)}` } })
    expect((await sent('sha1', body)).status).to.equal(201)
    expect((await sent('md5', body)).status).to.equal(204)
    expect((await sent('md5', 'other')).status).to.equal(400)
  })

  it('REA-62 a trigger replaces the body, and is not shown the credential', async () => {
    site = await reactingSite({ '/schema.html': SCHEMA, '/t.html': guards }, { site: { mountReactions: true } })
    expect((await mounted('PUT', '/stamped.html', { body: 'raw' })).status).to.equal(201)
    const stored = await site.site.find('/stamped.html')
    expect(Buffer.from(stored?.bytes ?? []).toString())
      .to.include('trueraw')
      .and.to.include(LOAN)
    const checked = async (bytes: string) =>
      (
        await mounted('PUT', '/stamped.html', {
          body: 'raw',
          headers: { 'oc-checksum': `sha1:${hash('sha1', bytes)}` },
        })
      ).status
    expect([await checked('raw'), await checked('other')], 'DAV-43 a checksum is about what was sent').to.deep.equal([
      204, 400,
    ])
  })

  it('REA-23 a selector filter asks for the element of the request', async () => {
    site = await reactingSite(
      {
        '/page.html': page('<main><article id="a"><p id="p">x</p></article></main>'),
        '/t.html': page(trigger({ selector: 'article', resource: '/page.html', action: answering(409, 'guarded') })),
      },
      { site: { mountReactions: true } },
    )
    for (const [method, selector, status] of [
      ['PUT', '#p', 206],
      ['PUT', 'main > #a', 409],
      ['DELETE', '#a', 409],
      ['DELETE', '#none', 416],
      ['PUT', 'p[', 422],
      ['DELETE', '#p', 204],
    ] as const) {
      const headers = { Range: `selector=${selector}` }
      const reply = await mounted(method, '/page.html', {
        headers,
        ...(method === 'PUT' && { body: '<p id="p">y</p>' }),
      })
      expect(reply.status, `${method} ${selector}`).to.equal(status)
    }
    // Without a selector in the request the filter is skipped.
    expect((await mounted('DELETE', '/page.html')).status).to.equal(409)
  })

  it('REA-86 calls are stored with the write that caused them, and without one before the answer', async () => {
    to = await receiver()
    const call = request('action', { url: `${to.url}/hook` })
    site = await reactingSite(
      {
        '/t.html': page(
          trigger({ resource: '/a*', action: call }) +
            trigger({ resource: '/answered.html', action: [call, answering(202, 'taken')] }),
        ),
      },
      { site: { mountReactions: true, allowOutbound: true } },
    )
    const { outbound } = site.running
    const { record } = outbound
    const alone: number[] = []
    outbound.record = entries => {
      alone.push(entries.length)
      return record(entries)
    }
    const Destination = `${site.mountUrl}/b.html`
    const range = { Range: 'selector=p' }
    const requests: [method: string, path: string, status: number, headers: Record<string, string>, body?: string][] = [
      ['PUT', '/a.html', 201, {}, page('<p>x</p>')],
      ['PUT', '/a.html', 206, range, '<p>y</p>'],
      ['COPY', '/a.html', 201, { Destination }],
      ['MOVE', '/a.html', 204, { Destination }],
      ['PUT', '/a.txt', 201, {}, 'text'],
      ['DELETE', '/a.txt', 204, {}],
    ]
    for (const [method, path, status, headers, body] of requests) {
      const reply = await mounted(method, path, { headers, ...(body !== undefined && { body }) })
      expect(reply.status, `${method} ${path}`).to.equal(status)
    }
    expect(alone).to.deep.equal(requests.map(() => 0))
    alone.length = 0
    // A refused write, and an answer of the trigger.
    expect((await mounted('DELETE', '/absent.html')).status).to.equal(404)
    expect((await mounted('PUT', '/answered.html', { body: 'x' })).status).to.equal(202)
    expect(alone).to.deep.equal([1, 2])
    await eventually(() => expect(to?.got).to.have.length(requests.length + 3))
    const deliveries = to.got.map(({ headers }) => headers['platform-delivery'])
    expect(new Set(deliveries).size).to.equal(deliveries.length)
  })

  it('REA-88 a call that comes back to the drive counts as one that has led here', async () => {
    const seen: number[] = []
    to = await receiver(async (incoming, response) => {
      const headers = { 'Platform-Delivery': String(incoming.headers['platform-delivery']) }
      seen.push((await mounted('PUT', '/many.txt', { headers, body: 'x' })).status)
      response.writeHead(204).end()
    })
    const nowhere = request('action', { url: 'https://hooks.invalid/' })
    const calls = Array.from({ length: 17 }, () => nowhere)
    site = await reactingSite(
      {
        '/t.html': page(
          trigger({ resource: '/x', action: request('action', { url: to.url }) }) +
            trigger({ resource: '/many.txt', action: calls }),
        ),
      },
      { site: { mountReactions: true, allowOutbound: true } },
    )
    await site.ask('GET', '/x')
    // One of depth 1 may queue 16.
    await eventually(() => expect(seen).to.deep.equal([500]))
  })

  it('REA-6 DAV-40 forms of a listing run what the methods run', async () => {
    site = await reactingSite(
      { '/schema.html': SCHEMA, '/guarded.html': page('x'), '/free.txt': 'x', '/t.html': guards },
      { site: { mountReactions: true } },
    )
    const headers = { origin: site.mountUrl }
    const submit = (fields: Record<string, string>) => {
      const body = new URLSearchParams(fields).toString()
      const type = 'application/x-www-form-urlencoded'
      return mounted('POST', '/', { headers: { ...headers, 'content-type': type }, body })
    }
    const upload = (replace: string, ...files: [name: string, content: string][]) => {
      const fields = [['do"', 'upload'], ['replace"', replace], ...files.map(([n, c]) => [`file"; filename="${n}"`, c])]
      const parts = fields.map(([n, c]) => `--XX\r\nContent-Disposition: form-data; name="${n}\r\n\r\n${c}\r\n`)
      const type = 'multipart/form-data; boundary=XX'
      return mounted('POST', '/', {
        headers: { ...headers, 'content-type': type },
        body: `${parts.join('')}--XX--\r\n`,
      })
    }
    for (const refused of [
      await submit({ do: 'delete', member: 'guarded.html', sure: 'yes' }),
      await submit({ do: 'rename', member: 'guarded.html', name: 'other.html' }),
      await upload('yes', ['guarded.html', page('y')]),
      await upload('', ['guarded.bin', 'y']),
    ])
      expect([refused.status, await refused.text()]).to.deep.equal([409, 'guarded'])
    expect(await site.site.find('/guarded.html')).to.have.property('resource')
    expect(await site.site.find('/guarded.bin')).to.equal(undefined)
    const stamped = await upload('', ['stamped.html', 'raw'], ['beside.bin', 'x'])
    expect(new URL(stamped.url).search).to.equal('?done=upload')
    const stored = await site.site.find('/stamped.html')
    expect(Buffer.from(stored?.bytes ?? []).toString()).to.include('trueraw')
    const renamed = await submit({ do: 'rename', member: 'free.txt', name: 'freed.txt' })
    expect(new URL(renamed.url).search).to.equal('?done=rename')
  })

  it('HTTP-85 writes of triggers respect locks where whole public writes do', async () => {
    const action = `@schema Site url("${NS}/1.0"); Site.DELETE("/index.html")`
    site = await reactingSite(
      { '/index.html': page('x'), '/t.html': page(trigger({ method: 'PUT', resource: '/a.html', action })) },
      { site: { mountReactions: true, locksBindPublicWrites: true } },
    )
    const body = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`
    const token = (await mounted('LOCK', '/index.html', { body })).headers.get('lock-token') ?? ''
    const refused = await mounted('PUT', '/a.html', { body: page('a') })
    expect([refused.status, (await refused.text()).includes('423')]).to.deep.equal([500, true])
    expect((await site.ask('GET', '/index.html')).status).to.equal(200)
    await mounted('UNLOCK', '/index.html', { headers: { 'lock-token': token } })
    expect((await mounted('PUT', '/a.html', { body: page('a') })).status).to.equal(201)
    expect((await site.ask('GET', '/index.html')).status).to.equal(404)
  })

  it('REA-10 DAV-7 DAV-12 what is refused before, written raw, or about a folder runs no trigger', async () => {
    const called = page(trigger({ action: `@schema Site url("${NS}/1.0"); Site.DELETE("/canary.html")` }))
    const scopes = { all: ['/*'], part: ['/a/*'], pages: ['/*.html'] }
    const credentials = Object.entries(scopes).map(([user, scope]) => ({ user, password: 'word', scope, write: true }))
    site = await reactingSite(
      { '/a/x.html': page('<p>x</p>'), '/b/m.txt': 'm', '/t.html': called },
      { site: { mountReactions: true, credentials } },
    )
    const Destination = `${site.mountUrl}/moved.html`
    const part = { Range: 'selector=p' }
    const raw = { 'Platform-Write': 'raw' }
    const runs: [method: string, path: string, status: number, headers: Record<string, string>, user?: string][] = [
      ['MOVE', '/a/x.html', 403, { Destination }, 'part'],
      ['COPY', '/a/x.html', 403, { Destination }, 'part'],
      // Only the folder of this name is in the scope.
      ['COPY', '/a/x.html', 403, { Destination: `${site.mountUrl}/a/x.txt/` }, 'pages'],
      ['MOVE', '/a/x.html', 403, { Destination: `${site.mountUrl}/a/x.txt/` }, 'pages'],
      ['COPY', '/b/m.txt', 404, { Destination: `${site.mountUrl}/a/m.txt` }, 'part'],
      ['PUT', '/b/m.txt', 403, {}, 'part'],
      ['MOVE', '/a/x.html', 400, {}],
      ['MOVE', '/a/x.html', 502, { Destination: 'http://elsewhere.example/x.html' }],
      ['COPY', '/a/x.html', 403, { Destination: `${site.mountUrl}/.platform/x.html` }],
      ['MOVE', '/a/x.html', 422, { Destination: `${site.mountUrl}/a/x.html`, ...part }],
      ['MOVE', '/a/x.html', 501, { Destination, ...part, 'Destination-Range': 'selector=p; placement=after' }],
      ['PUT', '/a/x.html', 400, { 'Content-Range': 'bytes 0-1/3' }],
      ['PUT', '/a/x.html', 415, { 'Content-Encoding': 'gzip' }],
      ['DELETE', '/a/x.html', 400, { Range: 'bytes=0-1' }],
      ['PUT', '/b', 405, {}],
      ['MOVE', '/b', 201, { Destination: `${site.mountUrl}/c` }],
      ['DELETE', '/c', 204, {}],
      ['PUT', '/a/x.html', 204, raw],
      ['PUT', '/a/x.html', 206, { ...raw, ...part }],
      ['DELETE', '/a/x.html', 204, raw],
    ]
    const canary = async () => {
      const found = await site.site.find('/canary.html')
      return found !== undefined
    }
    const mountedAs = (user: string, method: string, path: string, headers: Record<string, string>) => {
      const authorization = `Basic ${Buffer.from(`${user}:word`).toString('base64')}`
      return mounted(method, path, {
        headers: { authorization, ...headers },
        ...(method === 'PUT' && { body: '<p>y</p>' }),
      })
    }
    expect((await mountedAs('all', 'PUT', '/canary.html', raw)).status).to.equal(201)
    for (const [method, path, status, headers, user = 'all'] of runs) {
      const told = `${method} ${path} ${JSON.stringify(headers)}`
      expect((await mountedAs(user, method, path, headers)).status, told).to.equal(status)
      expect(await canary(), `${told} ran a trigger`).to.equal(true)
    }
    expect((await mountedAs('all', 'PUT', '/a/x.html', {})).status).to.equal(201)
    expect(await canary()).to.equal(false)
  })

  it('REA-6 files of desktop systems run nothing', async () => {
    site = await reactingSite(
      { '/t.html': page(trigger({ action: answering(409, 'guarded') })) },
      {
        site: { mountReactions: true },
      },
    )
    expect((await mounted('PUT', '/._page.html', { body: 'x' })).status).to.equal(201)
    expect((await mounted('PUT', '/page.html', { body: 'x' })).status).to.equal(409)
  })

  it('REA-6 not without the setting', async () => {
    site = await reactingSite({ '/guarded.html': page('x'), '/t.html': guards })
    expect((await mounted('DELETE', '/guarded.html')).status).to.equal(204)
  })
})
