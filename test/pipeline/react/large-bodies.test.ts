/** Bodies that are larger than what is held in memory, as code of reactions sees them (REA-40, REA-42, REA-70, REA-95). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { bytesOfBodies, limitBodies, mostBodies } from '../../../edge/request-body.ts'
import { put } from '../../support/content.ts'
import { javascript, NS, page, processor, type ReactingSite, reactingSite, trigger } from './site.ts'

const LONG = 'x'.repeat(300_000)
/** What is read in several turns, each character in two of its pieces once. */
const MARKED = `\ufeffa${'é'.repeat(1024 * 1024)}`
/** More than code may hold. */
const HUGE = Buffer.alloc(70 * 1024 * 1024, 'x')
const shows = (expression: string) =>
  `@schema HTTPResponse url("${NS}/HTTPResponse"); throw new HTTPResponse { status: 299, body: String(${expression}) }`
const jsShows = (expression: string) =>
  javascript(
    'action',
    `export default ctx => { throw { itemtype: "${NS}/HTTPResponse", status: 299, body: String(${expression}) } }`,
  )

describe('Large bodies', () => {
  let site: ReactingSite
  before(async () => {
    site = await reactingSite({
      '/stored.txt': LONG,
      '/t.html': page(
        [
          trigger({ resource: '/request', method: 'PUT', action: shows('Context.request.body.count()') }),
          trigger({ resource: '/raw', method: 'PUT', action: shows('Context.request.rawBody.count()') }),
          trigger({ resource: '/script', method: 'PUT', action: jsShows('ctx.request.body.length') }),
          trigger({ resource: '/gate', method: 'PUT', when: 'Context.request.body == ""', action: '1' }),
          trigger({
            resource: '/caught',
            method: 'PUT',
            action: `try { Context.request.body } catch (e) { 1 }; ${shows('1').replace(/^@[^;]*;/, '')}`.replace(
              /^/,
              `@schema HTTPResponse url("${NS}/HTTPResponse"); `,
            ),
          }),
          trigger({
            resource: '/caught-script',
            method: 'PUT',
            action: javascript('action', 'export default ctx => { try { ctx.request.body } catch (e) { } }'),
          }),
          trigger({ resource: '/passing', method: 'PUT', action: 'Context.request.headers.count()' }),
          trigger({ resource: '/into/*', action: 'Context.request.headers.count()' }),
          processor({ resource: '/passing', action: 'Context.response.headers["X-Seen"] = "1"' }),
          processor({ resource: '/later', method: 'PUT', action: shows('Context.request.body.count()') }),
          processor({ resource: '/stored.txt', action: shows('Context.response.body.count()') }),
          processor({
            resource: '/marked.txt',
            action: jsShows('[...new Set(ctx.response.body)].join() + ctx.response.body.length'),
          }),
          processor({ resource: '/huge.txt', action: jsShows('ctx.response.body.length') }),
        ].join(''),
      ),
    })
    await put(site, '/huge.txt', HUGE)
    await put(site, '/marked.txt', MARKED)
  })
  after(() => site.close())
  const upload = (path: string, body: string | Uint8Array) =>
    site.ask('PUT', path, { headers: { 'Content-Type': 'text/plain' }, body })

  for (const path of ['/request', '/raw', '/script', '/later'])
    it(`REA-40 ${path} reads a body of 300,000 bytes`, async () => {
      const reply = await upload(path, LONG)
      expect([reply.status, reply.text]).to.deep.equal([299, '300000'])
    })

  for (const path of ['/request', '/raw', '/script', '/gate', '/caught', '/caught-script'])
    it(`REA-95, HTTP-172 ${path} is 503 for a body of 70 MiB, and nothing is stored`, async () => {
      const reply = await upload(path, HUGE)
      expect([reply.status, reply.text.includes('BudgetExceeded')]).to.deep.equal([503, true])
      expect(await site.site.find(path)).to.equal(undefined)
    })

  it('REA-95 SEC-12 files that processors read count as bodies that requests hold, until their answers have left', async () => {
    const before = mostBodies()
    const statusWithin = async (bytes: number) => {
      limitBodies(bytesOfBodies() + bytes)
      return (await site.ask('GET', '/stored.txt')).status
    }
    try {
      expect(await statusWithin(LONG.length - 1)).to.equal(503)
      expect(await statusWithin(LONG.length)).to.equal(299)
      expect(await statusWithin(LONG.length)).to.equal(299)
    } finally {
      limitBodies(before)
    }
  })

  it('REA-70 what nobody looks at passes in any size, byte for byte', async () => {
    const reply = await upload('/passing', HUGE)
    expect([reply.status, reply.headers.get('x-seen')]).to.deep.equal([201, '1'])
    const stored = await site.ask('GET', '/passing')
    expect([stored.status, stored.bytes.equals(HUGE), stored.headers.get('x-seen')]).to.deep.equal([200, true, '1'])
  })

  it('COMP-108 nor is it too large for a POST that stores it', async () => {
    const reply = await site.ask('POST', '/into/', { headers: { 'Content-Type': 'text/plain' }, body: HUGE })
    expect([reply.status, reply.text]).to.deep.equal([201, ''])
    expect((await site.site.find(reply.headers.get('location') ?? ''))?.resource.size).to.equal(HUGE.length)
  })

  it('REA-42 SEC-12 one that is read in turns is the same text, with its mark', async () => {
    expect((await site.ask('GET', '/marked.txt')).text).to.equal(`\ufeff,a,é${MARKED.length}`)
  })

  it('REA-42 an answer that is kept in a file is read; one of 70 MiB is 503', async () => {
    expect((await site.ask('GET', '/stored.txt')).text).to.equal('300000')
    expect((await site.ask('GET', '/huge.txt')).status).to.equal(503)
  })
})

describe('Large bodies on a server with little memory', () => {
  /** More than fits twice, as pieces and as the whole. */
  const body = Buffer.alloc(2 * 1024 * 1024, 'x')

  it('REA-95, SEC-12 what code cannot be shown for want of memory is 503 as what is too large, and passes unseen', async () => {
    const site = await reactingSite(
      {
        '/t.html': page(
          [
            trigger({ resource: '/request', method: 'PUT', action: shows('Context.request.body.count()') }),
            trigger({ resource: '/passing', method: 'PUT', action: 'Context.request["headers"].count()' }),
          ].join(''),
        ),
      },
      { settings: { limits: { bodies: '3 MiB' } } },
    )
    try {
      const send = (path: string) => site.ask('PUT', path, { headers: { 'Content-Type': 'text/plain' }, body })
      const reply = await send('/request')
      expect([reply.status, reply.text.includes('BudgetExceeded')]).to.deep.equal([503, true])
      expect((await send('/passing')).status).to.equal(201)
    } finally {
      await site.close()
    }
  })
})
