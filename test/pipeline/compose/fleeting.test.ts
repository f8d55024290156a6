/** What a page has read of the clock and of chance decides whether its answer may be given again; its text does not. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { compose } from '../../../pipeline/compose/compose.ts'
import { pageLanguages } from '../../../pipeline/compose/connected.ts'
import { createJavaScript } from '../../../pipeline/language/javascript/javascript.ts'
import { page, put } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { anonymousViewer, composed } from './composing.ts'
import { schema } from './site-of-one-case.ts'

describe('Pages that read the clock or chance', () => {
  let server: TestServer
  let send: Client
  let cookie: string

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    cookie = (await send('GET', '/')).headers['set-cookie']?.split(';')[0] ?? ''
    const methods = [
      { name: 'draw', sessel: 'String.random(20)' },
      { name: 'throwDice', javascript: 'export default () => String(Math.random())' },
      { name: 'word', sessel: '"Now random Date.now()"' },
    ]
    await put(server, '/s.html', page(schema('urn:t', methods)))
  })
  after(() => server.close())

  /** Two answers, one soon after the other, to a visitor who has a session: what is kept is given to them. */
  async function twice(body: string): Promise<[string, string]> {
    await put(server, '/page.html', composed(`<main xmlns:t="urn:t">${body}</main>`))
    const get = async () => (await send('GET', '/page.html', { Cookie: cookie })).text
    return [await get(), await get()]
  }

  const CHANCE = [
    ['an expression', '<b e:x="String.random(20)"><p:stamp x/></b>'],
    ['a number of an expression', '<b e:x="Integer.random(0, 1000000000)"><p:stamp x/></b>'],
    ['a filter', '<b p:template="text/liquid">{{ 20 | random }}</b>'],
    ['a choice', '<b p:template="text/liquid">{{ (1..100000) | sample }}</b>'],
    ['words', '<b p:template="text/liquid">{{ 9 | diceware }}</b>'],
    ['a script', '<b j:x="String(Math.random())"><p:stamp x/></b>'],
    ['a name that is put together', `<b j:x="String(globalThis['Ma' + 'th']['ran' + 'dom']())"><p:stamp x/></b>`],
    ['an identifier of a script', '<b j:x="crypto.randomUUID()"><p:stamp x/></b>'],
    ['a method', '<t:draw/>'],
    ['a method in a script', '<t:throwDice/>'],
  ] as const
  for (const [what, body] of CHANCE)
    it(`COMP-4 JS-7 chance is drawn anew for each answer: ${what}`, async () => {
      const [first, second] = await twice(body)
      expect(first).to.match(/<main>.*\w/)
      expect(first).not.to.equal(second)
    })

  const CLOCK = [
    ['an expression', '<b e:x="Temporal.Now.instant()"><p:stamp x/></b>'],
    ['a template', '<b p:template="text/liquid">{{ "now" | date: "%s%N" }}</b>'],
    ['a script', '<b j:x="new Date().getTime()"><p:stamp x/></b>'],
    ['a script by another way', `<b j:x="new (new Date(0).constructor)().getTime()"><p:stamp x/></b>`],
  ] as const
  for (const [what, body] of CLOCK)
    it(`COMP-4 the clock is looked at for each answer: ${what}`, async () => {
      await put(server, '/page.html', composed(`<main>${body}</main>`))
      const get = async () => (await send('GET', '/page.html', { Cookie: cookie })).text
      const first = await get()
      for (let i = 0; i < 50; i++) if ((await get()) !== first) return
      expect.fail('the answer is that of the first moment')
    })

  const SAME = [
    ['names of it in a text', '<b e:x="&quot;random Now uuid bcrypt&quot;"><p:stamp x/></b>'],
    ['a method whose text names it', '<t:word/>'],
    ['a branch that is not taken', '<b e:x="false ? String.random(5) : 1"><p:stamp x/></b>'],
    ['a template that names it', '<b p:template="text/liquid">random{% if false %}{{ 5 | random }}{% endif %}</b>'],
    ['a script with a given date', '<b j:x="new Date(0).getTime() + Math.max(1, 2)"><p:stamp x/></b>'],
    ['a salt of its own', `<b p:template="text/liquid">{{ "x" | argon2: salt: "12345678", memory: 8, time: 1 }}</b>`],
  ] as const
  for (const [what, body] of SAME)
    it(`COMP-4 what is only written is no reading, so that the answer is kept: ${what}`, async () => {
      await put(server, '/page.html', composed(`<main xmlns:t="urn:t">${body}</main>`))
      const held = await server.site.find('/page.html')
      if (!held) throw new Error('not stored')
      const languages = pageLanguages(createJavaScript())
      const { reads } = await compose(server.site, held, anonymousViewer('/page.html'), languages)
      expect(reads.fleeting).to.equal(false)
    })
})
