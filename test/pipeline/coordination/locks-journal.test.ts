import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import fc from 'fast-check'
import { openLocalLocks } from '../../../pipeline/coordination/local/locks.ts'
import { openJournal } from '../../../pipeline/coordination/local/locks-journal.ts'
import type { Lock, Locks } from '../../../pipeline/coordination/locks.ts'

const SITE = 'a.example'
const PROCESS = fileURLToPath(new URL('./locks-process.ts', import.meta.url))

async function take(locks: Locks, path: string, seconds = 600): Promise<Lock> {
  const taken = await locks.take(SITE, { path, scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds })
  if (!taken.ok) throw new Error(taken.reason)
  return taken.lock
}

describe('the journal of locks', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'locks-'))
    file = join(folder, 'locks.journal')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const pathsIn = async () => {
    const locks = await openLocalLocks({ folder })
    const found = await locks.below(SITE, '/')
    await locks.close()
    return found.map(lock => lock.path).sort()
  }

  it('DAV-90 nothing acknowledged is lost when the process is killed', async () => {
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, [PROCESS, folder, '16'], { stdio: ['ignore', 'pipe', 'inherit'] })
      const held = new Set<string>()
      const ending = new Set<string>()
      const ended = new Set<string>()
      for await (const line of createInterface({ input: child.stdout })) {
        const [what, token = ''] = line.split(' ')
        if (what === 'take') held.add(token)
        if (what === 'ending') ending.add(token)
        if (what === 'end') ended.add(token)
        if (ended.size === 200 + round) child.kill('SIGKILL')
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      const locks = await openLocalLocks({ folder })
      for (const token of held) {
        const isThere = (await locks.find(SITE, token)) !== undefined
        // What was being ended may be there or not.
        if (ended.has(token) || !ending.has(token)) expect(isThere, token).to.equal(!ended.has(token))
      }
      await locks.endAll(SITE, [...held])
      await locks.close()
    }
  })

  it('DAV-90 a journal that was cut off, or never reached the disk in places, gives back what is whole', async () => {
    const locks = await openLocalLocks({ folder })
    for (const path of ['/a', '/b', '/c']) await take(locks, path)
    await locks.close()
    const whole = await readFile(file)
    const lines = whole.toString().split('\n')

    await truncate(file, whole.length - 5)
    expect(await pathsIn()).to.deep.equal(['/a', '/b'])

    await writeFile(file, `${lines[0]}\n${'\0'.repeat(lines[1]?.length ?? 0)}\n${lines[2]}\n`)
    expect(await pathsIn()).to.deep.equal(['/a', '/c'])

    await writeFile(file, Buffer.concat([whole, Buffer.alloc(4096)]))
    expect(await pathsIn()).to.deep.equal(['/a', '/b', '/c'])
    // Opening has made it whole again.
    expect((await readFile(file)).includes(0)).to.equal(false)
  })

  it('lines that mean nothing are passed over', async () => {
    const locks = await openLocalLocks({ folder })
    const lock = await take(locks, '/a')
    await locks.close()
    const odd = [
      'null',
      '7',
      '{}',
      '[]',
      '{"site":"a.example"}',
      '{"site":"a.example","take":null}',
      `{"site":"a.example","take":${JSON.stringify({ ...lock, token: 'x', depth: 1 })}}`,
      `{"site":"a.example","take":${JSON.stringify({ ...lock, token: 'x', path: 7 })}}`,
      '{"refresh":"opaquelocktoken:none","expires":1}',
      `{"refresh":"${lock.token}"}`,
      '{"end":"x"}',
      '{"end":[1]}',
      '{"end":["opaquelocktoken:none"]}',
    ]
    await writeFile(file, `${odd.join('\n')}\n${await readFile(file, 'utf8')}`)
    expect(await pathsIn()).to.deep.equal(['/a'])
  })

  it('grows with the locks that there are, not with those that were', async () => {
    const locks = await openLocalLocks({ folder })
    const kept = await take(locks, '/kept')
    let largest = 0
    for (let round = 0; round < 12; round++) {
      const taken = await Promise.all(Array.from({ length: 500 }, (_, i) => take(locks, `/${i}`)))
      await Promise.all(taken.map(({ token }) => locks.end(SITE, token)))
      await Promise.all(Array.from({ length: 500 }, () => locks.refresh(SITE, kept.token, 600)))
      largest = Math.max(largest, (await stat(file)).size)
    }
    expect(largest).to.be.within(500_000, 1_500_000)
    await locks.close()
    expect(await pathsIn()).to.deep.equal(['/kept'])
    expect((await stat(file)).size).to.be.below(1_000)
    expect(await readdir(folder)).to.deep.equal(['locks.journal'])
  })

  it('DAV-90 locks that come and go while the journal is rewritten are not lost', async () => {
    const locks = await openLocalLocks({ folder })
    await Promise.all(Array.from({ length: 3_000 }, (_, i) => take(locks, `/old/${i}`)))
    const expected = new Set<string>(Array.from({ length: 3_000 }, (_, i) => `/old/${i}`))
    // Enough for several rewrites.
    await Promise.all(
      Array.from({ length: 40 }, async (_, worker) => {
        for (let i = 0; i < 200; i++) {
          const lock = await take(locks, `/new/${worker}/${i}`)
          if (i % 10 === 0) expected.add(lock.path)
          else await locks.end(SITE, lock.token)
        }
      }),
    )
    await locks.close()
    expect(await pathsIn()).to.deep.equal([...expected].sort())
  })

  it('DAV-90 a full disk refuses locks, and keeps those that there are', async () => {
    // The shell's unit is 1,024 bytes; the limit is taken for the disk being full.
    const script = `ulimit -S -f 64; exec '${process.execPath}' '${PROCESS}' '${folder}' 4`
    const child = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    const lines = child.stdout.trim().split('\n')
    // The first failure makes room by a rewrite, so that the other workers go on until the locks themselves fill it.
    expect(lines.filter(line => line.startsWith('failed'))).to.deep.equal(Array(4).fill('failed LockError'))
    const ended = new Set(lines.filter(line => line.startsWith('ending ')).map(line => line.slice(7)))
    const kept = lines.filter(line => line.startsWith('take ')).map(line => line.slice(5))
    expect(kept.length).to.be.above(100)
    const locks = await openLocalLocks({ folder })
    for (const token of kept) if (!ended.has(token)) expect(await locks.find(SITE, token), token).to.be.an('object')
    await locks.close()
  })

  it('a place that cannot be written is told at once', async () => {
    await mkdir(file)
    const outcome = await openLocalLocks({ folder }).catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.to.have.property('name', 'LockError')
    const missing = await openLocalLocks({ folder: join(folder, 'none') }).catch((error: unknown) => error)
    expect(missing).to.be.instanceOf(Error).and.to.have.property('name', 'LockError')
  })

  it('a rewrite that fails leaves the old journal, and the next append tries again', async () => {
    const state = ['a']
    const journal = await openJournal({ file, replay: () => undefined, state: () => state })
    // The next file cannot be written through this link, since its folder does not exist.
    await symlink(join(folder, 'none', 'x'), `${file}.new`)
    const large = 'x'.repeat(1_500_000)
    state.push(large)
    await journal.append(large)
    state.push('b')
    const outcome = await journal.append('b').catch((error: NodeJS.ErrnoException) => error.code)
    expect(outcome).to.equal('ENOENT')
    expect((await readFile(file, 'utf8')).split('\n')).to.deep.equal(['a', large, ''])
    await rm(`${file}.new`)
    state.push('c')
    await journal.append('c')
    expect((await readFile(file, 'utf8')).split('\n')).to.deep.equal(['a', large, 'b', 'c', ''])
    await journal.close()
  })

  it('what was appended is replayed in order, whatever it is', async () => {
    const line = fc
      .string({ maxLength: 30, unit: 'binary' })
      .filter(text => text !== '' && !text.includes('\n') && text.isWellFormed())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(line, { maxLength: 8 }), { maxLength: 4 }), async rounds => {
        await rm(file, { force: true })
        const state: string[] = []
        for (const lines of rounds) {
          const seen: string[] = []
          const journal = await openJournal({ file, replay: each => seen.push(each), state: () => state })
          expect(seen).to.deep.equal(state)
          await Promise.all(
            lines.map(each => {
              state.push(each)
              return journal.append(each)
            }),
          )
          await journal.close()
        }
      }),
      { numRuns: 25, seed: 20260314 },
    )
  })

  it('a closed journal takes nothing', async () => {
    const journal = await openJournal({ file, replay: () => undefined, state: () => [] })
    await journal.close()
    const outcome = await journal.append('a').catch((error: Error) => error.message)
    expect(outcome).to.match(/closed/)
  })
})
