/** Gates, actions and what code sees, case by case (REA-30 to REA-43). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { type Case, caseByCase, jsShows, PAGE, shows, thrown, within } from './cases.ts'
import { javascript, NS, page, processor, sessel, trigger } from './site.ts'

describe('Code, case by case', () => {
  const server = caseByCase()
  const { add, ask } = server
  const gates: [when: string[], status: number][] = [
    [['{}'], 409],
    [['0.0'], 409],
    [['"false"'], 418],
    [['[0]'], 418],
    [[' '], 409],
    [['1', '0', '1'], 409],
    [['1', '"a"'], 418],
    [[`\${nothing-of-it}`], 409],
    [['Context.request.headers["x-none"]'], 409],
    [['Context.request.query.e'], 409],
    [['Context.request.query.n'], 418],
  ]
  for (const [when, status] of gates)
    add(
      `REA-30 gates ${when.join(' and ')} ${status === 418 ? 'open' : 'close'}`,
      at => within(at, { when, otherwise: thrown('status: 409') }),
      async at => expect((await ask('GET', `${at}/x?e=&n=0`)).status).to.equal(status),
    )
  const modules: [title: string, source: string, status: number][] = [
    ['REA-30 in JavaScript [] opens', 'export default () => []', 418],
    ['REA-30 in JavaScript {} opens', 'export default () => ({})', 418],
    ['REA-30 in JavaScript NaN closes', 'export default () => NaN', 409],
    ['REA-30 in JavaScript undefined closes', 'export default () => {}', 409],
    ['REA-30 in JavaScript "0" opens', 'export default () => "0"', 418],
    [
      'REA-30 in JavaScript a promise that never settles is an error',
      'export default () => new Promise(() => {})',
      500,
    ],
    ['REA-30 in JavaScript the value of a promise opens', 'export default async () => { await 1; return 1 }', 418],
    ['REA-30 in JavaScript a function opens', 'export default () => () => 0', 418],
    ['REA-30 in JavaScript 0n closes', 'export default () => 0n', 409],
    ['REA-30 in JavaScript a symbol opens', 'export default () => Symbol("x")', 418],
    [
      'REA-30 in JavaScript a thrown response is an error',
      `export default () => { throw { itemtype: "${NS}/HTTPResponse", status: 202 } }`,
      500,
    ],
    ['REA-30 in JavaScript a module without default export is an error', 'export const x = 1', 500],
    ['REA-30 in JavaScript a default export that is no function is an error', 'export default 5', 500],
  ]
  for (const [title, source, status] of modules)
    add(
      title,
      at => within(at, { when: javascript('when', source), otherwise: thrown('status: 409') }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(status),
    )
  const ofModules: [expression: string, value?: string][] = [
    ['arguments.length', '1'],
    ['typeof fetch', 'undefined'],
    ['typeof setTimeout', 'undefined'],
    ['typeof process', 'undefined'],
    ['typeof require', 'undefined'],
    ['typeof HTTPResponse', 'undefined'],
    ['typeof Buffer', 'undefined'],
    ['ctx.request.path'],
    ['ctx.request.query.q', '1'],
    ['ctx.request.query.zz', 'undefined'],
    ['ctx.response', 'undefined'],
    ['JSON.stringify(ctx.request.params)', '{}'],
    ['JSON.stringify(ctx.request.auth.claims)', '{}'],
    ['ctx.request.auth.username', 'undefined'],
    ['Object.keys(ctx.request.headers).filter(k => k.startsWith("x-")).join()', 'x-abc'],
    ['ctx.request.headers["X-ABC"] + ctx.request.headers["x-aBc"]', 'vv'],
    ['"x-abc" in ctx.request.headers', 'true'],
    ['JSON.stringify(ctx.request.body)', '""'],
  ]
  for (const [expression, value] of ofModules)
    add(
      `REA-32, REA-40 JavaScript ${expression}`,
      at => within(at, { action: jsShows(expression) }),
      async at => expect((await ask('GET', `${at}/x?q=1&q=2`, { 'X-Abc': 'v' })).text).to.equal(value ?? `${at}/x`),
    )
  const ofSessel: [expression: string, value?: string][] = [
    ['Context.request.path'],
    ['Context.request.query.q', '1 2'],
    ['Context.request.query["ä"]', '+'],
    ['Context.request.query.none', 'null'],
    ['Context.request.headers["nope"]', 'null'],
    ['Context.response.status', 'null'],
    ['Context.request.auth.claims.email', 'null'],
    ['Context.request.auth.username', 'null'],
    ['Context.request.auth.roles == []', 'true'],
    ['Context.request.headers["cookie"]', 'a=1; b=2'],
    ['Context.zzz', 'null'],
    ['Context.request.headers["x-many"]', 'a, b'],
    ['Context.request.params.zz', 'null'],
  ]
  const fields = { 'X-Abc': 'v', Cookie: 'a=1; b=2', 'X-Many': ['a', 'b'] }
  for (const [expression, value] of ofSessel)
    add(
      `REA-40, REA-41 Sessel ${expression}`,
      at => within(at, { action: shows(expression) }),
      async at => expect((await ask('GET', `${at}/x?q=1+2&q=2&%C3%A4=%2B`, fields)).text).to.equal(value ?? `${at}/x`),
    )
  const cases: Case[] = [
    [
      'REA-30 gates of both languages',
      at => within(at, { when: [sessel('when', 'true'), javascript('when', 'export default () => true')] }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(418),
    ],
    [
      'REA-30 after a closed gate later triggers run',
      at => within(at, { when: 'false' }) + within(at, { action: thrown('status: 299') }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(299),
    ],
    [
      'REA-32 an import of anything but a schema is refused',
      at => within(at, { action: javascript('action', 'import fs from "node:fs"; export default () => {}') }),
      async at => {
        const r = await ask('GET', `${at}/x`)
        expect(r.status).to.equal(500)
        expect(r.text).to.include('import-not-allowed')
      },
    ],
    [
      'REA-32 import() is refused',
      at => within(at, { action: javascript('action', 'export default async () => { await import("node:fs") }') }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(500),
    ],
    ...['Context.request.headers["x-seen"] = "1"', 'Context.request.path = "/y"'].map(
      (program): Case => [
        `REA-43 the request is to be read: ${program}`,
        at => within(at, { action: program }),
        async at => {
          const r = await ask('GET', `${at}/x`)
          expect(r.status).to.equal(500)
          expect(r.text).to.include('nothing can be assigned to a member of this Dictionary, which is to be read')
        },
      ],
    ),
    [
      'REA-33 self is unbound',
      at => within(at, { action: shows('self') }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(500),
    ],
    [
      'REA-33 claims have no name of their own',
      at => within(at, { action: shows('auth.sub') }),
      async at => expect((await ask('GET', `${at}/x`)).status).to.equal(500),
    ],
    [
      'REA-42 the status is a number',
      at => processor({ resource: `${at}/*`, action: shows('Context.response.status + 1') }),
      async at => expect((await ask('GET', `${at}/x`)).text).to.equal('405'),
    ],
    [
      'REA-42 fields of the response are found in any case',
      at => processor({ resource: `${at}/*`, action: shows('Context.response.headers["CONTENT-type"]') }),
      async at => expect((await ask('GET', `${at}/page.html`)).text).to.equal('text/html; charset=utf-8'),
      { '/page.html': PAGE },
    ],
    [
      'REA-42 fields of the response are found in any case by JavaScript',
      at =>
        processor({
          resource: `${at}/*`,
          action: jsShows('ctx.response.headers["etag"] === ctx.response.headers.ETag && typeof ctx.response.status'),
        }),
      async at => expect((await ask('GET', `${at}/page.html`)).text).to.equal('number'),
      { '/page.html': PAGE },
    ],
    [
      'REA-42 a HEAD of an element shows the element',
      at => processor({ resource: `${at}/*`, action: 'Context.response.headers["X-B"] = Context.response.body' }),
      async at => {
        const r = await ask('HEAD', `${at}/page.html`, { Range: 'selector=#p1' })
        expect([r.status, r.headers['x-b'], r.text]).to.deep.equal([206, '<p id="p1">one</p>', ''])
      },
      { '/page.html': PAGE },
    ],
    [
      'REA-21, REA-40 a route is matched by the concrete path; its parameters',
      at => trigger({ resource: `${at}/u/ann.html`, action: shows('Context.request.params.name') }),
      async at => expect((await ask('GET', `${at}/u/ann.html`)).text).to.equal('ann'),
      { '/u/:name.html': page('x') },
    ],
    [
      'REA-40 parameters of a route in JavaScript',
      at => trigger({ resource: `${at}/u/*`, action: jsShows('ctx.request.params.name') }),
      async at => expect((await ask('GET', `${at}/u/ann.html`)).text).to.equal('ann'),
      { '/u/:name.html': page('y') },
    ],
  ]
  for (const each of cases) add(...each)
})
