/** Fills a small disk under a store, and under a server with its mount, and removes again. Says what went wrong, or that all is well. */

import { join } from 'node:path'
import { expect } from 'chai'
import { reserved } from '../../../../pipeline/store/disk/reserve.ts'
import { lockFolder } from '../../../../pipeline/store/sqlite/folder-lock.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import { client } from '../../../support/http.ts'
import { startServer } from '../../../support/server.ts'
import { type SmallDisk, smallDisk } from '../../../support/small-disk.ts'
import { put, there } from '../fixture.ts'

/** Whoever ends a server on such a disk, to mend what is wrong, must not be left without. */
async function beginsAgain(folder: string, disk: SmallDisk): Promise<void> {
  lockFolder(folder, 'serve').release()
  disk.fill()
  const lock = lockFolder(folder, 'serve')
  expect(() => lockFolder(folder, 'import')).to.throw('is in use')
  const store = await openSqliteStore({ folder })
  const site = store.site('s')
  const { version } = await there(site, '/after.html')
  expect((await site.commit({ changes: [{ op: 'delete', path: '/after.html', expect: version }] })).ok).to.equal(true)
  await store.close()
  lock.release()
  disk.empty()
}

async function underStore(disk: SmallDisk): Promise<void> {
  const folder = join(disk.folder, 'data')
  const store = await openSqliteStore({ folder })
  const site = store.site('s')
  const paths = Array.from({ length: 30 }, (_, i) => `/${i}.html`)
  for (const path of paths) await site.commit({ changes: [put(path, 'x'.repeat(100_000))] })
  await store.changeNotes([{ op: 'keep', note: { key: 'k1', value: 'v'.repeat(10_000), expires: Date.now() * 2 } }])
  expect(reserved(folder)).to.equal(4 * 1024 * 1024)
  disk.fill()
  const large = put('/large.html', 'y'.repeat(20_000_000))
  const full = await site.commit({ changes: [large] }).catch((error: { reason: string }) => error.reason)
  expect(full).to.equal('full')
  for (const path of paths) {
    const resource = await site.find(path)
    const removal = { op: 'delete' as const, path, expect: resource?.version ?? 0 }
    expect((await site.commit({ changes: [removal] })).ok, path).to.equal(true)
    disk.fill()
  }
  await store.changeNotes([{ op: 'drop-all', prefix: 'k' }])
  expect(await store.note('k1')).to.equal(undefined)
  expect(reserved(folder)).to.be.above(0)
  disk.empty()
  expect((await site.commit({ changes: [put('/after.html', 'z'.repeat(50_000))] })).ok).to.equal(true)
  await store.close()
  await beginsAgain(folder, disk)
}

const LOCK = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'

/** What a mount keeps: documents, blobs in files, helper files, drafts, and a collection of all. */
async function underMount(disk: SmallDisk): Promise<void> {
  const server = await startServer({ data: disk.folder })
  const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
  const mount = client(Number(new URL(server.mountUrl).port), { Authorization: authorization })
  const large = Buffer.alloc(400_000, 7)
  await mount('MKCOL', '/d/')
  for (const folder of ['/', '/d/']) {
    for (const name of ['a.txt', 'large.bin', '._helper', '.~lock.a.odt#', 'draft.html']) {
      const body = name === 'large.bin' || name === '._helper' ? large : name === 'draft.html' ? '' : 'small'
      expect((await mount('PUT', encodeURI(folder + name).replace('#', '%23'), {}, body)).status, name).to.equal(201)
    }
  }
  const locked = await mount('LOCK', '/locked.html', {}, LOCK)
  const token = { If: `(${locked.headers['lock-token']})` }
  disk.fill()
  expect((await mount('PUT', '/more.bin', {}, Buffer.alloc(8_000_000))).status).to.equal(507)
  const removals: [path: string, fields?: Record<string, string>][] = [
    ...['/._helper', '/.~lock.a.odt%23', '/draft.html', '/large.bin', '/a.txt'].map((path): [string] => [path]),
    ['/locked.html', token],
    ['/d/'],
  ]
  for (const [path, fields] of removals) {
    expect((await mount('DELETE', path, fields)).status, path).to.equal(204)
    expect((await mount('PROPFIND', path, { Depth: '0' })).status, path).to.equal(404)
    disk.fill()
  }
  disk.empty()
  expect((await mount('PUT', '/more.bin', {}, Buffer.alloc(8_000_000))).status).to.equal(201)
  await server.stop()
}

for (const check of [underStore, underMount]) {
  const disk = smallDisk(48)
  try {
    await check(disk)
  } finally {
    disk.end()
  }
}
console.log('removed and stored again')
