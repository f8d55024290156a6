import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, remove, rulesPage } from '../../support/content.ts'
import { type Client, type Connection, client, connect, type Fields, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, textOf } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li></ul>')
const OPEN = rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*'])

describe('the second look, inside the commit', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { maxBody: '100KiB' } })
    http = client(server.port)
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/rules.html', OPEN)
    await put(server, '/d.html', DOC)
    await put(server, '/blob.txt', 'blob')
  })

  /** A write whose body waits until the server has passed every gate before it. */
  async function slow(
    method: string,
    target: string,
    fields: Fields,
    body: string,
  ): Promise<Connection & { finish(): void }> {
    const connection = await connect(server.port)
    const length = { 'Content-Length': String(Buffer.byteLength(body)), Expect: '100-continue' }
    connection.send(requestBytes(method, target, { ...fields, ...length }))
    const first = await connection.receive()
    expect(first.status).to.equal(100)
    return Object.assign(connection, { finish: () => connection.send(body) })
  }

  /** What becomes of a write when the world changes while its body is on the way. */
  async function meanwhile(
    method: string,
    target: string,
    fields: Fields,
    body: string,
    change: () => Promise<unknown>,
  ) {
    const connection = await slow(method, target, fields, body)
    await change()
    connection.finish()
    const answer = await connection.receive()
    connection.close()
    return answer
  }

  const deny = () => put(server, '/rules.html', rulesPage(['*', '*', 'Deny', '/*'], ['*', 'GET', 'Allow', '/*']))

  it('DEC-6 rules that change while the body arrives refuse the write', async () => {
    for (const [method, path, fields] of [
      ['PUT', '/d.html', {}],
      ['PUT', '/fresh.html', {}],
      ['PUT', '/blob.txt', {}],
      ['PUT', '/d.html', selecting('#a')],
      ['POST', '/d.html', selecting('#l')],
      ['POST', '/d.html', selecting('#a', 'after')],
    ] as const) {
      await put(server, '/rules.html', OPEN)
      const answer = await leavesAlone(server, [path], () => meanwhile(method, path, fields, '<li>x</li>', deny))
      expect(failureOf(answer), `${method} ${path}`).to.match(/^401 /)
    }
    await put(server, '/rules.html', OPEN)
    expect((await meanwhile('POST', '/dir/', {}, 'x', deny)).status).to.equal(401)
    expect(await server.site.store.list('/dir/')).to.deep.equal([])
  })

  it('DEC-6 an element that becomes another one is decided anew', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/d.html', '.free']))
    await put(server, '/d.html', page('<p class="free" id="x">x</p>'))
    const answer = await meanwhile('PUT', '/d.html', selecting('#x'), '<p>y</p>', () =>
      put(server, '/d.html', page('<p class="kept" id="x">x</p>')),
    )
    expect(failureOf(answer)).to.equal('401 /d.html')
    expect(await textOf(server, '/d.html')).to.include('class="kept" id="x">x<')
  })

  it('HTTP-4 the newest version is written: nothing that came in between is lost', async () => {
    const answer = await meanwhile('POST', '/d.html', selecting('#l'), '<li id="late">late</li>', async () => {
      await http('POST', '/d.html', selecting('#l'), '<li id="early">early</li>')
      await http('PUT', '/d.html', selecting('#a'), '<li id="a">A</li>')
    })
    expect(answer.status).to.equal(206)
    expect(await textOf(server, '/d.html')).to.include(
      '<ul id="l"><li id="a">A</li><li id="early">early</li><li id="late">late</li></ul>',
    )
  })

  it('HTTP-4 the first match is looked for again', async () => {
    const answer = await meanwhile('PUT', '/d.html', selecting('li'), '<li id="new">new</li>', () =>
      http('POST', '/d.html', selecting('#l', 'prepend'), '<li id="first">first</li>'),
    )
    expect(answer.status).to.equal(206)
    expect(await textOf(server, '/d.html')).to.include('<ul id="l"><li id="new">new</li><li id="a">a</li></ul>')
  })

  it('HTTP-4 a target that vanished is 416, a document 404, one that became a blob 422', async () => {
    const write = (change: () => Promise<unknown>) => meanwhile('PUT', '/d.html', selecting('#a'), '<li>x</li>', change)
    const gone = await write(() => http('DELETE', '/d.html', selecting('#a')))
    expect(failureOf(gone)).to.equal('416 SelectorNoMatch')
    await put(server, '/d.html', DOC)
    expect(failureOf(await write(() => http('DELETE', '/d.html')))).to.equal('404 NotFound')
    expect((await http('GET', '/d.html')).status).to.equal(404)
    await put(server, '/turn', DOC, 'text/html')
    const blob = await meanwhile('PUT', '/turn', selecting('#a'), '<li>x</li>', () =>
      put(server, '/turn', 'b', 'text/plain'),
    )
    expect(failureOf(blob)).to.equal('422 NotHtml')
    expect(await textOf(server, '/turn')).to.equal('b')
  })

  it('HTTP-4 conditions hold at the commit, not before it', async () => {
    const { etag } = (await http('GET', '/d.html')).headers
    const whole = await meanwhile('PUT', '/d.html', { 'If-Match': etag }, DOC, () =>
      http('POST', '/d.html', selecting('#l'), '<li>between</li>'),
    )
    expect(failureOf(whole)).to.equal('412 PreconditionFailed')
    expect(whole.headers.etag).to.equal((await http('GET', '/d.html')).headers.etag)
    expect(await textOf(server, '/d.html')).to.include('between')
    const create = await meanwhile('PUT', '/once.html', { 'If-None-Match': '*' }, DOC, () =>
      http('PUT', '/once.html', {}, page('first')),
    )
    expect(failureOf(create)).to.equal('412 PreconditionFailed')
    expect(await textOf(server, '/once.html')).to.include('first')
    const tag = (await http('GET', '/d.html', selecting('#a'))).headers.etag
    const element = await meanwhile('PUT', '/d.html', { ...selecting('#a'), 'If-Match': tag }, '<li>x</li>', () =>
      http('PUT', '/d.html', selecting('#a'), '<li id="a">other</li>'),
    )
    expect(failureOf(element)).to.equal('412 PreconditionFailed')
    await remove(server, '/once.html')
  })

  it('HTTP-4 a write that was refused at first is not let in by later rules', async () => {
    await deny()
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/d.html', { 'Content-Length': '5', Expect: '100-continue' }))
    expect((await connection.receive()).status).to.equal(401)
    connection.close()
  })

  it('HTTP-180 an over-long declared body gets no 100 Continue', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/d.html', { 'Content-Length': '100000000', Expect: '100-continue' }))
    const answer = await connection.receive()
    expect(failureOf(answer)).to.equal('413')
    await connection.ended
  })
})
