import { expect } from 'chai'
import { afterEach, beforeEach, it } from 'mocha'
import { DERIVATION, OUTDATED } from '../../../../pipeline/store/derivation.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type Open, type Opened, put } from '../fixture.ts'
import { asBefore } from '../release-before.ts'

export function describeDerivations(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const page = (path: string) => put(path, 'A', { derived: { profile: '{}', tokens: '[]' } })

  async function outdated(name = OUTDATED): Promise<string[]> {
    const paths: string[] = []
    for await (const { path } of site.allDerived(name)) paths.push(path)
    return paths
  }

  it('RULE-11 what servers of the release before write is noted, however often and whatever they write', async () => {
    await done(site, [page('/in/a.html'), page('/in/b.html')])
    expect(await outdated()).to.deep.equal([])
    for (const derivation of [...Array(DERIVATION).keys(), 0]) {
      await opened.raw(asBefore('a.html', { profile: '{}' }, derivation))
      expect(await outdated()).to.deep.equal(['/in/a.html'])
      expect(await site.derived('/in/a.html', 'tokens')).to.equal(undefined)
    }
    await opened.intact()
  })

  it('RULE-11 servers of the release before do not read again what is noted of each other, for ever', async () => {
    await done(site, [page('/a.html')])
    await opened.raw(asBefore('a.html', { profile: '{}' }))
    // What one of them has found before this release came is done, as far as it knows.
    await opened.raw("INSERT INTO derived (id, name, site, value) SELECT id, 'outdated', site, 'null' FROM resource")
    expect([await outdated('outdated'), await outdated()]).to.deep.equal([[], ['/a.html']])
    await opened.intact()
  })

  it('RULE-11 copies and moves are as outdated as the original', async () => {
    await done(site, [page('/in/a.html'), page('/in/b.html')])
    await opened.raw(asBefore('a.html', { profile: '{}', tokens: '[]' }))
    await done(site, [{ op: 'copy', from: '/in/', to: '/deep/', deep: true }])
    for (const name of ['a', 'b']) {
      const path = `/in/${name}.html`
      await done(site, [{ op: 'copy', from: path, to: `/copy-${name}.html`, deep: false }])
      await done(site, [{ op: 'move', from: path, to: `/moved-${name}.html` }])
    }
    expect(await outdated()).to.deep.equal(['/copy-a.html', '/deep/a.html', '/moved-a.html'])
    await opened.intact()
  })

  it('those of many files, in the commit that brings them there', async () => {
    const paths = ['a', 'd/b', 'd/c', 'd/e']
    await done(site, [...paths.map(path => page(`/in/${path}`)), page('/to/d/b')])
    const change = {
      op: 'derive-below',
      path: '/out/',
      derived: { profile: '2', new: '3' },
      dropped: ['tokens', 'no'],
    } as const
    const move = { op: 'move', from: '/in/', to: '/out/' } as const
    expect(await site.commit({ changes: [move, { ...change, members: ['a', 'f'] }] })).to.include({ reason: 'missing' })
    await done(site, [move, { ...change, members: ['a', 'd/b', 'd/e'] }])
    await done(site, [{ ...change, path: '/to/d/b', members: [''], derived: {} }])
    const values = async (path: string) =>
      Promise.all(['profile', 'tokens', 'new'].map(name => site.derived(path, name)))
    for (const path of ['a', 'd/b', 'd/e']) expect(await values(`/out/${path}`)).to.deep.equal(['2', undefined, '3'])
    expect(await values('/out/d/c')).to.deep.equal(['{}', '[]', undefined])
    expect(await values('/to/d/b')).to.deep.equal(['{}', undefined, undefined])
    await opened.intact()
  })

  const ends: [what: string, end: () => Promise<unknown>][] = [
    ['written anew', () => done(site, [page('/a.html')])],
    ['removed', () => done(site, [{ op: 'delete', path: '/a.html' }])],
    ['derived in a commit', () => done(site, [{ op: 'derive', path: '/a.html', derived: { [OUTDATED]: 'null' } }])],
    [
      'derived beside commits',
      async () => {
        const resource = await site.find('/a.html')
        if (resource) await site.derive(resource, { [OUTDATED]: 'null', profile: '{"utf8":true}' })
      },
    ],
  ]
  for (const [what, end] of ends)
    it(`RULE-11 a document is no longer outdated once it is ${what}`, async () => {
      await done(site, [page('/a.html')])
      await opened.raw(asBefore('a.html', { profile: '{}' }))
      expect(await outdated()).to.deep.equal(['/a.html'])
      await end()
      expect(await outdated()).to.deep.equal([])
      await opened.intact()
    })
}
