import { expect } from 'chai'
import { wholeBody } from '../../../../pipeline/events/mutation.ts'
import type { Change, TreeEvents } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { contentTag } from '../../../../pipeline/store/tags.ts'
import { done, type Open, type Opened, put, putBlob, START, there } from '../fixture.ts'

const LARGEST = 64 * 1024
const MINUTE = 60_000

const TELL: TreeEvents = {
  gone: { around: ['gone <', '>'], session: 's' },
  come: { around: ['come "', '" <', '> [', ']'], token: 't' },
  largestBody: LARGEST,
}

/** Events about whole trees, which the store drafts by itself (EVT-28). */
export function describeTreeEvents(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  /** What an event of a file that came says. */
  async function come(path: string, body = ''): Promise<string> {
    const tag = contentTag((await there(site, path)).digest)
    return `come ${tag} <${path.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}> [${body}]`
  }
  const told = async () => (await site.allEvents(undefined, 1000)).map(({ payload }) => payload).sort()
  const moved = (from: string, to: string): Change => ({ op: 'move', from, to, tell: TELL })

  it('EVT-28 one of every file that is gone, of none of the collections', async () => {
    await done(site, [put('/c/a.html', 'A'), putBlob('/c/d/b.png', Buffer.from('B')), put('/ca.html', 'other')])
    await done(site, [{ op: 'collection', path: '/c/empty/' }])
    const { version, at } = await done(site, [{ op: 'delete', path: '/c/', tell: TELL }])
    const events = await site.allEvents(undefined, 10)
    expect(events).to.have.deep.members([
      { id: `${at}-0`, path: '/c/a.html', version, payload: 'gone </c/a.html>', session: 's' },
      { id: `${at}-1`, path: '/c/d/b.png', version, payload: 'gone </c/d/b.png>', session: 's' },
    ])
    expect(await site.newestEvent('/c/a.html')).to.equal(events.find(({ path }) => path === '/c/a.html')?.id)
  })

  it('EVT-28 EVT-25 of a moved tree, what has gone and what has come, with tags and the text of documents', async () => {
    await done(site, [put('/c/a.html', '<p>A</p>'), putBlob('/c/b.png', Buffer.from('B'))])
    const { version } = await done(site, [moved('/c/', '/d/')])
    const expected = [
      'gone </c/a.html>',
      'gone </c/b.png>',
      await come('/d/a.html', '<p>A</p>'),
      await come('/d/b.png'),
    ]
    expect(await told()).to.deep.equal(expected.sort())
    expect(await site.events('/d/a.html')).to.deep.equal([
      { id: `${START}-2`, path: '/d/a.html', version, payload: await come('/d/a.html', '<p>A</p>'), token: 't' },
    ])
  })

  it('EVT-28 of a copied tree only what has come; of a shallow copy nothing', async () => {
    await done(site, [put('/c/a.html', 'A')])
    await done(site, [{ op: 'copy', from: '/c/', to: '/flat/', deep: false, tell: TELL }])
    expect(await told()).to.deep.equal([])
    await done(site, [{ op: 'copy', from: '/c/', to: '/d/', deep: true, tell: TELL }])
    expect(await told()).to.deep.equal([await come('/d/a.html', 'A')])
  })

  it('EVT-28 files of a replaced tree are gone, unless others come in their place', async () => {
    await done(site, [put('/new/both.html', 'new'), put('/new/x/deep.html', 'new deep')])
    await done(site, [put('/old/both.html', 'old'), put('/old/x/deep.html', 'old'), put('/old/x/only.html', 'old')])
    await done(site, [{ op: 'copy', from: '/new/', to: '/old/', deep: true, tell: TELL }])
    const expected = [await come('/old/both.html', 'new'), await come('/old/x/deep.html', 'new deep')]
    expect(await told()).to.deep.equal([...expected, 'gone </old/x/only.html>'].sort())
  })

  it('EVT-28 a shallow copy takes the whole tree away that it replaces, and a file that is moved onto one as well', async () => {
    await done(site, [put('/new/a.html', 'new'), put('/old/a.html', 'old'), put('/file', 'file')])
    await done(site, [{ op: 'copy', from: '/new/', to: '/old/', deep: false, tell: TELL }])
    expect(await told()).to.deep.equal(['gone </old/a.html>'])
    await done(site, [
      { op: 'delete', path: '/new/', tell: TELL },
      { op: 'move', from: '/file', to: '/new', tell: TELL },
    ])
    expect(await told()).to.deep.equal(['gone </new/a.html>', 'gone </old/a.html>'])
  })

  it('EVT-21 names are escaped as text, bodies are as they are', async () => {
    await done(site, [put('/c/a & b < c > "d".html', '<p title="&amp;">\0</p>')])
    await done(site, [moved('/c/', '/R&D/')])
    expect((await told()).at(0)).to.equal(await come('/R&D/a & b < c > "d".html', '<p title="&amp;">\0</p>'))
  })

  for (const [what, bytes] of [
    ['plain', Buffer.from('<p>é</p>')],
    ['after a byte order mark', Buffer.from('\ufeff<p>é</p>')],
    ['after two byte order marks', Buffer.from('\ufeff\ufeff<p>é</p>')],
    ['that is no UTF-8', Buffer.from([0x3c, 0x70, 0x3e, 0xff, 0xe9, 0xc3])],
    ['of nothing', Buffer.alloc(0)],
    ['as large as may be', Buffer.alloc(LARGEST, 'x')],
    ['as large as may be after a byte order mark', Buffer.concat([Buffer.from('\ufeff'), Buffer.alloc(LARGEST, 'x')])],
    ['a byte larger', Buffer.alloc(LARGEST + 1, 'x')],
    ['a character larger in bytes', Buffer.from(`${'x'.repeat(LARGEST - 1)}é`)],
    ['that grows when it is read', Buffer.alloc(LARGEST, 0xff)],
  ] as const) {
    it(`EVT-25 a text ${what} stands in the event as in one of a single file`, async () => {
      await done(site, [put('/c/a.html', '', { content: { bytes } })])
      await done(site, [moved('/c/', '/d/')])
      const text = new TextDecoder().decode(bytes)
      const [event] = await site.events('/d/a.html')
      expect(event?.payload === (await come('/d/a.html', wholeBody(text)))).to.equal(true)
    })
  }

  describe('EVT-47 what is replayed stays as it was', () => {
    const text = '<p>old</p>'
    const large = Buffer.alloc(400 * 1024, 'x')
    const fates: [what: string, fate: () => Promise<unknown>][] = [
      ['is saved again', () => done(site, [put('/d/a.html', 'new')])],
      [
        'is saved twice',
        async () => [await done(site, [put('/d/a.html', 'new')]), await done(site, [put('/d/a.html', 'newer')])],
      ],
      ['is deleted', () => done(site, [{ op: 'delete', path: '/d/a.html' }])],
      ['is deleted and made again', () => done(site, [{ op: 'delete', path: '/d/a.html' }, put('/d/a.html', 'new')])],
      ['goes with its collection', () => done(site, [{ op: 'delete', path: '/d/' }])],
      ['is moved alone', () => done(site, [{ op: 'move', from: '/d/a.html', to: '/e.html' }, put('/e.html', 'new')])],
      ['is moved on', () => done(site, [moved('/d/', '/e/'), put('/e/a.html', 'new')])],
      ['is replaced', () => done(site, [put('/new.html', 'new'), { op: 'move', from: '/new.html', to: '/d/a.html' }])],
      [
        'becomes a large blob and a document again',
        async () => [await done(site, [putBlob('/d/a.html', large)]), await done(site, [put('/d/a.html', 'new')])],
      ],
      [
        'is saved in a commit that is refused',
        () => site.commit({ changes: [put('/d/a.html', 'new'), { op: 'delete', path: '/none' }] }),
      ],
    ]
    for (const [what, fate] of fates) {
      it(`when the document ${what}; what it takes is given back later`, async () => {
        await done(site, [put('/c/a.html', text)])
        await done(site, [{ op: 'copy', from: '/c/', to: '/d/', deep: true, tell: TELL }])
        const before = await site.events('/d/a.html')
        expect(before[0]?.payload).to.contain(text)
        await fate()
        const now = async () => (await site.events('/d/a.html')).slice(0, 1)
        expect(await now()).to.deep.equal(before)
        site = (await opened.reopen()).site('example.org')
        await done(site, [put('/more.html', 'more')])
        expect(await now()).to.deep.equal(before)
        await opened.intact()
        opened.clock.now += 11 * MINUTE
        for (let i = 0; i < 2; i++) await done(site, [put('/settle', '')])
        expect(await site.events('/d/a.html')).to.deep.equal([])
        await opened.intact()
      })
    }
  })

  it('EVT-28 EVT-47 every file of large and small folders has its own events, in order, beside those that it had', async () => {
    const names = Array.from({ length: 150 }, (_, i) => `${i} & <"é😀'${'x'.repeat(i % 7)}`)
    const paths = (tree: string) => [
      ...names.map(name => `${tree}${name}`),
      `${tree}page.html`,
      `${tree}d/e/1`,
      `${tree}d/2`,
    ]
    await done(
      site,
      paths('/a/').map((path, i) => (path.endsWith('.html') ? put(path, 'page') : putBlob(path, Buffer.from(`${i}`)))),
    )
    await done(site, { changes: [], events: [{ path: '/a/d/2', payload: 'before' }] })
    await done(site, [moved('/a/', '/b/')])
    const back = await done(site, [moved('/b/', '/a/')])
    await done(site, { changes: [], events: [{ path: '/a/d/2', payload: 'after' }] })
    const escaped = (path: string) => path.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const all = await site.allEvents(undefined, 10_000)
    expect(all).to.have.length(2 + 4 * 153)
    expect(all.map(({ id }) => id)).to.deep.equal(Array.from({ length: 2 + 4 * 153 }, (_, i) => `${START}-${i}`))
    for (const path of paths('/a/')) {
      const payloads = [`gone <${escaped(path)}>`, await come(path, path.endsWith('.html') ? 'page' : '')]
      if (path === '/a/d/2') payloads.splice(0, 2, 'before', ...payloads, 'after')
      const events = await site.events(path)
      expect(events.map(({ payload }) => payload)).to.deep.equal(payloads)
      expect(events).to.deep.equal(all.filter(event => event.path === path))
      const ids = events.map(({ id }) => id)
      expect(await site.newestEvent(path)).to.equal(ids.at(-1))
      expect(await site.events(path, ids[0])).to.deep.equal(events.slice(1))
      expect(await site.events(path, undefined, 1)).to.deep.equal(events.slice(0, 1))
      expect(await site.continuous(path, ids[0] ?? '')).to.equal(true)
      expect(await site.keepsAfter(path, ids[0] ?? '')).to.equal(true)
    }
    expect((await site.events(`/a/${names[3]}`)).at(-1)?.version).to.equal(back.version)
    for (const path of ['/a/', '/a/d/', '/a/d', '/a/none', '/a/d/e/2', `/b/d/${names[0]}`]) {
      expect(await site.events(path), path).to.deep.equal([])
      expect(await site.newestEvent(path), path).to.equal(undefined)
    }
    const [first] = await site.allEvents(all[300]?.id, 1)
    expect(first).to.deep.equal(all[301])
  })

  it('EVT-28 a tree of more files than are moved at once moves with all of its events', async () => {
    // Small folders and large ones, of which one alone has more.
    const names = Array.from({ length: 2200 }, (_, i) => `${i < 2100 ? 'large' : i < 2140 ? i % 7 : 'x'}/${i}`)
    await done(
      site,
      names.map(name => putBlob(`/a/${name}`, Buffer.from('x'))),
    )
    const before = await there(site, '/a/')
    await done(site, [moved('/a/', '/b/')])
    expect((await there(site, '/b/')).members).to.equal(before.members)
    expect(await site.find('/a/')).to.equal(undefined)
    expect(await site.allEvents(undefined, 10_000)).to.have.length(2 * names.length)
    for (const i of [0, 6, 2099, 2100, 2139, 2140, 2199]) {
      expect(await site.events(`/a/${names[i]}`)).to.have.length(1)
      expect((await site.events(`/b/${names[i]}`))[0]?.payload).to.equal(await come(`/b/${names[i]}`))
    }
    await opened.intact()
  })

  it('DAV-41 a file that comes where one went with its tree is newer, in the same second marked as such', async () => {
    await done(site, [putBlob('/c/a', Buffer.from('A')), put('/c/b.html', 'B')])
    const { at } = await done(site, [{ op: 'delete', path: '/c/', tell: TELL }])
    opened.clock.now -= 5
    await done(site, [putBlob('/c/a', Buffer.from('A')), put('/c/b.html', 'B'), put('/c/c.html', 'C')])
    for (const path of ['/c/a', '/c/b.html'])
      expect(await there(site, path)).to.include({ modified: at, sameSecond: true })
    expect(await there(site, '/c/c.html')).to.include({ sameSecond: false })
  })

  it('EVT-45 ids go on within a commit and from commit to commit', async () => {
    await done(site, [put('/c/1.html', ''), put('/c/2.html', '')])
    const { events } = await done(site, {
      changes: [moved('/c/', '/d/'), moved('/d/', '/e/')],
      events: [{ path: '/x', payload: 'x' }],
    })
    expect(events).to.deep.equal([`${START}-8`])
    const [next] = (await done(site, { changes: [], events: [{ path: '/x', payload: 'y' }] })).events
    expect(next).to.equal(`${START}-9`)
    const ids = (await site.allEvents(undefined, 100)).map(({ id }) => id)
    expect(ids).to.deep.equal(Array.from({ length: 10 }, (_, i) => `${START}-${i}`))
  })

  it('EVT-45 a tree without files takes no ids, at a new time either', async () => {
    await done(site, { changes: [{ op: 'collection', path: '/c/' }], events: [{ path: '/x', payload: 'x' }] })
    opened.clock.now += 1000
    await done(site, [moved('/c/', '/d/')])
    const [next] = (await done(site, { changes: [], events: [{ path: '/x', payload: 'y' }] })).events
    expect(next).to.equal(`${START + 1000}-0`)
  })

  it('events of a commit that is refused are not kept', async () => {
    await done(site, [put('/c/a.html', 'A')])
    const refused = await site.commit({ changes: [moved('/c/', '/d/'), moved('/none/', '/e/')] })
    expect(refused).to.include({ ok: false, reason: 'missing' })
    expect(await told()).to.deep.equal([])
  })

  it('EVT-46 files that gain events with their tree alone lose the oldest of them', async () => {
    const large = 'x'.repeat(8 * LARGEST)
    const tell = { ...TELL, largestBody: large.length }
    await done(site, [put('/a/large.html', large), put('/a/small.html', 'small')])
    let places: [string, string] = ['/a/', '/b/']
    for (let i = 0; i < 80; i++) {
      await done(site, [{ op: 'move', from: places[0], to: places[1], tell }])
      places = [places[1], places[0]]
    }
    await done(site, [put('/settle', '')])
    await done(site, [put('/settle', '')])
    const sizes = (await site.events('/b/large.html')).map(({ payload }) => payload.length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.within(12 * 1024 * 1024, 18 * 1024 * 1024)
    expect(await site.events('/b/small.html')).to.have.length(80)
  })
}
