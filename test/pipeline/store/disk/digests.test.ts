/** Digests of files, those that grow as well: what they are, and how many threads they take. */

import { createHash } from 'node:crypto'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createDigestThreads } from '../../../../pipeline/store/disk/digests.ts'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import { eventually } from '../../../support/eventually.ts'
import { openTemporary } from '../fixture.ts'

describe('digests of a file', () => {
  const content = Buffer.from('some of it. '.repeat(100_000))
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'digests-'))
    await writeFile(join(folder, 'file'), content)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const threadsNow = () => process.getActiveResourcesInfo().filter(name => name === 'MessagePort').length

  for (const [name, hurry, threads] of [
    ['for somebody who waits', true, 2],
    ['for nobody yet', false, 1],
  ] as const)
    it(`DAV-43 ${name}: ${threads} at work`, async () => {
      const digests = createDigestThreads()
      const before = threadsNow()
      const computing = digests.ofFile(join(folder, 'file'), hurry)
      expect(threadsNow() - before).to.equal(threads)
      const [sha1, md5] = ['sha1', 'md5'].map(algorithm => createHash(algorithm).update(content).digest('hex'))
      expect(await computing).to.deep.equal({ sha1, md5 })
      expect(await digests.ofFile(join(folder, 'none'), hurry)).to.equal(undefined)
      await digests.close()
    })

  it('SHA-256 of files that are written meanwhile, as far as they were told of', async () => {
    const digests = createDigestThreads()
    const files = ['one', 'two'].map(name => join(folder, name))
    await Promise.all(files.map(file => writeFile(file, '')))
    const followed = files.map(file => digests.follow(file))
    for (let written = 0; written < 3 * content.length; written += content.length)
      for (const [i, file] of files.entries()) {
        await appendFile(file, content)
        followed[i]?.reach(written + content.length - i)
      }
    const whole = Buffer.concat([content, content, content])
    const expected = [whole, whole.subarray(0, -1)].map(bytes => createHash('sha256').update(bytes).digest('hex'))
    expect(await Promise.all(followed.map(each => each.finish()))).to.deep.equal(expected)
    await digests.close()
  })

  it('DAV-43 a body whose thread ended between two of its blocks has no digests, instead of those of its rest', async () => {
    const begun: Worker[] = []
    const count = (worker: Worker) => begun.push(worker)
    process.on('worker', count)
    const digests = createDigestThreads()
    try {
      const digesting = digests.start()
      const block = new SharedArrayBuffer(4)
      await digesting.update(block, 4)
      await Promise.all(begun.map(worker => worker.terminate()))
      const failed = await digesting
        .update(block, 4)
        .then(() => digesting.finish())
        .catch((error: unknown) => error)
      expect(failed).to.be.instanceOf(StoreError)
      const next = digests.start()
      await next.update(block, 4)
      const [sha1, md5] = ['sha1', 'md5'].map(algorithm => createHash(algorithm).update(Buffer.alloc(4)).digest('hex'))
      expect(await next.finish()).to.deep.equal({ sha1, md5 })
    } finally {
      process.off('worker', count)
      await digests.close()
    }
  })

  it('a file that cannot be followed, or not as far as was told, is an error in the end, and none for others', async () => {
    const digests = createDigestThreads()
    const lost = digests.follow(join(folder, 'none'))
    const short = digests.follow(join(folder, 'file'))
    const given = digests.follow(join(folder, 'file'))
    const good = digests.follow(join(folder, 'file'))
    lost.reach(1)
    short.reach(content.length + 1)
    given.reach(10)
    given.abort()
    good.reach(content.length)
    for (const each of [lost, short]) expect(await each.finish().catch(error => error)).to.be.instanceOf(StoreError)
    expect(await good.finish()).to.equal(createHash('sha256').update(content).digest('hex'))
    await digests.close()
  })

  it('SEC-12 what is long is hashed without a thread that reads its file while there is no room for that', async () => {
    const { store, close } = await openTemporary({ inlineLimit: 10 })
    for (const room of [1, 2]) {
      const files = { count: 0, mayOpen: () => files.count < room }
      const body = new PassThrough()
      const staged = store.stage(body, { limit: 1e8, files })
      const sent = () => eventually(() => expect(body.writableLength).to.equal(0))
      for (let i = 0; i < 4; i++) body.write(content)
      await sent()
      expect(files.count).to.equal(room)
      files.mayOpen = () => true
      for (let i = 0; i < 5; i++) body.write(content)
      await sent()
      expect(files.count).to.equal(2)
      body.end()
      const { sha256, discard } = await staged
      const whole = Buffer.concat(Array.from({ length: 9 }, () => content))
      expect([sha256, files.count]).to.deep.equal([createHash('sha256').update(whole).digest('hex'), 0])
      await discard()
    }
    await close()
  })
})
