/** Thrown responses and failures, case by case (REA-50 to REA-55). */

import { expect } from 'chai'
import { describe } from 'mocha'
import {
  type Case,
  caseByCase,
  IMPORTS,
  jsThrown,
  PAGE,
  type Raw,
  shows,
  TEAPOT,
  thrown,
  valuesOf,
  within,
} from './cases.ts'
import { javascript, NS, processor } from './site.ts'

describe('Thrown responses, case by case', () => {
  const server = caseByCase()
  const { add, ask } = server
  const sent: [title: string, fields: string, check: (r: Raw) => unknown, method?: string][] = [
    ['REA-52 status 599', 'status: 599', r => expect(r.status).to.equal(599)],
    ['REA-52 status 199 is 500', 'status: 199', r => expect(r.status).to.equal(500)],
    ['REA-52 status 600 is 500', 'status: 600', r => expect(r.status).to.equal(500)],
    ['REA-52 status 201.0 is 201', 'status: 201.0, body: "x"', r => expect(r.status).to.equal(201)],
    ['REA-52 status 200.5 is 500', 'status: 200.5, body: "x"', r => expect(r.status).to.equal(500)],
    ['REA-52 status null is 500', 'status: null, body: "x"', r => expect(r.status).to.equal(500)],
    ['REA-52 304 has no body', 'status: 304, body: "x"', r => expect([r.status, r.text]).to.deep.equal([304, ''])],
    [
      'REA-52 204 has neither body nor length',
      'status: 204, body: "x"',
      r => expect([r.status, r.text, r.headers['content-length']]).to.deep.equal([204, '', undefined]),
    ],
    [
      'REA-52 the answer to HEAD has the length and no body',
      'status: 403, body: "xyz"',
      r => expect([r.status, r.text, r.headers['content-length']]).to.deep.equal([403, '', '3']),
      'HEAD',
    ],
    [
      'REA-52 the body is sent as UTF-8',
      'status: 200, body: "ä☃"',
      r => expect([r.text, r.headers['content-length']]).to.deep.equal(['ä☃', '5']),
    ],
    [
      'REA-52 markup is sent as given',
      'status: 200, body: "<p>a<p>b & c"',
      r => expect(r.text).to.equal('<p>a<p>b & c'),
    ],
    [
      'REA-52 nothing of the answer that is replaced remains',
      'status: 200',
      r =>
        expect([
          r.headers.etag,
          r.headers['last-modified'],
          r.headers['content-range'],
          r.headers['cache-control'],
        ]).to.deep.equal([undefined, undefined, undefined, 'no-store']),
    ],
    [
      'REA-52 a thrown ETag is sent',
      'status: 200, header: new Pair { key: "ETag", value: "\\"x\\"" }',
      r => expect(r.headers.etag).to.equal('"x"'),
    ],
    [
      'REA-50 a field that is thrown twice is sent twice',
      'status: 200, header: new Pair { key: "Link", value: "<a>" }, header: new Pair { key: "Link", value: "<b>" }',
      r => expect(valuesOf(r.fields, 'link')).to.deep.equal(['<a>', '<b>']),
    ],
    [
      'REA-50 fields as a list',
      'status: 200, header: [new Pair { key: "X-A", value: "1" }, new Pair { key: "X-B", value: "2" }]',
      r => expect([r.headers['x-a'], r.headers['x-b']]).to.deep.equal(['1', '2']),
    ],
    [
      'REA-53 names that are no tokens and values that break lines are dropped',
      'status: 200, header: new Pair { key: "X A", value: "1" }, header: new Pair { key: "", value: "1" }, header: new Pair { key: "X-N", value: "a\\nb" }, header: new Pair { key: "X-R", value: "a\\rb" }, header: new Pair { key: "X-T", value: "a\\tb" }, header: new Pair { key: "X:Y", value: "1" }, header: new Pair { key: "X-OK", value: "1" }',
      r => {
        expect(r.headers['x-ok']).to.equal('1')
        expect(r.headers['x-t']).to.equal('a\tb')
        expect([r.headers['x-n'], r.headers['x-r'], r.headers['x a']]).to.deep.equal([undefined, undefined, undefined])
      },
    ],
    [
      'REA-53 fields of the connection are dropped in any case',
      'status: 200, body: "abc", header: new Pair { key: "content-length", value: "1" }, header: new Pair { key: "Transfer-Encoding", value: "chunked" }, header: new Pair { key: "CONNECTION", value: "close" }, header: new Pair { key: "Upgrade", value: "h2c" }, header: new Pair { key: "TE", value: "x" }, header: new Pair { key: "Trailer", value: "x" }, header: new Pair { key: "Keep-Alive", value: "x" }',
      r => {
        expect([r.text, r.headers['content-length']]).to.deep.equal(['abc', '3'])
        expect(r.headers.upgrade).to.equal(undefined)
        expect(r.headers.te).to.equal(undefined)
        expect(r.headers.connection).not.to.equal('close')
      },
    ],
    [
      'REA-53 cookies are sent, but for that of the session with blanks before it',
      'status: 200, header: new Pair { key: "Set-Cookie", value: "a=1" }, header: new Pair { key: "set-cookie", value: " platform_session=x; Path=/" }, header: new Pair { key: "Set-Cookie", value: "b=2" }',
      r => {
        const all = r.headers['set-cookie'] as string[]
        expect(all.filter(c => /^(a|b)=/.test(c))).to.have.length(2)
        expect(all.some(c => /platform_session=x(;|$)/.test(c))).to.equal(false)
      },
    ],
  ]
  for (const [title, fields, check, method = 'GET'] of sent)
    add(
      title,
      at => within(at, { action: thrown(fields) }),
      async at => check(await ask(method, `${at}/page.html`)),
      { '/page.html': PAGE },
    )
  const ofModules: [title: string, fields: string, check: (r: Raw) => unknown][] = [
    ['body ""', 'status: 299, message: "m", body: ""', r => expect(r.text).to.equal('')],
    [
      'array header',
      'status: 299, headers: { "X-A": ["1", "2"], "x-b": 3 }',
      r => {
        expect(valuesOf(r.fields, 'x-a')).to.deep.equal(['1', '2'])
        expect(r.headers['x-b']).to.equal('3')
      },
    ],
    ['status NaN', 'status: NaN', r => expect(r.status).to.equal(500)],
    ['status 99', 'status: 99', r => expect(r.status).to.equal(500)],
    ['body null is message', 'status: 299, body: null, message: "m"', r => expect(r.text).to.equal('m')],
    [
      'CRLF',
      'status: 299, headers: { "X-Bad": "a\\r\\nSet-Cookie: x=1", "X-Ok": "1" }',
      r => expect([r.headers['x-bad'], r.headers['x-ok']]).to.deep.equal([undefined, '1']),
    ],
  ]
  for (const [title, fields, check] of ofModules)
    add(
      `REA-51 thrown by JavaScript: ${title}`,
      at => within(at, { action: jsThrown(fields) }),
      async at => check(await ask('GET', `${at}/x`)),
    )
  const cases: Case[] = [
    [
      'REA-51 a promise rejected with a response answers',
      at =>
        within(at, {
          action: javascript(
            'action',
            `export default async () => { throw { schema_url: "${NS}/HTTPResponse", status: 299 } }`,
          ),
        }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(299),
    ],
    [
      'REA-51 an inherited item type is none',
      at =>
        within(at, {
          action: javascript(
            'action',
            `export default () => { throw Object.create({ itemtype: "${NS}/HTTPResponse", status: 299 }) }`,
          ),
        }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(500),
    ],
    [
      'REA-50 a caught response is the value of the error',
      at =>
        within(at, {
          action: [
            `${IMPORTS} try { throw new HTTPResponse { status: 299 } } catch (e) { Context.caught = e.status }`,
            shows('Context.caught'),
          ],
        }),
      async at => expect((await ask('GET', `${at}/x`)).text).to.equal('299'),
    ],
    [
      'REA-50 thrown by a function that a list calls',
      at =>
        within(at, {
          action: `${IMPORTS} let f = () => { throw new HTTPResponse { status: 298 } }; [1].map(x => f())`,
        }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(298),
    ],
    [
      'REA-55 a thrown text is a failure',
      at => within(at, { action: 'throw "x"' }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(500),
    ],
    [
      'REA-55 no processor runs after a failed trigger',
      at => within(at, { action: '1 / 0' }) + processor({ resource: `${at}/*`, action: TEAPOT }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(500),
    ],
    [
      'REA-55, HTTP-172 a module without end is 503 in a processor',
      at => processor({ resource: `${at}/*`, action: javascript('action', 'export default () => { for (;;); }') }),
      async at => {
        const r = await ask('GET', `${at}/x`)
        expect(r.status).to.equal(503)
        expect(r.text).to.include('BudgetExceeded')
      },
    ],
    [
      'REA-55 a failed processor of a HEAD sends no body',
      at => processor({ resource: `${at}/*`, action: '1 / 0' }),
      async at => {
        const r = await ask('HEAD', `${at}/page.html`)
        expect([r.status, r.text]).to.deep.equal([500, ''])
      },
      { '/page.html': PAGE },
    ],
  ]
  for (const each of cases) add(...each)
})
