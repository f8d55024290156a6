/** What is promised must be on disk before it is, by name too: a file system may forget names whose folder was not synchronised. */

import fs, { promises } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { writeCredential } from '../../config/edit.ts'
import { packBackup, unpackBackup } from '../../pipeline/store/backup/archive.ts'
import { objectFile } from '../../pipeline/store/backup/format.ts'
import { checkBackup } from '../../pipeline/store/backup/restore.ts'
import { saveStore } from '../../pipeline/store/backup/save.ts'
import { adoptFile, blobFile, makeFolder, prepareFolders, stagingFolder } from '../../pipeline/store/disk/folder.ts'
import { syncFolder } from '../../pipeline/store/synced-names.ts'
import { exportSite, readFolder } from '../../pipeline/store/transfer.ts'
import { all, done, openTemporary, put, putBlob, temporaryFolder, there } from '../pipeline/store/fixture.ts'

describe('names of files when the power goes', () => {
  let target: { folder: string; remove: () => Promise<void> }
  /** What became of names, in order: `name` where one was given, `drop` where one was taken, `sync` where those of a folder are on disk. */
  let steps: string[]
  const { openSync, fsyncSync, renameSync } = fs
  const { open, rename, rm } = promises

  beforeEach(async () => {
    target = await temporaryFolder()
    steps = []
    const note = (what: string, path: unknown) => steps.push(`${what} ${relative(target.folder, String(path))}`)
    const opened = new Map<number, unknown>()
    Object.assign(fs, {
      openSync: (...given: Parameters<typeof openSync>) => {
        const handle = openSync(...given)
        opened.set(handle, given[0])
        return handle
      },
      fsyncSync: (handle: number) => {
        note('sync', opened.get(handle))
        fsyncSync(handle)
      },
      renameSync: (...given: Parameters<typeof renameSync>) => {
        note('name', given[1])
        renameSync(...given)
      },
    })
    Object.assign(promises, {
      open: async (...given: Parameters<typeof open>) => {
        const handle = await open(...given)
        const { sync } = handle
        handle.sync = () => {
          note('sync', given[0])
          return sync.call(handle)
        }
        return handle
      },
      rename: (...given: Parameters<typeof rename>) => {
        note('name', given[1])
        return rename(...given)
      },
      rm: (...given: Parameters<typeof rm>) => {
        note('drop', given[0])
        return rm(...given)
      },
    })
    syncBuiltinESMExports()
  })
  afterEach(async () => {
    Object.assign(fs, { openSync, fsyncSync, renameSync })
    Object.assign(promises, { open, rename, rm })
    syncBuiltinESMExports()
    await target.remove()
  })

  it('HTTP-4 a blob that a commit left behind which failed is on disk by name before another commit names it', () => {
    prepareFolders(target.folder)
    const digest = 'ab'.repeat(32)
    const staged = join(stagingFolder(target.folder), 'x')
    fs.writeFileSync(staged, 'bytes')
    steps = []
    adoptFile(target.folder, staged, digest, 5)
    expect(steps, 'its folder is new').to.deep.equal([
      'sync blobs',
      `name ${relative(target.folder, blobFile(target.folder, digest))}`,
    ])
    // The transaction fails here, and its commits are tried again one by one.
    const again = adoptFile(target.folder, staged, digest, 5)
    expect(again).to.equal(dirname(blobFile(target.folder, digest)))
    syncFolder(again)
    expect(steps.at(-1)).to.equal('sync blobs/ab')
  })

  it('HTTP-4 a data folder is on disk by name, with those above it that were made for it', () => {
    makeFolder(join(target.folder, 'made/for'))
    expect(steps).to.deep.equal(['sync ', 'sync made'])
  })

  it('MNT-3 a settings file is on disk before it takes the place of another, and under its name before anybody is told', async () => {
    const file = join(target.folder, 'site.json')
    fs.writeFileSync(file, '{"sites":[{"host":"a.example"}]}')
    fs.symlinkSync(file, join(target.folder, 'link.json'))
    await writeCredential(join(target.folder, 'link.json'), 0, { user: 'ada', key: 'k'.repeat(22) })
    expect(steps).to.deep.equal([`sync .new-${process.pid}.json`, 'name site.json', 'sync '])
    expect(fs.readFileSync(file, 'utf8')).to.include('ada')
  })

  it('HTTP-172 a backup replaces the one before when all of it is on disk, which goes after that', async () => {
    const opened = await openTemporary({ inlineLimit: 1000 })
    const backup = join(target.folder, 'backup')
    const save = () => saveStore(opened.store, backup, { settings: [] })
    await done(opened.store.site('a.example'), [putBlob('/a.bin', Buffer.alloc(5000, 1))])
    const before = await there(opened.store.site('a.example'), '/a.bin')
    await save()
    await done(opened.store.site('a.example'), [putBlob('/a.bin', Buffer.alloc(5000, 2))])
    const { digest } = await there(opened.store.site('a.example'), '/a.bin')
    steps = []
    await save()
    const object = relative(target.folder, objectFile(backup, digest))
    const gone = relative(target.folder, objectFile(backup, before.digest))
    const order = [
      `name ${object}`,
      `sync ${dirname(object)}`,
      'sync backup',
      'name backup/backup.json',
      'sync backup',
      `drop ${gone}`,
    ]
    let at = -1
    for (const step of order) {
      const next = steps.indexOf(step, at + 1)
      expect(next, `${step} in ${steps.join(', ')}`).to.be.greaterThan(at)
      at = next
    }
    await packBackup(backup, join(target.folder, 'backup.tar'))
    expect(steps.slice(-2)).to.deep.equal(['name backup.tar', 'sync '])
    await opened.close()
  })
})

describe('files on a disk that becomes full and has room again', () => {
  it('HTTP-172 a backup and an export hold all of what the disk took in parts', async () => {
    const opened = await openTemporary({ inlineLimit: 1000 })
    const { folder, remove } = await temporaryFolder()
    const site = opened.store.site('a.example')
    await done(site, [put('/a.html', 'x'.repeat(500)), putBlob('/a.bin', Buffer.alloc(5000, 1))])
    const probe = await promises.open(join(folder, 'probe'), 'w')
    const handles = Object.getPrototypeOf(probe)
    await probe.close()
    const { write } = handles
    handles.write = function (bytes: Uint8Array | string, from = 0) {
      const whole = Buffer.from(bytes as Uint8Array).subarray(from)
      return write.call(this, whole.subarray(0, Math.ceil(whole.length / 2)))
    }
    try {
      await saveStore(opened.store, join(folder, 'backup'), { settings: [] })
      await packBackup(join(folder, 'backup'), join(folder, 'backup.tar'))
      await exportSite(site, join(folder, 'export'))
    } finally {
      handles.write = write
    }
    await promises.mkdir(join(folder, 'unpacked'))
    await unpackBackup(join(folder, 'backup.tar'), join(folder, 'unpacked'))
    for (const saved of ['backup', 'unpacked'])
      expect((await checkBackup(join(folder, saved), { settings: [], accepts: () => true })).problems).to.deep.equal([])
    const read = await all(readFolder(join(folder, 'export')))
    expect(read.map(({ path, size, kind }) => [path, size, kind])).to.deep.equal([
      ['/a.bin', 5000, 'blob'],
      ['/a.html', 500, 'document'],
    ])
    await remove()
    await opened.close()
  })
})
