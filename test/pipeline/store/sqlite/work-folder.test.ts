import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Unusable } from '../../../../pipeline/store/errors.ts'
import { LOCK } from '../../../../pipeline/store/modes.ts'
import { inFolderAlone, inWorkFolder } from '../../../../pipeline/store/sqlite/work-folder.ts'
import { temporaryFolder } from '../fixture.ts'

const MODULE = new URL('../../../../pipeline/store/sqlite/work-folder.ts', import.meta.url).href

/** Another process that keeps a work folder until it is killed. */
async function keeper(parent: string) {
  const program = `import { inWorkFolder } from ${JSON.stringify(MODULE)}
    await inWorkFolder(${JSON.stringify(parent)}, () => { console.log('has it'); return new Promise(done => setTimeout(done, 600_000)) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}

describe('folders in which archives are made', () => {
  it('HTTP-172 what a killed command left goes with the next one, what somebody uses stays', async () => {
    const { folder, remove } = await temporaryFolder()
    try {
      const kill = await keeper(folder)
      const [held] = await readdir(folder)
      expect(held).to.match(/^\.backup-/)
      const during = () =>
        inWorkFolder(folder, async inside => {
          expect(await readdir(inside)).to.deep.equal([])
          await writeFile(join(inside, 'a'), 'x')
          return readdir(folder)
        })
      expect(await during())
        .to.have.length(2)
        .and.include(held)
      expect(await readdir(folder), 'its own is gone').to.deep.equal([held])
      await kill()
      expect(await during())
        .to.have.length(1)
        .and.not.include(held)
      expect(await readdir(folder)).to.deep.equal([])
    } finally {
      await remove()
    }
  })

  it('HTTP-172 one without a lock, as earlier releases left it, goes after a day; other names stay', async () => {
    const { folder, remove } = await temporaryFolder()
    try {
      const old = new Date(Date.now() - 25 * 60 * 60_000)
      for (const name of ['.backup-aaaaaa', '.backup-bbbbbb', '.backup-of-mine', 'backup-cccccc']) {
        await mkdir(join(folder, name))
        await writeFile(join(folder, name, 'x'), 'x')
        if (name !== '.backup-bbbbbb') await utimes(join(folder, name), old, old)
      }
      const failed = await inWorkFolder(folder, () => Promise.reject(new Error('no'))).catch(
        (error: Error) => error.message,
      )
      expect(failed).to.equal('no')
      expect((await readdir(folder)).sort()).to.deep.equal(['.backup-bbbbbb', '.backup-of-mine', 'backup-cccccc'])
      await rm(join(folder, '.backup-bbbbbb'), { recursive: true })
    } finally {
      await remove()
    }
  })

  it('HTTP-172 of two commands that write to one folder, one is refused; a lock that was left behind holds nobody', async () => {
    const { folder, remove } = await temporaryFolder()
    try {
      const place = join(folder, 'new')
      const refused = await inFolderAlone(place, () =>
        inFolderAlone(place, async () => 'both').catch((error: unknown) => error),
      )
      expect(refused).to.be.instanceOf(Unusable)
      expect(String(refused)).to.include(`another command is writing to ${place}`)
      expect(await readdir(place)).to.deep.equal([])
      await writeFile(join(place, LOCK), '')
      expect(await inFolderAlone(place, async () => 'alone')).to.equal('alone')
      expect(await readdir(place)).to.deep.equal([])
    } finally {
      await remove()
    }
  })
})
