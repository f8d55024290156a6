/** Selectors of guards that cannot be told on a document (REA-23, REA-101): content does not switch them off. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { STEPS } from '../../pipeline/tree/selector/query.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { ELEMENT, schema } from '../pipeline/compose/site-of-one-case.ts'
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
const constraintOn = (selector: string, to = 'back') =>
  `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${[
    meta('selector', selector),
    meta('property', 'state'),
    meta('from', 'out'),
    meta('to', to),
  ].join('')}</div>`
const CONSTRAINT = constraintOn(`main:not(${COSTLY}) [itemtype="${LOAN}"]`)

const post = (site: ReactingSite) =>
  site.ask('POST', '/page.html', { headers: { Range: 'selector=#list' }, body: '<li>x</li>' })
const change = (site: ReactingSite, state: string) =>
  site.ask('PUT', '/page.html', { headers: { Range: 'selector=#loan b' }, body: `<b itemprop="state">${state}</b>` })

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

  const LONG = '<i></i>'.repeat(300)

  for (const [length, filling] of [
    ['short', ''],
    ['long', LONG],
  ] as const)
    it(`REA-23 REA-101 refuse on a ${length} page what they refuse on others`, async () => {
      await put(site, '/page.html', pageOf(filling))
      expect((await post(site)).status).to.equal(length === 'short' ? 403 : 503)
      expect((await change(site, 'lost')).status).to.equal(422)
      expect((await site.ask('GET', '/page.html')).text).not.to.match(/<li>|lost/)
      expect((await change(site, 'back')).status).to.equal(206)
    })
})

describe('guards with selectors that have functions', () => {
  const none = ':not(:contains(text-of(.word)))'
  let site: ReactingSite
  before(async () => {
    const guard = trigger({
      resource: '/page.html',
      method: 'POST',
      selector: `#list${none}`,
      action: answering(403, 'closed'),
    })
    site = await reactingSite({ '/guards.html': page(guard + constraintOn(`[itemtype="${LOAN}"]${none}`)) })
  })
  after(() => site.close())

  for (const [what, filling, status] of [
    ['with one word', '<i class="word">w</i>', 403],
    ['with several words', '<i class="word">w</i><b class="word">v</b>', 500],
    ['with a word that is too long for a selector', `<i class="word">${'w'.repeat(9_000)}</i>`, 500],
  ] as const)
    it(`REA-23 REA-101 COMP-139 refuse on a page ${what} what they refuse on others`, async () => {
      await put(site, '/page.html', pageOf(filling))
      expect((await post(site)).status).to.equal(status)
      expect((await change(site, 'lost')).status).to.equal(422)
      expect((await site.ask('GET', '/page.html')).text).not.to.match(/<li>|lost/)
      expect((await change(site, 'back')).status).to.equal(206)
    })
})

describe('transition constraints of which one permits more than another', () => {
  const word = ':contains(text-of(.word))'
  let site: ReactingSite
  before(async () => {
    site = await reactingSite({})
  })
  after(() => site.close())

  for (const [what, other] of [
    ['is for all items', ''],
    ['has a function as well', `:not(${word})`],
  ] as const)
    it(`REA-101 COMP-139 content that makes the one invalid permits no more where the other ${what}`, async () => {
      const more = constraintOn(`[itemtype="${LOAN}"]${word}`, 'lost')
      await put(site, '/guards.html', page(constraintOn(`[itemtype="${LOAN}"]${other}`) + more))
      for (const [filling, status] of [
        ['<i class="word">w</i>', 422],
        ['<i class="word">w</i><i class="word">v</i>', 422],
        ['<i class="word">out</i>', 206],
      ] as const) {
        await put(site, '/page.html', pageOf(filling))
        expect((await change(site, 'lost')).status, filling).to.equal(status)
      }
    })
})

/** How many values are looked at to find where in a list others are, while something runs. */
async function lookedAt(run: () => Promise<unknown>): Promise<number> {
  const { indexOf } = Array.prototype
  let count = 0
  Array.prototype.indexOf = function (value: unknown, from = 0) {
    const at = indexOf.call(this, value, from)
    count += (at === -1 ? this.length : at) - from
    return at
  }
  try {
    await run()
  } finally {
    Array.prototype.indexOf = indexOf
  }
  return count
}

describe('guards of pages that are put together', () => {
  it('REA-23 COMP-6 find elements where they are written, as rules and requests do', async () => {
    const own = (name: string, markup: string) =>
      `<${name} class="guarded" xmlns:t="urn:t"><t:shown>${markup}</t:shown></${name}>`
    const elements = [
      own('p', '<div class="in">x</div>'),
      own('table', '<b class="in">x</b>'),
      own('li', '<li class="in">x</li>'),
    ]
    const method = { name: 'shown', returns: ELEMENT, sessel: `self.\${.in}.first()` }
    const guard = trigger({ method: 'POST', selector: '.guarded .in', action: answering(403, 'closed') })
    const site = await reactingSite({ '/t.html': schema('urn:t', [method]), '/guards.html': page(guard) })
    try {
      for (const [at, element] of elements.entries()) {
        await put(site, `/${at}.html`, composed(element))
        const headers = { Range: 'selector=.guarded .in' }
        expect((await site.ask('GET', `/${at}.html`, { headers })).status).to.equal(206)
        expect((await site.ask('POST', `/${at}.html`, { headers, body: 'y' })).status).to.equal(403)
      }
    } finally {
      await site.close()
    }
  })

  it('REA-23 SEC-12 where elements are stored is found in time that goes with their number', async () => {
    const LISTED = 2_000
    const list = `<b e:n="1"><p:stamp n/></b><ul>${'<li>x</li>'.repeat(LISTED)}</ul>`
    const site = await reactingSite({
      '/page.html': composed(list),
      '/guards.html': page(trigger({ method: 'GET', selector: 'li.no', action: answering(403, 'closed') })),
    })
    try {
      const headers = { Range: 'selector=li', Accept: 'multipart/mixed' }
      const looked = await lookedAt(async () => {
        const { status, text } = await site.ask('GET', '/page.html', { headers })
        expect([status, text.split('<li>').length - 1]).to.deep.equal([206, LISTED])
      })
      expect(looked).to.be.below(10 * LISTED)
    } finally {
      await site.close()
    }
  })
})
