import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { blobBytes } from '../../../../pipeline/store/blobs.ts'
import { BlobGone, StoreError, Unusable } from '../../../../pipeline/store/errors.ts'
import { WAITS } from '../../../../pipeline/store/objects/client.ts'
import { wordsOf } from '../../../../pipeline/store/objects/failures.ts'
import { openKeyFile } from '../../../../pipeline/store/objects/key-file.ts'
import type { Objects } from '../../../../pipeline/store/objects/objects.ts'
import { objectsAt } from './fixture.ts'

const BYTES = Buffer.alloc(400_000, 'bytes of a file ')
const SHA256 = createHash('sha256').update(BYTES).digest('hex')
const noted = { note: async () => undefined }

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const page: Answer = (_, response) => response.setHeader('Content-Type', 'text/html').end('<p>We are back soon</p>')
const torn: Answer = (_, response) => response.end('<InitiateMultipartUploadResult><UploadId>u</Uploa')
const takes: Answer = (_, response) => response.setHeader('ETag', '"x"').end()
const begins: Answer = (_, response) =>
  response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>')
const removes: Answer = (_, response) => response.writeHead(204).end()
const none: Answer = (_, response) =>
  response.end('<ListMultipartUploadsResult><Bucket>bucket</Bucket></ListMultipartUploadsResult>')
const unknown: Answer = (_, response) =>
  response.writeHead(404).end('<Error><Code>NoSuchUpload</Code><Message>no such upload</Message></Error>')
/** A service that takes uploads, but for some requests, by method and address. */
const uploading =
  (failing: RegExp, fails: Answer): Answer =>
  (request, response) => {
    const asked = `${request.method} ${request.url}`
    if (failing.test(asked)) fails(request, response)
    else if (asked.startsWith('PUT')) takes(request, response)
    else if (asked.startsWith('POST')) begins(request, response)
    else removes(request, response)
  }
/** @param makes what is sent in place of a stretch */
const gives =
  (bytes: Buffer, more: Record<string, string> = {}, makes = (part: Buffer) => part): Answer =>
  (request, response) => {
    const [, start, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    const part = makes(bytes.subarray(Number(start), Number(last) + 1))
    const range = { 'Content-Range': `bytes ${start}-${last}/${bytes.length}`, ETag: '"x"', ...more }
    const length = 'Transfer-Encoding' in more ? undefined : { 'Content-Length': part.length }
    response.writeHead(206, { ...range, ...length }).end(part)
  }

describe('objects: answers that are not to be believed', () => {
  let service: Server
  let objects: Objects
  let answer: Answer
  let port: number
  beforeEach(async () => {
    service = createServer((request, response) => {
      request.resume().on('end', () => answer(request, response))
    }).listen(0, '127.0.0.1')
    await once(service, 'listening')
    port = (service.address() as AddressInfo).port
    objects = open('id:secret@bucket/')
  })
  afterEach(() => {
    objects.close()
    service.closeAllConnections()
    service.close()
  })

  /** @param total milliseconds for what is asked again */
  function open(bucket: string, total = 150, more = ''): Objects {
    const soon = { quiet: 60_000, total }
    return objectsAt(`s3://${bucket}?endpoint=http://127.0.0.1:${port}${more}`, {
      waits: { ...WAITS, answer: soon, first: soon, more: soon, later: soon, start: soon, doubt: 60_000 },
    })
  }

  const failing = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )
  async function store(bytes: Buffer, into = objects) {
    const upload = into.upload(randomUUID(), noted)
    const error = await failing(upload.write(bytes).then(() => upload.finish()))
    return { error, isGone: error !== undefined && (await upload.abandon()) }
  }

  it('a page that somebody else answers with 200 has not taken a file', async () => {
    answer = page
    expect((await store(BYTES)).error)
      .to.be.instanceOf(StoreError)
      .and.include({ reason: 'busy' })
  })

  it('nor has one in place of an upload, of a part or of its end', async () => {
    for (const which of [/^POST .*uploads/, /^PUT /, /^POST .*uploadId/]) {
      answer = uploading(which, page)
      const { error } = await store(Buffer.alloc(9 * 1024 * 1024))
      expect(error, String(which)).to.be.instanceOf(StoreError).and.include({ reason: 'busy' })
    }
  })

  it('a listing that leads to itself, or is cut off, is none', async () => {
    const key = '<Contents><Key>owner/a</Key></Contents>'
    for (const more of ['<NextContinuationToken>t</NextContinuationToken>', '<IsTruncated>true</IsTruncated>']) {
      let asked = 0
      answer = (_, response) => {
        if (++asked > 50) return page(_, response)
        response.end(`<ListBucketResult><Name>bucket</Name>${key}${more}</ListBucketResult>`)
      }
      expect(await failing(objects.namesWith('owner/')), more).to.be.instanceOf(Unusable)
      expect(asked, more).to.be.below(50)
    }
  })

  it('HTTP-4 an upload that the object store knows no more may be tried again', async () => {
    for (const which of [/^PUT /, /^POST .*uploadId/]) {
      answer = uploading(new RegExp(`${which.source}|^HEAD `), unknown)
      const { error } = await store(Buffer.alloc(9 * 1024 * 1024))
      expect(error, String(which)).to.be.instanceOf(StoreError).and.include({ reason: 'busy' })
    }
  })

  it('nor is a file gone when such a page is read', async () => {
    answer = page
    for (const span of [undefined, { start: 5, end: 9 }, { start: 0, end: 0 }])
      expect(await failing(objects.open('a', BYTES.length, span)))
        .to.be.instanceOf(StoreError)
        .and.include({ reason: 'busy' })
  })

  it('nor where a proxy has no way to the service, and answers 404 itself; nothing is taken back by that either', async () => {
    const lost: Answer = (_, response) =>
      response.writeHead(404, { 'Content-Type': 'text/html' }).end('<html><body><h1>404</h1><hr></body></html>')
    answer = lost
    expect(await failing(objects.open('a', BYTES.length)))
      .to.be.instanceOf(StoreError)
      .and.include({ reason: 'busy' })
    const refuses: Answer = (_, response) =>
      response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>')
    answer = (request, response) => (request.method === 'DELETE' ? lost : refuses)(request, response)
    expect(await store(BYTES)).to.have.property('isGone', false)
  })

  it('a page that somebody else answers with 200 has taken nothing back, and is no listing', async () => {
    const refuses: Answer = (_, response) =>
      response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>')
    answer = (request, response) => (request.method === 'DELETE' ? page : refuses)(request, response)
    expect(await store(BYTES)).to.have.property('isGone', false)
    for (const which of [/^GET .*uploads/, /^DELETE /]) {
      answer = (request, response) => {
        const asked = `${request.method} ${request.url}`
        if (which.test(asked)) page(request, response)
        else if (asked.startsWith('GET')) none(request, response)
        else removes(request, response)
      }
      expect(await failing(objects.remove('a')), String(which))
        .to.be.instanceOf(StoreError)
        .and.include({ reason: 'busy' })
    }
    answer = page
    expect(await failing(objects.namesWith('owner/'))).to.be.instanceOf(Unusable)
  })

  it('a trial that could not be ended is ended before the next one begins, so that a bucket does not fill with them', async () => {
    const there = new Set<string>()
    const trial =
      (failing: string): Answer =>
      (request, response) => {
        const [at = ''] = (request.url ?? '').split('?')
        if (request.method === 'PUT') there.add(at)
        if (request.method === failing)
          return response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>')
        if (request.method === 'DELETE') there.delete(at)
        const bytes = Buffer.from(at.slice(at.lastIndexOf('/') + 1))
        if (request.method === 'GET') gives(bytes)(request, response)
        else if (request.method === 'PUT') takes(request, response)
        else removes(request, response)
      }
    for (const [which, left] of [
      ['GET', 0],
      ['DELETE', 1],
    ] as const) {
      answer = trial(which)
      for (let times = 0; times < 4; times++) expect(await failing(objects.prove()), which).to.be.instanceOf(Unusable)
      expect(there.size, which).to.equal(left)
    }
    answer = trial('')
    expect(await failing(objects.prove())).to.equal(undefined)
    expect(there.size).to.equal(0)
  })

  it('nor is a stretch what it was encoded to, or more than was asked for', async () => {
    const span = { start: 5, end: 9 }
    for (const sent of [
      gives(BYTES, { 'Content-Encoding': 'gzip' }, part => gzipSync(part)),
      gives(BYTES, { 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }, part => gzipSync(part)),
      gives(BYTES, {}, part => Buffer.concat([part, part])),
    ]) {
      answer = sent
      expect(await failing(objects.open('a', BYTES.length, span)))
        .to.be.instanceOf(StoreError)
        .and.include({ reason: 'busy' })
    }
    answer = gives(BYTES, { 'Content-Encoding': 'aws-chunked' })
    const bytes = Buffer.alloc(4)
    expect(await (await objects.open('a', BYTES.length, span)).read(bytes, 5)).to.equal(4)
    expect(bytes.equals(BYTES.subarray(5, 9))).to.equal(true)
  })

  it('an upload whose name was broken on its way is not known to leave nothing', async () => {
    answer = (request, response) => {
      if (request.method === 'POST') torn(request, response)
      else if (request.method === 'GET') none(request, response)
      else removes(request, response)
    }
    const { error, isGone } = await store(Buffer.alloc(9 * 1024 * 1024))
    expect(error).to.be.instanceOf(StoreError).and.include({ reason: 'busy' })
    expect(isGone).to.equal(false)
  })

  it('of other bytes than were stored the last are not handed out', async () => {
    const blob = { size: BYTES.length, open: () => objects.open('a', BYTES.length, undefined, SHA256) }
    answer = gives(BYTES)
    expect((await blobBytes(blob)).equals(BYTES)).to.equal(true)
    for (const at of [0, 200_000, BYTES.length - 1]) {
      const other = Buffer.from(BYTES)
      other[at] = 0
      answer = gives(other)
      expect(await failing(blobBytes(blob)), String(at)).to.be.instanceOf(BlobGone)
    }
  })

  it('a refusal without words is told by its status, an answer that cannot be read in one line', () => {
    const refused = Object.assign(new Error('UnknownError'), { name: 'Unknown', $metadata: { httpStatusCode: 307 } })
    expect(wordsOf(refused)).to.equal('status 307')
    expect(wordsOf(new Error('XML parse error\n  Deserialization error: inspect'))).to.equal('XML parse error')
  })

  describe('keys in a file', () => {
    let folder: string
    let file: string
    let valid: string
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'scriptorium-key-'))
      file = join(folder, 'key')
      valid = 'first'
      writeFileSync(file, 'first\nsecret of the first\n')
      answer = (request, response) => {
        const isRight = request.headers.authorization?.includes(`Credential=${valid}/`) === true
        if (isRight) return takes(request, response)
        response.writeHead(403).end('<Error><Code>InvalidAccessKeyId</Code><Message>no such key</Message></Error>')
      }
      objects.close()
      objects = open('bucket/', 120_000, `&credentialsFile=${encodeURIComponent(file)}`)
    })
    afterEach(() => rmSync(folder, { recursive: true }))

    it('one that is replaced is used as soon as the old one is refused', async () => {
      expect((await store(BYTES)).error).to.equal(undefined)
      writeFileSync(file, 'second\nsecret of the second\n')
      valid = 'second'
      expect((await store(BYTES)).error).to.equal(undefined)
    })

    it('while the file is being written the one before is used; if it is refused, the file is told of', async () => {
      const keys = openKeyFile(file)
      await keys.give()
      writeFileSync(file, 'second\n')
      expect(await keys.give()).to.include({ accessKeyId: 'first' })
      const refused = Object.assign(new Error('no'), { name: 'InvalidAccessKeyId' })
      expect(String(await keys.renewed(keys.number, refused))).to.include(`${file} needs two lines`)
      const other = new Error('no')
      expect(await keys.renewed(keys.number, other)).to.equal(other)
    })

    it('a key that is refused, and is the only one, is asked for once', async () => {
      valid = 'nobody'
      const { error } = await store(BYTES)
      expect(error).to.be.instanceOf(StoreError)
      expect(String(error)).to.include('InvalidAccessKeyId')
    })
  })
})
