import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { intoObject } from '../../../../pipeline/store/postgres/blobs/objects.ts'
import type { Session } from '../../../../pipeline/store/postgres/session.ts'
import { objectsAt } from './fixture.ts'

const MIB = 1024 * 1024

/** Takes every part and keeps none. */
const sink: RequestListener = (request, response) => {
  const isEnd = request.url?.includes('uploadId') === true && request.method === 'POST'
  request.resume().on('end', () => {
    if (request.method === 'PUT') response.setHeader('ETag', '"x"').end()
    else if (isEnd) response.end('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>')
    else response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>')
  })
}

describe('objects: memory', () => {
  it('300 MB on their way into an object take the memory of two parts, and some more until it is collected', async () => {
    const service = createServer(sink).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const { port } = service.address() as AddressInfo
    const objects = objectsAt(`s3://id:secret@bucket?endpoint=http://127.0.0.1:${port}`)
    const rows: Session = {
      rows: async () => [],
      row: async () => undefined,
      run: async () => 1,
      copy: async () => undefined,
    }
    const out = intoObject(objects, rows)
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    for (let sent = 0; sent < 300; sent++) {
      await out.fill(Buffer.alloc(MIB, sent))
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    const staged = await out.finish()
    expect(staged.size).to.equal(300 * MIB)
    expect(most / MIB).to.be.below(64)
    objects.close()
    service.closeAllConnections()
    service.close()
  })
})
