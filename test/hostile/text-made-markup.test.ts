/**
 * Markup that has no meaning where it is put: the parsed text is the document then, and what stands beside the write may be
 * read in another way. What was text, or had another element around it, is judged like what was brought (COMP-147, MOD-111).
 */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { moving, selecting, textOf } from '../http/write-checks.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { meta, property, schema } from '../pipeline/model/markup.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const INCLUDE = '<p:include selector="#secret"></p:include>'
const VOTE = 'https://tides.example/Vote'

describe('what stands beside markup that breaks out of its place', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/secret.html', page('<div id="secret"><b>TOPSECRET</b></div>'))
    await put(server, '/model.html', page(schema(VOTE, {}, property('by', { cardinality: '1..1' }))))
  })
  after(() => server.close())
  beforeEach(() =>
    put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'GET|POST|PUT|DELETE', 'Allow', '/page.html', ':root *'],
        ['*', 'GET|MOVE', 'Allow', '/page.html'],
        ['*', 'GET|POST|PUT|DELETE|MOVE', 'Allow', '/votes.html'],
        ['*', 'GET', 'Deny', '/secret.html'],
      ),
    ),
  )

  const hidden: [what: string, around: string][] = [
    ['a CDATA section of SVG', `<svg><g id="s"></g><![CDATA[x>${INCLUDE}]]></svg>`],
    ['a CDATA section of MathML', `<math><mi id="s"></mi><mrow><![CDATA[x>${INCLUDE}]]></mrow></math>`],
  ]
  for (const [what, markup] of hidden)
    it(`COMP-147 a directive in ${what} does not come to life by a move`, async () => {
      await put(server, '/page.html', composed('<div id="native"></div>'))
      expect((await http('POST', '/page.html', selecting('#native'), markup)).status).to.equal(206)
      for (const element of ['<p id="m">1</p>', '<ul id="m"></ul>', '<b id="m">1</b>', '<table id="m"></table>']) {
        expect((await http('POST', '/page.html', selecting('#native', 'prepend'), element)).status).to.equal(206)
        const before = await textOf(server, '/page.html')
        for (const placement of ['before', 'append']) {
          const moved = await http('MOVE', '/page.html', moving('/page.html', '#m', '#s', placement))
          const shown = await http('GET', '/page.html')
          expect(shown.text, `${element} ${placement} ${moved.status}`).not.to.include('TOPSECRET')
          await put(server, '/page.html', before)
        }
        await http('DELETE', '/page.html', selecting('#m'))
      }
    })

  const broken: [liquid: string, page: (host: string, list: string) => string, markup: string][] = [
    [
      '<table>',
      (host, list) => `<math><tr ${host}</tr>${list}</math>`,
      '<style><i TEMPLATE>{{ 6 | times: 7 }}</i></style>',
    ],
    [
      '</p>',
      (host, list) => `<svg><option ${host}</option>${list}</svg>`,
      '<title><x TEMPLATE>{{ 6 | times: 7 }}</x></title>',
    ],
    ['<div>', (host, list) => `<svg><select ${host}</select>${list}</svg>`, '<style></g></svg><b>42</b></style>'],
  ]
  for (const [liquid, pageOf, markup] of broken)
    it(`COMP-147 LIQ-6 nor where ${liquid} in Liquid ends SVG or MathML for HTML alone`, async () => {
      const host = `p:template="text/liquid">{{ "${liquid}" }}`
      await put(server, '/page.html', composed(pageOf(host, '<g id="in">1</g>')))
      const sent = markup.replace('TEMPLATE', 'p:template="text/liquid"')
      expect((await http('POST', '/page.html', selecting('#in'), sent)).status).to.equal(422)
      expect((await http('GET', '/page.html')).text).not.to.include('42')
      expect((await http('POST', '/page.html', selecting('#in'), '<a>2</a>')).status).to.equal(206)
      expect((await http('GET', '/page.html')).text).to.include('<g id="in">1<a>2</a></g>')
    })

  it('COMP-147 LIQ-6 nor where what is removed there is an element for HTML alone, and begins a comment in pages', async () => {
    const host = '<tr p:template="text/liquid">{{ "<table>" }}</tr>'
    const program = '<style><i p:template="text/liquid">{{ 6 | times: 7 }}--></i></style>'
    const content = `<math>${host}<g id="in"><style id="d"><!--</style>${program}<a id="a">1</a></g></math>`
    await put(server, '/page.html', composed(content))
    const before = (await http('GET', '/page.html')).text
    expect(before).not.to.include('42')
    expect((await http('DELETE', '/page.html', selecting('#d'))).status).to.equal(422)
    expect((await http('GET', '/page.html')).text).to.equal(before)
    expect((await http('DELETE', '/page.html', selecting('#a'))).status).to.equal(204)
  })

  it('HTTP-107 a move that breaks up the place where it comes from asks for the right to PUT the whole', async () => {
    const text = page('<b id="m">1</b><svg id="s"><g></g><a id="a"></a></svg><i id="o"></i>')
    await put(server, '/page.html', text)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'GET|MOVE', 'Allow', '/page.html'],
        ['*', 'DELETE|POST', 'Allow', '/page.html', '#m, #m *, svg, svg *'],
      ),
    )
    expect((await http('MOVE', '/page.html', moving('/page.html', '#m', '#s', 'prepend'))).status).to.equal(422)
    expect(await textOf(server, '/page.html')).to.equal(text)
    expect((await http('MOVE', '/page.html', moving('/page.html', '#a', '#s', 'prepend'))).status).to.equal(204)
  })

  it('MOD-111 an item that loses a property to the markup is judged', async () => {
    const votes = page(
      `<div><p itemscope itemtype="${VOTE}"><b id="b">1</b>${meta('by', 'Ann').replace('meta', 'span')}</p></div>`,
    )
    await put(server, '/votes.html', votes)
    const posted = await http('POST', '/votes.html', selecting('#b', 'after'), '<div>2</div>')
    expect(posted.status, await textOf(server, '/votes.html')).to.equal(422)
    expect(await textOf(server, '/votes.html')).to.equal(votes)
  })
})
