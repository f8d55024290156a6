import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting, textOf } from '../write-checks.ts'

const TIDY = `<!doctype HTML>
<!-- kept as it is -->
<HTML Lang=en>
 <head><meta charset=utf-8><title>T &amp; t</title></head>
 <body class = 'wide'   data-x>
  <UL id=l>
    <LI id='a' CLASS="one   two">A &lt; B &nbsp; &#x41; &amp;</LI>
    <li id="b">b</li >
  </UL>
  <p>rest &copy; &notit; <br/> <input disabled value='"'>
 </body>
</HTML>
<!-- end -->
`
const IMPLIED =
  '<title>t</title>\n<p id=one>one\n<ul id=l><li id=a>a<li id=b>b</ul>\n<table id=t><tr id=r><td>1<td>2</table>tail\n'
const SOUP = '<p id=p>1<b id=b>2<i id=i>3</b>4</i>5<table id=t><div id=d>moved</div><tr><td id=c>x</table><p>end'
const CRLF =
  '<!DOCTYPE html>\r\n<ul id="l">\r\n  <li id="a">a</li>\r\n  <li id="b">b</li>\r\n</ul>\r\n<pre id="q">\r\n  x\r\n</pre>\r\n'

/** An edit, and the text that is to stand where `old` stood in the source. */
type Splice = [
  name: string,
  source: string,
  request: ['PUT' | 'POST' | 'DELETE', selector: string, placement?: string],
  body: string,
  old: string,
  now: string,
]

const SPLICES: Splice[] = [
  ['tidy, PUT', TIDY, ['PUT', '#b'], '<li ID=b>B</li>', '<li id="b">b</li >', '<li ID=b>B</li>'],
  ['tidy, PUT within', TIDY, ['PUT', 'title'], '<title>N</title>', '<title>T &amp; t</title>', '<title>N</title>'],
  ['tidy, append', TIDY, ['POST', '#l'], '<li>c', '</li >\n  </UL>', '</li >\n  <li>c</UL>'],
  ['tidy, prepend', TIDY, ['POST', '#l', 'prepend'], '<li>0</li>', '<UL id=l>', '<UL id=l><li>0</li>'],
  ['tidy, before', TIDY, ['POST', '#a', 'before'], '<li>0</li>', "<LI id='a'", "<li>0</li><LI id='a'"],
  ['tidy, after', TIDY, ['POST', '#b', 'after'], '<li>c</li>', '</li >', '</li ><li>c</li>'],
  ['tidy, DELETE', TIDY, ['DELETE', '#b'], '', '<li id="b">b</li >', ''],
  ['tidy, DELETE of a void element', TIDY, ['DELETE', 'br'], '', '<br/>', ''],
  [
    'tidy, entities of the fragment',
    TIDY,
    ['PUT', '#b'],
    '<li>&eacute; &lt; \u00e9</li>',
    '<li id="b">b</li >',
    '<li>&eacute; &lt; \u00e9</li>',
  ],
  [
    'tidy, append to the body',
    TIDY,
    ['POST', 'body'],
    '<footer>f</footer>',
    '\n </body>',
    '\n <footer>f</footer></body>',
  ],
  ['implied ends, PUT', IMPLIED, ['PUT', '#b'], '<li id=b>B</li>', '<li id=b>b', '<li id=b>B</li>'],
  ['implied ends, PUT keeps what follows', IMPLIED, ['PUT', '#a'], '<li>A', '<li id=a>a', '<li>A'],
  [
    'implied ends, after',
    IMPLIED,
    ['POST', '#a', 'after'],
    '<li>new</li>',
    '<li id=a>a<li',
    '<li id=a>a<li>new</li><li',
  ],
  ['implied ends, append', IMPLIED, ['POST', '#l'], '<li>c</li>', '<li id=b>b</ul>', '<li id=b>b<li>c</li></ul>'],
  ['implied ends, DELETE', IMPLIED, ['DELETE', '#a'], '', '<li id=a>a', ''],
  ['implied ends, DELETE of a cell', IMPLIED, ['DELETE', 'td'], '', '<td>1', ''],
  [
    'implied ends, row into an implied tbody',
    IMPLIED,
    ['POST', 'tbody'],
    '<tr><td>3',
    '<td>2</table>',
    '<td>2<tr><td>3</table>',
  ],
  ['soup, PUT of what is in order', SOUP, ['PUT', '#c'], '<td id=c>y', '<td id=c>x', '<td id=c>y'],
  ['line ends CRLF, PUT', CRLF, ['PUT', '#a'], '<li id="a">A</li>', '<li id="a">a</li>', '<li id="a">A</li>'],
  ['line ends CRLF, append', CRLF, ['POST', '#l'], '<li>c</li>', '</li>\r\n</ul>', '</li>\r\n<li>c</li></ul>'],
  ['line ends CRLF, DELETE', CRLF, ['DELETE', '#b'], '', '<li id="b">b</li>', ''],
  ['line ends CRLF in the fragment', CRLF, ['PUT', '#a'], '<li>\r\n x</li>', '<li id="a">a</li>', '<li>\r\n x</li>'],
  [
    'line ends CRLF, prepend to pre',
    CRLF,
    ['POST', '#q', 'prepend'],
    '<b>x</b>',
    '<pre id="q">\r\n',
    '<pre id="q">\r\n<b>x</b>',
  ],
]

describe("author's bytes", () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())

  it('HTTP-24 a document without composition is served as it was sent, byte for byte', async () => {
    for (const source of [
      TIDY,
      IMPLIED,
      SOUP,
      CRLF,
      '',
      ' ',
      '\ufeff<p>x',
      '<p>\u0000x',
      '<plaintext><p>',
      '<!-- ',
      'x'.repeat(5),
    ]) {
      const sent = await http('PUT', '/doc.html', {}, source)
      const read = await http('GET', '/doc.html')
      expect(read.body.equals(Buffer.from(source)), JSON.stringify(source)).to.equal(true)
      expect(sent.body.equals(Buffer.from(source)), JSON.stringify(source)).to.equal(true)
    }
  })

  for (const [name, source, [method, selector, placement], body, old, now] of SPLICES) {
    it(`HTTP-24 ${name}: every byte outside stays`, async () => {
      expect(source.split(old), 'once').to.have.length(2)
      await put(server, '/doc.html', source)
      const answer = await http(method, '/doc.html', selecting(selector, placement), body)
      expect(answer.status).to.equal(method === 'DELETE' ? 204 : 206)
      expect(await textOf(server, '/doc.html')).to.equal(source.replace(old, () => now))
      expect((await http('GET', '/doc.html')).text).to.equal(await textOf(server, '/doc.html'))
    })
  }

  it('HTTP-24 a byte order mark stays, and offsets behind it are right', async () => {
    await put(server, '/bom.html', `\ufeff${CRLF}`)
    expect((await http('PUT', '/bom.html', selecting('#b'), '<li id="b">B</li>')).status).to.equal(206)
    expect(await textOf(server, '/bom.html')).to.equal(`\ufeff${CRLF.replace('>b<', '>B<')}`)
    const bytes = (await http('GET', '/bom.html')).body
    expect([...bytes.subarray(0, 4)]).to.deep.equal([0xef, 0xbb, 0xbf, 0x3c])
    await put(server, '/bom.xml', '\ufeff<a><b/></a>')
    expect((await http('PUT', '/bom.xml', selecting('b'), '<c/>')).status).to.equal(206)
    expect(await textOf(server, '/bom.xml')).to.equal('\ufeff<a><c/></a>')
  })

  it('HTTP-24 characters of several bytes and code units do not shift anything', async () => {
    const source = '<p>\u{1f600}\u00e9\u4e2d<b id=b>x</b>\u{1f600}<i>\u00df</i>'
    await put(server, '/wide.html', source)
    const answer = await http('PUT', '/wide.html', selecting('#b'), '<b>\u{1f98a}</b>')
    expect(answer.text).to.equal('<b>\u{1f98a}</b>')
    expect(await textOf(server, '/wide.html')).to.equal(source.replace('<b id=b>x</b>', '<b>\u{1f98a}</b>'))
  })

  it('HTTP-24 NUL of the author stays', async () => {
    const source = 'a\u0000b<p id=p>x</p>c\u0000d'
    await put(server, '/nul.html', source)
    await http('PUT', '/nul.html', selecting('#p'), '<p id=p>y</p>')
    expect(await textOf(server, '/nul.html')).to.equal(source.replace('x', 'y'))
  })

  it('HTTP-24 what has no range of its own: the nearest ancestor that has one is written anew', async () => {
    await put(server, '/doc.html', SOUP)
    // The div was moved in front of the table by the parser.
    const answer = await http('PUT', '/doc.html', selecting('#d'), '<div id=d>new</div>')
    expect(answer.status).to.equal(206)
    expect((await http('GET', '/doc.html', selecting('#d'))).text).to.equal('<div id="d">new</div>')
    expect((await http('GET', '/doc.html', selecting('#c'))).text).to.equal('<td id="c">x</td>')
    expect(await textOf(server, '/doc.html')).to.match(/<p>end$/)
  })

  it('HTTP-24 misnested formatting: the tree is what was asked for, whatever has to be written', async () => {
    for (const selector of ['#p', '#b', '#i', '#t', '#d', '#c']) {
      await put(server, '/doc.html', SOUP)
      const before = await http('GET', '/doc.html', { ...selecting('[id]'), Accept: 'multipart/mixed' })
      expect(before.status).to.equal(206)
      const answer = await http('DELETE', '/doc.html', selecting(selector))
      expect(answer.status, selector).to.equal(204)
      // Formatting that the parser had copied may leave its copy; the first match is gone, and the rest is readable.
      expect((await http('GET', '/doc.html', selecting('p'))).status, selector).to.equal(206)
      expect(await textOf(server, '/doc.html'), selector).to.include('end')
    }
  })

  it('HTTP-24 moving takes the bytes along and leaves the white space', async () => {
    await put(server, '/doc.html', TIDY)
    expect((await http('MOVE', '/doc.html', moving('/doc.html', '#a', '#b', 'after'))).status).to.equal(204)
    const element = `<LI id='a' CLASS="one   two">A &lt; B &nbsp; &#x41; &amp;</LI>`
    expect(await textOf(server, '/doc.html')).to.equal(
      TIDY.replace(element, '').replace('b</li >', `b</li >${element}`),
    )
  })

  it('HTTP-24 a hundred edits there and back leave the document as it was', async () => {
    for (const [source, selector, there] of [
      [TIDY, '#b', '<li id="b">other</li>'],
      [CRLF, '#b', '<li id="b">other</li>'],
      [IMPLIED, '#one', '<p id=one>other\n'],
    ] as const) {
      await put(server, '/doc.html', source)
      const back = source.match(/<li id="b">b<\/li ?>|<p id=one>one\n/)?.[0] ?? ''
      for (let i = 0; i < 50; i++) {
        await http('PUT', '/doc.html', selecting(selector), there)
        await http('PUT', '/doc.html', selecting(selector), back)
      }
      expect(await textOf(server, '/doc.html')).to.equal(source)
    }
  })

  it('HTTP-24 fragments in answers are serialized by the standard, whatever the author wrote', async () => {
    await put(server, '/doc.html', TIDY)
    const answer = await http(
      'PUT',
      '/doc.html',
      selecting('#b'),
      "<LI ID=b Title='x\"y' hidden>&eacute;&lt;<BR/></LI>",
    )
    expect(answer.text).to.equal('<li id="b" title="x&quot;y" hidden="">\u00e9&lt;<br></li>')
    expect((await http('GET', '/doc.html', selecting('#b'))).text).to.equal(answer.text)
    expect(await textOf(server, '/doc.html')).to.include("<LI ID=b Title='x\"y' hidden>&eacute;&lt;<BR/></LI>")
  })

  for (const [name, program] of [
    ['other quotes', '{% if a %}<b class=x>{% else %}<b>{% endif %}t</b>'],
    [
      'tags in a tag',
      '{% comment %}<b>{% endcomment %}t<input {% if 1 < 2 %}checked{% endif %} {% if b %}required{% endif %}>',
    ],
    ['quotes in a value', '{% if a %}<em x>{% else %}<em>{% endif %}t</em><a title="{{ a | default: "none" }}">l</a>'],
    ['a loop around rows', '<table>{% for i in (1..2) %}<tr><td>{{ i }}</td></tr>{% endfor %}</table>'],
  ] as const) {
    it(`HTTP-24 LIQ-5 LIQ-6 the source of a template with ${name} is kept, whatever has been left open before a list`, async () => {
      const host = `<div p:template="text/liquid">${program}</div>`
      const source = `<!doctype html><html xmlns:p="${NS}/1.0"><body><p><i>open</p>${host}<ul id=l><li id=a>a</ul></body></html>`
      await put(server, '/doc.html', source)
      const shown = (await http('GET', '/doc.html')).text.match(/<div>.*<\/div>/)?.[0]
      const writes = [
        ['POST', selecting('#l'), '<li id=b>b'],
        ['PUT', selecting('#a'), '<li id=a>c'],
        ['MOVE', moving('/doc.html', '#b', '#a', 'before'), undefined],
        ['DELETE', selecting('#a'), undefined],
      ] as const
      for (const [method, fields, body] of writes) {
        const { status } = await http(method, '/doc.html', fields, body)
        expect(status, method).to.be.within(204, 206)
        expect(await textOf(server, '/doc.html'), method).to.include(host)
      }
      const page = await http('GET', '/doc.html')
      expect(page.text)
        .to.include(String(shown))
        .and.to.match(/<li id="b">.*b/)
    })
  }

  it('HTTP-24 what is around is written anew where that leaves templates the same programs', async () => {
    const host = '<div p:template="text/liquid">{% if 1 &gt; 2 %}a{% endif %}<i>{{ 1 }}</i></div>'
    const source = `<!doctype html><html xmlns:p="${NS}/1.0"><body>${host}<p><b>x<p>y</p><ul id=l></ul></body></html>`
    await put(server, '/doc.html', source)
    const answer = await http('POST', '/doc.html', selecting('#l'), '<li>1</li>')
    expect(answer.text).to.equal('<li>1</li>')
    expect(await textOf(server, '/doc.html'))
      .to.include(host)
      .and.to.include('<b>x</b></p><p><b>y</b></p>')
  })

  const HOST =
    '<div p:template="text/liquid"><input {% if 1 < 2 %}checked{% endif %} {% if b %}required{% endif %}></div>'
  for (const [name, content, method, fields, body, end = '</body></html>'] of [
    [
      'that moves',
      `<h1 id=h>h</h1><p><i>o</p><section id=s>${HOST}</section><p>t`,
      'MOVE',
      moving('/doc.html', '#s', '#h', 'before'),
    ],
    [
      'that moves with an open tag',
      `<h1 id=h>h</h1><section id=s><p><b>x</p>${HOST}</section><p>t`,
      'MOVE',
      moving('/doc.html', '#s', '#h', 'before'),
    ],
    ['that is sent', '<ul><li id=a><p><i>o</p></ul><p>t', 'PUT', selecting('#a'), `<li id=a><p>x</p>${HOST}`],
    ['that is sent behind an open tag', '<ul id=l><li id=a>a</ul>', 'POST', selecting('#l'), `<li><p><b>x</p>${HOST}`],
    [
      'in a template element',
      `<template>${HOST}</template><table id=t><p>o</p><tr><td>x</table><p>t`,
      'DELETE',
      selecting('#t'),
    ],
    [
      'beside which nothing has an end tag',
      `<p><i>o</p>${HOST}<ul id=l><li id=a>a`,
      'POST',
      selecting('#l'),
      '<li>b',
      '',
    ],
    ['behind which nothing has', `<ul id=l><li id=a><p><i>o</p>${HOST}`, 'PUT', selecting('#a p'), '<p><b>c</p>', ''],
    ['around which tags cross', `<i id=a><form><i><p>t</p></i>${HOST}</i>`, 'DELETE', selecting('#a')],
  ] as const) {
    it(`HTTP-24 LIQ-5 LIQ-6 the source of a template ${name} is as it was written, or the write is refused`, async () => {
      await put(server, '/doc.html', `<!doctype html><html xmlns:p="${NS}/1.0"><body>${content}${end}`)
      const { status } = await http(method, '/doc.html', fields, body)
      expect([204, 206, 422]).to.include(status)
      expect(await textOf(server, '/doc.html')).to.satisfy(
        (text: string) => text.includes(HOST) || !text.includes('p:template'),
      )
      expect((await http('GET', '/doc.html')).status).to.equal(200)
    })
  }

  it('HTTP-24 LIQ-6 nor does it go with a table that it stands before, and is written in', async () => {
    const table = `<table id=t><section>s</section>${HOST}</table>`
    await put(server, '/doc.html', `<!doctype html><html xmlns:p="${NS}/1.0"><body>${table}</body></html>`)
    const answer = await leavesAlone(server, ['/doc.html'], () => http('DELETE', '/doc.html', selecting('#t')))
    expect(failureOf(answer)).to.equal('422 InvalidFragment')
  })

  it('HTTP-24 nor does anything else that a table moves out of it go with it, where a template keeps the page from being written anew', async () => {
    const page = `<p><b>open</p><table id=t><section>stays</section><tr><td>x</table>${HOST}`
    await put(server, '/doc.html', `<!doctype html><html xmlns:p="${NS}/1.0"><body>${page}</body></html>`)
    const { status } = await http('DELETE', '/doc.html', selecting('#t'))
    expect([204, 422]).to.include(status)
    expect(await textOf(server, '/doc.html')).to.include('<section>stays</section>')
  })

  it('HTTP-24 LIQ-6 nor is it written anew for what stands elsewhere than it is written', async () => {
    const host =
      '<div p:template="text/liquid"><input {% if 1 < 2 %}checked{% endif %} {% if b %}required{% endif %}></div>'
    const table = '<table id=t><div id=d>moved</div><tr><td>x</table>'
    await put(server, '/doc.html', `<!doctype html><html xmlns:p="${NS}/1.0"><body>${host}${table}</body></html>`)
    const answer = await leavesAlone(server, ['/doc.html'], () =>
      http('MOVE', '/doc.html', moving('/doc.html', '#t', '#d', 'before')),
    )
    expect(failureOf(answer)).to.equal('422 InvalidFragment')
  })

  it('HTTP-24 XML keeps declaration, comments, quotes, empty elements, references and CDATA', async () => {
    const source = `<?xml version='1.0' encoding='utf-8' ?>\r\n<!-- c --><f:a xmlns:f='urn:f'\n><f:b  id='x' /><?pi d?><c>&#65;&amp;<![CDATA[<]]></c></f:a >\r\n`
    await put(server, '/doc.xml', source)
    expect((await http('PUT', '/doc.xml', selecting('#x'), "<f:b id='y'></f:b>")).status).to.equal(206)
    expect(await textOf(server, '/doc.xml')).to.equal(source.replace("<f:b  id='x' />", "<f:b id='y'></f:b>"))
    expect((await http('POST', '/doc.xml', selecting('c', 'prepend'), '<d/>')).status).to.equal(206)
    expect(await textOf(server, '/doc.xml')).to.include('<c><d/>&#65;&amp;<![CDATA[<]]></c></f:a >\r\n')
  })

  describe('HTML that is not valid UTF-8', () => {
    const latin = Buffer.from('<!DOCTYPE html><p id=p>caf\xe9</p><p id=q>q</p>', 'latin1')
    before(() => put(server, '/latin.html', latin))

    it('HTTP-25 is stored and served as is, without charset', async () => {
      const sent = await http('PUT', '/latin2.html', {}, latin)
      expect(sent.status).to.equal(201)
      const read = await http('GET', '/latin2.html')
      expect(read.body.equals(latin)).to.equal(true)
      expect(read.headers['content-type']).to.equal('text/html')
      expect(sent.headers['content-type']).to.equal('text/html')
    })

    for (const [method, selector, fields] of [
      ['PUT', '#p', {}],
      ['POST', '#p', {}],
      ['DELETE', '#p', {}],
      ['MOVE', '#p', moving('/latin.html', '#p', '#q', 'after')],
      ['PUT', '#none', {}],
    ] as const) {
      it(`HTTP-25 ${method} of ${selector} is 422`, async () => {
        const answer = await leavesAlone(server, ['/latin.html'], () =>
          http(method, '/latin.html', { ...selecting(selector), ...fields }, '<p>x</p>'),
        )
        expect(failureOf(answer)).to.equal('422 InvalidFragment')
      })
    }

    it('HTTP-25 a whole PUT makes it usable', async () => {
      await http('PUT', '/latin3.html', {}, latin)
      await http('PUT', '/latin3.html', {}, '<p id=p>caf\u00e9</p>')
      expect((await http('PUT', '/latin3.html', selecting('#p'), '<p>x</p>')).status).to.equal(206)
    })
  })
})
