/** Patterns that could match a text in many ways, and texts that end without what a pattern waits for (SEC-4). */

import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { depthOf, type Exchange } from '../../dav/exchange.ts'
import { mistakenPattern } from '../../pipeline/access/glob.ts'
import { compile } from '../../pipeline/language/sessel/sessel.ts'
import { mayHavePrefixed } from '../../pipeline/tree/prefixed-parser.ts'
import { NS, page, putAll, rulesPage } from '../support/content.ts'
import { takesLess } from '../support/cost.ts'
import { client, type Fields } from '../support/http.ts'
import { leavesTheLoop } from '../support/loop-hold.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('texts that patterns take long to refuse', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    const tags = `<p title="${'<a'.repeat(60_000)}">`
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'QUERY', 'Allow', '/p.html'], ['*', 'POST', 'Allow', '/p.html', '#in']),
      '/p.html': page('<ul id="in"></ul>'),
      '/composed.html': page(tags).replace('<html', `<html xmlns:p="${NS}/1.0"`),
    })
  })
  after(() => server.close())

  const author = () => ({
    Authorization: `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`,
  })
  const nested = '<div>'.repeat(600)
  const LONG: [what: string, surface: 'public' | 'mount', method: string, target: string, Fields, string?][] = [
    [
      'tags in a value that a visitor adds',
      'public',
      'POST',
      '/p.html',
      { Range: 'selector=#in' },
      `<li title="${'<a'.repeat(30_000)}">x</li>`,
    ],
    ['tags in a value of a composed page', 'public', 'GET', '/composed.html', {}],
    [
      'comments that no document follows',
      'public',
      'QUERY',
      '/p.html',
      { 'Content-Type': 'text/sessel' },
      `Document.parse("${'<!---->'.repeat(30)}<p>")`,
    ],
    ['a name that its tag does not end', 'mount', 'PUT', '/deep.html', {}, `${nested}<a:${'a'.repeat(40_000)}`],
    [
      'blanks in a range',
      'public',
      'QUERY',
      '/p.html',
      { 'Content-Type': 'text/sessel', Range: `entries=4-${' '.repeat(15_000)}x` },
      '[1]',
    ],
  ]
  let times = 0
  for (const [what, surface, method, target, fields, body] of LONG)
    it(`SEC-4 ${what}`, async function () {
      this.timeout('1m')
      const port = surface === 'public' ? server.port : Number(new URL(server.mountUrl).port)
      const own = surface === 'public' ? fields : { ...author(), ...fields }
      await leavesTheLoop(() => client(port)(method, method === 'GET' ? `${target}?${times++}` : target, own, body))
    })

  it('SEC-4 a depth of blanks', () =>
    leavesTheLoop(async () => {
      const request = { headers: { depth: `0${' '.repeat(300_000)}0` } } as unknown as IncomingMessage
      const exchange = { request } as unknown as Exchange
      expect(() => depthOf(exchange, ['0', 'infinity'], 'infinity')).to.throw('Depth must be 0 or infinity')
    }))

  it('SEC-4 SES-15 brackets of a selector in a program that name no attribute', async () => {
    let times = 0
    for (const brackets of [`[${' '.repeat(40_000)}]`, '['.repeat(20_000) + ']'.repeat(20_000)])
      await takesLess(60, () => compile(`${times++}; self.search(\${${brackets}})`))
  })

  it('SEC-4 blanks and queries in a path of a rule', async () => {
    for (const part of [' ', '\u00a0', '.html?', '{'])
      await takesLess(20, () => mistakenPattern(`/a${part.repeat(20_000)}b`), part)
  })

  it('COMP-1 names with a colon are found wherever they stand', () => {
    for (const [text, may] of [
      ['<p:include>', true],
      ['<P:x', true],
      ['x <a b="c"> d:e', false],
      ['<a href="x:y">', false],
      ['<a<b:c>', true],
      ['<a<1:c>', true],
      ['<1:c>', false],
      ['<a/b:c', false],
      ['<a\vb:c', true],
      ['<a:', true],
      [':<a', false],
      ['a:b:<c:', true],
      ['<', false],
      ['<:', false],
      ['</p:x>', false],
    ] as const)
      expect(mayHavePrefixed(text), text).to.equal(may)
  })
})
