/** What one request, or a stream of them, can have this server send to others (REA-88, REA-95): bounded, whatever a site says. */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { createOutbound } from '../../pipeline/react/outbound/queue.ts'
import { LARGEST_QUEUE, MOST_WAITING } from '../../pipeline/react/outbound/waiting.ts'
import { page, type ReactingSite, reactingSite, request, sessel, trigger } from '../pipeline/react/site.ts'
import { NS } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'

describe('calls that lead to calls', () => {
  let site: ReactingSite | undefined
  afterEach(() => site?.close())

  it('REA-88 a site that calls itself many times over comes to rest', async () => {
    const again = Array.from({ length: 8 }, () => request('action', { url: '/again' }))
    site = await reactingSite({ '/t.html': page(trigger({ resource: '/again', method: 'POST', action: again })) })
    const { outbound } = site.running
    await site.ask('POST', '/again', { body: 'x' })
    await eventually(() => {
      const { waiting, inFlight, delivered, failed } = outbound.figures()
      if (delivered + failed > 3_000) throw new Error(`one request has led to ${delivered + failed} calls`)
      expect(waiting + inFlight).to.equal(0)
    })
    // 8, and of these 8 each, of which 4 and then 1 each; those are not made any more at depth five.
    const { delivered, failed } = outbound.figures()
    expect(delivered + failed).to.equal(8 + 64 + 256 + 256 + 256 + 256)
  })

  it('REA-95 gates of transitions share what one request may spend', async () => {
    const type = 'urn:t:Loan'
    const ten = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'
    const gate = sessel('when', `${ten}.map(a => ${ten}.map(b => ${ten}.map(c => ${ten}.map(d => d)))).count() > 0`)
    const keyed = `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${type}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="ticket"><meta itemprop="unique" content="true"><meta itemprop="@key" content="true"></div></div>`
    const handler = `<div itemscope itemtype="${NS}/TransitionHandler"><meta itemprop="selector" content="[itemtype='${type}']"><meta itemprop="property" content="state"><meta itemprop="becomes" content="out">${gate}<div itemprop="action" itemscope itemtype="${NS}/HttpRequest"><meta itemprop="url" content="/seen"></div></div>`
    site = await reactingSite({ '/t.html': page(handler), '/schema.html': page(keyed) })
    const { outbound } = site.running
    const loans = Array.from(
      { length: 400 },
      (_, i) => `<p itemscope itemtype="${type}"><i itemprop="ticket">${i}</i><i itemprop="state">out</i></p>`,
    )
    expect((await site.ask('PUT', '/loans.html', { body: page(loans.join('')) })).status).to.equal(201)
    await eventually(() => expect(outbound.figures().delivered + outbound.figures().failed).to.be.above(0))
    await eventually(() => expect(outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))
    expect(outbound.figures().delivered + outbound.figures().failed).to.be.below(400)
  })
})

describe('calls that wait', () => {
  const about = { site: 's', authority: 'localhost', brand: 'b', brandHeader: 'B', depth: 0 }
  const call = (body = '') => ({ url: 'https://hooks.example/', method: 'POST', fields: [], body, retries: 0 })

  function stuck() {
    const log: string[] = []
    const outbound = createOutbound({
      notes: { note: async () => undefined, noteKeys: async () => [], changeNotes: async () => undefined },
      leases: { hold: (_site, _paths, work) => work() },
      shared: false,
      send: () => new Promise(() => undefined),
      log: (_level, message) => log.push(message),
      clock: () => 1_000,
    })
    return { outbound, log }
  }

  it('REA-95 of one site are so many at most; others have their own', () => {
    const { outbound, log } = stuck()
    for (let i = 0; i < MOST_WAITING + 300; i++) outbound.deliver(outbound.entries([call()], about))
    expect(outbound.figures().waiting).to.be.within(MOST_WAITING - 100, MOST_WAITING)
    expect(outbound.figures().failed).to.be.within(200, 300)
    expect(log, 'told once a second').to.deep.equal(['Outbound requests are dropped: too many of the site wait'])
    expect(outbound.entries([call()], { ...about, site: 'other' })).to.have.length(1)
  })

  it('REA-95 of one site take so many bytes at most', () => {
    const { outbound } = stuck()
    const body = 'x'.repeat(1024 * 1024)
    let taken = 0
    for (let i = 0; i < 200; i++) {
      const entries = outbound.entries([call(body)], about)
      taken += entries.length
      outbound.deliver(entries)
    }
    expect(taken * body.length).to.be.within(LARGEST_QUEUE - body.length, LARGEST_QUEUE + 20 * body.length)
  })

  it('REA-95 make room when they are done', async () => {
    let finish = () => {}
    const outbound = createOutbound({
      notes: { note: async () => undefined, noteKeys: async () => [], changeNotes: async () => undefined },
      leases: { hold: (_site, _paths, work) => work() },
      shared: false,
      send: () =>
        new Promise(done => {
          const before = finish
          finish = () => {
            before()
            done({ ok: true, status: 204 })
          }
        }),
      log: () => undefined,
    })
    for (let i = 0; i < MOST_WAITING + 50; i++) outbound.deliver(outbound.entries([call()], about))
    expect(outbound.entries([call()], about)).to.have.length(0)
    while (outbound.figures().waiting > 0) {
      const now = finish
      finish = () => {}
      now()
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(outbound.entries([call()], about)).to.have.length(1)
  })
})
