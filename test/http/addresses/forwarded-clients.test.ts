/** Who a request comes from, behind proxies that are believed: nobody can say for themselves who they are. */

import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { TrustProxy } from '../../../config/schema.ts'
import { clientReader, proxyTrust } from '../../../edge/request.ts'

function reads(trust: TrustProxy, headers: IncomingMessage['headers'], remoteAddress = '10.0.0.1') {
  const request = { url: '/', socket: { remoteAddress }, headers: { host: 'direct.example', ...headers } }
  return clientReader(proxyTrust(trust))(request as unknown as IncomingMessage)
}

describe('clients behind proxies', () => {
  const ADDRESSES: [trust: TrustProxy, forwarded: string, address: string][] = [
    [false, '192.0.2.1', '10.0.0.1'],
    [0, '192.0.2.1', '10.0.0.1'],
    [true, '192.0.2.1', '192.0.2.1'],
    [true, '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    [true, '203.0.113.9,192.0.2.1 , ', '192.0.2.1'],
    [true, '', '10.0.0.1'],
    [true, ' , ', '10.0.0.1'],
    [1, '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    [2, '203.0.113.9, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
    [2, '192.0.2.1', '192.0.2.1'],
    [3, '203.0.113.9, 192.0.2.1, 10.0.0.3, 10.0.0.2', '192.0.2.1'],
    [['10.0.0.0/8'], '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    [['10.0.0.0/8'], '203.0.113.9, 192.0.2.1, 10.0.0.3, 10.0.0.2', '192.0.2.1'],
    [['10.0.0.0/8'], '10.9.9.9, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
    [['10.0.0.0/8'], '10.0.0.4, 10.0.0.3', '10.0.0.4'],
    [['192.0.2.0/24'], '203.0.113.9', '10.0.0.1'],
    [true, '192.0.2.1:50123', '192.0.2.1'],
    [true, '[2001:db8::1]:50123', '2001:db8::1'],
    [true, '[2001:db8::1]', '2001:db8::1'],
    [true, '2001:db8::1', '2001:db8::1'],
  ]
  for (const [trust, forwarded, address] of ADDRESSES)
    it(`trustProxy ${JSON.stringify(trust)}: "${forwarded}" comes from ${address}`, () => {
      expect(reads(trust, { 'x-forwarded-for': forwarded }).address).to.equal(address)
    })

  const TOLD: [trust: TrustProxy, headers: IncomingMessage['headers'], authority: string, secure: boolean][] = [
    [true, { 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' }, 'a.example', true],
    [true, { 'x-forwarded-host': 'evil.example, a.example', 'x-forwarded-proto': 'https, http' }, 'a.example', false],
    [2, { 'x-forwarded-for': '192.0.2.1, 10.0.0.2', 'x-forwarded-proto': 'https, http' }, 'direct.example', true],
    [2, { 'x-forwarded-for': '192.0.2.1, 10.0.0.2', 'x-forwarded-proto': 'https' }, 'direct.example', true],
    [2, { 'x-forwarded-for': 'x, 192.0.2.1, 10.0.0.2', 'x-forwarded-host': 'evil, a, b' }, 'a', false],
    [['10.0.0.0/8'], { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'evil, a.example' }, 'a.example', false],
    [false, { 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' }, 'direct.example', false],
  ]
  for (const [trust, headers, authority, secure] of TOLD)
    it(`trustProxy ${JSON.stringify(trust)}: ${JSON.stringify(headers)} is for ${authority}`, () => {
      expect(reads(trust, headers)).to.include({ authority, secure })
    })
})
