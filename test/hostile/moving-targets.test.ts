/** A guard is asked for the element that a request is about when it is carried out, whatever has come in between (REA-23). */

import { once } from 'node:events'
import { request } from 'node:http'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Guard } from '../../pipeline/operation.ts'
import { byGuards } from '../../pipeline/read/standing-rules.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { answering, NS, type ReactingSite, reactingSite, trigger } from '../pipeline/react/site.ts'
import { page, put } from '../support/content.ts'

const SITE = `@schema Site url("${NS}/1.0"); `
const LOCKED = '<b class="e locked"><i>kept</i></b>'

describe('guards of elements that come into the place of others', () => {
  let site: ReactingSite
  before(async () => {
    const guards = [
      { resource: '/p.html', method: ['PUT', 'POST'], selector: '.locked', action: answering(403, 'closed') },
      { resource: '/c.html', selector: '.locked', action: answering(403, 'closed') },
      { resource: '/c.html', action: `${SITE}Site.DELETE($${'{.part .e}'}.first())` },
      { resource: '/own.html', selector: '.locked', action: answering(403, 'closed') },
      { resource: '/own.html', action: `${SITE}Site.DELETE($${'{.own}'}.first())` },
    ]
    site = await reactingSite(
      { '/guards.html': page(guards.map(trigger).join('')) },
      { site: { mountReactions: true } },
    )
  })
  after(() => site.close())

  const stored = async (path: string) => {
    const file = await site.site.find(path)
    return file?.bytes && Buffer.from(file.bytes).toString()
  }

  for (const [method, where] of [
    ['PUT', 'the site'],
    ['POST', 'the site'],
    ['PUT', 'the mount'],
  ] as const)
    it(`REA-23 ${method} on ${where} to what others have made the first match while its body was on its way`, async () => {
      await put(site, '/p.html', page(`<i class="e own">x</i>${LOCKED}`))
      const body = '<b class="e">taken</b>'
      const fields = { Range: 'selector=.e', 'Content-Type': 'text/html' }
      const headers = { ...fields, Expect: '100-continue', 'Content-Length': body.length }
      const url = where === 'the mount' ? site.mountUrl : `http://localhost:${site.port}`
      const sent = request(`${url}/p.html`, {
        method,
        headers,
        auth: where === 'the mount' ? `${site.user}:${site.password}` : null,
      })
      sent.flushHeaders()
      // The body is asked for once triggers have run.
      await once(sent, 'continue')
      const removed = await site.ask('DELETE', '/p.html', { headers: { Range: 'selector=.own' } })
      expect(removed.status).to.equal(204)
      sent.end(body)
      const [answer] = await once(sent, 'response')
      answer.resume()
      const { text } = await site.ask('GET', '/p.html')
      expect([answer.statusCode, text]).to.deep.equal([503, page(LOCKED)])
    })

  /** Selects one alone. */
  const FIRST = '.part:has(.e) .e, .part:not(:has(.e)) ~ .e'
  const REQUESTS: [method: string, fields: Record<string, string>, body?: string][] = [
    ['GET', { Range: 'selector=.e' }],
    ['HEAD', { Range: 'selector=.e' }],
    ['GET', { Range: `selector=${FIRST}`, Accept: 'multipart/mixed' }],
    ['QUERY', { Range: 'selector=.e', 'Content-Type': 'text/css-selector' }, FIRST],
    ['GET', { Range: 'selector=.e', 'If-Match': '"x"' }],
    ['GET', { Range: `selector=${FIRST}; entries=7-8`, Accept: 'multipart/mixed' }],
    ['QUERY', { Range: 'selector=.e', 'Content-Type': 'text/css-selector', 'If-Match': '"x"' }, FIRST],
    ['PUT', { Range: 'selector=.e' }, '<b class="e">taken</b>'],
    ['PUT', { Range: 'selector=.e', 'If-Match': '"x"' }, '<b class="e">taken</b>'],
    ['POST', { Range: 'selector=.e', 'If-Match': '"x"' }, 'more'],
    ['DELETE', { Range: 'selector=.e', 'If-Match': '"x"' }],
    [
      'MOVE',
      {
        Range: 'selector=.e',
        'If-Match': '"x"',
        'Destination-Range': 'selector=#to; placement=after',
        Destination: '/c.html',
      },
    ],
    ['POST', { Range: 'selector=.e' }, 'more'],
    ['POST', { Range: 'selector=.e > i; placement=after' }, 'more'],
    ['DELETE', { Range: 'selector=.e' }],
    ['MOVE', { Range: 'selector=.e', 'Destination-Range': 'selector=#to; placement=after', Destination: '/c.html' }],
  ]
  for (const [method, headers, body] of REQUESTS)
    it(`REA-23 ${method} ${JSON.stringify(headers)} to what a trigger of another document has made the first match`, async () => {
      const text = composed(`<p:include selector=".part" resource="/part.html"></p:include>${LOCKED}<i id="to"></i>`)
      await put(site, '/part.html', page('<u class="part"><i class="e"><i>x</i></i></u>'))
      await put(site, '/c.html', text)
      const { status } = await site.ask(method, '/c.html', { headers, ...(body !== undefined && { body }) })
      expect([status, await stored('/c.html')]).to.deep.equal([503, text])
    })

  it('REA-23 triggers are asked about an element that one of them has uncovered: at the next attempt it is refused', async () => {
    await put(site, '/own.html', page(`<i class="e own">x</i>${LOCKED}`))
    const request = { headers: { Range: 'selector=.e' }, body: '<b class="e">new</b>' }
    const ask = async () => (await site.ask('PUT', '/own.html', request)).status
    expect([await ask(), await ask()]).to.deep.equal([503, 403])
    expect(await stored('/own.html')).to.equal(page(LOCKED))
  })

  it('REA-23 an answer is made once, however often others write while it is made', async () => {
    let version = 0
    let made = 0
    const tree = { kind: 'html', source: '', root: { nodeName: '#document', childNodes: [] }, clean: true } as const
    const guard: Guard = async ({ view }) => view.file.resource.version === version
    const answer = await byGuards(guard, async ask => {
      const file = { resource: { path: '/p.html', version } }
      ask(
        { file, tree: { ...tree, root: { ...tree.root, childNodes: [] } }, routed: false, originOf: () => undefined },
        [],
      )
      version++
      return { status: 200 + made++, headers: {} }
    })
    expect([answer?.status, made]).to.deep.equal([200, 1])
  })
})
