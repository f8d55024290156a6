/** Triggers through a real server: discovery, filters, gates, actions and thrown responses. */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { put, remove } from '../../support/content.ts'
import {
  answering,
  NS,
  page,
  processor,
  type ReactingSite,
  type ReactionFields,
  reactingSite,
  reaction,
  sessel,
  trigger,
} from './site.ts'

let site: ReactingSite
afterEach(() => site?.close())

const TEAPOT = answering(418, 'caught')
const PAGE = page('<main><article id="a1">one</article><p id="p1">two</p></main>')

/** A site with one trigger. */
const withTrigger = (fields: ReactionFields) =>
  reactingSite({ '/page.html': PAGE, '/t.html': page(trigger({ action: TEAPOT, ...fields })) })

describe('Where reactions are found', () => {
  it('REA-2 in any stored document: HTML, XML, nested, hidden or not; not in a template', async () => {
    const xml = `<r><div itemscope="" itemtype="${NS}/Trigger"><meta itemprop="resource" content="/x1"/><div itemprop="action" itemscope="" itemtype="${NS}/Sessel"><script itemprop="source">${TEAPOT.replaceAll('&', '&amp;')}</script></div></div></r>`
    site = await reactingSite({
      '/deep/er/t.html': page(`<ul><li><b>${trigger({ resource: '/x2', action: TEAPOT })}</b></li></ul>`),
      '/t.xml': xml,
      '/hidden.html': page(`<template>${trigger({ resource: '/x3', action: TEAPOT })}</template>`),
    })
    expect((await site.ask('GET', '/x1')).status).to.equal(418)
    expect((await site.ask('GET', '/x2')).status).to.equal(418)
    expect((await site.ask('GET', '/x3')).status).to.equal(404)
  })

  it('REA-2 a type that a schema derives from a trigger', async () => {
    const type = 'https://site.example/Guard'
    const schema = (name: string, parent: string) =>
      `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${name}"><meta itemprop="parent" content="${parent}"></div>`
    site = await reactingSite({
      '/t.html': page(reaction(type, { resource: '/x', action: TEAPOT })),
    })
    expect((await site.ask('GET', '/x')).status).to.equal(404)
    await put(
      site,
      '/schema.html',
      page(schema('https://site.example/Base', `${NS}/Trigger`) + schema(type, 'https://site.example/Base')),
    )
    expect((await site.ask('GET', '/x')).status).to.equal(418)
    await remove(site, '/schema.html')
    expect((await site.ask('GET', '/x')).status).to.equal(404)
  })

  it('REA-4 what cannot be read is skipped, and stored all the same', async () => {
    site = await reactingSite({})
    const broken = [
      trigger({ resource: '/x' }),
      processor({ resource: '/x' }),
      `<div itemscope itemtype="${NS}/Trigger"><meta itemprop="when" content="true">${sessel('action', TEAPOT)}</div>`,
      `<div itemscope itemtype="${NS}/Trigger"><div itemprop="when" itemscope itemtype="${NS}/Sessel"></div>${sessel('action', TEAPOT)}</div>`,
      `<div itemscope itemtype="${NS}/Trigger"><div itemprop="action" itemscope itemtype="${NS}/Other"></div></div>`,
      trigger({ selector: ':::', action: TEAPOT }),
    ]
    const stored = await site.ask('PUT', '/t.html', { body: page(broken.join('')) })
    expect(stored.status).to.equal(201)
    const read = await site.ask('GET', '/t.html', { headers: { Range: 'selector=body' } })
    expect(read.status).to.equal(206)
  })

  it('REA-5 counts from the next request, and stops with its removal; kept answers know of it', async () => {
    site = await reactingSite({ '/page.html': PAGE })
    for (let round = 0; round < 3; round++) {
      expect((await site.ask('GET', '/page.html')).status).to.equal(200)
      expect((await site.ask('GET', '/page.html')).status).to.equal(200)
      await put(site, '/t.html', page(trigger({ resource: '/page.html', action: TEAPOT })))
      expect((await site.ask('GET', '/page.html')).status).to.equal(418)
      await remove(site, '/t.html')
    }
  })

  it('REA-6 for every method and kind of target; not on the mount, not on reserved paths', async () => {
    site = await withTrigger({})
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'OPTIONS', 'QUERY'])
      for (const path of ['/page.html', '/missing', '/style.css', '/directory/']) {
        const headers: Record<string, string> = method === 'MOVE' ? { Destination: '/elsewhere' } : {}
        expect((await site.ask(method, path, { headers })).status, `${method} ${path}`).to.equal(418)
      }
    expect((await site.ask('GET', '/.platform/nothing')).status).to.equal(404)
    const authorization = `Basic ${Buffer.from(`${site.user}:${site.password}`).toString('base64')}`
    const mounted = await fetch(`${site.mountUrl}/page.html`, { headers: { authorization } })
    expect(mounted.status).to.equal(200)
  })

  it('REA-10 a refused request runs nothing; a refused element neither', async () => {
    site = await reactingSite({
      '/rules.html': page(
        `<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="method" content="PUT"><meta itemprop="resource" content="/page.html"><meta itemprop="selector" content="#p1"><meta itemprop="action" content="Allow"></div>`,
      ),
      '/page.html': PAGE,
      '/t.html': page(
        trigger({ method: ['PUT', 'DELETE'], action: TEAPOT }) +
          processor({ method: ['PUT', 'DELETE'], action: TEAPOT }),
      ),
    })
    const element = (selector: string) =>
      site.ask('PUT', '/page.html', { headers: { Range: `selector=${selector}` }, body: '<p id="p1">new</p>' })
    expect((await site.ask('DELETE', '/page.html')).status).to.equal(401)
    expect((await element('#a1')).status).to.equal(401)
    expect((await element('#p1')).status).to.equal(418)
  })

  it('REA-11 by path of the document byte by byte, then by place; a throw ends the chain', async () => {
    const add = (letter: string) => `Context.seen = (Context.seen ?? "") + "${letter}"`
    site = await reactingSite({
      '/b.html': page(trigger({ action: add('c') }) + trigger({ action: [add('d'), add('e')] })),
      '/B.html': page(trigger({ action: add('a') })),
      '/Z.html': page(trigger({ action: add('b') })),
      '/z.html': page(
        trigger({
          action: `@schema HTTPResponse url("${NS}/HTTPResponse"); throw new HTTPResponse { status: 200, body: Context.seen }`,
        }),
      ),
      '/zz.html': page(trigger({ action: answering(500, 'too late') })),
      '/ä.html': page(trigger({ action: answering(500, 'too late') })),
    })
    expect((await site.ask('GET', '/x')).text).to.equal('abcde')
  })
})

describe('Filters of triggers', () => {
  const cases: [title: string, fields: ReactionFields, asked: [method: string, path: string], fires: boolean][] = [
    ['REA-20 absent and blank filters match all', { resource: ' ', method: '' }, ['GET', '/x'], true],
    ['REA-20 all filters must match', { resource: '/a/*', method: 'PUT' }, ['GET', '/a/x'], false],
    ['REA-20 of several values one', { resource: ['/b', '/a/*'], method: ['PUT', 'GET'] }, ['GET', '/a/x'], true],
    ['REA-21 a glob is anchored', { resource: '/a' }, ['GET', '/a/b'], false],
    ['REA-21 a star crosses slashes', { resource: '/a/*' }, ['GET', '/a/b/c'], true],
    ['REA-21 a star alone matches every path', { resource: '*' }, ['GET', '/a/b'], true],
    ['REA-21 the decoded path without query', { resource: '/ä b' }, ['GET', '/%C3%A4%20b?x=1'], true],
    ['REA-22 in any case', { method: 'gEt' }, ['GET', '/x'], true],
    ['REA-22 GET means HEAD', { method: 'GET' }, ['HEAD', '/x'], true],
    ['REA-22 HEAD does not mean GET', { method: 'HEAD' }, ['GET', '/x'], false],
    ['REA-22 a star matches all', { method: '*' }, ['DELETE', '/x'], true],
    ['REA-24 a status on a trigger is ignored', { status: '404' }, ['GET', '/page.html'], true],
  ]
  for (const [title, fields, [method, path], fires] of cases)
    it(title, async () => {
      site = await withTrigger(fields)
      const { status } = await site.ask(method, path)
      if (fires) expect(status).to.equal(418)
      else expect(status).not.to.equal(418)
    })

  const selectors: [filter: string, asked: string | undefined, fires: boolean][] = [
    ['article', '#a1', true],
    ['article', '#p1', false],
    ['article', '#none', false],
    ['article', undefined, true],
    ['main > :first-child', '#a1', true],
  ]
  for (const [filter, asked, fires] of selectors)
    it(`REA-23 ${filter} for a request ${asked === undefined ? 'without selector' : `for ${asked}`}`, async () => {
      site = await withTrigger({ selector: filter })
      for (const method of ['GET', 'DELETE']) {
        const headers: Record<string, string> = asked === undefined ? {} : { Range: `selector=${asked}` }
        const { status } = await site.ask(method, '/page.html', { headers })
        if (fires) expect(status, method).to.equal(418)
        else expect(status, method).not.to.equal(418)
      }
    })

  it('REA-23 any match of a multi-match read; the anchor of a POST, the source of a MOVE', async () => {
    site = await withTrigger({ selector: '#p1' })
    const multi = { Range: 'selector=main > *', Accept: 'multipart/mixed' }
    expect((await site.ask('GET', '/page.html', { headers: multi })).status).to.equal(418)
    const one = { Range: 'selector=main > *' }
    expect((await site.ask('GET', '/page.html', { headers: one })).status).to.equal(206)
    const post = (anchor: string) =>
      site.ask('POST', '/page.html', { headers: { Range: `selector=${anchor}` }, body: '<i>x</i>' })
    expect((await post('#p1')).status).to.equal(418)
    expect((await post('#a1')).status).to.equal(206)
    const move = (source: string, to: string) =>
      site.ask('MOVE', '/page.html', {
        headers: {
          Range: `selector=${source}`,
          Destination: '/page.html',
          'Destination-Range': `selector=${to};placement=after`,
        },
      })
    expect((await move('#p1', '#a1')).status).to.equal(418)
    expect((await move('#a1', '#p1')).status).to.equal(204)
  })
})

describe('Gates and actions', () => {
  const truth: [value: string, open: boolean][] = [
    ['null', false],
    ['false', false],
    ['0', false],
    ['""', false],
    ['[]', false],
    ['"0"', true],
    ['1', true],
    ['Context.request.method == "GET"', true],
  ]
  for (const [value, open] of truth)
    it(`REA-30 ${value} ${open ? 'opens' : 'closes'}`, async () => {
      site = await withTrigger({ when: value, otherwise: answering(409, 'otherwise') })
      expect((await site.ask('GET', '/x')).status).to.equal(open ? 418 : 409)
    })

  it('REA-30 without a gate otherwise is never looked at; a closed gate without otherwise does nothing', async () => {
    site = await reactingSite({
      '/t.html': page(
        trigger({ resource: '/a', otherwise: TEAPOT }) + trigger({ resource: '/b', when: 'false', action: TEAPOT }),
      ),
    })
    expect((await site.ask('GET', '/a')).status).to.equal(404)
    expect((await site.ask('GET', '/b')).status).to.equal(404)
  })

  it('REA-30, REA-55 a gate that fails is an error, not a closed gate; nothing is written', async () => {
    site = await withTrigger({ when: '1 / 0' })
    const reply = await site.ask('PUT', '/new.html', { body: page('x') })
    expect(reply.status).to.equal(500)
    expect(reply.text).to.include(`itemtype="${NS}/Error"`)
    expect(reply.text).to.include('BindingFailure').and.to.include(`${NS}/BindingFailure`)
    expect(reply.headers.get('content-security-policy')).to.include("default-src 'none'")
    expect(await site.site.find('/new.html')).to.equal(undefined)
  })

  it('REA-55, HTTP-172 a spent allowance is 503 in both phases', async () => {
    const forever =
      'let f = (n) => f(n + 1); [1,2,3,4,5,6,7,8,9,10].map(a => [1,2,3,4,5,6,7,8,9,10].map(b => [1,2,3,4,5,6,7,8,9,10].map(c => [1,2,3,4,5,6,7,8,9,10].map(d => [1,2,3,4,5,6,7,8,9,10].map(e => [1,2,3,4,5,6,7,8,9,10].map(f => a + b + c + d + e + f))))))'
    site = await reactingSite({
      '/t.html': page(trigger({ resource: '/a', action: forever }) + processor({ resource: '/b', action: forever })),
    })
    for (const path of ['/a', '/b']) {
      const reply = await site.ask('GET', path)
      expect(reply.status).to.equal(503)
      expect(reply.text).to.include('BudgetExceeded')
    }
  })

  it('REA-33, REA-40, REA-41 Context is bound with and without a schema line; what it shows', async () => {
    const shows = (expression: string) =>
      `@schema Context url("${NS}/Context"); @schema HTTPResponse url("${NS}/HTTPResponse"); throw new HTTPResponse { status: 200, body: String(${expression} ?? "null") }`
    const shown: [path: string, expression: string, value: string][] = [
      ['/method', 'Context.request.method', 'PUT'],
      ['/p%C3%A4th', 'Context.request.path', '/päth'],
      ['/header', 'Context.request.headers["X-Token"]', 'tök'],
      ['/lower', 'Context.request.headers["x-token"]', 'tök'],
      ['/missing', 'Context.request.headers["x-other"]', 'null'],
      ['/query', 'Context.request.query.a', '1 2'],
      ['/body', 'Context.request.body', 'böd'],
      ['/raw', 'Context.request.rawBody', 'böd'],
      ['/response', 'Context.response', 'null'],
      ['/roles', 'Context.request.auth.roles.count()', '0'],
    ]
    site = await reactingSite({
      '/t.html': page(
        shown.map(([path, code]) => trigger({ resource: decodeURI(path), action: shows(code) })).join(''),
      ),
    })
    for (const [path, , value] of shown) {
      const headers = { 'X-Token': Buffer.from('tök').toString('latin1') }
      const reply = await site.ask('PUT', `${path}?a=1%202&a=3`, { headers, body: 'böd' })
      expect(reply.text, path).to.equal(value)
    }
  })

  it('REA-33 selectors ask the whole site, whoever may read it', async () => {
    site = await reactingSite({
      '/secret.html': page('<p itemscope itemtype="https://library.example/Desk"><b itemprop="token">s3cret</b></p>'),
      '/rules.html': page(
        `<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="method" content="GET"><meta itemprop="resource" content="/desk/*"><meta itemprop="action" content="Allow"></div><div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="method" content="GET"><meta itemprop="resource" content="/secret.html"><meta itemprop="action" content="Deny"></div>`,
      ),
      '/desk/today.html': PAGE,
      '/t.html': page(
        trigger({
          resource: '/desk/*',
          method: 'GET',
          when: `Context.request.headers["authorization"] == \${[itemtype="https://library.example/Desk"] [itemprop="token"]}.first().value()`,
          otherwise: `@schema HTTPResponse url("${NS}/HTTPResponse");
            @schema Pair url("${NS}/Pair");
            throw new HTTPResponse { status: 401, body: "Token needed", header: new Pair { key: "WWW-Authenticate", value: "Basic" } }`,
        }),
      ),
    })
    expect((await site.ask('GET', '/secret.html')).status).to.equal(401)
    const refused = await site.ask('GET', '/desk/today.html')
    expect([refused.status, refused.text]).to.deep.equal([401, 'Token needed'])
    expect(refused.headers.get('www-authenticate')).to.equal('Basic')
    expect(refused.headers.get('etag')).to.equal(null)
    const passed = await site.ask('GET', '/desk/today.html', { headers: { Authorization: 's3cret' } })
    expect([passed.status, passed.text]).to.deep.equal([200, PAGE])
  })
})

describe('Thrown responses', () => {
  const thrown = (fields: string) =>
    `@schema HTTPResponse url("${NS}/HTTPResponse"); @schema Pair url("${NS}/Pair"); throw new HTTPResponse { ${fields} }`

  it('REA-50, REA-52 status, body before message, defaults', async () => {
    const cases: [fields: string, status: number, body: string][] = [
      ['status: 409, message: "m"', 409, 'm'],
      ['status: 409, message: "m", body: "b"', 409, 'b'],
      ['status: 409, message: "m", body: ""', 409, ''],
      ['message: "m"', 500, 'm'],
      ['status: 700', 500, ''],
      ['status: 100', 500, ''],
      ['status: "many"', 500, ''],
      ['status: 204, body: "x"', 204, ''],
    ]
    site = await reactingSite({
      '/t.html': page(cases.map(([fields], i) => trigger({ resource: `/${i}`, action: thrown(fields) })).join('')),
    })
    for (const [i, [fields, status, body]] of cases.entries()) {
      const reply = await site.ask('GET', `/${i}`)
      expect([reply.status, reply.text], fields).to.deep.equal([status, body])
      expect(reply.headers.get('cache-control'), fields).to.equal('no-store')
      if (status !== 204) expect(reply.headers.get('content-type'), fields).to.equal('text/html; charset=utf-8')
    }
    expect((await site.ask('HEAD', '/0')).text).to.equal('')
  })

  it('REA-50 a throw that the program catches does not end the chain', async () => {
    site = await withTrigger({
      action: `try { ${thrown('status: 418').replace(/^.*?(?=throw)/, '')} } catch (e) { 1 }`,
    })
    expect((await site.ask('GET', '/x')).status).not.to.equal(418)
  })

  it('REA-53 fields that could break the connection or the session are dropped, all others sent', async () => {
    const fields: [name: string, value: string][] = [
      ['X-Own', 'ü'],
      ['content-type', 'application/json'],
      ['Cache-Control', 'private, max-age=5'],
      ['Access-Control-Allow-Origin', '*'],
      ['WWW-Authenticate', 'Basic realm="x"'],
      ['Content-Length', '3'],
      ['Transfer-Encoding', 'chunked'],
      ['Connection', 'upgrade'],
      ['Bad Name', 'x'],
      ['X-Break', 'a\\r\\nSet-Cookie: b=1'],
      ['Set-Cookie', 'platform_session=stolen'],
      ['Set-Cookie', 'mine=1'],
      ['Set-Cookie', 'yours=2'],
      ['X-Twice', '1'],
      ['X-Twice', '2'],
    ]
    const pairs = fields.map(
      ([key, value]) => `header: new Pair { key: "${key}", value: "${value.replaceAll('"', '\\"')}" }`,
    )
    site = await withTrigger({ action: thrown(['status: 200, body: "[]"', ...pairs].join(', ')) })
    const { headers, text } = await site.ask('GET', '/x')
    expect(text).to.equal('[]')
    expect(headers.get('content-type')).to.equal('application/json')
    expect(headers.get('cache-control')).to.equal('private, max-age=5')
    expect(headers.get('access-control-allow-origin')).to.equal('*')
    expect(headers.get('www-authenticate')).to.equal('Basic realm="x"')
    expect(Buffer.from(headers.get('x-own') ?? '', 'latin1').toString()).to.equal('ü')
    expect(headers.get('x-twice')).to.equal('1, 2')
    expect(headers.get('x-break')).to.equal(null)
    const cookies = headers.getSetCookie()
    expect(cookies).to.include('mine=1').and.to.include('yours=2')
    expect(cookies.filter(cookie => cookie.includes('stolen'))).to.deep.equal([])
    expect(cookies.some(cookie => cookie.startsWith('platform_session='))).to.equal(true)
  })

  it('REA-54 a response thrown by a trigger skips core processing and processors', async () => {
    site = await reactingSite({
      '/t.html': page(trigger({ method: 'PUT', action: TEAPOT }) + processor({ action: answering(500, 'processor') })),
    })
    expect((await site.ask('PUT', '/new.html', { body: PAGE })).status).to.equal(418)
    expect(await site.site.find('/new.html')).to.equal(undefined)
  })
})
