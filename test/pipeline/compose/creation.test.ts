/** Documents that pages make of requests (COMP-106 to COMP-108). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { leavesAlone, textOf } from '../../http/write-checks.ts'
import { NS, page, put, putAll, type RuleLine, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { PREFIXES } from './composing.ts'

const NEW = `<!doctype html><html xmlns:p="${NS}/1.0" p:template="text/liquid"><head><title>{{ request.body.title }}</title>
<base href="/entries/{{ request.body.slug }}.html"></head><body><h1>{{ request.body.title }}</h1><ul>{% for t in request.body.tags %}<li>{{ t }}</li>{% endfor %}</ul><i>{{ request.method }}</i></body></html>`
const FORM = 'application/x-www-form-urlencoded'
/** Names the new document by what stands in another one. */
const BY_SECRET = `<!doctype html><html ${PREFIXES} e:s="\${#s}.first().text()"><head p:template="text/liquid"><base href="/entries/{{ s }}.html"></head></html>`

describe('Templated creation', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
    await putAll(server, { '/templates/new.html': NEW, '/plain.html': page('<p>x</p>'), '/blob.bin': 'b' })
  })
  after(() => server.close())

  const rules = (...lines: RuleLine[]) => put(server, '/rules.html', rulesPage(...lines))
  const open = () => rules(['*', 'POST|PUT', 'Allow', '/*'])
  const post = (body: string, fields: Fields = {}, path = '/templates/new.html') =>
    send('POST', path, { 'Content-Type': FORM, ...fields }, body)

  it('COMP-106 COMP-107 the example: 301 to the new document, which holds the composed result', async () => {
    await open()
    const answer = await post('slug=hi&title=Hi+there&tags=a&tags=%3Cb%3E')
    expect(answer.status).to.equal(301)
    expect(answer.headers.location).to.equal('/entries/hi.html')
    expect(answer.headers['cache-control']).to.equal('no-store')
    expect(answer.body).to.have.length(0)
    const text = await textOf(server, '/entries/hi.html')
    expect(text).to.contain('<h1>Hi there</h1><ul><li>a</li><li>&lt;b&gt;</li></ul><i>POST</i>')
    expect(text).to.contain(`xmlns:p="${NS}/1.0"`)
    expect(text).not.to.match(/<base|p:template|\{\{/)
    expect((await send('GET', '/entries/hi.html')).text).to.contain('<h1>Hi there</h1>')
  })

  it('COMP-106 an existing document is replaced, unless If-None-Match: * forbids it', async () => {
    await open()
    await post('slug=again&title=One')
    expect((await post('slug=again&title=Two', { 'If-None-Match': '*' })).status).to.equal(412)
    expect(await textOf(server, '/entries/again.html')).to.contain('One')
    expect((await post('slug=again&title=Two')).status).to.equal(301)
    expect(await textOf(server, '/entries/again.html')).to.contain('Two')
  })

  it('COMP-22 the text fields of a multipart form, too', async () => {
    await open()
    const part = (head: string, value: string) => `--XX\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
    const body = `${part('name="slug"', 'multi')}${part('name="title"', 'a & b')}${part('name="f"; filename="x.txt"', 'file')}--XX--\r\n`
    const answer = await post(body, { 'Content-Type': 'multipart/form-data; boundary=XX' })
    expect(answer.headers.location).to.equal('/entries/multi.html')
    expect(await textOf(server, '/entries/multi.html')).to.contain('<h1>a &amp; b</h1>')
  })

  it('COMP-106 both the POST and the PUT are authorized, and nothing is written without', async () => {
    await rules(['*', 'PUT', 'Allow', '/entries/*'])
    expect((await post('slug=no&title=x')).status).to.equal(401)
    await rules(['*', 'POST', 'Allow', '/templates/*'])
    expect((await post('slug=no&title=x')).status).to.equal(401)
    expect(await server.site.find('/entries/no.html')).to.equal(undefined)
    await putAll(server, { '/secret.html': page('<p id="s">TOPSECRET</p>'), '/templates/hidden.html': BY_SECRET })
    const refused = await post('', {}, '/templates/hidden.html')
    expect(refused.status).to.equal(401)
    expect(refused.text, 'DENY-2 COMP-148').to.include('/templates/hidden.html').and.not.include('TOPSECRET')
    await rules(['*', 'POST', 'Allow', '/templates/*'], ['*', 'PUT', 'Allow', '/entries/*'])
    expect((await post('slug=yes&title=x')).status).to.equal(301)
  })

  const bases: [what: string, href: string, status: number][] = [
    ['no base', '', 422],
    ['a base without address', '<base target="x"><base href="">', 422],
    ['another site', '<base href="https://else.example/x.html">', 422],
    ['another scheme', '<base href="data:text/html,x">', 422],
    ['a directory', '<base href="/entries/">', 422],
    ['a reserved path', '<base href="/.platform/x.html">', 403],
    ['an encoded slash', '<base href="/a%2Fb.html">', 400],
  ]
  for (const [what, base, status] of bases)
    it(`COMP-106 COMP-131 ${what} is ${status}, and nothing is stored`, async () => {
      await open()
      const text = `<!doctype html><html ${PREFIXES}><head>${base}</head><body>x</body></html>`
      await put(server, '/templates/bad.html', text)
      await leavesAlone(server, ['/templates/bad.html', '/x.html', '/a/b.html'], async () => {
        expect((await post('', {}, '/templates/bad.html')).status).to.equal(status)
      })
    })

  it('COMP-106 addresses are taken from that of the template, own hosts included', async () => {
    await open()
    const text = (href: string) =>
      `<!doctype html><html ${PREFIXES}><head><base href="${href}"></head><body>x</body></html>`
    await put(server, '/templates/rel.html', text('../made/ä b.html?x=1'))
    expect((await post('', {}, '/templates/rel.html')).headers.location).to.equal('/made/%C3%A4%20b.html')
    await put(server, '/templates/rel.html', text(`http://localhost:${server.port}/made/own.html`))
    expect((await post('', {}, '/templates/rel.html')).headers.location).to.equal('/made/own.html')
  })

  it('COMP-107 nothing is divided into pages', async () => {
    await open()
    const text = `<!doctype html><html ${PREFIXES}><head><base href="/made/list.html"></head><body><ul p:paginate="1"><li>1</li><li>2</li></ul></body></html>`
    await put(server, '/templates/list.html', text)
    await post('', {}, '/templates/list.html')
    expect(await textOf(server, '/made/list.html')).to.contain('<ul><li>1</li><li>2</li></ul>')
  })

  it('COMP-90 LIQ-65 a template that fails writes nothing', async () => {
    await open()
    await put(server, '/templates/fail.html', NEW.replace('<body>', '<body>{% nonsense %}'))
    expect((await post('slug=fail&title=x', {}, '/templates/fail.html')).status).to.equal(500)
    expect(await server.site.find('/entries/fail.html')).to.equal(undefined)
  })

  it('COMP-106 the result passes what any PUT does: shapes and schemas of the target', async () => {
    await open()
    await put(
      server,
      '/shapes.html',
      page(
        `<div hidden itemscope itemtype="${NS}/ShapeConstraint"><meta itemprop="resource" content="/entries/*"><meta itemprop="constraint" content="h6"></div>`,
      ),
    )
    expect((await post('slug=shape&title=x')).status).to.equal(422)
    expect(await server.site.find('/entries/shape.html')).to.equal(undefined)
    await remove(server, '/shapes.html')
  })

  it('COMP-107 nothing stored is 404, what is no page 422', async () => {
    await open()
    expect((await post('', {}, '/none.html')).status).to.equal(404)
    expect((await post('', {}, '/blob.bin')).status).to.equal(422)
    expect((await post('', {}, '/plain.html')).status).to.equal(422)
  })

  it('COMP-108 a POST to a directory gets a generated name', async () => {
    await rules(['*', 'POST', 'Allow', '/inbox/'])
    expect((await post('<p>x</p>', { 'Content-Type': 'text/html' }, '/inbox/')).status).to.equal(401)
    await open()
    const answer = await post('<p>x</p>', { 'Content-Type': 'text/html' }, '/inbox/')
    expect(answer.status).to.equal(201)
    expect(answer.headers.location).to.match(/^\/inbox\/[a-z0-9]{12,}\.html$/)
    expect(answer.headers.etag).to.match(/^"/)
    expect(await textOf(server, answer.headers.location ?? '')).to.equal('<p>x</p>')
  })
})
