/** Pages of a site that keep themselves in step by live.mjs, in a browser, with the visitors who have them open. */

import { expect } from 'chai'
import { after, afterEach, before, beforeEach } from 'mocha'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { put, rulesPage } from '../support/content.ts'
import { PATIENCE } from '../support/eventually.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

export const PATH = '/live.html'
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"

export const pageOf = (body: string, script = 'whole') =>
  `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>t</title><script type="module" src="/${script}.mjs"></script></head>\n<body>\n${body}\n</body></html>\n`

export const BODY = `<h1 id="h">Title</h1>
<ul id="l"><li id="a">a</li><li id="b">b</li><li id="c">c</li></ul>
<table><tbody id="t"><tr id="r"><td>1</td></tr></tbody></table>
<svg id="s" viewBox="0 0 9 9"><circle r="1"></circle></svg>
<noscript><p>no script</p></noscript>`

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

/** Milliseconds after which a test in a browser hangs: several pages, each of which may take its time. */
export const HANGS = 380_000

/** To be run in a page first: counts the looks of live.mjs at its document, begun and done with. */
export const COUNT_LOOKS = `{
  const { fetch } = window
  window.looks = { begun: 0, done: 0 }
  window.fetch = async (...request) => {
    if (request[1]?.cache !== 'no-cache') return fetch(...request)
    looks.begun++
    const answer = await fetch(...request)
    const text = answer.text.bind(answer)
    answer.text = async () => {
      const found = await text()
      // Whoever waits for the text goes on before.
      setTimeout(() => looks.done++)
      return found
    }
    return answer
  }
}`

/** Waits until an expression is true in a page; its policy keeps the browser from compiling text by itself. */
export async function comes(page: Page, expression: string): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const late = performance.now() + ${PATIENCE}
    const look = async () => {
      if (await (${expression})) return resolve()
      if (performance.now() > late) return reject(new Error(${JSON.stringify(expression)} + ' did not come about: ' + document.body.innerHTML))
      setTimeout(look, 5)
    }
    look()
  })`)
}
export interface LivePages {
  /** Set while tests run. */
  readonly server: TestServer
  /** Requests of somebody else to the site. */
  http: Client
  /** A page of a visitor with a session of their own. What its scripts throw fails the test. */
  newPage(): Promise<Page>
  /** The same, on a page whose stream is open; complaints on its console fail the test. */
  visit(path?: string): Promise<Page>
  /** Waits until a page shows what is stored, but for white space: parsers move that of the end into the body. */
  inStep(page: Page, selector?: string): Promise<void>
  /** Waits until the first look at the document after loading is over: from then on events are applied. */
  settled(page: Page): Promise<void>
  /** What the page was told so far. */
  told(page: Page): Promise<unknown[]>
  move(source: string, anchor: string, placement: string): ReturnType<Client>
  post(selector: string, placement: string, markup: string): ReturnType<Client>
}

/** To be called in a `describe`: starts server and browser, and has the page as it was before every test. */
export function livePages(): LivePages {
  let server: TestServer
  let send: Client
  let browser: Browser
  const contexts: BrowserContext[] = []
  let complaints: string[] = []
  const http: Client = (...request) => send(...request)

  before(async () => {
    server = await startServer()
    send = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*']))
    for (const [path, script] of Object.entries(SCRIPTS)) await put(server, path, script)
    browser = await openBrowser()
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

  async function newPage(): Promise<Page> {
    const context = await browser.newContext({ baseURL: server.url })
    contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE)
    page.on('pageerror', error => complaints.push(error.message))
    return page
  }

  return {
    get server() {
      return server
    },
    http,
    newPage,
    async visit(path = PATH) {
      const page = await newPage()
      page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
      await page.goto(path)
      await comes(page, 'window.stream?.token')
      return page
    },
    async inStep(page, selector = 'body') {
      await comes(
        page,
        `(async () => {
          const answer = await fetch(location.pathname, { cache: 'no-store' })
          const stored = new DOMParser().parseFromString(await answer.text(), 'text/html')
          const bare = element => {
            const copy = element.cloneNode(true)
            for (const own of copy.querySelectorAll('noscript, [data-own]')) own.remove()
            return copy.outerHTML.replace(/\\s+/g, '')
          }
          return bare(stored.querySelector('${selector}')) === bare(document.querySelector('${selector}'))
        })()`,
      )
    },
    async settled(page) {
      await http('PUT', PATH, { Range: 'selector=#h' }, '<h1 id="h">Ready</h1>')
      await comes(page, "document.querySelector('#h').textContent === 'Ready'")
      await http('PUT', PATH, { Range: 'selector=#h' }, '<h1 id="h">Title</h1>')
      await comes(page, "document.querySelector('#h').textContent === 'Title'")
      await page.evaluate('told.length = 0')
    },
    told: page => page.evaluate('told') as Promise<unknown[]>,
    move: (source, anchor, placement) =>
      http('MOVE', PATH, {
        Range: `selector=${source}`,
        Destination: PATH,
        'Destination-Range': `selector=${anchor}; placement=${placement}`,
      }),
    post: (selector, placement, markup) =>
      http('POST', PATH, { Range: `selector=${selector}; placement=${placement}` }, markup),
  }
}
