/** Which commands may run together on one store: each pair is tried, one holding the store as it does while it works. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { loadSettings } from '../../../config/load.ts'
import type { Settings } from '../../../config/schema.ts'
import { RESTORING } from '../../../pipeline/store/backup/unfinished.ts'
import { checkFolder } from '../../../pipeline/store/sqlite/check/check.ts'
import { lockFolder, type Purpose } from '../../../pipeline/store/sqlite/folder-lock.ts'
import { inFolderAlone } from '../../../pipeline/store/sqlite/work-folder.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { createLog } from '../../../server/log.ts'
import { type OpenOptions, openServed, openStore } from '../../../server/open-store.ts'
import { check, exportCommand, importCommand } from '../../../server/site-commands.ts'
import { backup, checkSaved, migrate, restore } from '../../../server/store-commands.ts'
import { page } from '../../support/content.ts'
import { sharedCluster } from '../../support/postgres.ts'

const progress = () => undefined
const EVERYBODY = ['serve', 'import', 'restore', 'migrate', 'check --repair'] as const

let schemas = 0

describe('commands that run together on one store', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-together-'))
    await mkdir(join(folder, 'files'))
    await writeFile(join(folder, 'files', 'a.html'), page('<p>a</p>'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const settingsWith = async (values: Record<string, string>): Promise<Settings> =>
    (
      await loadSettings({
        cwd: folder,
        env: {},
        assignments: Object.entries(values).map(([key, value]) => ({ path: [key], value, origin: key })),
      })
    ).settings
  const at = (name: string) => join(folder, name)
  const files = { site: 'localhost', directory: '', progress }
  const saved = { place: '', isArchive: false, progress }

  /** What each command answers: nothing, or why it does not run. */
  function commands(settings: Settings, own: string): Record<string, () => Promise<unknown>> {
    return {
      check: () => check(settings, { repair: false, progress }),
      backup: () => backup(settings, { ...saved, place: at(`backup-${++schemas}`) }),
      export: () => exportCommand(settings, { ...files, directory: at(`export-${++schemas}`) }),
      import: () => importCommand(settings, { ...files, directory: at('files') }),
      restore: () => restore(settings, { ...saved, place: at('saved') }),
      'migrate from': () => migrate(settings, { from: own, to: at(`moved-${++schemas}`), progress }),
      'migrate to': () => migrate(settings, { from: at('other'), to: own, progress }),
      'check --repair': () => check(settings, { repair: true, progress }),
      serve: async () => {
        const lock = settings.postgres === undefined ? lockFolder(settings.data, 'serve') : undefined
        const store = await openServed(settings, createLog(settings.log, 2)).finally(() => lock?.release())
        await store.close()
      },
    }
  }
  /** Those that find the store taken. */
  async function refused(settings: Settings, own: string): Promise<string[]> {
    const names: string[] = []
    for (const [name, run] of Object.entries(commands(settings, own))) {
      const error = await run().then(
        () => undefined,
        (failure: Error) => failure,
      )
      if (error === undefined) continue
      if (/ is in use | is taken: |another process uses it|a process without redis uses it/.test(error.message))
        names.push(name)
      else expect(error.message, name).to.match(/is stored there already|holds localhost already/)
    }
    return names
  }
  async function prepare(settings: Settings): Promise<void> {
    await importCommand(settings, { ...files, directory: at('files') })
    await backup(settings, { ...saved, place: at('saved') })
    await importCommand(await settingsWith({ data: at('other') }), { ...files, directory: at('files') })
  }
  const WRITING = ['import', 'restore', 'migrate from', 'migrate to', 'check --repair', 'serve']

  it('on a folder, what reads goes together with everything, and what writes with nothing else that does', async () => {
    const settings = await settingsWith({ data: at('data') })
    await prepare(settings)
    for (const purpose of EVERYBODY) {
      const lock = lockFolder(settings.data, purpose satisfies Purpose)
      expect(await refused(settings, settings.data), `beside ${purpose}`).to.deep.equal(WRITING)
      lock.release()
    }
    expect(await refused(settings, settings.data), 'alone').to.deep.equal([])
    expect((await checkFolder(settings.data, { repair: false })).problems).to.deep.equal([])
  })

  it('on a database, imports, repairs and servers that share a Redis go together as well', async () => {
    const { url } = await sharedCluster()
    const own = `${url}?search_path=together_${process.pid}_${++schemas}`
    const alone = await settingsWith({ data: at('data'), postgres: own })
    await prepare(alone)
    const shared: Settings = { ...alone, redis: 'redis://127.0.0.1:1/0' }
    const open = (settings: Settings, options: OpenOptions) => openStore(settings, createLog(settings.log, 2), options)
    const beside = async (holder: Store, settings: Settings) => {
      const names = await refused(settings, own)
      await holder.close()
      return names
    }
    const without = ['restore', 'migrate from', 'migrate to']
    expect(await beside(await open(alone, { use: 'alone' }), alone)).to.deep.equal(WRITING)
    expect(await beside(await open(alone, { use: 'alone' }), shared)).to.deep.equal(WRITING)
    expect(await beside(await open(shared, { use: 'together' }), alone)).to.deep.equal(WRITING)
    expect(await beside(await open(shared, { use: 'together' }), shared)).to.deep.equal(without)
    expect(await refused(alone, own), 'alone').to.deep.equal([])
    expect((await check(alone, { repair: false, progress })).problems).to.deep.equal([])
  })

  it('half of a restore is nobody’s state: it is not saved, exported, moved, served or imported into', async () => {
    const settings = await settingsWith({ data: at('data') })
    await prepare(settings)
    const store = await openStore(settings, createLog(settings.log, 2))
    await store.setSetting(RESTORING, 'half')
    await store.close()
    for (const name of ['backup', 'export', 'migrate from', 'import', 'serve']) {
      const error = await commands(settings, settings.data)
        [name]?.()
        .catch((failure: Error) => failure)
      expect(error, name).to.be.instanceOf(Error)
      expect((error as Error).message, name).to.include('holds half of a backup; run scriptorium restore again')
    }
  })

  it('a backup that is being written is not restored from, or proved, meanwhile', async () => {
    const settings = await settingsWith({ data: at('data') })
    await prepare(settings)
    await inFolderAlone(at('saved'), async () => {
      for (const work of [
        () => restore(settings, { ...saved, place: at('saved') }),
        () => checkSaved({ ...saved, place: at('saved') }),
        () => backup(settings, { ...saved, place: at('saved') }),
      ]) {
        const error = await work().catch((failure: Error) => failure)
        expect((error as Error).message).to.include('another command is writing to')
      }
    })
    expect((await checkSaved({ ...saved, place: at('saved') })).problems).to.deep.equal([])
  })
})
