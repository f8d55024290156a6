/** Drafts on a mount that runs triggers: what makes them runs none, and their publication runs those for PUT. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { lockInfo } from '../../dav/locks/locking.ts'
import { answering, NS, page, type ReactingSite, reactingSite, request, trigger } from './site.ts'

const LOAN = 'https://library.example/Loan'
const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${LOAN}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="note"></div></div>`,
)
const puts = (path: string) =>
  `@schema Site url("${NS}/1.0"); @schema Loan url("${LOAN}");
  Site.PUT(new Loan { note: Context.request.method + Context.request.headers["content-type"] + Context.request.body }, ${path})`
const records = puts('"/records" + Context.request.path')

/** Milliseconds of a draft. */
const SETTLE = 60_000

let site: ReactingSite

/** @param user has a password of the same name */
const as =
  (user: string) =>
  (method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Response> =>
    fetch(site.mountUrl + path, {
      method,
      headers: { ...headers, authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` },
      ...(body !== undefined && { body }),
    })

async function stored(path: string): Promise<string | undefined> {
  const found = await site.site.find(path)
  return found && Buffer.from(found.bytes ?? []).toString()
}

const recorded = async () => (await site.site.store.list('/records/')).map(({ path }) => path.slice('/records/'.length))

describe('drafts with mountReactions', () => {
  before(async () => {
    const credentials = Object.entries({ all: ['/*'], part: ['/part/*'] }).map(([user, scope]) => ({
      user,
      password: user,
      scope,
      write: true,
    }))
    const triggers = [
      trigger({ resource: '/draft*', action: records }),
      trigger({ resource: '/part/*', method: 'PUT', action: records }),
      trigger({ resource: '/failing.html', action: [records, 'Context.request.path = "/y"'] }),
      trigger({ resource: '/called.html', action: request('action', { url: 'https://calls.example/' }) }),
      trigger({ resource: '/guarded*', method: 'PUT', action: answering(409, 'guarded') }),
      trigger({ resource: '/kept.html', method: ['DELETE', 'MOVE', 'COPY'], action: answering(409, 'kept') }),
      trigger({ resource: '/stamped.html', method: 'PUT', action: puts('Context.request.path') }),
    ]
    site = await reactingSite(
      {
        '/schema.html': SCHEMA,
        '/guarded.html': page('old'),
        '/part/x.css': 'x',
        '/part/in/x.css': 'x',
        '/part/in/over.html': page('old'),
        '/t.html': page(triggers.join('')),
      },
      { site: { mountReactions: true, credentials } },
    )
  })
  after(() => site.close())

  it('REA-6 DAV-60 run no trigger before they are published', async () => {
    const [all, part] = [as('all'), as('part')]
    const to = (path: string) => ({ Destination: site.mountUrl + path })
    for (const [method, path, status, headers, body] of [
      ['PUT', '/draft.html', 201, {}, ''],
      ['PUT', '/draft.html', 204, {}, ''],
      ['COPY', '/draft.html', 201, to('/draft-2.html'), undefined],
      ['MOVE', '/draft-2.html', 201, to('/draft-3.html'), undefined],
      ['DELETE', '/draft-3.html', 204, {}, undefined],
      ['PUT', '/guarded.html', 204, {}, ''],
      ['PUT', '/guarded-2.html', 201, {}, ''],
      ['PUT', '/guarded-raw.html', 201, { 'Platform-Write': 'raw' }, ''],
      ['COPY', '/guarded-raw.html', 201, to('/guarded-copy.html'), undefined],
      ['PUT', '/part/given.html', 201, {}, ''],
      ['PUT', '/part/taken.html', 201, {}, ''],
      ['PUT', '/part/in/over.html', 204, {}, ''],
      ['PUT', '/part/in/y.html', 201, {}, ''],
      ['PUT', '/stamped.html', 201, {}, ''],
      ['PUT', '/failing.html', 201, {}, ''],
    ] as const)
      expect((await all(method, path, headers, body)).status, `${method} ${path}`).to.equal(status)
    for (const [method, path, headers, body] of [
      ['PUT', '/part/x.html', {}, ''],
      ['COPY', '/part/given.html', to('/part/y.html'), undefined],
      ['MOVE', '/part/taken.html', to('/part/z.html'), undefined],
      ['COPY', '/part/in/over.html', to('/part/in/over-2.html'), undefined],
      ['MOVE', '/part/in/over.html', to('/part/in/over-3.html'), undefined],
      ['COPY', '/part/in/', to('/part/in-2/'), undefined],
      ['MOVE', '/part/in/', to('/part/in-3/'), undefined],
    ] as const)
      expect((await part(method, path, headers, body)).status, `${method} ${path}`).to.equal(201)
    const locked = await all('LOCK', '/draft-4.html', {}, lockInfo())
    expect(locked.status).to.equal(201)
    const headers = { 'Lock-Token': locked.headers.get('lock-token') ?? '' }
    expect((await all('UNLOCK', '/draft-4.html', headers)).status).to.equal(204)
    expect(await recorded()).to.deep.equal([])
  })

  it('REA-88 remember how many calls have led to them', async () => {
    const { outbound } = site.running
    const { entries, depthOf } = outbound
    const depths: number[] = []
    outbound.depthOf = () => 3
    outbound.entries = (_, about) => {
      depths.push(about.depth)
      return entries([], about)
    }
    try {
      expect((await as('all')('PUT', '/called.html', { 'Platform-Delivery': 'x' }, '')).status).to.equal(201)
      await site.running.mounts.tend(Date.now() + 2 * SETTLE)
    } finally {
      Object.assign(outbound, { entries, depthOf })
    }
    expect(await stored('/called.html')).to.equal('')
    expect(depths).to.deep.equal([3])
  })

  it('REA-6 REA-62 DAV-7 DAV-62 run those for PUT when they are published, once, and go where these refuse that', async () => {
    for (const round of [1, 2, 3]) await site.running.mounts.tend(Date.now() + 2 * round * SETTLE)
    // Who has made, copied or moved the others in /part/ may not write records.
    expect(await recorded()).to.deep.equal(['draft-4.html', 'draft.html', 'failing.html', 'part/'])
    expect(await stored('/records/draft.html')).to.include('PUTtext/html')
    expect(await site.site.store.events('/records/failing.html')).to.have.length(1)
    for (const [path, content] of [
      ['/draft.html', ''],
      ['/draft-4.html', ''],
      ['/guarded.html', page('old')],
      ['/guarded-2.html', undefined],
      ['/guarded-raw.html', ''],
      ['/guarded-copy.html', undefined],
      ['/failing.html', undefined],
      ['/part/given.html', ''],
      ['/part/x.html', undefined],
      ['/part/y.html', undefined],
      ['/part/z.html', undefined],
      ['/part/in-3/over-2.html', page('old')],
      ['/part/in-3/over-3.html', page('old')],
      ['/part/in-2/y.html', undefined],
      ['/part/in-3/y.html', undefined],
    ] as const) {
      expect(await stored(path), path).to.equal(content)
      const shown = await as('all')('GET', path)
      expect(shown.status === 404 ? undefined : await shown.text(), `${path} on the mount`).to.equal(content)
    }
    expect(await stored('/stamped.html')).to.include(LOAN)
  })

  for (const method of ['DELETE', 'MOVE', 'COPY'])
    it(`REA-6 DAV-48 those for ${method} are asked where one is published just before it`, async () => {
      const all = as('all')
      expect((await all('PUT', '/kept.html', {}, '')).status).to.be.oneOf([201, 204])
      const { leases } = site.site
      const { hold } = leases
      leases.hold = async <T>(...asked: Parameters<typeof hold>) => {
        leases.hold = hold
        await site.running.mounts.tend(Date.now() + 2 * SETTLE)
        return hold.call(leases, ...asked) as Promise<T>
      }
      const { status } = await all(method, '/kept.html', { Destination: `${site.mountUrl}/kept-no-more.html` })
      expect([status, await stored('/kept.html'), await stored('/kept-no-more.html')]).to.deep.equal([
        409,
        '',
        undefined,
      ])
    })
})
