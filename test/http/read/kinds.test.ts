import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('kinds and content types', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|MOVE', 'Allow', '/w/*']))
  })
  after(() => server.close())

  async function typeOf(target: string): Promise<string | undefined> {
    return (await http('GET', target)).headers['content-type']
  }

  const stored: [name: string, path: string, sent: string | undefined, served: string][] = [
    ['.html is HTML whatever the request says', '/w/a.html', 'text/plain', 'text/html; charset=utf-8'],
    ['.htm as well', '/w/a.htm', 'application/octet-stream', 'text/html; charset=utf-8'],
    ['in any letter case', '/w/a.HTML', 'image/png', 'text/html; charset=utf-8'],
    ["else the request's type, verbatim", '/w/a.css', 'text/plain;  Charset="x"', 'text/plain;  Charset="x"'],
    ['even if it is generic', '/w/b.css', 'application/octet-stream', 'application/octet-stream'],
    ['even if it is wrong', '/w/a.png', 'text/css', 'text/css'],
    ['an unknown type too', '/w/a.txt', 'x-own/Type; a=b', 'x-own/Type; a=b'],
    ['a name without extension may be HTML', '/w/about', 'text/html', 'text/html; charset=utf-8'],
    ['HTML with a charset keeps it', '/w/about2', 'text/html; charset=ISO-8859-1', 'text/html; charset=ISO-8859-1'],
    ['nothing known', '/w/unknown', undefined, 'application/octet-stream'],
    ['an unknown extension', '/w/a.xyz', undefined, 'application/octet-stream'],
    ['an empty extension', '/w/a.', undefined, 'application/octet-stream'],
    ['the last extension counts', '/w/a.css.png', undefined, 'image/png'],
    ['a dot in the folder is none', '/w/v1.css/file', undefined, 'application/octet-stream'],
  ]
  for (const [name, path, sent, served] of stored) {
    it(`HTTP-20 ${name}: ${path}`, async () => {
      expect((await http('PUT', path, { 'Content-Type': sent }, '<p>x</p>')).status).to.equal(201)
      expect(await typeOf(path)).to.equal(served)
    })
  }

  const extensions: Record<string, string> = {
    css: 'text/css',
    js: 'text/javascript',
    mjs: 'text/javascript',
    json: 'application/json',
    map: 'application/json',
    webmanifest: 'application/manifest+json',
    xml: 'application/xml',
    rss: 'application/rss+xml',
    atom: 'application/atom+xml',
    xhtml: 'application/xhtml+xml',
    svg: 'image/svg+xml',
    png: 'image/png',
    gif: 'image/gif',
    webp: 'image/webp',
    avif: 'image/avif',
    jpg: 'image/jpeg',
    JPEG: 'image/jpeg',
    ico: 'image/x-icon',
    woff: 'font/woff',
    woff2: 'font/woff2',
    ttf: 'font/ttf',
    otf: 'font/otf',
    pdf: 'application/pdf',
    txt: 'text/plain',
    csv: 'text/csv',
    md: 'text/markdown',
    zip: 'application/zip',
    gz: 'application/gzip',
    wasm: 'application/wasm',
    mp3: 'audio/mpeg',
    mp4: 'video/mp4',
    webm: 'video/webm',
    ICS: 'text/calendar',
  }
  it('HTTP-20 types by extension', async () => {
    await Promise.all(
      Object.entries(extensions).map(async ([extension, type]) => {
        const path = `/w/by-extension.${extension}`
        expect((await http('PUT', path, {}, '<x/>')).status, extension).to.equal(201)
        expect(await typeOf(path), extension).to.equal(type)
      }),
    )
  })

  it('HTTP-20 a whole MOVE keeps the type, but .html makes HTML', async () => {
    await http('PUT', '/w/m.dat', { 'Content-Type': 'text/x-own; a=b' }, '<p>x</p>')
    await http('MOVE', '/w/m.dat', { Destination: '/w/m.css' })
    expect(await typeOf('/w/m.css')).to.equal('text/x-own; a=b')
    await http('MOVE', '/w/m.css', { Destination: '/w/m.html' })
    expect(await typeOf('/w/m.html')).to.equal('text/html; charset=utf-8')
    expect((await http('GET', '/w/m.html', { Range: 'selector=p' })).text).to.equal('<p>x</p>')
    await http('MOVE', '/w/m.html', { Destination: '/w/m.txt' })
    expect(await typeOf('/w/m.txt')).to.equal('text/html; charset=utf-8')
  })

  const kinds: [type: string, selectors: boolean][] = [
    ['text/html', true],
    ['TEXT/HTML; x=y', true],
    ['application/xml', true],
    ['text/xml; charset=utf-8', true],
    ['application/rss+xml', true],
    ['application/xhtml+xml', true],
    ['image/svg+xml', false],
    ['application/json', false],
    ['text/plain', false],
    ['multipart/form-data; boundary=x', false],
    ['application/x+xmlish', false],
  ]
  for (const [type, selectors] of kinds) {
    it(`HTTP-21 ${type} ${selectors ? 'is a document' : 'is a blob'}`, async () => {
      const path = `/w/kind-${kinds.findIndex(([each]) => each === type)}`
      await http('PUT', path, { 'Content-Type': type }, '<p>x</p>')
      const { status, text } = await http('GET', path, { Range: 'selector=p' })
      expect(status).to.equal(selectors ? 206 : 422)
      if (selectors) expect(text).to.equal('<p>x</p>')
    })
  }

  it('HTTP-22 blobs come back byte for byte, templates in them inert, Accept ignored', async () => {
    const bytes = Buffer.from([...Array(256).keys(), 0xff, 0xfe, 0, 13, 10])
    await http('PUT', '/w/bytes.bin', {}, bytes)
    const template = 'body { color: {{ theme.color }} } <template p:include="/x"></template>'
    await http('PUT', '/w/inert.css', {}, template)
    for (const Accept of ['*/*', 'text/html', 'application/ld+json', 'multipart/mixed', 'image/png;q=0']) {
      const { status, body, headers } = await http('GET', '/w/bytes.bin', { Accept })
      expect(status).to.equal(200)
      expect(body.equals(bytes)).to.equal(true)
      expect(headers['content-type']).to.equal('application/octet-stream')
    }
    expect((await http('GET', '/w/inert.css')).text).to.equal(template)
  })

  it('HTTP-22 multipart/form-data is stored as it came', async () => {
    const body = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    await http('PUT', '/w/form', { 'Content-Type': 'multipart/form-data; boundary=x' }, body)
    const { text, headers } = await http('GET', '/w/form')
    expect(text).to.equal(body)
    expect(headers['content-type']).to.equal('multipart/form-data; boundary=x')
  })

  it('HTTP-22 an empty blob is a blob of no bytes', async () => {
    expect((await http('PUT', '/w/empty.txt', {}, '')).status).to.equal(201)
    const { status, headers, body } = await http('GET', '/w/empty.txt')
    expect({ status, length: headers['content-length'], size: body.length }).to.deep.equal({
      status: 200,
      length: '0',
      size: 0,
    })
  })

  it('HTTP-23 XML that is not well formed is refused and nothing is stored', async () => {
    for (const text of ['<a>', '<a></b>', '<a/><b/>', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'text', '']) {
      expect((await http('PUT', '/w/bad.xml', {}, text)).status, text).to.equal(422)
    }
    expect((await http('GET', '/w/bad.xml')).status).to.equal(404)
  })

  it('HTTP-23 XML is served with its stored type alone', async () => {
    await http('PUT', '/w/feed', { 'Content-Type': 'application/atom+xml' }, '<feed>é</feed>')
    expect(await typeOf('/w/feed')).to.equal('application/atom+xml')
  })

  const bytes: [name: string, content: Buffer][] = [
    [
      'doctype, case, quoting and line ends',
      Buffer.from("<!doctype HTML>\r\n<HTML><BODY CLASS=x  ID='y'>\r<P>a\n\t</p >"),
    ],
    ['no html, head or body', Buffer.from('just text & <b>markup')],
    ['a byte order mark', Buffer.from('\ufeff<p>x</p>')],
    ['misnested markup', Buffer.from('<b><p>x</b>y</p><table><p>z</table>')],
    ['an empty document', Buffer.alloc(0)],
    ['NUL and other controls', Buffer.from('<p>\0\x01\x0b</p>')],
  ]
  for (const [name, content] of bytes) {
    it(`HTTP-24 HTTP-26 a document without composition is served as uploaded: ${name}`, async () => {
      const path = `/w/bytes-${bytes.findIndex(([each]) => each === name)}.html`
      expect((await http('PUT', path, {}, content)).status).to.equal(201)
      const { body, headers } = await http('GET', path)
      expect(body.equals(content)).to.equal(true)
      expect(headers['content-type']).to.equal('text/html; charset=utf-8')
    })
  }

  it('HTTP-25 HTML that is not UTF-8 is served as it is, without charset', async () => {
    const content = Buffer.from('<meta charset="iso-8859-1"><p id=p>caf\xe9</p>', 'latin1')
    expect((await http('PUT', '/w/latin.html', {}, content)).status).to.equal(201)
    const { body, headers } = await http('GET', '/w/latin.html')
    expect(body.equals(content)).to.equal(true)
    expect(headers['content-type']).to.equal('text/html')
  })

  it('HTTP-90 a page is echoed as stored by a whole PUT, a blob is not', async () => {
    const content = page('<p>echo</p>')
    const document = await http('PUT', '/w/echo.html', {}, content)
    expect(document.text).to.equal(content)
    expect(document.headers['content-type']).to.equal('text/html; charset=utf-8')
    const blob = await http('PUT', '/w/echo.css', {}, 'p{}')
    expect(blob.body.length).to.equal(0)
  })
})
