/** Tags that are no elements of a tree, and may be some to another reader (MOD-94). */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { findingHidden, findingHiddenIn, isUnreadable } from '../../../pipeline/tree/hidden-tags.ts'
import { parseHtml } from '../../../pipeline/tree/html.ts'
import { type ChildNode, type ElementNode, elementAlone, isElement } from '../../../pipeline/tree/nodes.ts'
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
  ['<MATH></MATH><XMP><IMG TITLE="</XMP><B A="<I>"></B>', 'img i'],
  ['<template></template><script>i<n</script><b title="<u>"></b>', 'n< u'],
  ['<noscript><style>a{}</style></noscript><!-- <b> -->', 'style'],
  ["<!--!><b title='--><select><img></select>'>", 'img'],
  ["<!---!><b title='--><select><img></select>'>", 'img'],
  ["<noscript><!--!><b title='--><img>'></noscript>", 'img'],
  ['<!----!><!--><!---><select><img></select>', 'img'],
  ['<math></math><svg></svg><xmp><img title="</xmp><b a="<i>"></b>', 'img i'],
  ['<main><noscript></p><br></noscript></main>', 'p br'],
  ['<main><noscript><b a "><img title=""></noscript></main>', 'b img'],
  ['<main><noscript><!-- <img> --><b title="</noscript></main><!-- <i> -->', 'img b i'],
  ['<select><img></select><!x', 'img'],
  ['<b></b><!--><select><img></select><!---><select><u></select>', 'img u'],
  ['<script><!-- <script> i<n </script> "<b>" --></script>', 'script n b'],
  [`<script><!--<script>--!></script><b title='</script><select><img></select>'></b>`, 'script b img'],
  ...['id= ', 'id=x"', "id=x'"].map((written): [source: string, names: string] => [
    `<svg><title ${written}/><g/></svg></g></title><title><select><img></select></title></svg>`,
    'img',
  ]),
]

/** Of which texts are made: what begins and ends them, and drawings, as it should be and otherwise. */
const PIECES =
  `<svg> </svg> <svg/> <svg_a=_/> <g> </g> <g/> <g_a=b"/> <g_a="/"/> <title> </title> <title_a=_/> <title_a='b'/> <desc> </desc> <style>
  </style> <script> </script> <!-- --> --!> <!--> <!---> <![CDATA[ ]]> <noscript> </noscript> <textarea> </textarea> <xmp> </xmp> <b_t="
  "> <b_t='< '> <i/> <select> </select> <template> </template> <math> </math> <mi> </mi> <p> </p> <table> </table> <td> <a> </a> <?x >
  <frameset> <body> </body> <iframe> </iframe> <plaintext> <!-- <script> / = <foreignObject> </foreignObject> <path_d=x/>`
    .split(/\s+/)
    .map(piece => piece.replaceAll('_', ' '))
/** Names that some readers do not know, or know otherwise. */
const OTHERWISE = ['select', 'template', 'math', 'frameset', 'mi', 'p', 'table', 'td', 'a', 'body', 'foreignObject']

function namesIn(source: string): Set<string> {
  const names = new Set<string>()
  const open = [...parseHtml(source).childNodes]
  for (let node = open.pop(); node; node = open.pop()) {
    if (!isElement(node)) continue
    names.add(node.tagName)
    open.push(...node.childNodes, ...(node.content?.childNodes ?? []))
  }
  return names
}

function tagsIn(source: string): ElementNode[] {
  const tree = { kind: 'html' as const, source, root: parseHtml(source), clean: false }
  return [...atOnce(findingHidden(tree)).values()].flat()
}

function hiddenIn(source: string): string {
  return tagsIn(source)
    .map(({ tagName }) => tagName)
    .join(' ')
}

/** The same of what stands in a `noscript`. */
const IN_NOSCRIPT: [text: string, names: string][] = [
  ['a < b', ''],
  ['<b>x</b></p></br></div>', 'b p br'],
  ['<!-- <i> -->', ''],
  ['<!-- <i>', 'i noscript'],
  ['<b title="', 'b noscript'],
  ['<style>a{}</style>', 'style'],
]

describe('MOD-94 tags that are no elements', () => {
  for (const source of ALIKE) it(`none: ${source}`, () => expect(hiddenIn(source)).to.equal(''))
  for (const [source, names] of HIDDEN) it(`${names}: ${source}`, () => expect(hiddenIn(source)).to.equal(names))

  for (const [text, names] of IN_NOSCRIPT)
    it(`${names}: in a noscript, ${text}`, () => {
      const value: ChildNode = { nodeName: '#text', value: text, parentNode: null }
      const noscript: ElementNode = { ...elementAlone('noscript'), childNodes: [value] }
      const tags = atOnce(findingHiddenIn(noscript))
      expect(tags.map(({ tagName }) => tagName).join(' ')).to.equal(names)
      // Where it goes on behind its end nobody can permit it.
      expect(tags.filter(({ tagName }) => tagName === 'noscript').every(isUnreadable)).to.equal(true)
    })

  it('are all that readers make elements of who know other names', () => {
    const piece = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 1, arbitrary: fc.constant('<@>') },
    )
    const pieces = fc.array(piece, { minLength: 3, maxLength: 14, size: 'max' })
    const known = fc.subarray(OTHERWISE)
    fc.assert(
      fc.property(pieces, known, (list, others) => {
        // Each of these tags has a name of its own.
        const source = list.map((each, i) => each.replace('@', `u${i}`)).join('')
        const told = namesIn(source)
        const hidden = tagsIn(source)
        // Such a document fits nowhere.
        if (hidden.some(isUnreadable)) return
        for (const { tagName } of hidden) told.add(tagName)
        const read = others.reduce(
          (text, name) => text.replace(new RegExp(`(</?)${name}(?=[ />])`, 'gi'), '$1x-x'),
          source,
        )
        for (const name of namesIn(read)) if (/^u\d/.test(name)) expect([...told], source).to.include(name)
      }),
      { numRuns: Number(process.env.FUZZ ?? 250), seed: Number(process.env.SEED ?? 4) },
    )
  })

  it('have the attributes that everybody reads, and the element around them for a parent', () => {
    const source = '<main><noscript><IMG/a="1>"b=\'&lt;\'c =x/ =d e></noscript></main>'
    const tree = { kind: 'html' as const, source, root: parseHtml(source), clean: false }
    const [parent] = atOnce(findingHidden(tree)).keys()
    const [tag] = [...atOnce(findingHidden(tree)).values()].flat()
    expect([parent?.tagName, tag?.parentNode]).to.deep.equal(['noscript', parent])
    const attrs = { a: '1>', b: '<', c: 'x/', '=d': '', e: '' }
    expect(tag?.attrs).to.deep.equal(Object.entries(attrs).map(([name, value]) => ({ name, value })))
  })

  it('have the innermost element around them for a parent', () => {
    const source =
      '<main><p>a</p><div>b<select id=s><img></select></div></main><aside><i>c</i><select id=t><u></select></aside>'
    const tree = { kind: 'html' as const, source, root: parseHtml(source), clean: false }
    const found = [...atOnce(findingHidden(tree))].map(([parent, tags]) => [parent.attrs[0]?.value, tags[0]?.tagName])
    expect(found).to.deep.equal([
      ['s', 'img'],
      ['t', 'u'],
    ])
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
