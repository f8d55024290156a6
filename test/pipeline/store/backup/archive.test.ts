import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { packBackup, unpackBackup } from '../../../../pipeline/store/backup/archive.ts'
import { Unusable } from '../../../../pipeline/store/errors.ts'

const run = promisify(execFile)

describe('Backups as archives', () => {
  let folder: string
  const at = (name: string) => join(folder, name)
  const files: [name: string, size: number][] = [
    ['backup.json', 12],
    ['state-1-a.jsonl', 513],
    [`objects/ab/${'0'.repeat(62)}`, 0],
    [`objects/cd/${'1'.repeat(62)}`, 1_200_000],
    [`objects/ef/${'2'.repeat(62)}`, 512],
  ]
  const bytesOf = (size: number) => Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) % 251))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-archive-'))
    for (const [name, size] of files) {
      await mkdir(join(at('saved'), name, '..'), { recursive: true })
      await writeFile(join(at('saved'), name), bytesOf(size))
    }
    await mkdir(at('out'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function comesOut(where = 'out') {
    for (const [name, size] of files)
      expect((await readFile(join(at(where), name))).equals(bytesOf(size)), name).to.equal(true)
  }

  it('what goes in comes out, and nothing else is left', async () => {
    await packBackup(at('saved'), at('a.tar'))
    await unpackBackup(at('a.tar'), at('out'))
    await comesOut()
    expect((await readdir(folder)).sort()).to.deep.equal(['a.tar', 'out', 'saved'])
  })

  it('HTTP-172 until it is complete an archive has no name that another command gives', async () => {
    await mkdir(at('other'))
    await writeFile(join(at('other'), 'backup.json'), 'other')
    await Promise.all([packBackup(at('saved'), at('x.tar')), packBackup(at('other'), at('x.tar'))])
    await unpackBackup(at('x.tar'), at('out'))
    expect((await readdir(at('out'))).length).to.be.oneOf([1, 3])
    expect(await readdir(folder)).to.have.members(['saved', 'other', 'out', 'x.tar'])
  })

  it('tar reads them', async () => {
    await packBackup(at('saved'), at('a.tar'))
    await run('tar', ['-xf', at('a.tar'), '-C', at('out')])
    await comesOut()
  })

  for (const format of ['ustar', 'gnu', 'pax'])
    it(`archives of tar are read: ${format}`, async () => {
      await run('tar', [`--format=${format}`, '-cf', at('a.tar'), '-C', folder, 'saved'])
      await unpackBackup(at('a.tar'), at('out'))
      await comesOut()
    })

  const damage: [what: string, work: (archive: string) => Promise<unknown>, said: RegExp][] = [
    ['one that is cut short', archive => truncate(archive, 700_000), /cut short/],
    ['one without its end', async archive => truncate(archive, (await readFile(archive)).length - 1024), /cut short/],
    ['one with another byte in a head', archive => changed(archive, 5), /damaged/],
    ['no archive', archive => writeFile(archive, 'x'.repeat(2048)), /no tar archive/],
    ['an empty file', archive => writeFile(archive, ''), /cut short/],
  ]
  async function changed(archive: string, offset: number) {
    const bytes = await readFile(archive)
    bytes[offset] = (bytes[offset] ?? 0) ^ 1
    await writeFile(archive, bytes)
  }
  for (const [what, work, said] of damage)
    it(`${what} is refused`, async () => {
      await packBackup(at('saved'), at('a.tar'))
      await work(at('a.tar'))
      const failure = await unpackBackup(at('a.tar'), at('out')).catch((error: Error) => error.message)
      expect(failure).to.match(said)
    })

  it('a pipe in place of an archive is refused, and nobody waits', async () => {
    await run('mkfifo', [at('a.tar')])
    const failure = await unpackBackup(at('a.tar'), at('out')).catch((error: Error) => error.message)
    expect(failure).to.equal(`${at('a.tar')} is no file`)
  })

  it('a part that stands there twice is refused in a sentence', async () => {
    await run('tar', ['-cf', at('bad.tar'), '-C', at('saved'), 'backup.json'])
    await run('tar', ['-rf', at('bad.tar'), '-C', at('saved'), 'backup.json'])
    const failure = await unpackBackup(at('bad.tar'), at('out')).catch((error: Error) => error)
    expect(failure).to.be.instanceOf(Unusable)
    expect(`${failure}`).to.match(/holds backup\.json twice/)
  })

  it('names that lead elsewhere, links and other files are refused, and nothing is written outside', async () => {
    await writeFile(at('escape'), 'x')
    for (const [name, options] of [
      ['outside', ['--transform=s|.*|../outside|', 'escape']],
      ['other', ['escape']],
      ['twice', ['--transform=s|.*|objects/../backup.json|', 'escape']],
    ] as const) {
      await run('tar', ['-P', '-cf', at('bad.tar'), '-C', folder, ...options])
      const failure = await unpackBackup(at('bad.tar'), at('out')).catch((error: Error) => error.message)
      if (name !== 'twice') expect(failure, name).to.match(/something else than a backup/)
    }
    await run('ln', ['-s', '/etc/passwd', at('backup.json')])
    await run('tar', ['-cf', at('bad.tar'), '-C', folder, 'backup.json'])
    expect(await unpackBackup(at('bad.tar'), at('out')).catch((error: Error) => error.message)).to.match(
      /something else/,
    )
    expect((await readdir(folder)).includes('outside')).to.equal(false)
  })
})
