import { expect } from 'chai'
import { describe, it } from 'mocha'
import { blobStream } from '../../../../pipeline/store/blobs.ts'
import { dropGarbage } from '../../../../pipeline/store/garbage-collection.ts'
import { bytesOfCopy } from '../../../../pipeline/store/postgres/copy.ts'
import { done, putBlob, there } from '../fixture.ts'
import { openSchema } from './fixture.ts'

const MIB = 1024 * 1024

/** Rows of one column as PostgreSQL copies them; null where there is no value. */
function copyOf(values: readonly (Buffer | null)[]): Buffer {
  const head = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
  const rows = values.map(value => {
    const lengths = Buffer.alloc(6)
    lengths.writeInt16BE(1, 0)
    lengths.writeInt32BE(value?.length ?? -1, 2)
    return Buffer.concat([lengths, value ?? Buffer.alloc(0)])
  })
  return Buffer.concat([head, ...rows, Buffer.from([0xff, 0xff])])
}

describe('PostgreSQL: bytes that come as a copy', () => {
  it('are the values, wherever the pieces of the copy end', () => {
    const values = [Buffer.from('one'), Buffer.alloc(0), null, Buffer.from([0, 255, 0]), Buffer.alloc(300, 'x')]
    const copy = copyOf(values)
    for (let size = 1; size <= copy.length; size++) {
      const taken: Buffer[] = []
      const give = bytesOfCopy(piece => taken.push(Buffer.from(piece)))
      for (let at = 0; at < copy.length; at += size) give(copy.subarray(at, at + size))
      expect(Buffer.concat(taken).toString('hex'), `pieces of ${size}`).to.equal(
        Buffer.concat(values.flatMap(value => value ?? [])).toString('hex'),
      )
    }
  })

  it('HTTP-55 64 MB on their way out take the memory of some pieces', async () => {
    const opened = await openSchema()
    try {
      const site = opened.store.site('example.org')
      await done(site, [putBlob('/large', Buffer.alloc(64 * MIB, 'what a large file holds, '))])
      const body = await site.body(await there(site, '/large'))
      if (body === undefined || 'bytes' in body) throw new Error('it is not kept apart')
      const held = () => {
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        return heapUsed + arrayBuffers
      }
      let [most, size, looked] = [0, 0, 0]
      dropGarbage()
      const before = held()
      for await (const piece of blobStream(body.blob)) {
        size += piece.length
        if (size < looked + 4 * MIB) continue
        // What nobody holds is not counted.
        dropGarbage()
        most = Math.max(most, held() - before)
        looked = size
      }
      expect(size).to.equal(64 * MIB)
      expect(most / MIB).to.be.below(16)
    } finally {
      await opened.close()
    }
  })
})
