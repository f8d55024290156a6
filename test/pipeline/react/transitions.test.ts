/** Transition constraints and handlers through a real server. */

import { once } from 'node:events'
import { request as send } from 'node:http'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { put } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { composed } from '../compose/composing.ts'
import { type Receiver, receiver } from './receiver.ts'
import { javascript, meta, NS, page, type ReactingSite, reactingSite, request, sessel, trigger } from './site.ts'

const LOAN = 'https://library.example/Loan'
let site: ReactingSite
let to: Receiver | undefined
afterEach(async () => {
  await site?.close()
  await to?.close()
  to = undefined
})

const constraint = (from: string[], toStates: string[], selector = `[itemtype='${LOAN}']`) =>
  `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', selector)}${meta('property', 'state')}${from.map(each => meta('from', each)).join('')}${toStates.map(each => meta('to', each)).join('')}</div>`

const MACHINE = page(
  constraint([], ['out']) +
    constraint(['out'], ['late']) +
    constraint(['out', 'late'], ['back']) +
    constraint(['back'], []),
)
const KEYED = page(
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${LOAN}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="ticket"><meta itemprop="unique" content="true"><meta itemprop="@key" content="true"></div></div>`,
)
const loan = (state: string | undefined, ticket?: string, more = '') =>
  `<div class="loan" itemscope itemtype="${LOAN}">${ticket === undefined ? '' : `<i itemprop="ticket">${ticket}</i>`}${state === undefined ? '' : `<b itemprop="state">${state}</b>`}${more}</div>`

const range = (selector: string) => ({ Range: `selector=${selector}` })
const edit = (method: string, selector: string, body?: string, path = '/loans.html') =>
  site.ask(method, path, { headers: range(selector), ...(body !== undefined && { body }) })

describe('Transition constraints', () => {
  it('REA-100, REA-109 the state machine of the reference', async () => {
    site = await reactingSite({ '/machine.html': MACHINE, '/loans.html': page('<main></main>') })
    const late = await edit('POST', 'main', loan('late'))
    expect(late.status).to.equal(422)
    expect(late.text)
      .to.include('Transition constraints violated')
      .and.to.include('failedConstraint">transition(state)<')
    expect(late.text)
      .to.include("constraintSelector\">[itemprop='state']<")
      .and.to.include('itemprop="from"></')
      .and.to.include('itemprop="to">late<')
    expect(late.text).to.include('/machine.html').and.to.include(LOAN)
    expect((await edit('POST', 'main', loan('out'))).status).to.equal(206)
    expect((await edit('PUT', '.loan b', '<b itemprop="state">late</b>')).status).to.equal(206)
    const out = await edit('PUT', '.loan b', '<b itemprop="state">out</b>')
    expect(out.status).to.equal(422)
    const gone = await site.ask('DELETE', '/loans.html')
    expect(gone.status).to.equal(422)
    expect(gone.text).to.include('itemprop="from">late<').and.to.include('itemprop="to"></')
    expect((await edit('DELETE', '.loan')).status).to.equal(422)
    expect((await edit('PUT', '.loan', loan('back'))).status).to.equal(206)
    expect((await site.ask('DELETE', '/loans.html')).status).to.equal(204)
  })

  const whole: [title: string, before: string, after: string, status: number][] = [
    ['REA-101 an unchanged value is no transition', loan('late'), loan('late'), 200],
    ['REA-101 other properties are free', loan('late'), loan('late', undefined, '<u itemprop="note">n</u>'), 200],
    ['REA-101 unselected items are free', `<p itemscope itemtype="x:y"><b itemprop="state">1</b></p>`, 'x', 200],
    ['REA-100 a step', loan('out'), loan('late'), 200],
    ['REA-100 a step that is not declared', loan('late'), loan('out'), 422],
    ['REA-100 an entry', 'x', loan('out'), 200],
    ['REA-100 an entry that is not declared', 'x', loan('back'), 422],
    ['REA-100 an exit', loan('back'), 'x', 200],
    ['REA-100 an exit that is not declared', loan('out'), 'x', 422],
    ['REA-101 the property disappears', loan('out'), loan(undefined), 422],
    ['REA-101 the property appears', loan(undefined), loan('out'), 200],
    ['REA-102 several values', loan('out'), loan('out', undefined, '<b itemprop="state">late</b>'), 422],
    [
      'REA-104 items are paired by key',
      loan('out', 'a') + loan('late', 'b'),
      loan('back', 'b') + loan('late', 'a'),
      200,
    ],
    ['REA-104 a changed key is an exit and an entry', loan('out', 'a'), loan('out', 'b'), 422],
    ['REA-104 an exit and an entry that are declared', loan('back', 'a'), loan('out', 'b'), 200],
    [
      'REA-106 without keys several items may stay as they are',
      loan('out') + loan('late'),
      loan('late') + loan('out'),
      200,
    ],
    ['REA-106 but not change', loan('out') + loan('out'), loan('out') + loan('late'), 422],
    ['REA-106 nor become fewer', loan('back') + loan('back'), loan('back'), 422],
  ]
  for (const [title, before, after, status] of whole)
    it(`${title} (whole PUT)`, async () => {
      const keys: Record<string, string> = before.includes('ticket') ? { '/schema.html': KEYED } : {}
      site = await reactingSite({ ...keys, '/loans.html': page(before), '/machine.html': MACHINE })
      const reply = await site.ask('PUT', '/loans.html', { body: page(after) })
      expect(reply.status, reply.text.slice(0, 2000)).to.equal(status)
      if (title.startsWith('REA-106') && status === 422) expect(reply.text).to.include('@key')
      const stored = await site.ask('GET', '/loans.html')
      expect(stored.text).to.equal(page(status === 200 ? after : before))
    })

  it('REA-100 the empty text is a state of its own', async () => {
    site = await reactingSite({
      '/machine.html': page(constraint([''], ['open']) + constraint([], [''])),
      '/loans.html': page('<main></main>'),
    })
    expect((await edit('POST', 'main', loan('open'))).status).to.equal(422)
    expect((await edit('POST', 'main', loan(''))).status).to.equal(206)
    expect((await edit('PUT', '.loan b', '<b itemprop="state">open</b>')).status).to.equal(206)
  })

  it('REA-103 the mount is never covered', async () => {
    site = await reactingSite({ '/machine.html': MACHINE, '/loans.html': page(loan('late')) })
    const authorization = `Basic ${Buffer.from(`${site.user}:${site.password}`).toString('base64')}`
    const mounted = await fetch(`${site.mountUrl}/loans.html`, {
      method: 'PUT',
      headers: { authorization },
      body: page(loan('out')),
    })
    expect(mounted.status).to.be.below(300)
  })

  it('REA-103 writes of actions are covered', async () => {
    site = await reactingSite({
      '/machine.html': MACHINE,
      '/schema.html': page(
        `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${LOAN}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="state"></div></div>`,
      ),
      '/t.html': page(
        trigger({
          resource: '/go',
          action: `@schema Site url("${NS}/1.0"); @schema Loan url("${LOAN}"); Site.PUT(new Loan { state: Context.request.query.state }, "/made.html")`,
        }),
      ),
    })
    expect((await site.ask('GET', '/go?state=late')).status).to.equal(500)
    expect(await site.site.find('/made.html')).to.equal(undefined)
    expect((await site.ask('GET', '/go?state=out')).status).to.equal(404)
    expect(await site.site.find('/made.html')).not.to.equal(undefined)
  })

  it('REA-105 items inside a replaced element are paired within it; a MOVE keeps identity', async () => {
    site = await reactingSite({
      '/machine.html': MACHINE,
      '/schema.html': KEYED,
      '/loans.html': page(`<main><section>${loan('out', 'a')}${loan('late', 'b')}</section><aside></aside></main>`),
    })
    const section = (content: string) => edit('PUT', 'section', `<section>${content}</section>`)
    expect((await section(loan('late', 'a') + loan('out', 'b'))).status).to.equal(422)
    expect((await section(loan('late', 'a') + loan('back', 'b'))).status).to.equal(206)
    const moved = await site.ask('MOVE', '/loans.html', {
      headers: {
        ...range('section > .loan'),
        Destination: '/loans.html',
        'Destination-Range': 'selector=aside;placement=append',
      },
    })
    expect(moved.status).to.equal(204)
  })

  it('REA-107 shapes and uniqueness come first', async () => {
    site = await reactingSite({
      '/machine.html': MACHINE,
      '/schema.html': KEYED,
      '/other.html': page(loan('out', 'a')),
      '/loans.html': page('<main></main>'),
    })
    const reply = await edit('POST', 'main', loan('late', 'a'))
    expect([reply.status, reply.text.includes('Uniqueness')]).to.deep.equal([422, true])
  })

  it('REA-108 of 16 writers that race on one item exactly one wins, by element and as a whole; appends all succeed', async () => {
    const states = Array.from({ length: 16 }, (_, i) => `s${i}`)
    const race = page(constraint([], ['out']) + constraint(['out'], states))
    site = await reactingSite({ '/machine.html': race, '/schema.html': KEYED })
    for (let round = 0; round < 4; round++) {
      await put(site, '/loans.html', page(`<main>${loan('out', 'a')}</main>`))
      const steps = await Promise.all(
        states.map(state =>
          round % 2 === 0
            ? edit('PUT', '.loan b', `<b itemprop="state">${state}</b>`)
            : site.ask('PUT', '/loans.html', { body: page(`<main>${loan(state, 'a')}</main>`) }),
        ),
      )
      const won = states.filter((_, i) => (steps[i]?.status ?? 500) < 300)
      expect(won).to.have.length(1)
      for (const { status } of steps) expect(status).to.be.oneOf([200, 206, 412, 422])
      const stored = (await site.ask('GET', '/loans.html')).text
      expect(stored).to.include(`<b itemprop="state">${won[0]}</b>`)
      const appended = await Promise.all(states.map(each => edit('POST', 'main', loan('out', `r${round}-${each}`))))
      expect(appended.map(({ status }) => status)).to.deep.equal(states.map(() => 206))
    }
  })

  it('REA-108 COMP-6 a state that another write has changed meanwhile is told also where the page alone shows it in what is written', async () => {
    site = await reactingSite({
      '/machine.html': page(
        constraint([], ['out', 'late', 'new']) + constraint(['out'], ['late', 'new']) + constraint(['out', 'late'], []),
      ),
    })
    const states = (name: string, inner: string) =>
      `<${name} class="g"><s:d xmlns:s="http://www.w3.org/2000/svg"><div class="in">${inner}</div></s:d></${name}>`
    for (const name of ['div', 'p', 'table'])
      for (const body of [states(name, loan('new')), '<i class="g">gone</i>']) {
        await put(site, '/loans.html', composed(`<main>${states(name, loan('out'))}</main>`))
        const headers = { ...range('.g'), Expect: '100-continue', 'Content-Length': body.length }
        const sent = send(`http://localhost:${site.port}/loans.html`, { method: 'PUT', headers })
        sent.flushHeaders()
        // The states are noted before the body is asked for.
        await once(sent, 'continue')
        expect((await edit('PUT', '.loan b', '<b itemprop="state">late</b>')).status, name).to.equal(206)
        sent.end(body)
        const [answer] = await once(sent, 'response')
        answer.resume()
        expect(answer.statusCode, `${name} ${body}`).to.equal(412)
      }
  })
})

describe('Transition handlers', () => {
  const handler = (fields: { selector?: string; becomes: string; when?: string; url?: string; more?: string }) =>
    `<div hidden itemscope itemtype="${NS}/TransitionHandler">${meta('selector', fields.selector ?? `[itemtype='${LOAN}']`)}${meta('property', 'state')}${meta('becomes', fields.becomes)}${fields.when === undefined ? '' : sessel('when', fields.when)}${request('action', { url: fields.url ?? `${to?.url}/hook`, body: 'ignored', retry: '3' }, fields.more ?? '')}</div>`
  const handling = async (handlers: string) => {
    site = await reactingSite(
      { '/handlers.html': page(handlers), '/schema.html': KEYED, '/loans.html': page('<main></main>') },
      { site: { allowOutbound: true } },
    )
  }
  const arrived = (count: number) => eventually(() => expect(to?.got).to.have.length(count))

  it('REA-122, REA-125 fires once for each item that reaches the state, with the item as committed', async () => {
    to = await receiver()
    await handling(handler({ becomes: 'out' }) + handler({ becomes: 'late', url: `${to.url}/late` }))
    expect((await edit('POST', 'main', loan('out', 'L-7'))).status).to.equal(206)
    await arrived(1)
    const [got] = to.got
    expect(got).to.include({ method: 'POST', url: '/hook' })
    expect(got?.headers['content-type']).to.equal('text/html')
    expect(got?.body).to.include(`itemtype="${NS}/Transition"`).and.to.include('itemprop="path" content="/loans.html"')
    expect(got?.body).to.include(':has([itemprop=&quot;ticket&quot;]:value-equals(&quot;L-7&quot;))')
    expect(got?.body).to.include(`<div itemprop="body" class="loan" itemscope="" itemtype="${LOAN}">`)
    await edit('PUT', '.loan b', '<b itemprop="state">out</b>')
    await edit('PUT', '.loan b', '<b itemprop="state">late</b>')
    await arrived(2)
    expect(to.got[1]?.url).to.equal('/late')
  })

  it('REA-120 any of several states; the gate is Sessel alone; constraints are not needed', async () => {
    to = await receiver()
    const script = javascript('when', 'export default () => true')
    await handling(
      handler({ becomes: 'out' }).replace('<div itemprop="action"', `${meta('becomes', 'late')}$&`) +
        handler({ becomes: 'out', url: `${to.url}/no` }).replace('<div itemprop="action"', `${script}$&`) +
        handler({ becomes: 'out', url: `${to.url}/no` }).replace(
          '<div itemprop="action"',
          `${sessel('action', '1')}$&`,
        ),
    )
    for (const state of ['out', 'late', 'lost']) await site.ask('PUT', '/one.html', { body: page(loan(state, 'a')) })
    await arrived(2)
    await eventually(() => expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))
    expect(to.got.map(({ url }) => url)).to.deep.equal(['/hook', '/hook'])
  })

  it('REA-126 a delivery to the own site may fire again; it stops when nothing changes, or at depth five', async () => {
    to = await receiver()
    const setting = (path: string, state: string) =>
      trigger({
        resource: path,
        method: 'POST',
        action: [
          request('action', { url: `${to?.url}${path}` }),
          `@schema Site url("${NS}/1.0"); Site.PUT(Element.fromString("<div itemscope itemtype='${LOAN}'><i itemprop='ticket'>a</i><b itemprop='state'>" + ${state} + "</b></div>"), "/one.html")`,
        ],
      })
    await handling(
      handler({ becomes: 'out', url: '/settle' }) +
        setting('/settle', '"late"') +
        handler({ becomes: 'ping', url: '/swing?to=pong' }) +
        handler({ becomes: 'pong', url: '/swing?to=ping' }) +
        setting('/swing', 'Context.request.query.to'),
    )
    const settled = () =>
      eventually(() => expect(site.running.outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))
    const calls = (path: string) => to?.got.filter(({ url }) => url === path).length
    await site.ask('PUT', '/one.html', { body: page(loan('out', 'a')) })
    await eventually(() => expect(calls('/settle')).to.equal(1))
    await settled()
    expect((await site.ask('GET', '/one.html')).text).to.include('late')
    await site.ask('PUT', '/one.html', { body: page(loan('ping', 'a')) })
    await eventually(() => expect(calls('/swing')).to.equal(5))
    await settled()
    expect([calls('/settle'), calls('/swing')]).to.deep.equal([1, 5])
    expect((await site.ask('GET', '/one.html')).text).to.include('pong')
  })

  it('REA-121 a selector that says more than types never fires; :isa and lists do', async () => {
    to = await receiver()
    await handling(
      handler({ becomes: 'out', selector: `.loan[itemtype='${LOAN}']`, url: `${to.url}/no` }) +
        handler({ becomes: 'out', selector: `main > [itemtype='${LOAN}']`, url: `${to.url}/no` }) +
        handler({ becomes: 'out', selector: `p, [itemtype="${LOAN}"]`, url: `${to.url}/list` }) +
        handler({ becomes: 'out', selector: `:isa('${LOAN}')`, url: `${to.url}/isa` }),
    )
    await edit('POST', 'main', loan('out', 'a'))
    await arrived(2)
    expect(to.got.map(({ url }) => url).sort()).to.deep.equal(['/isa', '/list'])
  })

  it('REA-123 a gate sees the transition; one that is closed or fails holds it back', async () => {
    to = await receiver()
    await handling(
      handler({ becomes: 'out', when: 'self.path == "/loans.html"', url: `${to.url}/open` }) +
        handler({ becomes: 'out', when: 'false', url: `${to.url}/closed` }) +
        handler({ becomes: 'out', when: '1 / 0', url: `${to.url}/failing` }),
    )
    await edit('POST', 'main', loan('out', 'a'))
    await arrived(1)
    expect(to.got[0]?.url).to.equal('/open')
  })

  it('REA-124 an address or a field that is code disables the handler', async () => {
    to = await receiver()
    const dynamic = `<div itemprop="header" itemscope itemtype="${NS}/Pair">${meta('key', 'X')}${sessel('value', '1')}</div>`
    await handling(
      handler({ becomes: 'out', more: dynamic, url: `${to.url}/no` }) +
        handler({ becomes: 'out', more: meta('header', 'X-A: 1') + meta('header', 'Content-Type: a/b') }),
    )
    await edit('POST', 'main', loan('out', 'a'))
    await arrived(1)
    expect(to.got[0]?.headers).to.include({ 'x-a': '1', 'content-type': 'text/html' })
  })

  it('REA-122 a refused write and the mount fire nothing; REA-125 a failure is not repeated', async () => {
    to = await receiver((_, response) => response.writeHead(500).end())
    await handling(handler({ becomes: 'out' }))
    expect(
      (await site.ask('PUT', '/loans.html', { body: page(loan('out', 'a')), headers: { 'If-Match': '"no"' } })).status,
    ).to.equal(412)
    await put(site, '/direct.html', page(loan('out', 'z')))
    await edit('POST', 'main', loan('out', 'b'))
    await eventually(() => expect(site.running.outbound.figures()).to.include({ failed: 1, waiting: 0, inFlight: 0 }))
    expect(to.got).to.have.length(1)
  })
})
