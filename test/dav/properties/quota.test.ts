/** Sites that may hold so many bytes: what authors are told, and what is refused (DAV-33, DAV-101, RFC 4331). */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { client, connect, type Fields, requestBytes } from '../../support/http.ts'
import { basic, changesNothing, list, outcomeOf, property, propertyUpdate, startWire, to, type Wire } from '../wire.ts'

const QUOTA = 10_000

describe('quota', () => {
  let wire: Wire
  beforeEach(async () => {
    wire = await startWire({ site: { quota: QUOTA } })
    await putAll(wire.server, {
      '/a.bin': 'a'.repeat(4000),
      '/d/b.txt': 'b'.repeat(2000),
      '/d/e/c.txt': 'c'.repeat(1000),
    })
  })
  afterEach(() => wire.server.close())

  /** What is told of the root, as used and available. */
  async function room(): Promise<number[]> {
    const [properties] = (await list(wire.dav, '/', '0', 'quota-used-bytes', 'quota-available-bytes')).values()
    return ['quota-used-bytes', 'quota-available-bytes'].map(name => Number(properties?.get(name)?.value))
  }

  it('DAV-33 collections tell what is used and left, files and allprop do not', async () => {
    expect(await room()).to.deep.equal([7000, 3000])
    expect(await property(wire.dav, '/d/', 'quota-used-bytes')).to.equal('7000')
    expect(await property(wire.dav, '/a.bin', 'quota-used-bytes')).to.equal('404')
    expect(await property(wire.dav, '/', 'quota')).to.equal('404')
    expect((await wire.dav('PROPFIND', '/', { Depth: '1' })).text).not.to.include('quota')
    const members = await list(wire.dav, '/', '1', 'quota-available-bytes')
    expect(members.get('/d/')?.get('quota-available-bytes')?.value).to.equal('3000')
    expect(members.get('/a.bin')?.get('quota-available-bytes')?.status).to.equal(404)
  })

  it('DAV-33 SEC-6 a credential for a part of the site is not told what all files take, nor what is left if it writes nothing', async () => {
    const credentials = [
      { user: 'reader', password: 'p', scope: ['/*'], write: false },
      { user: 'writer', password: 'p', scope: ['/d/*'], write: true },
      { user: 'guest', password: 'p', scope: ['/d/*'], write: false },
    ]
    const { data } = wire.server
    await wire.server.stop()
    wire = await startWire({ site: { quota: QUOTA, credentials }, data })
    for (const [user, used, available] of [
      ['reader', '7000', '3000'],
      ['writer', '404', '3000'],
      ['guest', '404', '404'],
    ] as const) {
      const dav = client(wire.port, { Authorization: basic(user, 'p') })
      for (const at of ['/', '/d/', '/d/e/']) {
        expect(await property(dav, at, 'quota-used-bytes'), `${user} ${at}`).to.equal(used)
        expect(await property(dav, at, 'quota-available-bytes'), `${user} ${at}`).to.equal(available)
      }
      const members = await list(dav, '/d/', '1', 'quota-used-bytes')
      expect(members.get('/d/e/')?.get('quota-used-bytes')?.status, user).to.equal(used === '404' ? 404 : 200)
    }
  })

  it('DAV-35 nobody sets it', async () => {
    const body =
      '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:quota-available-bytes>9</D:quota-available-bytes></D:prop></D:set></D:propertyupdate>'
    expect((await wire.dav('PROPPATCH', '/', {}, body)).text).to.include('403 Forbidden')
  })

  const CHANGES: [method: string, path: string, used: number, fields?: Fields, body?: string][] = [
    ['PUT', '/new.txt', 7005, {}, 'hello'],
    ['PUT', '/a.bin', 3005, {}, 'hello'],
    ['PUT', '/a.bin', 7000, {}, 'x'.repeat(4000)],
    ['PUT', '/new.txt', 10_000, {}, 'x'.repeat(3000)],
    ['COPY', '/d/', 10_000, to('/copy/')],
    ['COPY', '/d/', 7000, to('/copy/', { Depth: '0' })],
    ['COPY', '/d/b.txt', 9000, to('/b.txt')],
    ['COPY', '/d/b.txt', 5000, to('/a.bin')],
    ['COPY', '/a.bin', 8000, to('/d')],
    ['COPY', '/d/', 6000, to('/a.bin')],
    ['MOVE', '/d/', 7000, to('/moved/')],
    ['MOVE', '/d/', 3000, to('/a.bin')],
    ['MOVE', '/a.bin', 4000, to('/d')],
    ['DELETE', '/d/', 4000],
    ['DELETE', '/a.bin', 3000],
    ['MKCOL', '/new/', 7000],
    // Helper files are not part of the site.
    ['PUT', '/._a.bin', 7000, {}, 'x'.repeat(9000)],
    ['PUT', '/draft.html', 7000, {}, ''],
  ]
  for (const [method, path, used, fields, body] of CHANGES)
    it(`${method} ${path} ${fields?.Destination ?? ''} ${body?.length ?? ''} leaves ${used} bytes used`, async () => {
      expect(await room()).to.deep.equal([7000, 3000])
      expect((await wire.dav(method, path, fields, body)).status).to.be.within(200, 299)
      expect(await room()).to.deep.equal([used, QUOTA - used])
    })

  const REFUSED: [method: string, path: string, fields?: Fields, body?: string][] = [
    ['PUT', '/new.txt', {}, 'x'.repeat(3001)],
    ['PUT', '/new.html', {}, page('x'.repeat(3001))],
    ['PUT', '/a.bin', {}, 'x'.repeat(7001)],
    ['COPY', '/a.bin', to('/b.bin')],
  ]
  for (const [method, path, fields, body] of REFUSED)
    it(`DAV-101 507 with quota-not-exceeded: ${method} ${path} ${body?.length ?? ''}`, () =>
      changesNothing(wire.server, async () => {
        const answer = await wire.dav(method, path, fields, body)
        expect(outcomeOf(answer)).to.equal('507 AllowanceExhausted')
        expect(answer.text).to.match(/^<D:error xmlns:D="DAV:"><D:quota-not-exceeded><\/D:quota-not-exceeded>/)
        expect(await room()).to.deep.equal([7000, 3000])
      }))

  it('dead properties count with their names, wherever their files go', async () => {
    const set = (path: string, bytes: number) =>
      wire.dav('PROPPATCH', path, {}, propertyUpdate(['{u:}n', 'v'.repeat(bytes)]))
    const steps: [what: string, used: number, request: () => Promise<{ status: number }>][] = [
      ['a file', 8003, () => set('/d/b.txt', 1000)],
      ['less', 7503, () => set('/d/b.txt', 500)],
      ['a collection', 7606, () => set('/d/', 100)],
      ['another content', 6606, () => wire.dav('PUT', '/d/b.txt', {}, 'b'.repeat(1000))],
      ['a copy of the tree', 9212, () => wire.dav('COPY', '/d/', to('/copy/'))],
      ['moved', 9212, () => wire.dav('MOVE', '/copy/', to('/moved/'))],
      ['removed', 6606, () => wire.dav('DELETE', '/moved/')],
      ['all room', 10_000, () => set('/a.bin', 3391)],
      ['less, without room', 9999, () => set('/a.bin', 3390)],
      ['none', 6606, () => wire.dav('PROPPATCH', '/a.bin', {}, propertyUpdate(['{u:}n']))],
    ]
    for (const [what, used, request] of steps) {
      expect((await request()).status, what).to.be.within(200, 299)
      expect(await room(), what).to.deep.equal([used, QUOTA - used])
    }
    await changesNothing(wire.server, async () => {
      expect(outcomeOf(await set('/a.bin', 3392))).to.equal('507 AllowanceExhausted')
      expect(outcomeOf(await set('/', 3392))).to.equal('507 AllowanceExhausted')
    })
    const { data } = wire.server
    await wire.server.stop()
    wire = await startWire({ site: { quota: QUOTA }, data })
    expect(await room(), 'after a restart').to.deep.equal([6606, 3394])
  })

  it('DAV-44 what is announced and does not fit is refused in place of 100 Continue', async () => {
    for (const [path, length, status] of [
      ['/new.txt', 3001, 507],
      ['/new.txt', 3000, 100],
      ['/a.bin', 7001, 507],
      ['/a.bin', 7000, 100],
      ['/._a.bin', 9000, 100],
    ] as const) {
      const connection = await connect(wire.port)
      const fields = { Authorization: basic(wire.server.user, wire.server.password), Expect: '100-continue' }
      connection.send(requestBytes('PUT', path, { ...fields, 'Content-Length': String(length) }))
      expect((await connection.receive()).status, `${path} ${length}`).to.equal(status)
      connection.close()
    }
  })

  it('a draft takes no room, and its content may take that of the version it replaces', async () => {
    expect((await wire.dav('PUT', '/page.html', {}, page('x'.repeat(2500)))).status).to.equal(201)
    expect((await wire.dav('PUT', '/page.html', {}, '')).status).to.equal(204)
    expect((await wire.dav('PUT', '/page.html', {}, page('y'.repeat(2500)))).status).to.equal(204)
  })

  describe('that has one file or folder for each 512 bytes, and 256 in any case', () => {
    /** Four files and two folders. */
    const THERE = 6
    const ROOM = 256 - THERE
    const deep = (folders: number, name = 'f') => `/${`${name}/`.repeat(folders)}x.bin`
    beforeEach(() => putAll(wire.server, { '/rules.html': rulesPage(['*', '*', 'Allow', '/*']) }))

    async function fill(entries: number, name?: string): Promise<void> {
      expect((await wire.visitor('PUT', deep(entries - 1, name), {}, 'x')).status).to.equal(201)
    }

    const FULL: [who: 'dav' | 'visitor', method: string, path: string, fields?: Fields, body?: string][] = [
      ['visitor', 'PUT', '/g/x.bin', {}, 'x'],
      ['visitor', 'PUT', '/f/x.txt', {}, ''],
      ['dav', 'COPY', '/d/b.txt', to('/f/b.txt')],
      ['visitor', 'MOVE', '/a.bin', to('/g/h/a.bin')],
      ['dav', 'PUT', '/x.txt', {}, 'x'],
      ['dav', 'MKCOL', '/g/'],
      ['dav', 'COPY', '/f/', to('/g/', { Depth: '0' })],
      ['dav', 'COPY', '/d/', to('/g/')],
    ]
    it('DAV-101 507 where there are none left', async () => {
      await fill(ROOM)
      for (const [who, method, path, fields, body] of FULL)
        await changesNothing(wire.server, async () => {
          const answer = await wire[who](method, path, fields, body)
          expect(outcomeOf(answer), `${method} ${path}`).to.equal('507 AllowanceExhausted')
        })
      expect((await room())[1]).to.equal(0)
      expect((await wire.dav('DELETE', '/d/b.txt')).status).to.equal(204)
      expect((await room())[1]).to.be.within(1, QUOTA)
    })

    const TAKEN: [method: string, path: string, left: number, fields?: Fields, body?: string][] = [
      ['PUT', deep(ROOM - 1), 0, {}, 'y'],
      ['PUT', '/a.bin', 0, {}, ''],
      ['MOVE', '/a.bin', 0, to('/f/a.bin')],
      ['MOVE', '/f/', 0, to('/g/')],
      ['COPY', '/d/e/', ROOM - 2, to('/f/')],
      ['COPY', '/d/b.txt', 0, to('/a.bin')],
      ['DELETE', '/d/', 4],
      ['DELETE', '/f/', ROOM],
    ]
    for (const [method, path, left, fields, body] of TAKEN)
      it(`DAV-33 what needs none is taken: ${method} ${path} ${fields?.Destination ?? ''}`, async () => {
        await fill(ROOM)
        expect((await wire.dav(method, path, fields, body)).status).to.be.within(200, 299)
        // As many as there are now, and not one more.
        if (left > 0) await fill(left, 'g')
        expect(outcomeOf(await wire.visitor('PUT', '/one-more.txt', {}, ''))).to.equal('507 AllowanceExhausted')
      })

    it('DAV-33 folders that a visitor leaves behind stay counted, also after a restart', async () => {
      const left = 4
      await fill(ROOM - left - 2)
      for (let i = 0; i < left; i++) {
        const answers = [await wire.visitor('PUT', `/f${i}/x`, {}, 'x'), await wire.visitor('DELETE', `/f${i}/x`)]
        expect(answers.map(({ status }) => status)).to.deep.equal([201, 204])
      }
      expect((await wire.visitor('PUT', '/g/h/x', {}, 'x')).status).to.equal(507)
      const { data } = wire.server
      await wire.server.stop()
      wire = await startWire({ site: { quota: QUOTA }, data })
      expect((await wire.visitor('PUT', '/g/h/x', {}, 'x')).status).to.equal(507)
      expect((await wire.visitor('PUT', '/g/x', {}, 'x')).status).to.equal(201)
    })

    it('DAV-33 writers at once do not take the same', async () => {
      await fill(ROOM - 4)
      const statuses = await Promise.all(
        Array.from({ length: 9 }, async (_, i) => (await wire.visitor('PUT', `/w${i}/x.txt`, {}, '')).status),
      )
      expect(statuses.filter(status => status === 201)).to.have.length(2)
      expect(statuses.filter(status => status === 507)).to.have.length(7)
    })
  })

  it('a tree that does not fit is not copied at all', async () => {
    expect((await wire.dav('COPY', '/d/', to('/one/'))).status).to.equal(201)
    await changesNothing(wire.server, async () => {
      expect(outcomeOf(await wire.dav('COPY', '/d/', to('/two/')))).to.equal('507 AllowanceExhausted')
    })
  })

  it('properties of a collection that is copied without its members count', async () => {
    const value = 'v'.repeat(2000)
    expect((await wire.dav('PROPPATCH', '/d/', {}, propertyUpdate(['{u:}n', value]))).status).to.equal(207)
    await changesNothing(wire.server, async () => {
      expect(outcomeOf(await wire.dav('COPY', '/d/', to('/bare/', { Depth: '0' })))).to.equal('507 AllowanceExhausted')
    })
    expect(await room()).to.deep.equal([9003, 997])
  })

  it('a work file that does not fit stays one (DAV-72)', async () => {
    expect((await wire.dav('PUT', '/5A2B3C01', {}, 'x'.repeat(5000))).status).to.equal(201)
    await changesNothing(wire.server, async () => {
      expect(outcomeOf(await wire.dav('MOVE', '/5A2B3C01', to('/big.bin')))).to.equal('507 AllowanceExhausted')
    })
    expect((await wire.dav('MOVE', '/5A2B3C01', to('/a.bin'))).status).to.equal(204)
    expect(await room()).to.deep.equal([8000, 2000])
  })

  it('writers at once do not take the same room', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => (await wire.dav('PUT', `/w-${i}.bin`, {}, 'x'.repeat(1000))).status),
    )
    expect(statuses.filter(status => status === 201)).to.have.length(3)
    expect(statuses.filter(status => status === 507)).to.have.length(13)
    expect(await room()).to.deep.equal([QUOTA, 0])
  })

  it('over the quota, files can still be made smaller, moved and removed', async () => {
    const { data } = wire.server
    await wire.server.stop()
    const small = await startWire({ site: { quota: 5000 }, data })
    try {
      const status = async (...request: Parameters<Wire['dav']>) => (await small.dav(...request)).status
      expect(await property(small.dav, '/', 'quota-available-bytes')).to.equal('0')
      expect(await status('PUT', '/new.txt', {}, 'x')).to.equal(507)
      expect(await status('MOVE', '/d/b.txt', to('/b.txt'))).to.equal(201)
      expect(await status('PUT', '/a.bin', {}, 'a'.repeat(3999))).to.equal(204)
      expect(await status('DELETE', '/d/')).to.equal(204)
      expect(await status('DELETE', '/b.txt')).to.equal(204)
      expect(await status('PUT', '/new.txt', {}, 'x')).to.equal(201)
    } finally {
      await small.server.stop()
    }
  })

  it('binds visitors as well', async () => {
    await putAll(wire.server, { '/rules.html': rulesPage(['*', '*', 'Allow', '/*']) })
    await changesNothing(wire.server, async () => {
      const answer = await wire.visitor('PUT', '/new.txt', {}, 'x'.repeat(3000))
      expect(outcomeOf(answer)).to.equal('507 AllowanceExhausted')
    })
    expect((await wire.visitor('PUT', '/new.txt', {}, 'x'.repeat(1000))).status).to.equal(201)
  })
})
