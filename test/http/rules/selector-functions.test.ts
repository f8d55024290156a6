/**
 * COMP-139 in what authors declare: rules, filters of reactions, transitions, shapes. There, functions see the document that the
 * selector is asked of.
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put, ruleMarkup } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const MAIN =
  '<h2 data-top="b">2</h2><ul id="tasks"><li class="done" data-k="a">One</li><li data-k="b">Two</li><li class="done" data-k="c">Three</li></ul><i class="twice">x</i><i class="twice">y</i>'
const LOAN = 'https://l.example/Loan'

/** A selector of an author, that of a request, and whether the one covers what the other finds. */
const CASES: [author: string, client: string, covers: boolean | 'never' | 'invalid here'][] = [
  ['li:nth-child(count(h2))', 'li', true],
  ['li:nth-child(count(h2))', '#tasks > :nth-child(2)', false],
  ['li:nth-child(count(li.done))', '[data-k=b]', true],
  ['li:nth-child(count(li))', 'li:last-child', true],
  ['li[data-k=attr-of("data-top", h2)]', '[data-k=b]', true],
  ['li[data-k=attr-of("data-top", h2)]', '[data-k=a]', false],
  ['li[data-k=attr-of("data-none", h2)]', '[data-k=a]', false],
  ['li:nth-child(text-of(h2))', '[data-k=b]', 'never'],
  ['li:contains(text-of(li:last-child))', '[data-k=c]', true],
  ['li:not(:contains(text-of(li:last-child)))', '[data-k=c]', false],
  ['li[data-k=value-of(#nothing)]', '[data-k=a]', false],
  ['li:nth-child(count(.elsewhere))', '[data-k=a]', false],
  ['li:has(+ li:nth-child(count(li.done)))', '[data-k=a]', true],
  // Several where one is wanted make it invalid on this document.
  ['li:contains(text-of(.twice))', '[data-k=a]', 'invalid here'],
  ['li:nth-child(count(', '[data-k=a]', 'never'],
]

describe('COMP-139 functions in what authors declare', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await put(server, '/elsewhere.html', page('<p class="elsewhere">1</p>'))
    const rules = [['*', '*', 'Allow', '/t/*'] as const, ['*', '*', 'Allow', '/w/*'] as const].map(ruleMarkup)
    const triggers: string[] = []
    for (const [at, [author]] of CASES.entries()) {
      for (const folder of ['a', 'd', 't']) await put(server, `/${folder}/${at}.html`, page(MAIN))
      rules.push(
        ruleMarkup(['*', 'GET', 'Allow', `/a/${at}.html`, author]),
        ruleMarkup(['*', 'GET', 'Allow', `/d/${at}.html`]),
        ruleMarkup(['*', 'GET', 'Deny', `/d/${at}.html`, author]),
      )
      triggers.push(
        `<div itemscope itemtype="${NS}/Trigger"><meta itemprop="resource" content="/t/${at}.html"><meta itemprop="selector" content="${author.replaceAll('"', '&quot;')}"><div itemprop="action" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">@schema H url("${NS}/HTTPResponse"); throw new H { status: 418 }</script></div></div>`,
      )
    }
    await put(server, '/rules.html', page(rules.join('')))
    await put(server, '/triggers.html', page(triggers.join('')))
  })
  after(() => server.close())

  const status = async (path: string, selector: string, fields: Fields = {}) =>
    (await http('GET', path, { Range: `selector=${selector}`, ...fields })).status

  for (const [at, [author, selector, covers]] of CASES.entries()) {
    it(`RULE-10 a rule for ${author} and ${selector}: ${covers}`, async () => {
      expect(await status(`/a/${at}.html`, selector), 'Allow').to.equal(covers === true ? 206 : 401)
      // A refusal that cannot be told refuses everything.
      expect(await status(`/d/${at}.html`, selector), 'Deny').to.equal(covers === false ? 206 : 401)
    })
    it(`REA-23 a trigger for ${author} and ${selector}: ${covers}`, async () => {
      expect(await status(`/t/${at}.html`, selector)).to.equal(
        covers === true ? 418 : covers === 'invalid here' ? 500 : 206,
      )
    })
  }

  const STEPS: [selector: string, watches: boolean][] = [
    [`[itemtype="${LOAN}"]:nth-child(count(h2))`, true],
    [`[itemtype="${LOAN}"]:nth-child(count(.twice))`, false],
    [`[itemtype="${LOAN}"]:has(b:contains(text-of(h2)))`, true],
    [`[itemtype="${LOAN}"][data-k=attr-of("data-top", h2)]`, true],
    // What nobody can tell there watches.
    [`[itemtype="${LOAN}"]:contains(text-of(.twice))`, true],
  ]
  for (const [at, [selector, watches]] of STEPS.entries())
    it(`REA-101 a transition constraint for ${selector}: ${watches}`, async () => {
      const loan = (state: string) =>
        page(
          `<h2 data-top="b">2</h2><i class="twice">x</i><i class="twice">y</i><ul><li itemscope itemtype="${LOAN}" data-k="b"><b itemprop="state">${state}</b><b>2</b></li></ul>`,
        )
      const escaped = selector.replaceAll('"', '&quot;')
      await put(
        server,
        '/steps.html',
        page(
          `<div itemscope itemtype="${NS}/TransitionConstraint"><meta itemprop="selector" content="${escaped}"><meta itemprop="property" content="state"><meta itemprop="from" content="a"><meta itemprop="to" content="b"></div>`,
        ),
      )
      const path = `/w/${at}.html`
      await put(server, path, loan('a'))
      const move = async (state: string) =>
        (await http('PUT', path, { 'Content-Type': 'text/html' }, loan(state))).status
      expect(await move('c')).to.equal(watches ? 422 : 200)
      await put(server, path, loan('a'))
      expect(await move('b')).to.equal(200)
      await put(server, '/steps.html', page(''))
    })
})
