/** XML documents as composed pages (COMP-118 to COMP-123). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { NS, page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const DECLARED = `xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS" xmlns:e="${NS}/Binding/Sessel"`

describe('XML documents', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
    await put(
      server,
      '/data.xml',
      '<?xml version="1.0"?><d xmlns="urn:d"><Item n="1">a &amp; b</Item><Item n="2"/></d>',
    )
    await put(server, '/posts.html', page('<article itemscope><h2 itemprop="title">A &lt; B</h2></article>'))
  })
  after(() => server.close())

  async function get(path: string, text: string, fields = {}) {
    await put(server, path, text, 'application/xml')
    return send('GET', path, fields)
  }

  it('COMP-118 COMP-119 the same directives work; declarations stay, directive attributes go', async () => {
    const text = `<?xml version="1.0" encoding="UTF-8"?>\n<?style x?><Feed ${DECLARED}><p:include selector='Item[n="1"]' resource="/data.xml"/><Sum e:n="1 + 1" Kept="K"><p:stamp n=""/></Sum><empty></empty></Feed>`
    const answer = await get('/feed.xml', text)
    expect(answer.status).to.equal(200)
    expect(answer.headers['content-type']).to.contain('application/xml')
    expect(answer.text).to.match(/^<\?xml version="1.0" encoding="UTF-8"\?>/)
    expect(answer.text).to.contain('<?style x?>').and.contain('>a &amp; b</').and.contain('<Sum Kept="K">2</Sum>')
    expect(answer.text).to.contain('<empty/>').and.contain(`xmlns:p="${NS}/1.0"`)
    expect(answer.text).not.to.match(/p:include|p:stamp|e:n/)
  })

  it('COMP-118 templates give XML, which has to be well formed', async () => {
    const feed = (inner: string) => `<feed ${DECLARED} r:posts="article" p:template="text/liquid">${inner}</feed>`
    const good = await get('/t.xml', feed('{% for p in posts %}<t>{{ p.title }}</t>{% endfor %}'))
    expect(good.text).to.contain('<t>A &lt; B</t></feed>')
    const bad = await get('/t.xml', feed('<a></a>{{ "&lt;b>" | raw }}'))
    expect(bad.status).to.equal(500)
  })

  it('COMP-120 prefixes that are not live are data, elements and attributes alike', async () => {
    const text = `<Feed ${DECLARED} xmlns:o="urn:other"><o:Thing o:attr="1" e:x="1"><o:inner/></o:Thing></Feed>`
    const answer = await get('/other.xml', text)
    expect(answer.text).to.contain('<o:Thing o:attr="1"><o:inner/></o:Thing>')
  })

  it('COMP-12 COMP-120 they stay data in a page that brings them in; what is live runs', async () => {
    const item = (inside: string) => `<item id="it" o:attr="1"><o:thing o:more="2">${inside}</o:thing></item>`
    const text = `<f ${DECLARED} xmlns:o="urn:other">${item('<p:include selector="#in"/>')}</f>`
    await put(server, '/items.xml', text, 'application/xml')
    await put(server, '/in.html', page('<b id="in">x</b>'))
    const showing = '<p:include selector="#it"/><p r:them="#it"><p:stamp them></p:stamp></p>'
    await put(server, '/items.html', `<!doctype html><html ${DECLARED}><body>${showing}</body></html>`)
    const { text: shown } = await send('GET', '/items.html')
    const whole = item('<b id="in">x</b>')
    expect(shown).to.include(`<body>${whole}<p>${whole}</p></body>`)
  })

  it('COMP-12 COMP-120 so they do in the output of templates, which other pages and XML documents bring in', async () => {
    const host = '<p:include selector="#host" resource="/host.xml"/>'
    const text = `<f ${DECLARED} xmlns:o="urn:other"><h id="host" p:template="text/liquid"><o:n o:m="{{ 1 | plus: 1 }}"/></h></f>`
    expect((await get('/host.xml', text)).text).to.include('<h id="host"><o:n o:m="2"/></h>')
    await put(server, '/host.html', page(`<div ${DECLARED}>${host}</div>`))
    expect((await send('GET', '/host.html')).text).to.include('<div><h id="host"><o:n o:m="2"></o:n></h></div>')
    const other = await get('/brought.xml', `<b ${DECLARED}>${host}</b>`)
    expect(other.text).to.match(/<b [^>]*xmlns:o="urn:other"[^>]*><h id="host"><o:n o:m="2"\/><\/h><\/b>/)
  })

  const T = 'p:template="text/liquid"'
  for (const [rule, inPage, inFeed] of [
    ['COMP-8 a template', `<p ${T}>{{ 1 }}<br>a&nbsp;b</p>`, '<p>1<br/>a\u00a0b</p>'],
    ['COMP-8 end tags', `<ul ${T}>{% for i in (1..2) %}<li>{{ i }}{% endfor %}</ul>`, '<ul><li>1</li><li>2</li></ul>'],
    ['COMP-8 a directive', `<p e:n="3" ${T}><p:stamp n></p:stamp></p>`, '<p>3</p>'],
    ['COMP-9 a name', '<p e:itemCount="3"><p:stamp itemCount></p:stamp></p>', '<p>3</p>'],
    ['COMP-9 a method', '<T:GREETALL toWhom="a"></T:GREETALL>', '<p>a</p>'],
  ] as const)
    it(`${rule} of an HTML page is read as HTML in an XML document that brings it in`, async () => {
      const field = (name: string, content: string) => `<meta itemprop="${name}" content="${content}">`
      const item = (slot: string, type: string, content: string) =>
        `<div ${slot && `itemprop="${slot}" `}itemscope itemtype="${NS}/${type}">${content}</div>`
      const code = '<script itemprop="source" type="text/sessel">new p { toWhom }</script>'
      const greet = [field('name', 'greetAll'), item('parameter', 'Parameter', field('name', 'toWhom'))].join('')
      const method = item('property', 'Method', greet + item('implementation', 'Sessel', code))
      await put(server, '/method.html', page(item('', 'Schema', field('type', 'urn:x:T') + method)))
      await put(server, '/part.html', page(`<div id="part" ${DECLARED} xmlns:t="urn:x:T">${inPage}</div>`))
      expect((await send('GET', '/part.html')).status).to.equal(200)
      const { text } = await get('/part.xml', `<f ${DECLARED}><p:include selector="#part" resource="/part.html"/></f>`)
      expect(text).to.include(`${inFeed}</div></f>`)
    })

  it('COMP-8 a template of an XML document is read as XML in an HTML page that brings it in', async () => {
    const host = `<h id="cased" e:itemCount="3" ${T}><Kk aB="1"/><p:stamp itemCount=""/></h>`
    await put(server, '/cased.xml', `<f ${DECLARED}>${host}</f>`, 'application/xml')
    const include = '<p:include selector="#cased" resource="/cased.xml"></p:include>'
    await put(server, '/cased.html', page(`<div ${DECLARED}>${include}</div>`))
    expect((await send('GET', '/cased.html')).text).to.include('<h id="cased"><Kk aB="1"></Kk>3</h>')
  })

  it('COMP-119 nothing that a visitor has put into a page makes a feed ill-formed that shows it', async () => {
    await put(
      server,
      '/guests.html',
      page('<ul id="guests"><li a"b="1">x\f<!-- y -- z --><c"d></c"d><svg xmlns:xlink=""></svg></li></ul>'),
    )
    const include = '<p:include selector="#guests" resource="/guests.html"/>'
    const { status, text } = await get('/guests.xml', `<f ${DECLARED}>${include}</f>`)
    expect(status).to.equal(200)
    expect(text).to.include('<li>x\ufffd<!-- y - - z --><cU000022d/><svg')
    await put(server, '/again.xml', text, 'application/xml')
  })

  it('KEY-1 what somebody adds to them leaves what stands beside it in the pages that show them', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/list.xml', '#list']))
    await put(server, '/list.xml', '<ul xmlns="http://www.w3.org/1999/xhtml" id="list"><li>theirs</li></ul>')
    await put(server, '/list.html', page(`<form ${DECLARED}><p:include selector="#list" resource="/list.xml"/></form>`))
    for (const [fragment, status] of [
      ['<PlainText xmlns="">x</PlainText>', 422],
      ['<select><plaintext xmlns="">x</plaintext></select>', 422],
      ['<Template ShadowRootMode="open">x</Template>', 422],
      ['<li/><?start name="x"?>', 422],
      ['<li><noscript><div><noscript/></div><b/></noscript></li>', 422],
      ['<li><title><ul/></title><title>&lt;b></title></li>', 206],
      ['<li><p><div/></p><a><a/></a><link>x</link><select><b/></select></li>', 206],
      ['<li><select><option><form/></option></select></li>', 422],
      ['<li><select><option><strong><a href="x">x</a></strong></option></select></li>', 422],
      ['<li><select><optgroup label="x"><option>x</option></optgroup></select></li>', 206],
      ['<item xmlns="urn:x"><Script>a &lt; b</Script><noscript>1</noscript></item>', 206],
    ] as const)
      expect((await send('POST', '/list.xml', selecting('#list'), fragment)).status, fragment).to.equal(status)
    await put(
      server,
      '/list.xml',
      '<table xmlns="http://www.w3.org/1999/xhtml" id="list"><tr><td>theirs</td></tr></table>',
    )
    for (const [fragment, status] of [
      ['<tr><td>x</td></tr>', 206],
      ['<col/>', 206],
      ['<tr><td><PlainText xmlns="">x</PlainText></td></tr>', 422],
      ['<tr><td><svg xmlns=""><desc><p><table/></p></desc></svg></td></tr>', 422],
      ['<tr><td><svg xmlns=""><desc><table><tr><td>x</td></tr></table></desc></svg></td></tr>', 422],
      ['<tr><td><svg xmlns=""><desc><p>x</p></desc></svg><table/></td></tr>', 206],
      ['<tr><td><svg xmlns=""><desc><p><center/></p></desc></svg></td></tr>', 422],
      ['<tr><td><select><option><col/></option></select></td></tr>', 422],
      ['<template for="x"/>', 422],
    ] as const)
      expect((await send('POST', '/list.xml', selecting('#list'), fragment)).status, fragment).to.equal(status)
    expect((await send('GET', '/list.html')).text).to.include('<td>theirs</td>')
    await put(server, '/list.xml', '<p xmlns="http://www.w3.org/1999/xhtml" id="list">theirs</p>')
    for (const [fragment, status] of [
      ['<div>x</div>', 422],
      ['<b>x</b>', 206],
    ] as const)
      expect((await send('POST', '/list.xml', selecting('#list'), fragment)).status, fragment).to.equal(status)
  })

  it('KEY-1 what somebody adds to them leaves them readable in all browsers, whose XML is of several editions', async () => {
    const secret = ['*', 'GET', 'Deny', '/list-secret.xml'] as const
    const own = ['*', 'PUT', 'Allow', '/list*.xml', '#list > :first-child'] as const
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/list*.xml', '#list'], own, secret))
    for (const [version, fragment, status] of [
      ['1.0', '<a\u2fef/>', 422],
      ['1.0', '<b a\u200c=""/>', 422],
      ['1.0', '<b xmlns:\u2070="urn:x"/>', 422],
      ['1.0', '<b><?\u{10000} x?></b>', 422],
      ['1.0', '<xml:b/>', 422],
      ['1.0', '<b><xml:b/></b>', 422],
      ['1.0', '<p:1 xmlns:p="urn:x"/>', 422],
      ['1.0', '<b><?x?y?></b>', 422],
      ['1.0', '<b xml:lang="de" schlüssel="\u2fef"><日本>\u0080</日本></b>', 206],
      ['1.1', '<b>\u0080</b>', 422],
      ['1.1', '<b>&#x80;</b>', 206],
    ] as const) {
      await put(server, `/list${version}.xml`, `<?xml version="${version}"?><ul id="list"><li>theirs</li></ul>`)
      const { status: answered } = await send('POST', `/list${version}.xml`, selecting('#list'), fragment)
      expect(answered, `${version} ${fragment}`).to.equal(status)
    }
    for (const [path, own, status] of [
      ['/list.xml', 'pre\u021b', 206],
      ['/list.xml', 'price', 422],
      ['/list-secret.xml', 'pre\u021b', 422],
    ] as const) {
      await put(server, path, `<ul id="list"><${own}/><!--\u021b--></ul>`)
      const { status: answered } = await send('POST', path, selecting('#list'), '<pre\u021b>5</pre\u021b>')
      expect(answered, `${path} beside ${own}`).to.equal(status)
      await put(server, path, `<ul id="list"><${own}/><!--\u021b--></ul>`)
      const changed = await send('PUT', path, selecting('#list > :first-child'), '<pre\u021b>6</pre\u021b>')
      expect(changed.status, `${path} in place of ${own}`).to.equal(status)
    }
  })

  it('KEY-1 so does what they add to one that browsers read in another encoding', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/said*', '#list']))
    const list = '<ul id="list"><li>tür</li></ul>'
    const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${list}`
    for (const [content, type, fragment, status] of [
      [declared('ISO-8859-1'), 'application/xml', '<b>中</b>', 206],
      [declared('ISO-8859-1'), 'application/xml', '<b title="中"/>', 206],
      [declared('ISO-8859-1'), 'application/xml', '<中/>', 422],
      [declared('ISO-8859-1'), 'application/xml', '<a\ufeffb/>', 422],
      [declared('ISO-8859-1'), 'application/xml', 'a<b>&#233;<?中 x?></b>', 422],
      [list, 'application/xml; charset=iso-8859-1', '<b é="1"/>', 422],
      [declared('gbk'), 'application/xml', '<b>中</b>', 422],
      [declared('gbk'), 'application/xml', '<b>éé</b>', 206],
      [declared('none'), 'application/xml', '<b>中</b>', 206],
      [declared('utf-16'), 'application/xml', '<b>中</b>', 206],
    ] as const) {
      await put(server, '/said', content, type)
      const { status: answered } = await send('POST', '/said', selecting('#list'), fragment)
      expect(answered, `${content} ${type} ${fragment}`).to.equal(status)
    }
  })

  it('COMP-118 what HTML calls as some editions of XML cannot have it is called otherwise; controls are references', async () => {
    const odd = '<p a\u2fef="1" é="2"><b\u200c>\u0080</b\u200c><svg><c\u2070></c\u2070></svg></p>'
    await put(server, '/odd.html', page(odd))
    const answer = await get('/odd.xml', `<f ${DECLARED}><p:include selector="p" resource="/odd.html"/><d\u2fef/></f>`)
    expect(answer.text).to.contain('<p é="2" ').and.contain('<bU00200C>&#128;</bU00200C>').and.contain('<d\u2fef/>')
    expect(answer.text).to.match(/<cU002070\W/)
  })

  it('COMP-118 so it is in what code makes of it', async () => {
    await put(server, '/odd.html', page('<p class="odd" a\u2fef="1"><b\u200c>x</b\u200c></p>'))
    const copies = "j:m='l.map(e => e.cloneNode(true))'"
    const answer = await get(
      '/odd.xml',
      `<f ${DECLARED} xmlns:j="${NS}/Binding/JavaScript" r:l="p.odd"><g ${copies}><p:stamp m=""/></g></f>`,
    )
    expect(answer.text).to.contain('<bU00200C>x</bU00200C>').and.not.contain('\u2fef')
  })

  for (const [selector, shown] of [
    ['[a\u2fef]', 'p'],
    ['b\u200c', 'p > :first-child'],
    ['c\u2070', 'svg > *'],
  ] as const)
    it(`KEY-1 COMP-118 rules go by the names that HTML has given: ${selector}`, async () => {
      await put(server, '/odd.html', page('<p a\u2fef="1"><b\u200c>1</b\u200c><svg><c\u2070></c\u2070></svg></p>'))
      await get('/odd.xml', `<f ${DECLARED}><p:include selector="p" resource="/odd.html"/></f>`)
      const read = () => send('GET', '/odd.xml', selecting(shown))
      expect((await read()).status).to.equal(206)
      await put(
        server,
        '/rules.html',
        rulesPage(['*', 'GET', 'Allow', '/*'], ['*', 'GET', 'Deny', '/odd.xml', selector]),
      )
      expect((await read()).status).to.equal(401)
    })

  it('HTTP-24 COMP-118 what an author of XML has called so stays, in XHTML as well, be it read, written or composed', async () => {
    const own = '<p data-pre\u021b="1"><pre\u021b/><!-- \u0092 --></p>'
    const text = `<html xmlns="http://www.w3.org/1999/xhtml"><body><ul>${own}</ul></body></html>`
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/x.xml', 'p']))
    await put(server, '/x.xml', text)
    const read = await send('GET', '/x.xml', selecting('p'))
    expect(read.text).to.equal(own.replace('>', ' xmlns="http://www.w3.org/1999/xhtml">'))
    expect((await send('POST', '/x.xml', selecting('p'), '<b/>')).status).to.equal(206)
    expect((await send('GET', '/x.xml')).text).to.equal(text.replace('</p>', '<b/></p>'))
    const composed = await get('/y.xml', text.replace('<ul>', `<ul ${DECLARED} r:a="p">`))
    expect(composed.text).to.contain(own)
  })

  it('MOD-94 no element that a shape has not seen comes of them in a page', async () => {
    await put(server, '/notes.xml', '<notes id="notes"><!--><script>1</script>--><?x ><script>2</script>?></notes>')
    await put(
      server,
      '/notes.html',
      page(`<div ${DECLARED}><p:include selector="#notes" resource="/notes.xml"/></div>`),
    )
    expect((await send('GET', '/notes.html')).text)
      .to.include('<notes id="notes"><!--')
      .and.not.include('<script>')
  })

  it('COMP-121 COMP-122 a plain XML document is served byte for byte, whatever Accept says', async () => {
    const text = '<?xml version="1.0"?>\n<a  x=\'1\' xmlns:o="urn:other" ><o:b></o:b></a>\n<!-- end -->\n'
    const answer = await get('/plain.xml', text, { Accept: 'application/ld+json' })
    expect(answer.text).to.equal(text)
    expect(answer.headers).to.have.property('last-modified')
  })

  it('COMP-123 it is read by selector, in the composed view', async () => {
    await put(server, '/s.xml', `<f ${DECLARED}><x e:n="7"><p:stamp n=""/></x></f>`, 'application/xml')
    const answer = await send('GET', '/s.xml', selecting('x'))
    expect(answer.status).to.equal(206)
    expect(answer.text).to.match(/^<x[^>]*>7<\/x>$/)
  })

  it('COMP-66 XML has its page links in the header only', async () => {
    const answer = await get('/l.xml', `<f ${DECLARED}><list p:paginate="1"><i/><i/></list></f>`)
    expect(answer.headers.link).to.contain('rel="next"')
    expect(answer.text).not.to.contain('link')
  })
})
