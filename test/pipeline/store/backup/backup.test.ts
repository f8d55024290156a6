import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { HEAD, objectFile, readHead } from '../../../../pipeline/store/backup/format.ts'
import { checkBackup, restoreStore } from '../../../../pipeline/store/backup/restore.ts'
import { saveStore } from '../../../../pipeline/store/backup/save.ts'
import { RESTORING } from '../../../../pipeline/store/backup/unfinished.ts'
import type { StagedBlob } from '../../../../pipeline/store/blobs.ts'
import { StoreError, Unusable } from '../../../../pipeline/store/errors.ts'
import type { Store } from '../../../../pipeline/store/store.ts'
import {
  all,
  done,
  type Opened,
  openTemporary,
  put,
  putBlob,
  START,
  temporaryFolder,
  textAt,
  there,
} from '../fixture.ts'
import { openEmpty } from '../postgres/fixture.ts'

const SETTINGS = { settings: ['session-secret', 'editor-password'] }
/** The store knows nothing of XML. */
const TERMS = { ...SETTINGS, accepts: ({ value }: { value: string }) => value !== 'markup' }
const BIG = Buffer.alloc(5000, 7)

for (const [name, open] of [
  ['SQLite', openTemporary],
  ['PostgreSQL', openEmpty],
] as const) {
  describe(`backups of ${name}`, () => {
    /** What is read of a backup is refused alike whatever the store: all of it on one, the first of it on the others. */
    const refusedAlike = <Case>(cases: Case[]): Case[] => (open === openTemporary ? cases : cases.slice(0, 1))
    let opened: Opened
    let target: { folder: string; remove: () => Promise<void> }
    let other: Opened
    beforeEach(async () => {
      opened = await open({ inlineLimit: 1000 })
      other = await open({ inlineLimit: 1000 })
      target = await temporaryFolder()
    })
    afterEach(async () => {
      await opened.close()
      await other.close()
      await target.remove()
    })

    const site = () => opened.store.site('a.example')
    const save = (store: Store = opened.store) => saveStore(store, join(target.folder, 'backup'), SETTINGS)
    const restore = () => restoreStore(other.store, join(target.folder, 'backup'), TERMS)
    const refusal = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'nothing',
        error => (error instanceof Unusable ? error.message : `${error}`),
      )

    async function fill(): Promise<void> {
      await done(site(), [
        put('/index.html', '<h1>A</h1>', { language: 'no', type: 'text/html; charset=utf-8' }),
        put('/deep/er/page.html', 'x', { shown: 1_000_000 }),
        putBlob('/big.bin', BIG),
        putBlob('/same.bin', BIG),
        { op: 'collection', path: '/empty/' },
      ])
      const property = { namespace: 'urn:n', name: 'p', value: '<b/>' }
      await done(site(), [{ op: 'describe', path: '/deep/', set: [property], remove: [] }])
      await done(site(), [{ op: 'describe', path: '/', set: [property], remove: [] }])
      await done(opened.store.site('a.example#mount'), [putBlob('/draft.html', Buffer.alloc(0))])
      await opened.store.setSetting('session-secret', 'key')
      await opened.store.setSetting('installation', 'one')
      opened.clock.now = START + 100_000_000
      other.clock.now = START + 200_000_000
    }

    it('DAV-33 a language that no field can tell, which servers once took, does not come back, and all else does', async () => {
      for (const [i, language] of ['😀', 'de\nen', 'de, é'].entries())
        await done(site(), [put(`/${i}.html`, 'x', { language })])
      await save()
      await restore()
      const back = await Promise.all([0, 1, 2].map(i => there(other.store.site('a.example'), `/${i}.html`)))
      expect(back.map(each => each.language)).to.deep.equal([undefined, undefined, 'de, é'])
    })

    it('DAV-34 properties with names of the fifth edition of XML, which servers once took, come back', async () => {
      const set = ['a\u1680', '\ufeff', '\u{10000}'].map(name => ({ namespace: 'urn:x', name, value: 'v' }))
      await done(site(), [put('/a.html', 'A'), { op: 'describe', path: '/a.html', set, remove: [] }])
      await save()
      await restore()
      expect(await other.store.site('a.example').properties('/a.html')).to.have.deep.members(set)
    })

    it('everything comes back elsewhere, with the same tags', async () => {
      await fill()
      const saved = await save()
      expect(saved).to.deep.include({ files: 5, bytes: 10 + 1 + 5000 + 5000, newFiles: 4, newBytes: 10 + 1 + 5000 })
      const restored = await restore()
      expect(restored.sites).to.deep.equal(saved.sites)
      const copy = other.store.site('a.example')
      for (const path of ['/', '/index.html', '/deep/', '/deep/er/page.html', '/big.bin', '/empty/']) {
        const [before, after] = [await there(site(), path), await there(copy, path)]
        const { kind, digest, size, type, language, properties, members } = before
        expect(after, path).to.deep.include({ kind, digest, size, type, properties })
        expect([after.language, after.members], path).to.deep.equal([language, members])
      }
      expect(await copy.properties('/deep/')).to.deep.equal(await site().properties('/deep/'))
      expect(await textAt(copy, '/index.html')).to.equal('<h1>A</h1>')
      expect(await other.store.site('a.example#mount').find('/draft.html')).to.include({ size: 0 })
      expect([await other.store.setting('session-secret'), await other.store.setting('installation')]).to.deep.equal([
        'key',
        undefined,
      ])
      await other.intact()
    })

    it('DAV-36 times that clients have set on folders come back as well, and others are those of the restoring', async () => {
      await fill()
      for (const path of ['/', '/empty/', '/deep/'])
        await done(site(), [{ op: 'describe', path, set: [], remove: [], shown: 86_400 }])
      await save()
      await restore()
      const copy = other.store.site('a.example')
      const shown = async (path: string) => (await there(copy, path)).shown
      expect(await Promise.all(['/', '/empty/', '/deep/', '/deep/er/'].map(shown))).to.deep.equal([
        86_400,
        86_400,
        86_400,
        undefined,
      ])
      expect(await copy.properties('/deep/')).to.deep.equal(await site().properties('/deep/'))
    })

    it('a later one writes what is new and drops what nobody needs', async () => {
      await fill()
      await save()
      expect(await save()).to.include({ files: 5, newFiles: 0, newBytes: 0 })
      await done(site(), [
        put('/new.html', 'new'),
        { op: 'delete', path: '/big.bin' },
        { op: 'delete', path: '/same.bin' },
      ])
      expect(await save()).to.include({ files: 4, newFiles: 1, newBytes: 3 })
      const objects = await readdir(join(target.folder, 'backup', 'objects'), { recursive: true })
      expect(objects.filter(name => name.length > 60)).to.have.length(4)
      const states = (await readdir(join(target.folder, 'backup'))).filter(name => name.startsWith('state-'))
      expect(states).to.have.length(1)
      await restore()
      expect(await textAt(other.store.site('a.example'), '/new.html')).to.equal('new')
    })

    it('it is one state while writers run', async () => {
      const both = (text: string) => done(site(), [put('/a.html', text), putBlob('/z.bin', Buffer.alloc(2000, text))])
      await both('0')
      let running = true
      const writing = (async () => {
        for (let number = 1; running; number++) await both(String(number))
      })()
      const text = async (path: string) => {
        const body = await other.store.site('a.example').body(await there(other.store.site('a.example'), path))
        if (body === undefined) return undefined
        if ('bytes' in body) return Buffer.from(body.bytes)
        return undefined
      }
      try {
        for (let turn = 0; turn < 5; turn++) await save()
      } finally {
        running = false
        await writing
      }
      await restore()
      const number = (await text('/a.html'))?.toString() ?? ''
      const { digest } = await there(other.store.site('a.example'), '/z.bin')
      await done(site(), [putBlob('/expected', Buffer.alloc(2000, number))])
      expect(digest).to.equal((await there(site(), '/expected')).digest)
    })

    it('what strangers must not read they cannot', async function () {
      if (process.platform === 'win32') this.skip()
      await fill()
      await save()
      const mode = async (...names: string[]) => (await stat(join(target.folder, 'backup', ...names))).mode & 0o077
      expect([await mode(), await mode('backup.json'), await mode('objects')]).to.deep.equal([0, 0, 0])
    })

    it('a large file that is removed while it is copied has the backup begin anew', async () => {
      await fill()
      let taken = 0
      const store: Store = {
        ...opened.store,
        snapshot: work =>
          opened.store.snapshot(async state => {
            if (++taken > 1) return work(state)
            const site = (name: string) => {
              const reader = state.site(name)
              const open = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' }))
              const body: typeof reader.body = async resource => {
                const found = await reader.body(resource)
                return found && 'blob' in found ? { blob: { ...found.blob, open } } : found
              }
              return { ...reader, body }
            }
            return work({ ...state, site })
          }),
      }
      await save(store)
      expect(taken).to.equal(2)
      await restore()
    })

    const DAMAGES: [what: string, damage: (object: string, folder: string) => Promise<unknown>, told: RegExp][] = [
      ['missing bytes', object => rm(object), /big.bin: its bytes are missing/],
      ['shorter bytes', object => truncate(object, 10), /big.bin: its bytes are not what was written/],
      ['other bytes', object => writeFile(object, Buffer.alloc(5000)), /big.bin: its bytes are not what was written/],
      [
        'another list',
        async (_, folder) => {
          const head = await readHead(folder)
          await writeFile(join(folder, head?.state ?? ''), '{"site":"a.example"}\n')
        },
        /state-.* is not what was written/,
      ],
    ]
    for (const [what, damage, told] of DAMAGES)
      it(`${what}: a check says so, and nothing is restored as if it were whole`, async () => {
        await fill()
        await save()
        const folder = join(target.folder, 'backup')
        expect((await checkBackup(folder, TERMS)).problems).to.deep.equal([])
        await damage(objectFile(folder, (await there(site(), '/big.bin')).digest), folder)
        expect((await checkBackup(folder, TERMS)).problems.join()).to.match(told)
        expect(await refusal(restore())).to.match(/not .*as (they were|it was)|not what was written/)
      })

    const FOREIGN: [what: string, line: unknown][] = [
      ['null', null],
      ['a number', 5],
      ['a site without a name', { site: null }],
      ['a path that leaves the site', { path: '/../x', kind: 'collection' }],
      ['a path that is a number', { path: 5, kind: 'collection' }],
      ['a digest that names another file', { digest: '../../../etc/hostname' }],
      ['a digest that is a number', { digest: 5 }],
      ['a kind that is none', { kind: 'link' }],
      ['a type of two lines', { type: 'text/html\r\nX: y' }],
      ['a type that no field can have', { type: 'text/\u4e2d' }],
      ['a path in another form than requests have', { path: '/cafe\u0301' }],
      ['a path that is longer than any request', { path: '/a'.repeat(5000) }],
      ['half a second', { shown: 1.5 }],
      ['a time before all of them', { shown: -1 }],
      ['a time that no date can tell', { shown: 253_402_300_800 }],
      ['a size beyond all numbers', { size: 1e300 }],
      ['a property without a name', { properties: [{ namespace: 'urn:x', value: '<a/>' }] }],
      ['a property whose name is markup', { properties: [{ namespace: 'urn:x', name: 'a><b', value: '' }] }],
      ['a namespace that XML cannot have', { properties: [{ namespace: 'urn:\u0001', name: 'a', value: '' }] }],
      ['a value that is none', { properties: [{ namespace: 'urn:x', name: 'a', value: 'markup' }] }],
      ['a site whose name is for terminals', { site: '\u001b[2J' }],
    ]
    for (const [what, line] of refusedAlike(FOREIGN))
      it(`a list with ${what} is refused by its line, by a check and by a restore`, async () => {
        await fill()
        await save()
        const folder = join(target.folder, 'backup')
        const { digest, size } = await there(site(), '/big.bin')
        const usual = { path: '/x.bin', kind: 'blob', digest, size, type: 'a/b' }
        const isWhole = typeof line !== 'object' || line === null || 'site' in line
        const list = [{ site: 'a.example' }, isWhole ? line : { ...usual, ...line }].map(each => JSON.stringify(each))
        const text = `${list.join('\n')}\n`
        const head = await readHead(folder)
        await writeFile(join(folder, head?.state ?? ''), text)
        await writeFile(join(folder, HEAD), JSON.stringify({ ...head, digest: hash('sha256', text) }))
        for (const work of [checkBackup(folder, TERMS), restore()])
          expect(await refusal(work)).to.match(/^line 2 of .* (is none that|has a property whose value nobody)/)
        expect(await other.store.sites()).not.to.include('a.example')
      })

    it('a site that the backup does not name is not touched', async () => {
      await fill()
      await save()
      const folder = join(target.folder, 'backup')
      const { digest, size } = await there(site(), '/big.bin')
      const lines = [{ site: 'victim.example' }, { path: '/x.bin', kind: 'blob', digest, size, type: 'a/b' }]
      const text = lines.map(each => `${JSON.stringify(each)}\n`).join('')
      const head = await readHead(folder)
      await writeFile(join(folder, head?.state ?? ''), text)
      await writeFile(join(folder, HEAD), JSON.stringify({ ...head, digest: hash('sha256', text) }))
      await done(other.store.site('victim.example'), [put('/mine.html', 'mine')])
      for (const work of [checkBackup(folder, TERMS), restore()])
        expect(await refusal(work)).to.match(/^line 1 of .* begins a site that the backup does not name$/)
      const stored = await all(other.store.site('victim.example').walk('/'))
      expect(stored.map(({ path }) => path)).to.deep.equal(['/mine.html'])
    })

    for (const name of refusedAlike(['restoring', 'installation', 'constructor']))
      it(`a backup sets no other values of the installation than it holds: not ${name}`, async () => {
        await fill()
        await save()
        const folder = join(target.folder, 'backup')
        const head = await readHead(folder)
        await writeFile(
          join(folder, HEAD),
          JSON.stringify({ ...head, settings: { ...head?.settings, [name]: 'mine' } }),
        )
        for (const work of [() => checkBackup(folder, TERMS), restore])
          expect(await refusal(work())).to.match(/sets values of the installation that no backup holds$/)
        expect(await other.store.setting(name)).not.to.equal('mine')
        expect(await other.store.sites()).not.to.include('a.example')
      })

    for (const name of refusedAlike(['backup.json', 'list']))
      it(`a pipe in place of the ${name} is refused, and nobody waits`, async () => {
        await fill()
        await save()
        const folder = join(target.folder, 'backup')
        const file = join(folder, name === 'list' ? ((await readHead(folder))?.state ?? '') : name)
        await rm(file)
        execFileSync('mkfifo', [file])
        for (const work of [() => checkBackup(folder, TERMS), restore])
          expect(await refusal(work())).to.match(/is no file$|is not what was written$/)
      })

    it('a list without ends of lines is refused before it fills memory', async () => {
      await fill()
      await save()
      const folder = join(target.folder, 'backup')
      await truncate(join(folder, (await readHead(folder))?.state ?? ''), 129 * 1024 * 1024)
      expect(await refusal(checkBackup(folder, TERMS))).to.match(/longer than any that a backup has$/)
    })

    it('a backup.json of any size, or with a time that is none, is refused in a sentence', async () => {
      await save()
      const head = await readHead(join(target.folder, 'backup'))
      await writeFile(join(target.folder, 'backup', HEAD), JSON.stringify({ ...head, at: 'now\nall is well' }))
      expect(await refusal(restore())).to.match(/has a format that this release does not know$/)
      await truncate(join(target.folder, 'backup', HEAD), 2 ** 32)
      expect(await refusal(restore())).to.match(/larger than that of any backup$/)
    })

    it('bytes that would never end are missing', async () => {
      await fill()
      await save()
      const folder = join(target.folder, 'backup')
      const object = objectFile(folder, (await there(site(), '/big.bin')).digest)
      await rm(object)
      execFileSync('mkfifo', [object])
      expect((await checkBackup(folder, TERMS)).problems.join()).to.include('/big.bin: its bytes are missing')
      expect(await refusal(restore())).to.include('are not in the backup as they were written')
      await rm(object)
      await symlink(object, object)
      expect(await refusal(restore()), 'bytes that cannot be read are not lost').to.include('ELOOP')
    })

    it('bytes that are not whole are written again by the next backup', async () => {
      await fill()
      await save()
      const folder = join(target.folder, 'backup')
      await truncate(objectFile(folder, (await there(site(), '/big.bin')).digest), 10)
      expect(await save()).to.include({ newFiles: 1 })
      expect((await checkBackup(folder, TERMS)).problems).to.deep.equal([])
    })

    it('a store that holds one of the sites is left alone', async () => {
      await fill()
      await save()
      await done(other.store.site('a.example'), [put('/mine.html', 'x')])
      expect(await refusal(restore())).to.include('the store holds a.example already')
      expect(await textAt(other.store.site('a.example'), '/index.html')).to.equal(undefined)
    })

    it('what was streamed and not committed does not stay', async () => {
      await fill()
      await save()
      const kept = new Set<StagedBlob>()
      let rounds = 0
      const full: Store = {
        ...other.store,
        async stage(body, options) {
          if (++rounds === 4) throw new StoreError('full', 'No space is left')
          const staged = await other.store.stage(body, options)
          kept.add(staged)
          return { ...staged, discard: async () => void (kept.delete(staged) && (await staged.discard())) }
        },
      }
      const error = await restoreStore(full, join(target.folder, 'backup'), TERMS).catch((thrown: unknown) => thrown)
      expect(error).to.include({ reason: 'full' })
      expect(kept).to.be.empty
    })

    it('what was interrupted goes on', async () => {
      await fill()
      await save()
      const head = await readHead(join(target.folder, 'backup'))
      await other.store.setSetting(RESTORING, head?.digest ?? '')
      await done(other.store.site('a.example'), [put('/index.html', 'half'), { op: 'collection', path: '/empty/' }])
      await restore()
      expect(await textAt(other.store.site('a.example'), '/index.html')).to.equal('<h1>A</h1>')
      expect(await other.store.setting(RESTORING)).to.equal('')
    })

    it('what was interrupted behind its last step is all there, and told as such', async () => {
      await fill()
      await save()
      const restored = await restore()
      expect(await restore()).to.deep.equal(restored)
      await done(other.store.site('a.example'), [put('/index.html', 'later')])
      expect(await refusal(restore())).to.include('the store holds a.example already')
      expect(await textAt(other.store.site('a.example'), '/index.html')).to.equal('later')
    })

    it('a folder without a backup, and one with something else, are refused', async () => {
      expect(await refusal(restoreStore(other.store, target.folder, TERMS))).to.equal(
        `there is no backup in ${target.folder}`,
      )
      await writeFile(join(target.folder, 'mine.txt'), 'x')
      expect(await refusal(saveStore(opened.store, target.folder, SETTINGS))).to.include('holds something else')
      await writeFile(join(target.folder, 'backup.json'), '{"format":9}')
      expect(await refusal(restoreStore(other.store, target.folder, TERMS))).to.include('does not know')
    })
  })
}
