import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import type { Site, WrittenDocument } from '../../pipeline/site/site.ts'
import type { Change } from '../../pipeline/store/commit.ts'
import { refuseConfiguring } from '../../pipeline/write/may-configure.ts'
import { NS, page, put, ruleMarkup } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const field = (name: string, value: string) => `<b itemprop="${name}">${value}</b>`
const property = (...fields: string[]) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Property">${fields.join('')}</div>`
const schema = (name: string, ...fields: string[]) =>
  `<div itemscope itemtype="${NS}/Schema">${field('type', `https://t.example/${name}`)}${fields.join('')}</div>`
const person = (name: string) =>
  page(`<ul><li itemscope itemtype="https://t.example/Person">${field('name', name)}</li></ul>`)
const deny = (path: string, type: string, more = '') =>
  page(
    ruleMarkup(['*', 'GET', 'Deny', path])
      .replace(`${NS}/AuthorizationRule`, `https://t.example/${type}`)
      .replace('</div>', `${more}</div><p itemscope></p>`),
  )
const RULE = field('parent', `${NS}/AuthorizationRule`)

describe("a credential's scope as boundary: what follows from a write", () => {
  let server: TestServer
  let limited: Client
  let other: Client

  before(async () => {
    const users = ['limited', 'other']
    const credentials = users.map(user => ({ user, password: user, scope: ['/part/*'] }))
    server = await startServer({ site: { credentials } })
    const [one, another] = users.map(user => {
      const basic = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
      return client(Number(new URL(server.mountUrl).port), { Authorization: basic })
    })
    if (!one || !another) throw new Error('two users')
    limited = one
    other = another
    const refers = [field('cardinality', '1..1'), field('references', 'https://t.example/Person#name')]
    await put(
      server,
      '/site/schemas.html',
      page(
        schema('Person', property(field('name', 'name'), field('unique', 'true'))) +
          schema('Own', RULE, property(field('name', 'person'), ...refers, field('cascade', 'true'))) +
          schema('Remark', property(field('name', 'person'), ...refers, field('cascade', 'true'))),
      ),
    )
    await put(server, '/closed.html', page('x'))
    await put(server, '/later.html', page('x'))
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/part/people.html', person('ann'))
    await put(server, '/part/other.html', page('x'))
    await put(server, '/site/rules.html', deny('/closed.html', 'Own', field('person', 'ann')))
    expect(await seen('/closed.html')).to.equal(401)
  })

  const seen = async (path: string) => (await client(server.port)('GET', path)).status
  const settle = () => server.running.mounts.tend(Date.now() + 600_000)

  const cases: [string, string, string, Fields, string | undefined][] = [
    ['its element', 'DELETE', '/part/people.html', { Range: 'selector=li' }, undefined],
    ['its document', 'DELETE', '/part/people.html', {}, undefined],
    ['its collection', 'DELETE', '/part/', {}, undefined],
    ['a page without it', 'PUT', '/part/people.html', {}, page('x')],
    ['another name of it', 'PUT', '/part/people.html', {}, person('bob')],
    ['a page moved over it', 'MOVE', '/part/other.html', { Destination: '/part/people.html' }, undefined],
  ]
  it('MOD-56 DAV-80 DAV-86 what follows goes into what somebody else has locked; a request for that does not', async () => {
    const note = (name: string) => page(`<p itemscope itemtype="https://t.example/Remark">${field('person', name)}</p>`)
    await put(server, '/site/rules.html', page(''))
    await put(server, '/part/notes.html', note('ann'))
    const lock = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
    const locked = await other('LOCK', '/part/notes.html', { 'Content-Type': 'application/xml' }, lock)
    expect(locked.status).to.equal(200)
    expect((await limited('PUT', '/part/notes.html', {}, note('ann'))).status).to.equal(423)
    expect((await limited('PUT', '/part/people.html', {}, person('bob'))).status).to.equal(204)
    expect((await limited('GET', '/part/notes.html')).text).to.include('bob')
    const token = { 'Lock-Token': String(locked.headers['lock-token']) }
    expect((await other('UNLOCK', '/part/notes.html', token)).status).to.equal(204)
    await limited('DELETE', '/part/notes.html')
  })

  for (const [what, method, path, { Destination: to, ...fields }, body] of cases)
    it(`SEC-10 a rule that follows an instance does not go or change with ${what}`, async () => {
      const sent = typeof to === 'string' ? { ...fields, Destination: server.mountUrl + to } : fields
      const answer = await limited(method, path, sent, body)
      expect(answer.status).to.equal(403)
      expect(answer.text)
        .to.match(/configure the site.*t\.example\/Own/)
        .and.not.include('/site/')
      expect(await seen('/closed.html')).to.equal(401)
      expect((await limited('GET', '/part/people.html')).text).to.include('ann')
    })

  it('SEC-10 nor when an empty file, or the end of a save that was not finished, takes its place later', async () => {
    expect((await limited('PUT', '/part/people.html', {}, '')).status).to.equal(204)
    await settle()
    const aside = { Destination: `${server.mountUrl}/part/~$people.html` }
    expect((await limited('MOVE', '/part/people.html', aside)).status).to.equal(201)
    await settle()
    expect(await seen('/closed.html')).to.equal(401)
    expect((await limited('GET', '/part/people.html')).text).to.include('ann')
  })

  it('SEC-10 an empty file does not replace items that have come to be rules meanwhile', async () => {
    await put(server, '/part/notes.html', deny('/later.html', 'Note'))
    expect((await limited('PUT', '/part/notes.html', {}, '')).status).to.equal(204)
    await put(server, '/site/notes.html', page(schema('Note', RULE)))
    expect(await seen('/later.html')).to.equal(401)
    await settle()
    expect(await seen('/later.html')).to.equal(401)
  })

  it('SEC-10 where no configuration follows, instances come and go, and empty files take their place', async () => {
    await put(server, '/part/more.html', person('eve'))
    expect((await limited('PUT', '/part/more.html', {}, '')).status).to.equal(204)
    await settle()
    expect((await limited('GET', '/part/more.html')).text).to.equal('')
    await put(server, '/part/more.html', person('eve'))
    expect((await limited('DELETE', '/part/more.html')).status).to.equal(204)
  })

  it('SEC-10 SEC-12 each of many documents that follow a write is looked at a few times, however many there are', async () => {
    let looks = 0
    const documents = Array.from({ length: 500 }, (_, i) => ({
      get path() {
        looks++
        return `/${i}.html`
      },
    })) as unknown as WrittenDocument[]
    const changes = documents.map((_, i) => ({
      op: 'put',
      path: `/${i}.html`,
      type: 'text/html',
    })) as unknown as Change[]
    const site = { counts: () => false } as unknown as Site
    await refuseConfiguring(site, { changes: [], written: [] }, { changes, written: documents })
    expect(looks).to.be.within(documents.length, 3 * documents.length)
  })
})
