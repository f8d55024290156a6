import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Locator, Page } from 'playwright-core'
import { demoSite, press, widen } from './demo-site.ts'
import { HANGS } from './live-pages.ts'

const ARTICLE = '/articles/four-metres-to-the-left.html'

describe('Demo site in a browser', function () {
  this.timeout(HANGS)
  const demo = demoSite()

  const entry = (page: Page, text: string) => page.locator('#entries > li', { hasText: text })
  const names = (page: Page) => page.locator('#entries > li > .by > .name').allTextContents()

  async function openBook(expected?: RegExp, hearing?: 'deaf'): Promise<Page> {
    const page = await demo.visit('/guestbook.html', expected, hearing)
    await page.getByRole('button', { name: 'Sign', exact: true }).waitFor()
    return page
  }

  async function sign(page: Page, name: string, text: string): Promise<Locator> {
    const form = page.locator('#sign-form')
    await form.getByLabel('Name').fill(name)
    await form.getByRole('textbox', { name: 'Entry', exact: true }).fill(text)
    await press(form, 'Sign')
    await form.getByText('Signed.').waitFor()
    return entry(page, text.split('\n')[0] ?? '')
  }

  /** What the server holds, seen by somebody who just arrives. */
  async function book(): Promise<string> {
    const response = await fetch(`${demo.url}/guestbook.html`, { headers: { Range: 'selector=#entries' } })
    return response.text()
  }

  it('shows every page without a complaint, in both schemes and narrow', async () => {
    for (const path of [
      '/',
      ARTICLE,
      '/articles/eleven-clocks.html',
      '/articles/bus-shelters.html',
      '/guestbook.html',
      '/events.html',
      '/rules.html',
      '/mount.html',
    ]) {
      const page = await demo.visit(path)
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [320, 'dark'],
      ] as const) {
        await widen(page, width)
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).to.be.at.most(width)
        const broken = '[...document.images].filter(image => image.complete && image.naturalWidth === 0).length'
        expect(await page.evaluate(broken), `pictures of ${path}`).to.equal(0)
      }
      await page.close()
    }
  })

  it('adds a comment, with markup in it as text, and keeps it', async () => {
    const page = await demo.visit(ARTICLE)
    const words = 'Is <b>this</b> & "that" <script>fine</script>?'
    const form = page.locator('#comment-form')
    await form.getByLabel('Name').fill('Ida & Co')
    await form.getByLabel('Comment').fill(`${words}\n\nIt is.`)
    await press(form, 'Add the comment')
    await form.getByText('Thank you.').waitFor()
    await page.reload()
    const last = page.locator('#comments > li').last()
    expect(await last.locator('.name').textContent()).to.equal('Ida & Co')
    expect(await last.locator('p:not(.by)').allTextContents()).to.deep.equal([words, 'It is.'])
    expect(await page.locator('#comments script').count()).to.equal(0)
  })

  it('says so when the server cannot be reached, and keeps the words', async () => {
    const page = await demo.visit(ARTICLE, /ERR_INTERNET_DISCONNECTED/)
    const form = page.locator('#comment-form')
    await form.getByLabel('Name').fill('Solveig')
    await form.getByLabel('Comment').fill('From a tunnel.')
    await page.context().setOffline(true)
    await press(form, 'Add the comment')
    await form.getByText('The server cannot be reached.').waitFor()
    expect(await form.getByLabel('Comment').inputValue()).to.equal('From a tunnel.')
    await page.context().setOffline(false)
    await press(form, 'Add the comment')
    await page.locator('#comments > li', { hasText: 'From a tunnel.' }).waitFor()
  })

  it('signs the guest book, edits the entry in place and deletes it', async () => {
    const page = await openBook()
    const mine = await sign(page, 'Ida', 'First words.\nAnd second ones.')
    expect(await book()).to.match(/<li id="entry-[0-9a-f]{12}" class="entry">/)

    await press(mine, /^Edit/)
    const form = page.getByRole('form', { name: 'Entry of Ida' })
    expect(await form.getByRole('textbox', { name: 'Entry', exact: true }).inputValue()).to.equal(
      'First words.\nAnd second ones.',
    )
    await form.getByRole('textbox', { name: 'Entry', exact: true }).fill('Better <words>.')
    await press(form, 'Save')
    await entry(page, 'Saved.').waitFor()
    expect(await book())
      .to.contain('<p>Better &lt;words&gt;.</p>')
      .and.not.contain('First words')

    const changed = entry(page, 'Better <words>.')
    await press(changed, /^Delete/)
    await press(changed, 'Keep it')
    await press(changed, /^Delete/)
    await press(changed, 'Yes, delete')
    await page.locator('#entries').getByText('The entry is gone.').waitFor()
    expect(await book()).not.to.contain('Better')
  })

  it('moves entries, and offers no way beyond the ends', async () => {
    const page = await openBook()
    const before = await names(page)
    const [first = '', second = ''] = before
    const mover = page.locator('#entries > li').first()
    expect(await mover.getByRole('button', { name: /^Move up/ }).count()).to.equal(0)
    expect(
      await page
        .locator('#entries > li')
        .last()
        .getByRole('button', { name: /^Move down/ })
        .count(),
    ).to.equal(0)

    await press(mover, /^Move down/)
    await page.getByText(`Moved: now number 2 of ${before.length}.`).first().waitFor()
    expect(await names(page)).to.deep.equal([second, first, ...before.slice(2)])
    await page.reload()
    await page
      .getByRole('button', { name: /^Move down/ })
      .first()
      .waitFor()
    expect(await names(page)).to.deep.equal([second, first, ...before.slice(2)])

    await press(page.locator('#entries > li').nth(1), /^Move up/)
    await page.getByText(`Moved: now number 1 of ${before.length}.`).first().waitFor()
    expect(await names(page)).to.deep.equal(before)
  })

  it('notices a lost update: theirs is shown, ours is kept, and saving again decides', async () => {
    const first = await openBook(/412/, 'deaf')
    const id = await (await sign(first, 'Conflict', 'As it was.')).getAttribute('id')
    const second = await openBook()
    await press(first.locator(`#${id}`), /^Edit/)
    await press(second.locator(`#${id}`), /^Edit/)

    await second.locator(`#${id}`).getByRole('textbox', { name: 'Entry', exact: true }).fill('Theirs.')
    await press(second.locator(`#${id}`), 'Save')
    await second.locator(`#${id}`).getByText('Saved.').waitFor()

    const here = first.locator(`#${id}`)
    await here.getByRole('textbox', { name: 'Entry', exact: true }).fill('Ours.')
    await press(here, 'Save')
    await here.getByText('Somebody changed this meanwhile').waitFor()
    expect(await here.locator(':scope > p').allTextContents()).to.include('Theirs.')
    expect(await here.getByRole('textbox', { name: 'Entry', exact: true }).inputValue()).to.equal('Ours.')
    expect(await book())
      .to.contain('Theirs.')
      .and.not.contain('Ours.')

    await press(here, 'Save')
    await here.getByText('Saved.').waitFor()
    expect(await book())
      .to.contain('Ours.')
      .and.not.contain('Theirs.')
  })

  it('HTTP-37: a change of another entry is no conflict', async () => {
    const first = await openBook()
    const id = await (await sign(first, 'Calm', 'Quiet here.')).getAttribute('id')
    await press(first.locator(`#${id}`), /^Edit/)
    await sign(await openBook(), 'Noise', 'Just passing.')
    await first.locator(`#${id}`).getByRole('textbox', { name: 'Entry', exact: true }).fill('Still quiet.')
    await press(first.locator(`#${id}`), 'Save')
    await first.locator(`#${id}`).getByText('Saved.').waitFor()
  })

  it('does not delete what changed since it was read, and says when somebody else deleted it', async () => {
    const first = await openBook(/412|416/, 'deaf')
    const id = await (await sign(first, 'Fragile', 'Take care.')).getAttribute('id')
    const second = await openBook()
    const here = first.locator(`#${id}`)
    const there = second.locator(`#${id}`)

    await press(there, /^Edit/)
    await there.getByRole('textbox', { name: 'Entry', exact: true }).fill('Take more care.')
    await press(there, 'Save')
    await there.getByText('Saved.').waitFor()
    await press(here, /^Delete/)
    await press(here, 'Yes, delete')
    await here.getByText('so it was not deleted').waitFor()
    expect(await here.locator(':scope > p').allTextContents()).to.include('Take more care.')

    await press(there, /^Delete/)
    await press(there, 'Yes, delete')
    await second.getByText('The entry is gone.').first().waitFor()
    await press(here, /^Delete/)
    await press(here, 'Yes, delete')
    await first.getByText('somebody took it away meanwhile').first().waitFor()
    expect(await here.count()).to.equal(0)
  })

  it('shows the book anew when a move finds the entry gone', async () => {
    const first = await openBook(/416/, 'deaf')
    const id = await (await sign(first, 'Leaving', 'Bye.')).getAttribute('id')
    const gone = await fetch(`${demo.url}/guestbook.html`, {
      method: 'DELETE',
      headers: { Range: `selector=#${id}` },
    })
    expect(gone.status).to.equal(204)
    await press(first.locator(`#${id}`), /^Move up/)
    await first.getByText('Somebody changed the book meanwhile.').first().waitFor()
    expect(await first.locator(`#${id}`).count()).to.equal(0)
  })

  it('shows in another window what is signed, edited, moved and deleted, with what may be done there', async () => {
    const [here, there] = [await openBook(), await openBook()]
    const mine = await sign(here, 'Ida', 'Seen from afar.')
    const id = `#${await mine.getAttribute('id')}`
    const theirs = there.locator(id)
    await theirs.getByText('Seen from afar.').waitFor()
    await there.getByText('Somebody wrote in the book: entry of Ida.').waitFor()

    await press(here.locator(id), /^Edit/)
    await here.locator(id).getByRole('textbox', { name: 'Entry', exact: true }).fill('Seen again.')
    await press(here.locator(id), 'Save')
    await theirs.getByText('Seen again.').waitFor()

    await press(theirs, /^Move up/)
    await there.getByText('Moved: now number').first().waitFor()
    const order = await names(there)
    await here.locator(`${id} + li`).waitFor()
    expect(await names(here)).to.deep.equal(order)

    await press(theirs, /^Delete/)
    await press(theirs, 'Yes, delete')
    for (const page of [here, there]) await page.locator(id).waitFor({ state: 'detached' })
    expect(await names(here)).to.deep.equal(await names(there))
    expect(await here.locator('#entries > li .acts').count()).to.equal((await names(here)).length)
  })

  it('tells somebody who is changing an entry at once that others changed it, and keeps the words', async () => {
    const [first, second] = [await openBook(), await openBook()]
    const id = `#${await (await sign(first, 'Both', 'As it was.')).getAttribute('id')}`
    const [here, there] = [first.locator(id), second.locator(id)]
    await there.getByText('As it was.').waitFor()
    const words = (slip: Locator) => slip.getByRole('textbox', { name: 'Entry', exact: true })
    await press(here, /^Edit/)
    await words(here).fill('Ours.')
    await press(there, /^Edit/)
    await words(there).fill('Theirs.')
    await press(there, 'Save')
    await here.getByText('Somebody changed this meanwhile').waitFor()
    expect(await here.locator(':scope > p').allTextContents()).to.include('Theirs.')
    expect(await words(here).inputValue()).to.equal('Ours.')
    await press(here, 'Save')
    await there.getByText('Ours.').waitFor()

    await press(here, /^Edit/)
    await press(there, /^Delete/)
    await press(there, 'Yes, delete')
    await first.getByText('The entry that you were changing is gone').first().waitFor()
  })

  it('shows a comment to everybody who reads the article, and to its author once', async () => {
    const [author, reader] = [await demo.visit(ARTICLE), await demo.visit(ARTICLE)]
    const form = author.locator('#comment-form')
    await form.getByLabel('Name').fill('Ida')
    await form.getByLabel('Comment').fill('To whoever sits there.')
    await press(form, 'Add the comment')
    await form.getByText('Thank you.').waitFor()
    await reader.locator('#comments > li', { hasText: 'To whoever sits there.' }).waitFor()
    await reader.getByText('Somebody added a comment.').waitFor()
    await sign(await openBook(), 'Other', 'Another page altogether.')
    for (const page of [author, reader])
      expect(await page.locator('#comments > li', { hasText: 'To whoever sits there.' }).count()).to.equal(1)
  })

  it('works by keyboard alone: skip link, sign, edit, cancel, move', async () => {
    const page = await openBook()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to the text')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).to.equal('main')

    await page.keyboard.press('Tab')
    expect(await focused(page)).to.match(/^Edit: entry of/)
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.name')).to.equal('text')
    await page.keyboard.press('Escape')
    expect(await focused(page)).to.match(/^Edit: entry of/)

    const [first = '', second = ''] = await names(page)
    await page.keyboard.press('Tab')
    expect(await focused(page)).to.equal(`Move down: entry of ${first}`)
    await page.keyboard.press('Space')
    await page.getByText('Moved: now number 2').first().waitFor()
    expect(await focused(page)).to.equal(`Move down: entry of ${first}`)
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Moved: now number 1').first().waitFor()
    // The button that was used is gone at the end of the way; its sister has the focus.
    expect(await focused(page)).to.equal(`Move down: entry of ${first}`)
    expect((await names(page)).slice(0, 2)).to.deep.equal([first, second])

    await page.locator('#sign-form').getByLabel('Name').focus()
    await page.keyboard.type('Keys')
    await page.keyboard.press('Tab')
    await page.keyboard.type('No mouse was used.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await entry(page, 'No mouse was used.').waitFor()
    expect(await page.getByRole('status').textContent()).to.contain('Signed.')
  })

  it('fills its own addresses into the commands, and those that a visitor corrects', async () => {
    const page = await demo.visit('/mount.html')
    const command = page.locator('.command code', { hasText: 'DELETE' })
    expect(await command.textContent()).to.equal(`curl -i -X DELETE ${demo.url}/index.html`)
    await page.getByRole('textbox', { name: 'Mount' }).fill('https://dav.example.net/')
    expect(await page.getByText('gio mount').textContent()).to.equal('gio mount davs://dav.example.net/')
    await page.getByRole('textbox', { name: 'Mount' }).fill('https://')
    expect(await page.getByText('gio mount').textContent()).to.equal('gio mount davs://dav.example.net/')
  })

  it('refuses by its rules what the pages do not offer', async () => {
    const status = async (method: string, path: string, selector?: string, body?: string) => {
      const headers = selector ? { Range: `selector=${selector}` } : undefined
      const response = await fetch(demo.url + path, { method, headers, body })
      await response.arrayBuffer()
      return response.status
    }
    for (const [method, path, selector] of [
      ['PUT', '/index.html'],
      ['PUT', '/new.html'],
      ['DELETE', '/guestbook.html'],
      ['PUT', '/guestbook.html', '#entries'],
      ['DELETE', '/guestbook.html', '#entries'],
      ['POST', '/guestbook.html', 'main'],
      ['DELETE', ARTICLE, '#comments > li'],
      ['POST', '/articles/eleven-clocks.html', 'main'],
      ['POST', '/rules.html', 'tbody'],
      ['PUT', '/scripts/guestbook.mjs'],
    ]) {
      expect(
        await status(method ?? '', path ?? '', selector, method === 'DELETE' ? undefined : '<p>x</p>'),
        `${method} ${path}`,
      ).to.equal(401)
    }
  })
})

/** The accessible label of what has the focus. */
const focused = (page: Page) => page.evaluate(`document.activeElement.getAttribute('aria-label')`)
