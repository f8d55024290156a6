/** Tags that are no elements of a tree, and may be some to another reader (MOD-94). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findingHidden } from '../../../pipeline/tree/hidden-tags.ts'
import { parseHtml } from '../../../pipeline/tree/html.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'

const ICON = '<svg viewBox="0 0 1 1"><title>Icon</title><style>.a{}</style><g fill="red"><path d="M0 0"/></g></svg>'
const NOTE = '<!-- <img src=x onerror=alert(1)> -->'

/** What authors have, and all readers read alike. */
const ALIKE = [
  NOTE,
  `${ICON}${NOTE}<b title="<img>" data-x='{"a":"<b>x</b>"}' style="a<b">x</b>`,
  `<title>a < b</title><title>a <b> c</title><textarea><img></textarea><style>/* <b> */</style>${NOTE}`,
  `<script>for (i=0;i<n;i++) "</b>"</script>${ICON}<script>i<n; "</b>"</script>${NOTE}<iframe><img></iframe>`,
  `<script><!--\nif (i<n) x\n//--></script><xmp><img></xmp>${NOTE}`,
  `<svg><style><![CDATA[ .a > .b {} ]]></style><desc>a</desc></svg>${NOTE}<script>i<n</script>`,
  `<table><tr><td>x<p>y</table><ul><li>a<li>b</ul></p><br></br><p>a<div>b</div></p>${NOTE}`,
  `<noscript>x</noscript><select><option>a<option>b</select>${NOTE}<template><p>x</template>`,
  '<p {% if a < b %}class="x"{% endif %} title="{% if a <b %}">a<3</p><?php echo "x" ?><!x "y">',
  '<b><p>x</b>y</p><a>x<table><a>y</table><form><div></form></div><svg><foreignObject><p>x</p></foreignObject></svg>',
]

/** What is hidden, by names. */
const HIDDEN: [source: string, names: string][] = [
  ['<select><img><u a=1></select>', 'img'],
  ['<select></div></select>', 'div'],
  ['<select><x:y></x:y></option></select><svg><image></svg><select><image></select>', 'x:y img'],
  ['<p>x<body onload=1><td><form><form id=x>', 'body td form'],
  ['<select><u></select><select><u><i></select><main><noscript><b></noscript></main>', 'u u b'],
  ['<frameset onload=1><b>', 'b'],
  ['<div>x<frameset onload=1>', 'frameset'],
  ['<noscript><img src=x><!-- <b> --></noscript><!-- <i> -->', 'img'],
  ['<noscript><!-- <img> </noscript> <b> --><!-- <i> -->', 'img i'],
  [`<svg><title><p title="</title><img>"></p></title></svg><!-- <b> -->`, 'img b'],
  ['<svg><![CDATA[ <img> ]]></svg><!-- <b> -->', 'img b'],
  ['<svg><g></svg><title><img></title><!-- <b> -->', 'img'],
  ['<math></math><xmp><img title="</xmp><b a="<i>"></b>', 'img i'],
  ['<template></template><script>i<n</script><b title="<u>"></b>', 'n< u'],
  ['<noscript><style>a{}</style></noscript><!-- <b> -->', 'style'],
  ["<!--!><b title='--><select><img></select>'>", 'img'],
  ["<!---!><b title='--><select><img></select>'>", 'img'],
  ["<noscript><!--!><b title='--><img>'></noscript>", 'img'],
  ['<!----!><!--><!---><select><img></select>', 'img'],
  ['<script><!-- <script> i<n </script> "<b>" --></script>', 'script n b'],
  [`<script><!--<script>--!></script><b title='</script><select><img></select>'></b>`, 'script b img'],
  ...['id= ', 'id=x"', "id=x'"].map((written): [source: string, names: string] => [
    `<svg><title ${written}/><g/></svg></g></title><title><select><img></select></title></svg>`,
    'img',
  ]),
]

function hiddenIn(source: string): string {
  const tree = { kind: 'html' as const, source, root: parseHtml(source), clean: false }
  const tags = [...atOnce(findingHidden(tree)).values()].flat()
  return tags.map(({ tagName }) => tagName).join(' ')
}

describe('MOD-94 tags that are no elements', () => {
  for (const source of ALIKE) it(`none: ${source}`, () => expect(hiddenIn(source)).to.equal(''))
  for (const [source, names] of HIDDEN) it(`${names}: ${source}`, () => expect(hiddenIn(source)).to.equal(names))

  it('have the attributes that everybody reads, and the element around them for a parent', () => {
    const source = '<main><noscript><IMG/a="1>"b=\'&lt;\'c =x/ =d e></noscript></main>'
    const tree = { kind: 'html' as const, source, root: parseHtml(source), clean: false }
    const [parent] = atOnce(findingHidden(tree)).keys()
    const [tag] = [...atOnce(findingHidden(tree)).values()].flat()
    expect([parent?.tagName, tag?.parentNode]).to.deep.equal(['noscript', parent])
    const attrs = { a: '1>', b: '<', c: 'x/', '=d': '', e: '' }
    expect(tag?.attrs).to.deep.equal(Object.entries(attrs).map(([name, value]) => ({ name, value })))
  })

  it('SEC-12 are read for as long as they take four times the text together, and what is left is one that nobody can permit', () => {
    const source = `<svg><![CDATA[<i>]]></svg><!--${'<a '.repeat(3_000)}--><main><!--<img>--></main>`
    const tree = { kind: 'html' as const, source, root: parseHtml(source), clean: false }
    const [, tags = [], last = []] = [...atOnce(findingHidden(tree)).values()]
    expect(tags.length).to.be.within(2, 5)
    // Also where another shape asks.
    for (const each of [tags, last]) expect(each.at(-1)?.attrs).to.deep.equal([{ name: '<', value: '' }])
  })
})
