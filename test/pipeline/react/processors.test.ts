/** Processors through a real server: statuses, pass-through, assignments, chains. */

import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { answering, page, processor, type ReactingSite, reactingSite, trigger } from './site.ts'

let site: ReactingSite
afterEach(() => site?.close())

const PAGE = page('<p id="p1">ä</p>')

describe('Which processors run', () => {
  const cases: [status: string | string[], path: string, runs: boolean][] = [
    ['404', '/missing', true],
    ['404', '/page.html', false],
    ['4xx', '/missing', true],
    ['4XX', '/missing', true],
    ['5xx', '/missing', false],
    [['2xx', '404'], '/missing', true],
    ['', '/page.html', true],
    ['40x', '/missing', false],
    ['4', '/missing', false],
    ['6xx', '/missing', false],
  ]
  for (const [status, path, runs] of cases)
    it(`REA-24 status ${JSON.stringify(status)} ${runs ? 'matches' : 'does not match'} ${path}`, async () => {
      site = await reactingSite({
        '/page.html': PAGE,
        '/p.html': page(processor({ status, action: answering(218, 'ran') })),
      })
      const reply = await site.ask('GET', path)
      if (runs) expect(reply.status).to.equal(218)
      else expect(reply.status).not.to.equal(218)
    })

  it('REA-10 over the answer whatever its status', async () => {
    site = await reactingSite({
      '/page.html': PAGE,
      '/p.html': page(processor({ action: 'Context.response.headers = { "X-Ran": String(Context.response.status) }' })),
    })
    const etag = (await site.ask('GET', '/page.html')).headers.get('etag') ?? ''
    const asked: [status: number, method: string, path: string, headers: Record<string, string>, body?: string][] = [
      [200, 'GET', '/page.html', {}],
      [304, 'GET', '/page.html', { 'If-None-Match': etag }],
      [404, 'GET', '/missing', {}],
      [412, 'PUT', '/page.html', { 'If-Match': '"no"' }, 'x'],
      [416, 'GET', '/page.html', { Range: 'selector=#none' }],
      [422, 'GET', '/style.css', { Range: 'selector=p' }],
      [201, 'PUT', '/style.css', {}, 'a{}'],
      [206, 'PUT', '/page.html', { Range: 'selector=#p1' }, '<p id="p1">new</p>'],
      [400, 'QUERY', '/page.html', {}],
    ]
    for (const [status, method, path, headers, body] of asked.sort(([a], [b]) =>
      a === 422 ? 1 : b === 422 ? -1 : 0,
    )) {
      const reply = await site.ask(method, path, { headers, ...(body !== undefined && { body }) })
      expect(reply.status, `${method} ${path}`).to.equal(status)
      expect(reply.headers.get('x-ran'), `${method} ${path}`).to.equal(String(status))
    }
  })

  it('REA-23 a DELETE still fits after the element is gone', async () => {
    site = await reactingSite({
      '/page.html': PAGE,
      '/p.html': page(processor({ selector: 'p', status: '2xx', action: answering(218, 'ran') })),
    })
    const headers = { Range: 'selector=#p1' }
    expect((await site.ask('DELETE', '/page.html', { headers })).status).to.equal(218)
    expect((await site.ask('GET', '/page.html', { headers })).status).to.equal(416)
  })

  it('REA-6 triggers run for a stream, processors do not', async () => {
    site = await reactingSite({
      '/page.html': PAGE,
      '/p.html': page(
        processor({ action: answering(218, 'ran') }) +
          trigger({ when: 'Context.request.headers["x-no"] == "1"', action: answering(418, 'no') }),
      ),
    })
    const ended = new AbortController()
    const stream = await fetch(`${site.url}/page.html`, {
      headers: { Accept: 'text/event-stream' },
      signal: ended.signal,
    })
    expect([stream.status, stream.headers.get('content-type')]).to.deep.equal([200, 'text/event-stream'])
    ended.abort()
    const refused = await site.ask('GET', '/page.html', { headers: { Accept: 'text/event-stream', 'X-No': '1' } })
    expect(refused.status).to.equal(418)
  })
})

describe('Answers that processors leave alone', () => {
  it('REA-70 are the same in status, fields and bytes: pages, blobs in memory and in files, errors', async () => {
    const small = randomBytes(3000)
    const large = randomBytes(900_000)
    const files = { '/page.html': PAGE, '/small.png': small, '/large.png': large }
    const looking = 'Context.seen = Context.response.status + Context.response.body.count()'
    const plain = await reactingSite(files)
    site = await reactingSite({
      ...files,
      '/p.html': page(processor({ action: looking }) + processor({ when: 'true', action: '1' })),
    })
    try {
      for (const path of ['/page.html', '/small.png', '/large.png', '/missing']) {
        const variants: Record<string, string>[] = [{}, { Range: 'bytes=5-9' }, { 'Accept-Encoding': 'gzip, br' }]
        for (const headers of variants) {
          const [expected, found] = [
            await plain.ask('GET', path, { headers }),
            await site.ask('GET', path, { headers }),
          ]
          expect(found.status).to.equal(expected.status)
          expect(found.bytes.equals(expected.bytes), path).to.equal(true)
          const own = new Set(['set-cookie', 'date', 'last-modified', 'platform-version'])
          const fields = ({ headers }: typeof found) => [...headers].filter(([name]) => !own.has(name))
          expect(fields(found)).to.deep.equal(fields(expected))
        }
      }
    } finally {
      await plain.close()
    }
  })

  it('REA-42 the body of a HEAD is that of the GET, and is not sent', async () => {
    site = await reactingSite({
      '/page.html': PAGE,
      '/p.html': page(processor({ action: 'Context.response.headers["X-Body"] = Context.response.body' })),
    })
    const reply = await site.ask('HEAD', '/page.html')
    expect(reply.headers.get('x-body')).to.equal(null)
    await site.close()
    site = await reactingSite({
      '/page.html': PAGE,
      '/p.html': page(
        processor({ action: 'Context.response.headers["X-Length"] = String(Context.response.body.count())' }),
      ),
    })
    const head = await site.ask('HEAD', '/page.html')
    expect([head.text, head.headers.get('x-length')]).to.deep.equal(['', String(PAGE.length)])
  })

  it('REA-42 blobs are shown with replacement characters, compressed ones as they are stored', async () => {
    const text = 'wörd '.repeat(2000)
    site = await reactingSite({
      '/bad.bin': Buffer.from([0x61, 0xff, 0x62]),
      '/style.css': text,
      '/p.html': page(
        processor({
          resource: '/bad.bin',
          action: 'Context.response.headers["X-Same"] = String(Context.response.body == "a\uFFFDb")',
        }) +
          processor({
            resource: '/style.css',
            action: 'Context.response.headers["X-Length"] = String(Context.response.body.count())',
          }),
      ),
    })
    expect((await site.ask('GET', '/bad.bin')).headers.get('x-same')).to.equal('true')
    for (let i = 0; i < 5; i++) {
      const reply = await site.ask('GET', '/style.css', { headers: { 'Accept-Encoding': 'gzip' } })
      expect([reply.text, reply.headers.get('x-length')]).to.deep.equal([text, String(text.length)])
    }
  })
})

describe('Answers that processors change', () => {
  const changed = (action: string, fields = {}) =>
    reactingSite({
      '/page.html': PAGE,
      '/p.html': page(processor({ resource: ['/page.html', '/missing'], action, ...fields })),
    })

  it('REA-71 status and body; what described the old content goes', async () => {
    site = await changed('Context.response.status = 299; Context.response.body = "<p>ü"')
    const reply = await site.ask('GET', '/page.html')
    expect([reply.status, reply.text]).to.deep.equal([299, '<p>ü'])
    for (const name of ['etag', 'last-modified', 'content-range']) expect(reply.headers.get(name), name).to.equal(null)
    expect(reply.headers.get('content-type')).to.equal('text/html; charset=utf-8')
    expect(reply.headers.get('content-length')).to.equal('5')
  })

  it('REA-71 an element as the body is its markup, to later code as well', async () => {
    const body = 'Context.response.body'
    site = await changed(`${body} = (\${title} from "/page.html").first(); ${body} = ${body} + "!"`)
    expect((await site.ask('GET', '/page.html')).text).to.match(/^<title>.*<\/title>!$/)
  })

  it('SEC-12 HTTP-172 of a long text that code throws the beginning is told', async () => {
    site = await changed(`throw "${'&lt;'.repeat(20_000)}"`)
    const { status, text } = await site.ask('GET', '/page.html')
    expect(status).to.equal(500)
    expect(text.length).to.be.below(50_000)
    expect(text).to.include('…')
  })

  it('REA-71 the body of a compressed answer is sent plain', async () => {
    site = await reactingSite({
      '/style.css': 'a{color:red}'.repeat(1000),
      '/p.html': page(processor({ resource: '/style.css', action: 'Context.response.body = "b{}"' })),
    })
    for (let i = 0; i < 5; i++) {
      const reply = await site.ask('GET', '/style.css', { headers: { 'Accept-Encoding': 'gzip' } })
      expect([reply.text, reply.headers.get('content-encoding')]).to.deep.equal(['b{}', null])
    }
  })

  const statuses: [value: string, status: number][] = [
    ['"404"', 404],
    ['200', 200],
    ['599', 599],
    ['199', 500],
    ['600', 500],
    ['"many"', 500],
    ['null', 500],
  ]
  for (const [value, status] of statuses)
    it(`REA-71 status ${value}`, async () => {
      site = await changed(`Context.response.status = ${value}`)
      const reply = await site.ask('GET', '/page.html')
      expect(reply.status).to.equal(status)
      if (status === 500) expect(reply.text).to.include('BindingFailure')
    })

  it('REA-71 fields: set, replaced in any case, removed, those not named stay', async () => {
    site = await changed(
      'Context.response.headers = { "x-a": "1", "CONTENT-TYPE": "text/plain", "ETag": null, "Content-Length": "3", "Bad Name": "x" }; Context.response.headers["X-B"] = "2"',
    )
    const reply = await site.ask('GET', '/page.html')
    expect([reply.status, reply.text]).to.deep.equal([200, PAGE])
    const field = (name: string) => reply.headers.get(name)
    expect([field('x-a'), field('x-b'), field('content-type'), field('etag')]).to.deep.equal([
      '1',
      '2',
      'text/plain',
      null,
    ])
    expect(field('last-modified')).not.to.equal(null)
  })

  it('REA-71 an error page that has another body is the site’s own; one that has not is the server’s', async () => {
    site = await changed('Context.response.body = "<h1>No such shelf</h1>"')
    const own = await site.ask('GET', '/missing')
    expect([own.status, own.text]).to.deep.equal([404, '<h1>No such shelf</h1>'])
    expect(own.headers.get('content-security-policy') ?? '').not.to.include("default-src 'none'")
    await site.close()
    site = await changed('Context.response.headers["X-A"] = "1"')
    const others = await site.ask('GET', '/missing')
    expect(others.headers.get('content-security-policy')).to.include("default-src 'none'")
  })

  it('REA-73 each sees what the one before it left', async () => {
    site = await reactingSite({
      '/page.html': PAGE,
      '/p.html': page(
        processor({ status: '200', action: 'Context.response.status = 404; Context.response.body = "one"' }) +
          processor({ status: '200', action: answering(500, 'wrong') }) +
          processor({ status: '404', action: 'Context.response.body = Context.response.body + " two"' }) +
          processor({
            when: 'Context.response.headers["etag"] == null',
            action: 'Context.response.body = Context.response.body + " three"',
          }),
      ),
    })
    const reply = await site.ask('GET', '/page.html')
    expect([reply.status, reply.text]).to.deep.equal([404, 'one two three'])
  })

  it('REA-54 a throw ends the processors; the committed write stands with its event', async () => {
    site = await reactingSite({
      '/p.html': page(
        processor({ method: 'PUT', action: answering(409, 'thrown', { 'X-T': '1' }) }) +
          processor({ method: 'PUT', action: answering(500, 'later') }),
      ),
    })
    const reply = await site.ask('PUT', '/new.html', { body: PAGE })
    expect([reply.status, reply.text, reply.headers.get('x-t'), reply.headers.get('etag')]).to.deep.equal([
      409,
      'thrown',
      '1',
      null,
    ])
    expect(await site.site.find('/new.html')).not.to.equal(undefined)
  })

  it('REA-55 an error of a processor replaces the answer; the committed write stands', async () => {
    site = await reactingSite({ '/p.html': page(processor({ method: 'PUT', action: 'nothing.at.all' })) })
    const reply = await site.ask('PUT', '/new.html', { body: PAGE })
    expect(reply.status).to.equal(500)
    expect(reply.text).to.include('BindingFailure')
    expect(await site.site.find('/new.html')).not.to.equal(undefined)
  })

  it('REA-30 otherwise works as on a trigger', async () => {
    site = await changed('1', { when: 'false', otherwise: answering(218, 'otherwise') })
    expect((await site.ask('GET', '/page.html')).status).to.equal(218)
  })

  it('REA-43 what a trigger puts into Context processors see; the response cannot be assigned', async () => {
    site = await reactingSite({
      '/p.html': page(
        trigger({ action: 'Context.mine = "t"; Context["other"] = 2' }) +
          processor({
            action: 'Context.response.status = 200; Context.response.body = Context.mine + String(Context.other)',
          }) +
          processor({ resource: '/assign', action: 'Context.response = 1' }),
      ),
    })
    expect((await site.ask('GET', '/x')).text).to.equal('t2')
    expect((await site.ask('GET', '/assign')).status).to.equal(500)
  })
})
