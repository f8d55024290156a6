import { expect } from 'chai'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { all, done, type Open, type Opened, put, putBlob } from '../fixture.ts'

/** One state for the time of some work, whatever the store. */
export function describeSnapshots(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  it('what is committed meanwhile is not seen, not even by the first read of it', async () => {
    await done(site, [put('/a.html', 'old'), put('/gone.html', 'x'), putBlob('/big', Buffer.alloc(2000, 1))])
    await done(site, [
      { op: 'describe', path: '/a.html', set: [{ namespace: 'n', name: 'p', value: '1' }], remove: [] },
    ])
    const before = await site.find('/')
    await opened.store.snapshot(async state => {
      await done(site, [put('/a.html', 'new'), { op: 'delete', path: '/gone.html' }, put('/b.html', 'new')])
      await done(opened.store.site('other.example'), [put('/x.html', 'x')])
      const then = state.site('example.org')
      expect(await state.sites()).to.deep.equal(['example.org'])
      expect((await all(then.walk('/'))).map(({ path }) => path)).to.deep.equal(['/a.html', '/big', '/gone.html'])
      expect((await then.list('/')).map(({ path }) => path)).to.deep.equal(['/a.html', '/big', '/gone.html'])
      expect(await then.find('/')).to.deep.equal(before)
      expect((await then.properties('/a.html')).length).to.equal(1)
      const old = await then.find('/a.html')
      const body = old && (await then.body(old))
      expect(body && 'bytes' in body && Buffer.from(body.bytes).toString()).to.equal('old')
    })
    expect((await all(site.walk('/'))).map(({ path }) => path)).to.deep.equal(['/a.html', '/b.html', '/big'])
  })

  it('a listing of many members is of the same state', async () => {
    const puts = Array.from({ length: 4200 }, (_, number) => put(`/${String(number).padStart(5, '0')}`, 'x'))
    await done(site, puts)
    await opened.store.snapshot(async state => {
      await done(site, [
        { op: 'delete', path: '/00000' },
        { op: 'delete', path: '/04199' },
      ])
      expect((await state.site('example.org').list('/')).length).to.equal(4200)
    })
    expect((await site.list('/')).length).to.equal(4198)
  })

  it('it is given back when the work fails, and what the work returns is returned', async () => {
    const failure = await opened.store.snapshot(() => Promise.reject(new Error('no'))).catch(error => error.message)
    expect(failure).to.equal('no')
    expect(await opened.store.snapshot(async state => (await state.sites()).length)).to.equal(0)
  })
}
