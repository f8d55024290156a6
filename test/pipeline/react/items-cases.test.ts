/** Items that cannot be read in whole, and which requests are seen, case by case (REA-4 to REA-11). */

import { request as send } from 'node:http'
import { expect } from 'chai'
import { describe } from 'mocha'
import { type Case, caseByCase, type FilterCase, shows, TEAPOT, within } from './cases.ts'
import { meta, NS, page, processor, reaction, sessel, trigger } from './site.ts'

const bare = (name: string, program: string) => `<script itemprop="${name}" type="text/sessel">${program}</script>`

describe('Items and requests, case by case', () => {
  const server = caseByCase()
  const { add, ask, fires } = server
  const cases: Case[] = [
    [
      'SES-4 scripts in Sessel stand for items: a gate that stays shut, its otherwise, and a closed one',
      at =>
        within(at, {
          when: bare('when', 'Context.request.headers["X-Key"] == "s3"'),
          action: bare('action', TEAPOT),
          otherwise: bare('otherwise', shows('"no " + "key"')),
        }),
      async at => {
        expect((await ask('GET', `${at}/x`)).text).to.equal('no key')
        expect((await ask('GET', `${at}/x`, { 'X-Key': 's3' })).status).to.equal(418)
      },
    ],
    [
      'SES-4 a script of another language is no code: the trigger is left out',
      at =>
        within(at, {
          when: bare('when', 'true').replace('text/sessel', 'module'),
          action: bare('action', TEAPOT),
        }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(404),
    ],
    [
      'REA-4 nothing runs where all actions are dropped',
      at => within(at, { action: sessel('action', '1').replace('/Sessel', '/Python') }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(404),
    ],
    [
      'REA-4 code that does not parse is a failure when it runs',
      at => within(at, { action: '1 +' }),
      async at => {
        const r = await ask('GET', `${at}/x`)
        expect(r.status).to.equal(500)
        expect(r.text).to.match(/itemprop="variant"[^>]*>parse|content="parse"/)
      },
    ],
    [
      'REA-4 a processor that has otherwise alone is skipped',
      at => processor({ resource: `${at}/*`, when: 'false', otherwise: TEAPOT }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(404),
    ],
    [
      'REA-4 malformed items are stored over HTTP',
      () => '',
      async at => {
        const r = await ask(
          'PUT',
          `${at}/m.html`,
          {},
          page(
            `<div itemscope itemtype="${NS}/Trigger">${meta('method', 'get')}${meta('selector', ']]')}</div><div itemscope itemtype="${NS}/Processor"></div><div itemscope itemtype="${NS}/TransitionConstraint">${meta('property', 'q')}</div>`,
          ),
        )
        expect(r.status).to.equal(201)
        expect((await ask('GET', `${at}/m.html`)).status).to.equal(200)
      },
    ],
    [
      'REA-5 over HTTP, and until the element is deleted',
      () => '',
      async at => {
        expect((await ask('GET', `${at}/z`)).status).to.equal(404)
        expect(
          (await ask('PUT', `${at}/t.html`, {}, page(trigger({ resource: `${at}/z`, action: TEAPOT })))).status,
        ).to.equal(201)
        expect((await ask('GET', `${at}/z`)).status).to.equal(418)
        expect((await ask('DELETE', `${at}/t.html`, { Range: `selector=[itemtype="${NS}/Trigger"]` })).status).to.equal(
          204,
        )
        expect((await ask('GET', `${at}/z`)).status).to.equal(404)
      },
    ],
    [
      'REA-5 the request that stores a trigger does not run it',
      () => '',
      async at =>
        expect(
          (
            await ask(
              'PUT',
              `${at}/t.html`,
              {},
              page(within(at, { method: 'PUT' }) + processor({ resource: `${at}/*`, method: 'PUT', action: TEAPOT })),
            )
          ).status,
        ).to.equal(201),
    ],
    [
      'REA-11 names are compared by their bytes in UTF-8',
      _at => '',
      async at => {
        const says = (path: string, letter: string) =>
          server.put(
            at + path,
            page(trigger({ resource: `${at}/q`, action: `Context.all = (Context.all ?? "") + "${letter}"` })),
          )
        await says('/b.html', '5')
        await says('/a.html', '3')
        await says('/a-b.html', '2')
        await says('/B.html', '1')
        await says('/a/z.html', '4')
        await says('/\u{FF5E}.html', '7')
        await says('/\u{1F600}.html', '8')
        await says('/é.html', '6')
        await server.put(`${at}/\u{1FFFF}zz.html`, page(trigger({ resource: `${at}/q`, action: shows('Context.all') })))
        expect((await ask('GET', `${at}/q`)).text).to.equal('12345678')
      },
    ],
    [
      'REA-11 subtypes stand in the same order of the document',
      at =>
        `<div itemscope itemtype="${NS}/Schema">${meta('type', `https://s.example${at}`)}${meta('parent', `${NS}/Trigger`)}</div>${within(at, { action: 'Context.all = "1"' })}${reaction(`https://s.example${at}`, { resource: `${at}/*`, action: 'Context.all = Context.all + "2"' })}${within(at, { action: shows('Context.all + "3"') })}`,
      async at => expect((await ask('GET', `${at}/q`)).text).to.equal('123'),
    ],
  ]
  for (const each of cases) add(...each)
  const filtered: FilterCase[] = [
    [
      'REA-4 a trigger whose gate has no source is skipped',
      () => ({ when: `<div itemprop="when" itemscope itemtype="${NS}/Sessel"></div>` }),
      'GET',
      '/x',
      false,
    ],
    [
      'REA-4 a trigger whose gate is plain text is skipped',
      () => ({ when: '<meta itemprop="when" content="true">' }),
      'GET',
      '/x',
      false,
    ],
    [
      'REA-4 a trigger whose gate is of an unknown type is skipped',
      () => ({ when: sessel('when', 'true').replace('/Sessel', '/Python') }),
      'GET',
      '/x',
      false,
    ],
    [
      'REA-4 an unknown action is dropped, others run',
      () => ({ action: [sessel('action', '1').replace('/Sessel', '/Python'), TEAPOT] }),
      'GET',
      '/x',
      true,
    ],
    [
      'REA-4 a call without an address is dropped, others run',
      () => ({
        action: [
          `<div itemprop="action" itemscope itemtype="${NS}/HttpRequest">${meta('method', 'GET')}</div>`,
          TEAPOT,
        ],
      }),
      'GET',
      '/x',
      true,
    ],
    [
      'REA-4 a selector that does not parse matches nothing',
      () => ({ selector: 'p[' }),
      'GET',
      '/page.html',
      false,
      { Range: 'selector=p' },
    ],
    ['REA-6 triggers run for XML', () => ({}), 'GET', '/x.xml', true],
    ['REA-6 triggers run for OPTIONS', () => ({}), 'OPTIONS', '/page.html', true],
    ['REA-6 triggers run for QUERY', () => ({}), 'QUERY', '/page.html', true, { 'Content-Type': 'text/sessel' }, '1'],
    ['REA-6 triggers run for a method that the page has not', () => ({}), 'PATCH', '/page.html', true, {}, 'x'],
    [
      'REA-6 a selector that does not parse ends a request before triggers',
      () => ({}),
      'PUT',
      '/page.html',
      false,
      { Range: 'selector=p[' },
      '<p>x</p>',
    ],
  ]
  for (const each of filtered) fires(...each)
  const requests: Case[] = [
    [
      'REA-6 a body that is too large runs no trigger',
      at => within(at, {}),
      async at => {
        const r = await new Promise<number>((ok, no) => {
          const o = send(
            `${server.site.url}${at}/x`,
            { method: 'PUT', headers: { 'Content-Length': '99999999999' } },
            answer => {
              answer.resume()
              ok(answer.statusCode ?? 0)
            },
          )
          o.on('error', no)
          o.flushHeaders()
        })
        expect(r).to.equal(413)
      },
    ],
    [
      'REA-6 a path with bad escapes runs no trigger',
      at => within(at, {}),
      async at => expect((await ask('GET', `${at}/%zz`)).status).to.equal(400),
    ],
  ]
  for (const each of requests) add(...each)
})
