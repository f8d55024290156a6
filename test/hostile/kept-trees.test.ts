// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { NS, page, put, putAll, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const TEA = 'urn:t:Tea'
const IMPORT = `import Tea from "${TEA}" with { type: "${NS}/Schema" };`

const script = (slot: string, source: string) => ({
  markup: `<div itemprop="${slot}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${source}</script></div>`,
})
const sessel = (slot: string, source: string) => ({
  markup: `<script itemprop="${slot}" type="text/sessel">${source}</script>`,
})
const method = (name: string, implementation: { markup: string }, more = '') =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${more}${implementation.markup}</div>`
const parameter = (name: string) =>
  `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="${name}"></div>`

const STORED = '(${#box} from "/other.html").first()'
const GIVES = `${IMPORT} export default () => Tea.stored()`
const READS = 'export default value => new DOMParser().parseFromString(value, "text/html").body.firstElementChild'
const ENTRY = '(${.entry} from "/list.html").first()'
const ADDS = `${IMPORT} export default () => { document.documentElement.append(Tea.entry().cloneNode(true)); return null }`
const trigger = (action: string, resource: string) =>
  `<div itemscope itemtype="${NS}/Trigger"><meta itemprop="resource" content="${resource}">${sessel('action', action).markup}</div>`
const STATIC = '<meta itemprop="static" content="true">'

describe('Stored elements that code of schemas gives', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await put(
      server,
      '/schema.html',
      page(
        schema(
          TEA,
          {},
          property('maker'),
          property('box', { '@read': sessel('@read', STORED) }),
          property('crate', { '@read': script('@read', GIVES) }),
          property('chest', { '@write': script('@write', GIVES) }),
          property('echo', { '@read': script('@read', 'export default value => String(value)') }),
          property('read', { '@read': script('@read', READS) }),
          property('found', { '@read': script('@read', `${IMPORT} export default () => Tea.entry()`) }),
          property('case', { default: script('default', GIVES) }),
          method('made', script('implementation', 'export default function () { return this.maker }')),
          method('passed', script('implementation', 'export default function () { return this.same(this.maker) }')),
          method('same', sessel('implementation', 'x'), parameter('x')),
          method('entry', sessel('implementation', ENTRY), STATIC),
          method('stored', sessel('implementation', STORED), STATIC),
        ),
      ),
    )
    const codes = {
      lent: { '@write': sessel('@write', ENTRY) },
      wrapped: { '@write': sessel('@write', `new div { ${ENTRY} }`) },
      borrowed: { '@write': script('@write', `${IMPORT} export default () => Tea.entry().cloneNode(true)`) },
      given: { default: sessel('default', ENTRY) },
      added: { default: script('default', ADDS) },
    }
    const types = Object.entries(codes).map(([name, code]) =>
      schema(`${TEA}/${name}`, {}, property('default' in code ? 'missing' : 'written', code)),
    )
    await put(server, '/types.html', page(types.join('')))
    await put(server, '/rules.html', rulesPage(['*', 'QUERY', 'Allow', '/*'], ['*', 'PUT', 'Allow', '/tea.html']))
    await put(server, '/other.html', OTHER)
    await put(server, '/tea.html', TEA_PAGE)
  })
  after(() => server.close())

  const OTHER = page('<div id="box" itemscope><b itemprop="note">kept</b></div>')
  const TEA_PAGE = page(
    `<div id="tea" itemscope itemtype="${TEA}"><p itemprop="maker" itemscope><b itemprop="note">kept</b></p>` +
      '<i itemprop="box">1</i><i itemprop="crate">2</i></div>',
  )
  const element = async (path: string, selector: string) =>
    (await send('GET', path, { Range: `selector=${selector}` })).text

  for (const [rule, value] of [
    ['JS-16 an item in an instance that JavaScript gives', 'made()'],
    ['JS-9 one that JavaScript hands to an expression', 'passed()'],
    ['MOD-71 what a read resolver gives', 'box'],
  ] as const)
    it(`SES-144 a program changes no stored element: ${rule}`, async () => {
      const program = `@schema T url("${TEA}"); T.search().first().${value}.set_text("changed")`
      const { status, text } = await send('QUERY', '/', { 'Content-Type': 'text/sessel' }, program)
      expect(status).to.equal(400)
      expect(text).to.include('cannot change a stored element')
      expect(await element('/other.html', 'b')).to.equal('<b itemprop="note">kept</b>')
      expect(await element('/tea.html', 'p')).to.include('<b itemprop="note">kept</b>')
    })

  it('MOD-71 SES-144 what a read resolver in JavaScript gives is a copy', async () => {
    const program = `@schema T url("${TEA}"); let box = T.search().first().crate; box.set_text("own").text()`
    const { text } = await send('QUERY', '/', { 'Content-Type': 'text/sessel' }, program)
    expect(text).to.equal('"own"')
    expect(await element('/other.html', 'b')).to.equal('<b itemprop="note">kept</b>')
  })

  it('MOD-32 MOD-70 MOD-71 a page that takes in what is stored elsewhere leaves it where it is', async () => {
    const instance = `<div id="tea" itemscope itemtype="${TEA}"><i itemprop="crate">2</i><i itemprop="chest">3</i></div>`
    const written = await send('PUT', '/tea.html', { Range: 'selector=#tea' }, instance)
    expect(written.status).to.equal(206)
    expect((await element('/tea.html', '#tea')).match(/kept/g)).to.have.length(3)
    const program = '(${#box b} from "/other.html").first().parent().parent().children().count()'
    const { text } = await send('QUERY', '/', { 'Content-Type': 'text/sessel' }, program)
    expect(text).to.equal('1')
    await put(server, '/tea.html', TEA_PAGE)
  })

  it('COMP-12 COMP-147 SEC-7 in a page, what a visitor wrote in one runs nothing and leads nowhere', async () => {
    const grants = [['*', 'POST', 'Allow', '/in.html', '#in'] as const, ['*', 'GET', 'Deny', '/in.html'] as const]
    await put(server, '/grants.html', rulesPage(...grants))
    await put(server, '/in.html', page('<ul id="in"></ul><b id="vault" itemprop="note">TOPSECRET</b>'))
    const entry =
      `<li itemscope itemtype="${TEA}"><p itemprop="maker" itemscope itemref="vault">` +
      `<b e:x='(\${#vault} from "/in.html").first().text()'><p:stamp x></p:stamp></b></p></li>`
    expect((await send('POST', '/in.html', { Range: 'selector=#in' }, entry)).status).to.equal(206)
    const made = `@schema T url("${TEA}"); T.search().first().made()`
    await put(
      server,
      '/show.html',
      composed(`<div e:m='${made}'><p:stamp m/></div><div e:m='${made}.note'><p:stamp m/></div>`),
    )
    const { status, text } = await send('GET', '/show.html')
    expect(status).to.equal(200)
    expect(text).to.include('itemref="vault"').and.not.include('TOPSECRET')
  })

  for (const made of [
    'e.clone()',
    'e.clone().clone()',
    'new p { e }',
    'new p { [e, e] }',
    '{ let d = new div; d.append(e); d }',
    '{ let d = new div; d.append(e.clone().children().first()); d }',
    'e.clone().children().first()',
  ])
    it(`COMP-12 COMP-145 a copy that a page makes of what a visitor wrote runs nothing: ${made}`, async () => {
      await put(server, '/grants.html', rulesPage(['*', 'POST', 'Allow', '/list.html', '#in']))
      await put(server, '/list.html', page('<ul id="in"></ul><b id="vault">TOPSECRET</b>'))
      const entry = `<li class="entry"><b e:x='(\${#vault} from "/list.html").first().text()'><p:stamp x></p:stamp></b></li>`
      expect((await send('POST', '/list.html', { Range: 'selector=#in' }, entry)).status).to.equal(206)
      const own = `<i e:y='"own"'><p:stamp y/></i>`
      const program = `(\${.entry} from "/list.html").map(e => ${made})`
      await put(server, '/show.html', composed(`<div e:m='${program}'><p:stamp m/></div>${own}`))
      const { status, text } = await send('GET', '/show.html')
      expect(status).to.equal(200)
      expect(text).to.include('p:stamp').and.include('<i>own</i>').and.not.include('TOPSECRET')
    })

  for (const made of ['e.cloneNode(true)', 'e.firstChild'])
    it(`COMP-12 COMP-145 nor does one that a script of the page gives: ${made}`, async () => {
      const binding = `r:entries=".entry" j:m='[entries].flat().map(e => ${made})'`
      await put(server, '/show.html', composed(`<div ${binding}><p:stamp m/></div><i e:y='"own"'><p:stamp y/></i>`))
      const { status, text } = await send('GET', '/show.html')
      expect(status).to.equal(200)
      expect(text).to.include('p:stamp').and.include('<i>own</i>').and.not.include('TOPSECRET')
    })

  for (const [kind, made] of [
    ['a part of the site', '[parts, entries].flat().map(e => e.cloneNode(true))'],
    ['the other way round', '[entries, parts].flat().map(e => e.cloneNode(true))'],
    ['another name', '[own, entries].flat().map(e => e.cloneNode(true))'],
    ['XML', '[feed].flat().map(e => { let d = document.createElement("p"); d.innerHTML = e.innerHTML; return d })'],
    [
      'what is no element in XML',
      '[hid].flat().map(e => { let d = document.createElement("p"); d.innerHTML = e.innerHTML; return d })',
    ],
    ['what the script sees', 'document.querySelector(".entry").cloneNode(true)'],
  ] as const)
    it(`COMP-12 COMP-145 nor where a name means something else in what a script has as well: ${kind}`, async () => {
      const bad = `<b e:x='(\${#vault} from "/list.html").first().text()' q:x=""><p:stamp x=""></p:stamp></b>`
      const declared = composed('').match(/xmlns:\w="[^"]*"/g) ?? []
      const [page1, css, sessel, js] = declared
      await put(server, '/list.html', page(`<ul><li class="entry">${bad}</li></ul><b id="vault">TOPSECRET</b>`))
      await put(server, '/parts.html', composed('<div class="part"><b e:x="1"><p:stamp x></p:stamp></b></div>'))
      await put(server, '/own.html', composed('<div class="own"><b q:x="1"></b></div>'))
      const shows = '<p:include selector="#vault" resource="/list.html"></p:include>'
      const hidden = `<entry class="hid"><?x >${shows}?></entry><entry class="hid"><!-->${shows}--></entry>`
      const feed = `<feed ${page1} xmlns:E="urn:x"><entry class="feed">${bad.replace('e:x', 'E:x').replace(' q:x=""', '')}</entry>${hidden}</feed>`
      await put(server, '/feed.xml', feed)
      const names = 'r:parts=".part" r:own=".own" r:feed=".feed" r:hid=".hid" r:entries="li.entry"'
      const around = `<div ${css} ${js} ${names} j:m='${made}'><p class="entry">${bad}</p>`
      await put(
        server,
        '/show.html',
        page(`${around}<section ${page1} ${sessel}><p:stamp m></p:stamp></section></div>`),
      )
      const { status, text } = await send('GET', '/show.html')
      expect(status).to.equal(200)
      expect(text).to.match(/e:x/i).and.not.include('TOPSECRET')
    })

  for (const property of ['echo', 'read', 'found'])
    it(`COMP-12 COMP-145 MOD-71 nor what a read resolver in JavaScript makes of it: ${property}`, async () => {
      const x = `e:x='(\${#vault} from "/list.html").first().text()'`
      const bad = `<i itemprop="${property}" itemscope ${x} p:template="text/liquid"><b ${x}><p:stamp x></p:stamp></b>{{ x }}</i>`
      await put(server, '/grants.html', rulesPage(['*', 'POST', 'Allow', '/list.html', '#in']))
      await put(server, '/list.html', page('<div id="in"></div><b id="vault">TOPSECRET</b>'))
      const entry = `<div class="entry" id="${property}" itemscope itemtype="${TEA}">${bad}</div>`
      expect((await send('POST', '/list.html', { Range: 'selector=#in' }, entry)).status).to.equal(206)
      const made = `@schema T url("${TEA}"); T.search().filter(t => t.attr("id") == "${property}").first().${property}`
      await put(server, '/show.html', composed(`<div e:m='${made}'><p:stamp m/></div>`))
      const { status, text } = await send('GET', '/show.html')
      expect(status).to.equal(200)
      expect(text).to.include('itemprop').and.not.include('TOPSECRET')
    })

  it('COMP-12 what a page builds of its own markup, or copies of it, runs as ever', async () => {
    const program = '(${#own} from "/show.html").first().clone()'
    await put(
      server,
      '/show.html',
      composed(`<div e:m='${program}'><p:stamp m/></div><section id="own"><i e:y='"own"'><p:stamp y/></i></section>`),
    )
    expect((await send('GET', '/show.html')).text.match(/<i>own<\/i>/g)).to.have.length(2)
  })

  for (const property of ['lent', 'borrowed', 'wrapped', 'given', 'added'])
    it(`COMP-147 COMP-145 MOD-32 MOD-70 nor in a document that code of its type puts it into: ${property}`, async () => {
      await put(server, '/grants.html', rulesPage(['*', 'POST', 'Allow', '/list.html|/page.html', '#in']))
      await put(server, '/list.html', page('<ul id="in"></ul><b id="vault">TOPSECRET</b>'))
      const bad = `<b e:x='(\${#vault} from "/list.html").first().text()'><p:stamp x></p:stamp></b>`
      const post = (path: string, entry: string) => send('POST', path, { Range: 'selector=#in' }, entry)
      expect((await post('/list.html', `<li class="entry">${bad}</li>`)).status).to.equal(206)
      await put(server, '/page.html', composed('<section id="in"></section>'))
      const type = `${TEA}/${property}`
      expect(
        (await post('/page.html', `<div itemscope itemtype="${type}"><i itemprop="written">1</i></div>`)).status,
      ).to.equal(206)
      const { status, text } = await send('GET', '/page.html')
      expect(status).to.equal(200)
      expect(text).to.include('p:stamp').and.not.include('TOPSECRET')
    })

  it('COMP-107 COMP-145 nor in a document that a page makes of a request', async () => {
    const grants = [['*', 'POST', 'Allow', '/make.html'] as const, ['*', 'PUT', 'Allow', '/made.html'] as const]
    await put(server, '/grants.html', rulesPage(['*', 'POST', 'Allow', '/list.html', '#in'], ...grants))
    await put(server, '/list.html', page('<ul id="in"></ul><b id="vault">TOPSECRET</b>'))
    const entry = `<li class="entry"><b e:x='(\${#vault} from "/list.html").first().text()'><p:stamp x></p:stamp></b></li>`
    expect((await send('POST', '/list.html', { Range: 'selector=#in' }, entry)).status).to.equal(206)
    await put(server, '/make.html', composed('<div r:l="li.entry"><p:stamp l/></div>', '<base href="/made.html">'))
    expect((await send('POST', '/make.html', {}, 'x')).status).to.equal(301)
    const { text } = await send('GET', '/made.html')
    expect(text).to.include('p:stamp').and.not.include('TOPSECRET')
  })

  it('COMP-107 COMP-147 nor in one that HTML has no markup for: a link around a link comes of what a table has left', async () => {
    const hidden = `<iframe><p:include xmlns:p="${NS}/1.0" selector="#vault" resource="/list.html"></p:include></iframe>`
    const entry = `<li class="entry"><svg><a><svg><desc><a><table><a><i></i><table>${hidden}`
    await put(server, '/grants.html', rulesPage(['*', 'POST|PUT', 'Allow', '/make.html|/made.html']))
    await put(server, '/list.html', page(`<b id="vault">TOPSECRET</b><ul id="in">${entry}`))
    await put(server, '/made.html', page(''))
    await put(server, '/make.html', composed('<div r:l="li.entry"><p:stamp l/></div>', '<base href="/made.html">'))
    expect((await send('POST', '/make.html', {}, 'x')).status).to.equal(422)
    expect((await send('GET', '/made.html')).text).not.to.include('TOPSECRET')
  })

  for (const [what, made, method, path] of [
    ['a whole', `(\${html} from "/page.html").first().clone().append(${ENTRY}.clone())`, 'PUT', '/made.html'],
    [
      'a whole of its own path',
      `(\${html} from "/page.html").first().clone().append(${ENTRY}.clone())`,
      'PUT',
      '/page.html',
    ],
    ['an element', ENTRY, 'POST', '/page.html'],
    ['one around it', `new div { ${ENTRY} }`, 'POST', '/page.html'],
    ['part of one', '(${.entry b} from "/list.html").first()', 'POST', '/page.html'],
  ] as const)
    it(`COMP-147 COMP-145 REA-60 REA-62 nor in what an action writes of it: ${what}`, async () => {
      await put(server, '/grants.html', rulesPage(['*', 'POST', 'Allow', '/list.html', '#in']))
      const own = `<i class="own" e:y='"own"'><p:stamp y></p:stamp></i>`
      await put(server, '/list.html', page('<ul id="in"></ul><b id="vault">TOPSECRET</b>'))
      await put(server, '/page.html', composed(`<section id="in">${own}</section>`))
      const bad = `e:x='(\${#vault} from "/list.html").first().text()'><p:stamp x></p:stamp>`
      const entry = `<li class="entry" ${bad}<i xmlns:e="http://purl.org/x" xmlns:p="http://purl.org/y"><b ${bad}</b></i></li>`
      expect((await send('POST', '/list.html', { Range: 'selector=#in' }, entry)).status).to.equal(206)
      await put(server, '/grants.html', rulesPage(['*', 'POST|PUT', 'Allow', '/*']))
      const action = `@schema Site url("${NS}/1.0"); Site.PUT(${made}, "${path}")`
      await put(server, '/trigger.html', page(trigger(action, path === '/page.html' ? path : '/go.html')))
      const isElement = method === 'POST'
      const asked = path === '/page.html' ? path : '/go.html'
      const reply = await send(
        method,
        asked,
        isElement ? { Range: 'selector=#in' } : { 'Content-Type': 'text/html' },
        'x',
      )
      await put(server, '/trigger.html', page(''))
      expect(reply.status, reply.text).to.be.oneOf([200, 201, 204, 206, 404])
      const { status, text } = await send('GET', path)
      expect(status).to.equal(200)
      expect(text).to.include('p:stamp').and.include('<i class="own">own</i>').and.not.include('TOPSECRET')
    })

  const LEAKS = `e:x='(\${#vault} from "/vault.html").first().text()' p:y=""`
  const LEAKING = `<b ${LEAKS}><p:stamp x></p:stamp></b>`
  const PRINTS = `{{ "&lt;p:include selector='#vault'&gt;&lt;/p:include&gt;" | raw }}`
  for (const [what, list, entry] of [
    [
      'HTML drops its tag',
      '/list.html',
      `<li class="entry"><form><div></form><form e:z="" p:z="">${LEAKING}</form></div></li>`,
    ],
    [
      'its own declaration goes with a tag',
      '/list.html',
      `<li class="entry"><form><div></form><form xmlns:e="http://purl.org/x" xmlns:p="http://purl.org/y">${LEAKING}</form></div></li>`,
    ],
    [
      'its attributes come to the root',
      '/list.html',
      `<li><svg><html class="entry" ${LEAKS} p:template="text/liquid">${PRINTS}</html></svg></li>`,
    ],
    [
      'HTML has no case',
      '/feed.xml',
      `<li class="entry" xmlns:E="urn:x" xmlns:P="urn:x"><form><a/><form xmlns:E="urn:y" xmlns:P="urn:y">${LEAKING.replaceAll(/([ </])([ep]):/g, (_, before, name) => `${before}${name.toUpperCase()}:`).replace(' x>', ' x="">')}</form></form></li>`,
    ],
  ] as const)
    it(`COMP-145 COMP-107 REA-60 nor where the markup that is stored is read otherwise: ${what}`, async () => {
      const grants = rulesPage(
        ['*', 'POST', 'Allow', '/list.html|/feed.xml', '#in'],
        ['*', 'GET', 'Deny', '/vault.html'],
      )
      await put(server, '/grants.html', grants)
      await putAll(server, {
        '/vault.html': page('<b id="vault">TOPSECRET</b>'),
        '/list.html': page('<ul id="in"></ul>'),
        '/feed.xml': '<feed><list id="in"></list></feed>',
        '/show.html': page(''),
        '/made.html': page(''),
      })
      const posted = await send('POST', list, { Range: 'selector=#in' }, entry)
      // A form in a form may come in a whole document alone (KEY-1).
      const isWhole = list === '/list.html' && entry.includes('<form>')
      expect(posted.status, posted.text).to.equal(isWhole ? 422 : 206)
      if (isWhole) await put(server, list, page(`<ul id="in">${entry}</ul>`))
      await put(
        server,
        '/grants.html',
        rulesPage(['*', 'POST|PUT', 'Allow', '/*'], ['*', 'GET', 'Deny', '/vault.html']),
      )
      const own = `<i e:y='"own"'><p:stamp y></p:stamp></i>`
      const base = '<base href="/made.html">'
      await put(server, '/make.html', composed(`${own}<div r:l=".entry"><p:stamp l></p:stamp></div>`, base))
      const made = await send('POST', '/make.html', {}, 'x')
      expect(made.status, made.text).to.equal(301)
      const created = await send('GET', '/made.html')
      expect(created.status, created.text).to.equal(200)
      expect(created.text).not.to.include('TOPSECRET')
      await put(server, '/page.html', composed(own))
      const of = `(\${.entry} from "${list}").first().clone()`
      const whole = `(\${html} from "/page.html").first().clone().append(new div { ${of} })`
      await put(
        server,
        '/trigger.html',
        page(trigger(`@schema Site url("${NS}/1.0"); Site.PUT(${whole}, "/made.html")`, '/go.html')),
      )
      const gone = await send('PUT', '/go.html', { 'Content-Type': 'text/html' }, 'x')
      await put(server, '/trigger.html', page(''))
      const { text } = await send('GET', '/made.html')
      expect(text).not.to.include('TOPSECRET')
      expect(gone.status, gone.text).to.be.oneOf([200, 201, 204])
      expect(text).to.include('<i>own</i>')
    })

  it('COMP-12 REA-62 what an action writes of a page with the same declarations runs as ever', async () => {
    await put(server, '/grants.html', rulesPage(['*', 'POST|PUT', 'Allow', '/*']))
    await put(server, '/page.html', composed(`<section id="in"></section>`))
    await put(server, '/own.html', composed(`<i class="own" e:y='"own"'><p:stamp y></p:stamp></i>`))
    const made = 'new div { (${.own} from "/own.html").first() }'
    const action = `@schema Site url("${NS}/1.0"); Site.PUT(${made}, "/page.html")`
    await put(server, '/trigger.html', page(trigger(action, '/page.html')))
    expect((await send('POST', '/page.html', { Range: 'selector=#in' }, 'x')).status).to.equal(206)
    await put(server, '/trigger.html', page(''))
    expect((await send('GET', '/page.html')).text).to.include('<div><i class="own">own</i></div>')
  })

  for (const [what, made, expected] of [
    ['from XML', '(${item} from "/sub/feed.xml").map(e => new li { e.clone() })', '<media:rating>5</media:rating>'],
    ['that includes from beside it', '(${.part} from "/sub/parts.html").map(e => e.clone())', '<b id="foot">foot</b>'],
    ['of text', 'Document.parse("<html><p><p:stamp own></p:stamp></p></html>").children().last().clone()', '<p>5</p>'],
  ])
    it(`COMP-12 COMP-120 COMP-25 a copy of what authors wrote stays what it is: ${what}`, async () => {
      await put(server, '/sub/foot.html', page('<b id="foot">foot</b>'))
      const part = '<div class="part"><p:include resource="foot.html" selector="#foot"></p:include></div>'
      await put(server, '/sub/parts.html', composed(part))
      const feed =
        '<feed xmlns:media="http://search.yahoo.com/mrss/"><item><media:rating>5</media:rating></item></feed>'
      await put(server, '/sub/feed.xml', feed)
      await put(server, '/show.html', composed(`<div e:own="5" e:m='${made}'><p:stamp m/></div>`))
      expect((await send('GET', '/show.html')).text).to.include(expected)
    })
})
