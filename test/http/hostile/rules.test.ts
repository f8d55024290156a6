import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { leavesTheLoop, runsInTime } from '../../support/loop-hold.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting } from '../write-checks.ts'

const row = (part: string, count: number, between = ' ') => Array(count).fill(part).join(between)
const many = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join(',')

/** 10,000 elements beside each other, and 2,000 inside each other. */
const WIDE = page(
  `<main>${Array.from({ length: 3_000 }, (_, n) => `<p class="a b">x</p><div class="a" title="${n}"><b class="c">y</b></div>`).join('')}</main><i id="last">x</i>`,
)
const DEEP = page(
  `${`${'<div class="a b">x'.repeat(490)}<p class="c">leaf</p>${'</div>'.repeat(490)}`.repeat(4)}<i id="last">x</i>`,
)

/** Selectors that engines which try everything never come to an end with. */
const SELECTORS = [
  `.no ${row('div', 12)} p`,
  row('.a', 512),
  row('* ~ *', 100),
  `${row('*', 400, '~')}.no`,
  `:has(${row('*', 100)} .no)`,
  `:has(${row('*', 100, ' ~ ')} .no)`,
  `${row(':not(.no *, .no ~ *)', 40, ' ~ ')}.zz`,
  `${row(':is(* *, * ~ *)', 40)} .zz`,
  `:is(${Array(40).fill(':has(~ .no)').join(',')})`,
  ':not(:has(* .no)) > .zz',
  many(200, at => `.x${at} *`),
  many(100, at => `:nth-child(${at}n+3 of :not(.x${at}))`),
  many(200, at => `[title*="${at}${'a'.repeat(16)}"]`),
  `[title*="${'a'.repeat(4_000)}b"] > b`,
  `${':nth-child(2n of '.repeat(30)}.zz${')'.repeat(30)}`,
  many(60, at => `:has(.x${at} ~ * .no)`),
  many(100, at => `:lang(x${at}) ~ :lang(y${at})`),
  `${':not('.repeat(200)}.a${')'.repeat(200)}`,
  '('.repeat(5_000),
  '['.repeat(5_000),
  '\\'.repeat(5_000),
  `"${'\\"'.repeat(3_000)}`,
]

/** Patterns that backtracking matchers never come to an end with. */
const GLOBS = [
  `/${'*a'.repeat(60)}*b`,
  `/${'*'.repeat(120)}b`,
  `/${'**/'.repeat(60)}b`,
  `/${'*/**/'.repeat(40)}b`,
  `/${'?*'.repeat(60)}b`,
  `/${'[a-z]*'.repeat(60)}b`,
  `/${'{a,aa}'.repeat(30)}b`,
  `/${'{a,{b,'.repeat(30)}c${'}}'.repeat(30)}`,
  `/${'{1..9}'.repeat(12)}`,
  '/{1..1000000}',
  `/${'@(a|aa)'.repeat(30)}b`,
  `/${'+(+(a))'.repeat(20)}b`,
  `/${'!(a)*'.repeat(30)}b`,
  `/${'*(a*)'.repeat(30)}b`,
  `/${'('.repeat(200)}`,
  `/${'['.repeat(200)}`,
  `/${'{'.repeat(200)}`,
  `/${'a'.repeat(10_000)}*`,
]

describe('hostile rules and selectors', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/wide.html', WIDE)
    await put(server, '/deep.html', DEEP)
  })
  after(() => server.close())

  describe('selectors of rules', () => {
    for (const [i, selector] of SELECTORS.entries()) {
      it(`SEC-4 KEY-1 no. ${i}, ${selector.slice(0, 40)}: stored, compiled and decided in time`, async () => {
        const scoped = (action: string) =>
          Array.from({ length: 20 }, (_, at): RuleLine => ['*', 'PUT', action, '/*.html', `${selector}:not(#x${at})`])
        const paths = ['/wide.html', '/deep.html']
        // Allows that never match open nothing.
        await runsInTime(() => put(server, '/rules.html', rulesPage(...scoped('Allow'))))
        for (const path of paths)
          await runsInTime(async () => {
            const answer = await http('PUT', path, selecting('#last'), '<i id="last">x</i>')
            expect(answer.status).to.be.oneOf([206, 401])
          })
        // Denies that cannot be decided refuse.
        await runsInTime(() =>
          put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*.html'], ...scoped('Deny'))),
        )
        for (const path of paths)
          await runsInTime(async () => {
            const answer = await http('PUT', path, selecting('#last'), '<i id="last">x</i>')
            expect(answer.status).to.be.oneOf([206, 401])
            const every = await http('GET', path, { ...selecting('p'), Accept: 'multipart/mixed' })
            expect(every.status).to.equal(206)
          })
      })
    }

    it('RULE-10 an Allow whose selector does not parse opens nothing, a Deny shuts the whole page', async () => {
      for (const selector of ['p[', ':unknown', '('.repeat(5_000), `${':not('.repeat(500)}p`]) {
        await put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/wide.html', selector]))
        expect((await http('PUT', '/wide.html', selecting('#last'), '<i id="last">x</i>')).status).to.equal(401)
        await put(
          server,
          '/rules.html',
          rulesPage(['*', 'PUT', 'Allow', '/wide.html'], ['*', 'PUT', 'Deny', '/wide.html', selector]),
        )
        expect((await http('PUT', '/wide.html', selecting('#last'), '<i id="last">x</i>')).status).to.equal(401)
        expect((await http('PUT', '/wide.html', {}, WIDE)).status).to.equal(401)
      }
    })
  })

  describe('patterns of rules', () => {
    const targets = [`/${'a'.repeat(250)}`, `/${'a/'.repeat(400)}b`, `/${'ab'.repeat(120)}.html`, '/a']
    for (const [i, glob] of GLOBS.entries()) {
      it(`SEC-4 PATH-2 no. ${i}, ${glob.slice(0, 40)}: stored, compiled and matched in time`, async () => {
        const rules = (action: string) => Array.from({ length: 20 }, (): RuleLine => ['*', 'PUT', action, glob])
        await runsInTime(() => put(server, '/rules.html', rulesPage(...rules('Allow'), ...rules('Deny'))))
        for (const target of targets) {
          await runsInTime(async () => {
            expect((await http('PUT', target, {}, 'x')).status, target.slice(0, 20)).to.equal(401)
            await http('MOVE', target, { Destination: `${target}c` })
            await http('OPTIONS', target, { Accept: 'multipart/mixed' })
          })
        }
      })
    }

    it('SEC-4 many rules: a thousand patterns of many stars take their time once, not at every request', async () => {
      const lines = Array.from(
        { length: 1_000 },
        (_, at): RuleLine => ['*', 'PUT', 'Allow', `/${'*a'.repeat(20)}*${at}b`],
      )
      await put(server, '/rules.html', rulesPage(...lines))
      await runsInTime(async () => {
        for (let i = 0; i < 5; i++) expect((await http('PUT', `/${'a'.repeat(240)}`, {}, 'x')).status).to.equal(401)
      })
    })
  })

  describe('selectors of requests', () => {
    it('HTTP-47 one that would take too long on this document is 422, for every write', async () => {
      await put(server, '/long.html', page(`<main>${'<p class="a"><b>x</b></p>'.repeat(6_000)}</main>`))
      const costly = selecting(many(100, at => `:has(.x${at} ~ * .no)`))
      for (const method of ['PUT', 'POST', 'DELETE']) {
        const answer = await leavesAlone(server, ['/long.html'], () => http(method, '/long.html', costly, '<p>x</p>'))
        expect(failureOf(answer), method).to.equal('422 InvalidSelector')
      }
    })

    before(() => put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*'])))
    for (const [i, selector] of SELECTORS.entries()) {
      it(`HTTP-47 no. ${i}, ${selector.slice(0, 40)}: found, not found or refused, in time`, async () => {
        for (const path of ['/wide.html', '/deep.html']) {
          await leavesTheLoop(async () => {
            for (const method of ['PUT', 'POST', 'DELETE']) {
              const range = selecting(`${selector}, .zz`)
              const answer = await leavesAlone(server, [path], () =>
                http(method, path, { ...range, 'If-Match': '"none"' }, '<p>x</p>'),
              )
              expect(failureOf(answer)).to.match(
                /^(412 PreconditionFailed|416 SelectorNoMatch|422 InvalidSelector|400 \w+)$/,
              )
            }
            const fields = moving(path, '#last', selector, 'append')
            const moved = await leavesAlone(server, [path], () =>
              http('MOVE', path, { ...fields, 'If-Match': '"none"' }),
            )
            expect(failureOf(moved)).to.match(/^(412 PreconditionFailed|416 SelectorNoMatch|422 InvalidSelector)$/)
          })
        }
      })
    }
  })
})
