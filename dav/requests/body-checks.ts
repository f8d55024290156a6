/** Bodies of uploads: what their headers promise is compared with what arrives (DAV-43). */

import { hash } from 'node:crypto'
import { header } from '../../edge/request.ts'
import type { BodySource } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { trimField } from '../../pipeline/http/field-text.ts'
import type { StagedBlob } from '../../pipeline/store/blobs.ts'
import type { Exchange } from '../exchange.ts'

type Algorithm = 'md5' | 'sha1' | 'sha256'

/** Names of algorithms in `OC-Checksum`, `Content-Digest` and `Repr-Digest`, lower case without dash. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['md5', 'md5'],
  ['sha', 'sha1'],
  ['sha1', 'sha1'],
  ['sha256', 'sha256'],
])

/** @returns undefined for an algorithm that is not known, which promises nothing */
function algorithmOf(name: string): Algorithm | undefined {
  return ALGORITHMS.get(name.toLowerCase().replace('-', ''))
}

/** A digest that the body must have, lower-case hex. */
interface Promised {
  algorithm: Algorithm
  hex: string
}

/**
 * The body of an upload, checked as soon as it has arrived.
 *
 * @returns a source that throws Fault 400 `ChecksumMismatch` for other bytes than promised, and 400 for an empty body
 *   where a proxy has lost the chunks
 */
export function checkedBody(exchange: Exchange): BodySource {
  const { body } = exchange
  // Triggers have got it checked, and may have put another one in its place (REA-62).
  if (exchange.alongside) return body
  const promised = [...owncloud(exchange), ...contentMd5(exchange), ...digestFields(exchange)]
  const expected = Number(header(exchange, 'x-expected-entity-length') ?? 0)
  if (promised.length === 0 && !(expected > 0)) return body
  const check = (size: number, digestOf: (algorithm: Algorithm) => string | undefined) => {
    if (size === 0 && expected > 0)
      throw new Fault(400, 'BadRequest', `The body is empty, but ${expected} bytes were announced.`)
    for (const { algorithm, hex } of promised)
      if (digestOf(algorithm) !== hex)
        throw new Fault(400, 'ChecksumMismatch', 'The body is not the one whose checksum the request names.')
  }
  return {
    async bytes(cap) {
      const bytes = await body.bytes(cap)
      check(bytes.length, algorithm => hash(algorithm, bytes))
      return bytes
    },
    async stage(cap, seen) {
      const staged: StagedBlob = await body.stage(cap, seen)
      try {
        check(staged.size, algorithm => staged[algorithm])
      } catch (error) {
        await staged.discard()
        throw error
      }
      return staged
    },
  }
}

/** `OC-Checksum: SHA1:<hex>` */
function* owncloud(exchange: Exchange): Generator<Promised> {
  const field = trimField(header(exchange, 'oc-checksum') ?? '')
  const colon = field.indexOf(':')
  if (colon < 0) return
  const algorithm = algorithmOf(field.slice(0, colon))
  if (algorithm) yield { algorithm, hex: field.slice(colon + 1).toLowerCase() }
}

/** `Content-MD5: <base64>` */
function* contentMd5(exchange: Exchange): Generator<Promised> {
  const field = header(exchange, 'content-md5')
  if (field !== undefined) yield { algorithm: 'md5', hex: Buffer.from(trimField(field), 'base64').toString('hex') }
}

/** `Content-Digest: sha-256=:<base64>:` (RFC 9530); algorithms that are not known say nothing. */
function* digestFields(exchange: Exchange): Generator<Promised> {
  for (const name of ['content-digest', 'repr-digest']) {
    const field = header(exchange, name)
    if (field === undefined) continue
    for (const member of field.split(',')) {
      const [, label = '', base64 = ''] = /^ *([a-z0-9-]{1,32})=:([A-Za-z0-9+/=]*): *$/i.exec(member) ?? []
      const algorithm = algorithmOf(label)
      if (algorithm) yield { algorithm, hex: Buffer.from(base64, 'base64').toString('hex') }
    }
  }
}

/** A body of a read, which may have been on its way for long: somebody is asked once it is there. */
export function asksBehind(body: BodySource, ask: () => void): BodySource {
  return {
    get made() {
      return body.made
    },
    get type() {
      return body.type
    },
    async bytes(cap) {
      const bytes = await body.bytes(cap)
      ask()
      return bytes
    },
    stage: (cap, seen) => body.stage(cap, seen),
  }
}
