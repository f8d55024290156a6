/** Outbound requests, case by case (REA-80 to REA-88). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { type Case, caseByCase, valuesOf } from './cases.ts'
import type { Got } from './receiver.ts'
import { javascript, meta, NS, processor, request, sessel, trigger } from './site.ts'

describe('Outbound requests, case by case', () => {
  const server = caseByCase()
  const { add, arrived, ask, settled } = server
  const call = (at: string, fields: Record<string, string>, more = '') =>
    trigger({ resource: `${at}/go`, action: request('action', { url: server.to.url + at, ...fields }, more) })
  const pair = (key: string, value: string) =>
    `<div itemprop="header" itemscope itemtype="${NS}/Pair">${meta('key', key)}${meta('value', value)}</div>`
  const sent: [title: string, reactions: (at: string) => string, check: (got: Got, at: string) => unknown][] = [
    ['REA-80 the method in any case', at => call(at, { method: ' pAtch ' }), g => expect(g.method).to.equal('PATCH')],
    [
      'REA-80 DELETE sends a body',
      at => call(at, { method: 'DELETE', body: 'b' }),
      g => expect([g.method, g.body]).to.deep.equal(['DELETE', 'b']),
    ],
    [
      'REA-80 GET sends no body',
      at => call(at, { method: 'get', body: 'b' }),
      g => expect([g.body, g.headers['content-length']]).to.deep.equal(['', undefined]),
    ],
    [
      'REA-80 the type is sent exactly',
      at => call(at, { 'content-type': 'Application/JSON;  charset=X', body: '{}' }),
      g => expect(g.headers['content-type']).to.equal('Application/JSON;  charset=X'),
    ],
    [
      'REA-80 the body is sent unchanged as UTF-8',
      at => call(at, { body: ' ä☃\n ' }),
      g => expect(g.body).to.equal(' ä☃\n '),
    ],
    [
      'REA-80 the address is used as written',
      at => call(at, { url: `${server.to.url}${at}/a?b=1&c=%20` }),
      (g, at) => expect(g.url).to.equal(`${at}/a?b=1&c=%20`),
    ],
    [
      'REA-80 HTTPRequest means the same',
      at => call(at, {}).replace('/HttpRequest', '/HTTPRequest'),
      g => expect(g.method).to.equal('POST'),
    ],
    [
      'REA-80 fields as lines',
      at => call(at, {}, meta('header', 'X-A: b: c') + meta('header', 'X-E:')),
      g => expect([g.headers['x-a'], g.headers['x-e']]).to.deep.equal(['b: c', '']),
    ],
    [
      'REA-82 fields with repeats, in their order and case',
      at => call(at, {}, pair('X-B', '1') + pair('x-a', '2') + pair('X-B', '3')),
      g => {
        const i = g.fields.indexOf('X-B')
        expect(g.fields.slice(i, i + 6)).to.deep.equal(['X-B', '1', 'x-a', '2', 'X-B', '3'])
      },
    ],
    [
      'REA-82 a Content-Type field is sent in place of the property',
      at => call(at, { 'content-type': 'a/b', body: 'x' }, pair('CONTENT-TYPE', 'c/d')),
      g => expect(valuesOf(g.fields, 'content-type')).to.deep.equal(['c/d']),
    ],
    [
      'REA-82 fields of the connection are not sent',
      at =>
        call(
          at,
          { body: 'x' },
          [
            'Host',
            'Content-Length',
            'Transfer-Encoding',
            'Connection',
            'Keep-Alive',
            'TE',
            'Trailer',
            'Upgrade',
            'Expect',
            'Proxy-Authorization',
            'X Bad',
          ]
            .map(n => pair(n, '5'))
            .join('') + pair('X-Ok', '1'),
        ),
      g => {
        expect(g.headers['x-ok']).to.equal('1')
        expect(g.headers.host).to.equal(new URL(server.to.url).host)
        expect(g.headers['content-length']).to.equal('1')
        for (const n of [
          'te',
          'trailer',
          'upgrade',
          'expect',
          'proxy-authorization',
          'keep-alive',
          'transfer-encoding',
        ])
          expect(g.headers[n], n).to.equal(undefined)
      },
    ],
    [
      'REA-82 no cookies; agent and delivery id',
      at => call(at, {}),
      g => {
        expect(g.headers.cookie).to.equal(undefined)
        expect(g.headers['user-agent']).to.equal('platform')
        expect(g.headers['platform-delivery']).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-/)
      },
    ],
    ['REA-81 a number becomes text', at => call(at, {}, sessel('body', '1.5 * 2')), g => expect(g.body).to.equal('3')],
    [
      'REA-81 a number of JavaScript becomes text',
      at => call(at, {}, javascript('body', 'export default () => 5')),
      g => expect(g.body).to.equal('5'),
    ],
  ]
  for (const [title, reactions, check] of sent)
    add(title, reactions, async at => {
      await ask('GET', `${at}/go`)
      const [got] = await arrived(at)
      if (!got) throw new Error('Nothing has arrived.')
      check(got, at)
    })
  const kept: [title: string, reactions: (at: string) => string, status: number][] = [
    ['REA-80 an unknown method is dropped', at => call(at, { method: 'OPTIONS' }), 404],
    ['REA-80 a blank address is dropped', at => call(at, { url: ' ' }), 404],
    ['REA-80 another scheme is dropped', at => call(at, { url: `ftp://127.0.0.1${at}` }), 404],
    [
      'REA-80 an address with credentials is dropped',
      at => call(at, { url: server.to.url.replace('//', '//u:p@') + at }),
      404,
    ],
    ['REA-80 a relative address is dropped', at => call(at, { url: 'relative' }), 404],
    [
      'REA-80 an address that is null is dropped',
      at =>
        trigger({
          resource: `${at}/go`,
          action: `<div itemprop="action" itemscope itemtype="${NS}/HttpRequest">${sessel('url', 'null')}</div>`,
        }),
      404,
    ],
    ['REA-81 a value that fails is a failure, and nothing is sent', at => call(at, {}, sessel('body', '1 / 0')), 500],
  ]
  for (const [title, reactions, status] of kept)
    add(title, reactions, async at => {
      expect((await ask('GET', `${at}/go`)).status).to.equal(status)
      expect(await settled(at)).to.have.length(0)
    })
  const cases: Case[] = [
    [
      'REA-83 calls of triggers and processors are all sent',
      at =>
        processor({ resource: `${at}/go`, action: request('action', { url: `${server.to.url}${at}/3` }) }) +
        call(at, { url: `${server.to.url}${at}/1` }) +
        call(at, { url: `${server.to.url}${at}/2` }),
      async at => {
        await ask('GET', `${at}/go`)
        const got = await arrived(at, 3)
        expect(
          got
            .map(g => g.url.slice(-1))
            .sort()
            .join(''),
        ).to.equal('123')
      },
    ],
    [
      'REA-88 a call to an own path is anonymous, with a session of its own',
      at =>
        call(at, { url: `${at}/inner?x=1`, method: 'PUT', body: '<p>in</p>' }) +
        trigger({
          resource: `${at}/inner`,
          method: 'PUT',
          action: request(
            'action',
            { url: server.to.url + at },
            sessel(
              'body',
              'Context.request.query.x + "|" + String(Context.request.headers["cookie"] == null) + "|" + Context.request.headers["platform-delivery"] + "|" + Context.request.headers["user-agent"] + "|" + String(Context.request.auth.roles.count()) + "|" + Context.request.body',
            ),
          ),
        }),
      async at => {
        await ask('GET', `${at}/go`, { Cookie: 'a=1' })
        const [g] = await arrived(at)
        expect(g?.body).to.match(/^1\|true\|[0-9a-f-]{36}\|platform\|0\|<p>in<\/p>$/)
      },
    ],
    [
      'REA-84 odd numbers of retries are none',
      at => ['-1', 'x', '1.5', ''].map(r => call(at, { url: `${server.to.url}${at}`, retry: r })).join(''),
      async at => {
        await ask('GET', `${at}/go`)
        expect(await arrived(at, 4)).to.have.length(4)
      },
    ],
  ]
  for (const each of cases) add(...each)
})
