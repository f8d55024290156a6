/** Rules of transitions, however many, are asked once for what they share (SEC-12, REA-101). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { fullAuthority } from '../../pipeline/authority.ts'
import { memoryBody } from '../../pipeline/body.ts'
import { perform } from '../../pipeline/operation.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import type { Fired } from '../../pipeline/write/transitions.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { NS, page, putAll, remove, rulesPage } from '../support/content.ts'
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
      '/told.html': page(
        schema('urn:t:Told', {}, property('k', { '@key': 'true', unique: 'true' })) +
          `<div hidden itemscope itemtype="${NS}/TransitionHandler">${meta('selector', "[itemtype='urn:t:Told']")}` +
          `${meta('property', 'state')}${meta('becomes', 'on')}<div itemprop="action" itemscope itemtype="${NS}/HttpRequest">` +
          `${meta('url', 'ftp://nobody.invalid/')}</div></div>`,
      ),
    })
  })
  after(() => server.close())

  it('SEC-12 REA-101 REA-106 many rules of one type cost no more than the items that they watch', async () => {
    const write = () => send('PUT', '/loans.html', { 'Content-Type': 'text/html' }, page(loans(100, 's0')))
    await takesLess(150, async () => expect((await write()).status).to.equal(200))
  })

  it('REA-95 SEC-12 items in items do not tell one text for each of them', async () => {
    const boxes = (count: number, content: string) =>
      Array.from(
        { length: count },
        (_, i) => `<div itemprop="in" itemscope itemtype="urn:t:Told">${meta('k', `${i}`)}${meta('state', 'on')}`,
      ).join('') + content
    const told = async (...args: Parameters<typeof boxes>) => {
      const fired: Fired[] = []
      const transitions = { fired: (more: readonly Fired[]) => void fired.push(...more) }
      const write = { path: '/boxes.html', type: 'text/html', conditions: undefined, cause: {}, transitions }
      await perform(
        putDocument(server.site, write, () => fullAuthority),
        memoryBody(Buffer.from(page(boxes(...args)))),
      )
      await remove(server, '/boxes.html')
      return fired.map(({ item }) => item?.length ?? 0)
    }
    const [letters, markup] = ['x'.repeat(200_000), '<i>x</i>'.repeat(25_000)]
    for (const content of [letters, markup]) {
      const lengths = await told(100, content)
      expect(lengths).to.have.length(100)
      expect(lengths.filter(length => length > 0)).to.have.length(39)
      expect(lengths.reduce((sum, length) => sum + length)).to.be.below(8 * 1024 * 1024)
    }
    expect(await told(2, 'x'.repeat(1024 * 1024))).to.deep.equal([0, 0])
    expect((await told(2, '&#9;'.repeat(400_000))).map(length => length > 0)).to.deep.equal([true, true])
  })

  it('REA-101 REA-109 each of them permits its step, and no other', async () => {
    const write = (state: string) =>
      send('PUT', '/loan.html', { Range: 'selector=b' }, `<b itemprop="state">${state}</b>`)
    expect((await write('s9')).status).to.equal(422)
    expect((await write('s8')).status).to.equal(206)
    expect((await write('s9')).status).to.equal(206)
  })
})
