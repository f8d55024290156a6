import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, selecting } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li></ul>')

/** Rows of HTTP-11: a target that names nothing, and the answer to a write. */
const TARGETS: [name: string, target: string, failure: string][] = [
  ['a lone percent', '/%', '400 InvalidPath'],
  ['half an escape', '/a%4', '400 InvalidPath'],
  ['no hexadecimal digits', '/%zz', '400 InvalidPath'],
  ['an escape of an escape that is cut off', '/%25%', '400 InvalidPath'],
  ['bytes that are not UTF-8', '/%ff', '400 InvalidPath'],
  ['an overlong form', '/%c0%af', '400 InvalidPath'],
  ['half a surrogate', '/%ed%a0%80', '400 InvalidPath'],
  ['NUL', '/a%00b', '400 InvalidPath'],
  ['U+001F', '/a%1fb', '400 InvalidPath'],
  ['U+007F', '/a%7fb', '400 InvalidPath'],
  ['a line end', '/a%0d%0aX:%20y', '400 InvalidPath'],
  ['an escaped slash', '/d%2Fx', '400 InvalidPath'],
  ['a backslash', '/d\\x', '400 InvalidPath'],
  ['an escaped backslash', '/d%5cx', '400 InvalidPath'],
  ['a dot segment', '/./d.html', '400 InvalidPath'],
  ['two dots', '/x/../d.html', '400 InvalidPath'],
  ['two escaped dots', '/x/%2e%2e/d.html', '400 InvalidPath'],
  ['two dots at the end', '/x/..', '400 InvalidPath'],
  ['an empty segment', '/x//d.html', '400 InvalidPath'],
  ['an empty first segment', '//d.html', '400 InvalidPath'],
  ['an empty last segment but one', '/x//', '400 InvalidPath'],
  ['a segment of 256 bytes', `/${'x'.repeat(256)}`, '414 UriTooLong'],
  ['a segment of 256 bytes in 128 letters', `/${'%C3%A9'.repeat(128)}`, '414 UriTooLong'],
  ['a path of 1,025 bytes', `/${`${'x'.repeat(200)}/`.repeat(5)}${'x'.repeat(19)}`, '414 UriTooLong'],
  ['a target of 8,193 bytes', `/d.html?${'x'.repeat(8_185)}`, '414 UriTooLong'],
]

/** What `Range` may hold and still be nothing. */
const RANGES: [range: string, failure: RegExp][] = [
  ['selector', /^400 InvalidRange$/],
  ['selector=', /^400 InvalidRange$/],
  ['selector=;placement=append', /^400 InvalidRange$/],
  ['selector =li', /^400 InvalidRange$/],
  ['selectors=li', /^400 InvalidRange$/],
  ['=li', /^400 InvalidRange$/],
  ['li', /^400 InvalidRange$/],
  ['bytes=selector=li', /^400 InvalidRange$/],
  ['bytes=0-0, selector=li', /^400 InvalidRange$/],
  ['selector==li', /^422 InvalidSelector$/],
  ['selector=li;', /^422 InvalidSelector$/],
  ['selector=li; placement', /^422 InvalidSelector$/],
  ['selector=li; placement=a b', /^422 InvalidSelector$/],
  ['selector=li; entries=1', /^422 InvalidSelector$/],
  ['selector=li; entries=5-1', /^422 InvalidSelector$/],
  ['selector=li, bytes=0-1', /^422 InvalidSelector$/],
  ['selector="li"', /^422 InvalidSelector$/],
  ['selector=<li>', /^422 InvalidSelector$/],
  ['selector=li{}', /^422 InvalidSelector$/],
  ['selector=li/**', /^(422 InvalidSelector|412 \w+)$/],
  ['selector=li\\', /^(422 InvalidSelector|416 SelectorNoMatch)$/],
  ['selector=\u00ff\u00fe', /^(416 SelectorNoMatch|422 InvalidSelector)$/],
  ['selector=li:nth-child(99999999999999999999n+1)', /^(416 SelectorNoMatch|422 InvalidSelector|412 \w+)$/],
  ['selector=li:nth-child(-9e99)', /^422 InvalidSelector$/],
  ['selector=li[a="', /^(422 InvalidSelector|416 SelectorNoMatch)$/],
  [`selector=${'a'.repeat(20_000)}`, /^(422 InvalidSelector|416 SelectorNoMatch)$/],
  [`selector=${'li,'.repeat(5_000)}li`, /^(422 InvalidSelector|412 \w+)$/],
]

describe('hostile targets and ranges', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE|PATCH', 'Allow', '/*']))
    await put(server, '/d.html', DOC)
    await put(server, '/d/x', DOC)
    await put(server, '/x/d.html', DOC)
  })
  after(() => server.close())

  /** Sends past what a client library would let through. @returns the failure; nothing was written meanwhile, anywhere */
  async function failing(run: () => Promise<Received>): Promise<string> {
    const before = await server.site.store.allEvents(undefined, 1_000)
    const answer = await run()
    expect(answer.headers).not.to.have.property('location')
    const after = await server.site.store.allEvents(undefined, 1_000)
    expect(after.map(event => event.id)).to.deep.equal(before.map(event => event.id))
    return failureOf(answer)
  }

  const writes: [name: string, method: string, fields: Fields][] = [
    ['PUT', 'PUT', {}],
    ['PUT of an element', 'PUT', selecting('li')],
    ['POST of an element', 'POST', selecting('ul')],
    ['POST', 'POST', {}],
    ['DELETE', 'DELETE', {}],
    ['DELETE of an element', 'DELETE', selecting('li')],
    ['MOVE', 'MOVE', { Destination: '/y.html' }],
    ['PATCH', 'PATCH', {}],
  ]
  for (const [name, target, failure] of TARGETS) {
    it(`HTTP-11 ${name}: ${failure} for every write`, async () => {
      for (const [write, method, fields] of writes) {
        expect(await failing(() => http(method, target, fields, DOC)), write).to.equal(failure)
      }
    })

    it(`HTTP-105 ${name} as Destination: ${failure}`, async () => {
      const whole = () => http('MOVE', '/d.html', { Destination: target })
      expect(await failing(whole)).to.equal(failure)
      const element = { ...selecting('#a'), Destination: target, 'Destination-Range': 'selector=ul; placement=append' }
      expect(await failing(() => http('MOVE', '/d.html', element))).to.equal(failure)
      const absolute = `http://localhost:${server.port}${target}`
      if (absolute.length < 8_192) {
        expect(await failing(() => http('MOVE', '/d.html', { Destination: absolute }))).to.equal(failure)
      }
    })
  }

  it('HTTP-11 COMP-108 the name that the server adds to a directory counts: nothing is stored where nobody could read it', async () => {
    const directory = (length: number) => `${`/${'x'.repeat(99)}`.repeat(10)}/${'x'.repeat(length - 1002)}/`
    const writes: [write: string, longest: number, ask: (path: string) => ReturnType<Client>][] = [
      ['PUT', 1014, path => http('PUT', path, {}, DOC)],
      ['MOVE', 1014, path => http('MOVE', '/d.html', { Destination: path })],
      ['POST', 1004, path => http('POST', path, { 'Content-Type': 'image/jpeg' }, 'x')],
    ]
    for (const [write, longest, ask] of writes)
      expect(await failing(() => ask(directory(longest + 1))), write).to.equal('414 UriTooLong')
    const made = await http('POST', directory(1004), { 'Content-Type': 'image/jpeg' }, 'x')
    expect(made).to.include({ status: 201 })
    expect(await http('GET', made.headers.location ?? '')).to.include({ status: 200 })
  })

  it('HTTP-11 raw control characters and bytes above ASCII do not become names', async () => {
    for (const byte of [0x00, 0x01, 0x09, 0x0b, 0x0c, 0x1f, 0x7f, 0x80, 0xc3, 0xff]) {
      const answer = await failing(async () => {
        const connection = await connect(server.port)
        const head = [
          Buffer.from('PUT /a'),
          Buffer.of(byte),
          Buffer.from('b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx'),
        ]
        connection.send(Buffer.concat(head))
        const received = await connection.receive()
        connection.close()
        return received
      })
      expect(answer, `byte ${byte}`).to.match(/^400 (BadRequest|InvalidPath)$/)
    }
  })

  for (const [range, failure] of RANGES) {
    it(`HTTP-45 HTTP-47 Range: ${range.slice(0, 40)} writes nothing`, async () => {
      for (const method of ['PUT', 'POST', 'DELETE']) {
        // The condition stops what is a selector after all.
        const answer = await failing(() => http(method, '/d.html', { Range: range, 'If-Match': '"x"' }, '<li>x</li>'))
        expect(answer, method).to.match(failure)
      }
    })
  }

  it('HTTP-45 two Range fields are one list, which is no selector', async () => {
    const ranges = ['selector=#a', 'selector=#l']
    expect(await failing(() => http('DELETE', '/d.html', { Range: ranges }))).to.match(
      /^(422 InvalidSelector|400 \w+)$/,
    )
  })
})
