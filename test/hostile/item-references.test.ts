import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { answering, trigger } from '../pipeline/react/site.ts'
import { page, put, remove, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('JSON-LD with itemref: what its reader may not read', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT', 'Allow', '/*.html', '.mine, .theirs']))
  })
  after(() => server.close())

  const VAULT = '<section id=vault><b itemprop=note>TOPSECRET</b></section>'
  const items = (text: string) => http('GET', '/box.html', { Range: `selector=${text}`, Accept: 'application/ld+json' })

  it('SEC-7 an itemref that a visitor writes leads nowhere', async () => {
    await put(server, '/box.html', page(`${VAULT}<div class=mine>x</div>`))
    const fields = { Range: 'selector=.mine' }
    const written = await http('PUT', '/box.html', fields, '<div class=mine itemscope itemref=vault></div>')
    expect(written.status).to.equal(206)
    const answer = await items('.mine')
    expect(answer.status).to.equal(206)
    expect(answer.text).not.to.include('TOPSECRET')
  })

  for (const [what, markup] of [
    ['around the item', '<div id=vault><b itemprop=note>TOPSECRET</b><p class=mine itemscope itemref=vault></p></div>'],
    [
      'by way of another item',
      `${VAULT}<p class=mine itemscope itemref=step></p><p class=theirs id=step itemprop=s itemscope itemref=vault></p>`,
    ],
    ['inside an item', `${VAULT}<p class=mine><span itemscope itemref=vault></span></p>`],
    [
      'an item itself',
      `<b id=vault itemscope itemprop=s><i itemprop=note>TOPSECRET</i></b><p class=mine itemscope itemref=vault></p>`,
    ],
  ] as const)
    it(`SEC-7 nor does one ${what}`, async () => {
      await put(server, '/box.html', page(markup))
      const answer = await items('.mine')
      expect(answer.status).to.equal(206)
      expect(answer.text).not.to.include('TOPSECRET')
    })

  it('SEC-6 SEC-7 whether an element that may not be read has the same id is not told', async () => {
    const told = []
    for (const id of ['twin', 'other']) {
      const open = '<p class=theirs id=twin itemprop=note>open</p><p class=mine itemscope itemref=twin></p>'
      await put(server, '/box.html', page(`<b id=${id} itemprop=note>TOPSECRET</b>${open}`))
      told.push((await items('.mine')).text)
    }
    expect(told).to.deep.equal(['{"note":"open"}', '{"note":"open"}'])
  })

  it('SEC-7 what the reader may read by itself is still referred to, and so is what is read along', async () => {
    await put(
      server,
      '/box.html',
      page(
        '<p class=theirs id=t><b itemprop=note>open</b></p><p class=mine itemscope itemref="t u"><i id=u itemprop=own>own</i></p>',
      ),
    )
    const text = (await items('.mine')).text
    expect(JSON.parse(text)).to.include({ note: 'open', own: 'own' })
  })

  const ENTRY = (id: string) => `<li class=entry itemscope itemref="${id}"><b itemprop=note>of ${id}</b></li>`
  const SHOWING = composed(
    '<p r:es=".entry" p:template="text/liquid">{% for e in es %}{{ e.note }}{% endfor %}</p>' +
      `<p e:ns='(\${.entry} from "DOC").map(e => e.note)'><p:stamp ns/></p>` +
      `<p e:ns='(\${.entry} from "DOC").map(e => e.microdata().note)'><p:stamp ns/></p>`,
  )
  for (const [document, leads] of [
    ['/in.html', false],
    ['/open.html', true],
    ['/guarded.html', false],
  ] as const)
    it(`SEC-7 LIQ-16 SES-143 what visitors add leads ${leads ? 'where everybody may read' : 'nowhere'} in pages that show it`, async () => {
      const grants = rulesPage(
        ['*', 'POST', 'Allow', document, '#in'],
        ['*', 'GET', 'Allow', '/show.html'],
        ['*', 'GET', 'Allow', '/open.html|/guarded.html'],
      )
      await put(server, '/grants.html', grants)
      const guard = { resource: '/guarded.html', method: ['GET', 'QUERY'], action: answering(401, 'a token, please') }
      await put(server, '/guards.html', page(trigger(guard)))
      await put(server, '/show.html', SHOWING.replaceAll('DOC', document))
      await put(server, document, page(`<ul id=in></ul>${VAULT}`))
      expect((await http('POST', document, { Range: 'selector=#in' }, ENTRY('vault'))).status).to.equal(206)
      const shown = (await http('GET', '/show.html')).text
      expect(shown.match(/of vault/g)).to.have.length(3)
      expect(shown.includes('TOPSECRET')).to.equal(leads)
      await remove(server, document)
    })
})

describe('Data models with itemref, as the reference says to keep it out', () => {
  let server: TestServer
  let http: Client
  const NS = 'https://platform.example/ns'
  const schema = (type: string, more = '') =>
    `<section hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${type}">${more}` +
    `<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="state">` +
    '<meta itemprop="type" content="https://schema.org/Integer"></div></section>'

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    http = client(server.port)
    const validator = '<script itemprop="@validate" type="text/sessel">self.attr("itemref") == null</script>'
    const shape =
      `<div hidden itemscope itemtype="${NS}/ShapeConstraint"><meta itemprop="resource" content="/closed.html">` +
      '<code itemprop="selector">#l</code><code itemprop="permit">li[itemscope][itemtype]</code></div>'
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'POST', 'Allow', '/*.html', '#l'],
        ['*', 'POST', 'Allow', '/x.xml', 'list'],
        ['*', 'QUERY', 'Allow', '/*'],
      ),
    )
    await put(server, '/model.html', page(schema('urn:x:Free') + schema('urn:x:Kept', validator) + shape))
    for (const path of ['/list.html', '/closed.html'])
      await put(server, path, page('<b id="there" itemprop="state">no number</b><ul id="l"></ul>'))
    const derived = schema('urn:x:Sub', '<meta itemprop="parent" content="urn:x:Free">').replace('"state"', '"more"')
    await put(server, '/shown-model.html', page(derived + schema('urn:x:Other').replace('"state"', '"else"')))
    const item = (more: string) => `<p ${more} itemscope itemref="there"><b itemprop="state">1</b></p>`
    await put(
      server,
      '/shown.html',
      page(
        `${item('class="i" itemtype="urn:x:Sub"')}<b id="there" itemprop="state mood">no number</b>` +
          `<div class="outer" itemscope>${item('itemprop="part" itemtype="urn:x:Sub"')}</div>` +
          '<p itemscope itemtype="urn:x:Other urn:x:Sub" itemref="there"></p>',
      ),
    )
    await put(
      server,
      '/including.html',
      composed(
        '<p:include resource="/shown.html" selector=".i"></p:include><b id="there" itemprop="state mood">other</b>',
      ),
    )
    await put(
      server,
      '/listing.html',
      composed(
        `<div r:is=".i"><i p:template="text/liquid">{% for i in is %}{{ i.state }}, {{ i.mood }}{% endfor %}</i></div>`,
      ),
    )
  })
  after(() => server.close())

  for (const [rule, path, type, status] of [
    ['MOD-11 leaves what it leads to unjudged', '/list.html', 'urn:x:Free', 206],
    ['MOD-66 is refused by a validator', '/list.html', 'urn:x:Kept', 422],
    ['MOD-95 is refused by a closed shape', '/closed.html', 'urn:x:Free', 422],
  ] as const)
    it(`${rule}: an itemref, and what has none is stored`, async () => {
      const post = (more: string) =>
        http('POST', path, { Range: 'selector=#l' }, `<li itemscope itemtype="${type}"${more}></li>`)
      expect((await post(' itemref="there"')).status).to.equal(status)
      expect((await post('')).status).to.equal(206)
    })

  for (const [what, shown, expected] of [
    ['an instance', '<p:stamp all></p:stamp>', '1'],
    ['a template', '<b p:template="text/liquid">{{ all | join: " " }}</b>', '<b>1</b>'],
    [
      'an instance in a template',
      '<b p:template="text/liquid">{% for i in is %}[{{ i.state }}]{% endfor %}</b>',
      '<b>[][1]</b>',
    ],
  ] as const)
    it(`MOD-11 SES-42 LIQ-15 ${what} has no value that its schema has not judged`, async () => {
      await put(server, '/seen.html', page('<b id="there" itemprop="state">no number</b><ul id="l"></ul>'))
      for (const item of [' itemref="there"><i></i>', '><i itemprop="state">1</i>'])
        expect(
          (
            await http(
              'POST',
              '/seen.html',
              { Range: 'selector=#l' },
              `<li class="seen" itemscope itemtype="urn:x:Seen"${item}</li>`,
            )
          ).status,
        ).to.equal(206)
      await put(server, '/seen-model.html', page(schema('urn:x:Seen')))
      const names = `e:is="@schema Seen url('urn:x:Seen'); Seen.search()" e:all="is.map(i => i.state).filter(s => s != null)"`
      await put(server, '/show.html', composed(`<div ${names}>${shown}</div>`))
      expect((await http('GET', '/show.html')).text).to.include(`<div>${expected}</div>`)
      await remove(server, '/seen.html')
    })

  // Each reader: what it says of an item to whose schema, or its parent's, `state` belongs and `mood` does not.
  const QUERIED = { 'Content-Type': 'text/sessel' }
  const JSON_LD = { Accept: 'application/ld+json' }
  const FIRST = `(\${.i} from "/shown.html").first()`
  for (const [reader, method, path, headers, body, expected] of [
    ['HTTP-70 JSON-LD of a page', 'GET', '/shown.html', JSON_LD, '', '"state":"1","mood":"no number"'],
    [
      'HTTP-70 JSON-LD of elements',
      'GET',
      '/shown.html',
      { ...JSON_LD, Range: 'selector=.i' },
      '',
      '"state":"1","mood":"no number"',
    ],
    [
      'HTTP-70 JSON-LD of an item in another one',
      'GET',
      '/shown.html',
      { ...JSON_LD, Range: 'selector=.outer' },
      '',
      '"part":{"@type":"urn:x:Sub","mood":"no number","state":"1"}',
    ],
    [
      'HTTP-70 JSON-LD of a page that includes it beside another target',
      'GET',
      '/including.html',
      JSON_LD,
      '',
      '"state":"1","mood":"other"',
    ],
    ['SES-143 microdata()', 'QUERY', '/', QUERIED, `${FIRST}.microdata()`, '"state":"1","mood":"no number"'],
    ['SES-42 a member', 'QUERY', '/', QUERIED, `[${FIRST}.state, ${FIRST}.mood]`, '["1","no number"]'],
    [
      'SES-42 an instance that has a second type',
      'QUERY',
      '/',
      QUERIED,
      '@schema O url("urn:x:Other"); O.search().map(o => [o.state, o.mood])',
      '[[null,"no number"]]',
    ],
    ['LIQ-16 a template', 'GET', '/listing.html', {}, '', '<i>1, no number</i>'],
  ] as const)
    it(`MOD-11 ${reader} takes nothing from elsewhere that a schema declares`, async () => {
      const { text } = await http(method, path, headers, body)
      expect(text.replace(/": ?/g, '":').replace(/\n\s*/g, '')).to.include(expected)
    })

  for (const [what, tag, status, expected] of [
    ['an item is refused for a value', 'div', 422, 'null'],
    ['a template, which holds none, shows none', 'template', 206, '[null,{"@type":"urn:x:Free"}]'],
  ] as const)
    it(`MOD-11 MOD-21 in XML ${what}`, async () => {
      await put(server, '/x.xml', '<r xmlns="urn:r"><list/></r>', 'application/xml')
      const item = `<${tag} xmlns="http://www.w3.org/1999/xhtml" itemscope="" itemtype="urn:x:Free"><b itemprop="state">none</b></${tag}>`
      const fields = { Range: 'selector=list', 'Content-Type': 'application/xml' }
      expect((await http('POST', '/x.xml', fields, item)).status).to.equal(status)
      const program = `let i = (\${[itemscope]} from "/x.xml").first(); i == null ? null : [i.state, i.microdata()]`
      expect((await http('QUERY', '/', QUERIED, program)).text).to.equal(expected)
    })

  it('SES-143 LIQ-48 HTTP-72 an item that refers to what is around it is left out in there: no visitor breaks a page by it', async () => {
    await put(server, '/round.html', page('<ul id="l"></ul>'))
    const item =
      '<li class="r" itemscope><b id="c" itemprop="a" itemscope itemref="d"><i itemprop="n">1</i></b>' +
      '<b id="d" itemprop="b" itemscope itemref="c l"></b></li>'
    expect((await http('POST', '/round.html', { Range: 'selector=#l' }, item)).status).to.equal(206)
    const { status, text } = await http('QUERY', '/', QUERIED, `(\${.r} from "/round.html").first().microdata()`)
    expect(status).to.equal(200)
    const { a, b } = JSON.parse(text)
    expect({ a, b }).to.deep.equal({
      a: { '@type': null, '@id': '/round.html#c', b: { '@type': null, '@id': '/round.html#d' }, n: '1' },
      b: { '@type': null, '@id': '/round.html#d', a: { '@type': null, '@id': '/round.html#c', n: '1' } },
    })
    await put(server, '/show.html', composed('<p r:is=".r" p:template="text/liquid">{{ is | json | raw }}</p>'))
    const shown = (await http('GET', '/show.html')).text
    const of = (id: string, rest: string) => `{"@id":"/round.html#${id}","@type":null${rest}}`
    expect(shown).to.include(
      `"a":${of('c', `,"n":"1","b":${of('d', '')}`)},"b":${of('d', `,"a":${of('c', ',"n":"1"')}`)}`,
    )
  })
})
