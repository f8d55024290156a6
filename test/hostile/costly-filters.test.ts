/** Selectors of guards that take too long on a document (REA-23, REA-101): content does not switch them off. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { STEPS } from '../../pipeline/tree/selector/query.ts'
import { meta } from '../pipeline/model/markup.ts'
import { answering, NS, type ReactingSite, reactingSite, trigger } from '../pipeline/react/site.ts'
import { page, put } from '../support/content.ts'

/** One that tells soon on a short page. */
const COSTLY = Array.from({ length: 100 }, (_, i) => `:has(.x${i} ~ * .no)`).join()
const LOAN = 'urn:t:Loan'
const loan = (state: string) => `<div id="loan" itemscope itemtype="${LOAN}"><b itemprop="state">${state}</b></div>`
const pageOf = (filling: string) => page(`<main>${loan('out')}<ul id="list"></ul>${filling}</main>`)

const GUARD = trigger({
  resource: '/page.html',
  method: 'POST',
  selector: `main:not(${COSTLY}) #list`,
  action: answering(403, 'closed'),
})
const CONSTRAINT = `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${[
  meta('selector', `main:not(${COSTLY}) [itemtype="${LOAN}"]`),
  meta('property', 'state'),
  meta('from', 'out'),
  meta('to', 'back'),
].join('')}</div>`

describe('guards with selectors', () => {
  const usual = { ...STEPS }
  let site: ReactingSite
  before(async () => {
    Object.assign(STEPS, { free: 3_000, all: 3_000, most: 3_000 })
    site = await reactingSite({ '/page.html': pageOf(''), '/guards.html': page(GUARD + CONSTRAINT) })
  })
  after(async () => {
    Object.assign(STEPS, usual)
    await site.close()
  })

  const post = () => site.ask('POST', '/page.html', { headers: { Range: 'selector=#list' }, body: '<li>x</li>' })
  const change = (state: string) =>
    site.ask('PUT', '/page.html', {
      headers: { Range: 'selector=#loan b' },
      body: `<b itemprop="state">${state}</b>`,
    })

  const LONG = '<i></i>'.repeat(300)

  for (const [length, filling] of [
    ['short', ''],
    ['long', LONG],
  ] as const)
    it(`REA-23 REA-101 refuse on a ${length} page what they refuse on others`, async () => {
      await put(site, '/page.html', pageOf(filling))
      expect((await post()).status).to.equal(length === 'short' ? 403 : 503)
      expect((await change('lost')).status).to.equal(422)
      expect((await site.ask('GET', '/page.html')).text).not.to.match(/<li>|lost/)
      expect((await change('back')).status).to.equal(206)
    })
})
