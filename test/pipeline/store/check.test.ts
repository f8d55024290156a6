import { hash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { appendFile, mkdir, open, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect } from 'chai'
import { checkFiles } from '../../../pipeline/store/sqlite/check/blobs.ts'
import { type CheckReport, checkFolder } from '../../../pipeline/store/sqlite/check/check.ts'
import { connectWriter } from '../../../pipeline/store/sqlite/schema.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { all, done, type OpenedFolder, openTemporary, put, putBlob, temporaryFolder } from './fixture.ts'

describe('check', () => {
  let opened: OpenedFolder
  let site: SiteStore
  beforeEach(async () => {
    opened = await openTemporary({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
    await done(site, [
      put('/a.html', 'A', { derived: { d: '1' } }),
      put('/docs/deep/b.html', 'B'),
      put('/docs/empty.html', ''),
      putBlob('/docs/large', Buffer.alloc(5000, 'x')),
      put('/item.html', 'I', { entries: [{ item: '/item.html#i', keys: ['type', 'name'] }], derived: { d: '2' } }),
      { op: 'describe', path: '/a.html', set: [{ namespace: 'n', name: 'p', value: 'v' }], remove: [] },
    ])
    await done(site, { changes: [], events: [{ path: '/a.html', payload: 'told' }] })
    await done(opened.store.site('other.example'), [put('/o.html', 'O')])
  })
  afterEach(() => opened.close())

  /** Damages the database behind the store's back. */
  const damage = (sql: string) => {
    const database = connectWriter(opened.folder)
    database.exec(sql)
    database.close()
  }
  const check = (repair = false) => checkFolder(opened.folder, { repair })
  /** The file of the blob. */
  const fileOfBlob = async () => {
    const resource = await site.find('/docs/large')
    const body = resource === undefined ? undefined : await site.body(resource)
    if (body === undefined || !('blob' in body) || body.blob.file === undefined) throw new Error('Not a file')
    return body.blob.file
  }

  it('finds nothing wrong in a store that is being used', async () => {
    const reports: object[] = []
    const report = await checkFolder(opened.folder, { repair: false, progress: each => reports.push(each) })
    expect(report).to.deep.equal({ checked: 11, findings: [], problems: [], repaired: 0 })
    expect(reports).to.deep.equal([
      { step: 'checking documents', done: 10, total: 10 },
      { step: 'checking blobs', done: 1, total: 1 },
    ])
  })

  it('says nothing of a blob that the server has removed meanwhile, file and row', async () => {
    const file = await fileOfBlob()
    await done(site, [{ op: 'delete', path: '/docs/large' }])
    const remove = () => {
      rmSync(file)
      damage('DELETE FROM blob')
    }
    const progress = ({ step }: { step: string }) => step === 'checking blobs' && remove()
    expect((await checkFolder(opened.folder, { repair: false, progress })).problems).to.deep.equal([])
  })

  it('names what is not as it was stored: the type or the size of a file', async () => {
    damage("UPDATE resource SET type = 'x' WHERE name = 'b.html'")
    damage("UPDATE resource SET size = 7 WHERE name = 'large'")
    expect((await check()).problems).to.include.members([
      'example.org/docs/deep/b.html: Its type is x, and was text/html when it was stored',
      'example.org/docs/large: Its size is noted as 7 bytes, and is 5000',
    ])
    await check(true)
    expect(await site.find('/docs/deep/b.html')).to.include({ type: 'text/html' })
    expect(await site.find('/docs/large')).to.include({ size: 5000 })
  })

  it('refuses a folder without a store, and makes none', async () => {
    const { folder, remove } = await temporaryFolder()
    const error = await checkFolder(folder, { repair: true }).catch((error: unknown) => error)
    expect(error).to.be.instanceOf(Error)
    expect(await readdir(folder)).to.deep.equal([])
    await remove()
  })

  const table: {
    name: string
    damage: (blob: string) => Promise<void> | void
    kinds: string[]
    repairable: boolean
  }[] = [
    {
      name: 'bytes of a document changed',
      damage: () => damage("UPDATE body SET bytes = x'42' WHERE bytes = x'41'"),
      kinds: ['body'],
      repairable: false,
    },
    {
      name: 'bytes of a document gone',
      damage: () => damage("DELETE FROM body WHERE bytes = x'41'"),
      kinds: ['body'],
      repairable: false,
    },
    {
      name: 'a body without a resource',
      damage: () => damage("INSERT INTO body VALUES (999, x'41')"),
      kinds: ['orphan'],
      repairable: true,
    },
    {
      name: 'derived data without a resource',
      damage: () => damage("INSERT INTO derived (id, name, site, value) VALUES (999, 'd', 1, 'v')"),
      kinds: ['orphan'],
      repairable: true,
    },
    {
      name: 'a property without a resource',
      damage: () => damage("INSERT INTO property VALUES (999, 'n', 'p', 'v')"),
      kinds: ['orphan'],
      repairable: true,
    },
    {
      name: 'another type',
      damage: () => damage("UPDATE resource SET type = 'x' WHERE name = 'b.html'"),
      kinds: ['sum'],
      repairable: true,
    },
    {
      name: 'another type of a file in the root',
      damage: () => damage("UPDATE resource SET type = 'x' WHERE name = 'a.html'"),
      kinds: ['sum'],
      repairable: true,
    },
    {
      name: 'another size of a document',
      damage: () => damage("UPDATE resource SET size = 7 WHERE name = 'empty.html'"),
      kinds: ['body', 'sum', 'sum'],
      repairable: true,
    },
    {
      name: 'another size of a blob',
      damage: () => damage("UPDATE resource SET size = 7 WHERE name = 'large'"),
      kinds: ['body', 'sum', 'sum'],
      repairable: true,
    },
    {
      name: 'a property changed',
      damage: () => damage("UPDATE property SET value = 'w'"),
      kinds: ['sum'],
      repairable: true,
    },
    {
      name: 'a sum changed',
      damage: () => damage(`UPDATE resource SET members = '${'1'.repeat(64)}' WHERE name = 'deep'`),
      kinds: ['sum'],
      repairable: true,
    },
    {
      name: 'a collection gone',
      damage: () => damage("DELETE FROM resource WHERE name = 'docs'"),
      kinds: ['parent', 'sum'],
      repairable: true,
    },
    {
      name: 'the row of a blob gone',
      damage: () => damage('DELETE FROM blob'),
      kinds: ['blob'],
      repairable: true,
    },
    {
      name: 'the row of a blob gone, and its file longer',
      damage: async blob => {
        damage('DELETE FROM blob')
        await appendFile(blob, 'x')
      },
      kinds: ['blob'],
      repairable: false,
    },
    {
      name: 'the file of a blob gone',
      damage: blob => rm(blob),
      kinds: ['blob'],
      repairable: false,
    },
    {
      name: 'the file of a blob longer',
      damage: blob => appendFile(blob, 'x'),
      kinds: ['blob'],
      repairable: false,
    },
    {
      name: 'the file of a blob changed',
      damage: blob => writeFile(blob, Buffer.alloc(5000, 'y')),
      kinds: ['blob'],
      repairable: false,
    },
    {
      name: 'a file that no row speaks of',
      damage: async () => {
        const file = join(opened.folder, 'blobs', 'ab', 'c'.repeat(62))
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, 'x')
      },
      kinds: ['file'],
      repairable: true,
    },
    {
      name: 'an unused blob without its file',
      damage: () => damage(`INSERT INTO blob VALUES ('${'a'.repeat(64)}', 1, '', '', 9000000000000)`),
      kinds: ['blob'],
      repairable: true,
    },
    {
      name: 'an entry of the index gone',
      damage: () => damage('DELETE FROM entry WHERE key = (SELECT min(key) FROM entry)'),
      kinds: ['index'],
      repairable: true,
    },
    {
      name: 'an entry of the index changed',
      damage: () => damage("UPDATE entry SET item = '/item.html#other' WHERE key = (SELECT min(key) FROM entry)"),
      kinds: ['index'],
      repairable: true,
    },
    {
      name: 'entries of the index under another site',
      damage: () => damage('UPDATE entry SET site = 2'),
      kinds: ['index'],
      repairable: true,
    },
    {
      name: 'entries that cannot be read',
      damage: () => damage('UPDATE entry_text SET lines = substr(lines, 3)'),
      kinds: ['index'],
      repairable: true,
    },
    {
      name: 'entries gone, their index left',
      damage: () => damage('DELETE FROM entry_text'),
      kinds: ['orphan'],
      repairable: true,
    },
    {
      name: 'derived data under another site',
      damage: () => damage('UPDATE derived SET site = 2'),
      kinds: ['site'],
      repairable: true,
    },
    {
      name: 'the number of the last commit set back',
      damage: () => damage('UPDATE progress SET version = 0'),
      kinds: ['number'],
      repairable: true,
    },
    {
      name: 'the number of the last commit gone',
      damage: () => damage('DELETE FROM progress'),
      kinds: ['number'],
      repairable: true,
    },
    {
      name: 'the id of the last event set back',
      damage: () => damage('UPDATE site SET ms = 0, seq = 0'),
      kinds: ['number'],
      repairable: true,
    },
    {
      name: 'the number of a site changed',
      damage: () => damage("UPDATE site SET id = 9 WHERE name = 'example.org'"),
      kinds: ['site', 'parent'],
      repairable: true,
    },
    {
      name: 'the row of a site gone',
      damage: () => damage("DELETE FROM site WHERE name = 'example.org'"),
      kinds: ['site'],
      repairable: false,
    },
    {
      name: 'counters of a site that is gone',
      damage: () => damage("INSERT INTO counter VALUES (9, 'access', 1)"),
      kinds: ['site'],
      repairable: true,
    },
    {
      name: 'the text of an event gone',
      damage: () => damage('UPDATE event SET body = 999'),
      kinds: ['body'],
      repairable: false,
    },
    {
      name: "a trigger that is not the store's",
      damage: () => damage('CREATE TRIGGER foreign_one AFTER UPDATE ON resource BEGIN DELETE FROM body; END'),
      kinds: ['schema'],
      repairable: true,
    },
    {
      name: "a view that is not the store's",
      damage: () => damage('CREATE VIEW "a ""view" AS SELECT 1'),
      kinds: ['schema'],
      repairable: true,
    },
    {
      name: "a table that is not the store's",
      damage: () => damage('CREATE TABLE mine (a)'),
      kinds: ['schema'],
      repairable: false,
    },
    {
      name: 'a trigger of the store gone',
      damage: () => damage('DROP TRIGGER outdated'),
      kinds: ['schema'],
      repairable: true,
    },
    {
      name: 'a trigger of the store changed',
      damage: () =>
        damage('DROP TRIGGER whole_body; CREATE TRIGGER whole_body AFTER INSERT ON body BEGIN SELECT 1; END'),
      kinds: ['schema'],
      repairable: true,
    },
    {
      name: 'an index of the store gone',
      damage: () => damage('DROP INDEX entry_item'),
      kinds: ['schema'],
      repairable: true,
    },
    {
      name: 'a table of the index gone',
      damage: () => damage('DROP TABLE entry'),
      kinds: ['table', 'schema'],
      repairable: true,
    },
    ...['site', 'resource', 'body', 'property'].map(table => ({
      name: `a table that holds what nothing else does gone (${table})`,
      damage: () => damage(`DROP TABLE ${table}; DROP TABLE progress`),
      kinds: ['table', 'table', ...(table === 'resource' ? ['schema', 'schema'] : table === 'body' ? ['schema'] : [])],
      repairable: false,
    })),
    {
      name: 'a column gone',
      damage: () => damage('DROP INDEX dropped_time; ALTER TABLE dropped DROP COLUMN ms'),
      kinds: ['table', 'schema'],
      repairable: false,
    },
  ]

  const kindsOf = (report: CheckReport) => report.findings.map(({ kind }) => kind)

  for (const { name, damage: spoil, kinds, repairable } of table) {
    it(`${name}: is found${repairable ? ' and repaired' : ', and left alone'}`, async () => {
      const blob = await fileOfBlob()
      // A store that is open looks for files that nobody needs.
      await opened.store.close()
      await spoil(blob)
      const found = await check()
      expect(kindsOf(found)).to.have.members(kinds)
      expect(found.repaired).to.equal(0)
      expect(found.problems).to.have.length(kinds.length)
      const repaired = await check(true)
      expect(
        repaired.findings.every(finding => finding.repaired === repairable),
        JSON.stringify(repaired),
      ).to.equal(true)
      expect(kindsOf(await check())).to.deep.equal(repairable ? [] : kinds)
    })
  }

  it('repairs nothing in a damaged file: what an index does not find is not lost', async () => {
    await opened.store.close()
    const database = connectWriter(opened.folder)
    const { root = 0 } =
      database
        .prepare<{ root: number }>(
          "SELECT max(rootpage) AS root FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex_resource_%'",
        )
        .get() ?? {}
    const rows = () => database.prepare('SELECT * FROM property').all().length
    expect(rows()).to.equal(1)
    database.close()
    const file = await open(join(opened.folder, 'store.sqlite'), 'r+')
    const { buffer } = await file.read(Buffer.alloc(100), 0, 100, 0)
    const page = buffer.readUInt16BE(16)
    // An empty leaf of an index.
    const head = Buffer.from([0x0a, 0, 0, 0, 0, page >> 8, page & 255, 0])
    await file.write(head, 0, head.length, (root - 1) * page)
    await file.close()
    const { findings, repaired } = await check(true)
    expect(findings.map(({ kind }) => kind)).to.include.members(['integrity', 'orphan'])
    expect(repaired).to.equal(0)
    const after = connectWriter(opened.folder)
    after.exec('REINDEX resource')
    after.close()
    expect((await check()).findings).to.deep.equal([])
  })

  it('tells files and folders that cannot be read from lost ones, and takes nothing away for them', async () => {
    const file = await fileOfBlob()
    const folder = dirname(file)
    const place = `blobs/${basename(folder)}`
    await opened.store.close()
    const table = [
      [file, [/^blob \w+: The file of a blob cannot be read \(ELOOP\), first used at example\.org\/docs\/large$/]],
      [
        folder,
        [
          /: The file of a blob cannot be read \(ELOOP\), /,
          new RegExp(`^The folder ${place} cannot be read \\(ELOOP\\)$`),
        ],
      ],
    ] as const
    for (const [unread, told] of table) {
      await rename(unread, `${opened.folder}/aside`)
      await symlink(unread, unread)
      const { problems, repaired } = await check(true)
      for (const [i, each] of told.entries()) expect(problems[i]).to.match(each)
      expect([problems.length, repaired]).to.deep.equal([told.length, 0])
      await rm(unread)
      await rename(`${opened.folder}/aside`, unread)
    }
    expect((await check()).problems).to.deep.equal([])
  })

  it('leaves a file alone whose bytes are stored again while it is looked at', async () => {
    const bytes = Buffer.alloc(6000, 'z')
    const digest = hash('sha256', bytes)
    const file = join(opened.folder, 'blobs', digest.slice(0, 2), digest.slice(2))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes)
    const writer = connectWriter(opened.folder)
    for await (const { repair } of checkFiles({ folder: opened.folder, writer, locked: work => work() })) {
      await done(site, [putBlob('/again', bytes)])
      repair?.()
    }
    writer.close()
    expect((await site.find('/again'))?.digest).to.equal(digest)
    expect(existsSync(file)).to.equal(true)
  })

  it('names the place of what it finds', async () => {
    damage("DELETE FROM body WHERE bytes = x'42'")
    const { findings, problems } = await check()
    expect(findings).to.deep.equal([
      {
        kind: 'body',
        message: 'Its bytes are missing',
        site: 'example.org',
        path: '/docs/deep/b.html',
        repaired: false,
      },
    ])
    expect(problems).to.deep.equal(['example.org/docs/deep/b.html: Its bytes are missing'])
  })

  it('what was repaired can be used', async () => {
    damage("DELETE FROM resource WHERE name IN ('docs', 'deep')")
    await check(true)
    const paths = (await all(site.walk('/', { collections: true }))).map(({ path }) => path)
    expect(paths).to.include.members(['/docs/', '/docs/deep/', '/docs/deep/b.html', '/docs/large'])
    await done(site, [
      { op: 'move', from: '/docs/', to: '/moved/' },
      { op: 'delete', path: '/moved/deep/' },
    ])
    expect((await check()).findings).to.deep.equal([])
    expect(
      existsSync(
        await site.find('/moved/large').then(async each => {
          const body = each === undefined ? undefined : await site.body(each)
          return body !== undefined && 'blob' in body ? (body.blob.file ?? '') : ''
        }),
      ),
    ).to.equal(true)
  })
})
