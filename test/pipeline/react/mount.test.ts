/** Triggers on the mount, where a site wants them. */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { answering, NS, page, processor, type ReactingSite, reactingSite, trigger } from './site.ts'

let site: ReactingSite
afterEach(() => site?.close())

const LOAN = 'https://library.example/Loan'
const guards = page(
  trigger({ method: ['PUT', 'DELETE', 'MOVE', 'COPY'], resource: '/guarded*', action: answering(409, 'guarded') }) +
    trigger({
      method: 'PUT',
      resource: '/stamped.html',
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

  it('REA-62 a trigger replaces the body, and is not shown the credential', async () => {
    site = await reactingSite({ '/schema.html': SCHEMA, '/t.html': guards }, { site: { mountReactions: true } })
    expect((await mounted('PUT', '/stamped.html', { body: 'raw' })).status).to.equal(201)
    const stored = await site.site.find('/stamped.html')
    expect(Buffer.from(stored?.bytes ?? []).toString())
      .to.include('trueraw')
      .and.to.include(LOAN)
  })

  it('REA-6 not without the setting', async () => {
    site = await reactingSite({ '/guarded.html': page('x'), '/t.html': guards })
    expect((await mounted('DELETE', '/guarded.html')).status).to.equal(204)
  })
})
