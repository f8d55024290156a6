import { expect } from 'chai'
import { describe, it } from 'mocha'
import { NS, page as plain, put } from '../support/content.ts'
import { comes, HANGS, livePages } from './live-pages.ts'

describe('live.mjs on composed pages', function () {
  this.timeout(HANGS)
  const pages = livePages()

  const COMPOSED = `<!DOCTYPE html><html lang="en" xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS"><head><title>t</title><link rel="origin" href="/data.html"><script type="module" src="/whole.mjs"></script></head><body><h1 id="h">1</h1><p:include selector="#parts" resource="/data.html"></p:include><p id="n" r:items="#parts > li" p:template="text/liquid">{{ items.size }}</p></body></html>`
  const DATA = plain('<ul id="parts"><li>a</li></ul>')

  it('COMP-30 EVT-13 shows a change of a document that the page is put together from, and of the page itself', async () => {
    const { server, http } = pages
    await put(server, '/data.html', DATA)
    await put(server, '/composed.html', COMPOSED)
    const page = await pages.newPage()
    await page.goto('/composed.html')
    await comes(page, "window.stream?.token !== ''")
    const post = await http('POST', '/data.html', { Range: 'selector=#parts' }, '<li>b</li>')
    expect(post.status).to.equal(206)
    await comes(
      page,
      "document.querySelectorAll('#parts > li').length === 2 && document.querySelector('#n').textContent === '2'",
    )
    await http('PUT', '/composed.html', { Range: 'selector=#h' }, '<h1 id="h">2</h1>')
    await comes(page, "document.querySelector('#h').textContent === '2'")
    expect(await page.evaluate("document.querySelectorAll('p\\\\:include').length")).to.equal(0)
    await page.evaluate('stream.close()')
  })

  it('EVT-13 what is stored is never taken for what the page has added, and goes with its element', async () => {
    const { server, http } = pages
    const list = (items: string) => `document.querySelector('#parts').textContent === '${items}'`
    await put(server, '/data.html', plain('<ul id="parts"><li data-own>a</li></ul>'))
    await put(server, '/composed.html', COMPOSED)
    const page = await pages.newPage()
    await page.goto('/composed.html')
    await comes(page, "window.stream?.token !== ''")
    const change = (method: string, selector: string, markup?: string) =>
      http(method, '/data.html', { Range: `selector=${selector}` }, markup)
    await change('POST', '#parts', '<li><b data-own>b</b></li>')
    await comes(page, list('ab'))
    await page.evaluate("document.querySelector('#parts').insertAdjacentHTML('beforeend', '<li data-own>mine</li>')")
    await change('DELETE', '#parts > li')
    await comes(page, list('bmine'))
    await change('PUT', '#parts > li', '<li>c</li>')
    await comes(page, list('cmine'))
    await page.evaluate('stream.close()')
  })

  it('follows the documents that the head names, and none that somebody has written into the page', async () => {
    const { server } = pages
    await put(server, '/data.html', plain('<ul id="parts"><li><link rel="origin" href="/else.html">a</li></ul>'))
    await put(server, '/composed.html', COMPOSED)
    const page = await pages.newPage()
    await page.addInitScript(`window.opened = []
      const { EventSource } = window
      window.EventSource = class extends EventSource { constructor(path) { super(path); opened.push(path) } }`)
    await page.goto('/composed.html')
    await comes(page, "window.stream?.token !== ''")
    expect(await page.evaluate('opened')).to.have.members(['/data.html', '/composed.html'])
    await page.evaluate('stream.close()')
  })
})
