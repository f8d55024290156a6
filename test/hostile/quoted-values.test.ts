// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selectors of expressions look like templates
/** Messages of languages quote the values that they fail at: what pages read elsewhere is not shown by their errors (COMP-148). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const TYPE = 'urn:t:Quoting'
const SECRET = `it's "TOPSECRET`
const TEXT = "(${b.k} from '/secret.html').first().text()"
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
const CODE = `(${TEXT} - 1); self`

const EXPRESSIONS = [
  `${TEXT} - 1`,
  `1 + ${TEXT}`,
  `-${TEXT}`,
  `[${TEXT}] - 1`,
  `{a: ${TEXT}} * 2`,
  `"#{ 1 / ${TEXT} }"`,
  `Temporal.Instant.from(${TEXT})`,
  `Temporal.PlainDate.from(${TEXT})`,
  `Temporal.PlainDate.from({ year: 2020, month: 1, day: 1, calendar: ${TEXT} })`,
  `Temporal.PlainDate.from({ year: 2020, monthCode: ${TEXT}, day: 1 })`,
  `Temporal.Duration.from('PT1H').total(${TEXT})`,
  `Temporal.Now.zonedDateTimeISO(${TEXT}.slice(6))`,
  `'a'.matches(${TEXT} + '[')`,
  `'a'.matches('(' + ${TEXT})`,
  `'a'.matches('x**' + ${TEXT} + '**' + '“'.repeat(90))`,
]
/** Of directives. */
const SELECTORS = ['b:greater-than(text-of(b.k))', 'b:less-than(attr-of("data-k", b.k))', 'i:nth-child(text-of(b.k))']
const SCRIPTS = [
  'document.querySelector(n)',
  'JSON.parse(n)',
  'document.createElement(n + " ")',
  'null[n]',
  'n()',
  '({})[n]()',
  'new RegExp("(" + n)',
  'new DOMParser().parseFromString("", n)',
  'new TextDecoder(n)',
  'await crypto.subtle.digest(n, new Uint8Array(1))',
  'document.createElement("b").insertAdjacentHTML(n, "")',
  'document.createElementNS("urn:x", "xml:" + n.slice(6))',
]

describe('errors of pages', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/secret.html']))
    await put(server, '/secret.html', page(`<b class="k" data-k="TOPSECRET[">${SECRET}</b>`))
    await put(
      server,
      '/model.html',
      page(
        schema(
          TYPE,
          {},
          property('v', { '@read': { markup: `<script itemprop="@read" type="text/sessel">${CODE}</script>` } }),
        ),
      ),
    )
  })
  after(() => server.close())

  const failing = async (markup: string) => {
    await put(server, '/page.html', composed(markup))
    const { status, text } = await http('GET', '/page.html')
    expect(status, markup).to.equal(500)
    return text
  }
  const cases: [what: string, markup: string][] = [
    ...EXPRESSIONS.map((each): [string, string] => [each, `<p e:x="${escaped(each)}">x</p>`]),
    ...SCRIPTS.map((each): [string, string] => [
      each,
      `<div e:n="${escaped(TEXT)}"><p j:x="${escaped(each)}">x</p></div>`,
    ]),
    ...SELECTORS.flatMap((each): [string, string][] => [
      [`r:${each}`, `<p r:x="${escaped(each)}">x</p>`],
      [`include ${each}`, `<p:include selector="${escaped(each)}"></p:include>`],
      [`expression ${each}`, `<p e:x="${escaped(`\${${each}}`)}">x</p>`],
    ]),
    [
      'a selector that a template makes',
      `<div e:x="${escaped(TEXT)}" p:template="text/liquid"><p:include selector="b:{{ x }}("></p:include></div>`,
    ],
    ['a read resolver', `<div itemscope itemtype="${TYPE}"><b itemprop="v">7</b></div>`],
  ]
  for (const [what, markup] of cases)
    it(`COMP-148 ${what}: the error shows nothing of another document`, async () => {
      expect(await failing(markup)).not.to.include('TOPSECRET')
    })

  it('COMP-148 nor where the page holds the value, which visitors may have guessed', async () => {
    const guesses = `<ul><li>${SECRET}</li><li>${JSON.stringify(`${SECRET} `)}</li></ul>`
    const some = [EXPRESSIONS[0], SCRIPTS[2], 'a read resolver']
    for (const [what, markup] of cases.filter(([what]) => some.includes(what)))
      expect(await failing(guesses + markup), what).not.to.include('TOPSECRET')
    for (const directive of ['<p:include selector="#{{ x }}"/>', '<i r:v="b:{{ x }}">x</i>']) {
      const host = `<div e:x="${escaped(`${TEXT}.slice(6)`)}" p:template="text/liquid">${directive}</div>`
      await put(server, '/page.html', composed(`<ul><li>#TOPSECRET, b:TOPSECRET, TOPSECRET</li></ul>${host}`))
      const { status, text } = await http('GET', '/page.html')
      expect(status, directive).to.be.oneOf([404, 500])
      expect(text, directive).to.include('…').and.not.include('TOPSECRET')
    }
  })

  it('SES-50 SES-214 what stands in the page itself is told', async () => {
    expect(await failing('<p e:x="\'own\' - 1">x</p>')).to.include('cannot use &#39;own&#39; in arithmetic')
    expect(await failing('<p j:x="nosuch">x</p>')).to.include('nosuch')
    expect(await failing(`<p e:x="throw 'no \\'' + 'x\\' here'">x</p>`)).to.include('no &#39;x&#39; here')
    expect(await failing(`<p e:x="${escaped(TEXT)} - 1">x</p>`)).to.include('cannot use &#39;…&#39; in arithmetic')
  })
})
