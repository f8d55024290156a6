/**
 * Elements that composition shows and the ordinary reading of HTML drops or moves: an element with a foreign prefix stands
 * in a select or a table where it is written. What nobody has judged must not be shown (COMP-6, COMP-147).
 */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const VOTE = 'https://tides.example/Vote'
const SCHEMA = `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${VOTE}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="by"><meta itemprop="cardinality" content="1..1"></div></div>`
const PAGE = composed(
  '<p:include selector="#c" resource="/data.html"></p:include><div id="box" xmlns:w="http://www.w3.org/w"></div>' +
    '<select id="sel"></select><table><tbody id="tb"></tbody></table>',
)
/** Without the property that its schema wants. */
const BAD = `<b itemscope itemtype="${VOTE}"><i itemprop="n">FORGED</i></b>`
const GOOD = `<b itemscope itemtype="${VOTE}"><i itemprop="by">Ann</i></b>`

describe('elements with foreign prefixes', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/data.html', page('<ul id="c"></ul>'))
    await put(server, '/model.html', page(SCHEMA))
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/page.html', PAGE)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'GET|POST|PUT|DELETE', 'Allow', '/page.html', ':root *'],
        ['*', 'GET|MOVE', 'Allow', '/page.html'],
      ),
    )
  })

  const W = 'xmlns:w="http://www.w3.org/w"'
  const hiding: [what: string, around: (item: string) => string][] = [
    ['in a select', item => `<select><w:g ${W}>${item}</w:g></select>`],
    ['in an option', item => `<select><option><w:g ${W}>${item}</w:g></option></select>`],
    ['in a table', item => `<table><w:g ${W}>${item}</w:g></table>`],
    ['in a row', item => `<table><tr><w:g ${W}>${item}</w:g></tr></table>`],
    ['in a column group', item => `<table><colgroup><w:g ${W}>${item}</w:g></colgroup></table>`],
    ['in a frameset', item => `<frameset><w:g ${W}>${item}</w:g></frameset>`],
    ['in a comment that is none', item => `<!--><w:g ${W}>${item}</w:g>-->`],
    ['in text areas', item => `<w:g ${W}><textarea></w:g>${item}</textarea>`],
    ['across end tags', item => `<w:g ${W}><p></w:g>${item}</p>`],
    ['in SVG', item => `<svg><w:g ${W}>${item}</w:g></svg>`],
    ['in a template', item => `<template><w:g ${W}>${item}</w:g></template>`],
  ]
  for (const [what, around] of hiding)
    it(`COMP-147 ${what}: what is shown has been judged`, async () => {
      for (const place of ['#box', '#sel', '#tb', 'body'])
        for (const item of [BAD, GOOD]) {
          const { status } = await http('POST', '/page.html', { Range: `selector=${place}` }, around(item))
          const shown = await http('GET', '/page.html', { Range: 'selector=b[itemscope]' })
          expect(shown.text, `${place}: ${status}`).not.to.include('FORGED')
          if (status !== 206) expect(shown.status, `${place}: ${status}`).to.equal(416)
          await put(server, '/page.html', PAGE)
        }
    })

  it('COMP-147 where HTML has them as well, they are judged and allowed', async () => {
    const post = (item: string) =>
      http('POST', '/page.html', { Range: 'selector=#box' }, `<w:g ${W}><u>${item}</u></w:g>`)
    expect((await post(GOOD)).status).to.equal(206)
    expect((await http('GET', '/page.html', { Range: 'selector=b[itemscope]' })).text).to.include('Ann')
    expect((await post(BAD)).text).to.include('cardinality')
  })

  for (const [what, around] of hiding)
    it(`COMP-147 ${what}: a whole document is judged by what its page shows`, async () => {
      for (const item of [BAD, GOOD]) {
        const whole = PAGE.replace('<div id="box"', `${around(item)}<div id="box"`)
        const outcome = await put(server, '/page.html', whole).then(
          () => 'stored',
          (fault: Error) => fault.message,
        )
        const shown = await http('GET', '/page.html', { Range: 'selector=b[itemscope]' })
        expect(shown.text, outcome).not.to.include('FORGED')
        if (item === GOOD) expect(outcome).to.equal('stored')
        else expect(shown.status, outcome).to.equal(416)
      }
    })

  it('COMP-147 MOD-40 MOD-51 what only composition shows is found by nothing, though its values count', async () => {
    const PASS = 'https://tides.example/Pass'
    const property = (name: string, more: string) =>
      `<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="${name}">${more}</div>`
    const model = `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${PASS}">${property('no', '<meta itemprop="unique" content="true">')}${property('of', `<meta itemprop="references" content="${PASS}#no">`)}</div>`
    await put(server, '/passes.html', page(model))
    const pass = (no: string, of: string) =>
      `<b itemscope itemtype="${PASS}"><i itemprop="no">${no}</i><i itemprop="of">${of}</i></b>`
    const hidden = (of: string) => `<select><option><w:g ${W}>${pass('1', of)}</w:g></option></select>`
    const refusal = (path: string, markup: string) => put(server, path, markup).catch((fault: Error) => fault)
    const withHidden = (of: string) => PAGE.replace('<div id="box"', `${hidden(of)}<div id="box"`)
    expect(await refusal('/page.html', withHidden('nobody'))).to.be.instanceOf(Error)
    await put(server, '/page.html', withHidden('1'))
    expect((await http('GET', '/page.html', { Range: 'selector=b[itemscope]' })).status).to.equal(206)
    await put(server, '/first.html', page(pass('2', '1')))
    for (const others of [pass('1', ''), pass('2', ''), pass('3', 'nobody')])
      expect(await refusal('/second.html', page(others)), others).to.be.instanceOf(Error)
    await put(
      server,
      '/count.html',
      composed(`<u r:all="[itemtype='${PASS}']" e:n="all.count()"><p:stamp n></p:stamp></u>`),
    )
    await put(server, '/rules.html', rulesPage(['*', 'GET', 'Allow', '/*']))
    expect((await http('GET', '/count.html')).text).to.include('<u>1</u>')
  })

  it('COMP-147 whoever may write the page may put them anywhere; beside them, others may write', async () => {
    const hidden = `<select><option><w:g ${W}>${GOOD}</w:g></option></select>`
    await put(server, '/page.html', PAGE.replace('<div id="box"', `${hidden}<div id="box"`))
    const post = (markup: string) => http('POST', '/page.html', { Range: 'selector=#box' }, markup)
    expect((await post('<w:g>1</w:g>')).status).to.equal(206)
    const refused = await post(hidden)
    expect(refused.status).to.equal(422)
    expect(refused.text).to.include('where HTML has none')
  })
})
