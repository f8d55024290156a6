import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { HEAD, readHead } from '../../../../pipeline/store/backup/format.ts'
import { migrateStore } from '../../../../pipeline/store/backup/migrate.ts'
import { checkBackup, restoreStore } from '../../../../pipeline/store/backup/restore.ts'
import { saveStore } from '../../../../pipeline/store/backup/save.ts'
import type { SiteReader, Store } from '../../../../pipeline/store/store.ts'
import { REMEMBERED, type Remembered, unpublishedPut } from '../../../../pipeline/write/unpublished.ts'
import { done, type Opened, openTemporary, put, temporaryFolder } from '../fixture.ts'
import { openEmpty } from '../postgres/fixture.ts'

const MOUNT = 'a.example#mount'
const TERMS = { settings: [], accepts: () => true, kept: REMEMBERED }
const ALL: Required<Remembered> = {
  configure: 'false',
  scope: '["/blog/*"]',
  raw: 'true',
  depth: '2',
  begun: 'true',
}
const NAMES = Object.keys(ALL) as (keyof Remembered)[]

for (const [kind, open] of [
  ['SQLite', openTemporary],
  ['PostgreSQL', openEmpty],
] as const) {
  describe(`what unpublished files remember, moved out of ${kind}`, () => {
    let from: Opened
    let to: Opened
    let target: { folder: string; remove: () => Promise<void> }
    beforeEach(async () => {
      from = await open()
      to = await openTemporary()
      target = await temporaryFolder()
      const remembering = (path: string, { configure, ...remembered }: Remembered = {}) =>
        unpublishedPut({ path, content: Buffer.of(), type: 'a/b', configure: configure !== 'false', remembered })
      await done(from.store.site('a.example'), [put('/page.html', 'x', { derived: { profile: '{}', tokens: '5' } })])
      await done(from.store.site(MOUNT), [
        ...remembering('/blog/draft.html', ALL),
        ...remembering('/.~lock.odt#', { configure: 'false' }),
        ...remembering('/page.html'),
      ])
    })
    afterEach(async () => {
      await from.close()
      await to.close()
      await target.remove()
    })

    async function all(reader: SiteReader, path: string): Promise<Record<string, string>> {
      const found: Record<string, string> = {}
      for (const name of [...NAMES, 'profile']) {
        const value = await reader.derived(path, name)
        if (value !== undefined) found[name] = value
      }
      return found
    }

    async function expectAll(store: Store): Promise<void> {
      const part = store.site(MOUNT)
      expect(await all(part, '/blog/draft.html')).to.deep.equal(ALL)
      expect(await all(part, '/.~lock.odt#')).to.deep.equal({ configure: 'false' })
      expect(await all(part, '/page.html')).to.deep.equal({})
      // What documents declare is derived where they arrive.
      expect(await all(store.site('a.example'), '/page.html')).to.deep.equal({})
    }

    it('SEC-10, REA-61, DAV-62 what their author may, and whether they were carried out, come back from a backup', async () => {
      await saveStore(from.store, target.folder, TERMS)
      await restoreStore(to.store, target.folder, TERMS)
      await expectAll(to.store)
      const { state = '' } = (await readHead(target.folder)) ?? {}
      expect(await readFile(join(target.folder, state), 'utf8')).not.to.include('profile')
    })

    it('SEC-10, REA-61, DAV-62 move into another store', async () => {
      await migrateStore(from.store, to.store, TERMS)
      await expectAll(to.store)
    })

    if (open === openTemporary)
      it('are refused where no server could have stored them; backups of releases before have none', async () => {
        const [blob, document] = ['blob', 'document'] as const
        await saveStore(from.store, target.folder, TERMS)
        const head = await readHead(target.folder)
        const cases: [typeof blob | typeof document, Record<string, string> | undefined, boolean][] = [
          [blob, undefined, false],
          [blob, ALL, false],
          [blob, { scope: '[]', depth: '0', begun: 'false' }, false],
          // Of a draft that somebody else has renamed.
          [blob, { configure: 'true', scope: '["/*"]', raw: 'false', depth: '0' }, false],
          [document, { configure: 'false' }, true],
          [blob, { profile: '{}' }, true],
          [blob, { constructor: 'true' }, true],
          [blob, { raw: 'no' }, true],
          [blob, { begun: '' }, true],
          [blob, { depth: '-1' }, true],
          [blob, { scope: '["/*"' }, true],
          [blob, { scope: '[5]' }, true],
          [blob, { scope: '"/*"' }, true],
        ]
        for (const [kind, derived, isRefused] of cases) {
          const rest = { digest: hash('sha256', ''), size: 0, type: 'a/b' }
          const lines = [{ site: MOUNT }, { path: '/x', kind, ...rest, ...(derived && { derived }) }]
          const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
          await writeFile(join(target.folder, head?.state ?? ''), text)
          await writeFile(join(target.folder, HEAD), JSON.stringify({ ...head, digest: hash('sha256', text) }))
          const told = await checkBackup(target.folder, TERMS).then(
            ({ problems }) => problems.join(),
            error => String(error.message),
          )
          expect(told, text).to.match(isRefused ? /^line 2 of .* has derived data that no server/ : /^$/)
        }
      })
  })
}
