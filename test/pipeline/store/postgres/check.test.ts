import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { blobBytes } from '../../../../pipeline/store/blobs.ts'
import { BlobChanged } from '../../../../pipeline/store/errors.ts'
import { checkDatabase } from '../../../../pipeline/store/postgres/check.ts'
import { eventually } from '../../../support/eventually.ts'
import { sharedCluster } from '../../../support/postgres.ts'
import { done, put, putBlob, there } from '../fixture.ts'
import { type OpenedSchema, openEmpty } from './fixture.ts'

describe('checking a store in PostgreSQL', () => {
  let opened: OpenedSchema
  beforeEach(async () => {
    opened = await openEmpty({ inlineLimit: 1000, unlisted: name => name === 'hidden' })
    await done(opened.store.site('a.example'), [
      put('/d/a.html', 'A', { derived: { x: '1' }, entries: [{ item: '1', keys: ['k'] }] }),
      put('/d/hidden', 'H'),
      putBlob('/large', Buffer.alloc(600_000, 'x')),
      { op: 'describe', path: '/d/', set: [{ namespace: 'n', name: 'p', value: 'v' }], remove: [] },
    ])
    await done(opened.store.site('a.example'), { changes: [], events: [{ path: '/large', payload: 'told' }] })
  })
  afterEach(() => opened.close())

  const check = async () => (await checkDatabase(opened, {})).problems

  /** What can be mended is gone after a repair; what cannot stays and is told again. */
  async function repairs(isMended: boolean): Promise<void> {
    const { problems, repaired } = await checkDatabase(opened, { repair: true })
    expect(repaired, problems.join('; ')).to.equal(isMended ? problems.length : 0)
    expect((await check()).length === 0).to.equal(isMended)
  }

  it('finds nothing where all is well, and counts what it saw', async () => {
    expect(await checkDatabase(opened, {})).to.deep.equal({ checked: 5, problems: [], repaired: 0 })
  })

  it('leaves what is written before its repair has its turn as it was written', async () => {
    await opened.raw("UPDATE resource SET size = 9 WHERE name = 'a.html'")
    await opened.raw('BEGIN; SELECT FROM progress FOR UPDATE')
    const checked = checkDatabase(opened, { repair: true })
    const cluster = await sharedCluster()
    const waiting =
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM progress FOR UPDATE'"
    await eventually(async () => expect((await cluster.run(waiting)).rowCount).to.equal(1))
    await opened.raw("UPDATE resource SET size = 7, version = version + 10 WHERE name = 'a.html'; COMMIT")
    await checked
    expect(await opened.store.site('a.example').find('/d/a.html')).to.include({ size: 7 })
  })

  it('asks amcheck where it may, and finds nothing where all is well', async () => {
    const cluster = await sharedCluster()
    await cluster.run('CREATE EXTENSION amcheck SCHEMA public')
    try {
      expect(await check()).to.deep.equal([])
    } finally {
      await cluster.run('DROP EXTENSION amcheck')
    }
  })

  it('HTTP-4 a large file of which a byte has changed is not read to its end', async () => {
    const site = opened.store.site('a.example')
    await done(site, [putBlob('/sound', Buffer.alloc(600_000, 'z'))])
    const read = async (path: string) => {
      const body = await site.body(await there(site, path))
      if (!body || !('blob' in body)) throw new Error('Not in chunks')
      return blobBytes(body.blob).catch((error: unknown) => error)
    }
    expect(await read('/sound')).to.deep.equal(Buffer.alloc(600_000, 'z'))
    await opened.raw(`UPDATE chunk SET bytes = set_byte(bytes, 9, 7) WHERE seq = 1`)
    for (let i = 0; i < 2; i++) expect(await read('/large')).to.be.instanceOf(BlobChanged)
    const body = await site.body(await there(site, '/large'))
    const reader = body && 'blob' in body && (await body.blob.open({ start: 0, end: 10 }))
    expect(reader && (await reader.read(Buffer.alloc(10), 0))).to.equal(10)
  })

  for (const [isMended, what, sql, problem] of [
    [
      false,
      'another byte',
      `UPDATE body SET bytes = 'B' WHERE bytes = 'A'`,
      'a.example/d/a.html: its bytes are not those',
    ],
    [false, 'a body that is gone', `DELETE FROM body WHERE bytes = 'A'`, '1 resources without their body'],
    [false, 'a chunk that is gone', 'DELETE FROM chunk WHERE seq = 1', 'a.example/large: its bytes are missing'],
    [
      true,
      'another type',
      `UPDATE resource SET type = 'x' WHERE name = 'a.html'`,
      'a.example/d/a.html: its type is x, and was text/html when it was stored',
    ],
    [
      true,
      'another time that is shown',
      `UPDATE resource SET shown = 1 WHERE name = 'a.html'`,
      'a.example/d/: its members have another',
    ],
    [
      true,
      'another size',
      `UPDATE resource SET size = 7 WHERE name = 'a.html'`,
      'a.example/d/a.html: its size is noted as 7 bytes, and is 1',
    ],
    [
      true,
      'a row that an index lacks',
      `UPDATE pg_index SET indisready = false WHERE indexrelid = 'note_expires'::regclass;
       INSERT INTO note VALUES ('x', 1, '');
       UPDATE pg_index SET indisready = true WHERE indexrelid = 'note_expires'::regclass`,
      'the index note_expires of note is damaged: it holds 0 rows of 1',
    ],
    [
      true,
      'a property more',
      `INSERT INTO property SELECT id, '', 'q', '' FROM resource WHERE name = 'a.html'`,
      'properties',
    ],
    [true, 'an entry gone', 'DELETE FROM entry', 'a.example/d/a.html: the index does not find it'],
    [true, 'entries that cannot be read', `UPDATE entry_text SET lines = '['`, 'the index does not find it'],
    [true, 'derived data under another site', 'UPDATE derived SET site = 9', '1 rows of derived under another'],
    [true, 'the last number set back', 'UPDATE progress SET version = 0', 'versions would come again'],
    [true, 'the last number gone', 'DELETE FROM progress', 'versions would come again'],
    [true, 'the last event set back', 'UPDATE site SET ms = 0, seq = 0', '1 sites whose last event is lost'],
    [true, 'counters of no site', `INSERT INTO counter VALUES (9, 'access', 1)`, '1 rows of counter without a site'],
    [false, 'a site that is gone', 'DELETE FROM site', 'documents and folders of a site that is not there'],
    [
      false,
      'a trigger of somebody else',
      'CREATE TRIGGER x BEFORE UPDATE ON resource FOR EACH ROW EXECUTE FUNCTION note_outdated()',
      '1 triggers or rules that do not belong to the store',
    ],
    [true, 'a body too many', `INSERT INTO body VALUES (999999, 'x')`, '1 bodies without a document or event'],
    [true, 'derived data of nothing', `INSERT INTO derived VALUES (999999, 'x', 1, '')`, '1 rows of derived without'],
  ] as const) {
    it(`finds ${what}, and ${isMended ? 'repairs it' : 'leaves it to a backup'}`, async () => {
      await opened.raw(sql)
      expect((await check()).join('\n')).to.include(problem)
      await repairs(isMended)
    })
  }
})
