import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { migrateStore } from '../../../../pipeline/store/backup/migrate.ts'
import { blobBytes, type StagedBlob } from '../../../../pipeline/store/blobs.ts'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import type { SiteReader, Store } from '../../../../pipeline/store/store.ts'
import { all, done, type Opened, openTemporary, put, putBlob, there } from '../fixture.ts'
import { openEmpty } from '../postgres/fixture.ts'

const SETTINGS = { settings: ['key'] }

for (const [name, openFrom, openTo] of [
  ['SQLite to PostgreSQL', openTemporary, openEmpty],
  ['PostgreSQL to SQLite', openEmpty, openTemporary],
] as const) {
  describe(`moving from ${name}`, () => {
    let from: Opened
    let to: Opened
    beforeEach(async () => {
      from = await openFrom({ inlineLimit: 1000 })
      to = await openTo({ inlineLimit: 1000 })
      const site = from.store.site('a.example')
      await done(site, [
        put('/a.html', 'A', { language: 'en', shown: 77 }),
        put('/d/b.html', 'nul \0 here'),
        putBlob('/d/large', Buffer.alloc(700_000, 'x')),
        putBlob('/d/small', Buffer.alloc(10, 'y')),
        { op: 'collection', path: '/empty/' },
        { op: 'describe', path: '/d/', set: [{ namespace: 'n', name: 'p', value: 'v\0' }], remove: [] },
        { op: 'describe', path: '/', set: [{ namespace: '', name: 'r', value: '' }], remove: [] },
      ])
      await done(from.store.site('b.example'), [put('/x.html', 'X')])
      await from.store.setSetting('key', 'secret')
    })
    afterEach(async () => {
      await from.close()
      await to.close()
    })

    /** Everything that a visitor or an author can see of a site. */
    async function seen(store: Store, site: string) {
      const reader = store.site(site)
      const found: unknown[] = []
      for (const resource of await all(reader.walk('/', { collections: true }))) {
        const { path, kind, digest, size, type, language, members, properties } = resource
        const body = kind === 'collection' ? undefined : await reader.body(resource)
        const bytes = body && ('bytes' in body ? Buffer.from(body.bytes) : await blobBytes(body.blob))
        const dead = await reader.properties(path)
        found.push({ path, kind, digest, size, type, language, members, properties, dead, text: bytes?.toString() })
      }
      return found
    }

    it('HTTP-172 a store that goes away in the middle of a file is told as that, not as a body that broke off', async () => {
      const read = async () => {
        throw new StoreError('busy', 'It is away')
      }
      const open = async () => ({ read, close: async () => undefined })
      const cut = (site: SiteReader): SiteReader => ({
        ...site,
        async body(resource) {
          const body = await site.body(resource)
          return body && 'blob' in body ? { blob: { size: body.blob.size, open } } : body
        },
      })
      const snapshot: Store['snapshot'] = work =>
        from.store.snapshot(state => work({ ...state, site: name => cut(state.site(name)) }))
      const failure = await migrateStore({ ...from.store, snapshot }, to.store, SETTINGS).catch(
        (error: unknown) => error,
      )
      expect(failure).to.be.instanceOf(StoreError).with.property('message', 'It is away')
    })

    it('everything arrives as it was, with what the installation knows', async () => {
      const moved = await migrateStore(from.store, to.store, SETTINGS)
      expect(moved).to.deep.include({ files: 5, found: 0 })
      expect(await to.store.sites()).to.deep.equal(['a.example', 'b.example'])
      for (const site of ['a.example', 'b.example'])
        expect(await seen(to.store, site)).to.deep.equal(await seen(from.store, site))
      expect(await there(to.store.site('a.example'), '/a.html')).to.include({ shown: 77, language: 'en' })
      expect(await to.store.setting('key')).to.equal('secret')
    })

    it('DAV-36 so do times that clients have set on folders', async () => {
      const site = from.store.site('a.example')
      for (const path of ['/d/', '/empty/'])
        await done(site, [{ op: 'describe', path, set: [], remove: [], shown: 86_400 }])
      await migrateStore(from.store, to.store, SETTINGS)
      for (const path of ['/d/', '/empty/'])
        expect(await there(to.store.site('a.example'), path)).to.include({ shown: 86_400 })
    })

    it('REA-86 SSN-5 so does what is kept beside the sites and belongs to no process, once', async () => {
      const note = (key: string) => ({ key, value: `${key} nul \0`, expires: from.clock.now + 1_000_000 })
      const [calls, sessions] = [[note('call/w/1'), note('call/w/2')], [note('session/a.example/x')]]
      const kept = [...calls, ...sessions, note('call/owner/1')].map(each => ({ op: 'keep' as const, note: each }))
      await from.store.changeNotes(kept)
      // A move that was interrupted has left it, and it was done there since.
      await to.store.changeNotes([{ op: 'keep', note: note('call/w/0') }])
      const options = { ...SETTINGS, notes: ['call/w/', 'session'] }
      await migrateStore(from.store, to.store, options)
      expect(await to.store.notes('call')).to.deep.equal(calls)
      expect(await to.store.notes('session')).to.deep.equal(sessions)
      // What has been done there since is not done again by a command that is repeated.
      await to.store.changeNotes([{ op: 'drop', key: 'call/w/1' }])
      await migrateStore(from.store, to.store, options)
      expect(await to.store.notes('call')).to.deep.equal(calls.slice(1))
    })

    it('a move that was interrupted goes on, unless the source has changed meanwhile', async () => {
      const broken: Store = {
        ...to.store,
        site(name) {
          const site = to.store.site(name)
          return name === 'b.example' ? { ...site, commit: () => Promise.reject(new Error('interrupted')) } : site
        },
      }
      const error = await migrateStore(from.store, broken, SETTINGS).catch((thrown: unknown) => thrown)
      expect(error).to.include({ message: 'interrupted' })
      expect(await migrateStore(from.store, to.store, SETTINGS)).to.deep.include({ files: 5, found: 4 })
      expect(await seen(to.store, 'b.example')).to.deep.equal(await seen(from.store, 'b.example'))
    })

    it('what was streamed and not committed does not stay', async () => {
      const kept = new Set<StagedBlob>()
      const full: Store = {
        ...to.store,
        async stage(body, options) {
          const staged = await to.store.stage(body, options)
          kept.add(staged)
          return { ...staged, discard: async () => void (kept.delete(staged) && (await staged.discard())) }
        },
        site: name => ({ ...to.store.site(name), commit: () => Promise.reject(new Error('full')) }),
      }
      const error = await migrateStore(from.store, full, SETTINGS).catch((thrown: unknown) => thrown)
      expect(error).to.include({ message: 'full' })
      expect(kept).to.be.empty
    })

    it('what was interrupted behind its last step is all there, and told as such', async () => {
      await migrateStore(from.store, to.store, SETTINGS)
      expect(await migrateStore(from.store, to.store, SETTINGS)).to.deep.include({ files: 5, found: 5 })
      await done(from.store.site('b.example'), [put('/new.html', 'N')])
      const error = await migrateStore(from.store, to.store, SETTINGS).catch((thrown: unknown) => thrown)
      expect(error).to.have.property('name', 'Unusable')
    })

    it('a store that holds one of the sites is left alone', async () => {
      await done(to.store.site('b.example'), [put('/other.html', 'O')])
      const error = await migrateStore(from.store, to.store, SETTINGS).catch((thrown: unknown) => thrown)
      expect(error).to.have.property('name', 'Unusable')
      expect(await to.store.sites()).to.deep.equal(['b.example'])
      expect((await all(to.store.site('b.example').walk('/'))).map(({ path }) => path)).to.deep.equal(['/other.html'])
    })
  })
}
