import { hash } from 'node:crypto'
import { expect } from 'chai'
import type { Change, TreeEvents } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type Open, type Opened, put, putBlob, textAt, there } from '../fixture.ts'

/** A text that is large enough for changes of it to be kept. */
const LARGE = 'A line of a long page.\n'.repeat(3000)

const TELL: TreeEvents = {
  gone: { around: ['gone <', '>'] },
  come: { around: ['come "', '" <', '> [', ']'] },
  largestBody: 1024 * 1024,
}

/** Large documents that are changed in places, as edits of elements do it (HTTP-24). */
export function describeSplices(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(async () => {
    await opened.intact()
    await opened.close()
  })

  /** Changes stretches of what stands at a path, in order, and checks what stands there then. */
  async function change(path: string, ...stretches: [start: number, end: number, text: string][]): Promise<string> {
    const before = (await textAt(site, path)) ?? ''
    let after = before
    for (const [start, end, text] of stretches.toReversed()) after = after.slice(0, start) + text + after.slice(end)
    const bytes = Buffer.from(after)
    const splices = stretches.map(([start, end, text]) => ({ start, end, bytes: Buffer.from(text) }))
    const { version } = await there(site, path)
    const content = { bytes, digest: hash('sha256', bytes), splices }
    await done(site, [{ op: 'put', path, expect: version, kind: 'document', type: 'text/html', content }])
    await holds(path, after)
    return after
  }

  async function holds(path: string, text: string): Promise<void> {
    const { digest, size } = await there(site, path)
    expect([digest, size, await textAt(site, path)]).to.deep.equal([hash('sha256', text), text.length, text])
  }

  async function twice(path: string): Promise<string> {
    await change(path, [5, 9, 'row'], [40_000, 40_000, 'something new '])
    return change(path, [0, 1, ''])
  }

  it('HTTP-24 are what all changes together have made of them, however many there were', async () => {
    await done(site, [put('/a.html', LARGE)])
    for (let i = 0; i < 70; i++) await change('/a.html', [i * 7, i * 7 + (i % 5), `<b>${i}</b>`], [50_000, 50_001, ''])
    await change('/a.html', [0, 0, 'x'.repeat(30_000)])
    await change('/a.html', [0, 80_000, 'short'])
  })

  const LATER: [string, string, Change[]][] = [
    ['saved as a whole', '/d/a.html', [put('/d/a.html', LARGE)]],
    ['deleted and saved', '/d/a.html', [{ op: 'delete', path: '/d/a.html' }, put('/d/a.html', LARGE)]],
    ['deleted with its collection', '/d/a.html', [{ op: 'delete', path: '/d/' }, put('/d/a.html', LARGE)]],
    ['replaced by a blob', '/d/a.html', [putBlob('/d/a.html', Buffer.alloc(300_000)), put('/d/a.html', LARGE)]],
  ]
  for (const [what, path, changes] of LATER)
    it(`HTTP-24 leave nothing behind when they are ${what}`, async () => {
      await done(site, [put('/d/a.html', LARGE.toUpperCase())])
      await twice('/d/a.html')
      for (const each of changes) await done(site, [each])
      await holds(path, LARGE)
      await twice(path)
    })

  const PLACES: [string, string, Change][] = [
    ['moved', '/b.html', { op: 'move', from: '/d/a.html', to: '/b.html' }],
    ['copied', '/b.html', { op: 'copy', from: '/d/a.html', to: '/b.html', deep: true }],
    ['moved with their collection', '/e/a.html', { op: 'move', from: '/d/', to: '/e/' }],
    ['moved with their collection, which is told', '/e/a.html', { op: 'move', from: '/d/', to: '/e/', tell: TELL }],
    ['copied with their collection', '/e/a.html', { op: 'copy', from: '/d/', to: '/e/', deep: true }],
    ['copied with it, which is told', '/e/a.html', { op: 'copy', from: '/d/', to: '/e/', deep: true, tell: TELL }],
  ]
  for (const [what, to, relocation] of PLACES)
    it(`HTTP-24 EVT-28 are the same when they are ${what}, and are changed there`, async () => {
      await done(site, [put('/d/a.html', LARGE)])
      const text = await twice('/d/a.html')
      await done(site, [relocation])
      await holds(to, text)
      const told = 'tell' in relocation ? `[${text}]` : undefined
      const after = await twice(to)
      if (relocation.op === 'copy') {
        await holds('/d/a.html', text)
        await twice('/d/a.html')
        await holds(to, after)
      }
      // What an event tells is what stood there at its time.
      if (told) expect((await site.events(to)).map(({ payload }) => payload.slice(-told.length))).to.include(told)
    })

  it('HTTP-24 commits that build on each other are sent together; behind one that fails none is carried out', async () => {
    const texts = [LARGE, `a${LARGE}`, `ba${LARGE}`, `cba${LARGE}`]
    const digests = texts.map(text => hash('sha256', text))
    const commit = (from: number, to: number) => {
      const splices = [{ start: 0, end: 0, bytes: Buffer.from(texts[to]?.[0] ?? '') }]
      const content = { bytes: Buffer.from(texts[to] ?? ''), digest: digests[to] ?? '', splices }
      const expected = { digest: digests[from] ?? '' }
      const common = { path: '/a.html', expect: expected, kind: 'document', type: 'text/html' } as const
      return site.commit({ changes: [{ op: 'put', ...common, content }] })
    }
    await done(site, [put('/a.html', LARGE)])
    const both = await Promise.all([commit(0, 1), commit(1, 2)])
    expect(both.map(({ ok }) => ok)).to.deep.equal([true, true])
    await holds('/a.html', texts[2] ?? '')
    const failed = await Promise.all([commit(1, 2), commit(3, 1), commit(2, 3)])
    expect(failed.map(({ ok }) => ok)).to.deep.equal([false, false, true])
    await holds('/a.html', texts[3] ?? '')
  })

  it('HTTP-24 is refused where another version stands', async () => {
    await done(site, [put('/a.html', LARGE)])
    const { version } = await there(site, '/a.html')
    const text = await twice('/a.html')
    const content = { bytes: Buffer.from(`x${LARGE}`), splices: [{ start: 0, end: 0, bytes: Buffer.from('x') }] }
    const refused = await site.commit({
      changes: [{ op: 'put', path: '/a.html', expect: version, kind: 'document', type: 'text/html', content }],
    })
    expect(refused).to.include({ ok: false, reason: 'version' })
    await holds('/a.html', text)
  })
}
