import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { put } from '../support/content.ts'
import { comes, HANGS, livePages, PATH, pageOf } from './live-pages.ts'

const FORM = `<h1 id="h">Title</h1>
<p>intro</p>
<form id="form"><input id="words"> <textarea id="more"></textarea> <input type="checkbox" id="agree"></form>
<details id="d"><summary>More</summary><p>hidden</p></details>
<textarea id="box" rows="2">${'line\n'.repeat(20)}</textarea>
<ul id="l"><li id="a">a</li><li id="b">b</li></ul>
<p>outro</p>`
describe('live.mjs while somebody is typing', function () {
  this.timeout(HANGS)
  const pages = livePages()
  const { http, visit, settled, move, post } = pages

  /** A page in which somebody is typing: text selected in a field, a list scrolled, a disclosure opened. */
  async function typing(): Promise<Page> {
    await put(pages.server, PATH, pageOf(FORM))
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
    const { mountUrl, user, password } = pages.server
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
})
