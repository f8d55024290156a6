/** SHA-1 and MD5 of files: what they are, and how many threads they take. */

import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createDigestThreads } from '../../../../pipeline/store/disk/digests.ts'

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
})
