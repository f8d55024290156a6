import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { checkFolder } from '../../../pipeline/store/check.ts'
import { openSqliteStore } from '../../../pipeline/store/sqlite/store.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { temporaryFolder } from '../fixture.ts'
import { bodyOf, WRITERS } from './crash.ts'

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
    const bytes = 'bytes' in body ? body.bytes : await readFile(body.file)
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
  }).timeout(60_000)
})
