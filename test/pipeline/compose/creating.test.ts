/** Routes, and documents that requests create, by the text of the rules. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { leavesAlone, selecting, textOf } from '../../http/write-checks.ts'
import { NS, page, rulesPage } from '../../support/content.ts'
import { composed, PREFIXES } from './composing.ts'
import { caseSite } from './site-of-one-case.ts'

const ALL = rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*'])

describe('Routes and creation, by the text of the rules', () => {
  const site = caseSite()
  async function fill(files: Record<string, string>, rules = ALL) {
    await site.fill({ '/rules.html': rules, ...files })
  }
  describe('routes and creation', () => {
    it('COMP-96 COMP-99 COMP-100 the example: a capture is a segment of the decoded path', async () => {
      await fill({ '/posts/:slug.html': composed('<h1 e:slug="request.params.slug"><p:stamp slug></p:stamp></h1>') })
      const answer = await site.send('GET', '/posts/hello%20world.html')
      expect(answer.text).to.contain('<h1>hello world</h1>')
      expect(answer.headers['route-parameters']).to.equal('slug=hello%20world')
      expect(answer.headers['cache-control']).to.match(/^(public, max-age=0, s-maxage=5|private, no-cache)$/)
      expect((await site.send('HEAD', '/posts/x.html')).headers['route-parameters']).to.equal('slug=x')
    })

    it('COMP-97 COMP-96 what wins: literal paths, then most literal segments, then the smaller path', async () => {
      await fill({
        '/a/:x.html': composed('<b>a</b>'),
        '/:d/b.html': composed('<b>d</b>'),
        '/a/b.txt': 'blob',
        '/c/:x/index.html': composed('<b>index</b>'),
        '/e/:x/f/:y.html': composed('<b p:template="text/liquid">{{ request.params.x }}-{{ request.params.y }}</b>'),
      })
      for (const [path, text] of [
        ['/a/b.html', 'd'],
        ['/a/z.html', 'a'],
        ['/q/b.html', 'd'],
        ['/c/7/', 'index'],
        ['/c/7/index.html', 'index'],
        ['/e/1/f/2.html', '1-2'],
      ] as const)
        expect((await site.send('GET', path)).text, path).to.contain(`<b>${text}</b>`)
      for (const path of ['/a/.html', '/e/1/g/', '/e//f/2.html', '/q/c.html', '/a/b/c.html'])
        expect((await site.send('GET', path)).status, path).to.equal(404)
      const slashless = await site.send('GET', '/c/7')
      expect([slashless.status, slashless.headers.location]).to.deep.equal([301, '/c/7/'])
    })

    it('COMP-101 nothing of a template is written through a concrete path', async () => {
      await fill({
        '/r/:id.html': composed('<b id="own">o</b><p:include selector="#notes" resource="/data.html"/>'),
        '/data.html': page('<ul id="notes"></ul>'),
      })
      await leavesAlone(site.server, ['/r/:id.html'], async () => {
        expect((await site.send('PUT', '/r/1.html', selecting('#own'), '<b id="own">n</b>')).status).to.equal(416)
        expect((await site.send('DELETE', '/r/1.html', selecting('#own'))).status).to.equal(416)
        expect((await site.send('POST', '/r/1.html', selecting('#none'), '<b></b>')).status).to.equal(416)
        expect((await site.send('POST', '/r/1.html', selecting('#notes'), '<li>1</li>')).status).to.equal(206)
        expect((await site.send('DELETE', '/r/1.html')).status).to.equal(404)
      })
      expect((await site.send('PUT', '/r/1.html', { 'Content-Type': 'text/html' }, page('literal'))).status).to.equal(
        201,
      )
      expect((await site.send('GET', '/r/1.html')).text).to.contain('literal')
      expect((await site.send('GET', '/r/2.html')).text).to.contain('<li>1</li>')
    })

    const NEW = `<!doctype html><html xmlns:p="${NS}/1.0" p:template="text/liquid"><head><title>{{ request.body.title }}</title>
<base href="/entries/{{ request.body.slug }}.html"></head><body><h1>{{ request.body.title }}</h1></body></html>`
    const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
    it('COMP-106 the example, word for word', async () => {
      await fill({ '/templates/new.html': NEW })
      const answer = await site.send('POST', '/templates/new.html', FORM, 'slug=hi&title=Hi+there')
      expect([answer.status, answer.headers.location, answer.text]).to.deep.equal([301, '/entries/hi.html', ''])
      expect(answer.headers['cache-control']).to.equal('no-store')
      expect((await site.send('GET', '/entries/hi.html')).text)
        .to.contain('<h1>Hi there</h1>')
        .and.not.contain('<base')
      expect((await site.send('GET', '/templates/new.html')).status, 'the template itself').to.equal(200)
    })

    it('COMP-106 COMP-107 a raw body, the first base that has an address, directives of every kind', async () => {
      await fill({
        '/new.html': `<!doctype html><html ${PREFIXES}><head><base target="_top"><base href="made/one.html"></head><body><p:include selector="#n" resource="/n.html"/><pre p:template="text/liquid">{{ request.body }}</pre><ul p:paginate="1"><li>1</li><li>2</li></ul></body></html>`,
        '/n.html': page('<b id="n">n</b>'),
      })
      const answer = await site.send('POST', '/new.html', { 'Content-Type': 'text/plain' }, 'raw <b>')
      expect([answer.status, answer.headers.location]).to.deep.equal([301, '/made/one.html'])
      const text = await textOf(site.server, '/made/one.html')
      expect(text).to.contain('<b id="n">n</b><pre>raw &lt;b&gt;</pre><ul><li>1</li><li>2</li></ul>')
      expect(text).to.contain('<base target="_top">').and.contain(`xmlns:p="${NS}/1.0"`).and.not.contain('made/one')
    })

    it('COMP-108 generated names', async () => {
      await fill({})
      const seen = new Set<string>()
      for (const [type, end] of [
        ['text/html', 'html'],
        ['image/png', 'png'],
        ['application/json', 'json'],
        ['application/x-unknown', 'bin'],
      ] as const) {
        const answer = await site.send('POST', '/inbox/', { 'Content-Type': type }, '<p>x</p>')
        expect(answer.status, type).to.equal(201)
        expect(answer.headers.location).to.match(new RegExp(`^/inbox/[a-z0-9]{12,}\\.${end}$`))
        expect(answer.headers.etag).to.match(/^"/)
        seen.add(answer.headers.location ?? '')
        expect((await site.send('GET', answer.headers.location ?? '')).status).to.equal(200)
      }
      expect(seen.size).to.equal(4)
    })
  })
})
