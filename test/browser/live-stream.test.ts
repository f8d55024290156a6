import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { put } from '../support/content.ts'
import { BODY, COUNT_LOOKS, comes, HANGS, livePages, PATH, pageOf } from './live-pages.ts'

describe('live.mjs with a stream of the test’s own', function () {
  this.timeout(HANGS)
  const pages = livePages()
  const { http, post } = pages

  /** A page whose stream is fed by the test. */
  async function fed(): Promise<Page> {
    const page = await pages.newPage()
    await page.addInitScript(COUNT_LOOKS)
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
    await comes(page, 'window.EventSource.opened.length > 0')
    return page
  }

  const feed = (page: Page, type: string, data: string, id = '') =>
    page.evaluate(`EventSource.opened.at(-1).feed(${JSON.stringify(type)}, ${JSON.stringify(data)}, '${id}')`)
  const mutation = (fields: Record<string, string>, body = '') => {
    const spans = Object.entries(fields).map(([name, value]) => `  <span itemprop="${name}">${value}</span>`)
    return `<article>\n${spans.join('\n')}\n  <div itemprop="body">${body}</div>\n</article>`
  }
  /** How often a page fetches its document because of something, when it has dealt with what came. */
  const fetches = async (page: Page, act: () => Promise<unknown>): Promise<number> => {
    const begun = () => page.evaluate('looks.begun') as Promise<number>
    const before = await begun()
    await act()
    await comes(page, 'looks.done === looks.begun')
    return (await begun()) - before
  }

  it('exposes the token while connected, and only then', async () => {
    const page = await fed()
    expect(await page.evaluate('stream.token')).to.equal('')
    await feed(page, 'platform-connection', 'the-token')
    expect(await page.evaluate('stream.token')).to.equal('the-token')
    await page.evaluate("EventSource.opened[0].dispatchEvent(new Event('error'))")
    expect(await page.evaluate('stream.token')).to.equal('')
  })

  it('EVT-3 says once on the console which rule is missing, and that it was refused', async () => {
    const page = await fed()
    const said: string[] = []
    page.on('console', message => said.push(message.text()))
    expect(await page.evaluate('stream.state')).to.equal('connecting')
    const refuse =
      "EventSource.opened[0].readyState = 2; EventSource.opened[0].dispatchEvent(new Event('error')); stream.state"
    expect(await page.evaluate(refuse)).to.equal('refused')
    expect(await page.evaluate(refuse)).to.equal('refused')
    expect(said).to.have.length(1)
    expect(said[0]).to.include(`actor *, method GET, resource ${PATH}, action Allow`)
  })

  it('looks at the document when it connects for the first time, not when it returns with an id', async () => {
    const page = await fed()
    await page.clock.install()
    expect(await fetches(page, () => feed(page, 'platform-connection', '1'))).to.equal(1)
    await page.clock.fastForward(2000)
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

  it('a document whose transfer breaks off is fetched again at the next event', async () => {
    const page = await fed()
    await page.evaluate(`{
      const { fetch } = window
      window.fetch = async (...request) => {
        window.fetch = fetch
        const answer = await fetch(...request)
        answer.text = async () => {
          window.cut = true
          throw new TypeError('cut off')
        }
        return answer
      }
    }`)
    await feed(page, 'platform-connection', '1')
    await comes(page, 'window.cut')
    await http('DELETE', PATH, { Range: 'selector=#a' })
    await feed(page, 'reset', '<article></article>')
    await comes(page, "!document.querySelector('#a')")
  })

  it('an event that is in what was fetched is not applied a second time, one that is not is', async () => {
    const page = await fed()
    const answer = await post('#l', 'append', '<li class="new">new</li>')
    // Soon after it was fetched, however long the browser takes.
    await page.evaluate('{ const now = Date.now(); Date.now = () => now }')
    await feed(page, 'platform-connection', '1')
    await comes(page, "document.querySelector('.new')")
    const event = { method: 'POST', selector: '#l', etag: answer.headers.etag ?? '', placement: 'append' }
    await feed(page, 'mutation', mutation(event, '<li class="new">new</li>'), '1-0')
    await feed(page, 'mutation', mutation({ ...event, etag: '"x"' }, '<li class="newer">newer</li>'), '1-1')
    expect(await page.locator('.new').count()).to.equal(1)
    expect(await page.locator('.newer').count()).to.equal(1)
  })

  describe('a page that writes while its document is fetched shows its change, and once', () => {
    const write = `void (window.shown = stream.sent(fetch('${PATH}', {
      method: 'POST',
      headers: { Range: 'selector=#l; placement=append' },
      body: '<li class="mine">mine</li>',
    }).then(answer => answer.text())).then(markup => {
      document.querySelector('#l').insertAdjacentHTML('beforeend', markup)
    }))`

    /** Keeps back the answer to the first request of a method. */
    async function keepBack(page: Page, method: string) {
      const [answered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route(`**${PATH}`, async route => {
        if (route.request().method() !== method) return route.fallback()
        const response = await route.fetch()
        answered.resolve()
        await gate.promise
        await route.fulfill({ response })
        await page.unroute(`**${PATH}`)
      })
      return { answered: answered.promise, letGo: gate.resolve }
    }

    async function isShownOnce(page: Page): Promise<void> {
      await page.evaluate('shown')
      await comes(page, 'looks.begun === 2 && looks.done === 2')
      expect(await page.locator('.mine').count()).to.equal(1)
      await pages.inStep(page)
    }

    it('which was answered before the change', async () => {
      const page = await fed()
      const document = await keepBack(page, 'GET')
      await feed(page, 'platform-connection', '1')
      await document.answered
      await page.evaluate(write)
      await page.evaluate('shown')
      document.letGo()
      await isShownOnce(page)
    })

    it('which is answered with the change, and earlier than the change itself', async () => {
      const page = await fed()
      const change = await keepBack(page, 'POST')
      await page.evaluate(write)
      await change.answered
      await feed(page, 'platform-connection', '1')
      await comes(page, "document.querySelector('.mine')")
      change.letGo()
      await isShownOnce(page)
    })

    it('though the event that was waited for is in what was fetched', async () => {
      const page = await fed()
      const { headers } = await http('PUT', PATH, { Range: 'selector=#a' }, '<li id="a">A</li>')
      const document = await keepBack(page, 'GET')
      await feed(page, 'platform-connection', '1')
      await document.answered
      await feed(page, 'mutation', mutation({ method: 'PUT', selector: '#a', etag: headers.etag ?? '' }), '1-0')
      await page.evaluate(write)
      await page.evaluate('shown')
      document.letGo()
      await isShownOnce(page)
    })
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

  it('comes back to a document that the page names after a refusal, and looks at what was missed', async () => {
    await put(pages.server, PATH, pageOf(BODY).replace('<title>', '<link rel="origin" href="/data.html"><title>'))
    const page = await fed()
    await page.clock.install()
    await page.evaluate("EventSource.opened[1].close(); EventSource.opened[1].dispatchEvent(new Event('error'))")
    await page.clock.fastForward(10_000)
    await comes(page, 'EventSource.opened.length === 3')
    expect(await page.evaluate('EventSource.opened.map(stream => stream.url)')).to.deep.equal([
      PATH,
      '/data.html',
      '/data.html',
    ])
    const open = () => page.evaluate("EventSource.opened[2].dispatchEvent(new Event('open'))")
    expect(await fetches(page, open)).to.equal(1)
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
