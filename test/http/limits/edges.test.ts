/** What a setting limits, exactly at its limit and one beyond it. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { NS, put, rulesPage } from '../../support/content.ts'
import { connect, type Fields, type Received, requestBytes } from '../../support/http.ts'
import { startServer } from '../../support/server.ts'

const RULES = rulesPage(['*', 'GET|PUT|POST|DELETE', 'Allow', '/*'])
const ROOM = Buffer.byteLength(RULES)
const LIST = '<!DOCTYPE html><title>t</title><ul id="l"></ul>'
const MOST = 2 ** 53 - 1
const TEMPLATE = `<html xmlns:p="${NS}/1.0"><base href="/made.html"><title p:template="text/liquid">{{ request.body.t }}{{ request.body.t }}</title>`
const TRIGGER = `<div itemscope itemtype="${NS}/Trigger"><meta itemprop="method" content="POST">
<script itemprop="action" type="text/sessel">@schema Site url("${NS}/1.0"); Site.PUT(new p { Context.request.body }, "/made.html")</script>`

type Asked = readonly [method: string, path: string, fields?: Fields, body?: string]

interface Row {
  what: string
  limits?: Record<string, unknown>
  site?: Record<string, unknown>
  /** What is answered with success, one after the other. */
  at: readonly Asked[]
  /** What is refused then. */
  over: Asked
  status: number
}

const file = (path: string, size: number): Asked => ['PUT', path, { 'Content-Type': 'text/plain' }, 'x'.repeat(size)]
const text = (path: string, size: number): Asked => ['PUT', path, {}, LIST + ' '.repeat(size - LIST.length)]
const item = (size: number): Asked => ['POST', '/l.html', { Range: 'selector=#l' }, `<li>${'x'.repeat(size)}</li>`]

const ROWS: readonly Row[] = [
  {
    what: 'maxBody of 1 KiB',
    site: { maxBody: '1KiB' },
    at: [file('/a.txt', 1024), file('/a.txt', 0)],
    over: file('/a.txt', 1025),
    status: 413,
  },
  {
    what: 'maxBody of one byte',
    site: { maxBody: 1 },
    at: [file('/a.txt', 1)],
    over: file('/a.txt', 2),
    status: 413,
  },
  {
    what: 'maxBody of nothing',
    site: { maxBody: 0 },
    at: [file('/a.txt', 0)],
    over: file('/a.txt', 1),
    status: 413,
  },
  {
    what: 'maxDocument',
    site: { maxDocument: '1KiB' },
    at: [text('/a.html', 1024), file('/b.txt', 1025)],
    over: text('/a.html', 1025),
    status: 413,
  },
  {
    what: 'maxDocument, by an element',
    site: { maxDocument: '1KiB' },
    at: [text('/l.html', 1024 - 9 - 100), item(100)],
    over: item(1),
    status: 413,
  },
  {
    what: 'maxDocument, by a template',
    site: { maxDocument: '1KiB' },
    at: [['PUT', '/t.html', {}, TEMPLATE]],
    over: ['POST', '/t.html', { 'Content-Type': 'application/x-www-form-urlencoded' }, `t=${'x'.repeat(512)}`],
    status: 413,
  },
  {
    what: 'maxDocument, by a trigger (REA-64)',
    site: { maxDocument: '1KiB' },
    at: [
      ['PUT', '/t.html', {}, TRIGGER],
      ['POST', '/in/', { 'Content-Type': 'text/plain' }, 'x'.repeat(100)],
      text('/a.html', 100),
    ],
    over: ['POST', '/in/', { 'Content-Type': 'text/plain' }, 'x'.repeat(1024)],
    status: 500,
  },
  {
    what: 'quota',
    site: { quota: ROOM + 1000 },
    at: [file('/a.txt', 1000), file('/a.txt', 1), file('/a.txt', 1000)],
    over: file('/a.txt', 1001),
    status: 507,
  },
  {
    what: 'quota, by a second file',
    site: { quota: ROOM + 1000 },
    at: [file('/a.txt', 1000), file('/empty.txt', 0)],
    over: file('/b.txt', 1),
    status: 507,
  },
  {
    what: 'writesPerMinute of one',
    limits: { writesPerMinute: 1 },
    at: [file('/a.txt', 1)],
    over: file('/a.txt', 2),
    status: 429,
  },
  {
    what: 'headers of 1 KiB',
    limits: { headers: '1KiB' },
    at: [['GET', '/rules.html', { X: 'x'.repeat(900) }]],
    over: ['GET', '/rules.html', { X: 'x'.repeat(1024) }],
    status: 431,
  },
  {
    what: 'limits beyond all that there is, and no writes for free',
    limits: { memory: MOST, bodies: MOST, headers: MOST, leaseWait: '24d', bodyIdle: '24d', headerWait: '24d' },
    site: { maxBody: MOST, maxDocument: MOST, quota: MOST },
    at: [text('/l.html', 1000), item(100), file('/a.txt', 400_000)],
    over: ['PUT', '/a.txt', { 'Content-Type': 'text/plain', 'Content-Length': `${MOST}0`, Expect: '100-continue' }],
    status: 413,
  },
  {
    what: 'no memory at all',
    limits: { memory: 0, bodies: 0 },
    at: [text('/l.html', 1000), item(100), file('/a.txt', 400_000)],
    over: ['PUT', '/l.html', {}, LIST + ' '.repeat(400_000)],
    status: 503,
  },
]

describe('HTTP-180 HTTP-181 SEC-12 limits: at, and one beyond', () => {
  for (const { what, limits = {}, site = {}, at, over, status } of ROWS)
    it(`${what}: ${status} beyond it, and nothing is changed`, async () => {
      const server = await startServer({ site, settings: { limits: { writesPerMinute: 0, ...limits } } })
      let connection = await connect(server.port)
      /** On the same connection as long as the server keeps it. */
      const ask = async ([method, path, fields, body]: Asked): Promise<Received> => {
        connection.send(requestBytes(method, path, fields, body))
        const answer = await connection.receive()
        if (answer.headers.connection === 'close') {
          await connection.ended
          connection.close()
          connection = await connect(server.port)
        }
        return answer
      }
      const stored = async () => {
        const all: [string, string][] = []
        for await (const { path, digest } of server.site.store.walk('/')) all.push([path, digest])
        return all
      }
      try {
        await put(server, '/rules.html', RULES)
        for (const each of at) expect((await ask(each)).status, `${each[0]} ${each[1]}`).to.be.within(200, 206)
        const before = await stored()
        const refused = await ask(over)
        expect(refused.status).to.equal(status)
        expect(refused.headers['content-type']).to.equal('text/html; charset=utf-8')
        expect(refused.text).to.include(`content="${status}"`)
        expect(await stored()).to.deep.equal(before)
        const last = at.at(-1)
        const path = last?.[0] === 'GET' ? '/rules.html' : (last?.[1] ?? '/')
        expect((await ask(['GET', path])).status, 'the next request').to.equal(200)
      } finally {
        connection.close()
        await server.close()
      }
    })
})
