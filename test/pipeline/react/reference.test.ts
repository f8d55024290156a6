/** The examples of the reference's chapter, on a real server, as they are written. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { withEmail } from '../../support/visitors.ts'
import { type Receiver, receiver } from './receiver.ts'
import { NS, page, type ReactingSite, reactingSite } from './site.ts'

const CHAPTER = new URL('../../../docs/reference/reactions.md', import.meta.url)
const EXAMPLES = [...readFileSync(CHAPTER, 'utf8').matchAll(/^```html\n(.*?)^```$/gms)].map(([, text = '']) =>
  text.replaceAll('{ns}', NS).replaceAll('{schema_host}', 'https://schema.org'),
)
const LOAN = 'https://library.example/Loan'

describe('Examples of the chapter on reactions', () => {
  let site: ReactingSite
  let to: Receiver
  before(async () => {
    to = await receiver()
    site = await reactingSite(
      {
        '/schema.html': page(
          `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${LOAN}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="note"></div></div>`,
        ),
        '/desk.html': page('<p itemscope itemtype="https://library.example/Desk"><b itemprop="token">s3cret</b></p>'),
        '/desk/today.html': page('today'),
        '/list.html': page(`<main></main>`),
        '/poll.html': page('<ul id="votes"></ul>'),
      },
      { site: { allowOutbound: true } },
    )
    const examples = EXAMPLES.join('\n').replace('https://hooks.example', to.url)
    await put(site, '/examples.html', page(examples))
  })
  after(async () => {
    await site.close()
    await to.close()
  })

  it('REA-4 nothing of them is left out', () => {
    expect(EXAMPLES.length).to.be.at.least(5)
    expect(site.site.declarations('reactions').findings('/examples.html')).to.deep.equal([])
  })

  it('REA-71 a page for what is not there', async () => {
    const reply = await site.ask('GET', '/none.html')
    expect([reply.status, reply.text]).to.deep.equal([404, "<h1>Nothing here</h1><p><a href='/'>To the start</a></p>"])
  })

  it('REA-30, REA-50 a guard with a challenge', async () => {
    const refused = await site.ask('GET', '/desk/today.html')
    expect([
      refused.status,
      refused.text,
      refused.headers.get('www-authenticate'),
      refused.headers.get('etag'),
    ]).to.deep.equal([401, 'Token needed', 'Basic', null])
    const read = (Authorization?: string) =>
      site.ask('GET', '/desk/today.html', Authorization === undefined ? {} : { headers: { Authorization } })
    expect((await read('s3cret')).text).to.equal(page('today'))
    const headers = { 'Content-Type': 'text/css-selector' }
    expect((await site.ask('QUERY', '/desk/today.html', { headers, body: 'body' })).status, 'a search').to.equal(401)
    await put(
      site,
      '/board.html',
      page('<p itemscope itemtype="https://library.example/Desk"><b itemprop="token">own</b></p>'),
    )
    expect((await read('own')).status, 'a token that a visitor has written').to.equal(401)
    await put(site, '/desk.html', page(''))
    for (const token of [undefined, '', 'own', 's3cret'])
      expect((await read(token)).status, 'without a token').to.equal(401)
  })

  it('REA-62 loans in a form of their own', async () => {
    expect((await site.ask('PUT', '/loans/9.html', { body: 'a note' })).status).to.equal(201)
    const stored = (await site.ask('GET', '/loans/9.html')).text
    expect(stored).to.include(LOAN).and.to.include('a note')
  })

  it('MOD-42, REA-62 a poll in which each has one vote, in their own name', async () => {
    const asAda = await withEmail(site, 'ada@poll.example')
    const vote = async (choice: string, place = '') => {
      const headers = { ...asAda, Range: `selector=#votes${place}` }
      return (await site.ask('POST', '/poll.html', { headers, body: choice })).status
    }
    const votes = await Promise.all(['red', 'blue', 'red', 'blue'].map(choice => vote(choice)))
    expect(votes.sort()).to.deep.equal([206, 422, 422, 422])
    expect(await vote('red', ' > :first-child; placement=after')).to.equal(422)
    const { text } = await site.ask('GET', '/poll.html')
    const [forged = ''] = /<ul.*<\/ul>/s.exec(text.replace('content="u"', 'content="bo"')) ?? []
    const elsewhere = { headers: { ...asAda, Range: 'selector=main' }, body: forged }
    expect((await site.ask('POST', '/list.html', elsewhere)).status, 'a vote in another list').to.equal(422)
    expect([...text.matchAll(/itemprop="voter" content="(.*?)"/g)].map(([, voter]) => voter)).to.deep.equal(['u'])
  })

  it('REA-80, REA-81 another system is told after success', async () => {
    const reply = await site.ask('POST', '/list.html', { headers: { Range: 'selector=main' }, body: '<p>x</p>' })
    expect(reply.status).to.equal(206)
    await eventually(() => expect(to.got).to.have.length(1))
    expect(to.got[0]).to.include({ method: 'POST', url: '/loan', body: '{"at":"/list.html","status":206}' })
    expect(to.got[0]?.headers).to.include({ 'content-type': 'application/json', 'x-token': 't-1' })
  })

  it('REA-100 a step that the constraint permits, and one that it does not', async () => {
    const loan = (state: string) => page(`<p itemscope itemtype="${LOAN}"><b itemprop="state">${state}</b></p>`)
    for (const [from, to, status] of [
      ['out', 'back', 200],
      ['out', 'lost', 422],
    ] as const) {
      await put(site, '/one.html', loan(from))
      expect((await site.ask('PUT', '/one.html', { body: loan(to) })).status).to.equal(status)
    }
  })
})
