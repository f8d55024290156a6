import { hash } from 'node:crypto'
import { expect } from 'chai'
import { connectReader } from '../../../../pipeline/store/sqlite/schema.ts'
import { spliced } from '../../../../pipeline/store/sqlite/splices.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type OpenedFolder, openTemporary, put, textAt, there } from '../fixture.ts'

const LARGE = 'A line of a long page.\n'.repeat(3000)

describe('SQLite store: large bodies that are changed in places', () => {
  let opened: OpenedFolder
  let site: SiteStore

  async function begin(options: { shared?: boolean } = {}): Promise<void> {
    opened = await openTemporary(options)
    site = opened.store.site('example.org')
    await done(site, [put('/a.html', LARGE)])
  }
  afterEach(async () => {
    await opened.intact()
    await opened.close()
  })

  /** Puts a mark at the beginning. */
  async function mark(text = 'x'): Promise<void> {
    const bytes = Buffer.from(text + ((await textAt(site, '/a.html')) ?? ''))
    const splices = [{ start: 0, end: 0, bytes: Buffer.from(text) }]
    const { version } = await there(site, '/a.html')
    const content = { bytes, digest: hash('sha256', bytes), splices }
    await done(site, [{ op: 'put', path: '/a.html', expect: version, kind: 'document', type: 'text/html', content }])
  }

  /** How many changes are kept, and how long the body is that they change. */
  function kept(): [changes: number, bytes: number] {
    const database = connectReader(opened.folder)
    const sql = 'SELECT (SELECT count(*) FROM splice) AS count, octet_length(bytes) AS length FROM body'
    const row = database.prepare<{ count: number; length: number }>(sql).get()
    database.close()
    return [row?.count ?? 0, row?.length ?? 0]
  }

  it('HTTP-24 only the changes are written, until there are many of them', async () => {
    await begin()
    for (let i = 0; i < 64; i++) await mark()
    expect(kept()).to.deep.equal([64, LARGE.length])
    await mark()
    expect(kept()).to.deep.equal([0, LARGE.length + 65])
    await mark()
    expect(kept()).to.deep.equal([1, LARGE.length + 65])
  })

  it('HTTP-24 large changes, and those of small bodies, are written with the whole', async () => {
    await begin()
    await mark('y'.repeat(LARGE.length / 8))
    expect(kept()[0]).to.equal(0)
    await done(site, [put('/a.html', 'small')])
    await mark()
    expect(kept()).to.deep.equal([0, 6])
  })

  it('HTTP-24 where several processes write, which may be of an earlier release, so is everything', async () => {
    await begin({ shared: true })
    await mark()
    expect(kept()).to.deep.equal([0, LARGE.length + 1])
  })

  it('HTTP-24 what writes a body as a whole ends its changes, whatever it knows of them', async () => {
    await begin()
    await mark()
    await opened.raw("INSERT OR REPLACE INTO body SELECT id, x'' FROM body")
    expect(kept()).to.deep.equal([0, 0])
    await done(site, [put('/a.html', LARGE)])
  })
})

describe('Splices of a body', () => {
  it('HTTP-24 changes count in what those before them have left', () => {
    const splice = (start: number, until: number, text: string) => ({ start, until, bytes: Buffer.from(text) })
    const result = (...splices: Parameters<typeof splice>[]) =>
      spliced(
        Buffer.from('abcdef'),
        splices.map(each => splice(...each)),
      ).toString()
    expect(result([0, 0, 'x'], [7, 7, 'y'])).to.equal('xabcdefy')
    expect(result([1, 3, 'XYZ'], [2, 5, ''], [0, 1, 'AA'])).to.equal('AAXef')
    expect(result([0, 6, ''], [0, 0, 'new'])).to.equal('new')
  })
})
