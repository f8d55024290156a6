/** Writes of actions, case by case (REA-60 to REA-66). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { type Case, caseByCase, IMPORTS, shows } from './cases.ts'
import { javascript, meta, NS, page, processor, trigger } from './site.ts'

const LOAN = 'https://library.example/Loan'
const property = (name: string, more = '') =>
  `<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('name', name)}${more}</div>`
const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema">${meta('type', LOAN)}${property('note', meta('cardinality', '0..1'))}${property('number', meta('unique', 'true'))}</div>`,
)

describe('Writes of actions, case by case', () => {
  const server = caseByCase({ '/schema.html': SCHEMA })
  const { add, ask } = server
  const S = `${IMPORTS} @schema Loan url("${LOAN}"); `
  const act = (at: string, code: string) => trigger({ resource: `${at}/go`, action: S + code })
  const get = async (path: string) => (await ask('GET', path)).text
  const cases: Case[] = [
    [
      'REA-60 a constructed element becomes a document',
      at => act(at, `Site.PUT(new p#x.y { "a<b" }, "${at}/m.html")`),
      async at => {
        expect((await ask('GET', `${at}/go`)).status).to.equal(404)
        expect(await get(`${at}/m.html`)).to.include(
          '<p class="y" id="x">a&lt;b</p>'.replace('class="y" id="x"', 'id="x" class="y"'),
        )
      },
    ],
    [
      'REA-60 PUT returns null',
      at =>
        act(
          at,
          `Context.r = Site.PUT(new p { "a" }, "${at}/m.html"); throw new HTTPResponse { status: 299, body: String(Context.r == null) }`,
        ),
      async at => expect((await ask('GET', `${at}/go`)).text).to.equal('true'),
    ],
    [
      'REA-60 the TypeError for a text can be caught',
      at =>
        act(
          at,
          `try { Site.PUT("text", "${at}/m.html") } catch (e) { throw new HTTPResponse { status: 299, body: e.type } }`,
        ),
      async at => expect((await ask('GET', `${at}/go`)).text).to.equal('TypeError'),
    ],
    [
      'REA-60 at the path of a directory its index is stored',
      at => act(at, `Site.PUT(new p { "idx" }, "${at}/sub/")`),
      async at => {
        await ask('GET', `${at}/go`)
        expect(await get(`${at}/sub/index.html`)).to.include('idx')
      },
    ],
    [
      'REA-60 a document is replaced',
      at => act(at, `Site.PUT(new p { "new" }, "${at}/m.html")`),
      async at => {
        await ask('GET', `${at}/go`)
        expect(await get(`${at}/m.html`))
          .to.include('new')
          .and.not.to.include('old')
      },
      { '/m.html': page('old') },
    ],
    [
      'REA-62 COMP-147 an element in place of a body holds what others paste from Word',
      at =>
        trigger({
          resource: `${at}/m.html`,
          method: 'POST',
          action: `${S}let p = new p; p.attr("x-on:click", "1"); p.setHTML(Context.request.body); Site.PUT(p, Context.request.path)`,
        }),
      async at => {
        const text = '<p class="MsoNormal">pasted<o:p></o:p></p>'
        const { status } = await ask('POST', `${at}/m.html`, { Range: 'selector=main' }, text)
        expect(status).to.equal(206)
        expect(await get(`${at}/m.html`)).to.include('pasted<o:p')
      },
      { '/m.html': page('<main></main>') },
    ],
    [
      'REA-61 the main request sees what its trigger wrote',
      at =>
        trigger({
          resource: `${at}/m.html`,
          method: 'GET',
          action: `${S}Site.PUT(new p { "fresh" }, Context.request.path)`,
        }),
      async at => expect(await get(`${at}/m.html`)).to.include('fresh'),
    ],
    [
      'REA-61 a write stands when the main request fails',
      at =>
        trigger({ resource: `${at}/x.html`, method: 'PUT', action: `${S}Site.PUT(new p { "log" }, "${at}/log.html")` }),
      async at => {
        expect((await ask('PUT', `${at}/x.html`, { 'If-Match': '"no"' }, 'x')).status).to.equal(412)
        expect(await get(`${at}/log.html`)).to.include('log')
      },
    ],
    [
      'REA-61 processors may write',
      at =>
        processor({
          resource: `${at}/go`,
          action: `${S}Site.PUT(new p { String(Context.response.status) }, "${at}/m.html")`,
        }),
      async at => {
        expect((await ask('GET', `${at}/go`)).status).to.equal(404)
        expect(await get(`${at}/m.html`)).to.include('<p>404</p>')
      },
    ],
    [
      'REA-61, REA-64 the refusal of a schema can be caught and has its status',
      at =>
        act(
          at,
          `let l = new Loan { number: "1" }; Site.PUT(new div { new Loan { note: "a" } }, "${at}/ok.html"); try { Site.PUT(Element.fromString("<div itemscope itemtype='${LOAN}'><b itemprop='note'>1</b><b itemprop='note'>2</b></div>"), "${at}/m.html") } catch (e) { throw new HTTPResponse { status: 299, body: e.message } }`,
        ),
      async at => {
        const r = await ask('GET', `${at}/go`)
        expect(r.text).to.include('422')
        expect((await ask('GET', `${at}/m.html`)).status).to.equal(404)
      },
    ],
    [
      'REA-61 each write is its own transaction',
      at => act(at, `Site.PUT(new p { "1" }, "${at}/1.html"); Site.PUT(new p { "2" }, "/.platform/x.html")`),
      async at => {
        expect((await ask('GET', `${at}/go`)).status).to.equal(500)
        expect((await ask('GET', `${at}/1.html`)).status).to.equal(200)
      },
    ],
    [
      'REA-62 the query is no part of the own path',
      at =>
        trigger({
          resource: `${at}/b.html`,
          method: 'PUT',
          action: `${S}Site.PUT(new p { "in:" + Context.request.body }, Context.request.path)`,
        }),
      async at => {
        expect((await ask('PUT', `${at}/b.html?x=1`, {}, 'z')).status).to.equal(201)
        expect(await get(`${at}/b.html`)).to.include('<p>in:z</p>')
      },
    ],
    [
      'REA-62 If-None-Match stays in effect',
      at =>
        trigger({
          resource: `${at}/b.html`,
          method: 'PUT',
          action: `${S}Site.PUT(new p { "n" }, Context.request.path)`,
        }),
      async at => {
        expect((await ask('PUT', `${at}/b.html`, { 'If-None-Match': '*' }, 'z')).status).to.equal(412)
        expect(await get(`${at}/b.html`)).to.equal(page('old'))
      },
      { '/b.html': page('old') },
    ],
    [
      'REA-62 the element of a PUT is replaced',
      at =>
        trigger({
          resource: `${at}/b.html`,
          method: 'PUT',
          action: `${S}Site.PUT(new p#x { "got " + Context.request.body }, Context.request.path)`,
        }),
      async at => {
        const r = await ask('PUT', `${at}/b.html`, { Range: 'selector=#x' }, '<p>raw</p>')
        expect(r.status).to.equal(206)
        expect(await get(`${at}/b.html`))
          .to.include('<p id="x">got &lt;p&gt;raw&lt;/p&gt;</p>')
          .and.to.include('keep')
      },
      { '/b.html': page('<i>keep</i><p id="x">a</p>') },
    ],
    [
      'REA-62 the element of a POST is replaced',
      at =>
        trigger({
          resource: `${at}/b.html`,
          method: 'POST',
          action: `${S}Site.PUT(new li { "item" }, Context.request.path)`,
        }),
      async at => {
        expect((await ask('POST', `${at}/b.html`, { Range: 'selector=ul' }, 'text')).status).to.equal(206)
        expect(await get(`${at}/b.html`)).to.include('<ul><li>item</li></ul>')
      },
      { '/b.html': page('<ul></ul>') },
    ],
    [
      'REA-62, REA-40 rawBody stays, body is new, in processors, too',
      at =>
        trigger({
          resource: `${at}/b.html`,
          method: 'PUT',
          action: `${S}Site.PUT(new p { "n" }, Context.request.path)`,
        }) +
        processor({
          resource: `${at}/b.html`,
          method: 'PUT',
          action: shows('Context.request.rawBody + "|" + String(Context.request.body.contains("<p>n</p>"))'),
        }),
      async at => expect((await ask('PUT', `${at}/b.html`, {}, 'raw')).text).to.equal('raw|true'),
    ],
    [
      'REA-62 of two actions of one trigger the last writer wins',
      at =>
        trigger({
          resource: `${at}/b.html`,
          method: 'PUT',
          action: [
            `${S}Site.PUT(new p { "1" }, Context.request.path)`,
            `${S}Site.PUT(new p { "2" }, Context.request.path)`,
          ],
        }),
      async at => {
        await ask('PUT', `${at}/b.html`, {}, 'raw')
        expect(await get(`${at}/b.html`))
          .to.include('<p>2</p>')
          .and.not.to.include('<p>1</p>')
      },
    ],
    [
      'REA-62 the body of a blob is replaced',
      at =>
        trigger({
          resource: `${at}/b.txt`,
          method: 'PUT',
          action: `${S}Site.PUT(new p { "1" }, Context.request.path)`,
        }),
      async at => {
        const r = await ask('PUT', `${at}/b.txt`, { 'Content-Type': 'text/plain' }, 'raw')
        expect(r.status).to.equal(201)
        expect(await get(`${at}/b.txt`)).to.include('<p>1</p>')
      },
    ],
    [
      'REA-60 REA-62 COMP-145 it is HTML, whatever was sent: what a visitor has there as text is no directive of XML, and UTF-8',
      at =>
        trigger({
          resource: `${at}/made/*`,
          method: ['PUT', 'POST'],
          action: `${S}Site.PUT(new html { new body { Document.parse(Context.request.body) } }, Context.request.path)`,
        }),
      async at => {
        const include = `<p:include xmlns:p="${NS}/1.0" selector="#a" resource="/x.xml"/>`
        for (const type of ['application/xml', 'text/html; charset=iso-2022-jp', 'image/svg+xml', 'text/plain'])
          for (const [method, name] of [
            ['PUT', 'a'],
            ['PUT', 'a.xml'],
            ['POST', ''],
          ] as const) {
            const fields = { 'Content-Type': type }
            const made = await ask(method, `${at}/made/${name}`, fields, `<i><style>${include}</style></i>`)
            const { location } = made.headers
            const { headers, text } = await ask('GET', method === 'POST' ? String(location) : `${at}/made/${name}`)
            expect(headers['content-type'], `${type} ${name}`).to.equal('text/html; charset=utf-8')
            expect(text, `${type} ${name}`).to.include(include)
            if (method === 'POST') expect(location).to.match(/\.html$/)
          }
      },
    ],
    [
      'REA-62 COMP-106 nor is it a form then',
      at =>
        trigger({
          resource: `${at}/new.html`,
          method: 'POST',
          action: `${S}Site.PUT(new p { Context.request.rawBody }, Context.request.path)`,
        }),
      async at => {
        const fields = { 'Content-Type': 'multipart/form-data; boundary=b' }
        const part = '\r\n--b\r\nContent-Disposition: form-data; name="slug"\r\n\r\nx\r\n--b--\r\n'
        const made = await ask('POST', `${at}/new.html`, fields, part)
        expect(made.headers.location).to.equal('/none.html')
      },
      {
        '/new.html': `<!DOCTYPE html><html xmlns:p="${NS}/1.0" p:template="text/liquid"><head><base href="/{{ request.body.slug | default: 'none' }}.html"></head></html>`,
      },
    ],
    [
      'REA-62 the own path of a directory is its index',
      at =>
        trigger({
          resource: `${at}/sub/`,
          method: 'PUT',
          action: `${S}Site.PUT(new p { "idx" }, Context.request.path)`,
        }),
      async at => {
        expect((await ask('PUT', `${at}/sub/`, {}, 'raw')).status).to.equal(201)
        expect(await get(`${at}/sub/index.html`))
          .to.include('<p>idx</p>')
          .and.not.to.include('raw')
      },
    ],
    [
      'REA-62 DELETE of the own path is an ordinary write',
      at => trigger({ resource: `${at}/b.html`, method: 'PUT', action: `${S}Site.DELETE(Context.request.path)` }),
      async at => {
        expect((await ask('PUT', `${at}/b.html`, {}, page('n'))).status).to.equal(201)
      },
      { '/b.html': page('old') },
    ],
    [
      'REA-63, REA-64 DELETE of nothing is an error with 404',
      at =>
        act(
          at,
          `try { Site.DELETE("${at}/none.html") } catch (e) { throw new HTTPResponse { status: 299, body: e.message } }`,
        ),
      async at => expect((await ask('GET', `${at}/go`)).text).to.include('404'),
    ],
    [
      'REA-63 DELETE of a list is a TypeError',
      at => act(at, `try { Site.DELETE([]) } catch (e) { throw new HTTPResponse { status: 299, body: e.type } }`),
      async at => expect((await ask('GET', `${at}/go`)).text).to.equal('TypeError'),
    ],
    [
      'REA-64 a refusal that nobody catches is 500',
      at => act(at, `Site.DELETE("${at}/none.html")`),
      async at => {
        const r = await ask('GET', `${at}/go`)
        expect(r.status).to.equal(500)
        expect(r.text).to.include('404')
      },
    ],
    [
      'REA-64 a reserved path is refused with 403',
      at =>
        act(
          at,
          `try { Site.PUT(new p, "/.platform/a.html") } catch (e) { throw new HTTPResponse { status: 299, body: e.message } }`,
        ),
      async at => expect((await ask('GET', `${at}/go`)).text).to.include('403'),
    ],
    ...['._m.html', '.DS_Store', '~$m.html'].map(
      (name): Case => [
        `DAV-70 REA-64 ${name}, which desktop systems keep for themselves, is refused with 404`,
        at => act(at, `Site.PUT(new p, "${at}/m.html"); Site.PUT(new p, "${at}/${name}")`),
        async at => {
          const r = await ask('GET', `${at}/go`)
          expect([r.status, r.text.includes('404')]).to.deep.equal([500, true])
          expect(await server.site.site.find(`${at}/m.html`)).not.to.equal(undefined)
          expect(await server.site.site.find(`${at}/${name}`)).to.equal(undefined)
        },
      ],
    ),
    [
      'REA-65 PUT is a ReferenceError in JavaScript',
      at =>
        trigger({
          resource: `${at}/go`,
          action: javascript(
            'action',
            `export default () => { try { PUT("x", "/y") } catch (e) { throw { itemtype: "${NS}/HTTPResponse", status: 299, body: e.name } } }`,
          ),
        }),
      async at => expect((await ask('GET', `${at}/go`)).text).to.equal('ReferenceError'),
    ],
  ]
  for (const each of cases) add(...each)
})
