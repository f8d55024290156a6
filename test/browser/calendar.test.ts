import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { demoSite, press } from './demo-site.ts'
import { comes, HANGS } from './live-pages.ts'

describe('Calendar of the demo site in a browser', function () {
  this.timeout(HANGS)
  const demo = demoSite()

  /** Proposes an event and waits for what the page says to it. */
  async function propose(page: Page, values: Record<string, string>): Promise<string> {
    const form = page.locator('#event-form')
    for (const [label, value] of Object.entries(values)) await form.getByLabel(label, { exact: true }).fill(value)
    await press(form, 'Propose')
    const notice = form.locator('.notice')
    await notice.waitFor()
    return (await notice.textContent()) ?? ''
  }
  const EVENT = {
    Name: 'Soup <b>for</b> all',
    Day: '2027-02-14',
    Place: 'Park bench',
    Code: 'soup',
    'What happens': 'Soup.\nBring a <em>bowl</em>.',
  }

  it('puts a proposed event into the calendar, for everybody', async () => {
    const [page, reader] = [await demo.visit('/events.html'), await demo.visit('/events.html')]
    expect(await propose(page, EVENT)).to.equal('Thank you. The event is in the calendar.')
    for (const window of [page, reader]) {
      const added = window.locator('#events > li', { hasText: 'Soup <b>for</b> all' })
      await added.waitFor()
      expect(await added.locator('time').textContent()).to.equal('14 February 2027')
      expect(await added.locator('em').textContent()).to.equal('bowl')
      expect(await added.count()).to.equal(1)
    }
    const stored = await fetch(`${demo.url}/events.html`, { headers: { Range: 'selector=#events > li:last-child' } })
    expect(await stored.text()).to.include('<code itemprop="code">soup</code>')
  })

  it('shows a proposed event, and once, though the page was fetching the calendar meanwhile', async () => {
    const page = await demo.visit('/rules.html')
    const proposed = Promise.withResolvers<void>()
    // What it fetches when it begins to listen comes late, and as it was before.
    await page.route('**/events.html', async route => {
      const request = route.request()
      if (request.method() !== 'GET' || request.resourceType() !== 'fetch') return route.fallback()
      const response = await route.fetch()
      await proposed.promise
      await route.fulfill({ response })
    })
    await page.goto('/events.html')
    // Once for the events, and once for the comments below.
    await comes(page, 'looks.begun === 2')
    await propose(page, { ...EVENT, Name: 'Early birds', Code: 'early', Day: '2027-05-05' })
    proposed.resolve()
    // The comments are fetched a second time or not: as what is told of the event comes to them early or late.
    await comes(page, 'looks.done > 2 && looks.done === looks.begun')
    expect(await page.locator('#events > li', { hasText: 'Early birds' }).count()).to.equal(1)
  })

  it('EVT-55 shows a proposed event once, however long the page has been open', async () => {
    const page = await demo.visit('/events.html')
    await page.clock.install()
    await page.clock.fastForward(60_000)
    await propose(page, { ...EVENT, Name: 'Late birds', Code: 'late', Day: '2027-06-06' })
    // Whatever the page is told of comes in order.
    await propose(await demo.visit('/events.html'), { ...EVENT, Name: 'After all', Code: 'after', Day: '2027-06-07' })
    await page.locator('#events > li', { hasText: 'After all' }).waitFor()
    expect(await page.locator('#events > li', { hasText: 'Late birds' }).count()).to.equal(1)
  })

  for (const [name, changes, sentence, fields] of [
    ['MOD-23 a name that is missing', { Name: ' ' }, 'An event needs a name.', 'name'],
    [
      'MOD-23 everything missing',
      { Name: '', Day: '', Place: '', Code: '', 'What happens': '' },
      'An event needs a name. An event needs a day. An event needs a place. An event needs a code. Say in a few words',
      'name date place code text',
    ],
    [
      'MOD-94 markup that its shape does not permit',
      {
        Day: '2027-03-02',
        'What happens': 'Soup.<img src="/x.png" onerror="document.title=1"><script>document.title=2</script>',
      },
      'No markup but <em> may stand in what happens.',
      'text',
    ],
    ['MOD-25 a day that does not exist', { Day: '2027-02-30' }, 'The day must be one that exists', 'date'],
    ['MOD-26 a place that is not listed', { Place: 'My kitchen' }, 'That place is not in the calendar', 'place'],
    [
      'MOD-40 a code that is taken',
      { Code: 'lantern-walk', Day: '2027-03-01' },
      'Another event is called “lantern-walk” already',
      'code',
    ],
    [
      'MOD-41 a place that is taken that day',
      { Code: 'x', Place: 'Ferry landing', Day: '2026-12-12' },
      'Ferry landing is taken on that day',
      'date',
    ],
    [
      'several at once',
      { Day: 'soon', Place: 'Here' },
      'The day must be one that exists, written like 2027-02-14. That place',
      'date place',
    ],
  ] as const) {
    it(`says what is wrong with an event: ${name}`, async () => {
      const page = await demo.visit('/events.html', /422/)
      const before = await page.locator('#events > li').count()
      const said = await propose(page, { ...EVENT, Code: 'other', ...changes })
      expect(said).to.equal('Not yet: please look at the marked fields. Your words are still in the form.')
      const marked = page.locator('#event-form [aria-invalid]')
      const wrong = await marked.evaluateAll(all => all.map(each => each.getAttribute('name')))
      expect(wrong.join(' ')).to.equal(fields)
      // What is wrong with a field stands below it, and is read with it.
      const told = await marked.evaluateAll(all =>
        all.map(each => {
          const below = each.closest('label')?.nextElementSibling
          const ids = each.getAttribute('aria-describedby')?.split(' ') ?? []
          return below && ids.includes(below.id) ? below.textContent : ''
        }),
      )
      expect(told.join(' ')).to.include(sentence)
      expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).to.equal(wrong[0])
      expect(await page.locator('#event-form [name=name]').inputValue()).to.equal({ ...EVENT, ...changes }.Name)
      expect(await page.title()).to.equal('Events · Bench')
      expect(await page.locator('#events > li').count()).to.equal(before)
    })
  }

  it('MOD-94 takes no markup into the calendar that its shape does not permit', async () => {
    for (const inside of ['<script>x()</script>', '<a href="/">x</a>', '<p onclick="x()">x</p>']) {
      const body = `<li class="event" itemscope itemtype="https://bench.example/Event"><h3 itemprop="name">n</h3><p class="by"><b class="name" itemprop="place">Park bench</b><time itemprop="date" datetime="2028-01-01">d</time><code itemprop="code">shape</code></p><p itemprop="text">t</p>${inside}</li>`
      const headers = { Range: 'selector=#events', Cookie: await session() }
      const response = await fetch(`${demo.url}/events.html`, { method: 'POST', headers, body })
      expect([response.status, /failedConstraint">permit</.test(await response.text())]).to.deep.equal([422, true])
    }
  })

  async function session(): Promise<string> {
    const response = await fetch(`${demo.url}/events.html`)
    await response.arrayBuffer()
    return response.headers
      .getSetCookie()
      .map(cookie => cookie.split(';')[0])
      .join('; ')
  }
})
