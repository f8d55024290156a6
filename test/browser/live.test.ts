import { expect } from 'chai'
import fc from 'fast-check'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
const PATH = '/live.html'
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"

const pageOf = (body: string, script = 'whole') =>
  `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>t</title><script type="module" src="/${script}.mjs"></script></head>\n<body>\n${body}\n</body></html>\n`

const BODY = `<h1 id="h">Title</h1>
<ul id="l"><li id="a">a</li><li id="b">b</li><li id="c">c</li></ul>
<table><tbody id="t"><tr id="r"><td>1</td></tr></tbody></table>
<svg id="s" viewBox="0 0 9 9"><circle r="1"></circle></svg>
<noscript><p>no script</p></noscript>`

const FORM = `<h1 id="h">Title</h1>
<p>intro</p>
<form id="form"><input id="words"> <textarea id="more"></textarea> <input type="checkbox" id="agree"></form>
<details id="d"><summary>More</summary><p>hidden</p></details>
<textarea id="box" rows="2">${'line\n'.repeat(20)}</textarea>
<ul id="l"><li id="a">a</li><li id="b">b</li></ul>
<p>outro</p>`

/** Scripts of pages: the whole page in step, or one list of it. */
const SCRIPTS = {
  '/whole.mjs': `import { live } from '/.platform/live.mjs'
window.told = []
window.stream = live({ changed: (elements, tag) => told.push([elements.map(element => element.id || element.localName), tag]) })`,
  '/part.mjs': `import { live } from '/.platform/live.mjs'
window.told = []
const root = document.querySelector('#l')
window.stream = live({ root, changed: elements => told.push(elements.map(element => element.id || element.localName)) })`,
}

/** Waits until an expression is true in a page; its policy keeps the browser from compiling text by itself. */
async function comes(page: Page, expression: string): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const late = performance.now() + 10_000
    const look = async () => {
      if (await (${expression})) return resolve()
      if (performance.now() > late) return reject(new Error(${JSON.stringify(expression)} + ' did not come about: ' + document.body.innerHTML))
      setTimeout(look, 5)
    }
    look()
  })`)
}

describe('live.mjs in a browser', function () {
  this.timeout(30_000)

  let server: TestServer
  let http: Client
  let browser: Browser
  const contexts: BrowserContext[] = []
  let complaints: string[] = []

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*']))
    for (const [path, script] of Object.entries(SCRIPTS)) await put(server, path, script)
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS })
  })
  after(async () => {
    await browser?.close()
    await server?.close()
  })
  beforeEach(() => put(server, PATH, pageOf(BODY)))
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
    const found = complaints
    complaints = []
    expect(found, 'errors on the console').to.deep.equal([])
  })

  /** A visitor with a session of their own, whose stream is open. */
  async function visit(path = PATH): Promise<Page> {
    const context = await browser.newContext({ baseURL: server.url })
    contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    page.on('pageerror', error => complaints.push(error.message))
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(path)
    await comes(page, 'window.stream?.token')
    return page
  }

  /** Waits until a page shows what is stored, but for white space: parsers move that of the end into the body. */
  async function inStep(page: Page, selector = 'body'): Promise<void> {
    const isSame = `(async () => {
      const answer = await fetch(location.pathname, { cache: 'no-store' })
      const stored = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const bare = element => {
        const copy = element.cloneNode(true)
        for (const own of copy.querySelectorAll('noscript, [data-own]')) own.remove()
        return copy.outerHTML.replace(/\\s+/g, '')
      }
      return bare(stored.querySelector('${selector}')) === bare(document.querySelector('${selector}'))
    })()`
    await comes(page, isSame)
  }

  /** Waits until the first look at the document after loading is over: from then on events are applied. */
  async function settled(page: Page): Promise<void> {
    await http('PUT', PATH, { Range: 'selector=#h' }, '<h1 id="h">Ready</h1>')
    await comes(page, "document.querySelector('#h').textContent === 'Ready'")
    await http('PUT', PATH, { Range: 'selector=#h' }, '<h1 id="h">Title</h1>')
    await comes(page, "document.querySelector('#h').textContent === 'Title'")
    await page.evaluate('told.length = 0')
  }

  const told = (page: Page) => page.evaluate('told') as Promise<unknown[]>
  const move = (source: string, anchor: string, placement: string) =>
    http('MOVE', PATH, {
      Range: `selector=${source}`,
      Destination: PATH,
      'Destination-Range': `selector=${anchor}; placement=${placement}`,
    })
  const post = (selector: string, placement: string, markup: string) =>
    http('POST', PATH, { Range: `selector=${selector}; placement=${placement}` }, markup)

  it('is served under the reserved prefix, cacheable, small, with the brand in its place', async () => {
    const answer = await http('GET', '/.platform/live.mjs')
    expect(answer.status).to.equal(200)
    expect(answer.headers['content-type']).to.equal('text/javascript; charset=utf-8')
    expect(answer.headers['cache-control']).to.equal('public, max-age=300')
    expect(answer.headers).not.to.have.property('set-cookie')
    expect(answer.body.length).to.be.below(4096)
    expect(answer.text).to.include('platform-connection').and.not.include('rand}')
    const head = await http('HEAD', '/.platform/live.mjs')
    expect([head.status, head.body.length, head.headers.etag]).to.deep.equal([200, 0, answer.headers.etag])
    const again = await http('GET', '/.platform/live.mjs', { 'If-None-Match': answer.headers.etag ?? '' })
    expect([again.status, again.headers.etag]).to.deep.equal([304, answer.headers.etag])
    expect((await http('PUT', '/.platform/live.mjs', {}, 'x')).status).to.equal(403)
    expect((await http('GET', '/.platform/live.js')).status).to.equal(404)
    expect((await http('GET', '/.other/live.mjs')).status).to.equal(404)
  })

  it('EVT-70 POST: every placement', async () => {
    const page = await visit()
    await settled(page)
    await post('#l', 'append', '<li id="end">end</li>')
    await post('#l', 'prepend', '<li id="start">start</li>')
    await post('#b', 'before', '<li id="b-before">before</li>')
    await post('#b', 'after', '<li id="b-after">after</li>')
    await comes(page, "document.querySelector('#b-after')")
    const ids = await page.evaluate("[...document.querySelectorAll('#l > li')].map(item => item.id)")
    expect(ids).to.deep.equal(['start', 'a', 'b-before', 'b', 'b-after', 'c', 'end'])
    await inStep(page)
    expect((await told(page)).map(each => (each as [string[]])[0])).to.deep.equal([
      ['end'],
      ['start'],
      ['b-before'],
      ['b-after'],
    ])
  })

  it('EVT-70 PUT, also of several nodes, of text, of rows and of graphics', async () => {
    const page = await visit()
    await settled(page)
    await http('PUT', PATH, { Range: 'selector=#a' }, '<li id="a1">1</li> and <li id="a2">2</li>')
    await post('#b', 'append', 'plain words')
    await http('PUT', PATH, { Range: 'selector=#r' }, '<tr id="r"><td>2</td></tr>')
    await post('#t', 'append', '<tr id="r3"><td>3</td></tr>')
    await post('#s', 'append', '<rect id="rect" width="2" height="2"></rect>')
    await comes(page, "document.querySelector('#rect')")
    expect(await page.evaluate("document.querySelector('#rect').namespaceURI")).to.equal('http://www.w3.org/2000/svg')
    expect(await page.evaluate("document.querySelector('#t').rows.length")).to.equal(2)
    await inStep(page)
  })

  it('EVT-70 DELETE and MOVE', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate("window.kept = document.querySelector('#c')")
    await http('DELETE', PATH, { Range: 'selector=#a' })
    await move('#c', '#b', 'before')
    await comes(page, "document.querySelector('#l > li:first-child').id === 'c'")
    expect(await page.evaluate("kept === document.querySelector('#c')"), 'the very element was moved').to.equal(true)
    await move('#b', '#h', 'append')
    await inStep(page)
  })

  it('EVT-23 EVT-70 a selector that only the server knows how to read', async () => {
    const page = await visit()
    await settled(page)
    await http('PUT', PATH, { Range: 'selector=li:not(:hover):not(#a)' }, '<li id="b">B</li>')
    await inStep(page)
    expect(await page.locator('#b').textContent()).to.equal('B')
  })

  it('EVT-70 a whole PUT: the document is fetched, and what is the same stays', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate("window.kept = document.querySelector('#b')")
    const body = BODY.replace('<li id="a">a</li>', '<li id="new">new</li>').replace('Title', 'Other title')
    await http('PUT', PATH, {}, pageOf(`${body}<p id="p">more</p>`))
    await comes(page, "document.querySelector('#p')")
    await inStep(page)
    expect(await page.evaluate("kept === document.querySelector('#b')")).to.equal(true)
    const [[elements]] = (await told(page)) as [[string[]]]
    expect(elements).to.have.members(['h', 'new', 'p'])
  })

  it('EVT-70 no match in the page: the document is fetched', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate("document.querySelector('#b').remove()")
    await http('PUT', PATH, { Range: 'selector=#b' }, '<li id="b">B</li>')
    await comes(page, "document.querySelector('#b')?.textContent === 'B'")
    await inStep(page)
  })

  it('catches up with what happened between loading and listening', async () => {
    const context = await browser.newContext({ baseURL: server.url })
    contexts.push(context)
    const page = await context.newPage()
    await page.route('**/whole.mjs', async route => {
      await post('#l', 'append', '<li id="early">early</li>')
      await route.continue()
    })
    await page.goto(PATH)
    await comes(page, "document.querySelector('#early')")
    await inStep(page)
  })

  it('EVT-55 what a page writes with its token does not come back; other windows of the session hear of it', async () => {
    const page = await visit()
    const second = await page.context().newPage()
    await second.goto(PATH)
    await comes(second, 'window.stream?.token')
    await settled(page)
    await settled(second)
    const write = `fetch(location.pathname, {
      method: 'POST',
      headers: { Range: 'selector=#l', 'Platform-Connection': stream.token, 'Content-Type': 'text/html' },
      body: '<li id="mine">mine</li>',
    }).then(answer => answer.status)`
    expect(await page.evaluate(write)).to.equal(206)
    await comes(second, "document.querySelector('#mine')")
    await http('DELETE', PATH, { Range: 'selector=#a' })
    await comes(page, "!document.querySelector('#a')")
    expect(await page.locator('#mine').count()).to.equal(0)
  })

  it('what the page adds, marked as its own, survives the fetching of the document', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate(`for (const item of document.querySelectorAll('#l > li')) {
      const button = document.createElement('button')
      button.dataset.own = ''
      item.append(button)
    }
    const note = document.createElement('li')
    note.dataset.own = ''
    document.querySelector('#l').prepend(note)`)
    await http('PUT', PATH, {}, pageOf(BODY.replace('<li id="b">b</li>', '<li id="x">x</li><li id="b">changed</li>')))
    await comes(page, "document.querySelector('#x')")
    await inStep(page)
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('#l > li')].map(item => item.querySelectorAll('button').length)",
      ),
    ).to.deep.equal([0, 1, 0, 1, 1])
  })

  /** A page in which somebody is typing: text selected in a field, a list scrolled, a disclosure opened. */
  async function typing(): Promise<Page> {
    await put(server, PATH, pageOf(FORM))
    const page = await visit()
    await settled(page)
    await page.locator('#words').fill('typed by hand')
    await page.locator('#more').fill('and more')
    await page.locator('#agree').check()
    await page.evaluate(`{
      document.body.className = 'scripted'
      document.querySelector('details').open = true
      document.querySelector('#box').scrollTop = 40
      const words = document.querySelector('#words')
      words.focus()
      words.setSelectionRange(2, 7)
      window.field = words
    }`)
    return page
  }

  const isTyping = `{
    const words = document.querySelector('#words')
    return words === field && words === document.activeElement && words.value === 'typed by hand' &&
      words.selectionStart === 2 && words.selectionEnd === 7 && document.querySelector('#more').value === 'and more' &&
      document.querySelector('#agree').checked && document.querySelector('details').open &&
      document.querySelector('#box').scrollTop === 40
  }`
  const stillTyping = (page: Page) => page.evaluate(`(() => ${isTyping})()`)

  it('who is typing goes on undisturbed when elements beside the form change, come, move and go', async () => {
    const page = await typing()
    await http('PUT', PATH, { Range: 'selector=#a' }, '<li id="a">A</li>')
    await post('#form', 'before', '<p id="new">new</p>')
    await post('#form', 'prepend', '<p id="inside">inside</p>')
    await http('DELETE', PATH, { Range: 'selector=#b' })
    await move('#h', '#form', 'after')
    await comes(page, "document.querySelector('#form + #h')")
    expect(await stillTyping(page)).to.equal(true)
    await move('#form', '#h', 'after')
    await comes(page, "document.querySelector('#h + #form')")
    expect(await page.evaluate("document.querySelector('#words').value")).to.equal('typed by hand')
    expect(await page.evaluate('field === document.activeElement')).to.equal(true)
  })

  it('who is typing goes on undisturbed when the whole document is saved, on the site or on the mount', async () => {
    const page = await typing()
    const versions = [
      FORM.replace('<p>intro</p>', ''),
      FORM.replace('<p>intro</p>', '<p>one</p><p>two</p>').replace('<h1 id="h">', '<h1 id="h" class="grand">'),
      FORM.replace('<li id="b">b</li>', '').replace('id="form"', 'id="form" class="wide"'),
      FORM.replace('<p>intro</p>', '<hr>').replace('<p>outro</p>', ''),
      FORM,
    ]
    const { mountUrl, user, password } = server
    const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    for (const [i, version] of versions.entries()) {
      const body = pageOf(version.replace('Title', `Title ${i}`))
      if (i % 2 === 0) await http('PUT', PATH, {}, body)
      else await fetch(`${mountUrl}${PATH}`, { method: 'PUT', headers: { Authorization }, body })
      await comes(page, `document.querySelector('#h').textContent === 'Title ${i}'`)
      await comes(page, `document.querySelector('#form').className === '${i === 2 ? 'wide' : ''}'`)
      expect(await stillTyping(page), `version ${i}`).to.equal(true)
    }
  })

  it('a part of the page: changes there are applied, those elsewhere ignored, those around it fetched', async () => {
    await put(server, PATH, pageOf(BODY, 'part'))
    const page = await visit()
    await http('PUT', PATH, { Range: 'selector=#a' }, '<li id="a">A</li>')
    await comes(page, "document.querySelector('#a').textContent === 'A'")
    let fetched = 0
    page.on('request', request => {
      if (new URL(request.url()).pathname === PATH && request.resourceType() === 'fetch') fetched++
    })
    await http('PUT', PATH, { Range: 'selector=#b' }, '<li id="b">B</li>')
    await comes(page, "document.querySelector('#b').textContent === 'B'")
    const before = fetched
    await http('PUT', PATH, { Range: 'selector=#h' }, '<h1 id="h">Changed</h1>')
    await post('#l', 'append', '<li id="d">d</li>')
    await comes(page, "document.querySelector('#d')")
    expect(fetched, 'nothing was fetched for the title').to.equal(before)
    expect(await page.locator('#h').textContent()).to.equal('Title')
    await move('#h', '#l', 'append')
    await comes(page, "document.querySelector('#l > #h')")
    await http('PUT', PATH, { Range: 'selector=#l' }, '<ul id="l"><li id="only">only</li></ul>')
    await comes(page, "document.querySelector('#l').children.length === 1")
    await inStep(page, '#l')
  })

  it('EVT-35 two windows, and many changes one after another: all end in step', async () => {
    const pages = [await visit(), await visit()]
    const place = fc.nat({ max: 1000 })
    const change = fc.record({
      op: fc.constantFrom('PUT', 'POST', 'POST', 'DELETE', 'MOVE'),
      target: place,
      anchor: place,
      placement: fc.constantFrom('append', 'prepend', 'before', 'after'),
      name: fc.constantFrom('p', 'div', 'li', 'b', 'tr'),
    })
    const changes = fc.sample(change, { numRuns: 120, seed: Number(process.env.FUZZ ?? 11) })
    let done = 0
    for (const [i, { op: wanted, target, anchor, placement, name }] of changes.entries()) {
      const found = await http('GET', PATH, { Range: 'selector=[id]', Accept: 'multipart/mixed' })
      const ids = [...found.text.matchAll(/^Content-Range: selector=(#[^\r]+)/gm)].map(([, id = '']) => id)
      const op = ids.length < 4 ? 'POST' : wanted
      const at = (place: number) => ids[place % ids.length] ?? 'body'
      const markup = `<${name} id="n${i}">${i}</${name}>`
      const answer =
        op === 'POST'
          ? await post(at(target), placement, markup)
          : op === 'MOVE'
            ? await move(at(target), at(anchor), placement)
            : await http(op, PATH, { Range: `selector=${at(target)}` }, op === 'PUT' ? markup : undefined)
      if (answer.status < 300) done++
    }
    expect(done).to.be.above(60)
    for (const page of pages) await inStep(page)
  })

  describe('with a stream of the test’s own', () => {
    /** A page whose stream is fed by the test. */
    async function fed(): Promise<Page> {
      const context = await browser.newContext({ baseURL: server.url })
      contexts.push(context)
      const page = await context.newPage()
      page.on('pageerror', error => complaints.push(error.message))
      await page.addInitScript(`window.EventSource = class extends EventTarget {
        static opened = []
        readyState = 1
        constructor(url) {
          super()
          this.url = url
          EventSource.opened.push(this)
        }
        close() {
          this.readyState = 2
        }
        feed(type, data, lastEventId = '') {
          this.dispatchEvent(new MessageEvent(type, { data, lastEventId }))
        }
      }`)
      await page.goto(PATH)
      await comes(page, 'window.EventSource.opened.length === 1')
      return page
    }

    const feed = (page: Page, type: string, data: string, id = '') =>
      page.evaluate(`EventSource.opened.at(-1).feed(${JSON.stringify(type)}, ${JSON.stringify(data)}, '${id}')`)
    const mutation = (fields: Record<string, string>, body = '') => {
      const spans = Object.entries(fields).map(([name, value]) => `  <span itemprop="${name}">${value}</span>`)
      return `<article>\n${spans.join('\n')}\n  <div itemprop="body">${body}</div>\n</article>`
    }
    const fetches = async (page: Page, act: () => Promise<unknown>): Promise<number> => {
      let count = 0
      const counted = (request: import('playwright-core').Request) => {
        if (request.resourceType() === 'fetch') count++
      }
      page.on('request', counted)
      await act()
      await page.evaluate('new Promise(resolve => setTimeout(resolve, 50))')
      page.off('request', counted)
      return count
    }

    it('exposes the token while connected, and only then', async () => {
      const page = await fed()
      expect(await page.evaluate('stream.token')).to.equal('')
      await feed(page, 'platform-connection', 'the-token')
      expect(await page.evaluate('stream.token')).to.equal('the-token')
      await page.evaluate("EventSource.opened[0].dispatchEvent(new Event('error'))")
      expect(await page.evaluate('stream.token')).to.equal('')
    })

    it('looks at the document when it connects for the first time, not when it returns with an id', async () => {
      const page = await fed()
      expect(await fetches(page, () => feed(page, 'platform-connection', '1'))).to.equal(1)
      await page.evaluate('new Promise(resolve => setTimeout(resolve, 2100))')
      await feed(page, 'mutation', mutation({ method: 'DELETE', selector: '#a' }), '1-0')
      expect(await fetches(page, () => feed(page, 'platform-connection', '2'))).to.equal(0)
    })

    for (const [title, data] of [
      ['a missing placement', mutation({ method: 'POST', selector: '#l' }, '<li>x</li>')],
      ['an unknown placement', mutation({ method: 'POST', selector: '#l', placement: 'within' }, '<li>x</li>')],
      [
        'a method of objects as placement',
        mutation({ method: 'POST', selector: '#l', placement: 'remove' }, '<li>x</li>'),
      ],
      ['an unknown method', mutation({ method: 'CHANGE', selector: '#l' }, '<li>x</li>')],
      ['an empty selector', mutation({ method: 'DELETE', selector: '' })],
      ['a selector that is none', mutation({ method: 'DELETE', selector: 'li:nonsense(' })],
      ['no match', mutation({ method: 'DELETE', selector: '#none' })],
      ['no anchor', mutation({ method: 'MOVE', selector: '#a', destination: '#none', placement: 'after' })],
      ['an element into itself', mutation({ method: 'MOVE', selector: '#l', destination: '#a', placement: 'after' })],
      ['another body', mutation({ method: 'PUT', selector: 'body' }, '<body>x</body>')],
    ])
      it(`EVT-70 ${title}: the document is fetched, and nothing else changes`, async () => {
        const page = await fed()
        await page.evaluate('window.before = document.body.outerHTML')
        expect(await fetches(page, () => feed(page, 'mutation', data ?? '', '1-0'))).to.equal(1)
        expect(await page.evaluate('before === document.body.outerHTML')).to.equal(true)
      })

    it('EVT-48 a reset: the document is fetched, and what is missed is shown', async () => {
      const page = await fed()
      await http('DELETE', PATH, { Range: 'selector=#a' })
      await feed(page, 'reset', '<article></article>')
      await comes(page, "!document.querySelector('#a')")
    })

    it('an event that is in what was fetched is not applied a second time, one that is not is', async () => {
      const page = await fed()
      const answer = await post('#l', 'append', '<li class="new">new</li>')
      await feed(page, 'platform-connection', '1')
      await comes(page, "document.querySelector('.new')")
      const event = { method: 'POST', selector: '#l', etag: answer.headers.etag ?? '', placement: 'append' }
      await feed(page, 'mutation', mutation(event, '<li class="new">new</li>'), '1-0')
      await feed(page, 'mutation', mutation({ ...event, etag: '"x"' }, '<li class="newer">newer</li>'), '1-1')
      expect(await page.locator('.new').count()).to.equal(1)
      expect(await page.locator('.newer').count()).to.equal(1)
    })

    it('text that looks like markup of the event changes nothing', async () => {
      const page = await fed()
      const selector = 'li:not([title=\'&lt;/span>&lt;span itemprop="placement">before\'])'
      await feed(
        page,
        'mutation',
        mutation({ method: 'PUT', selector }, '<li id="a">&lt;/div&gt; <div>A</div></li>'),
        '1-0',
      )
      expect(await page.locator('#a').innerHTML()).to.equal('&lt;/div&gt; <div>A</div>')
    })

    it('comes back after a refusal, and looks at the document then', async () => {
      const page = await fed()
      await page.clock.install()
      await page.evaluate("EventSource.opened[0].close(); EventSource.opened[0].dispatchEvent(new Event('error'))")
      await page.clock.fastForward(10_000)
      await comes(page, 'EventSource.opened.length === 2')
      await http('DELETE', PATH, { Range: 'selector=#c' })
      await feed(page, 'platform-connection', '2')
      await comes(page, "!document.querySelector('#c')")
    })

    it('close ends it', async () => {
      const page = await fed()
      await page.clock.install()
      await page.evaluate("EventSource.opened[0].close(); EventSource.opened[0].dispatchEvent(new Event('error'))")
      await page.evaluate('stream.close()')
      await page.clock.fastForward(60_000)
      expect(await page.evaluate('EventSource.opened.length')).to.equal(1)
    })
  })
})
