import { hash } from 'node:crypto'
import { expect } from 'chai'
import type { Change } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { all, done, type Open, type Opened, put, textAt, there } from '../fixture.ts'

/** Many writers at once, conditions and counters, whatever the store. */
export function describeConcurrency(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  describe('expectations', () => {
    const table: {
      name: string
      stored: boolean
      expected: (version: number) => Change['op'] | object
      ok: boolean
    }[] = [
      { name: 'absent, nothing there', stored: false, expected: () => ({ expect: 'absent' }), ok: true },
      { name: 'absent, something there', stored: true, expected: () => ({ expect: 'absent' }), ok: false },
      { name: 'present, nothing there', stored: false, expected: () => ({ expect: 'present' }), ok: false },
      { name: 'present, something there', stored: true, expected: () => ({ expect: 'present' }), ok: true },
      { name: 'the right version', stored: true, expected: version => ({ expect: version }), ok: true },
      { name: 'another version', stored: true, expected: version => ({ expect: version + 1 }), ok: false },
      { name: 'a version, nothing there', stored: false, expected: () => ({ expect: 1 }), ok: false },
      {
        name: 'the right bytes',
        stored: true,
        expected: () => ({ expect: { digest: hash('sha256', '1') } }),
        ok: true,
      },
      { name: 'other bytes', stored: true, expected: () => ({ expect: { digest: hash('sha256', '2') } }), ok: false },
      {
        name: 'bytes, nothing there',
        stored: false,
        expected: () => ({ expect: { digest: hash('sha256', '1') } }),
        ok: false,
      },
    ]
    for (const { name, stored, expected, ok } of table) {
      it(`put: ${name}`, async () => {
        const version = stored ? (await done(site, [put('/a', '1')])).version : 0
        const current = await site.find('/a')
        const result = await site.commit({
          changes: [{ ...put('/a', '2'), ...(expected(version) as object) } as Change],
        })
        if (ok) expect(result).to.include({ ok: true })
        else {
          const refusal = { ok: false, reason: 'version', path: '/a' }
          expect(result).to.deep.equal(current === undefined ? refusal : { ...refusal, current })
        }
        expect(await textAt(site, '/a')).to.equal(ok ? '2' : stored ? '1' : undefined)
      })
    }

    it('the sum of a collection: nothing below it has changed, also in the same moment', async () => {
      await done(site, [put('/c/d/x', '1')])
      const { members = '' } = await there(site, '/c/')
      const remove: Change = { op: 'delete', path: '/c/', expect: { members } }
      const copy: Change = { op: 'copy', from: '/c/', to: '/e/', deep: true, expect: { members } }
      const over: Change = { op: 'move', from: '/f/', to: '/c/', expectTo: { members } }
      await done(site, [copy, { op: 'collection', path: '/f/' }])
      const together = [[put('/c/d/x', '2')], [remove], [copy], [over]].map(changes => site.commit({ changes }))
      const [changed, ...refused] = await Promise.all(together)
      expect(changed).to.include({ ok: true })
      for (const result of refused) expect(result).to.include({ ok: false, reason: 'version', path: '/c/' })
      const now = (await there(site, '/c/')).members ?? ''
      const file: Change = { ...put('/c/d/x', '3'), expect: { members: now } } as Change
      expect(await site.commit({ changes: [file] })).to.include({ ok: false, reason: 'version' })
      await done(site, [{ ...remove, expect: { members: now } }])
    })

    it('delete: another version', async () => {
      const { version } = await done(site, [put('/a', '1')])
      const attempt = (expect: number) => site.commit({ changes: [{ op: 'delete', path: '/a', expect }] })
      expect(await attempt(version + 1)).to.include({ ok: false, reason: 'version' })
      expect(await attempt(version)).to.include({ ok: true })
      expect(await attempt(version)).to.deep.equal({ ok: false, reason: 'version', path: '/a' })
    })
  })

  describe('counters', () => {
    it('stand at 0, are raised by one and required exactly', async () => {
      const first = await done(site, {
        changes: [put('/a', '1')],
        requires: { rules: 0 },
        raises: ['rules', 'schemas'],
      })
      expect(first.counters).to.deep.equal({ rules: 1, schemas: 1 })
      expect(await site.commit({ changes: [put('/a', '2')], requires: { schemas: 1, rules: 0 } })).to.deep.equal({
        ok: false,
        reason: 'counter',
        counter: 'rules',
        current: 1,
      })
      expect(await textAt(site, '/a')).to.equal('1')
      await done(site, { changes: [put('/a', '3')], requires: { rules: 1 }, raises: ['rules'] })
      expect(await site.counters()).to.deep.equal({ rules: 2, schemas: 1 })
    })
  })

  it('HTTP-4 of 32 writers expecting the same version exactly one wins', async () => {
    await done(site, [put('/a', 'start')])
    const { version } = await there(site, '/a')
    const results = await Promise.all(
      Array.from({ length: 32 }, (_, i) => site.commit({ changes: [put('/a', String(i), { expect: version })] })),
    )
    const winners = results.flatMap((result, i) => (result.ok ? [i] : []))
    expect(winners).to.have.length(1)
    expect(await textAt(site, '/a')).to.equal(String(winners[0]))
    const current = await there(site, '/a')
    for (const result of results) if (!result.ok) expect(result).to.deep.include({ reason: 'version', current })
  })

  it('HTTP-4 32 writers who retry lose no update', async () => {
    await done(site, [put('/count', '0')])
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        for (;;) {
          const resource = await there(site, '/count')
          const body = await site.body(resource)
          if (body === undefined || !('bytes' in body)) continue
          const next = String(Number(Buffer.from(body.bytes).toString()) + 1)
          const result = await site.commit({ changes: [put('/count', next, { expect: resource.version })] })
          if (result.ok) return
        }
      }),
    )
    expect(await textAt(site, '/count')).to.equal('32')
  })

  it('commits sent together have versions of their own and fail one by one', async () => {
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        site.commit({
          changes: [
            put(`/d/${i % 8}/${i}`, String(i)),
            ...(i % 3 === 0 ? [{ op: 'delete', path: '/none' } as Change] : []),
          ],
          events: [{ path: `/d/${i}`, payload: String(i) }],
        }),
      ),
    )
    const good = results.flatMap((result, i) => (result.ok ? [{ i, ...result }] : []))
    expect(good.map(({ i }) => i)).to.deep.equal(Array.from({ length: 64 }, (_, i) => i).filter(i => i % 3 !== 0))
    expect(new Set(good.map(({ version }) => version)).size).to.equal(good.length)
    expect(await all(site.walk('/'))).to.have.length(good.length)
    expect((await site.allEvents(undefined, 100)).map(({ id }) => id)).to.deep.equal(
      good.flatMap(({ events }) => events),
    )
  })

  it('commits are carried out in the order of their calls', async () => {
    const many = [put('/a', '1'), put('/b', '1'), put('/c', '1')]
    const results = await Promise.all([
      site.commit({ changes: many }),
      site.commit({ changes: [put('/a', '2', { expect: 'present' })] }),
      site.commit({ changes: [{ op: 'delete', path: '/b' }] }),
    ])
    expect(results.map(({ ok }) => ok)).to.deep.equal([true, true, true])
    expect(await textAt(site, '/a')).to.equal('2')
    expect(await site.find('/b')).to.equal(undefined)
  })

  it('a commit is seen by every read that begins after its answer', async () => {
    for (let i = 0; i < 50; i++) {
      await done(site, [put('/a', String(i))])
      expect(await textAt(site, '/a')).to.equal(String(i))
    }
  })

  it('two openings of one store see each other and never lose an update', async () => {
    const other = (await opened.another()).site('example.org')
    await done(site, [put('/d/a', '1')])
    expect(await textAt(other, '/d/a')).to.equal('1')
    await Promise.all(
      [site, other].flatMap((writer, w) =>
        Array.from({ length: 40 }, (_, i) => done(writer, { changes: [put(`/d/${w}-${i}`, 'x')], raises: ['n'] })),
      ),
    )
    expect(await site.counters()).to.deep.equal({ n: 80 })
    expect(await other.list('/d/')).to.have.length(81)
    const versions = (await site.list('/d/')).map(({ version }) => version)
    expect(new Set(versions).size).to.equal(81)
  })

  it('close finishes what was submitted and refuses what comes later', async () => {
    const { store } = opened
    const running = Array.from({ length: 20 }, (_, i) => done(site, [put(`/${i}`, String(i))]))
    await store.close()
    await Promise.all(running)
    const late = await site.commit({ changes: [put('/late', 'x')] }).catch((error: unknown) => error)
    expect(late).to.include({ name: 'StoreError', reason: 'closed' })
    expect(await (await opened.reopen()).site('example.org').list('/')).to.have.length(20)
  })
}
