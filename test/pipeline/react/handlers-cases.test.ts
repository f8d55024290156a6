/** Transition handlers, case by case (REA-120 to REA-125). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { caseByCase } from './cases.ts'
import { javascript, meta, NS, page, request, sessel, trigger } from './site.ts'

const typeOf = (at: string) => `https://l.example${at}`
const item = (at: string, state?: string, key?: string, more = '') =>
  `<div class="l" itemscope itemtype="${typeOf(at)}">${key ? `<i itemprop="ticket">${key}</i>` : ''}${state === undefined ? '' : `<b itemprop="state">${state}</b>`}${more}</div>`

describe('Transition handlers, case by case', () => {
  const server = caseByCase()
  const { add, arrived, ask, settled } = server
  const handler = (
    at: string,
    fields: { selector?: string; becomes?: string; at?: string; method?: string },
    more = '',
    extra = '',
  ) =>
    `<div hidden itemscope itemtype="${NS}/TransitionHandler">${meta('selector', fields.selector ?? `[itemtype='${typeOf(at)}']`)}${meta('property', 'state')}${(
      fields.becomes ?? 'on'
    )
      .split(',')
      .map(each => meta('becomes', each))
      .join(
        '',
      )}${extra}${request('action', { url: server.to.url + at + (fields.at ?? ''), ...(fields.method === undefined ? {} : { method: fields.method }) }, more)}</div>`
  const count = async (at: string, wanted: number) => {
    await arrived(at, wanted)
    expect(await settled(at)).to.have.length(wanted)
  }
  const handlers: [
    title: string,
    handlers: (at: string) => string,
    check: (at: string, put: (state?: string) => Promise<unknown>) => Promise<unknown>,
  ][] = [
    [
      'REA-122 creation and change fire; what is unchanged or exits does not',
      at => handler(at, {}),
      async (at, put) => {
        await put('on')
        await put('on')
        await put('off')
        await put(undefined)
        await put('on')
        await ask('DELETE', `${at}/w.html`)
        await count(at, 2)
      },
    ],
    [
      'REA-120 one of several states',
      at => handler(at, { becomes: 'on,off' }),
      async (at, put) => {
        await put('on')
        await put('off')
        await put('else')
        await count(at, 2)
      },
    ],
    [
      'REA-120 the empty text is a state',
      at => handler(at, { becomes: '' }),
      async (at, _put) => {
        await ask('PUT', `${at}/w.html`, {}, page(item(at, undefined, undefined, '<meta itemprop="state" content="">')))
        await count(at, 1)
      },
    ],
    [
      'REA-124 the method in any case',
      at => handler(at, { method: 'put' }),
      async (at, put) => {
        await put('on')
        expect((await arrived(at))[0]?.method).to.equal('PUT')
      },
    ],
    [
      'REA-124 a second action of another type disables the handler',
      at => handler(at, { at: '/ok' }) + handler(at, { at: '/no' }, '', sessel('action', '1')),
      async (at, put) => {
        await put('on')
        await count(at, 1)
      },
    ],
    [
      'REA-124 body, type and retries are ignored',
      at => handler(at, {}, meta('body', 'zzz') + meta('content-type', 'a/b') + meta('retry', '3')),
      async (at, put) => {
        await put('on')
        const [g] = await arrived(at)
        expect(g?.headers['content-type']).to.equal('text/html')
        expect(g?.body).not.to.include('zzz')
        expect(g?.body).to.include(`<body itemscope itemtype="${NS}/Transition">`)
      },
    ],
    [
      'REA-125 the body in full',
      at => handler(at, {}),
      async (at, put) => {
        await put('on')
        const [g] = await arrived(at)
        expect(g?.body.trim()).to.equal(`<!DOCTYPE html>
<html><head><title>Transition</title></head>
<body itemscope itemtype="${NS}/Transition">
<meta itemprop="path" content="${at}/w.html">
<meta itemprop="selector" content="[itemtype=&quot;${typeOf(at)}&quot;]">
<div itemprop="body" class="l" itemscope="" itemtype="${typeOf(at)}"><b itemprop="state">on</b></div>
</body></html>`)
      },
    ],
    [
      'REA-123 a gate has self and no request',
      at =>
        handler(at, { at: '/y' }, '', sessel('when', 'self.path.endsWith("w.html")')) +
        handler(at, { at: '/n' }, '', sessel('when', 'Context.request.method == "PUT"')),
      async (at, put) => {
        await put('on')
        await count(at, 1)
      },
    ],
    [
      'REA-123 a gate in JavaScript is closed',
      at => handler(at, { at: '/n' }, '', javascript('when', 'export default () => true')) + handler(at, { at: '/y' }),
      async (at, put) => {
        await put('on')
        await count(at, 1)
        expect((await arrived(at))[0]?.url).to.equal(`${at}/y`)
      },
    ],
    [
      'REA-123 a gate sees the item',
      at => handler(at, { at: '/y' }, '', sessel('when', 'self.body.state == "on"')),
      async (at, put) => {
        await put('on')
        await count(at, 1)
      },
    ],
    [
      'REA-121 which branches of a selector name types',
      at =>
        handler(at, { at: '/1', selector: `[itemtype="${typeOf(at)}"], .x` }) +
        handler(at, { at: '/2', selector: `[itemtype*="${typeOf(at)}"]` }) +
        handler(at, { at: '/3', selector: `:isa("${typeOf(at)}")` }) +
        handler(at, { at: '/4', selector: `div:isa("${typeOf(at)}")` }) +
        handler(at, { at: '/5', selector: `[itemtype=${JSON.stringify(typeOf(at))} i]` }) +
        handler(at, { at: '/6', selector: '*' }),
      async (at, put) => {
        await put('on')
        await count(at, 2)
        expect(
          (await arrived(at))
            .map(g => g.url.slice(-1))
            .sort()
            .join(''),
        ).to.equal('13')
      },
    ],
    [
      'REA-122 several values fire nothing',
      at => handler(at, {}),
      async (at, _put) => {
        await ask('PUT', `${at}/w.html`, {}, page(item(at, 'on', undefined, '<b itemprop="state">off</b>')))
        await ask('PUT', `${at}/v.html`, {}, page(item(at, 'on')))
        await count(at, 1)
      },
    ],
    [
      'REA-106, REA-122 items that cannot be told apart fire nothing',
      at => handler(at, {}),
      async (at, _put) => {
        expect((await ask('PUT', `${at}/w.html`, {}, page(item(at, 'on') + item(at, 'on')))).status).to.equal(201)
        await ask('PUT', `${at}/v.html`, {}, page(item(at, 'on')))
        await count(at, 1)
      },
    ],
    [
      'REA-122 writes of actions fire handlers',
      at =>
        handler(at, {}) +
        trigger({
          resource: `${at}/go`,
          action: `@schema Site url("${NS}/1.0"); Site.PUT(Element.fromString("<div itemscope itemtype='${typeOf(at)}'><b itemprop='state'>on</b></div>"), "${at}/m.html")`,
        }),
      async at => {
        await ask('GET', `${at}/go`)
        await count(at, 1)
      },
    ],
    [
      'REA-122 each item of a POST fires',
      at => handler(at, {}),
      async at => {
        await server.put(`${at}/w.html`, page('<main></main>'))
        await ask(
          'POST',
          `${at}/w.html`,
          { Range: 'selector=main' },
          `<section>${item(at, 'on')}${item(at, 'on')}</section>`,
        )
        await count(at, 2)
      },
    ],
  ]
  for (const [title, markup, check] of handlers)
    add(title, markup, at => check(at, state => ask('PUT', `${at}/w.html`, {}, page(item(at, state)))))
})
