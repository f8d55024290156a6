/** Guards of a site that look at its pages (JS-24): what a visitor asked before changes nothing of what they see. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { listen } from '../pipeline/events/stream-client.ts'
import {
  answering,
  javascript,
  NS,
  page,
  processor,
  type ReactingSite,
  reactingSite,
  trigger,
} from '../pipeline/react/site.ts'
import { put, rulesPage } from '../support/content.ts'

describe('guards that look at a page', () => {
  it('JS-24 see it, however many requests they let pass without a look', async () => {
    const refusal = `throw { itemtype: "${NS}/HTTPResponse", status: 403, message: "closed" }`
    const guard = `export default ({ request }) => { if (request.method === "POST" && document.querySelector(".closed")) ${refusal} }`
    const site = await reactingSite({
      '/page.html': page('<ul id="l" class="closed"></ul>'),
      '/guard.html': page(trigger({ resource: '/page.html', action: javascript('action', guard) })),
    })
    try {
      const range = { Range: 'selector=#l' }
      const post = () => site.ask('POST', '/page.html', { headers: range, body: '<li>x</li>' })
      // Where workers take long to start, some are told to come again.
      const read = async (): Promise<number> => {
        const { status } = await site.ask('GET', '/page.html')
        return status === 503 ? read() : status
      }
      // At once, so that every worker has seen such a request.
      const reads = await Promise.all(Array.from({ length: 16 }, read))
      expect(reads).to.deep.equal(reads.map(() => 200))
      for (let i = 0; i < 4; i++) expect((await post()).status).to.equal(403)
    } finally {
      await site.close()
    }
  })
})

describe('guards of elements, and requests about the whole page', () => {
  let site: ReactingSite
  before(async () => {
    site = await reactingSite({
      '/page.html': page('<p class="free">x</p><p class="closed">kept</p>'),
      '/programs.html': page('<p class="closed">kept</p>'),
      '/guard.html': page(
        trigger({ resource: '/page.html', selector: '.closed', action: answering(403, 'closed') }) +
          processor({ resource: '/programs.html', selector: '.closed', action: 'Context.response.body = "left out"' }),
      ),
    })
  })
  after(() => site.close())

  const PROGRAM = { body: `\${.closed}.first()`, headers: { 'Content-Type': 'text/sessel' } }
  for (const selector of ['.free', '.closed', '.none']) {
    const Range = `selector=${selector}`
    it(`REA-23 EVT-1 a stream covers the whole, whatever it says of ${selector}`, async () => {
      const { status } = await site.ask('GET', '/page.html', { headers: { Accept: 'text/event-stream', Range } })
      expect(status).to.equal(403)
    })

    it(`REA-23 SES-233 a program sees the whole, whatever it says of ${selector}`, async () => {
      const { body, headers } = PROGRAM
      const ask = (path: string) => site.ask('QUERY', path, { body, headers: { ...headers, Range } })
      const [{ status }, { text }] = [await ask('/page.html'), await ask('/programs.html')]
      expect([status, text]).to.deep.equal([403, 'left out'])
    })
  }
})

describe('guards that come while streams are open', () => {
  let site: ReactingSite
  before(async () => {
    site = await reactingSite({ '/page.html': page('<p>x</p>'), '/other.html': page('<p>x</p>') })
  })
  after(() => site.close())

  const guard = (method: string, when: string) =>
    trigger({ resource: '/page.html', method, when, otherwise: answering(403, 'closed') })
  const write = async (path: string, text: string) => {
    const headers = { Range: 'selector=p' }
    expect((await site.ask('PUT', path, { headers, body: `<p>${text}</p>` })).status).to.equal(206)
  }
  /** What a stream hears, and whether it is open afterwards, where reactions have been stored since it was opened. */
  async function heard(path: string, before: string, after: string): Promise<string> {
    await put(site, '/guard.html', page(before))
    const stream = await listen(site, path)
    await put(site, '/guard.html', page(after))
    await write(path, 'told')
    await Promise.race([stream.ended, stream.until(() => stream.mutations.length > 0).catch(() => undefined)])
    const text = stream.text
    stream.close()
    await put(site, '/guard.html', page(''))
    return text.includes('told') ? 'told' : text.includes('reset') ? 'reset' : 'closed'
  }

  for (const [what, path, before, after, expected] of [
    ['one that refuses', '/page.html', '', guard('GET', '1 == 2'), 'closed'],
    [
      'one beside another',
      '/page.html',
      guard('GET', '1 == 1'),
      guard('GET', '1 == 1') + guard('GET', '1 == 2'),
      'closed',
    ],
    ['one that refuses more than before', '/page.html', guard('GET', '1 == 1'), guard('GET', '1 == 2'), 'closed'],
    ['one of another page', '/other.html', '', guard('GET', '1 == 2'), 'told'],
    ['one of another method', '/page.html', '', guard('DELETE', '1 == 2'), 'told'],
    [
      'the same, somewhere else',
      '/page.html',
      guard('GET', '1 == 1'),
      `<p>new</p>${guard('POST', '1 == 2')}${guard('GET', '1 == 1')}`,
      'told',
    ],
    ['none any more', '/page.html', guard('GET', '1 == 1'), '', 'told'],
  ] as const)
    it(`EVT-65 EVT-3 ${what}`, async () => {
      expect(await heard(path, before, after)).to.equal(expected)
    })

  it('EVT-65 EVT-47 who is let in by the new one comes back, and misses nothing', async () => {
    const stream = await listen(site, '/page.html')
    await write('/page.html', 'first')
    await stream.until(() => stream.mutations.length > 0)
    const id = stream.mutations[0]?.id ?? ''
    await put(site, '/guard.html', page(guard('GET', '1 == 1')))
    await write('/page.html', 'second')
    expect(await stream.ended).to.equal(true)
    const again = await listen(site, '/page.html', { 'Last-Event-ID': id })
    await again.until(() => again.mutations.length > 0)
    expect(again.text).to.include('second').and.not.include('first')
    again.close()
  })
})

describe('guards of elements, and items that refer to them', () => {
  const CLOSED = '<section class="e closed" id="closed"><b itemprop="note">kept</b></section>'
  const item = (itemref: string, more = '') =>
    page(
      `<div class="e mine" itemscope itemref="${itemref}">${more}</div><i id="open" itemprop="note">open</i>${CLOSED}`,
    )
  const PAGES: Record<string, string> = {
    '/direct.html': item('open closed'),
    '/nested.html': item('', '<u itemprop="part" itemscope itemref="closed"></u>'),
    '/led.html': item('led', '').replace('<i ', '<u id="led" itemprop="part" itemscope itemref="closed"></u><i '),
    '/open.html': item('open'),
  }
  let site: ReactingSite
  before(async () => {
    const resource = Object.keys(PAGES)
    const guard = trigger({ resource, method: 'GET', selector: '.closed', action: answering(403, 'closed') })
    const redaction = processor({
      resource: '/redacted.html',
      selector: '.closed',
      action: 'Context.response.body = "left out"',
    })
    site = await reactingSite({
      ...PAGES,
      '/guard.html': page(guard + redaction),
      '/redacted.html': item('closed'),
    })
  })
  after(() => site.close())

  const ask = (method: string, path: string, Accept: string) =>
    site.ask(method, path, { headers: { Range: 'selector=.mine', Accept } })
  for (const path of Object.keys(PAGES))
    it(`REA-23 HTTP-70 JSON-LD of ${path} is about what its items refer to`, async () => {
      const expected = path === '/open.html' ? 206 : 403
      for (const method of ['GET', 'HEAD'])
        expect((await ask(method, path, 'application/ld+json')).status, method).to.equal(expected)
      expect((await ask('GET', path, 'text/html')).status, 'markup').to.equal(206)
    })

  it('REA-23 HTTP-70 a processor of what an item refers to sees its JSON-LD', async () => {
    expect((await ask('GET', '/redacted.html', 'application/ld+json')).text).to.equal('left out')
  })
})

describe('guards of elements, and what stands beside elements that the page puts in another place', () => {
  const LIST = '<ul class="closed"><li id="kept">kept</li></ul>'
  const composed = (shown: string) =>
    page(`<main xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS">${shown}${LIST}</main>`)
  const PAGES: Record<string, string> = {
    '/stamp.html': composed('<div id="shown" r:each="#kept"><p:stamp each/></div>').replaceAll('kept', 'a'),
    '/include.html': composed('<div id="shown"><p:include selector="#kept" resource="/include.html"/></div>'),
  }
  let site: ReactingSite
  before(async () => {
    const guard = trigger({ resource: Object.keys(PAGES), selector: '.closed', action: answering(403, 'closed') })
    site = await reactingSite({ ...PAGES, '/guard.html': page(guard) })
  })
  after(() => site.close())

  for (const path of Object.keys(PAGES))
    for (const placement of ['before', 'after', 'append'])
      it(`REA-23 COMP-86 ${placement} ${path}`, async () => {
        const headers = { Range: `selector=#shown > li; placement=${placement}` }
        const { status } = await site.ask('POST', path, { headers, body: '<b>new</b>' })
        expect(status).to.equal(placement === 'append' ? 206 : 403)
      })
})

describe('guards of pages, and selectors that fail on them', () => {
  let site: ReactingSite
  before(async () => {
    const resource = '/kept/*'
    site = await reactingSite({
      '/kept/page.html': page('<p id="g">kept</p>'),
      '/parts.html': page('<p class="closed">kept</p><p>open</p>'),
      '/guard.html': page(
        ['GET', 'QUERY'].map(method => trigger({ resource, method, action: answering(403, 'closed') })).join('') +
          trigger({ resource: '/parts.html', selector: '.closed', action: answering(403, 'closed') }),
      ),
      '/rules.html': rulesPage(['*', 'GET', 'Allow', '/*']),
    })
  })
  after(() => site.close())

  const BY_VALUE = '#g:less-than(text-of(#g))'
  const guess = (text: string) => `*:contains(text-of(#g:contains("${text}"), body))`
  for (const method of ['GET', 'HEAD', 'QUERY', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH'])
    it(`HTTP-6 REA-22 SEC-6 a ${method} with one is what it is with any other`, async () => {
      const of = async (selector: string) => {
        const isQuery = method === 'QUERY'
        const headers = {
          ...(isQuery ? { 'Content-Type': 'text/css-selector' } : { Range: `selector=${selector}` }),
          ...(method === 'MOVE' && {
            Destination: '/kept/page.html',
            'Destination-Range': 'selector=#g; placement=append',
          }),
        }
        const body = isQuery ? selector : /^P(?!A)/.test(method) ? '<p>x</p>' : undefined
        const { status, text } = await site.ask(method, '/kept/page.html', {
          headers,
          ...(body !== undefined && { body }),
        })
        return `${status} ${text}`
      }
      const expected = await of(guess('other'))
      expect(expected).to.match(/^40[13] /)
      expect([await of(guess('kept')), await of(BY_VALUE)]).to.deep.equal([expected, expected])
    })

  for (const body of ['p:has(', ' ', '#g:nth-child(text-of(#g) x)', 'p'.repeat(300_000), Buffer.from([0x70, 0xff])])
    it(`HTTP-1 REA-22 a QUERY by ${body.slice(0, 12)} does not tell what is stored`, async () => {
      const headers = { 'Content-Type': 'text/css-selector' }
      const of = async (path: string) => {
        const { status, text } = await site.ask('QUERY', path, { headers, body })
        return `${status} ${text}`
      }
      expect(await of('/kept/page.html')).to.equal(await of('/kept/none.html'))
    })

  it('COMP-139 HTTP-170 what a function has found is not told', async () => {
    const headers = { Range: 'selector=p:not(.closed):less-than(text-of(.closed))' }
    const { status, text } = await site.ask('GET', '/parts.html', { headers })
    expect(status).to.equal(422)
    expect(text).to.include('cannot be used').and.not.include('kept')
  })
})

describe('guards that look at what is sent', () => {
  const LISTS = {
    '/list.html': ['<ul id="l"></ul>', 'new body { Document.parse(Context.request.body) }'],
    '/items.html': ['<ul id="l"></ul>', '(new ul).setHTML(Context.request.body)'],
    '/rows.html': ['<table><tbody id="l"></tbody></table>', '(new tbody).setHTML(Context.request.body)'],
  } as const
  let site: ReactingSite
  before(async () => {
    const guards = Object.entries(LISTS).map(([resource, [, sent]]) =>
      trigger({ resource, method: 'POST', when: `${sent}.\${[data-by]}.count()`, action: answering(403, 'closed') }),
    )
    const lists = Object.entries(LISTS).map(([path, [list]]) => [path, page(list)])
    site = await reactingSite({ ...Object.fromEntries(lists), '/guard.html': page(guards.join('')) })
  })
  after(() => site.close())

  const SENT: Record<string, string> = {
    'by itself': '',
    'in a document of frames': '<html><frameset></frameset></html>',
    'behind a doctype and a frameset': '<!doctype html><frameset>',
    'behind a head and a frameset': '<!-- --><head></head><frameset><frame></frameset>',
  }
  for (const path of Object.keys(LISTS))
    for (const [what, before] of Object.entries({ ...SENT, 'behind a hidden field': '<input type="hidden">' }))
      it(`SES-145 REA-30 an element ${what}, in ${path}`, async () => {
        const post = (own: string) => {
          const item = path === '/rows.html' ? `<tr${own}><td>x</td></tr>` : `<li${own}>x</li>`
          return site.ask('POST', path, { headers: { Range: 'selector=#l' }, body: before + item })
        }
        expect((await post(' data-by="another"')).status).to.equal(403)
        expect((await post('')).status).to.be.oneOf([206, 422])
      })
})
