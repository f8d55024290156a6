/** Writes stay inside the place they were granted for, whatever their markup does to the page. */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { leavesAlone, selecting } from '../write-checks.ts'

const PAGE = page('<main><div id="open"></div><p id="note">a note <b>here</b></p></main>\n<footer>the end</footer>')
const RULES = rulesPage(
  ['*', 'POST', 'Allow', '/open.html', '#open, #note'],
  ['*', 'POST', 'Allow', '/own.html', '#open, #note'],
  ['*', 'PUT', 'Allow', '/own.html'],
  ['*', 'POST', 'Allow', '/end.html', '#list'],
  ['*', 'PUT|DELETE', 'Allow', '/end.html', '#mine'],
  ['*', 'POST', 'Allow', '/list.html', '#list, head'],
  ['*', 'PUT', 'Allow', '/list.html', '#mine'],
  ['*', 'MOVE', 'Allow', '/list.html'],
  ['*', 'POST', 'Allow', '/mine*.html', '#mine'],
  ['*', 'GET', 'Deny', '/mine-secret.html'],
  ['*', 'DELETE', 'Allow', '/list.html', '#within'],
)

const ENDLESS = [
  '<li>mine<plaintext>',
  '<li><template><plaintext>',
  '<li><script><!--<script>',
  '<li><template><script>a<!-- <!--<SCRIPT/</script</li>',
]
/** What looks the same, and can be written behind. */
const ENDED = [
  '<li><script><!--<script></script>',
  '<li><script><!--<script>--></script>',
  '<li><script><!--><script></script>',
  '<li><script><!--<scripts></script>',
]
/** What browsers show in place of what stands beside it. */
const PATCHES: [method: string, selector: string, fragment: string][] = [
  ['POST', '#list', '<template shadowrootmode="open">only this</template>'],
  ['POST', '#list; placement=prepend', '<p>mine</p> <TEMPLATE ShadowRootMode=closed></TEMPLATE>'],
  ['PUT', '#mine', '<template id="mine" shadowrootmode="open"></template>'],
  ['POST', '#list; placement=prepend', '<?start name="x">'],
  ['POST', '#list; placement=prepend', '<p>mine<?marker name="x"></p>'],
  ['POST', '#list', '<?end><p>mine</p>'],
  ['POST', '#list', '<template for="x">instead of others</template>'],
]
/** As a table leaves them: written anew, as in a page that shows them, the last end tag ends what is around all of it. */
const UNWRITABLE = [
  '<li><div><table><li>x</li></table></div></li>',
  '<button><section><table><button>x</button></table></section></button>',
  '<dd><div><TABLE><tr><dd>x</table></div></dd>',
  '<form><section></form><form>x</form></section>',
  '<h1><b><H3></b>x</h3></h1>',
].map((fragment): [method: string, selector: string, fragment: string] => ['POST', '#list', fragment])
/** What looks the same, and stays where it is. */
const CONTAINED = [
  '<table>x<tr><td>1<b><table><p>y</table></b></table>',
  '<h1><b>x</h1><h2>y</b></h2>',
  '<h1 title="&#13;">a&#13;\n<table><tr><td>b</table></h1>',
  '<div><template shadowrootmode="open">mine</template></div>',
  '<template>mine</template>',
  '<div><template for="x">mine</template></div>',
  '<template><template shadowrootmode="open"></template></template>',
  '<p title="<?start name=x><template for=x>">&lt;?start name="x"></p>',
  '<?startle name="x"><p>mine</p>',
  '<!--?--><p>mine</p>',
]

describe('A write is granted for its place (HTTP-24, KEY-1)', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
    await put(server, '/rules.html', RULES)
  })
  beforeEach(async () => {
    await put(server, '/open.html', PAGE)
    await put(server, '/own.html', PAGE)
  })
  after(() => server.close())

  const beyond: [name: string, selector: string, fragment: string][] = [
    ['markup that swallows the rest of the page', '#open', '<plaintext>'],
    ['a block that ends the paragraph around it', '#note', '<div>block</div>'],
  ]
  for (const [name, selector, fragment] of beyond) {
    it(`${name} is 422 for those who may only add there`, () =>
      leavesAlone(server, ['/open.html'], async () => {
        const answer = await send('POST', '/open.html', selecting(selector), fragment)
        expect(answer.status).to.equal(422)
      }))
    it(`${name} is stored for those who may write the whole page`, async () => {
      expect((await send('POST', '/own.html', selecting(selector), fragment)).status).to.equal(206)
    })
  }

  const others: [method: string, range: string, fragment: string][] = [
    ['POST', '#list; placement=prepend', '<li>mine<plaintext>'],
    ['POST', '#list; placement=prepend', '<li><form><button><plaintext>'],
    ['PUT', '#mine', '<plaintext>'],
    ['PUT', '#mine', '<li id="mine">x<plaintext>'],
    ['DELETE', '#mine', ''],
  ]
  for (const [method, range, fragment] of others)
    it(`${method} ${fragment} at ${range} leaves what others wrote beside it`, async () => {
      for (const end of ['', '</ul></body></html>\n', '<!--end-->']) {
        await put(server, '/end.html', `<!DOCTYPE html><ul id="list">a<li id="mine">b<li>theirs <b>c</b></li>d${end}`)
        const { status } = await send(method, '/end.html', selecting(range), fragment || undefined)
        expect(status, end).to.equal(method === 'DELETE' ? 204 : 422)
        expect((await send('GET', '/end.html', selecting('#list > li:last-of-type'))).text).to.equal(
          '<li>theirs <b>c</b></li>',
        )
      }
    })

  for (const [around, fragment] of [
    ['<!DOCTYPE html><ul><li id="mine">a<li>theirs</ul>', '<li>beside'],
    ['<!DOCTYPE html><dl><dt id="mine">a<dd>theirs</dl>', '</dt><dd>beside'],
  ] as const)
    it(`HTTP-24 ${fragment} is 422 for those who may only add in what no end tag closes`, async () => {
      await put(server, '/mine.html', around)
      expect((await send('POST', '/mine.html', selecting('#mine'), fragment)).status).to.equal(422)
      expect((await send('GET', '/mine.html')).text).to.equal(around)
    })

  it('HTTP-96 an element that no tag ends is 422, also where nothing stands behind it: others could not add to the list', async () => {
    for (const end of ['', '</ul></body></html>\n']) {
      await put(server, '/end.html', `<!DOCTYPE html><ul id="list"><li>theirs${end}`)
      for (const fragment of ENDLESS)
        expect((await send('POST', '/end.html', selecting('#list'), fragment)).status, fragment).to.equal(422)
      for (const fragment of ['<li>&lt;plaintext>', '<li><svg><plaintext>x</plaintext></svg>', ...ENDED, '<li>third'])
        expect((await send('POST', '/end.html', selecting('#list'), fragment)).status, fragment).to.equal(206)
    }
  })

  describe('KEY-1 browsers show nothing that somebody writes in place of what others wrote beside it', () => {
    const list = page(
      '<div id="list"><p id="mine">a<template id="within" shadowrootmode="open"></template></p><p>theirs</p></div>',
    )
    for (const [method, range, fragment] of [...PATCHES, ...UNWRITABLE])
      it(`${method} ${fragment} at ${range} is 422`, async () => {
        await put(server, '/list.html', list)
        expect((await send(method, '/list.html', selecting(range), fragment)).status).to.equal(422)
        expect((await send('GET', '/list.html')).text).to.equal(list)
      })
    it('nor a table where a page with a doctype, which shows it, would end the p around it', async () => {
      for (const [around, status] of [
        ['<p hidden><b id="mine"></b>', 422],
        ['<p><button id="mine"></button>', 206],
        ['<!DOCTYPE html><p><b id="mine"></b>', 422],
        ['<div id="mine"></div>', 206],
      ] as const) {
        await put(server, '/mine.html', around)
        const { status: given } = await send('POST', '/mine.html', selecting('#mine'), '<table><tr><td>x</table>')
        expect(given, around).to.equal(status)
      }
    })
    it('nor what would end an element further around where it is written without the table', async () => {
      for (const [around, fragment, status] of [
        ['<ul><li hidden><div id="mine"></div></ul>', '<table><li>x</table>', 422],
        ['<ul><li hidden id="mine"></ul>', '<table><li>x</table>', 422],
        ['<button><span id="mine"></span></button>', '<p><table><button>x</table>', 422],
        ['<a><b id="mine"></b></a>', '<table><a>x</a></table>', 422],
        ['<ul><li><div id="mine"></div></ul>', '<table><tr><td><ul><li>x</ul></table>', 206],
        ['<table id="mine"></table>', '<tr><td><table></table>', 206],
      ] as const) {
        await put(server, '/mine.html', `<!DOCTYPE html>${around}`)
        const { status: given } = await send('POST', '/mine.html', selecting('#mine'), fragment)
        expect(given, around).to.equal(status)
      }
    })
    it('nor is such a template moved there', async () => {
      await put(server, '/list.html', list)
      const to = { Destination: '/list.html', 'Destination-Range': 'selector=#list; placement=append' }
      expect((await send('MOVE', '/list.html', { ...selecting('#within'), ...to })).status).to.equal(422)
      expect((await send('GET', '/list.html')).text).to.equal(list)
    })
    it('what stays where it is, is stored', async () => {
      await put(server, '/list.html', list)
      for (const fragment of CONTAINED)
        expect((await send('POST', '/list.html', selecting('#list'), fragment)).status, fragment).to.equal(206)
    })
  })

  const otherwise: [what: string, fragment: string, stored: string][] = [
    ['text of SVG that nothing ends', '<svg><desc><![CDATA[></desc></svg>', '<svg><desc>&gt;'],
    ['text of MathML that nothing ends', '<math><mi><![CDATA[x</mi></math>', '<math><mi>x'],
    ['a search that another end tag closes', '<i><search hidden></i>', '<i><search hidden=""></search></i>'],
    ['the same in a template', '<template><b><search></b></template>', '<template><b><search></search></b></template>'],
    ['a dialog that another end tag closes', '<i><dialog open></i>', '<i><dialog open=""></dialog></i>'],
    [
      'a template that the end tag of a table closes',
      '<table><tr><td><template><td></td></table>',
      '<table><tbody><tr><td><template><td></td></template></td></tr></tbody></table>',
    ],
    ['formatting with is that others close', '<b is="x"><p></b></p>', '<b is="x"></b><p><b is="x"></b></p>'],
    ['what formatting with is closes', '<b><b is=x><q></b>c</b>', '<b><b is="x"><q></q></b>c</b>'],
    ['formatting with is', '<b><b is=x><q><img></q><img></b>c</b>', '<b><b is=x><q><img></q><img></b>c</b>'],
    ['an option that an optgroup closes', '<optgroup><option></optgroup>', '<optgroup><option></option></optgroup>'],
    [
      'a text in ruby that an rtc closes',
      '<ruby id=a>b<rtc>c<rt>d</rtc></ruby>',
      '<ruby id=a>b<rtc>c<rt>d</rtc></ruby>',
    ],
    ['the same without ruby', '<p id=a><rtc>c<rt>d</rtc></p>', '<p id="a"><rtc>c<rt>d</rt></rtc></p>'],
    [
      'an end tag behind what is open again in SVG',
      '<svg><desc><b><i></b></br></i></desc></svg>',
      '<svg><desc><b><i></i></b><i><br></i></desc></svg>',
    ],
    ['an end tag of another group of rows', '<table><thead></tbody></thead></table>', '<table><thead></thead></table>'],
    ['SVG that ends with HTML around it', '<i>a<svg class=b></i>', '<i>a<svg class="b"></svg></i>'],
    ['SVG that ends with SVG around it', '<svg><g a=b/><path></svg>', '<svg><g a=b/><path></svg>'],
    ['SVG with addresses', '<svg><a href=x?c=d /><g/></svg>', '<svg><a href=x?c=d /><g/></svg>'],
    [
      'SVG with an address in a slash',
      '<math><mi><svg id=x?c=/></mi></math>',
      '<math><mi><svg id="x?c=/"></svg></mi></math>',
    ],
    [
      'SVG with a slash behind white space that is none in HTML',
      '<math><mi><svg id=x\u00a0/></mi></math>',
      '<math><mi><svg id="x&nbsp;/"></svg></mi></math>',
    ],
    [
      'an end tag that leaves SVG',
      '<svg><desc></p></div><h1>x</h1></desc></svg>',
      '<svg><desc><p></p><h1>x</h1></desc>',
    ],
    ['an end tag that leaves MathML', '<math><mi></br></div></mi></math>', '<math><mi><br></mi></math>'],
    [
      'a select that a textarea closes',
      '<p><select><textarea></textarea></p>',
      '<p><select></select><textarea></textarea></p>',
    ],
    [
      'an end tag of SVG in MathML',
      '<i><svg><foreignObject><math></foreignObject></i>',
      '<i><svg><foreignObject><math></math></foreignObject></svg></i>',
    ],
    [
      'an end tag of MathML in SVG',
      '<i><math><lineargradient><annotation-xml><svg a=b/></lineargradient></i>',
      '<i><math><lineargradient><annotation-xml><svg a="b/"></svg></annotation-xml></lineargradient></math></i>',
    ],
    [
      'an end tag of HTML in SVG',
      '<i><svg><foreignObject><x-a><svg></x-a></foreignObject></svg></i>',
      '<i><svg><foreignObject><x-a><svg></svg></x-a></foreignObject></svg></i>',
    ],
    [
      'MathML in SVG that closes itself',
      '<svg><foreignObject><math  a="b"/></foreignObject></svg>',
      '<svg><foreignObject><math  a="b"/></foreignObject></svg>',
    ],
    ['a search that its own end tag closes', '<search  hidden><p>x</search>', '<search  hidden><p>x</search>'],
    [
      'end tags of HTML in SVG',
      '<svg><desc><p>x</p><i></p></i></desc></svg>',
      '<svg><desc><p>x</p><i></p></i></desc></svg>',
    ],
  ]
  for (const [what, fragment, stored] of otherwise)
    it(`HTTP-24 ${what} leaves what stands beside it, as browsers read it`, async () => {
      await put(server, '/list.html', page('<div id="list"><p>theirs</p></div>'))
      const sent = selecting('#list; placement=prepend')
      expect((await send('POST', '/list.html', sent, fragment)).status).to.equal(206)
      expect((await send('GET', '/list.html')).text)
        .to.contain(`<div id="list">${stored}`)
        .and.contain('<p>theirs</p></div>')
    })

  describe('KEY-1 in SVG and MathML, only elements of text come from those who may not PUT the whole document', () => {
    const row = (text: string) => `<tr><td><svg><desc>${text}</desc></svg></td></tr>`
    const table = '<table><tbody id="list"><tr><td>theirs</td></tr></tbody></table>'
    const svg = '<svg><desc id="list"><b>theirs</b></desc></svg>'
    const item = '<ul id="list"><li>theirs</li></ul>'
    for (const [held, fragment, status] of [
      [table, row('<template></template>'), 422],
      [table, row('<p><table></table>'), 422],
      [table, row('<select></select>'), 422],
      [table, row('<object><b>x</b></object>'), 422],
      [table, '<tr><td><table><svg><desc><template></template></desc></svg></table></td></tr>', 422],
      [table, row('<p>x</p><form><label>a <input></label></form>'), 206],
      [table, '<tr><td><p><svg><path d="M0"/></svg></p><table><tr><td>x</td></tr></table></td></tr>', 206],
      [svg, '<p><table><tr><td>x</td></tr></table>', 422],
      [svg, '<table><svg><desc><template></template></desc></svg></table>', 422],
      [svg, '<p><svg><desc><table><tr><td>x</td></tr></table></desc></svg></p>', 422],
      [svg, '<rt>x</rt>', 422],
      [svg, '<ul><li>x</li></ul><x-a>x</x-a>', 206],
      [svg.replaceAll('desc', 'foreignObject').replace('<b>', '<b>a</b><b>'), '<noscript>x</noscript>', 422],
      [svg.replaceAll(/svg|desc/g, name => (name === 'svg' ? 'math' : 'mtext')), '<dialog>x</dialog>', 422],
      ['<svg><desc><div id="list"><b>theirs</b></div></desc></svg>', '<search>x</search>', 422],
      [item, '<li><svg><foreignObject><lineargradient>x</lineargradient></foreignObject></svg></li>', 422],
      [item, '<li><math><annotation-xml encoding="text/html"><option>x</option></annotation-xml></math></li>', 422],
      [
        item,
        `<li><svg id="m" class="flowchart"><style>#m .a > b{}</style><g><foreignObject width="36"><div
        xmlns="http://www.w3.org/1999/xhtml"><span class="nodeLabel"><p>Start<br/><i class="fa"></i><code>x</code><img
        src="a.png"></p></span></div></foreignObject></g></svg></li>`,
        206,
      ],
      [
        item,
        `<li><svg><switch><foreignObject><div><font color="#f00">Text<br /><b>x</b></font><hr><h1>y</h1></div></foreignObject
        ><text>Text</text></switch></svg><table><tr><td><select><option>a</select></td></tr></table></li>`,
        206,
      ],
    ] as const)
      it(`${fragment.slice(0, 80)} in ${held} is ${status}`, async () => {
        await put(server, '/list.html', page(held))
        expect((await send('POST', '/list.html', selecting('#list'), fragment)).status).to.equal(status)
        const { text } = await send('GET', '/list.html')
        if (status === 206) expect(text).to.contain(fragment)
        else expect(text).to.equal(page(held))
      })
    it('others write all there', async () => {
      await put(server, '/own.html', page('<div id="open"></div>'))
      const fragment = '<table><tr><td><svg><desc><table><tr><td>x</table></desc></svg></table>'
      expect((await send('POST', '/own.html', selecting('#open'), fragment)).status).to.equal(206)
      expect((await send('GET', '/own.html')).text).to.contain(fragment)
    })
  })

  it('KEY-1 what a noscript holds stays in it, also where it is markup', async () => {
    await put(server, '/list.html', page('<div id="list"><p>theirs</p></div>'))
    const leaving = ['</p></div>x', '<b>', '<a href="x">', '<form>', '<!--', '<li>', '<body class="x">', '<table>']
    for (const text of leaving) {
      const { status } = await send('POST', '/list.html', selecting('#list'), `<p>a<noscript>${text}</noscript></p>`)
      expect(status, text).to.equal(422)
    }
    for (const text of ['a', '<b>x</b>', '<img src="x">', '<i>1 < 2</i>', '<!-- x -->', '<q>x</q>', '</i>', '<p>']) {
      const { status } = await send('POST', '/list.html', selecting('#list'), `<p>a<noscript>${text}</noscript></p>`)
      expect(status, text).to.equal(206)
    }
    const again = [
      '<p>a<noscript></p></div><div><p><noscript></noscript></p>',
      '<b>a<noscript><table><form></table></noscript></b>',
      '<b>a<noscript></b><b><noscript></noscript></b>',
      '<p>a<noscript></p><!--</noscript></p>',
      '<p>a<noscript></p></noscript>',
      '<template><noscript></template></div></noscript></template>',
      '<p>a<template><tr><noscript></template></div><div></noscript></template>',
      '<table><noscript><object><table></table></div></object></noscript></table>',
      '<b><noscript><i x="</noscript>"></i></noscript></b>',
      '<b><noscript><p><select><textarea></textarea></p></noscript></b>',
      '<b><noscript><svg><foreignObject><math></foreignObject></noscript></b>',
      '<table><tr><td><noscript><svg><desc><table></table></desc></svg></noscript></td></tr></table>',
      '<noscript><select><option>a</option></select></noscript>',
      '<strong is="x"><noscript></strong></noscript></strong>',
      '<b><noscript>a<?start name="x"></noscript></b>',
    ]
    for (const fragment of again)
      expect((await send('POST', '/list.html', selecting('#list'), fragment)).status, fragment).to.equal(422)
    for (const [fragment, status] of [
      ['<noscript><link rel="stylesheet" href="x.css"><style>p{}</style></noscript>', 206],
      ['<noscript><p>x</noscript>', 422],
    ] as const)
      expect((await send('POST', '/list.html', selecting('head'), fragment)).status, fragment).to.equal(status)
    const many = '<p><img><noscript><img src="x"></noscript>'.repeat(200)
    const open = '<li>a<li>b<noscript><img src="x"></noscript>'
    for (const fragment of [many, open, '<p><noscript><p>x</p></noscript></p>'])
      expect((await send('POST', '/list.html', selecting('#list'), fragment)).status, fragment).to.equal(206)
    expect(
      (await send('POST', '/list.html', selecting('#list'), `${many}<noscript></div></noscript>`)).status,
    ).to.equal(422)
    const blocks =
      '<div><noscript><p class="hint">No scripts, <a href="/x">look here</a>.</p><form><input></form></noscript></div>'
    expect((await send('POST', '/list.html', selecting('#list'), blocks)).status).to.equal(206)
  })

  it('KEY-1 what the parser passes over in a select, or takes for text of a noscript, leaves them nowhere', async () => {
    const option = '<!DOCTYPE html><select><optgroup><option id="mine">a</option></optgroup></select><p>b'
    for (const [held, fragment, status] of [
      [option, '<plaintext>', 422],
      [option, '<noscript><a hidden></noscript>', 422],
      [option, '<b>b</b>', 206],
      [option.replace(' id="mine"', '').replace('<optgroup', '<optgroup id="mine"'), '<plaintext>', 422],
      [page('<div><noscript id="mine">a</noscript></div>'), '</div><b>', 422],
      [page('<div><noscript id="mine">a</noscript></div>'), '<b>b</b>', 206],
      [page('<p><noscript id="mine">a</noscript></p>'), '<p>b</p>', 422],
      [page('<div><noscript id="mine">a</noscript></div>'), '<select><option>b</option></select>', 422],
      [page('<svg><desc><noscript id="mine"><b>a</b></noscript></desc></svg>'), 'b', 422],
      [page('<template id="mine"><b>a</b></template>'), '<noscript><form><p>x</form></noscript>', 422],
      [page('<template id="mine"><b>a</b></template>'), '<noscript><form><p>x</p></form></noscript>', 206],
    ] as const) {
      await put(server, '/mine.html', held)
      expect((await send('POST', '/mine.html', selecting('#mine'), fragment)).status, held + fragment).to.equal(status)
    }
  })

  it('SEC-6 what others have written in a noscript is told to its readers alone', async () => {
    for (const held of ['a', '<b>a</b>', '<table></table>', '<svg>'])
      for (const fragment of ['x', '<b>x</b>']) {
        await put(server, '/mine-secret.html', page(`<div><noscript id="mine">${held}</noscript></div>`))
        const { status } = await send('POST', '/mine-secret.html', selecting('#mine'), fragment)
        expect(status, held + fragment).to.equal(422)
      }
  })

  it('COMP-147 a prefix lets nobody write tags in a select of which browsers make elements', async () => {
    const taking = [
      '<p><select><x:y></x:y><table></select></p>',
      '<p><select><b title="<a:b"></b><plaintext></select></p>',
      '<p><select><option title="</select>"><x:y><math><mi></select></p>',
    ]
    await put(server, '/list.html', page('<div id="list"></div><select><optgroup id="mine"></optgroup></select>'))
    await put(server, '/rules.html', `${RULES}${rulesPage(['*', 'POST', 'Allow', '/list.html', '#mine'])}`)
    for (const fragment of [...taking, '<x:y><svg><desc>'])
      for (const place of ['#list', '#mine'])
        expect((await send('POST', '/list.html', selecting(place), fragment)).status, fragment).to.be.oneOf(
          fragment.includes('select') || place === '#mine' ? [422] : [206],
        )
    for (const text of ['<x:y></x:y><table>', '<b><x:y></x:y>']) {
      const replaced = `<optgroup id="mine">${text}</optgroup>`
      expect((await send('PUT', '/list.html', selecting('#mine'), replaced)).status, text).to.equal(422)
    }
    for (const fragment of ['<optgroup id="mine"></optgroup>', '<optgroup id="mine"><x:y></x:y><option></optgroup>'])
      expect((await send('PUT', '/list.html', selecting('#mine'), fragment)).status, fragment).to.equal(206)
    for (const fragment of [
      '<p><select><x:y></x:y><option>1</select></p>',
      '<p><x:y></x:y></p>',
      '<form><select><option>1</select><button><svg><x:y/></svg></button></form><p><o:p></o:p></p>',
    ])
      expect((await send('POST', '/list.html', selecting('#list'), fragment)).status, fragment).to.equal(206)
    await put(server, '/list.html', page('<div id="mine"></div>'))
    const form = '<form id="mine"><select><option>1</select><button><o:p></o:p></button></form>'
    expect((await send('PUT', '/list.html', selecting('#mine'), form)).status).to.equal(206)
  })

  it('HTTP-80 nested forms are dropped for those who may only add there, as text joins what stands beside it', async () => {
    await put(server, '/end.html', '<!DOCTYPE html><form id="list">a<b>b</b>c</form>')
    const answer = await send('POST', '/end.html', selecting('#list'), 'd<form><i>e</i></form>')
    expect(answer.status).to.equal(206)
    expect((await send('GET', '/end.html')).text).to.contain('a<b>b</b>cd<i>e</i></form>')
  })

  it('other markup that needs its tags written anew stays possible', async () => {
    const answer = await send('POST', '/open.html', selecting('#open'), '<p>one<p>two <b>open')
    expect(answer.status).to.equal(206)
    expect((await send('GET', '/open.html')).text).to.contain('<footer>the end</footer>')
  })
})
