/** What items of reactions are made of, each case from the words of its rule (REA-1, REA-3, REA-31, REA-89). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Receiver, receiver } from './receiver.ts'
import {
  answering,
  javascript,
  meta,
  NS,
  page,
  type ReactingSite,
  reactingSite,
  request,
  sessel,
  trigger,
} from './site.ts'

let site: ReactingSite
let to: Receiver
before(async () => {
  to = await receiver()
  site = await reactingSite({}, { site: { allowOutbound: true } })
})
after(async () => {
  await site.close()
  await to.close()
})

const TEAPOT = answering(418, 'tea')
const says = (expression: string) =>
  `@schema HTTPResponse url("${NS}/HTTPResponse"); throw new HTTPResponse { status: 299, body: ${expression} }`
const scriptSays = (text: string) =>
  javascript(
    'action',
    `export default () => { throw { itemtype: "${NS}/HTTPResponse", status: 299, body: "${text}" } }`,
  )
let cases = 0
/** Stores a document with reactions for one path. @returns that path */
async function storing(markup: (path: string) => string): Promise<string> {
  const path = `/case-${++cases}`
  await put(site, `/reactions/${cases}.html`, page(markup(path)))
  return path
}
const answerOf = async (markup: (path: string) => string, method = 'GET') => {
  const { status, text } = await site.ask(method, await storing(markup))
  return status === 404 ? status : status === 418 ? 'ran' : text
}

describe('Items of reactions', () => {
  const at = (action: string) => (resource: string) => trigger({ resource, action })
  const items: [title: string, markup: (path: string) => string, expected: string | number][] = [
    ['REA-1 a trigger', at(TEAPOT), 'ran'],
    [
      'REA-1 the item type chooses JavaScript, whatever the script says',
      at(scriptSays('script').replace('type="module"', 'type="text/sessel"')),
      'script',
    ],
    [
      'REA-1 the item type chooses Sessel, whatever the script says',
      at(sessel('action', says('"sessel"')).replace('type="text/sessel"', 'type="module"')),
      'sessel',
    ],
    ['REA-1 the program is the raw text of its script', at(says('"&lt;b&amp;"')), '&lt;b&amp;'],
    [
      'REA-1 names are chosen by whoever imports',
      at(
        `@schema R url("${NS}/HTTPResponse"); @schema C url("${NS}/Context"); throw new R { status: 299, body: C.request.method }`,
      ),
      'GET',
    ],
    [
      'REA-1 one of several item types is enough',
      path => at(TEAPOT)(path).replace(`"${NS}/Trigger"`, `"https://other.example/T ${NS}/Trigger"`),
      'ran',
    ],
    ['REA-1 without itemscope there is no item', path => at(TEAPOT)(path).replace('itemscope', ''), 404],
    ['REA-1 item types are exact', path => at(TEAPOT)(path).replace('/Trigger', '/trigger'), 404],
    [
      'REA-3 static values are trimmed',
      path => trigger({ resource: ` ${path}\n`, method: '\tGET ', action: TEAPOT }),
      'ran',
    ],
    [
      'REA-3 blank values are dropped, not taken for everything',
      () => trigger({ resource: ['', ' ', '/elsewhere'], action: TEAPOT }),
      404,
    ],
    [
      'REA-3 values are those of microdata: text, data, links',
      path =>
        `<table><tr itemscope itemtype="${NS}/Trigger"><td itemprop="method"> put </td><td><data itemprop="method" value="get"></data></td><td><a itemprop="resource" href="${path}">x</a></td><td>${sessel('action', TEAPOT)}</td></tr></table>`,
      'ran',
    ],
    [
      'REA-3 filters are static: code is no value of one',
      resource => trigger({ resource, action: TEAPOT }).replace('</div>', `${sessel('method', '"PUT"')}</div>`),
      'ran',
    ],
    [
      'REA-31 actions run in document order, whatever their language',
      resource =>
        trigger({
          resource,
          action: [
            'Context.n = "1"',
            javascript('action', 'export default async () => { await null; Context.n = Context.n + "2" }'),
            'Context.n = Context.n + "3"',
            says('Context.n'),
          ],
        }),
      '123',
    ],
    [
      'REA-31 values of actions are discarded',
      resource =>
        trigger({
          resource,
          action: [
            `@schema HTTPResponse url("${NS}/HTTPResponse"); new HTTPResponse { status: 418 }`,
            javascript('action', `export default () => ({ itemtype: "${NS}/HTTPResponse", status: 418 })`),
          ],
        }),
      404,
    ],
  ]
  for (const [title, markup, expected] of items)
    it(title, async () => expect(await answerOf(markup)).to.equal(expected))

  it('REA-31 otherwise runs in document order, too', async () => {
    const others = ['Context.n = "1"', says('Context.n + "2"')]
    expect(await answerOf(resource => trigger({ resource, when: 'false', otherwise: others }))).to.equal('12')
  })

  it('REA-3, REA-31 every property of a call may be code, evaluated at once; from, to and becomes keep blanks', async () => {
    const dynamic = `${sessel('url', `"${to.url}/dynamic"`)}${sessel('method', '"P" + "UT"')}${javascript('content-type', 'export default () => "a/b"')}${sessel('retry', '0')}${sessel('body', 'Context.n')}<div itemprop="header" itemscope itemtype="${NS}/Pair">${sessel('key', '"X-K"')}${javascript('value', 'export default ctx => ctx.request.method')}</div>`
    const path = await storing(resource =>
      trigger({ resource, action: ['Context.n = "early"', request('action', {}, dynamic), 'Context.n = "late"'] }),
    )
    await site.ask('GET', path)
    await eventually(() => expect(to.got.filter(({ url }) => url === '/dynamic')).to.have.length(1))
    const got = to.got.find(({ url }) => url === '/dynamic')
    expect(got).to.include({ method: 'PUT', body: 'early' })
    expect(got?.headers).to.include({ 'x-k': 'GET', 'content-type': 'a/b' })
    const ITEM = 'https://library.example/Blank'
    await storing(
      () =>
        `<div itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', `[itemtype="${ITEM}"]`)}${meta('property', 'state')}${meta('to', ' ')}</div>`,
    )
    const item = (state: string) =>
      page(`<div itemscope itemtype="${ITEM}"><meta itemprop="state" content="${state}"></div>`)
    expect((await site.ask('PUT', '/blank.html', { body: item('') })).status).to.equal(422)
    expect((await site.ask('PUT', '/blank.html', { body: item(' ') })).status).to.equal(201)
  })

  it('REA-89 header values are in the declaring document alone: not in errors, not in what others may read', async () => {
    const token = 'a-token-nobody-is-told'
    const pair = (value: string) =>
      `<div itemprop="header" itemscope itemtype="${NS}/Pair">${meta('key', 'X-Token')}${value}</div>`
    const path = await storing(resource =>
      trigger({
        resource,
        action: [
          request('action', { url: `${to.url}/token` }, pair(meta('value', token)) + pair(sessel('value', '1 / 0'))),
        ],
      }),
    )
    const reply = await site.ask('GET', path)
    expect([reply.status, reply.text.includes(token)]).to.deep.equal([500, false])
    // Whoever may read the document reads the value; whoever may not, learns nothing of it.
    const document = `/reactions/${cases}.html`
    expect((await site.ask('GET', document)).text).to.include(token)
    const deny = `<div itemscope itemtype="${NS}/AuthorizationRule">${meta('actor', '*')}${meta('method', '*')}${meta('resource', document)}${meta('action', 'Deny')}</div>`
    await put(site, '/deny.html', page(deny))
    for (const [method, headers, body] of [
      ['GET', {}, undefined],
      ['GET', { Accept: 'text/event-stream' }, undefined],
      ['QUERY', { 'Content-Type': 'text/css-selector' }, 'meta'],
    ] as const) {
      const refused = await site.ask(method, document, { headers, ...(body !== undefined && { body }) })
      expect([refused.status, refused.text.includes(token)], method).to.deep.equal([401, false])
    }
  })
})
