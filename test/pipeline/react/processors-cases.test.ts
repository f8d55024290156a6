/** Processors, case by case (REA-10, REA-70 to REA-73). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { type Case, caseByCase, IMPORTS, jsShows, PAGE, valuesOf } from './cases.ts'
import { javascript, meta, NS, page, processor, type ReactionFields } from './site.ts'

const LOAN = 'https://library.example/Loan'
const property = (name: string, more = '') =>
  `<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('name', name)}${more}</div>`
const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema">${meta('type', LOAN)}${property('note', meta('cardinality', '0..1'))}${property('number', meta('unique', 'true'))}</div>`,
)

describe('Processors, case by case', () => {
  const server = caseByCase({ '/schema.html': SCHEMA })
  const { add, ask } = server
  const on = (at: string, code: string, more: ReactionFields = {}) =>
    processor({ resource: `${at}/*`, action: IMPORTS + code, ...more })
  const cases: Case[] = [
    [
      'REA-70 a gate that reads the body leaves it as it is',
      at => on(at, '1', { when: 'Context.response.body.contains("one")' }),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect(r.text).to.equal(PAGE)
        expect(r.headers.etag).to.be.a('string')
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-71 an assigned 204 sends no body',
      at => on(at, 'Context.response.status = 204'),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect([r.text, r.headers['content-length']]).to.deep.equal(['', undefined])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-71 a body that is added to has its own length',
      at => on(at, 'Context.response.body = Context.response.body + "<!-- ä -->"'),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect(r.text).to.equal(`${PAGE}<!-- ä -->`)
        expect([
          r.headers.etag,
          r.headers['last-modified'],
          r.headers['content-type'],
          r.headers['content-length'],
        ]).to.deep.equal([undefined, undefined, 'text/html; charset=utf-8', String(Buffer.byteLength(PAGE) + 11)])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-71 the new body of an element has no Content-Range',
      at => on(at, 'Context.response.body = "<b>n</b>"'),
      async at => {
        const r = await ask('GET', `${at}/page.html`, { Range: 'selector=#p1' })
        expect([r.status, r.text, r.headers['content-range']]).to.deep.equal([206, '<b>n</b>', undefined])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-71 a number as body is its text',
      at => on(at, 'Context.response.body = 5'),
      async at => expect((await ask('GET', `${at}/page.html`)).text).to.equal('5'),
      { '/page.html': PAGE },
    ],
    [
      'REA-71 a list as the value of a field',
      at => on(at, 'Context.response.headers = { "X-L": ["a", "b"] }'),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect(valuesOf(r.fields, 'x-l').join()).to.equal('a,b')
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-71 a field that stood several times has the value alone that is assigned, and none with null',
      at =>
        on(
          at,
          'Context.response.headers = { "X-L": ["a", "b", "c"], "X-M": ["a", "b"] }; Context.response.headers["x-l"] = "d"; Context.response.headers["x-m"] = null',
        ),
      async at => {
        const { fields } = await ask('GET', `${at}/page.html`)
        expect([valuesOf(fields, 'x-l'), valuesOf(fields, 'x-m')]).to.deep.equal([['d'], []])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-71 a field by its name after a dot',
      at => on(at, 'Context.response.headers.x-dot = "1"'),
      async at => expect((await ask('GET', `${at}/page.html`)).headers['x-dot']).to.equal('1'),
      { '/page.html': PAGE },
    ],
    [
      'REA-71 fields that are no map are a failure',
      at => on(at, 'Context.response.headers = "x"'),
      async at => expect((await ask('GET', `${at}/page.html`)).status).to.equal(500),
      { '/page.html': PAGE },
    ],
    [
      'REA-53 unsafe fields that are assigned are dropped',
      at =>
        on(
          at,
          'Context.response.headers = { "Content-Length": "3", "X-Bad": "a\\nb", "Set-Cookie": "platform_session=x", "Transfer-Encoding": "chunked", "X-Good": "1" }',
        ),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect([r.text, r.headers['x-bad'], r.headers['x-good']]).to.deep.equal([PAGE, undefined, '1'])
        // One that the server sets may begin with the same letter.
        expect(String(r.headers['set-cookie'])).not.to.match(/platform_session=x(?![\w.-])/)
      },
      { '/page.html': PAGE },
    ],
    [
      'HTTP-150 no cache keeps an error that an asset has become, unless code says who may',
      at =>
        on(at, 'Context.response.status = 404') +
        on(at, 'Context.response.headers["Cache-Control"] = "max-age=9"', { resource: `${at}/said.css` }),
      async at => {
        const [silent, said] = [await ask('GET', `${at}/silent.css`), await ask('GET', `${at}/said.css`)]
        expect([silent.status, silent.headers['cache-control']]).to.deep.equal([404, 'no-store'])
        expect([said.status, said.headers['cache-control']]).to.deep.equal([404, 'max-age=9'])
      },
      { '/silent.css': 'a {}', '/said.css': 'a {}' },
    ],
    [
      'HTTP-150 an asset that gets another status than that of an error is kept as it was',
      at => on(at, 'Context.response.status = 203', { resource: `${at}/other.css` }),
      async at => {
        const [plain, other] = [await ask('GET', `${at}/plain.css`), await ask('GET', `${at}/other.css`)]
        expect([other.status, other.headers['cache-control']]).to.deep.equal([203, plain.headers['cache-control']])
      },
      { '/plain.css': 'a {}', '/other.css': 'a {}' },
    ],
    [
      'REA-71 a 404 becomes a 200 with a body',
      at => on(at, 'Context.response.status = 200; Context.response.body = "soft"'),
      async at => {
        const r = await ask('GET', `${at}/none`)
        expect([r.status, r.text]).to.deep.equal([200, 'soft'])
      },
    ],
    [
      'REA-71 a field of a 304',
      at => on(at, 'Context.response.headers["X-S"] = String(Context.response.status)'),
      async at => {
        const first = await ask('GET', `${at}/page.html`)
        const r = await ask('GET', `${at}/page.html`, { 'If-None-Match': String(first.headers.etag) })
        expect([r.status, r.headers['x-s'], r.text]).to.deep.equal([304, '304', ''])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-73 the status filter sees what was assigned',
      at =>
        on(at, 'Context.response.status = 410', { status: '404' }) +
        on(at, 'Context.response.body = "gone"', { status: '410' }) +
        on(at, 'Context.response.body = "wrong"', { status: '404' }),
      async at => {
        const r = await ask('GET', `${at}/none`)
        expect([r.status, r.text]).to.deep.equal([410, 'gone'])
      },
    ],
    [
      'REA-73 JavaScript sees what Sessel has assigned',
      at =>
        on(at, 'Context.response.body = "a"') +
        processor({ resource: `${at}/*`, action: jsShows('ctx.response.body + ctx.response.status') }),
      async at => expect((await ask('GET', `${at}/none`)).text).to.equal('a404'),
    ],
    [
      'REA-72 JavaScript can neither assign nor return an answer',
      at =>
        processor({
          resource: `${at}/*`,
          action: javascript(
            'action',
            `export default ctx => { ctx.response.body = "x"; ctx.response.headers["x-a"] = "1"; delete ctx.response; return { itemtype: "${NS}/HTTPResponse", status: 299 } }`,
          ),
        }),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect([r.status, r.text, r.headers['x-a']]).to.deep.equal([200, PAGE, undefined])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-54 a throw of a processor keeps nothing of the answer',
      at => on(at, 'Context.response.headers["X-A"] = "1"') + on(at, 'throw new HTTPResponse { status: 299 }'),
      async at => {
        const r = await ask('GET', `${at}/page.html`)
        expect([r.status, r.headers['x-a'], r.headers.etag]).to.deep.equal([299, undefined, undefined])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-10 processors see 301 for a directory',
      at => on(at, 'Context.response.headers["X-Seen"] = String(Context.response.status)'),
      async at => {
        const r = await ask('GET', `${at}/sub`)
        expect([r.status, r.headers['x-seen']]).to.deep.equal([301, '301'])
      },
      { '/sub/index.html': PAGE },
    ],
  ]
  for (const each of cases) add(...each)
  const statuses: [value: string, status: number][] = [
    ['"201"', 201],
    ['200.5', 500],
    ['true', 500],
    ['204', 204],
  ]
  for (const [value, status] of statuses)
    add(
      `REA-71 assigned status ${value} is ${status}`,
      at => on(at, `Context.response.status = ${value}`),
      async at => expect((await ask('GET', `${at}/page.html`)).status).to.equal(status),
      { '/page.html': PAGE },
    )
  const shared = /^no-cache$/
  const kept: [title: string, fields: ReactionFields, cacheControl: RegExp][] = [
    [
      'a body by who asks',
      { action: 'Context.response.body = String(Context.request.auth.roles)' },
      /^private, no-cache$/,
    ],
    [
      'a field by fields of the request',
      { action: 'Context.response.headers["X-A"] = Context.request.headers.accept' },
      /^private/,
    ],
    [
      'a gate by fields of the request that is closed',
      { when: 'Context.request.headers.x-a == "1"', action: '1' },
      /^private/,
    ],
    [
      'JavaScript, which is shown all of the request',
      { action: javascript('action', 'export default () => 1') },
      /^private/,
    ],
    [
      'fields as they were and one more',
      {
        action: 'Context.response.headers = Context.response.headers.merge({ "X-A": Context.request.headers.accept })',
      },
      /^private, no-cache$/,
    ],
    [
      'a value for caches that is dropped',
      { action: 'Context.response.headers["Cache-Control"] = "public\\n" + Context.request.headers.host' },
      /^private, no-cache$/,
    ],
    ['what is the same for everybody', { action: 'Context.response.body = Context.request.path' }, shared],
    [
      'code that says who may keep it',
      {
        action:
          'Context.response.body = String(Context.request.auth.roles); Context.response.headers["Cache-Control"] = "public, max-age=9"',
      },
      /^public, max-age=9$/,
    ],
  ]
  for (const [title, fields, cacheControl] of kept)
    add(
      `HTTP-150 ${title} is for ${cacheControl.source}`,
      at => processor({ resource: `${at}/*`, ...fields }),
      async at => {
        // An answer that sets a cookie is private for that.
        const [cookie = ''] = (await ask('GET', '/rules.html')).headers['set-cookie'] ?? []
        const { headers } = await ask('GET', `${at}/page.html`, { Cookie: cookie })
        expect(headers['cache-control']).to.match(cacheControl)
        expect(/Cookie, Authorization/.test(String(headers.vary))).to.equal(
          /^private/.test(cacheControl.source.slice(1)),
        )
      },
      { '/page.html': PAGE },
    )
  for (const [title, body, cacheControl] of [
    ['a body that came with the request is private', 'sent', 'private, max-age=300'],
    ['none may be shared', '', 'public, max-age=300'],
  ] as const)
    add(
      `PRIV-1 an asset in which code shows ${title}`,
      at => on(at, 'Context.response.body = "/* " + Context.request.rawBody'),
      async at => {
        const { text, headers } = await ask('GET', `${at}/a.css`, {}, body)
        expect([text, headers['cache-control']]).to.deep.equal([`/* ${body}`, cacheControl])
      },
      { '/a.css': 'a {}' },
    )
  const said: [fields: string, setsCookie: boolean][] = [
    ['{ "Cache-Control": "private, max-age=9" }', true],
    ['{ "cache-control": "no-cache, No-Store" }', true],
    ['{ "cache-control": "public, max-age=9" }', false],
    ['{ "Cache-Control": "PUBLIC" }', false],
    ['{ "Cache-Control": "max-age=9" }', false],
    ['{ "Cache-Control": "no-cache" }', false],
    ['{ "Cache-Control": "no-cache", "ETag": null, "Last-Modified": null }', true],
    ['{ "Cache-Control": "no-cache, s-maxage=9" }', false],
    ['{ "Cache-Control": ["max-age=9", "must-revalidate"] }', false],
    ['{ "Cache-Control": ["max-age=9", "private"] }', true],
    ['{ "Cache-Control": \'private="x", max-age=9, y=", private, "\' }', false],
    ['{ "Cache-Control": null, "Expires": "Thu, 01 Jan 2099 00:00:00 GMT" }', false],
    ['{ "CDN-Cache-Control": "max-age=9" }', false],
    ['{ "Surrogate-Control": "max-age=9" }', false],
  ]
  for (const [fields, setsCookie] of said)
    add(
      `SSN-8 an answer with ${fields} sets ${setsCookie ? 'a' : 'no'} cookie: caches may ${setsCookie ? 'not ' : ''}share it`,
      at => on(at, `Context.response.headers = ${fields}`),
      async at => {
        const { status, headers } = await ask('GET', `${at}/page.html`)
        expect([status, 'set-cookie' in headers]).to.deep.equal([200, setsCookie])
      },
      { '/page.html': PAGE },
    )
  const twice = `<div itemscope itemtype="${LOAN}"><b itemprop="note">1</b><b itemprop="note">2</b></div>`
  const seen: [status: number, method: string, path: string, headers?: Record<string, string>, body?: string][] = [
    [400, 'POST', '/page.html', { Range: 'selector=html;placement=before' }, '<p>'],
    [412, 'PUT', '/page.html', { 'If-Match': '"x"' }, 'x'],
    [416, 'PUT', '/page.html', { Range: 'selector=#zz' }, '<p>'],
    [422, 'PUT', '/new.html', {}, twice],
    [404, 'DELETE', '/none'],
    [204, 'DELETE', '/page.html'],
    [201, 'PUT', '/made.html', {}, page('x')],
    [400, 'QUERY', '/page.html', {}, 'x'],
    [200, 'OPTIONS', '/page.html'],
  ]
  for (const [status, method, path, headers, body] of seen)
    add(
      `REA-10 processors see ${status} for ${method}`,
      at => on(at, 'Context.response.headers["X-Seen"] = String(Context.response.status)'),
      async at => {
        const r = await ask(method, at + path, headers, body)
        expect([r.headers['x-seen'], r.status]).to.deep.equal([String(status), status])
      },
      { '/page.html': PAGE },
    )
})
