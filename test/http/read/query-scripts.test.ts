// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** Expressions and scripts that call each other, in queries, slots and pages. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { property, schema } from '../../pipeline/model/markup.ts'
import { NS, page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const TEA = 'urn:t:Tea'
const CUP = 'urn:t:Cup'
const RING = 'urn:t:Ring'
const IMPORT = `import Cup from "${CUP}" with { type: "${NS}/Schema" }; import Ring from "${RING}" with { type: "${NS}/Schema" };`

const script = (slot: string, source: string) => ({
  markup: `<div itemprop="${slot}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${source}</script></div>`,
})
const sessel = (slot: string, source: string) => ({
  markup: `<script itemprop="${slot}" type="text/sessel">${source}</script>`,
})
const method = (name: string, implementation: { markup: string }, ...parameters: string[]) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${parameters
    .map(
      each =>
        `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="${each}"></div>`,
    )
    .join('')}${implementation.markup}</div>`

describe('Expressions that call scripts, and the reverse', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' }, settings: { javascript: { time: '300ms' } } })
    send = client(server)
    await put(
      server,
      '/schema.html',
      page(
        schema(
          TEA,
          {},
          property('name'),
          property('masked', { '@read': script('@read', 'export default v => v.replace(/./g, "*")') }),
          property('loud', {
            '@computed': script('@computed', 'export default function () { return this.name.toUpperCase() }'),
          }),
          property('checked', {
            '@validate': sessel('@validate', `@schema T url("${TEA}"); T.search().first().loud == "SENCHA"`),
          }),
          method('twice', script('implementation', 'export default function (n) { return this.name + n + n }'), 'n'),
          method('both', script('implementation', 'export default function () { return this.plain() + "!" }')),
          method('plain', sessel('implementation', 'self.name + "?"')),
          method('count', script('implementation', 'export default function () { return this.notes() }')),
          method('notes', sessel('implementation', '(${b.note}).count()')),
          method('where', script('implementation', 'export default () => Context.request.path')),
          method('note', script('implementation', 'export default v => { Context.noted = v + "!"; return "" }'), 'v'),
          method('cup', script('implementation', `${IMPORT} export default () => new Cup({ owner: "Ada" })`)),
          method('holds', sessel('implementation', 'cup.handle'), 'cup'),
          method(
            'held',
            script('implementation', `${IMPORT} export default function () { return this.holds(new Cup()) }`),
          ),
          method(
            'inner',
            script(
              'implementation',
              `${IMPORT} export default function () { return this.holds(new Cup()) + this.held() }`,
            ),
          ),
          method('size', script('implementation', `${IMPORT} export default () => new Cup().measured()`)),
          method('ring', script('implementation', `${IMPORT} export default () => new Ring()`)),
          method(
            'rings',
            script('implementation', `${IMPORT} export default function () { return this.held(new Ring()) }`),
          ),
          method('fails', script('implementation', 'export default () => { throw new Error("no luck") }')),
        ) +
          schema(
            CUP,
            {},
            property('owner'),
            property('handle', { default: script('default', 'export default () => "left"') }),
            method('measured', script('implementation', 'export default function () { return this.handle.length }')),
          ) +
          schema(
            RING,
            {},
            property('next', { default: script('default', `${IMPORT} export default () => new Ring()`) }),
          ),
      ),
    )
    await put(
      server,
      '/tea.html',
      page(`<div itemscope itemtype="${TEA}"><i itemprop="name">Sencha</i><i itemprop="masked">abc</i></div>`),
    )
    await put(server, '/secret.html', page('<b class="note">x</b>'))
    await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
  })
  after(() => server.close())

  for (const type of ['text/javascript', 'application/javascript', 'module'])
    it(`JS-1 a query is no place for scripts: ${type}`, async () => {
      const answer = await send('QUERY', '/schema.html', { 'Content-Type': type }, '1 + 1')
      expect(answer.status).to.equal(400)
    })

  it('JS-1 a script of a page is never run by the server', async () => {
    const text = page('<script>document.title = "run"</script><script type="module">throw 1</script>')
    await put(server, '/plain.html', text)
    expect((await send('GET', '/plain.html')).text).to.equal(text)
  })

  const query = (program: string) => send('QUERY', '/tea.html', { 'Content-Type': 'text/sessel' }, program)
  const PRELUDE = `@schema T url("${TEA}"); let it = T.search().first(); `
  for (const [rule, program, expected] of [
    ['JS-16 a method', `${PRELUDE}it.twice(2)`, 'Sencha22'],
    ['JS-16 a method that calls an expression', `${PRELUDE}it.both()`, 'Sencha?!'],
    ['MOD-60 a computed property', `${PRELUDE}it.loud`, 'SENCHA'],
    ['MOD-71 a read resolver', `${PRELUDE}it.masked`, '***'],
    ['SES-126 what the query does not reach', `${PRELUDE}it.count()`, 0],
    ['JS-9 JS-17 a result whose default is', `${PRELUDE}it.cup().handle`, 'left'],
    ['JS-9 JS-17 an argument whose default is', `${PRELUDE}it.held()`, 'left'],
    ['JS-9 JS-17 arguments of methods of methods, whose default is', `${PRELUDE}it.inner()`, 'leftleft'],
    ['JS-9 JS-17 a receiver whose default is', `${PRELUDE}it.size()`, 4],
    ["JS-16 the caller's Context", `${PRELUDE}it.where()`, '/tea.html'],
  ] as const)
    it(`${rule} in JavaScript, in a QUERY`, async () => {
      const { status, text } = await query(program)
      expect([status, text]).to.deep.equal([200, JSON.stringify(expected)])
    })

  for (const name of ['ring', 'rings'])
    it(`JS-17 JS-32 a default in JavaScript that builds itself ends: ${name}`, async () => {
      const { status, text } = await query(`${PRELUDE}it.${name}()`)
      expect(status).to.equal(503)
      expect(text).to.include('BudgetExceeded')
      expect((await query(`${PRELUDE}it.size()`)).text).to.equal('4')
    })

  it('JS-16 JS-43 a failure is an error of the expression', async () => {
    const { status, text } = await query(`${PRELUDE}it.fails()`)
    expect(status).to.equal(500)
    expect(text).to.include('no luck')
    expect((await query(`${PRELUDE}try { it.fails() } catch (e) { "caught" }`)).text).to.equal('"caught"')
  })

  it('MOD-65 a slot in Sessel asks a computed property in JavaScript', async () => {
    const item = `<p itemscope itemtype="${TEA}"><i itemprop="checked">1</i></p>`
    expect((await send('PUT', '/ok.html', { 'Content-Type': 'text/html' }, page(item))).status).to.equal(201)
  })

  it('JS-16 COMP-20 what a script writes to the Context of a page is seen afterwards', async () => {
    const main = `<p e:a='@schema T url("${TEA}"); T.search().first().note("x")' e:b="Context.noted"><q:stamp b></q:stamp></p>`
    await put(
      server,
      '/page.html',
      `<!doctype html><html xmlns:e="${NS}/Binding/Sessel" xmlns:q="${NS}/1.0"><body>${main}</body></html>`,
    )
    const { status, text } = await send('GET', '/page.html')
    expect([status, text]).to.deep.equal([200, '<!DOCTYPE html><html><head></head><body><p>x!</p></body></html>'])
  })
})
