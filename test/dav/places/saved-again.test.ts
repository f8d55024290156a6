/** Files that are saved again and again: what is held of them in memory is what the store has (HTTP-24, DAV-42). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Client, Fields } from '../../support/http.ts'
import { propertyUpdate, startWire, to, type Wire } from '../wire.ts'

/** Requests after a file was read; each leaves other bytes, another time or another type, or nothing. */
const STEPS: [method: string, path: string, fields: Fields, body?: string][] = [
  ['PUT', '/a.bin', {}, 'second'],
  ['PUT', '/a.bin', { 'Content-Type': 'image/png', 'Content-Language': 'de', 'X-OC-Mtime': '1500000000' }, 'third'],
  ['PUT', '/a.bin', {}, ''],
  ['PUT', '/a.bin', {}, 'x'.repeat(300 * 1024)],
  ['PUT', '/a.bin', {}, 'small again'],
  ['PROPPATCH', '/a.bin', {}, propertyUpdate(['{urn:x}mood', 'calm'])],
  ['COPY', '/b.bin', to('/a.bin')],
  ['PUT', '/a.bin', {}, 'after a copy'],
  ['MOVE', '/c.bin', to('/a.bin')],
  ['DELETE', '/a.bin', {}],
  ['PUT', '/a.bin', {}, 'once more'],
]

describe('files saved again and again', () => {
  let wire: Wire
  let dav: Client
  before(async () => {
    wire = await startWire()
    dav = wire.dav
    for (const name of ['a', 'b', 'c']) await dav('PUT', `/${name}.bin`, {}, `first of ${name}`)
  })
  after(() => wire.server.close())

  for (const [method, path, fields, body] of STEPS) {
    it(`DAV-42 after ${method} ${path} ${JSON.stringify(fields)} memory, mount and public surface say the same`, async () => {
      const { site } = wire.server
      await dav('GET', '/a.bin')
      expect((await dav(method, path, fields, body)).status).to.be.within(200, 207)
      const stored = await site.store.find('/a.bin')
      const held = site.inMemory('/a.bin')
      if (held) expect(held.resource).to.deep.equal(stored)
      const bytes = stored && (await site.store.body(stored))
      if (held && bytes && 'bytes' in bytes)
        expect(held.bytes && Buffer.from(held.bytes)).to.deep.equal(Buffer.from(bytes.bytes))
      for (const reader of [dav, wire.visitor]) {
        const { status, text, headers } = await reader('GET', '/a.bin')
        expect(status).to.equal(stored ? 200 : 404)
        if (!stored) continue
        expect(headers.etag).to.equal(`"${stored.digest.slice(0, 48)}"`)
        expect(headers['content-type']).to.equal(stored.type)
        if (method === 'PUT') expect(text === body).to.equal(true)
      }
    })
  }

  it('a blob that was read is still in memory when it has been saved', async () => {
    await dav('GET', '/a.bin')
    await dav('PUT', '/a.bin', {}, 'kept')
    expect(Buffer.from(wire.server.site.inMemory('/a.bin')?.bytes ?? []).toString()).to.equal('kept')
  })
})
