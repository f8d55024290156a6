import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Browser, Page } from 'playwright-core'
import { comes, HANGS } from '../browser/live-pages.ts'
import { openBrowser } from '../support/browser.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const TEXT = readFileSync(new URL('../../docs/tutorial.md', import.meta.url), 'utf8')
const FILES = new Map(
  [...TEXT.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => [name, text]),
)
const TITLES = "[...document.querySelectorAll('#tasks [itemprop=title]')].map(each => each.textContent).join()"

describe('The tutorial, step by step', function () {
  this.timeout(HANGS)
  let server: TestServer
  let browser: Browser
  let http: Client
  const pages: Page[] = []

  before(async () => {
    server = await startServer()
    http = client(server.port)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server?.close()
  })

  async function save(name: string): Promise<void> {
    const Authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    const mount = client(Number(new URL(server.mountUrl).port), { Authorization })
    expect((await mount('PUT', `/${name}`, {}, FILES.get(name) ?? '')).status).to.equal(201)
  }
  const add = (markup: string, selector = '#tasks') =>
    http('POST', '/todo.html', { Range: `selector=${selector}`, 'Content-Type': 'text/html' }, markup)
  const task = (id: string, title: string) =>
    `<li id="${id}" itemscope itemtype="https://todo.example/Task">${title}<data itemprop="state" value="open">open</data></li>`

  it('HTTP-1 1. the page is on the site at once', async () => {
    await save('todo.html')
    expect((await http('GET', '/todo.html')).text).to.equal(FILES.get('todo.html'))
  })

  it('RULE-1 2. nobody may write before there are rules, and then only what they name', async () => {
    expect((await add(task('x', ''))).status).to.equal(401)
    await save('rules.html')
    expect((await add(task('untitled', ''))).status).to.be.within(200, 206)
    const gone = await http('DELETE', '/todo.html', { Range: 'selector=#untitled' })
    expect(gone.status).to.be.within(200, 206)
    const heading = await http('PUT', '/todo.html', { Range: 'selector=h1' }, '<h1>x</h1>')
    expect(heading.status).to.equal(401)
  })

  it('MOD-23 3. a task without a title is refused', async () => {
    await save('schema.html')
    expect((await add(task('untitled', ''))).status).to.equal(422)
  })

  it('EVT-55 4. and 5. a new task is shown once, here and in the other window', async () => {
    await save('todo.mjs')
    for (let i = 0; i < 2; i++) {
      const page = await browser.newPage()
      pages.push(page)
      await page.goto(`${server.url}/todo.html`)
      await comes(page, "window.stream?.state === 'open'")
    }
    await pages[0]?.getByLabel('Task').fill('Water the plants')
    await pages[0]?.getByRole('button', { name: 'Add' }).click()
    for (const page of pages) await comes(page, `${TITLES} === 'Buy milk,Post the letter,Water the plants'`)
  })

  it('HTTP-105 6. a dragged task moves, here and in the other window', async () => {
    await pages[0]?.locator('#post').dragTo(pages[0].locator('#milk'))
    for (const page of pages) await comes(page, `${TITLES} === 'Post the letter,Buy milk,Water the plants'`)
    expect((await http('GET', '/todo.html')).text).to.match(/id="post".*id="milk"/s)
  })
})
