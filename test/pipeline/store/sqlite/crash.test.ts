import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { blobBytes } from '../../../../pipeline/store/blobs.ts'
import { checkFolder } from '../../../../pipeline/store/sqlite/check/check.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { temporaryFolder } from '../fixture.ts'
import { bodyOf, FILES, MOVES, placeAfter, WRITERS } from './crash.ts'

const ROUNDS = 10

/** Lets a process write for a while and kills it. @returns the highest acknowledged number of each writer */
async function crash(folder: string, milliseconds: number): Promise<Map<number, number>> {
  const child = fork(new URL('./crash-child.ts', import.meta.url), [folder])
  const acknowledged = new Map<number, number>()
  child.on('message', ({ writer, n }: { writer: number; n: number }) => acknowledged.set(writer, n))
  await once(child, 'message')
  await setTimeout(milliseconds)
  child.kill('SIGKILL')
  await once(child, 'close')
  return acknowledged
}

/** Paths of all events of a site. */
async function eventPaths(site: SiteStore): Promise<Set<string>> {
  const paths = new Set<string>()
  for (let after: string | undefined; ; ) {
    const page = await site.allEvents(after, 1000)
    for (const { path } of page) paths.add(path)
    if (page.length === 0) return paths
    after = page.at(-1)?.id
  }
}

/** Everything must be there that was acknowledged, and nothing by halves. @returns number of commits found */
async function judge(site: SiteStore, acknowledged: Map<number, number>): Promise<number> {
  const counters = await site.counters()
  const events = await eventPaths(site)
  const derived = new Set<string>()
  for await (const { path, value } of site.allDerived('of')) if (path === value) derived.add(path)
  const expected = new Set<string>()
  for (let writer = 0; writer < WRITERS; writer++) {
    const commits = counters[`w${writer}`] ?? 0
    expect(commits, `writer ${writer}`).to.be.greaterThan(acknowledged.get(writer) ?? -1)
    for (let n = 0; n < commits; n++) for (const name of ['a', 'b', 'c']) expected.add(`/w${writer}/${n}/${name}`)
  }
  const found = new Set<string>()
  for await (const resource of site.walk('/')) {
    found.add(resource.path)
    const body = await site.body(resource)
    if (body === undefined) throw new Error(`No body at ${resource.path}`)
    const bytes = 'bytes' in body ? body.bytes : await blobBytes(body.blob)
    const n = Number(resource.path.split('/')[2])
    expect(bodyOf(resource.path, n).equals(bytes), resource.path).to.equal(true)
  }
  const differences = (left: Set<string>, right: Set<string>) => [
    ...[...left].filter(path => !right.has(path)),
    ...[...right].filter(path => !left.has(path)),
  ]
  expect(differences(found, expected)).to.deep.equal([])
  expect(differences(events, expected)).to.deep.equal([])
  expect(differences(derived, expected)).to.deep.equal([])
  return expected.size / 3
}

/** Lets a process move a tree for a while and kills it. @returns the number of its last acknowledged move */
async function crashMoving(folder: string, milliseconds: number): Promise<number> {
  const child = fork(new URL('./crash-trees-child.ts', import.meta.url), [folder])
  let acknowledged = 0
  child.on('message', (n: number) => {
    acknowledged = n
  })
  await once(child, 'message')
  await setTimeout(milliseconds)
  child.kill('SIGKILL')
  await once(child, 'close')
  return acknowledged
}

/** The tree must be in one place, whole, and its events must say so. @returns number of moves found */
async function judgeTree(site: SiteStore, acknowledged: number): Promise<number> {
  const moves = ((await site.counters())[MOVES] ?? 0) - 1
  expect(moves).to.be.at.least(acknowledged)
  const [here, elsewhere] = [placeAfter(moves), placeAfter(moves + 1)]
  const found: string[] = []
  for await (const { path } of site.walk('/')) if (!path.startsWith('/copy/')) found.push(path)
  const expected = Array.from({ length: FILES }, (_, i) => `${here}${i}.html`)
  expect(found.sort()).to.deep.equal(expected.sort())
  const copies = await site.list('/copy/')
  expect(copies.length).to.be.oneOf([0, FILES])
  for (const i of [1, FILES - 1]) {
    const newest = async (path: string) => (await site.events(path)).at(-1)?.payload
    expect(await newest(`${here}${i}.html`)).to.match(new RegExp(`^come [0-9a-f]{48} ${here}${i}.html: file ${i}$`))
    expect(await newest(`${elsewhere}${i}.html`)).to.equal(`gone ${elsewhere}${i}.html`)
    if (moves > 1) expect(await site.events(`${here}${i}.html`)).to.have.length(moves)
  }
  return moves
}

describe('SQLite store: kill -9', () => {
  it(`loses nothing acknowledged and shows nothing half-done, ${ROUNDS} times over`, async () => {
    const { folder, remove } = await temporaryFolder()
    let before = 0
    for (let round = 0; round < ROUNDS; round++) {
      const acknowledged = await crash(folder, 40 + 17 * round)
      const store = await openSqliteStore({ folder })
      const commits = await judge(store.site('crash'), acknowledged)
      await store.close()
      expect(commits, `round ${round}`).to.be.greaterThan(before)
      before = commits
      // A file that got its name and not its row is no loss: it is removed by and by.
      const { findings } = await checkFolder(folder, { repair: true })
      expect(findings.filter(({ kind }) => kind !== 'file')).to.deep.equal([])
    }
    await remove()
  }).timeout(300_000)

  it('DAV-8 a tree that is moved, copied or removed is in one place, whole, and so say its events', async () => {
    const { folder, remove } = await temporaryFolder()
    let before = 0
    for (let round = 0; round < 6; round++) {
      const acknowledged = await crashMoving(folder, 30 + 23 * round)
      const store = await openSqliteStore({ folder })
      const moves = await judgeTree(store.site('trees'), acknowledged)
      await store.close()
      expect(moves, `round ${round}`).to.be.greaterThan(before)
      before = moves
      expect((await checkFolder(folder, { repair: false })).findings).to.deep.equal([])
    }
    await remove()
  }).timeout(300_000)
})
