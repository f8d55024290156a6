/** Elements with a prefix as composition reads them, beside the standard's parser (COMP-6). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parsingHtml } from '../../../pipeline/tree/html.ts'
import { type AnyNode, isElement } from '../../../pipeline/tree/nodes.ts'
import { parsingPrefixed } from '../../../pipeline/tree/prefixed-parser.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { pick, type Random, seeded } from './selector/random.ts'

/** What is text, or a comment, to one of them alone where the two differ on what stands around it. */
const TEXTS = ['<!--', '-->', '<b>', '</b>', ']]>', '</p:x>', '<p:x>', '<svg>', '</svg>', '<![CDATA[']
const RAW = ['style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes', 'script']
/** Elements of SVG and MathML, `|` for HTML in them, `:` for more of their own kind. */
const FOREIGN = {
  svg: ['<desc>|</desc>', '<foreignObject>|</foreignObject>', '<title>|</title>', '<g>:</g>', '<g/>:', '<xmp>:</xmp>'],
  math: [
    '<mi>|</mi>',
    '<mtext>|</mtext>',
    '<annotation-xml encoding="text/html">|</annotation-xml>',
    '<annotation-xml id="a" encoding="APPLICATION/xhtml+xml">|</annotation-xml>',
    '<annotation-xml encoding="text/plain">:</annotation-xml>',
    '<annotation-xml id="text/html">:</annotation-xml>',
    '<mrow>:</mrow>',
  ],
}
/** End tags that end nothing, or more than their element. */
const MISNESTED = [
  '<svg><desc><div></desc>|</div></desc></svg>',
  '<svg><desc><div></svg>|</div></desc></svg>',
  '<div><svg><desc></div>|</desc></svg></div>',
  '<svg></p>|',
  '<math><mi><i></math>|</i></mi></math>',
  '<svg><g></br>|',
  '<svg><g><font size="1">|</font>',
]
const EITHER = ['<style>:</style>', '<style/>:', '<script>:</script>', '<p:x/>:', '<iframe>:</iframe>', '<title/>']

/** In SVG, the standard has them there; where pages show them, they are HTML. */
const ORDINARY = new Set(['p:x', 'p-x'])

/** Markup in which every element ends at its own end tag. */
function markup(random: Random, kind: 'html' | 'svg' | 'math', depth: number): string {
  const inside = (within: 'html' | 'svg' | 'math') => markup(random, within, depth - 1)
  if (depth === 0) return kind === 'html' ? rawText(random) : pick(random, ['t', '<![CDATA[<b>]]>', '<![CDATA[<!--]]>'])
  const pieces =
    kind === 'html'
      ? [
          '<p:x>:</p:x>',
          '<div>:</div>',
          '<br>:',
          '<div/>:</div>',
          ...MISNESTED,
          '<svg><g><b>|</b>',
          `<svg>${inside('svg')}</svg>`,
          `<math>${inside('math')}</math>`,
        ]
      : ['<p:x>:</p:x>', ...FOREIGN[kind], ...EITHER]
  const both = [pick(random, pieces), pick(random, [...pieces, '<!-- <p:x> -->'])]
  return both.map(each => each.replace(/[:|](?=$|<)/, end => inside(end === '|' ? 'html' : kind))).join('')
}

function rawText(random: Random): string {
  const name = pick(random, RAW)
  const text = [1, 2, 3].map(() => pick(random, TEXTS)).join('')
  // In a script, a comment may hide the end tag.
  return `<${name}>${name === 'script' ? text.replaceAll('<!--', '') : text}</${name}>`
}

function told(node: AnyNode): unknown {
  if (!isElement(node))
    return 'childNodes' in node ? node.childNodes.map(told) : 'value' in node ? node.value : node.nodeName
  const { tagName, namespaceURI, attrs, childNodes } = node
  const names = attrs.map(({ name, value }) => `${name}=${value}`)
  return [tagName, ORDINARY.has(tagName) ? '' : namespaceURI, names, childNodes.map(told)]
}

describe('Elements with a prefix beside the standard’s parser', () => {
  it('COMP-6 COMP-147 what stands in and around them is read alike where all elements end where they are written', () => {
    const random = seeded(20_261_130)
    for (let i = 0; i < 170; i++) {
      const body = markup(random, 'html', 4)
      const text = `<!doctype html><html xmlns:p="u"><head><title>t</title></head><body>${body}</body></html>`
      const plain = JSON.stringify(told(atOnce(parsingHtml(text.replaceAll('p:x', 'p-x')))))
      const composed = JSON.stringify(told(atOnce(parsingPrefixed(text)))).replaceAll('p:x', 'p-x')
      expect(composed, body).to.equal(plain)
    }
  })
})
