import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { loadSettings } from '../../config/load.ts'
import { Unusable } from '../../pipeline/store/errors.ts'
import { check, reactions } from '../../server/site-commands.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('damage: what a bad day leaves on a disk', () => {
  let server: TestServer
  beforeEach(async () => {
    server = await startServer()
  })
  afterEach(() => server.close())

  const restarted = async (harm: (data: string) => void) => {
    await server.stop()
    harm(server.data)
    server = await startServer({ data: server.data })
  }

  it('pages of the database that were damaged are told, never served as they are', async () => {
    await put(server, '/a.html', page('<p id="p">true</p>'))
    await put(server, '/b.html', page('<p id="p">whole</p>'))
    await restarted(data => {
      const database = new DatabaseSync(join(data, 'store.sqlite'))
      const { changes } = database
        .prepare("UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), 'true', 'lies') AS BLOB)")
        .run()
      expect(Number(changes)).to.be.above(0)
      database.close()
    })
    const http = client(server.port)
    for (const fields of [{}, { Range: 'selector=#p' }]) {
      const answer = await http('GET', '/a.html', fields)
      expect(answer.status).to.equal(500)
      expect(answer.text).to.include('damaged').and.not.include('lies')
    }
    expect((await http('GET', '/b.html')).status).to.equal(200)
  })

  it('a file of a blob that is missing is a failure with an answer, on both faces', async () => {
    await put(server, '/large.bin', Buffer.alloc(1024 * 1024, 7))
    await restarted(data => {
      for (const folder of readdirSync(join(data, 'blobs')))
        rmSync(join(data, 'blobs', folder), { recursive: true, force: true })
    })
    expect((await client(server.port)('GET', '/large.bin')).status).to.be.oneOf([500, 503])
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    const mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    expect((await mount('GET', '/large.bin')).status).to.be.within(500, 507)
    const copied = await mount('COPY', '/large.bin', { Destination: `${server.mountUrl}/copy.bin` })
    expect(copied.status).to.be.within(500, 507)
    expect((await mount('PROPFIND', '/copy.bin', { Depth: '0' })).status).to.equal(404)
  })

  it('HTTP-4 a large file of which a byte has changed is never a whole answer, until its bytes are stored again', async () => {
    const bytes = Buffer.alloc(1024 * 1024, 7)
    const files = ['first', 'last', 'copied'].map(name => `/${name}.bin`)
    const sound = (path: string) => Buffer.concat([Buffer.from(path), bytes])
    for (const path of files) await put(server, path, sound(path))
    const change = (data: string) => {
      for (const folder of readdirSync(join(data, 'blobs')))
        for (const name of readdirSync(join(data, 'blobs', folder))) {
          const file = join(data, 'blobs', folder, name)
          const stored = readFileSync(file)
          const at = stored.includes('/first') ? 0 : stored.length - 1
          stored[at] = 1
          writeFileSync(file, stored)
          // Times of files may be too coarse for what comes one after another.
          utimesSync(file, 1_000_000, 1_000_000)
        }
    }
    await restarted(change)
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    const mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    for (const [ask, path] of [
      [client(server.port), '/first.bin'],
      [mount, '/last.bin'],
      [client(server.port), '/copied.bin'],
    ] as const) {
      const cut = await ask('GET', path).then(
        ({ status, body }) => ({ status, isWhole: status === 200 && body.length === sound(path).length }),
        () => ({ status: 0, isWhole: false }),
      )
      expect(cut, path).to.deep.equal({ status: 0, isWhole: false })
      for (const again of [client(server.port), mount]) {
        expect((await again('GET', path)).status, path).to.equal(500)
        expect((await again('GET', path, { Range: 'bytes=10-20' })).status, path).to.equal(500)
      }
    }
    const to = { Destination: `${server.mountUrl}/copy.bin` }
    expect((await mount('COPY', '/copied.bin', to)).status).to.equal(500)
    for (const path of files) {
      await put(server, path, sound(path))
      expect((await client(server.port)('GET', path)).body.equals(sound(path)), path).to.equal(true)
    }
    // Nobody has read it between damage and upload.
    change(server.data)
    await put(server, '/last.bin', sound('/last.bin'))
    expect((await client(server.port)('GET', '/last.bin')).body.equals(sound('/last.bin'))).to.equal(true)
  })

  it('DAV-8 a collection with a member whose bytes are lost is not copied, and the answer names the member', async () => {
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    let mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    const to = (path: string) => ({ Destination: `${server.mountUrl}${path}` })
    for (const path of ['/d/', '/d/e/', '/.Trashes/', '/.Trashes/e/']) await mount('MKCOL', path)
    const large = Buffer.alloc(1024 * 1024, 7)
    for (const path of ['/d/a.txt', '/d/e/large.bin', '/.Trashes/e/large.bin'])
      expect((await mount('PUT', path, {}, path.endsWith('bin') ? large : 'small')).status, path).to.equal(201)
    expect((await mount('COPY', '/d/', to('/whole/'))).status).to.equal(201)
    await restarted(data => {
      for (const folder of readdirSync(join(data, 'blobs')))
        rmSync(join(data, 'blobs', folder), { recursive: true, force: true })
    })
    mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    for (const [from, copy, member] of [
      ['/d/', '/copy/', '/d/e/large.bin'],
      ['/.Trashes/', '/.TemporaryItems/', '/.Trashes/e/large.bin'],
    ] as const) {
      const copied = await mount('COPY', from, to(copy))
      expect(copied.status, from).to.equal(500)
      expect(copied.text).to.include(member)
      expect((await mount('PROPFIND', copy, { Depth: '0' })).status).to.equal(404)
      expect((await mount('COPY', from, { ...to(copy), Depth: '0' })).status, 'without members').to.equal(201)
    }
  })

  it('SEC-4 rules whose rows are lost are told by the check, and hold again once it has repaired them', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/closed.html']))
    await put(server, '/closed.html', page('<p>closed</p>'))
    await server.stop()
    const { settings } = await loadSettings({ file: join(server.data, 'settings.json') })
    const sound = await check(settings, { repair: false, progress: () => undefined })
    expect(sound.problems).to.deep.equal([])
    const database = new DatabaseSync(join(server.data, 'store.sqlite'))
    expect(Number(database.prepare("DELETE FROM derived WHERE name = 'access'").run().changes)).to.equal(1)
    database.close()
    for (const repair of [false, true]) {
      const { problems, repaired } = await check(settings, { repair, progress: () => undefined })
      expect(problems).to.have.length(1)
      expect(problems[0]).to.include('/rules.html')
      expect(repaired).to.equal(repair ? 1 : 0)
    }
    server = await startServer({ data: server.data })
    expect((await client(server.port)('GET', '/closed.html')).status).to.equal(401)
  })

  it('what documents are found by is told by the check where it is not what they hold, and made anew', async () => {
    const item = '<div itemscope itemtype="https://schema.org/Thing"><p itemprop="name">n</p></div>'
    await put(server, '/a.html', page(item))
    await put(server, '/plain.html', page('<p id="p">plain</p>'))
    await server.stop()
    const { settings } = await loadSettings({ file: join(server.data, 'settings.json') })
    const look = (repair = false) => check(settings, { repair, progress: () => undefined })
    expect((await look()).problems).to.deep.equal([])
    for (const sql of [
      'DELETE FROM entry_text; DELETE FROM entry',
      "DELETE FROM derived WHERE name IN ('tokens', 'items')",
      "UPDATE derived SET value = '{' WHERE name = 'profile'",
    ]) {
      const database = new DatabaseSync(join(server.data, 'store.sqlite'))
      database.exec(sql)
      database.close()
      expect((await look()).problems.join(), sql).to.include('/a.html: What it is found by is not what it holds')
      const { problems, repaired } = await look(true)
      expect(repaired, sql).to.equal(problems.length)
      expect((await look()).problems, sql).to.deep.equal([])
    }
  })

  it('SEC-4 declarations of which only a part is left are told by the check, and made anew of their documents', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/closed.html']))
    await server.stop()
    const { settings } = await loadSettings({ file: join(server.data, 'settings.json') })
    const look = (repair: boolean) => check(settings, { repair, progress: () => undefined })
    expect((await look(false)).problems).to.deep.equal([])
    const told = 'localhost/rules.html: What is stored of the rules or models that it declares cannot be read'
    for (const left of ['substr(value, 1, length(value) / 2)', "'{}'", "'[]'"]) {
      const database = new DatabaseSync(join(server.data, 'store.sqlite'))
      const cut = `UPDATE derived SET value = ${left} WHERE name = 'access'`
      expect(Number(database.prepare(cut).run().changes)).to.equal(1)
      database.close()
      expect(await look(false), left).to.deep.include({ problems: [told], repaired: 0 })
    }
    const refused = await reactions(settings, { site: 'localhost', method: 'GET', path: '/' }).catch(
      (error: unknown) => error,
    )
    expect(refused, 'a sentence of a command').to.be.instanceOf(Unusable)
    expect(await look(true)).to.deep.include({ problems: [`${told} (repaired)`], repaired: 1 })
    expect((await look(false)).problems).to.deep.equal([])
    server = await startServer({ data: server.data })
    expect((await client(server.port)('GET', '/closed.html')).status).to.equal(401)
  })

  it('host names that visitors make up leave nothing behind', async () => {
    const http = client(server.port)
    for (let i = 0; i < 5; i++) await http('GET', '/', { Host: `made-up-${i}.example` })
    const { store } = server.running
    expect(await store.sites()).to.deep.equal([])
    for (let i = 0; i < 5; i++) expect(await store.setting(`derived-by:made-up-${i}.example`)).to.equal(undefined)
  })
})
