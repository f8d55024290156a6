/** Requests that mean harm: each gets its rule's answer, nothing is any different afterwards, and the mount goes on. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'

import { page } from '../../support/content.ts'
import { type Client, connect, exchange, type Fields, type Received, requestBytes } from '../../support/http.ts'
import { leavesTheLoop } from '../../support/loop-hold.ts'
import { basic, changesNothing, list, outcomeOf, property, propertyUpdate, startWire, to, type Wire } from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
const IDLE = 200
const UPLOADS = ['/d/x.txt', '/d/page.html', '/d/new.bin', '/d/new.html', '/d/~$new.doc', '/d/._new']

/** The same harm in the body of each method that reads XML, in place of `%`. */
const CARRIERS: [method: string, path: string, body: string][] = [
  ['PROPFIND', '/d/', '<D:propfind xmlns:D="DAV:"><D:prop>%</D:prop></D:propfind>'],
  ['PROPPATCH', '/d/', '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>%</D:prop></D:set></D:propertyupdate>'],
  ['LOCK', '/d/', LOCK.replace('</D:lockinfo>', '<D:owner>%</D:owner></D:lockinfo>')],
  ['MKCOL', '/d/new/', '<D:mkcol xmlns:D="DAV:"><D:set><D:prop>%</D:prop></D:set></D:mkcol>'],
  [
    'REPORT',
    '/d/',
    '<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop>%</D:prop></D:sync-collection>',
  ],
]

describe('hostile requests to the mount', () => {
  let wire: Wire
  let dav: Client
  let authorization: Fields
  before(async () => {
    wire = await startWire({ site: { maxBody: '2MiB' } })
    dav = wire.dav
    authorization = { Authorization: basic(wire.server.user, wire.server.password) }
    expect((await dav('PUT', '/d/page.html', {}, page('<p>p</p>'))).status).to.equal(201)
    expect((await dav('PUT', '/d/x.txt', {}, 'x')).status).to.equal(201)
  })
  after(() => wire.server.close())

  /** Runs requests that change nothing, and makes sure that the mount still answers. */
  async function harmless<T>(run: () => Promise<T>): Promise<T> {
    const result = await changesNothing(wire.server, run)
    expect(await property(dav, '/d/', 'lockdiscovery'), 'no lock is left').to.equal('')
    return result
  }

  const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
  const EVIL: [name: string, body: (carrier: string) => string][] = [
    ['a billion laughs', carrier => `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs}]>${carrier.replace('%', '<x>&l9;</x>')}`],
    [
      'a quadratic blowup',
      carrier =>
        `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(50_000)}">]>${carrier.replace('%', `<x>${'&a;'.repeat(10_000)}</x>`)}`,
    ],
    [
      'a file as entity',
      carrier => `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${carrier.replace('%', '<x>&e;</x>')}`,
    ],
    [
      'a parameter entity',
      carrier => `<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]>${carrier.replace('%', '<x/>')}`,
    ],
    ['an external subset', carrier => `<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">${carrier.replace('%', '<x/>')}`],
    ['100,000 levels', carrier => carrier.replace('%', '<x>'.repeat(100_000) + '</x>'.repeat(100_000))],
    ['100,000 levels left open', carrier => carrier.replace('%', '<x>'.repeat(100_000))],
    ['an element that is cut off', carrier => carrier.slice(0, carrier.indexOf('%') - 2)],
    ['an undeclared prefix', carrier => carrier.replace('%', '<z:x/>')],
    ['the prefix xmlns', carrier => carrier.replace('%', '<xmlns:x/>')],
    ['a reserved prefix bound anew', carrier => carrier.replace('%', '<x xmlns:xml="urn:x"/>')],
    ['a prefix bound to nothing', carrier => carrier.replace('%', '<p:x xmlns:p=""/>')],
    ['a null character', carrier => carrier.replace('%', '<x>\u0000</x>')],
    ['a reference to a null character', carrier => carrier.replace('%', '<x>&#0;</x>')],
    ['a lone surrogate as reference', carrier => carrier.replace('%', '<x>&#xD800;</x>')],
    ['an endless comment', carrier => carrier.replace('%', `<!--${'-'.repeat(1000)}`)],
    ['CDATA that does not end', carrier => carrier.replace('%', '<x><![CDATA[')],
    ['JSON', () => '{"propfind": true}'],
    ['HTML', () => '<!DOCTYPE html><title>x</title>'],
    ['another root', () => '<D:multistatus xmlns:D="DAV:"/>'],
  ]
  for (const [method, path, carrier] of CARRIERS)
    for (const [name, body] of EVIL)
      it(`DAV-32 ${method} with ${name} is 400`, () =>
        harmless(async () => {
          let outcome = ''
          await leavesTheLoop(async () => {
            const answer = await dav(method, path, { 'Content-Type': 'application/xml', Depth: '0' }, body(carrier))
            outcome = outcomeOf(answer)
          })
          // LOCK reads less than the others, and other reports are well-formed requests.
          const also = method === 'LOCK' ? ['413 PayloadTooLarge'] : name === 'another root' ? ['403 Forbidden'] : []
          expect(outcome).to.be.oneOf(['400 MalformedXml', ...(method === 'LOCK' || method === 'REPORT' ? also : [])])
        }))

  /** Well-formed, but far too much of it. */
  const MUCH: [name: string, content: string][] = [
    ['100,000 elements', '<x/>'.repeat(100_000)],
    ['20,000 names', Array.from({ length: 20_000 }, (_, i) => `<x${i} xmlns="urn:x"/>`).join('')],
    ['20,000 namespaces', Array.from({ length: 20_000 }, (_, i) => `<x xmlns="urn:x${i}"/>`).join('')],
    ['30,000 attributes', `<x ${Array.from({ length: 30_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`],
    ['10,000 declarations', `<x ${Array.from({ length: 10_000 }, (_, i) => `xmlns:a${i}="urn:${i}"`).join(' ')}/>`],
    ['400 levels', '<x>'.repeat(400) + '</x>'.repeat(400)],
    ['900 KiB of text', `<x>${'&#65;'.repeat(180_000)}</x>`],
    ['a name of 500,000 characters', `<${'x'.repeat(500_000)}/>`],
  ]
  for (const [method, path, carrier] of CARRIERS)
    for (const [name, content] of MUCH)
      it(`${method} with ${name} is answered in time`, async () => {
        const fields = { 'Content-Type': 'application/xml', Depth: '0' }
        let answer: Received | undefined
        await leavesTheLoop(async () => {
          answer = await dav(method, path, fields, carrier.replace('%', content))
        })
        expect(answer?.status, answer?.text.slice(0, 300)).to.be.oneOf([200, 201, 207, 400, 403, 405, 413, 423, 507])
        const locks = (await list(dav, '/d/', '0')).get('/d/')?.get('lockdiscovery')?.value ?? ''
        const token = answer?.headers['lock-token']
        if (token !== undefined) expect((await dav('UNLOCK', '/d/', { 'Lock-Token': token })).status).to.equal(204)
        expect(locks === '' || token !== undefined).to.equal(true)
        await dav('DELETE', '/d/new/')
        const dead = [...((await list(dav, '/d/', '0')).get('/d/')?.keys() ?? [])].filter(key => key.startsWith('{'))
        for (let i = 0; i < dead.length; i += 200)
          await dav('PROPPATCH', '/d/', {}, propertyUpdate(...dead.slice(i, i + 200).map((key): [string] => [key])))
      })

  it('DAV-34 limits of values and names are 507 in the propstat, and nothing is kept', () =>
    harmless(async () => {
      const large = await dav(
        'PROPPATCH',
        '/d/x.txt',
        {},
        propertyUpdate(['{urn:x}big', 'x'.repeat(65_537)], ['{urn:x}a', '1']),
      )
      expect(large.status).to.equal(207)
      expect(large.text).to.include('507 Insufficient Storage').and.include('424 Failed Dependency')
      const names = Array.from({ length: 257 }, (_, i): [string, string] => [`{urn:x}n${i}`, ''])
      expect((await dav('PROPPATCH', '/d/x.txt', {}, propertyUpdate(...names))).text).to.include('507')
    }))

  const HEADERS: [name: string, method: string, path: string, fields: Fields, outcome: RegExp][] = [
    ['an If of 8 KB', 'PUT', '/d/x.txt', { If: `(${'<urn:x> '.repeat(1000)})` }, /^412/],
    ['an If of 8 KB without end', 'PUT', '/d/x.txt', { If: '('.repeat(8000) }, /^400/],
    ['an If of 8 KB of Not', 'PUT', '/d/x.txt', { If: `(${'Not '.repeat(2000)}<x>)` }, /^400/],
    ['an If of 2,000 lists', 'PUT', '/d/x.txt', { If: '(<urn:x>)'.repeat(850) }, /^412/],
    ['an If of 700 resources', 'PUT', '/d/x.txt', { If: '</d/y>(<u:x>)'.repeat(600) }, /^412/],
    ['an If of open brackets', 'PUT', '/d/x.txt', { If: `(${'['.repeat(7000)})` }, /^400/],
    ['an If of open angles', 'PUT', '/d/x.txt', { If: `(${'<'.repeat(7000)})` }, /^4(00|12)/],
    ['an empty If', 'PUT', '/d/x.txt', { If: '' }, /^400/],
    ['an If of commas', 'PUT', '/d/x.txt', { If: ','.repeat(8000) }, /^400/],
    ['an If-Match of 8 KB', 'PUT', '/d/x.txt', { 'If-Match': '"x", '.repeat(1600) }, /^412/],
    ['a Timeout of 8 KB', 'LOCK', '/d/x.txt', { Timeout: 'Second-1, '.repeat(800), If: '(<urn:x>)' }, /^412/],
    ['a Depth of 8 KB', 'PROPFIND', '/d/', { Depth: '1'.repeat(8000) }, /^400/],
    ['infinity', 'PROPFIND', '/d/', { Depth: 'infinity' }, /^403 FiniteDepthOnly/],
    ['infinity twice', 'PROPFIND', '/d/', { Depth: ['infinity', 'infinity'] }, /^400/],
    ['a great number as Depth', 'PROPFIND', '/d/', { Depth: '9'.repeat(400) }, /^400/],
    ['a negative Depth', 'PROPFIND', '/d/', { Depth: '-1' }, /^400/],
    ['Depth 1 for DELETE', 'DELETE', '/d/', { Depth: '1' }, /^400/],
    ['a Depth of commas', 'PROPFIND', '/d/', { Depth: ','.repeat(8000) }, /^400/],
    ['a Lock-Token of 8 KB', 'UNLOCK', '/d/x.txt', { 'Lock-Token': `<${'x'.repeat(8000)}>` }, /^4(00|09)/],
    ['a Destination of 8 KB', 'COPY', '/d/x.txt', to(`/${'x'.repeat(8000)}`), /^414/],
    ['a Destination of slashes', 'COPY', '/d/x.txt', to('/'.repeat(8000)), /^4(00|14)/],
    ['a Destination of escapes', 'COPY', '/d/x.txt', to(`/d/${'%41'.repeat(500)}`), /^414/],
    ['a Range of 8 KB', 'PUT', '/d/page.html', { Range: `selector=${':not('.repeat(1600)}` }, /^4(00|22|16)/],
    ['a selector of 8 KB', 'PUT', '/d/page.html', { Range: `selector=${'div '.repeat(1900)}` }, /^4(00|22|16)/],
    ['an Authorization of 8 KB', 'GET', '/d/x.txt', { Authorization: `Basic ${'A'.repeat(8000)}` }, /^401/],
    ['an OC-Checksum of 8 KB', 'PUT', '/d/x.txt', { 'OC-Checksum': `MD5:${'0'.repeat(8000)}` }, /^400/],
    [
      'a Content-Digest of 8 KB',
      'PUT',
      '/d/x.txt',
      { 'Content-Digest': `${'x=:A:, '.repeat(1100)}sha-256=:AA==:` },
      /^400/,
    ],
  ]
  for (const [name, method, path, fields, outcome] of HEADERS)
    it(`${name}: ${outcome.source}`, () =>
      harmless(() =>
        leavesTheLoop(async () => {
          expect(outcomeOf(await dav(method, path, fields, method === 'PUT' ? page('x') : undefined))).to.match(outcome)
        }),
      ))

  const SELECTORS: [name: string, selector: string][] = [
    ['a megabyte of one name', 'x'.repeat(1 << 20)],
    ['100,000 alternatives', Array.from({ length: 100_000 }, () => 'p').join()],
    ['100,000 steps', `p${' p'.repeat(100_000)}`],
    ['100,000 levels', `${':not('.repeat(100_000)}p${')'.repeat(100_000)}`],
    ['100,000 levels left open', ':is('.repeat(100_000)],
    ['100,000 classes', '.a'.repeat(100_000)],
    ['a string that does not end', `[a="${'x'.repeat(100_000)}`],
    ['100,000 escapes', '\\41 '.repeat(100_000)],
    ['nested :has()', `${':has(* '.repeat(40)}p${')'.repeat(40)}`],
  ]
  for (const [name, selector] of SELECTORS)
    it(`HTTP-133 QUERY with ${name} is answered in time`, () =>
      harmless(() =>
        leavesTheLoop(async () => {
          const answer = await dav('QUERY', '/', { 'Content-Type': 'text/css-selector' }, selector)
          expect(answer.status, answer.text.slice(0, 300)).to.be.oneOf([200, 201, 413, 422])
        }),
      ))

  it('a tree as deep as paths can be is made, listed, copied, moved and removed in time', async () => {
    const levels = Array.from({ length: 500 }, (_, i) => `/${i % 10}`)
    await leavesTheLoop(async () => {
      expect((await dav('MKCOL', '/deep/')).status).to.equal(201)
      expect((await dav('PUT', `/deep${levels.join('')}/x`, {}, 'x')).status).to.equal(201)
      expect((await dav('PROPFIND', '/deep/', { Depth: 'infinity' })).status).to.equal(403)
      expect((await list(dav, `/deep${levels.join('')}/`, '1')).size).to.equal(2)
      expect((await dav('COPY', '/deep/', to('/copy/'))).status).to.equal(201)
      expect((await dav('MOVE', '/copy/', to('/more/'))).status).to.equal(201)
      expect((await dav('GET', `/more${levels.join('')}/x`)).text).to.equal('x')
      for (const method of ['COPY', 'MOVE'])
        expect((await dav(method, '/deep/', to(`/more/${'y'.repeat(40)}/`))).status, method).to.equal(414)
      expect((await dav('GET', `/deep${levels.join('')}/x`)).text).to.equal('x')
      for (const path of ['/deep/', '/more/']) await dav('DELETE', path)
    })
    expect((await list(dav, '/')).has('/deep/')).to.equal(false)
  })

  it('more headers than anybody needs are 431', () =>
    harmless(async () => {
      const fields = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`X-${i}`, 'x'.repeat(1000)]))
      expect((await dav('PUT', '/d/x.txt', fields, 'y')).status).to.equal(431)
    }))

  const PATHS: [name: string, path: string, status: number][] = [
    ['dots', '/d/../x', 400],
    ['encoded dots', '/d/%2e%2e/x', 400],
    ['half encoded dots', '/d/.%2E/x', 400],
    ['a single dot', '/d/./x', 400],
    ['dots at the end', '/d/..', 400],
    ['an empty segment', '/d//x', 400],
    ['an encoded slash', '/d/a%2Fb', 400],
    ['a backslash', '/d/a\\b', 400],
    ['an encoded backslash', '/d/a%5Cb', 400],
    ['a null byte', '/d/a%00b', 400],
    ['a line break', '/d/a%0D%0Ab', 400],
    ['DEL', '/d/a%7Fb', 400],
    ['a broken escape', '/d/a%zz', 400],
    ['an escape that is cut off', '/d/a%4', 400],
    ['bytes that are no UTF-8', '/d/a%FF', 400],
    ['an overlong slash', '/d/a%C0%AFb', 400],
    ['a surrogate in UTF-8', '/d/a%ED%A0%80', 400],
    ['a raw #', '/d/a#b', 400],
    ['a segment of 256 bytes', `/d/${'x'.repeat(256)}`, 414],
    ['a path of 1,025 bytes', `/${`${'x'.repeat(100)}/`.repeat(11)}`, 414],
    ['a target of 9,000 bytes', `/d/x?${'q'.repeat(9000)}`, 414],
  ]
  for (const [name, path, status] of PATHS)
    it(`DAV-10 ${status} for ${name} in the path, by every method and as Destination`, () =>
      harmless(async () => {
        for (const method of [
          'GET',
          'HEAD',
          'PUT',
          'DELETE',
          'PROPFIND',
          'PROPPATCH',
          'MKCOL',
          'LOCK',
          'UNLOCK',
          'COPY',
          'MOVE',
          'QUERY',
        ])
          expect((await dav(method, path, { Destination: '/d/z' })).status, method).to.equal(status)
        for (const method of ['COPY', 'MOVE'])
          expect((await dav(method, '/d/x.txt', to(path))).status, `Destination of ${method}`).to.equal(status)
      }))

  const ODD = [
    ' leading',
    'trailing ',
    'a  b',
    '!"$&\'()*+,;:=@',
    '<i>&amp;',
    '100%',
    'a?b',
    'a#b',
    '[x]{y}|^`',
    '~',
    "';--",
    'ünïcödé',
    '日本語',
    '😀👩‍👩‍👧',
    '\u202etxt.exe',
    'a\u00a0b',
    '\u200b',
    'CON',
    'nul.txt',
    'a.',
    '...',
    '..a',
    '.a',
    'a:b:$DATA',
    '__proto__',
    'constructor',
    'toString',
    '%41',
    '-platform',
    'x'.repeat(255),
    'é'.repeat(127),
  ]
  for (const [i, name] of ODD.entries())
    it(`DAV-11 ${JSON.stringify(name.slice(0, 30))} is a name like any other`, async () => {
      const at = `/odd-${i}/`
      const path = at + encodeURIComponent(name)
      expect((await dav('PUT', path, {}, name)).status).to.equal(201)
      expect((await dav('GET', path)).text).to.equal(name)
      expect([...(await list(dav, at)).keys()]).to.deep.equal([at, at + name])
      expect(await property(dav, path, 'displayname')).to.equal(name.trim())
      expect((await dav('MOVE', path, to(`/none${path}`))).status).to.equal(409)
      expect((await dav('COPY', path, to(`${at}copy`))).status).to.equal(201)
      const { text } = await dav('GET', at)
      expect(text).not.to.include('<i>')
      const hrefs = Array.from((await dav('PROPFIND', at)).text.matchAll(/<D:href>(.*?)<\/D:href>/g), ([, href = '']) =>
        href.replaceAll('&#39;', "'"),
      )
      for (const href of hrefs)
        expect(href)
          .to.match(/^[\w\-.~!$'()*+,:;=@/%]*$/)
          .and.not.match(/%[0-9a-f]?[a-f]/)
      for (const href of hrefs.slice(1)) expect((await dav('DELETE', href)).status, href).to.equal(204)
    })

  it('DAV-11 decomposed names are the composed ones, in the target, in Destination and in If', async () => {
    const [composed, decomposed] = ['/d/caf\u00e9.txt', '/d/cafe\u0301.txt'].map(encodeURI) as [string, string]
    expect((await dav('PUT', decomposed, {}, 'one')).status).to.equal(201)
    expect((await dav('PUT', composed, {}, 'two')).status).to.equal(204)
    expect((await dav('GET', decomposed)).text).to.equal('two')
    expect((await dav('PROPFIND', decomposed)).text).to.include(`<D:href>${composed}</D:href>`)
    expect((await dav('MOVE', composed, to(decomposed))).status).to.equal(403)
    const { headers } = await dav('LOCK', composed, {}, LOCK)
    expect((await dav('PUT', composed, { If: `<${decomposed}> (${headers['lock-token']})` }, 'three')).status).to.equal(
      204,
    )
    expect((await dav('UNLOCK', decomposed, { 'Lock-Token': headers['lock-token'] })).status).to.equal(204)
    expect((await dav('DELETE', composed)).status).to.equal(204)
  })

  it('DAV-86 tokens cannot be guessed, and a false one says no more than none', () =>
    changesNothing(wire.server, async () => {
      const { headers } = await dav('LOCK', '/d/x.txt', {}, LOCK)
      const token = headers['lock-token'] ?? ''
      const near = token.replace(/.>$/, end => (end === '0>' ? '1>' : '0>'))
      const guesses = [
        near,
        token.toUpperCase(),
        '<opaquelocktoken:*>',
        '<DAV:no-lock>',
        `<${'0'.repeat(36)}>`,
        '<>',
        token.slice(0, -9),
      ]
      for (const guess of guesses) {
        expect((await dav('PUT', '/d/x.txt', { If: `(${guess})` }, 'y')).status, guess).to.be.oneOf([400, 412])
        expect((await dav('PUT', '/d/x.txt', { If: `(${guess}) (Not <DAV:no-lock>)` }, 'y')).status, guess).to.be.oneOf(
          [400, 423],
        )
        expect((await dav('UNLOCK', '/d/x.txt', { 'Lock-Token': guess })).status, guess).to.be.oneOf([400, 409])
        expect((await dav('LOCK', '/d/x.txt', { If: `(${guess})` })).status, guess).to.be.oneOf([400, 412])
      }
      const bare = await dav('PUT', '/d/x.txt', {}, 'y')
      const guessed = await dav('PUT', '/d/x.txt', { If: `(${near}) (Not <DAV:no-lock>)` }, 'y')
      expect(guessed.text).to.equal(bare.text)
      expect(bare.text).not.to.include('opaquelocktoken')
      expect((await dav('UNLOCK', '/d/x.txt', { 'Lock-Token': token })).status).to.equal(204)
    }))

  describe('DAV-43 bodies that do not end', () => {
    const cut: [name: string, fields: Fields, body: string][] = [
      ['cut off before their length', { 'Content-Length': '1000' }, 'short'],
      ['cut off within a chunk', { 'Transfer-Encoding': 'chunked' }, 'ff\r\nshort'],
      ['cut off between chunks', { 'Transfer-Encoding': 'chunked' }, '5\r\nshort\r\n'],
      ['without the last line', { 'Transfer-Encoding': 'chunked' }, '5\r\nshort\r\n0\r\n'],
      ['with a chunk size that is none', { 'Transfer-Encoding': 'chunked' }, 'zz\r\nshort\r\n0\r\n\r\n'],
      ['with a huge chunk size', { 'Transfer-Encoding': 'chunked' }, 'ffffffffffffffffff\r\nshort'],
      ['with two lengths', { 'Content-Length': ['5', '6'] }, 'short!'],
      ['with length and chunks', { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'],
      ['with a negative length', { 'Content-Length': '-5' }, 'short'],
    ]
    for (const [name, fields, body] of cut)
      it(`store nothing when they are ${name}`, () =>
        harmless(async () => {
          for (const path of UPLOADS) {
            const bytes = Buffer.concat([requestBytes('PUT', path, { ...authorization, ...fields }), Buffer.from(body)])
            const answer = await exchange(wire, bytes, true)
            expect(answer?.status ?? 400, path).to.equal(400)
          }
        }))

    it('a client that disconnects leaves nothing', () =>
      harmless(async () => {
        for (const path of UPLOADS) {
          const connection = await connect(wire.port)
          connection.send(requestBytes('PUT', path, { ...authorization, 'Content-Length': '100000' }))
          connection.send(Buffer.alloc(5000))
          await dav('GET', '/d/x.txt')
          connection.socket.resetAndDestroy()
        }
      }))
  })
})

describe('DAV-43 bodies that stall', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire({ settings: { limits: { bodyIdle: `${IDLE}ms` } } })
    await wire.dav('PUT', '/d/page.html', {}, page('<p>p</p>'))
    await wire.dav('PUT', '/d/x.txt', {}, 'x')
  })
  after(() => wire.server.close())

  for (const [method, path] of [...UPLOADS.map(path => ['PUT', path] as const), ['PROPFIND', '/d/'] as const])
    it(`are ended and store nothing: ${method} ${path}`, () =>
      changesNothing(wire.server, async () => {
        const { user, password } = wire.server
        const fields = { Authorization: basic(user, password), 'Transfer-Encoding': 'chunked' }
        const bytes = Buffer.concat([requestBytes(method, path, fields), Buffer.from('5\r\nshort\r\n')])
        expect((await exchange(wire, bytes))?.status ?? 408).to.equal(408)
      }))
})
