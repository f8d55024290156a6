import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { put } from '../support/content.ts'
import { BODY, comes, HANGS, livePages, PATH, pageOf } from './live-pages.ts'

describe('live.mjs in a browser', function () {
  this.timeout(HANGS)
  const pages = livePages()
  const { http, visit, inStep, settled, told, move, post } = pages

  it('is served under the reserved prefix, cacheable, small, with the brand in its place', async () => {
    const answer = await http('GET', '/.platform/live.mjs')
    expect(answer.status).to.equal(200)
    expect(answer.headers['content-type']).to.equal('text/javascript; charset=utf-8')
    expect(answer.headers['cache-control']).to.equal('public, max-age=300')
    expect(answer.headers).not.to.have.property('set-cookie')
    expect(answer.body.length).to.be.below(5 * 1024)
    expect(answer.text).to.include('platform-connection').and.not.include('rand}')
    const head = await http('HEAD', '/.platform/live.mjs')
    expect([head.status, head.body.length, head.headers.etag]).to.deep.equal([200, 0, answer.headers.etag])
    const again = await http('GET', '/.platform/live.mjs', { 'If-None-Match': answer.headers.etag ?? '' })
    expect([again.status, again.headers.etag]).to.deep.equal([304, answer.headers.etag])
    expect((await http('PUT', '/.platform/live.mjs', {}, 'x')).status).to.equal(403)
    expect((await http('GET', '/.platform/live.js')).status).to.equal(404)
    expect((await http('GET', '/.other/live.mjs')).status).to.equal(404)
  })

  it('is served with its declarations', async () => {
    const answer = await http('GET', '/.platform/live.d.mts')
    expect([answer.status, answer.headers['content-type']]).to.deep.equal([200, 'text/plain; charset=utf-8'])
    expect(answer.text).to.include('export function live(options?: LiveOptions): LiveStream')
  })

  it('EVT-55 its fetch sends the token: the page shows its own write once, another tab hears of it', async () => {
    const page = await visit()
    const other = await page.context().newPage()
    await other.goto(PATH)
    await comes(other, "window.stream?.state === 'open'")
    await settled(page)
    expect(await page.evaluate('stream.state')).to.equal('open')
    const status = await page.evaluate(`stream.fetch('${PATH}', {
      method: 'POST',
      headers: { Range: 'selector=#l', 'Content-Type': 'text/html' },
      body: '<li id="mine">mine</li>',
    }).then(answer => {
      document.querySelector('#l').insertAdjacentHTML('beforeend', '<li id="mine">mine</li>')
      return answer.status
    })`)
    expect(status).to.be.within(200, 206)
    await comes(other, "document.querySelectorAll('#mine').length === 1")
    await inStep(page, '#l')
    await page.evaluate('stream.close()')
    expect(await page.evaluate('stream.state')).to.equal('closed')
  })

  it('EVT-70 of XHTML the whole is read as such: tags that close themselves take nothing in', async () => {
    await put(pages.server, '/start.js', "import('/whole.mjs')")
    const xhtml =
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="/start.js"/></head><body><ul id="l"/></body></html>'
    await put(pages.server, '/page.xhtml', xhtml)
    const page = await visit('/page.xhtml')
    // The first look at the document follows the opening of the stream.
    await comes(page, 'told.length > 0')
    await http('POST', '/page.xhtml', { Range: 'selector=#l' }, '<li id="new"/>')
    await comes(page, "document.querySelector('body > #l > #new')")
  })

  it('EVT-70 HTML that a page of XHTML follows is read as HTML', async () => {
    await put(
      pages.server,
      '/follow.js',
      `import('/.platform/live.mjs').then(({ live }) => {
  window.stream = live({ root: document.querySelector('#l'), path: '${PATH}' })
})`,
    )
    const xhtml =
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="/follow.js"/></head><body><ul id="l"/></body></html>'
    await put(pages.server, '/page.xhtml', xhtml)
    await put(pages.server, PATH, pageOf('<br><ul id="l"><li id="new"><br>new</ul>'))
    await comes(await visit('/page.xhtml'), "document.querySelector('body > #l > #new > br')")
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

  it('EVT-70 what is for browsers without scripts stays text when the document is fetched', async () => {
    const page = await visit()
    await settled(page)
    await put(pages.server, PATH, pageOf(`${BODY}<div id="d"><noscript id="none"><p>none</p></noscript></div>`))
    await comes(page, "document.querySelector('#none')")
    expect(await page.evaluate("document.querySelector('#none').children.length")).to.equal(0)
    expect(await page.evaluate("document.querySelector('#none').textContent")).to.equal('<p>none</p>')
  })

  it('EVT-70 fields of forms may be named as what elements can do', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate("window.kept = document.querySelector('#b')")
    const step = async (names: string, id: string) => {
      const fields = names.split(' ').map(name => `<input name="${name}">`)
      await http('PUT', PATH, {}, pageOf(`${BODY}<p id="${id}">p</p><form>${fields.join('')}</form>`))
      await comes(page, `document.querySelector('#${id}')`)
      await inStep(page)
    }
    await step('cloneNode matches remove id', 'one')
    await step('attributes tagName', 'two')
    expect(await page.evaluate("kept === document.querySelector('#b')")).to.equal(true)
    await step('childNodes', 'three')
    await step('childNodes', 'four')
  })

  it('EVT-70 what a visitor names as what documents can do is in nobody’s way', async () => {
    const names = 'querySelectorAll documentElement getElementById importNode childNodes'.split(' ')
    const named = names.map(name => `<img name="${name}" alt=""><form name="${name}"></form>`)
    await put(pages.server, PATH, pageOf(`${BODY}${named.join('')}`))
    const page = await visit()
    await settled(page)
    await page.evaluate("window.kept = document.querySelector('#b')")
    await put(pages.server, PATH, pageOf(`${BODY}<p id="later">p</p>${named.join('')}`))
    await comes(page, "document.querySelector('#later')")
    expect(await page.evaluate("kept === document.querySelector('#b')")).to.equal(true)
  })

  it('goes on following where what is told of changes fails', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate(
      "addEventListener('unhandledrejection', event => event.preventDefault()); told.push = text => { throw text }",
    )
    for (const id of ['one', 'two']) {
      await put(pages.server, PATH, pageOf(`${BODY}<p id="${id}">p</p>`))
      await inStep(page)
    }
  })

  it('EVT-25 EVT-70 a change that is too large to travel: the document is fetched', async () => {
    const page = await visit()
    await settled(page)
    await page.evaluate("window.kept = document.querySelector('#a')")
    await http('PUT', PATH, { Range: 'selector=#b' }, `<li id="b">${'large '.repeat(200_000)}</li>`)
    await comes(page, "document.querySelector('#b')?.textContent.startsWith('large')")
    await inStep(page)
    expect(await page.evaluate("kept === document.querySelector('#a')")).to.equal(true)
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
    const page = await pages.newPage()
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

  it('a part of the page: changes there are applied, those elsewhere ignored, those around it fetched', async () => {
    await put(pages.server, PATH, pageOf(BODY, 'part'))
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
    const windows = [await visit(), await visit()]
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
    for (const page of windows) await inStep(page)
  })
})
