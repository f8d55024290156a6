/** JavaScript in reactions, through a real server. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually } from '../../support/eventually.ts'
import { waitingFor } from '../../support/long-waits.ts'
import { property, schema } from '../model/markup.ts'
import { type Receiver, receiver } from './receiver.ts'
import { javascript, NS, page, processor, type ReactingSite, reactingSite, request, sessel, trigger } from './site.ts'

let site: ReactingSite
let to: Receiver
before(async () => {
  to = await receiver()
  const throwing = (fields: string) =>
    javascript('action', `export default ctx => { throw { itemtype: "${NS}/HTTPResponse", ${fields} } }`)
  const on = (resource: string, action: string, when?: string) =>
    trigger({ resource, action, ...(when !== undefined && { when }) })
  const showing = (expression: string) => throwing(`status: 200, body: String(${expression})`)
  site = await reactingSite(
    {
      '/page.html': page('<p id="p1">stored</p>'),
      '/t.html': page(
        [
          on(
            '/throw',
            throwing(
              'status: 418, message: "m", headers: { "X-A": "1", "X-List": ["a", "b"], "Content-Type": "text/plain" }',
            ),
          ),
          on(
            '/schema-url',
            javascript(
              'action',
              `export default () => { throw { schema_url: "${NS}/HTTPResponse", message: "no status" } }`,
            ),
          ),
          on('/bug', javascript('action', 'export default () => { throw { status: 409 } }')),
          on('/error', javascript('action', 'export default () => nothing.at.all')),
          on('/gate/*', throwing('status: 418'), javascript('when', 'export default ctx => ctx.request.query.open')),
          on('/async', throwing('status: 418'), javascript('when', 'export default async ctx => false')),
          on(
            '/rejected',
            throwing('status: 418'),
            javascript('when', 'export default async () => { throw new Error("no") }'),
          ),
          on('/method', showing('ctx.request.method')),
          on('/host', showing('ctx.request.host')),
          on(
            '/header',
            showing('ctx.request.headers["X-Token"] + ctx.request.headers["x-token"] + ctx.request.headers.none'),
          ),
          on('/body', showing('ctx.request.body')),
          on('/auth', showing('JSON.stringify(ctx.request.auth)')),
          on(
            '/this',
            javascript(
              'action',
              `export default function () { throw { itemtype: "${NS}/HTTPResponse", status: 200, body: String(this) } }`,
            ),
          ),
          on('/waited/*', javascript('action', 'export default () => 1')),
          schema(
            'urn:waited',
            {},
            property('p', { '@validate': { markup: javascript('@validate', 'export default v => v < 3') } }),
          ),
          on('/write', javascript('action', 'export default () => PUT("x", "/y")')),
          on(
            '/page.html',
            `${javascript('action', `export default ctx => { if (ctx.request.query.doc) throw { itemtype: "${NS}/HTTPResponse", status: 200, body: document.querySelector("p").textContent } }`)}`,
          ),
          on('/forever', javascript('action', 'export default () => { for (;;); }')),
          processor({
            resource: '/changed',
            action: javascript(
              'action',
              'export default ctx => { ctx.response.status = 200; ctx.response = null; return { status: 200 } }',
            ),
          }),
          processor({
            resource: '/replaced',
            status: '404',
            action: javascript(
              'action',
              `export default ctx => { throw { itemtype: "${NS}/HTTPResponse", status: 200, body: ctx.response.status + ctx.response.headers["Content-Type"] + ctx.response.body.includes("404") } }`,
            ),
          }),
          trigger({
            resource: '/call',
            action: request(
              'action',
              { url: `${to.url}/js` },
              javascript('body', 'export default ctx => JSON.stringify({ at: ctx.request.path })') +
                sessel('method', '"PUT"'),
            ),
          }),
        ].join(''),
      ),
    },
    { site: { allowOutbound: true }, settings: { javascript: { time: '300ms' } } },
  )
})
after(async () => {
  await site.close()
  await to.close()
})

describe('JavaScript in reactions', () => {
  const cases: [title: string, path: string, status: number, text: string | RegExp][] = [
    ['REA-51 a plain object with the item type answers', '/throw', 418, 'm'],
    ['REA-51 or with schema_url; 500 by default', '/schema-url', 500, 'no status'],
    ['REA-51, REA-55 another object is a failure', '/bug', 500, /BindingFailure/],
    ['REA-55 so is an error', '/error', 500, /nothing is not defined|BindingFailure/],
    ['REA-30 JavaScript’s own truth', '/gate/x?open=0', 418, ''],
    ['REA-30 an empty text is false', '/gate/x?open=', 404, /./],
    ['REA-30 a promise is settled first', '/async', 404, /./],
    ['REA-30 one that is rejected is an error', '/rejected', 500, /BindingFailure/],
    ['REA-40 method', '/method', 200, 'PUT'],
    ['REA-40 host', '/host', 200, 'localhost'],
    ['REA-41 fields in any case', '/header', 200, 'ttundefined'],
    ['REA-40 body', '/body', 200, 'the body'],
    ['REA-40 nobody', '/auth', 200, '{"claims":{},"roles":[]}'],
    ['REA-32 this is undefined', '/this', 200, 'undefined'],
    ['REA-65 cannot write', '/write', 500, /PUT is not defined|BindingFailure/],
    ['REA-32 sees the stored document', '/page.html?doc=1', 200, 'stored'],
    ['REA-55, HTTP-172 a module without end is 503', '/forever', 503, /BudgetExceeded/],
    ['REA-72 changes of ctx have no effect', '/changed', 404, /./],
    ['REA-72 throwing replaces the answer', '/replaced', 200, '404text/html; charset=utf-8true'],
  ]
  for (const [title, path, status, text] of cases)
    it(title, async () => {
      const method = path.startsWith('/page') || status === 404 || path === '/replaced' ? 'GET' : 'PUT'
      const url = site.url.replace('127.0.0.1', 'localhost')
      const reply = await site.ask(method, path, {
        headers: { 'X-Token': 't', Host: new URL(url).host },
        ...(method === 'PUT' && { body: 'the body' }),
      })
      expect(reply.status).to.equal(status)
      if (typeof text === 'string') expect(reply.text).to.equal(text)
      else expect(reply.text).to.match(text)
    })

  it('REA-51 fields; an array sends the field several times', async () => {
    const { headers } = await site.ask('GET', '/throw')
    expect([headers.get('x-a'), headers.get('x-list'), headers.get('content-type')]).to.deep.equal([
      '1',
      'a, b',
      'text/plain',
    ])
  })

  it('REA-81 languages may differ from property to property', async () => {
    await site.ask('GET', '/call')
    await eventually(() => expect(to.got).to.have.length(1))
    expect(to.got[0]).to.include({ method: 'PUT', url: '/js', body: '{"at":"/call"}' })
  })
})

describe('Time of reactions', () => {
  it('SES-213 HTTP-4 a PUT takes none while it waits for others', async () => {
    const put = (p: string) =>
      site.ask('PUT', '/waited/a.html', {
        body: page(`<i itemscope itemtype="urn:waited"><b itemprop="p">${p}</b></i>`),
      })
    await waitingFor(site.site.leases, 6000, async () => {
      expect([(await put('1')).status, (await put('2')).status, (await put('3')).status]).to.deep.equal([201, 200, 422])
    })
  })
})
