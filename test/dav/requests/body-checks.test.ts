/** What headers of an upload promise of its body (DAV-43). */

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Exchange } from '../../../dav/exchange.ts'
import { checkedBody } from '../../../dav/requests/body-checks.ts'
import { checkBodyFields } from '../../../edge/request.ts'
import { memoryBody } from '../../../pipeline/body.ts'
import { Fault } from '../../../pipeline/fault.ts'

const CONTENT = 'Zwölf Boxkämpfer'
const hex = (name: string) => createHash(name).update(CONTENT).digest('hex')
const base64 = (name: string) => createHash(name).update(CONTENT).digest('base64')

function exchangeOf(headers: IncomingHttpHeaders, content = CONTENT): Exchange {
  return { request: { method: 'PUT', headers }, body: memoryBody(Buffer.from(content)) } as unknown as Exchange
}

/** How both ways of reading a body end: `ok`, or status and kind. */
async function outcomes(headers: IncomingHttpHeaders, content?: string): Promise<string[]> {
  const told = (error: unknown) => (error instanceof Fault ? `${error.status} ${error.kind}` : String(error))
  const read = await checkedBody(exchangeOf(headers, content))
    .bytes(1e9)
    .then(() => 'ok', told)
  const staged = await checkedBody(exchangeOf(headers, content))
    .stage(1e9)
    .then(() => 'ok', told)
  return [read, staged]
}

const MISMATCH = '400 ChecksumMismatch'

describe('what uploads promise', () => {
  const CHECKS: [headers: IncomingHttpHeaders, outcome: string][] = [
    [{}, 'ok'],
    [{ 'oc-checksum': `SHA1:${hex('sha1')}` }, 'ok'],
    [{ 'oc-checksum': `sha1:${hex('sha1').toUpperCase()}` }, 'ok'],
    [{ 'oc-checksum': `MD5:${hex('md5')}` }, 'ok'],
    [{ 'oc-checksum': `SHA256:${hex('sha256')}` }, 'ok'],
    [{ 'oc-checksum': `SHA-256:${hex('sha256')}` }, 'ok'],
    [{ 'oc-checksum': ` SHA1:${hex('sha1')} ` }, 'ok'],
    [{ 'oc-checksum': `SHA1:${hex('md5')}` }, MISMATCH],
    [{ 'oc-checksum': 'SHA1:' }, MISMATCH],
    [{ 'oc-checksum': `MD5:${hex('md5')}0` }, MISMATCH],
    [{ 'oc-checksum': `SHA1:${hex('sha1')} MD5:${hex('md5')}` }, MISMATCH],
    // Algorithms that are not known say nothing.
    [{ 'oc-checksum': 'ADLER32:00000000' }, 'ok'],
    [{ 'oc-checksum': 'nothing at all' }, 'ok'],
    [{ 'oc-checksum': '__proto__:x' }, 'ok'],
    [{ 'oc-checksum': 'constructor:x' }, 'ok'],
    [{ 'content-md5': base64('md5') }, 'ok'],
    [{ 'content-md5': ` ${base64('md5')} ` }, 'ok'],
    [{ 'content-md5': base64('sha1') }, MISMATCH],
    [{ 'content-md5': '' }, MISMATCH],
    [{ 'content-md5': '***' }, MISMATCH],
    [{ 'content-digest': `sha-256=:${base64('sha256')}:` }, 'ok'],
    [{ 'repr-digest': `sha-256=:${base64('sha256')}:` }, 'ok'],
    [{ 'content-digest': `sha-512=:AAAA:, sha-256=:${base64('sha256')}:` }, 'ok'],
    [{ 'content-digest': `sha-256=:${base64('md5')}:` }, MISMATCH],
    [{ 'content-digest': 'sha-512=:AAAA:' }, 'ok'],
    [{ 'content-digest': 'sha-256=AAAA' }, 'ok'],
    [{ 'content-digest': '' }, 'ok'],
    [{ 'content-digest': `sha-256=:${base64('sha256')}:`, 'repr-digest': 'sha-256=:AAAA:' }, MISMATCH],
    [{ 'oc-checksum': `SHA1:${hex('sha1')}`, 'content-md5': base64('sha1') }, MISMATCH],
    [{ 'x-expected-entity-length': '18' }, 'ok'],
    // The length is a guess of the client's; only nothing at all tells of lost chunks.
    [{ 'x-expected-entity-length': '5' }, 'ok'],
    [{ 'x-expected-entity-length': 'many' }, 'ok'],
  ]
  for (const [headers, outcome] of CHECKS)
    it(`DAV-43 ${JSON.stringify(headers).slice(0, 70)}: ${outcome}`, async () => {
      expect(await outcomes(headers)).to.deep.equal([outcome, outcome])
    })

  const EMPTY: [headers: IncomingHttpHeaders, outcome: string][] = [
    [{ 'x-expected-entity-length': '5' }, '400 BadRequest'],
    [{ 'x-expected-entity-length': '0' }, 'ok'],
    [{ 'x-expected-entity-length': '-5' }, 'ok'],
    [{ 'x-expected-entity-length': '' }, 'ok'],
    [{ 'x-expected-entity-length': 'NaN' }, 'ok'],
    [{ 'oc-checksum': `MD5:${createHash('md5').digest('hex')}` }, 'ok'],
    [{ 'oc-checksum': `MD5:${hex('md5')}` }, MISMATCH],
  ]
  for (const [headers, outcome] of EMPTY)
    it(`DAV-43 nothing, with ${JSON.stringify(headers)}: ${outcome}`, async () => {
      expect(await outcomes(headers, '')).to.deep.equal([outcome, outcome])
    })

  it('DAV-43 what was staged and is not what was promised is given back', async () => {
    const exchange = exchangeOf({ 'oc-checksum': 'MD5:00' })
    const { stage } = exchange.body
    let discarded = 0
    exchange.body.stage = async cap => {
      const staged = await stage(cap)
      return {
        ...staged,
        discard: async () => {
          discarded++
        },
      }
    }
    const error = await checkedBody(exchange)
      .stage(100)
      .catch((each: unknown) => each)
    expect(error).to.include({ status: 400, kind: 'ChecksumMismatch' })
    expect(discarded).to.equal(1)
  })

  it('DAV-43 the cap is the one of the body itself', async () => {
    const exchange = exchangeOf({ 'oc-checksum': `MD5:${hex('md5')}` })
    const caps: number[] = []
    const { bytes, stage } = exchange.body
    Object.assign(exchange.body, {
      bytes(cap: number) {
        caps.push(cap)
        return bytes(1e9)
      },
      stage(cap: number) {
        caps.push(cap)
        return stage(1e9)
      },
    })
    await checkedBody(exchange).bytes(17)
    await checkedBody(exchange).stage(18)
    expect(caps).to.deep.equal([17, 18])
  })

  const FIELDS: [headers: IncomingHttpHeaders, outcome: string][] = [
    [{}, 'ok'],
    [{ 'content-encoding': 'identity' }, 'ok'],
    [{ 'content-encoding': ' Identity ' }, 'ok'],
    [{ 'content-encoding': 'gzip' }, '415 UnsupportedMediaType'],
    [{ 'content-encoding': 'identity, gzip' }, '415 UnsupportedMediaType'],
    [{ 'content-encoding': '' }, '415 UnsupportedMediaType'],
    [{ 'content-range': 'bytes 0-4/10' }, '400 BadRequest'],
    [{ 'content-range': '' }, '400 BadRequest'],
  ]
  for (const [headers, outcome] of FIELDS)
    it(`DAV-43 ${JSON.stringify(headers)}: ${outcome}`, () => {
      let told = 'ok'
      try {
        checkBodyFields(exchangeOf(headers))
      } catch (error) {
        told = error instanceof Fault ? `${error.status} ${error.kind}` : String(error)
      }
      expect(told).to.equal(outcome)
    })
})
