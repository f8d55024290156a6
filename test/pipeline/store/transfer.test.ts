import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { migrateStore } from '../../../pipeline/store/backup/migrate.ts'
import { saveStore } from '../../../pipeline/store/backup/save.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import { Unusable } from '../../../pipeline/store/errors.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { exportSite, type FolderEntry, readFolder } from '../../../pipeline/store/transfer.ts'
import { all, done, type Opened, openTemporary, put, putBlob, START, temporaryFolder, there } from './fixture.ts'

/** Imports a folder the plain way, for comparison. */
async function importFrom(folder: string, site: SiteStore): Promise<void> {
  for await (const entry of readFolder(folder, { collections: true })) {
    const { path, kind, type = '', language, shown, properties: set = [] } = entry
    const described: Change[] = set.length === 0 ? [] : [{ op: 'describe', path, set, remove: [] }]
    if (!path.endsWith('/')) {
      const content = { bytes: await readFile(entry.file) }
      const change: Change = {
        op: 'put',
        path,
        kind: kind === 'document' ? kind : 'blob',
        content,
        type,
        language,
        shown,
      }
      await done(site, [change, ...described])
    } else if (path === '/') await done(site, described)
    else await done(site, [{ op: 'collection', path }, ...described])
  }
}

/** What of a site an export keeps. */
async function substance(site: SiteStore) {
  const found: Record<string, unknown> = {}
  for (const resource of [await site.find('/'), ...(await all(site.walk('/', { collections: true })))]) {
    if (resource === undefined) continue
    const { path, kind, digest, size, type, language, shown } = resource
    found[path] = { kind, digest, size, type, language, shown, properties: await site.properties(path) }
  }
  return found
}

describe('transfer', () => {
  let opened: Opened
  let site: SiteStore
  let target: { folder: string; remove: () => Promise<void> }
  beforeEach(async () => {
    opened = await openTemporary({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
    target = await temporaryFolder()
  })
  afterEach(async () => {
    await opened.close()
    await target.remove()
  })

  const roundTrip = async () => {
    await exportSite(site, join(target.folder, 'out'))
    const copy = opened.store.site('copy')
    await importFrom(join(target.folder, 'out'), copy)
    return copy
  }

  it('an export is a folder of plain files with the stored bytes and times', async () => {
    await done(site, [
      put('/index.html', '<p>A</p>\n'),
      put('/docs/a.txt', 'A', { shown: 1_000_000 }),
      putBlob('/big', Buffer.alloc(5000, 'x')),
    ])
    const reports: object[] = []
    const exported = await exportSite(site, join(target.folder, 'new', 'out'), {
      progress: report => reports.push(report),
    })
    expect(exported).to.deep.equal({ files: 3, bytes: 5010, problems: [] })
    const out = join(target.folder, 'new', 'out')
    expect((await readdir(out, { recursive: true })).sort()).to.deep.equal([
      '.scriptorium.json',
      'big',
      'docs',
      'docs/a.txt',
      'index.html',
    ])
    expect(await readFile(join(out, 'index.html'), 'utf8')).to.equal('<p>A</p>\n')
    expect((await stat(join(out, 'index.html'))).mtimeMs).to.equal(START)
    expect((await stat(join(out, 'docs/a.txt'))).mtimeMs).to.equal(1_000_000_000)
    expect(reports.at(-1)).to.deep.equal({ step: 'exporting', done: 3, total: 3 })
    expect(JSON.parse(await readFile(join(out, '.scriptorium.json'), 'utf8'))).to.include({
      format: 1,
      site: 'example.org',
    })
  })

  for (const [what, damage] of [
    ['gone', (file: string) => rm(file)],
    ['too short', (file: string) => truncate(file, 10)],
    ['others', (file: string) => writeFile(file, Buffer.alloc(5000, 1))],
  ] as const)
    it(`HTTP-172 a file whose bytes are ${what} keeps no other out of an export, and is what a backup and a move name`, async () => {
      await done(site, [put('/a.html', 'A'), putBlob('/b.bin', Buffer.alloc(5000)), put('/c.html', 'C')])
      const body = await site.body(await there(site, '/b.bin'))
      await damage(body && 'blob' in body ? (body.blob.file ?? '') : '')
      const { files, problems } = await exportSite(site, join(target.folder, 'out'))
      const lost = '/b.bin was left out: its bytes in the store are missing, or others; run scriptorium check'
      expect([files, problems]).to.deep.equal([2, [lost]])
      expect((await all(readFolder(join(target.folder, 'out')))).map(({ path }) => path)).to.deep.equal([
        '/a.html',
        '/c.html',
      ])
      const other = await openTemporary({ inlineLimit: 1000 })
      for (const work of [
        () => saveStore(opened.store, join(target.folder, 'backup'), { settings: [] }),
        () => migrateStore(opened.store, other.store, { settings: [] }),
      ]) {
        const refused = await work().catch((error: unknown) => error)
        expect(refused).to.be.instanceOf(Unusable)
        expect(String(refused)).to.match(/\/b\.bin .*; run scriptorium check$/)
      }
      await other.close()
    })

  it('an export of nothing can be read', async () => {
    await exportSite(site, target.folder)
    expect(await all(readFolder(target.folder))).to.deep.equal([])
  })

  it('types, kinds, languages, times, properties and empty collections come back', async () => {
    const set = [{ namespace: 'urn:x', name: 'p', value: '<b>"&\n</b>' }]
    await done(site, [
      put('/a.html', 'A', { language: 'de', shown: 5, type: 'text/html; charset=x' }),
      putBlob('/d/e', Buffer.from([0, 255, 10]), { type: 'image/x-odd' }),
      { op: 'collection', path: '/empty/' },
      ...['/', '/a.html', '/empty/', '/d/e'].map((path): Change => ({ op: 'describe', path, set, remove: [] })),
    ])
    expect(await substance(await roundTrip())).to.deep.equal(await substance(site))
  })

  it('odd names come back', async () => {
    const names = [
      '%',
      '%41',
      'a%2Fb',
      'a:b',
      'a?',
      'a*',
      'con',
      'CON.txt',
      'nul',
      'a.',
      'a ',
      ' a',
      'A',
      '<>"|',
      'a\\b',
      '\u0001',
      'é',
      '😀',
      '~',
      '...',
      '.scriptorium.json',
      '.htaccess',
      'É',
      'ß',
      'x'.repeat(255),
      'ü'.repeat(120),
      `${'x'.repeat(254)}y`,
    ]
    await done(site, [
      ...names.map(name => put(`/${name}`, name)),
      ...names.map(name => put(`/dirs/${name}/${name}`, name)),
    ])
    expect(await substance(await roundTrip())).to.deep.equal(await substance(site))
  })

  it('any names come back', async () => {
    const name = fc
      .string({ unit: fc.constantFrom('a', 'A', '.', ' ', '%', ':', '~', '\\', 'é', '😀'), minLength: 1, maxLength: 6 })
      .map(each => each.normalize('NFC'))
      .filter(each => !/^\.\.?$/.test(each))
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), async paths => {
        const [from, to] = [opened.store.site(`from-${number}`), opened.store.site(`to-${number}`)]
        for (const path of paths) await from.commit({ changes: [put(`/${path.join('/')}`, path.join())] })
        const out = join(target.folder, String(number++))
        await exportSite(from, out)
        await importFrom(out, to)
        expect(await substance(to)).to.deep.equal(await substance(from))
      }),
      { seed: 26, numRuns: 15 },
    )
  })

  it('names that differ only in case or composition become different files', async () => {
    await done(site, [put('/a', '1'), put('/A', '2'), put('/é', '3'), put('/e\u0301', '4')])
    await exportSite(site, target.folder)
    const names = (await readdir(target.folder)).filter(name => !name.startsWith('.'))
    expect(new Set(names.map(name => name.normalize('NFC').toLowerCase())).size).to.equal(4)
  })

  it('a folder that is not empty is left alone', async () => {
    await writeFile(join(target.folder, 'mine'), 'x')
    await done(site, [put('/a', 'A')])
    const error = await exportSite(site, target.folder).catch((error: unknown) => error)
    expect(error).to.be.instanceOf(Error).and.have.property('message').that.contains('not empty')
    expect(await readdir(target.folder)).to.deep.equal(['mine'])
  })

  it('a plain folder gives files with their names, links and odd names left out', async () => {
    await mkdir(join(target.folder, 'sub'))
    await writeFile(join(target.folder, 'e\u0301.html'), 'E')
    await writeFile(join(target.folder, 'sub', '100%25.txt'), 'P')
    await writeFile(Buffer.concat([Buffer.from(`${target.folder}/bad-`), Buffer.from([0xff])]), 'x')
    await symlink('/etc', join(target.folder, 'etc'))
    await symlink('/etc/passwd', join(target.folder, 'sub', 'passwd'))
    const skipped: string[] = []
    const found = await all(readFolder(target.folder, { skipped: (_file, reason) => skipped.push(reason) }))
    expect(found).to.deep.equal([
      { path: '/é.html', file: join(target.folder, 'e\u0301.html'), size: 1 },
      { path: '/sub/100%25.txt', file: join(target.folder, 'sub', '100%25.txt'), size: 1 },
    ])
    expect(skipped.sort()).to.deep.equal([
      'it is neither a file nor a folder',
      'it is neither a file nor a folder',
      'its name is not UTF-8',
    ])
  })

  it('HTTP-12 of names that differ only by normal form one is read, and the other is named', async () => {
    await writeFile(join(target.folder, 'e\u0301.txt'), 'first')
    await writeFile(join(target.folder, '\u00e9.txt'), 'other')
    const skipped: string[] = []
    const found = await all(readFolder(target.folder, { skipped: (file, reason) => skipped.push(`${file} ${reason}`) }))
    expect(found.map(({ path, file }) => [path, file])).to.deep.equal([['/é.txt', join(target.folder, 'e\u0301.txt')]])
    expect(skipped).to.deep.equal([`${join(target.folder, '\u00e9.txt')} another one is read under the same name`])
  })

  it('a folder that is nested deeper than it can be named is left out, and what is beside it is read', async () => {
    const name = 'n'.repeat(200)
    const start = process.cwd()
    try {
      process.chdir(target.folder)
      for (let depth = 0; depth < 24; depth++) {
        await mkdir(name)
        process.chdir(name)
      }
    } finally {
      process.chdir(start)
    }
    await writeFile(join(target.folder, 'o.txt'), 'O')
    const skipped: string[] = []
    const found = await all(readFolder(target.folder, { skipped: (_file, reason) => skipped.push(reason) }))
    // Only a program that goes from folder to folder can remove it.
    spawnSync('rm', ['-rf', join(target.folder, name)])
    expect(found.map(({ path }) => path)).to.deep.equal(['/o.txt'])
    expect(skipped).to.deep.equal(['its path is longer than the file system reads'])
  })

  it('a folder that is nested deeper than calls can be is read with what is beside it', async () => {
    const deep = '/q'.repeat(Math.floor((4000 - target.folder.length) / 2))
    await mkdir(join(target.folder, deep), { recursive: true })
    await writeFile(join(target.folder, deep, 'd'), 'D')
    await writeFile(join(target.folder, 'o'), 'O')
    const paths = (await all(readFolder(target.folder))).map(({ path }) => path)
    expect(paths).to.have.members(['/o', `${deep}/d`])
  })

  it('files added to an export by hand are read with their own names', async () => {
    await done(site, [put('/a:b/x', 'X')])
    await exportSite(site, target.folder)
    await writeFile(join(target.folder, 'a%3Ab', 'new.txt'), 'N')
    const paths = (await all(readFolder(target.folder))).map(({ path }) => path)
    expect(paths).to.deep.equal(['/a:b/new.txt', '/a:b/x'])
  })

  it('what is no sidecar is refused in a sentence', async () => {
    for (const text of ['{', '['.repeat(100_000), 'null', '[]', '{"__proto__":{"format":1}}']) {
      await writeFile(join(target.folder, '.scriptorium.json'), text)
      const error = await all(readFolder(target.folder)).catch((thrown: unknown) => thrown)
      expect(error, text.slice(0, 20)).to.be.instanceOf(Unusable)
    }
  })

  describe('a sidecar written by somebody else', () => {
    const read = async (resources: unknown): Promise<FolderEntry[]> => {
      await writeFile(join(target.folder, '.scriptorium.json'), JSON.stringify({ format: 1, resources }))
      return all(readFolder(target.folder))
    }

    it('names no files and no paths that cannot be', async () => {
      await writeFile(join(target.folder, 'a'), 'A')
      const entry = { kind: 'blob', created: 0, modified: 0 }
      const plain = { file: join(target.folder, 'a'), size: 1, ...entry }
      expect(await read([{ ...entry, file: '../../../etc/passwd', path: '/passwd' }])).to.deep.equal([
        { path: '/a', file: join(target.folder, 'a'), size: 1 },
      ])
      for (const path of ['/../x', 'x', '/a/', '', '/x//y', '/\ud800']) {
        expect(await read([{ ...entry, file: 'a', path }]), path).to.deep.equal([{ path: '/a', ...plain }])
      }
      expect(await read([{ ...entry, file: 'a', path: '/b' }])).to.deep.equal([{ path: '/b', ...plain }])
    })

    it('has no file go to another folder, where it would meet the one that is there', async () => {
      await mkdir(join(target.folder, 'd'))
      for (const name of ['a', 'd/b']) await writeFile(join(target.folder, name), name)
      const entry = { kind: 'blob', created: 0, modified: 0 }
      const found = await read([{ ...entry, file: 'a', path: '/d/b' }])
      expect(found.map(({ path }) => path)).to.deep.equal(['/a', '/d/b'])
    })

    it('is taken as far as it is well-formed', async () => {
      await writeFile(join(target.folder, 'a'), 'A')
      const file = join(target.folder, 'a')
      const odd = {
        file: 'a',
        path: '/a',
        kind: 'blob',
        type: 7,
        created: 'x',
        properties: [1, { namespace: '' }],
        shown: {},
      }
      expect(await read([null, 7, 'x', {}, odd])).to.deep.equal([
        { path: '/a', file, size: 1, kind: 'blob', created: 0, modified: 0, properties: [] },
      ])
    })

    for (const text of ['', '{', 'null', '{"format":2,"resources":[]}', '{"format":1,"resources":{}}']) {
      it(`is an error when it reads ${JSON.stringify(text)}`, async () => {
        await writeFile(join(target.folder, '.scriptorium.json'), text)
        const error = await all(readFolder(target.folder)).catch((error: unknown) => error)
        expect(error).to.be.instanceOf(Error).and.have.property('message').that.contains('.scriptorium.json')
      })
    }
  })
})
