import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting } from '../write-checks.ts'

describe('stored types', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())

  const typeOf = async (path: string) => (await http('GET', path)).headers['content-type']

  const HTML = 'text/html; charset=utf-8'
  const stored: [path: string, sent: string | undefined, served: string][] = [
    ['/1.html', undefined, HTML],
    ['/2.html', 'text/plain', HTML],
    ['/3.htm', 'image/png', HTML],
    ['/4.HTML', 'application/octet-stream', HTML],
    ['/5.hTm', 'application/xhtml+xml', HTML],
    ['/6/', 'text/css', HTML],
    ['/7.css', 'application/octet-stream', 'application/octet-stream'],
    ['/8.css', 'text/css; charset=iso-8859-1', 'text/css; charset=iso-8859-1'],
    ['/9.css', undefined, 'text/css'],
    ['/10.css', '', 'text/css'],
    ['/11', undefined, 'application/octet-stream'],
    ['/12', 'text/html', HTML],
    ['/13', 'text/html; charset=windows-1252', 'text/html; charset=windows-1252'],
    ['/14', 'Text/HTML;level=1', 'Text/HTML;level=1; charset=utf-8'],
    ['/15.txt', 'x', 'x'],
    ['/16.unknown', undefined, 'application/octet-stream'],
    ['/17.PNG', undefined, 'image/png'],
    ['/18.tar.gz', undefined, 'application/gzip'],
    ['/19.html.txt', undefined, 'text/plain'],
    ['/.html', undefined, HTML],
    ['/21.png', 'text/html', HTML],
  ]
  for (const [path, sent, served] of stored) {
    it(`HTTP-20 ${path} sent as ${sent === undefined ? 'nothing' : `"${sent}"`} is ${served}`, async () => {
      const answer = await http('PUT', path, { 'Content-Type': sent }, page('x'))
      expect(answer.status).to.equal(201)
      expect(await typeOf(path)).to.equal(served)
    })
  }

  const fields: [field: string, path: string][] = [
    ['Content-Type', '/long'],
    ['Content-Language', '/long.txt'],
    ['Content-Language', '/long.html'],
  ]
  for (const [field, path] of fields)
    it(`SEC-12 HTTP-20 ${path} is stored with a ${field} of 1,024 characters, and of no more`, async () => {
      expect((await http('PUT', path, { [field]: 'x'.repeat(1025) }, page('x'))).status).to.equal(400)
      expect((await http('GET', path)).status).to.equal(404)
      expect((await http('PUT', path, { [field]: 'x'.repeat(1024) }, page('x'))).status).to.equal(201)
    })

  it('SEC-12 HTTP-20 a page is stored whatever long type it is sent with, which counts for nothing', async () => {
    expect((await http('PUT', '/other.html', { 'Content-Type': 'x'.repeat(1025) }, page('x'))).status).to.equal(201)
  })

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
    jpeg: 'image/jpeg',
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
    ics: 'text/calendar',
  }
  it('HTTP-20 without a type the extension decides, in either case of letters', async () => {
    for (const [extension, type] of Object.entries(extensions)) {
      for (const name of [extension, extension.toUpperCase()]) {
        expect((await http('PUT', `/ext/file.${name}`, {}, '<a/>')).status, name).to.be.oneOf([200, 201])
        expect(await typeOf(`/ext/file.${name}`), name).to.equal(type)
      }
    }
  })

  const kinds: [type: string, selectable: boolean][] = [
    ['text/html', true],
    ['TEXT/HTML; charset=x', true],
    ['application/xml', true],
    ['text/xml; a=b', true],
    ['application/atom+xml', true],
    ['application/xhtml+xml', true],
    ['model/x3d+xml', true],
    ['image/svg+xml', false],
    ['application/xml-dtd', false],
    ['text/htmlx', false],
    ['application/json', false],
    ['text/plain', false],
  ]
  for (const [type, selectable] of kinds) {
    it(`HTTP-21 ${type} makes ${selectable ? 'a document' : 'a blob'}`, async () => {
      await http('PUT', '/kind', { 'Content-Type': type }, '<p>x</p>')
      const answer = await http('PUT', '/kind', selecting('p'), '<p>y</p>')
      expect(answer.status).to.equal(selectable ? 206 : 422)
    })
  }

  it('HTTP-20 a replacing PUT decides anew', async () => {
    await http('PUT', '/again', { 'Content-Type': 'text/css' }, 'x')
    await http('PUT', '/again', { 'Content-Type': 'text/plain' }, 'x')
    expect(await typeOf('/again')).to.equal('text/plain')
    await http('PUT', '/again', {}, 'x')
    expect(await typeOf('/again')).to.equal('application/octet-stream')
  })

  it('HTTP-20 a selector PUT keeps the type, whatever it says', async () => {
    await http('PUT', '/keeps', { 'Content-Type': 'text/html;level=1' }, page('<p>x</p>'))
    await http('PUT', '/keeps', { ...selecting('p'), 'Content-Type': 'image/png' }, '<p>y</p>')
    expect(await typeOf('/keeps')).to.equal('text/html;level=1; charset=utf-8')
  })

  describe('of what is moved', () => {
    const move = (from: string, to: string) => http('MOVE', from, { Destination: to })

    it('HTTP-20 the stored type stays, also against the new extension', async () => {
      await http('PUT', '/m1.txt', { 'Content-Type': 'text/plain; charset=utf-8' }, 'x')
      expect((await move('/m1.txt', '/m1.css')).status).to.equal(204)
      expect(await typeOf('/m1.css')).to.equal('text/plain; charset=utf-8')
    })

    it('HTTP-20 a blob that becomes .html is a document from then on', async () => {
      await http('PUT', '/m2.txt', {}, page('<p>x</p>'))
      const tag = tagOf(await http('GET', '/m2.txt'))
      expect((await move('/m2.txt', '/m2.html')).status).to.equal(204)
      const read = await http('GET', '/m2.html')
      expect(read.headers['content-type']).to.equal(HTML)
      expect(read.text).to.equal(page('<p>x</p>'))
      expect(tagOf(read)).to.equal(tag)
      expect((await http('PUT', '/m2.html', selecting('p'), '<p>y</p>')).status).to.equal(206)
    })

    it('HTTP-20 a document moved to another extension stays a document', async () => {
      await http('PUT', '/m3.html', {}, page('<p>x</p>'))
      expect((await move('/m3.html', '/m3.txt')).status).to.equal(204)
      expect(await typeOf('/m3.txt')).to.equal(HTML)
      expect((await http('PUT', '/m3.txt', selecting('p'), '<p>y</p>')).status).to.equal(206)
    })

    it('HTTP-20 rule 1 applies to the index of a directory', async () => {
      await http('PUT', '/m4', { 'Content-Type': 'application/xml' }, '<p>x</p>')
      expect((await move('/m4', '/m4d/')).status).to.equal(204)
      expect(await typeOf('/m4d/index.html')).to.equal(HTML)
    })

    it('HTTP-20 a blob of a megabyte becomes a document like a small one', async () => {
      const bytes = page(`<p>${'x'.repeat(1_000_000)}</p>`)
      await http('PUT', '/m5.txt', {}, bytes)
      expect((await move('/m5.txt', '/m5.html')).status).to.equal(204)
      expect((await http('PUT', '/m5.html', selecting('p'), '<p>y</p>')).status).to.equal(206)
      expect((await http('GET', '/m5.html')).text).to.equal(page('<p>y</p>'))
    })

    it('HTTP-20 a blob beyond the cap of documents cannot become one: 413', async () => {
      const small = await startServer({ site: { maxDocument: '64KiB' } })
      try {
        const ask = client(small.port)
        await put(small, '/rules.html', rulesPage(['*', 'PUT|MOVE', 'Allow', '/*']))
        for (const size of [40_000, 70_000, 400_000]) {
          const bytes = page(`<p>${'x'.repeat(size)}</p>`)
          expect((await ask('PUT', '/big.txt', {}, bytes)).status).to.be.oneOf([200, 201])
          const paths = ['/big.txt', '/big.html']
          if (size < 64 * 1024) {
            expect((await ask('MOVE', '/big.txt', { Destination: '/big.html' })).status).to.equal(204)
            expect((await ask('GET', '/big.html', selecting('p'))).status).to.equal(206)
          } else {
            const moved = () => ask('MOVE', '/big.txt', { Destination: '/big.html' })
            expect(failureOf(await leavesAlone(small, paths, moved)), String(size)).to.equal('413')
          }
        }
      } finally {
        await small.close()
      }
    })

    it('HTTP-181 a blob that breaks a limit of trees cannot become a document: 422', async () => {
      await http('PUT', '/deep.txt', {}, '<div>'.repeat(600))
      const answer = await leavesAlone(server, ['/deep.txt', '/deep.html'], () => move('/deep.txt', '/deep.html'))
      expect(failureOf(answer)).to.equal('422 InvalidFragment')
    })
  })
})
