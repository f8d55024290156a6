/** Markup of which browsers make other elements than the server: no closed shape lets it in (MOD-94). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { shape } from '../pipeline/model/markup.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PERMIT = [
  'option',
  'select',
  'svg',
  'desc',
  'title',
  'title[class]',
  'g',
  'script[type]',
  'table',
  'tbody',
  'tr',
  'td',
  'template',
  'form',
  'div',
  'b[title]',
  'noscript',
  'x\\:y[xmlns\\:x]',
]
const EMPTY = page('<main></main>')

/** What the parser passes over in a `select`, and browsers make elements of. */
const TAGS = [
  '<select><img src=x onerror=alert(1)></select>',
  '<select><option><img src=x onerror=alert(1)></select>',
  '<select><option>x</option></p></select>',
  '<select><div></div></select>',
  '<select>x</div></select>',
  '<select><xmp></select><b title="</xmp><img src=x onerror=alert(1)>"></b>',
  '<select><x:y onfocus=alert(1) tabindex=0>a</x:y></select>',
  '<select><option><x:y onfocus=alert(1) tabindex=0></x:y></option></select>',
  '<select><x:y xmlns:x=u></x:y><z:y onfocus=alert(1) tabindex=0></z:y></select>',
  '<select><img src=x onerror=alert(1)><x:y xmlns:x=u></x:y></select>',
  '<select><img src=x onerror=alert(1)><z:y></z:y></select>',
  '<select><option><img src=x onerror=alert(1)><z:y></z:y></option></select>',
  "<!--!><b title='--><select><img src=x onerror=alert(1)></select>'>",
]
/** What a template holds ends elsewhere in it: behind it, one has text where the other has elements. */
const IN_TEMPLATES = [
  '<table><tr><td><template><tr><table></template><svg><desc><table></table></desc><title><img src=x onerror=alert(1)></title></svg></table>',
  '<template><svg><desc><form><div></form></desc><![CDATA[></template><img src=x onerror=alert(1)>]]></svg>',
]
/** Of these a reader of tags that is not exact takes for a text or value what all others take for a list. */
const MISTAKEN = [
  `<script type=x><!--<script type=x>--!></script><b title='</script><select><img src=x onerror=alert(1)></select>'></b>`,
  '<svg><title class= /><g/></svg></g></title><title><select><img src=x onerror=alert(1)></select></title></svg>',
]
const KEPT = [
  '<select><option>x<option>y</option></select>',
  '<select><x:y xmlns:x=u></x:y></select>',
  '<table><tr><td><template><tr><td>x</table></template></table>',
  '<template><form><div><option>x</div><option>y</form></template><form><div></form>',
  '<b title="<img>">',
  '<select><option>x</option></select><div><td>x</td></div><svg><title><b title=x></title></svg>',
  '<svg><title>x</title></svg><!-- <img> --><noscript><b title="<img>"></b><!-- <img> --></noscript>',
]
/** Without scripts, browsers read what a `noscript` holds. */
const IN_NOSCRIPT = [
  '<noscript><img src=x onerror=alert(1)></noscript>',
  '<noscript><b onclick=alert(1)></b></noscript>',
  '<noscript><!--</noscript><b title="--><img src=x onerror=alert(1)>"></b>',
]

/** An attribute ends elsewhere in ISO-2022-JP: what is a title in UTF-8 is an image there. */
const SHIFTED = page(`<main><b title="\x1b$B"></b ><b title='\x1b(B"><img src=x onerror=alert(1)>'></b></main>`)
const WIDE = Buffer.from(`\ufeff${page('<main><script>alert(1)</script></main>')}`, 'utf16le')
const SUSPECT: [name: string, content: string | Uint8Array, type: string, path: string][] = [
  ['ISO-2022-JP by its type', SHIFTED, 'text/html; charset=iso-2022-jp', '/n/a'],
  ['ISO-2022-JP beside what is no UTF-8', Buffer.from(`${SHIFTED}\xff`, 'latin1'), 'text/html', '/n/a.html'],
  ['UTF-16 by its mark', WIDE, 'text/html', '/n/a.html'],
  ['the other UTF-16', Buffer.from(WIDE).swap16(), 'text/html', '/n/a.html'],
  ['UTF-16 by its type', WIDE.subarray(2), 'text/html; charset=utf-16le', '/n/a'],
]

/** Of these the server and browsers see another charset or type: the first or the last one, in quotes or not. */
const AMBIGUOUS = [
  'text/html; charset =utf-8; charset=iso-2022-jp',
  'text/html; ch"arset="x; charset=utf-8; "; charset=iso-2022-jp',
  'text/html; charset=utf-8; x=y, text/html; charset=iso-2022-jp',
  'text/html; x=y, image/svg+xml',
  'text/html;, image/svg+xml; charset=utf-8',
  'text/html; x="\\\\"; charset=utf-8; ", image/svg+xml; y="',
  'application/xml; x=y, text/html',
  'x/y, image/svg+xml',
]

/** Blobs to the server, and documents to browsers, which read a type up to a blank or bracket, or the last of several. */
const AS_BLOBS = [
  'text/html charset=gbk',
  'text/html(x',
  'image/png, text/html',
  'text/html, image/png',
  'text/html\tx;y',
  'video/webm;codecs=vp8,text/html',
  'video/webm,text/html;codecs=vp8,opus',
  'text/html x;codecs=vp8,opus',
]

/** In encodings of China and Japan the last byte of a character takes the first `]` with it, so that CDATA ends where a comment or title is. */
const HAN = `<main xmlns="http://www.w3.org/1999/xhtml"><![CDATA[中]]><!-- ]]><script>alert(1)</script><![CDATA[ --></main>`
const DRAWN = page('<main><svg><![CDATA[中]]><b title="]]><img src=x onerror=alert(1)>"></b></svg></main>')
const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${HAN}`
const XML = 'application/xhtml+xml'
SUSPECT.push(
  ['CDATA in GBK by its type', DRAWN, 'text/html; charset=gbk', '/n/a'],
  [
    'CDATA in GBK by a meta',
    Buffer.from(DRAWN.replace('utf-8', 'gbk').replace('中', '\xd6'), 'latin1'),
    'text/html',
    '/n/a.html',
  ],
  ['CDATA of XML in GBK by its type', HAN, `${XML}; charset=gbk`, '/n/a.xhtml'],
  ['CDATA of XML in Shift_JIS by its declaration', declared('Shift_JIS'), XML, '/n/a.xhtml'],
  ['XML in Big5 behind a charset that is none', declared('big5'), `${XML}; charset=""`, '/n/a.xhtml'],
  ['XML in GBK by the second charset', HAN, `${XML}; charset=; charset=gbk`, '/n/a.xhtml'],
  ['XML with an instruction that begins like a declaration', `<?xml-x encoding="gbk"?>${HAN}`, XML, '/n/a.xhtml'],
  ['XML in GBK beside a parameter that is called almost so', declared('gbk'), `${XML}; acharset=utf-8`, '/n/a.xhtml'],
  ['XML in GBK beside a text that looks like one', declared('gbk'), `${XML}; x="charset=utf-8"`, '/n/a.xhtml'],
  ['XML in a charset that is written in another way', declared('gbk'), `${XML}; x charset=utf-8`, '/n/a.xhtml'],
)
// What is white space to JavaScript is more than one byte all the same.
for (const space of ['中\u00a0', '\u2003', '\u2028', '\u202f', '\ufeff'])
  SUSPECT.push([
    `CDATA in GBK behind U+${space.slice(-1).charCodeAt(0).toString(16)}`,
    HAN.replace('中', space),
    `${XML}; charset=gbk`,
    '/n/a.xhtml',
  ])
/** A `frameset` behind what some browsers take for no text is the body to them. */
const FRAMES = '<frameset><frame src="javascript:alert(1)">'
SUSPECT.push(
  ['a frameset behind U+FFFD', `<!DOCTYPE html>\ufffd${FRAMES}`, 'text/html', '/n/a.html'],
  ['a frameset behind a reference to U+0000', `<title>t</title>&#0;${FRAMES.toUpperCase()}`, 'text/html', '/n/a.html'],
)

/** The same in UTF-8. */
const ALIKE: [content: string, type: string][] = [
  [HAN, XML],
  [declared('utf-8'), XML],
  [declared('gbk'), `${XML}; charset=utf-8`],
  [HAN, `${XML};charset="UTF-8"; level=1`],
  [declared('gbk'), `${XML}; profile="http://example.org/x;y" ; charset=utf-8`],
  [declared('gbk').replace('中]', '中 ]'), XML],
]

describe('MOD-94 nothing that browsers alone make elements of gets through a closed shape', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    const shapes = shape({ resource: '/n/*', selector: 'main', permit: PERMIT })
    const rules = rulesPage(['*', 'PUT|MOVE|POST', 'Allow', '/n/*|/free*'], ['*', 'POST', 'Allow', '/part/*', 'main'])
    await put(server, '/rules.html', rules.replace('</body>', `${shapes}</body>`))
    const own = shape({ resource: '/part/*', selector: 'main', permit: PERMIT })
    await put(server, '/own.html', page(own))
  })
  after(() => server.close())

  const stored = async (path: string) => (await http('GET', path, { Accept: 'text/html' })).text
  const putting = (path: string, content: string | Uint8Array, type = 'text/html') =>
    http('PUT', path, { 'Content-Type': type }, content)

  for (const tags of TAGS)
    it(`${tags} in a whole document, a MOVE and an edit`, async () => {
      const whole = page(`<main>${tags}</main>`)
      const within = tags.slice('<select>'.length, tags.indexOf('</select>'))
      expect((await putting('/n/a.html', whole)).status).to.equal(422)
      expect((await putting('/free.html', whole)).status).to.be.oneOf([200, 201])
      expect((await http('MOVE', '/free.html', { Destination: '/n/a.html' })).status).to.equal(422)
      for (const [path, before, selector, content] of [
        ['/n/b.html', EMPTY, 'main', tags],
        ['/part/b.html', EMPTY, 'main', tags],
        ['/n/b.html', page('<main><select></select></main>'), 'select', within],
      ] as const) {
        await put(server, path, before)
        const { status } = await http('POST', path, { Range: `selector=${selector}` }, content)
        expect(status).to.be.oneOf([206, 400, 422])
        expect(await stored(path)).to.not.include(within)
      }
    })

  for (const tags of [...IN_TEMPLATES, ...MISTAKEN, ...IN_NOSCRIPT])
    it(`${tags} in a whole document and an edit`, async () => {
      expect((await putting('/n/a.html', page(`<main>${tags}</main>`))).status).to.equal(422)
      await put(server, '/part/b.html', EMPTY)
      const { status } = await http('POST', '/part/b.html', { Range: 'selector=main' }, tags)
      if (status !== 422) expect(await stored('/part/b.html')).to.not.include(tags)
    })

  for (const text of ['\ufffd', '&#0;', '<b title="x">\ufffd'])
    it(`no frameset behind ${text} in an edit`, async () => {
      await put(server, '/part/c.html', '<!DOCTYPE html><title>t</title><main></main>')
      const markup = `${text}<frameset onload=alert(1)>x`
      const { status } = await http('POST', '/part/c.html', { Range: 'selector=main' }, markup)
      expect(status).to.equal(206)
      expect(await stored('/part/c.html')).to.not.include('frameset')
    })

  it('what all read alike is stored', async () => {
    for (const tags of KEPT) expect((await putting('/n/a.html', page(`<main>${tags}</main>`))).status).to.be.below(300)
  })

  it('where no permit helps, the message asks for none', async () => {
    const { status, text } = await putting('/n/a.html', page('<main><select><div></div></select></main>'))
    expect(status).to.equal(422)
    expect(text)
      .to.match(/Tag &lt;div&gt;, which stands where no permit can name it/)
      .and.not.include('Attribute')
  })

  for (const [name, content, type, path] of SUSPECT)
    it(`${name}: by PUT and MOVE`, async () => {
      expect((await putting(path, content, type)).status).to.equal(422)
      const free = path.replace('/n/a', '/free')
      expect((await putting(free, content, type)).status).to.be.oneOf([200, 201])
      expect((await http('MOVE', free, { Destination: path })).status).to.equal(422)
    })

  it('HTTP-20 HTTP-23 a type that browsers take for another one is served as what the document was read as', async () => {
    const content = '<main><b title="1"></b></main>'
    for (const type of AMBIGUOUS) {
      expect((await putting('/n/d', content, type)).status, type).to.be.below(300)
      const served = type.startsWith('text/html') ? 'text/html; charset=utf-8' : 'application/xml'
      for (const fields of [{}, { Range: 'selector=main' }])
        expect((await http('GET', '/n/d', fields)).headers['content-type'], type).to.equal(served)
    }
  })

  it('no blob whose type browsers may take for that of a document, by PUT, MOVE and on the drive', async () => {
    const content = '<script>alert(1)</script>'
    for (const type of AS_BLOBS) {
      expect((await putting('/n/e', content, type)).status, type).to.equal(422)
      expect((await putting('/free', content, type)).status, type).to.be.oneOf([200, 201])
      expect((await http('MOVE', '/free', { Destination: '/n/e' })).status, type).to.equal(422)
    }
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    const drive = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    await drive('MKCOL', '/other/')
    expect((await drive('PUT', '/other/a', { 'Content-Type': AS_BLOBS[0] }, content)).status).to.equal(201)
    const copied = (path: string, to: string) => drive('COPY', path, { Destination: server.mountUrl + to })
    expect((await copied('/other/a', '/n/e')).status).to.equal(422)
    expect((await copied('/other/', '/n/f/')).status).to.equal(422)
    expect((await copied('/other/', '/m/')).status).to.equal(201)
    const [recorded, film] = ['video/webm;codecs=vp8,opus', 'video/mp4; codecs="avc1.42E01E, mp4a.40.2"']
    for (const type of ['image/png', 'text/plain; charset=gbk', 'application/x-y;a="b c"', recorded, film])
      expect((await putting('/n/e', content, type)).status, type).to.be.below(300)
  })

  it('the same characters in UTF-8, and other encodings without them, are stored', async () => {
    expect((await putting('/n/a.html', SHIFTED)).status).to.be.below(300)
    const latin = Buffer.from(page('<main>\xe9</main>'), 'latin1')
    expect((await putting('/n/c', latin, 'text/html; charset=iso-8859-1')).status).to.be.below(300)
    for (const [content, type] of ALIKE)
      expect((await putting('/n/d.xhtml', content, type)).status, `${type} ${content}`).to.be.below(300)
    expect((await putting('/n/a.html', DRAWN)).status).to.be.below(300)
  })
})
