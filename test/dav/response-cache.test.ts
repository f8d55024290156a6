/** Reads that are answered from memory: the same answer as the first, and never one that has become stale. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Author } from '../../dav/access/credentials.ts'
import { createGatekeeper } from '../../dav/access/credentials.ts'
import { createLoginThrottles } from '../../dav/access/login-throttle.ts'
import { createScope } from '../../dav/access/scope.ts'
import type { Mount } from '../../dav/mount.ts'
import { createResponseCache } from '../../dav/response-cache.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { localRateLimits } from '../../pipeline/coordination/local/rate-limits.ts'
import { page, put, remove, rulesPage } from '../support/content.ts'
import { type Fields, type Received, tagOf } from '../support/http.ts'
import { readMultistatus } from '../support/multistatus.ts'
import { type Authors, basic, lockInfo, startMount, tokenOf } from './locks/locking.ts'
import { propertyUpdate, propfindBody } from './wire.ts'

/** Status, field lines and content, without what differs from moment to moment. */
function comparable({ status, lines, text }: Received): unknown {
  return { status, lines: lines.filter(([name]) => name !== 'Date'), text }
}

const FACTS = propfindBody('getcontentlength', 'getetag', 'lockdiscovery', '{urn:x}color')
const FUTURE = 'Fri, 31 Dec 2100 23:59:59 GMT'

describe('reads of the mount that are repeated', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
    await mount.ann('PUT', '/docs/a.txt', {}, 'first')
    await mount.ann('PUT', '/docs/page.html', {}, page('<p>first</p>'))
    await mount.ann('PUT', '/docs/empty.txt', {}, '')
    await mount.ann('MKCOL', '/docs/sub/')
  })
  after(() => mount.server.close())

  describe('are answered as they were', () => {
    const REQUESTS: [name: string, method: string, path: string, fields: Fields, body?: string][] = [
      ['a file', 'GET', '/docs/a.txt', {}],
      ['a document', 'GET', '/docs/page.html', {}],
      ['an empty file', 'GET', '/docs/empty.txt', {}],
      ['with a query', 'GET', '/docs/a.txt?x=1', {}],
      ['a part of a file', 'GET', '/docs/a.txt', { Range: 'bytes=0-1' }],
      ['an element', 'GET', '/docs/page.html', { Range: 'selector=p' }],
      ['the head alone', 'HEAD', '/docs/a.txt', {}],
      ['the head of an empty file', 'HEAD', '/docs/empty.txt', {}],
      ['by a page of the site', 'GET', '/docs/a.txt', { Origin: 'http://localhost' }],
      ['a collection for people', 'GET', '/docs/', {}],
      ['nothing', 'GET', '/docs/none.txt', {}],
      ['a future date', 'GET', '/docs/a.txt', { 'If-Modified-Since': FUTURE }],
      ['a condition that fails', 'GET', '/docs/a.txt', { 'If-Match': '"x"' }],
      ['an If header that does not hold', 'GET', '/docs/a.txt', { If: '(["x"])' }],
      ['properties of a file', 'PROPFIND', '/docs/a.txt', { Depth: '0' }, FACTS],
      ['properties of a collection', 'PROPFIND', '/docs', { Depth: '0' }, FACTS],
      ['a listing', 'PROPFIND', '/docs/', { Depth: '1' }, FACTS],
      ['a listing without body', 'PROPFIND', '/docs/', { Depth: '1' }],
      ['a listing with little in it', 'PROPFIND', '/docs/', { Depth: '1', Brief: 't' }, FACTS],
      ['a listing without its collection', 'PROPFIND', '/docs/', { Depth: '1,noroot' }, FACTS],
      ['a listing that is too deep', 'PROPFIND', '/docs/', { Depth: 'infinity' }, FACTS],
      ['a body that is no XML', 'PROPFIND', '/docs/', { Depth: '1' }, '<x'],
      ['a condition on properties that fails', 'PROPFIND', '/docs/', { Depth: '1', 'If-Match': '"x"' }, FACTS],
    ]
    for (const [name, method, path, fields, body] of REQUESTS)
      it(`DAV-40 DAV-50 ${name}`, async () => {
        const first = await mount.ann(method, path, fields, body)
        for (let i = 0; i < 3; i++)
          expect(comparable(await mount.ann(method, path, fields, body))).to.deep.equal(comparable(first))
        const tag = first.headers.etag
        if (tag === undefined || first.status >= 300) return
        const revalidated = await mount.ann(method, path, { ...fields, 'If-None-Match': `W/${tag}` }, body)
        const again = await mount.ann(method, path, { ...fields, 'If-None-Match': tag }, body)
        expect(revalidated.status).to.equal(304)
        expect(comparable(again)).to.deep.equal(comparable(revalidated))
        const other = await mount.ann(method, path, { ...fields, 'If-None-Match': '"x"' }, body)
        expect(comparable(other)).to.deep.equal(comparable(first))
      })

    for (const [name, method, fields] of [
      ['a file', 'GET', {}],
      ['its properties', 'PROPFIND', { Depth: '0' }],
    ] as const)
      it(`DAV-50 ${name}, where the whole was never asked for`, async () => {
        const path = `/docs/only-304-${method}.txt`
        await mount.ann('PUT', path, {}, 'x')
        const { headers } = await mount.bob(method, `${path}?`, fields)
        const known = { ...fields, 'If-None-Match': headers.etag }
        const first = await mount.ann(method, path, known)
        expect(first.status).to.equal(304)
        expect(comparable(await mount.ann(method, path, known))).to.deep.equal(comparable(first))
        const whole = await mount.ann(method, path, fields)
        expect(whole.status).to.be.oneOf([200, 207])
        expect(whole.body.length).to.be.above(0)
        expect(comparable(await mount.ann(method, path, known))).to.deep.equal(comparable(first))
        await mount.ann('PUT', path, {}, 'y')
        expect((await mount.ann(method, path, known)).status).to.equal(whole.status)
      })

    it('DAV-37 a listing that is written in several pieces', async () => {
      const names = Array.from({ length: 1200 }, (_, i) => `/long/${i}.txt`)
      for (let i = 0; i < names.length; i += 100)
        await Promise.all(names.slice(i, i + 100).map(name => mount.ann('PUT', name, {}, 'x')))
      const look = () => mount.ann('PROPFIND', '/long/', { Depth: '1' }, FACTS)
      const first = await look()
      expect(readMultistatus(first.text).size).to.equal(1201)
      for (let i = 0; i < 2; i++) expect(comparable(await look())).to.deep.equal(comparable(first))
    })

    it('DAV-32 whatever the body of a question has been cut into', async () => {
      const whole = await mount.ann('PROPFIND', '/docs/', { Depth: '1' }, FACTS)
      const chunks = `${FACTS.length.toString(16)}\r\n${FACTS}\r\n0\r\n\r\n`
      const chunked = { Depth: '1', 'Transfer-Encoding': 'chunked', 'Content-Length': undefined }
      expect((await mount.ann('PROPFIND', '/docs/', chunked, chunks)).text).to.equal(whole.text)
      const long = FACTS.replace('<D:prop>', `<D:prop>${' '.repeat(4000)}`)
      for (let i = 0; i < 2; i++)
        expect((await mount.ann('PROPFIND', '/docs/', { Depth: '1' }, long)).text).to.equal(whole.text)
    })
  })

  describe('are answered anew when something has changed', () => {
    type Look = () => Promise<Received>
    const file: Look = () => mount.ann('GET', '/c/a.html')
    const head: Look = () => mount.ann('HEAD', '/c/a.html')
    const facts: Look = () => mount.ann('PROPFIND', '/c/a.html', { Depth: '0' }, FACTS)
    const listing: Look = () => mount.ann('PROPFIND', '/c/', { Depth: '1' }, FACTS)
    const open = rulesPage(['*', 'GET|PUT|DELETE', 'Allow', '/c/*'])
    const color = (value: string) => propertyUpdate(['{urn:x}color', value])
    const to = (path: string) => ({ Destination: path })

    /** What changes, and which looks show it. */
    const CHANGES: [name: string, change: () => Promise<unknown>, looks: Look[]][] = [
      [
        'DAV-42 saved on the mount',
        () => mount.ann('PUT', '/c/a.html', {}, page('second')),
        [file, head, facts, listing],
      ],
      [
        'DAV-42 saved with another type',
        () => mount.ann('PUT', '/c/a.html', { 'Content-Type': 'text/html; v=2' }, page('second')),
        [file],
      ],
      [
        'HTTP-4 saved by a visitor',
        () => mount.visitor('PUT', '/c/a.html', {}, page('visitor')),
        [file, facts, listing],
      ],
      ['saved by the operator', () => put(mount.server, '/c/a.html', page('operator')), [file, facts, listing]],
      [
        'DAV-45 an element saved',
        () => mount.ann('PUT', '/c/a.html', { Range: 'selector=p' }, '<p>x</p>'),
        [file, facts, listing],
      ],
      ['DAV-60 a draft over it', () => mount.ann('PUT', '/c/a.html', {}, ''), [file, facts, listing]],
      ['DAV-72 renamed to a backup', () => mount.ann('MOVE', '/c/a.html', to('/c/a.html~')), [file, facts, listing]],
      ['DAV-48 renamed', () => mount.ann('MOVE', '/c/a.html', to('/c/b.html')), [file, facts, listing]],
      [
        'DAV-48 replaced by another file',
        async () => {
          await mount.ann('PUT', '/other.html', {}, page('other'))
          await mount.ann('MOVE', '/other.html', to('/c/a.html'))
        },
        [file, facts, listing],
      ],
      ['DAV-46 removed on the mount', () => mount.ann('DELETE', '/c/a.html'), [file, head, facts, listing]],
      ['HTTP-4 removed by a visitor', () => mount.visitor('DELETE', '/c/a.html'), [file, facts, listing]],
      ['removed by the operator', () => remove(mount.server, '/c/a.html'), [file, facts, listing]],
      ['DAV-46 removed with its collection', () => mount.ann('DELETE', '/c/'), [file, facts, listing]],
      ['DAV-48 moved with its collection', () => mount.ann('MOVE', '/c/', to('/elsewhere/')), [file, facts, listing]],
      [
        'DAV-36 another time',
        () => mount.ann('PROPPATCH', '/c/a.html', {}, propertyUpdate(['lastmodified', '1773480413'])),
        [file, listing],
      ],
      ['DAV-34 a property', () => mount.ann('PROPPATCH', '/c/a.html', {}, color('red')), [facts, listing]],
      ['DAV-34 a property of the collection', () => mount.ann('PROPPATCH', '/c/', {}, color('blue')), [listing]],
      ['DAV-75 a work file beside it', () => mount.ann('PUT', '/c/~$a.docx', {}, 'x'), [listing]],
    ]
    for (const [name, change, looks] of CHANGES)
      it(name, async () => {
        await mount.ann('DELETE', '/c/')
        await mount.ann('DELETE', '/elsewhere/')
        await put(mount.server, '/rules.html', open)
        await mount.ann('PUT', '/c/a.html', {}, page('<p>first</p>'))
        const before: Received[] = []
        for (const look of looks) {
          const first = await look()
          expect(comparable(await look())).to.deep.equal(comparable(first))
          before.push(first)
        }
        await change()
        for (const [i, look] of looks.entries()) {
          const now = await look()
          expect(comparable(now), `look ${i}`).not.to.deep.equal(comparable(before[i] as Received))
          expect(comparable(await look()), `look ${i} again`).to.deep.equal(comparable(now))
        }
      })

    for (const locked of ['/l/a.txt', '/l/'])
      it(`DAV-88 a lock on ${locked}, and its end`, async () => {
        await mount.ann('PUT', '/l/a.txt', {}, 'x')
        const looks: Look[] = [
          () => mount.ann('PROPFIND', '/l/a.txt', { Depth: '0' }, FACTS),
          () => mount.ann('PROPFIND', '/l/', { Depth: '1' }, FACTS),
        ]
        const free: Received[] = []
        for (const look of looks) free.push(await look(), await look())
        const token = tokenOf(await mount.ann('LOCK', locked, {}, lockInfo()))
        for (const look of [...looks, ...looks]) expect((await look()).text).to.include(token)
        await mount.ann('UNLOCK', locked, { 'Lock-Token': `<${token}>` })
        const after: Received[] = []
        for (const look of looks) after.push(await look(), await look())
        expect(after.map(comparable)).to.deep.equal(free.map(comparable))
      })

    it('DAV-70 a helper file is never repeated: each look at it counts as use', async () => {
      await mount.ann('PUT', '/docs/~$w.docx', {}, 'one')
      for (let i = 0; i < 2; i++) expect((await mount.ann('GET', '/docs/~$w.docx')).text).to.equal('one')
      await mount.ann('PUT', '/docs/~$w.docx', {}, 'two')
      expect((await mount.ann('GET', '/docs/~$w.docx')).text).to.equal('two')
      await mount.ann('DELETE', '/docs/~$w.docx')
      expect((await mount.ann('GET', '/docs/~$w.docx')).status).to.equal(404)
    })

    it('one version or the other, whole, while it changes', async () => {
      await mount.ann('PUT', '/docs/swap.txt', {}, 'a'.repeat(5000))
      const tags = new Map<string, string>()
      const reads = Array.from({ length: 60 }, async () => {
        const answer = await mount.ann('GET', '/docs/swap.txt')
        expect(answer.text).to.match(/^(a+|b+)$/)
        tags.set(answer.text, `${tags.get(answer.text) ?? tagOf(answer)}`)
        expect(tagOf(answer)).to.equal(tags.get(answer.text))
      })
      const write = mount.ann('PUT', '/docs/swap.txt', {}, 'b'.repeat(5000))
      await Promise.all([...reads, write])
      expect((await mount.ann('GET', '/docs/swap.txt')).text).to.match(/^b+$/)
    })
  })

  describe('DAV-3 are for those who may have them', () => {
    it('what one author gets from memory another does not see', async () => {
      await mount.ann('PUT', '/secret.txt', {}, 'secret')
      for (let i = 0; i < 3; i++) expect((await mount.ann('GET', '/secret.txt')).text).to.equal('secret')
      expect((await mount.dora('GET', '/secret.txt')).status).to.equal(404)
      expect((await mount.dora('PROPFIND', '/secret.txt', { Depth: '0' }, FACTS)).status).to.equal(404)
      expect((await mount.bob('GET', '/secret.txt')).text).to.equal('secret')
    })

    it('without credentials, or with wrong ones, there is nothing', async () => {
      for (let i = 0; i < 2; i++) expect((await mount.ann('GET', '/docs/a.txt')).status).to.equal(200)
      for (const Authorization of [undefined, 'Basic', `${basic('ann').slice(0, -3)}xyz`, 'Bearer nonsense'])
        for (const method of ['GET', 'PROPFIND'])
          expect((await mount.ann(method, '/docs/a.txt', { Authorization, Depth: '0' })).status).to.equal(401)
    })

    it('DAV-33 who may write is told so, who may only read is not', async () => {
      const privileges = propfindBody('current-user-privilege-set')
      for (let i = 0; i < 2; i++) {
        const ask = { Depth: '0' }
        expect((await mount.ann('PROPFIND', '/docs/a.txt', ask, privileges)).text).to.include('<D:write/>')
        expect((await mount.rita('PROPFIND', '/docs/a.txt', ask, privileges)).text).not.to.include('<D:write/>')
      }
    })
  })
})

describe('what a kept answer of the mount hangs on', () => {
  const FIELD = 'Basic eDp5'
  const credential = { user: 'ann', password: '', scope: ['/*'], write: true }
  const everything: Author = { user: 'ann', credential, scope: createScope(['/*'], true), view: 'whole true' }
  const onlyDocs: Author = { user: 'ann', credential, scope: createScope(['/docs/*'], true), view: '0' }
  const client = { authority: 'localhost', secure: false, address: '127.0.0.1' }
  const request = (method = 'GET', headers: Record<string, string> = {}) =>
    ({ method, url: '/a.txt', headers: { host: 'localhost', authorization: FIELD, ...headers } }) as IncomingMessage
  const response = { writeHead() {}, write() {}, end() {} } as unknown as ServerResponse
  const ask = propfindBody('getetag')
  const length = { 'content-length': String(ask.length) }

  /** Something that repeats, with everything that may change in between. */
  function stage() {
    const now = {
      visitor: everything as Author | undefined,
      holds: true,
      free: true,
      mount: undefined as Mount | undefined,
    }
    const mount = () => ({ gatekeeper: { remembered: () => now.visitor } }) as unknown as Mount
    now.mount = mount()
    const repeating = createResponseCache({
      mounts: { opened: () => now.mount },
      bodyOf: () => ({ bytes: async () => Buffer.from(ask), stage: () => Promise.reject(new Error('not asked for')) }),
    })
    const answer = (status: number): Answer => ({
      status,
      headers: {},
      body: 'x',
      reuse: { holds: () => now.holds, ...(status === 207 && { confirm: async () => now.free }) },
    })
    const repeat = async (
      method: 'GET' | 'HEAD' | 'PROPFIND',
      headers: Record<string, string> = method === 'PROPFIND' ? length : {},
    ) => repeating.repeat(request(method, headers), response, client)
    return { now, mount, repeating, answer, repeat }
  }

  async function kept() {
    const staged = stage()
    const { now, repeating, answer, repeat } = staged
    if (!now.mount) throw new Error('no mount')
    repeating.keep(request(), client, now.mount, everything, answer(200))
    const question = request('PROPFIND', length)
    await repeating.bodyOf(question, response).bytes(1000)
    repeating.keep(question, client, now.mount, everything, answer(207))
    expect(await repeat('GET')).to.equal(200)
    expect(await repeat('PROPFIND')).to.equal(207)
    return staged
  }

  const CHANGES: [name: string, change: (staged: ReturnType<typeof stage>) => void][] = [
    ['a credential that was revoked, or has to be proved again', ({ now }) => (now.visitor = undefined)],
    ['a credential whose scope was narrowed', ({ now }) => (now.visitor = onlyDocs)],
    ['a mount that was closed', ({ now }) => (now.mount = undefined)],
    ['a mount that was opened anew', ({ now, mount }) => (now.mount = mount())],
    ['something stored', ({ now }) => (now.holds = false)],
  ]
  for (const [name, change] of CHANGES)
    it(`DAV-3 ${name}`, async () => {
      const staged = await kept()
      change(staged)
      expect(await staged.repeat('GET')).to.equal(undefined)
      expect(await staged.repeat('PROPFIND')).to.equal(undefined)
    })

  it('HTTP-56 the head is kept by itself, and says how long the content is', async () => {
    const { now, repeating, answer, repeat } = await kept()
    expect(await repeat('HEAD')).to.equal(undefined)
    const sent: unknown[] = []
    const told = { writeHead: (...head: unknown[]) => sent.push(head), end: (body: unknown) => sent.push(body) }
    repeating.keep(request('HEAD'), client, now.mount as Mount, everything, answer(200))
    expect(repeating.repeat(request('HEAD'), told as unknown as ServerResponse, client)).to.equal(200)
    expect(sent).to.deep.equal([[200, ['Content-Length', '1']], undefined])
  })

  it('SEC-12 a question with long fields is noted nowhere, and goes on to the application at once', async () => {
    const { now, repeating, answer } = await kept()
    const asked = async (prefer: string) => {
      const question = request('PROPFIND', { ...length, prefer })
      await repeating.bodyOf(question, response).bytes(1000)
      repeating.keep(question, client, now.mount as Mount, everything, answer(207))
      return repeating.repeat(request('PROPFIND', { ...length, prefer }), response, client)
    }
    expect(await asked('x'.repeat(3000))).to.equal(207)
    await asked('x'.repeat(4096))
    // What is noted has its body read before anybody knows more.
    const again = request('PROPFIND', { ...length, prefer: 'x'.repeat(4096) })
    expect(repeating.repeat(again, response, client)).to.equal(undefined)
  })

  it('DAV-3 an announced body, unless it is empty', async () => {
    const { repeat } = await kept()
    expect(await repeat('GET', { 'content-length': '0' })).to.equal(200)
    expect(await repeat('GET', { 'content-length': '1' })).to.equal(undefined)
    expect(await repeat('PROPFIND', {}), 'another question').to.equal(undefined)
  })

  it('DAV-88 a lock, which somebody else keeps', async () => {
    const { now, repeat } = await kept()
    now.free = false
    expect(await repeat('PROPFIND')).to.equal(undefined)
    now.free = true
    expect(await repeat('PROPFIND')).to.equal(207)
  })

  const FIELDS = ['if', 'range', 'if-match', 'if-modified-since', 'if-unmodified-since', 'origin', 'expect']
  for (const field of [...FIELDS, 'transfer-encoding', 'content-encoding'])
    it(`a request with ${field} is for the application`, async () => {
      const { repeating } = await kept()
      for (const method of ['GET', 'PROPFIND'])
        expect(await repeating.repeat(request(method, { [field]: 'x' }), response, client)).to.equal(undefined)
    })

  it('a verdict on a password lasts a minute, and is about this password', async () => {
    let now = 0
    const credential = { user: 'x', password: 'y', scope: ['/*'], write: true }
    const gatekeeper = createGatekeeper(
      [credential],
      createLoginThrottles({ rateLimits: localRateLimits() }).of(''),
      () => now,
    )
    const [one, another] = [{}, {}]
    expect(gatekeeper.remembered(FIELD, one)).to.equal(undefined)
    const visitor = await gatekeeper.author(FIELD, '127.0.0.1')
    expect(visitor?.user).to.equal('x')
    for (const connection of [one, one, another]) expect(gatekeeper.remembered(FIELD, connection)).to.equal(visitor)
    for (const other of [undefined, '', 'Basic', 'Basic eDp6', 'basic eDp5'])
      for (const connection of [one, {}]) expect(gatekeeper.remembered(other, connection), other).to.equal(undefined)
    expect(gatekeeper.remembered(FIELD, one), 'after a wrong one').to.equal(visitor)
    now = 60_001
    for (const connection of [one, another, {}]) expect(gatekeeper.remembered(FIELD, connection)).to.equal(undefined)
  })

  it('credentials with different scopes or rights get answers of their own', async () => {
    const credentials = [
      { user: 'a', password: 'p', scope: ['/*'], write: true },
      { user: 'b', password: 'p', scope: ['/*'], write: true },
      { user: 'c', password: 'p', scope: ['/*'], write: false },
      { user: 'd', password: 'p', scope: ['/docs/*'], write: true },
      { user: 'e', password: 'p', scope: ['/docs/*'], write: true },
    ]
    const gatekeeper = createGatekeeper(credentials, createLoginThrottles({ rateLimits: localRateLimits() }).of(''))
    const views = new Map<string, string | undefined>()
    for (const { user } of credentials) {
      const field = `Basic ${Buffer.from(`${user}:p`).toString('base64')}`
      views.set(user, (await gatekeeper.author(field, '127.0.0.1'))?.view)
    }
    expect(views.get('a')).to.equal(views.get('b'))
    expect(views.get('d')).to.equal(views.get('e'))
    expect(new Set(views.values()).size).to.equal(3)
  })
})
