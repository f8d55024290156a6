/** Writes of actions, and bodies that triggers replace. */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import type { Fault } from '../../../pipeline/fault.ts'
import type { ElementValue } from '../../../pipeline/language/values.ts'
import { findingElements } from '../../../pipeline/model/items.ts'
import { standing } from '../../../pipeline/react/stored-element.ts'
import type { ElementNode } from '../../../pipeline/tree/nodes.ts'
import { pinTree } from '../../../pipeline/tree/pins.ts'
import { inTurns } from '../../../pipeline/tree/steps.ts'
import { put, ruleMarkup } from '../../support/content.ts'
import {
  answering,
  NS,
  page,
  processor,
  type ReactingSite,
  type ReactionFields,
  reactingSite,
  trigger,
} from './site.ts'

const LOAN = 'https://library.example/Loan'
const property = (name: string, more = '') =>
  `<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="${name}">${more}</div>`
const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${LOAN}">${property('note', '<meta itemprop="cardinality" content="1">')}${property('number', '<meta itemprop="unique" content="true"><meta itemprop="@key" content="true">')}${property('kind', '<meta itemprop="default" content="book">')}</div>`,
)
const IMPORTS = `@schema Site url("${NS}/1.0"); @schema Loan url("${LOAN}"); @schema HTTPResponse url("${NS}/HTTPResponse");`

let site: ReactingSite
afterEach(() => site?.close())

const withTriggers = (...fields: ReactionFields[]) =>
  reactingSite({
    '/schema.html': SCHEMA,
    '/t.html': page(
      fields
        .map(each =>
          trigger({ ...each, action: typeof each.action === 'string' ? IMPORTS + each.action : (each.action ?? []) }),
        )
        .join(''),
    ),
  })
const stored = async (path: string) => (await site.ask('GET', path)).text

describe('Writes of actions', () => {
  it('REA-60, MOD-46 an instance becomes a document, with defaults and its key as id', async () => {
    site = await withTriggers({
      resource: '/go',
      action: 'Site.PUT(new Loan { note: "n", number: "L1" }, "/made.html")',
    })
    expect((await site.ask('GET', '/go')).status).to.equal(404)
    const text = await stored('/made.html')
    expect(text)
      .to.match(/^<!DOCTYPE html>/)
      .and.to.include(`itemtype="${LOAN}"`)
      .and.to.include('id="L1"')
    expect(text).to.include('book')
  })

  it('MOD-45, MOD-46 a key that an instance lacks is made with it, and is its id', async () => {
    site = await withTriggers({ resource: '/go', action: 'Site.PUT(new Loan { note: "n" }, "/made.html")' })
    await site.ask('GET', '/go')
    const text = await stored('/made.html')
    const [, id, key] = / id="(.*?)".*itemprop="number" content="(.*?)"/.exec(text) ?? []
    expect(id, text).to.match(/^[a-z][a-z0-9]{7}$/)
    expect(key).to.equal(id)
  })

  it('REA-60 an html element is the document itself, a stored element is copied', async () => {
    site = await withTriggers({
      resource: '/go',
      action: 'Site.PUT(Site.GET("/source.html"), "/copy.html"); Site.PUT($' + '{#p1}.first(), "/part.html")',
    })
    await put(site, '/source.html', page('<p id="p1">one</p>'))
    await site.ask('GET', '/go')
    expect(await stored('/copy.html'))
      .to.include('<title>t</title>')
      .and.to.include('<p id="p1">one</p>')
    expect(await stored('/part.html')).to.include('<body>\n<p id="p1">one</p>\n</body>')
  })

  it('REA-60 anything else is a TypeError', async () => {
    site = await withTriggers({ resource: '/go', action: 'Site.PUT("text", "/made.html")' })
    const reply = await site.ask('GET', '/go')
    expect([reply.status, reply.text.includes('BindingFailure')]).to.deep.equal([500, true])
  })

  it('REA-61 is authorized for the requester; REA-64 a refusal is an error with its status', async () => {
    const rule = (action: string, method: string, resource: string) =>
      `<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="method" content="${method}"><meta itemprop="resource" content="${resource}"><meta itemprop="action" content="${action}"></div>`
    site = await withTriggers(
      { resource: '/go', action: 'Site.PUT(new Loan { note: "n" }, "/closed/x.html")' },
      {
        resource: '/caught',
        action: `@schema HTTPResponse url("${NS}/HTTPResponse"); try { Site.PUT(new Loan { note: "n" }, "/closed/x.html") } catch (e) { throw new HTTPResponse { status: 409, body: e.message } }`,
      },
      {
        resource: '/invalid',
        action:
          'Site.PUT(new Loan { note: "n", number: "same" }, "/i1.html"); Site.PUT(new Loan { note: "n", number: "same" }, "/i2.html")',
      },
      { resource: '/reserved', action: 'Site.PUT(new Loan { note: "n" }, "/.platform/x.html")' },
    )
    await put(site, '/rules.html', page(rule('Allow', '*', '*') + rule('Deny', 'PUT', '/closed/*')))
    expect((await site.ask('GET', '/go')).text).to.include('401')
    expect((await site.ask('GET', '/caught')).text).to.include('PUT “/closed/x.html” was refused with 401')
    expect(await site.site.find('/closed/x.html')).to.equal(undefined)
    const invalid = await site.ask('GET', '/invalid')
    expect([invalid.status, invalid.text.includes('422')]).to.deep.equal([500, true])
    expect(await site.site.find('/i1.html')).not.to.equal(undefined)
    expect((await site.ask('GET', '/reserved')).text).to.include('403')
  })

  it('REA-54, REA-61 is not rolled back by a later throw or error', async () => {
    site = await withTriggers(
      { resource: '/throw', action: [`${IMPORTS}Site.PUT(new Loan { note: "n" }, "/a.html")`, answering(418, 'x')] },
      { resource: '/error', action: [`${IMPORTS}Site.PUT(new Loan { note: "n" }, "/b.html")`, '1 / 0'] },
    )
    expect((await site.ask('GET', '/throw')).status).to.equal(418)
    expect((await site.ask('GET', '/error')).status).to.equal(500)
    for (const path of ['/a.html', '/b.html']) expect(await site.site.find(path), path).not.to.equal(undefined)
  })

  it('REA-61 its event reaches the requester’s own stream, too', async () => {
    site = await withTriggers({ resource: '/go', action: 'Site.PUT(new Loan { note: "n" }, "/made.html")' })
    await put(site, '/made.html', page('before'))
    const first = await site.ask('GET', '/made.html')
    const cookie = first.headers
      .getSetCookie()
      .map(each => each.split(';')[0])
      .join('; ')
    const ended = new AbortController()
    const stream = await fetch(`${site.url}/made.html`, {
      headers: { Accept: 'text/event-stream', Cookie: cookie },
      signal: ended.signal,
    })
    await site.ask('GET', '/go', { headers: { Cookie: cookie } })
    const reader = stream.body?.getReader()
    let seen = ''
    while (reader && !seen.includes('event: mutation'))
      seen += Buffer.from((await reader.read()).value ?? []).toString()
    expect(seen).to.include('/made.html')
    ended.abort()
  })

  it('REA-62 a trigger replaces the body of its own request; the last writer wins; later triggers see it', async () => {
    site = await withTriggers(
      {
        resource: '/loans/*',
        method: 'PUT',
        action: 'Site.PUT(new Loan { note: Context.request.body }, Context.request.path)',
      },
      {
        resource: '/loans/*',
        method: 'PUT',
        action:
          'Site.PUT(new Loan { note: String(Context.request.body.contains("itemtype")) + Context.request.rawBody }, Context.request.path)',
      },
    )
    const reply = await site.ask('PUT', '/loans/9.html', { body: 'raw', headers: { 'If-None-Match': '*' } })
    expect(reply.status).to.equal(201)
    expect(await stored('/loans/9.html'))
      .to.include('trueraw')
      .and.to.include(LOAN)
    expect(
      (await site.ask('PUT', '/loans/9.html', { body: 'raw', headers: { 'If-None-Match': '*' } })).status,
    ).to.equal(412)
  })

  it('REA-62 with a selector the new body is the element; a throw or an error discards it', async () => {
    site = await withTriggers(
      {
        resource: '/list.html',
        method: 'POST',
        action: 'Site.PUT(new Loan { note: Context.request.body }, "/list.html")',
      },
      {
        resource: '/list.html',
        method: 'POST',
        when: 'Context.request.query.stop == "1"',
        action: answering(418, 'x'),
      },
    )
    await put(site, '/list.html', page('<main></main>'))
    const post = (query: string) =>
      site.ask('POST', `/list.html${query}`, { headers: { Range: 'selector=main' }, body: 'plain' })
    expect((await post('?stop=1')).status).to.equal(418)
    expect(await stored('/list.html')).to.equal(page('<main></main>'))
    expect((await post('')).status).to.equal(206)
    expect(await stored('/list.html'))
      .to.include('<main>')
      .and.to.include('plain')
      .and.to.include(LOAN)
  })

  it('REA-62 with another method, or in a processor, it is an ordinary write', async () => {
    site = await reactingSite({
      '/schema.html': SCHEMA,
      '/t.html': page(
        trigger({
          resource: '/get.html',
          method: 'GET',
          action: `${IMPORTS}Site.PUT(new Loan { note: "t" }, "/get.html")`,
        }) +
          processor({
            resource: '/put.html',
            method: 'PUT',
            action: `${IMPORTS}Site.PUT(new Loan { note: "p" }, "/put.html")`,
          }),
      ),
    })
    expect((await site.ask('GET', '/get.html')).text).to.match(/[>"]t[<"]/)
    expect((await site.ask('PUT', '/put.html', { body: page('mine') })).status).to.equal(201)
    expect(await stored('/put.html')).to.match(/[>"]p[<"]/)
  })

  it('REA-63 deletes a document, or an element of one', async () => {
    site = await withTriggers({
      resource: '/go',
      action: 'Site.DELETE("/gone.html"); Site.DELETE($' + '{#p2}.first())',
    })
    await put(site, '/gone.html', page('x'))
    await put(site, '/stays.html', page('<p id="p1">1</p><p id="p2">2</p>'))
    expect((await site.ask('GET', '/go')).status).to.equal(404)
    expect(await site.site.find('/gone.html')).to.equal(undefined)
    expect(await stored('/stays.html'))
      .to.include('p1')
      .and.not.to.include('p2')
    const again = await site.ask('GET', '/go')
    expect([again.status, again.text.includes('404')]).to.deep.equal([500, true])
  })

  it('REA-63 the element that was found is deleted, wherever earlier deletions have left it', async () => {
    const items = (names: string) => [...names].map(name => `<li>${name}</li>`).join('\n')
    const list = (names: string) => page(`<p></p><ul>${items(names)}</ul>`)
    site = await withTriggers({
      resource: '/go',
      action: `let all = $${'{li}'}; Site.DELETE(all[1]); Site.DELETE(all[2]); Site.DELETE(all[0]); Site.DELETE(all[5])`,
    })
    const left = async (names: string) => {
      await put(site, '/list.html', list(names))
      const { status } = await site.ask('GET', '/go')
      return [status, [...((await stored('/list.html')) ?? '').matchAll(/<li>(.)/g)].map(([, name]) => name).join('')]
    }
    expect(await left('abcdefg')).to.deep.equal([404, 'deg'])
    expect(await left('aaaaaab')).to.deep.equal([404, 'aab'])
  })

  it('REA-63 an element between two deletions is found where no other is written alike', async () => {
    site = await withTriggers({
      resource: '/go',
      action: `let all = $${'{li}'}; Site.DELETE(all[1]); Site.DELETE(all[3]); Site.DELETE(all[2])`,
    })
    await put(site, '/list.html', page(`<ul>${[...'abcde'].map(name => `<li>${name}`).join('')}</ul>`))
    expect((await site.ask('GET', '/go')).status).to.equal(404)
    expect(await stored('/list.html')).to.include('<ul><li>a<li>e</ul>')
  })

  it('REA-63, REA-64 an element that is gone, or that stands between two changes and beside one that is alike, is refused, and nothing else goes', async () => {
    const refused = (number: number) =>
      `try { Site.DELETE(all[${number}]) } catch (e) { Context.told = String(Context.told ?? "") + " " + e.message }`
    site = await withTriggers({
      resource: '/go',
      action: `let all = $${'{li}'}; Site.DELETE(all[1]); Site.DELETE(all[3]); ${refused(1)}; ${refused(2)}; throw new HTTPResponse { status: 299, body: Context.told }`,
    })
    await put(site, '/list.html', page(`<ul>${[...'abcdec'].map(name => `<li>${name}`).join('')}</ul>`))
    const { status, text } = await site.ask('GET', '/go')
    expect(status, text).to.equal(299)
    expect(text).to.match(/ with 404.* with 412/)
    expect(await stored('/list.html')).to.include('<ul><li>a<li>c<li>e<li>c</ul>')
  })

  it('REA-63 of elements that are alike none is deleted after others have deleted one', async () => {
    site = await reactingSite({})
    const { site: served } = site
    const deletingOthers = async (markup: string, number: number, by: readonly number[] = []) => {
      await put(site, '/list.html', page(markup))
      const file = await served.findParsed('/list.html')
      if (!file?.isDocument) throw new Error('no document')
      const document = served.tree(file)
      const release = pinTree(document)
      const isItem = ({ tagName }: ElementNode) => tagName === 'li'
      const all = await inTurns(findingElements(document.root.childNodes, isItem), 1)
      const value = (at: number) => ({ node: all[at], source: { path: '/list.html', document } }) as ElementValue
      const headers = { Range: `selector=li:nth-of-type(${number})` }
      expect((await site.ask('DELETE', '/list.html', { headers })).status).to.equal(204)
      const found = standing(served, value(1), by.map(value))
      return found
        .then(
          ({ expected }) => expected,
          (error: Fault) => error.status,
        )
        .finally(release)
    }
    expect(await deletingOthers('<ul><li>A</li><li>A</li></ul>', 2)).to.equal(412)
    expect(await deletingOthers('<ul><li>A</li>x<li>A</li>y<li>B</li></ul>', 2)).to.equal(412)
    expect(await deletingOthers('<ul><li>A</li><li>A</li></ul>', 2, [0])).to.equal('<li>A</li>')
    expect(await deletingOthers('<ul><li>A</li><li>A</li><li>B</li></ul>', 3)).to.equal('<li>A</li>')
    expect(await deletingOthers('<ul><li>B</li><li>A</li></ul>', 1)).to.equal('<li>A</li>')
  })

  it('REA-63 an element beside one that is alike is deleted after the code has deleted what held the other', async () => {
    site = await withTriggers({
      resource: '/go',
      action: `let all = $${'{li}'}; let lists = $${'{ul}'}; Site.DELETE(lists[0]); Site.DELETE(all[1]); Site.DELETE(all[2])`,
    })
    const list = '<ul><li>a</li></ul>'
    await put(site, '/list.html', page(`${list}\n${list}\n${list}`))
    expect((await site.ask('GET', '/go')).status).to.equal(404)
    expect(await stored('/list.html')).to.match(/<body>\s*<ul><\/ul>\n<ul><\/ul>/)
  })

  it('REA-64 whoever may delete nothing in a document is not told whether an element is still there', async () => {
    site = await withTriggers({
      resource: '/go',
      action: `let all = $${'{li}'}; Site.PUT(new Loan { note: "n" }, "/list.html"); Site.DELETE(all[0])`,
    })
    await put(site, '/list.html', page('<ul><li>A</li></ul>'))
    const rule = (effect: string, method: string, path: string) => ruleMarkup(['*', method, effect, path])
    expect((await site.ask('GET', '/go')).text).to.include('412')
    await put(site, '/list.html', page('<ul><li>A</li></ul>'))
    await put(site, '/rules.html', page(rule('Allow', '*', '*') + rule('Deny', 'DELETE', '/list.html')))
    expect((await site.ask('GET', '/go')).text).to.include('401')
  })

  it('REA-63 only what is stored can be deleted', async () => {
    site = await withTriggers({
      resource: '/go',
      action:
        'try { Site.DELETE(new p) } catch (e) { throw new HTTPResponse { status: 299, body: e.type + ": " + e.message } }',
    })
    expect((await site.ask('GET', '/go')).text).to.equal('TypeError: only a stored element can be deleted')
  })

  it('REA-66 runs neither triggers nor processors', async () => {
    site = await withTriggers(
      { resource: '/go', action: 'Site.PUT(new Loan { note: "n" }, "/made.html")' },
      { resource: '/made.html', method: 'PUT', action: answering(418, 'x') },
    )
    expect((await site.ask('GET', '/go')).status).to.equal(404)
    expect(await site.site.find('/made.html')).not.to.equal(undefined)
    expect((await site.ask('PUT', '/made.html', { body: 'x' })).status).to.equal(418)
  })

  it('REA-95 32 writes are the most', async () => {
    const write = (count: number) =>
      `let n = 0; [${Array.from({ length: count }, (_, i) => i).join()}].map(i => Site.PUT(new Loan { note: "n" }, "/w" + String(i) + ".html"))`
    site = await withTriggers({ resource: '/32', action: write(32) }, { resource: '/33', action: write(33) })
    expect((await site.ask('GET', '/32')).status).to.equal(404)
    expect((await site.ask('GET', '/33')).status).to.equal(500)
  })

  it('gates and dynamic values cannot write', async () => {
    site = await withTriggers({
      resource: '/go',
      when: `${IMPORTS} Site.PUT(new Loan { note: "n" }, "/made.html")`,
      action: '1',
    })
    expect((await site.ask('GET', '/go')).status).to.equal(500)
    expect(await site.site.find('/made.html')).to.equal(undefined)
  })

  it('blobs that pass by a trigger are stored byte for byte', async () => {
    site = await withTriggers({ method: 'PUT', action: 'Context.seen = 1' })
    const large = Buffer.alloc(3_000_000, 7)
    expect((await site.ask('PUT', '/large.bin', { body: large })).status).to.equal(201)
    expect((await site.ask('GET', '/large.bin')).bytes.equals(large)).to.equal(true)
  })
})
