/** A folder that is imported: what cannot come along is named, and nothing beside it is read. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { busy } from '../../../pipeline/failures.ts'
import { type Imported, importFolder } from '../../../pipeline/write/import.ts'
import { importDemo } from '../../../server/demo/import.ts'
import { put } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { all } from '../store/fixture.ts'

describe('import', () => {
  let folder: string
  let server: TestServer
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-import-'))
    server = await startServer({ site: { maxBody: '1MiB', defaultGet: 'allow' } })
  })
  afterEach(async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  const read = (progress?: () => void): Promise<Imported> =>
    importFolder(server.site, server.running.store, folder, { progress })
  const write = (name: string, content: string | Uint8Array = 'x') => writeFile(join(folder, name), content)

  it('names what it leaves out, and reads the rest', async () => {
    await write('a.txt')
    await write('e\u0301.txt', 'first')
    await write('\u00e9.txt', 'other')
    await symlink('/etc/passwd', join(folder, 'passwd'))
    const { files, problems } = await read()
    expect(files).to.equal(2)
    expect(problems).to.have.members([
      `${join(folder, 'passwd')}: it is neither a file nor a folder`,
      `${join(folder, '\u00e9.txt')}: another one is read under the same name`,
    ])
    expect((await server.site.find('/\u00e9.txt'))?.resource.size).to.equal(5)
    expect(await server.site.find('/passwd')).to.equal(undefined)
  })

  it('HTTP-11 names that no request can have are left out', async () => {
    const deep = join(...Array.from({ length: 6 }, () => 'd'.repeat(200)))
    await mkdir(join(folder, deep), { recursive: true })
    for (const name of ['a.txt', 'x\u0001.txt', 'x\n.txt', 'x\u007f', 'a\\b', join(deep, 'x.txt')]) await write(name)
    const { files, problems } = await read()
    expect([files, problems.length], problems.join('; ')).to.deep.equal([1, 5])
    const stored = await all(server.site.store.walk('/'))
    expect(stored.map(({ path }) => path)).to.deep.equal(['/a.txt'])
  })

  it('what had no turn beside the others is read after them, alone', async () => {
    for (const name of ['a.bin', 'b.bin', 'c.bin']) await write(name, Buffer.alloc(1000))
    const { store } = server.running
    let refused = 0
    const crowded = Object.create(store) as typeof store
    crowded.stage = async (...given) => {
      if (refused++ < 2) throw busy()
      return store.stage(...given)
    }
    const { files, problems } = await importFolder(server.site, crowded, folder)
    expect([files, problems, refused]).to.deep.equal([3, [], 5])
  })

  it('what somebody stores while the demo is imported at a first start stays', async () => {
    const { store } = server.running
    const early = Object.create(store) as typeof store
    early.sites = async () => {
      const sites = await store.sites()
      await put(server, '/rules.html', 'mine')
      return sites
    }
    const imported = await importDemo(server.site, early)
    expect(imported?.problems.length).to.equal(1)
    expect((await server.site.find('/rules.html'))?.bytes?.toString()).to.equal('mine')
    expect(await server.site.find('/index.html')).to.not.equal(undefined)
  })

  for (const [what, isKilled] of [
    ['was killed', true],
    ['found no room on the disk', false],
  ] as const)
    it(`the demo whose import ${what} at a first start is there in full after the next, and then left alone`, async () => {
      const { store } = server.running
      const ended = Object.create(store) as typeof store
      let hasEnded = false
      ended.stage = async () => {
        hasEnded = true
        throw new Error('ended')
      }
      ended.setSetting = async (...given) => (hasEnded && isKilled ? undefined : store.setSetting(...given))
      await importDemo(server.site, ended).catch(() => undefined)
      await put(server, '/rules.html', 'mine')
      await importDemo(server.site, store)
      expect(await server.site.find('/images/estuary.png')).to.not.equal(undefined)
      expect((await server.site.find('/rules.html'))?.bytes?.toString()).to.equal('mine')
      expect(await importDemo(server.site, store)).to.equal(undefined)
    })

  it('a file that is too large is left out alone', async () => {
    await write('a.bin', Buffer.alloc(2 * 1024 * 1024))
    await write('b.txt')
    await write('c.html', Buffer.alloc(2 * 1024 * 1024, 32))
    const { store } = server.running
    let staged = 0
    const watched = Object.create(store) as typeof store
    watched.stage = async (...given) => {
      staged++
      return store.stage(...given)
    }
    const { files, problems } = await importFolder(server.site, watched, folder)
    expect([files, staged], problems.join('; ')).to.deep.equal([1, 1])
    const told = 'The file is larger than 1048576 bytes.'
    expect(problems).to.have.members([`/a.bin: ${told}`, `/c.html: ${told}`])
  })

  const OTHERS: [what: string, put: (name: string) => unknown][] = [
    ['nothing', () => undefined],
    ['a link to a file elsewhere', name => symlinkSync('/etc/passwd', name)],
    ['a pipe', name => execFileSync('mkfifo', [name])],
    ['a folder', name => mkdirSync(name)],
  ]
  for (const [what, put] of OTHERS) {
    it(`a file in whose place stands ${what} when its turn comes is left out alone`, async () => {
      for (let i = 100; i < 200; i++) await write(`${i}.txt`)
      let isExchanged = false
      const { files, problems } = await read(() => {
        if (isExchanged) return
        isExchanged = true
        rmSync(join(folder, '199.txt'))
        put(join(folder, '199.txt'))
      })
      expect([files, problems.length], problems.join('; ')).to.deep.equal([99, 1])
      expect(problems[0]).to.match(/199\.txt: /)
      expect(await server.site.find('/199.txt')).to.equal(undefined)
    })

    if (what !== 'nothing')
      it(`${what} in place of the sidecar is refused in a sentence`, async () => {
        await write('a.txt')
        put(join(folder, '.scriptorium.json'))
        const refused = await read().catch((error: Error) => error.message)
        expect(refused).to.equal(`${join(folder, '.scriptorium.json')} is no file`)
      })
  }

  it('a folder that goes away when its turn comes is left out alone', async () => {
    for (let i = 100; i < 200; i++) await write(`${i}.txt`)
    await mkdir(join(folder, 'last'))
    const { files, problems } = await read(() => rmSync(join(folder, 'last'), { recursive: true, force: true }))
    expect([files, problems]).to.deep.equal([100, [`${join(folder, 'last')}/: it cannot be read (ENOENT)`]])
  })

  it('a folder for which somebody exchanges a link when its turn comes is not read', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'scriptorium-elsewhere-'))
    try {
      await writeFile(join(elsewhere, 'x.txt'), 'secret')
      for (let i = 100; i < 200; i++) await write(`${i}.txt`)
      await mkdir(join(folder, 'last'))
      await write('last/x.txt')
      let isExchanged = false
      const { files, problems } = await read(() => {
        if (isExchanged) return
        isExchanged = true
        rmSync(join(folder, 'last'), { recursive: true })
        symlinkSync(elsewhere, join(folder, 'last'))
      })
      expect(problems.join()).to.include(join(folder, 'last'))
      expect([files, problems.length]).to.deep.equal([100, 1])
      expect(await server.site.find('/last/x.txt')).to.equal(undefined)
    } finally {
      await rm(elsewhere, { recursive: true })
    }
  })

  for (const type of ['text/x\r\nX-Other: y', 'text/\u4e2d', 'text/x\0'])
    it(`a type of the sidecar that no field can have does not count: ${JSON.stringify(type)}`, async () => {
      await write('a.txt')
      const entry = { file: 'a.txt', path: '/a.txt', kind: 'blob', type }
      await write('.scriptorium.json', JSON.stringify({ format: 1, resources: [entry] }))
      expect(await read()).to.deep.equal({ files: 1, bytes: 1, problems: [], helpers: 0 })
      const answer = await client(server.port)('GET', '/a.txt')
      expect([answer.status, answer.headers['content-type']]).to.deep.equal([200, 'text/plain'])
    })
})
