/** Rules of transitions, however many, are asked once for what they share (SEC-12, REA-101). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, putAll, rulesPage } from '../support/content.ts'
import { takesLess } from '../support/cost.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const meta = (name: string, value: string) => `<meta itemprop="${name}" content="${value}">`

const rule = (i: number) =>
  `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', "[itemtype='urn:t:Loan']")}` +
  `${meta('property', 'state')}${meta('from', `s${i}`)}${meta('to', `s${i + 1}`)}</div>`

const loans = (count: number, state: string) =>
  `<div itemscope itemtype="urn:t:Loan"><b itemprop="state">${state}</b></div>`.repeat(count)

describe('many transitions', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ settings: { limits: { writesPerMinute: 0 } } })
    send = client(server)
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'GET|PUT', 'Allow', '*']),
      '/transitions.html': page(Array.from({ length: 800 }, (_, i) => rule(i)).join('')),
      '/loans.html': page(loans(100, 's0')),
      '/loan.html': page(loans(1, 's7')),
    })
  })
  after(() => server.close())

  it('SEC-12 REA-101 REA-106 many rules of one type cost no more than the items that they watch', async () => {
    const write = () => send('PUT', '/loans.html', { 'Content-Type': 'text/html' }, page(loans(100, 's0')))
    await takesLess(150, async () => expect((await write()).status).to.equal(200))
  })

  it('REA-101 REA-109 each of them permits its step, and no other', async () => {
    const write = (state: string) =>
      send('PUT', '/loan.html', { Range: 'selector=b' }, `<b itemprop="state">${state}</b>`)
    expect((await write('s9')).status).to.equal(422)
    expect((await write('s8')).status).to.equal(206)
    expect((await write('s9')).status).to.equal(206)
  })
})
