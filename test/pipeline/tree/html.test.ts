import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { parseHtml } from '../../../pipeline/tree/html.ts'
import { MAX_ATTRIBUTES, MAX_DEPTH, TreeError } from '../../../pipeline/tree/limits.ts'
import { attribute } from '../../../pipeline/tree/nodes.ts'
import { innerMarkup } from '../../../pipeline/tree/serialize.ts'
import { takesLess } from '../../support/cost.ts'
import { elementsOf, find, htmlSoup, nodesOf, runs, sliceOf } from './samples.ts'

function body(source: string): string {
  return innerMarkup(find(parseHtml(source), 'body'), 'html')
}

function refusal(source: string): TreeError {
  try {
    parseDocument('html', source)
  } catch (error) {
    if (error instanceof TreeError) return error
  }
  throw new Error('not refused')
}

describe('tree/html', () => {
  describe('HTTP-23 parses by the HTML standard', () => {
    const cases: [what: string, source: string, expected: string][] = [
      ['implied tbody', '<table><tr><td>1</table>', '<table><tbody><tr><td>1</td></tr></tbody></table>'],
      ['implied end tags', '<ul><li>a<li>b</ul>', '<ul><li>a</li><li>b</li></ul>'],
      ['foster parenting', '<table>x<b>y</b><tr></table>', 'x<b>y</b><table><tbody><tr></tr></tbody></table>'],
      ['adoption agency', '<b>1<p>2</b>3</p>', '<b>1</b><p><b>2</b>3</p>'],
      ['formatting reconstructed', '<p><i>a<p>b', '<p><i>a</i></p><p><i>b</i></p>'],
      ['template contents', '<body><template><tr><td>x</template>', '<template><tr><td>x</td></tr></template>'],
      ['raw text', '<body><script>a<b>&amp;</script>', '<script>a<b>&amp;</script>'],
      ['text of noscript', '<body><noscript><p>x</p></noscript>', '<noscript><p>x</p></noscript>'],
      ['escapable raw text', '<textarea><p>&lt;</textarea>', '<textarea>&lt;p&gt;&lt;</textarea>'],
      ['line feed dropped', '<pre>\nx</pre>', '<pre>x</pre>'],
      [
        'SVG case',
        '<svg viewbox=1><FOREIGNOBJECT><p>x</svg>',
        '<svg viewBox="1"><foreignObject><p>x</p></foreignObject></svg>',
      ],
      ['SVG self-closing', '<svg><g/><g/></svg>', '<svg><g></g><g></g></svg>'],
      ['breaking out of SVG', '<svg><g><p>x', '<svg><g></g></svg><p>x</p>'],
      ['MathML', '<math><mi>x<mo>+</math>', '<math><mi>x<mo>+</mo></mi></math>'],
      ['CDATA in SVG', '<svg><text><![CDATA[<]]></text></svg>', '<svg><text>&lt;</text></svg>'],
      ['CDATA where SVG holds HTML', '<svg><desc><![CDATA[><i>]]>x</svg>', '<svg><desc>&gt;&lt;i&gt;x</desc></svg>'],
      ['CDATA where MathML holds HTML', '<math><mi><![CDATA[></mi>]]>', '<math><mi>&gt;&lt;/mi&gt;</mi></math>'],
      ['no CDATA in HTML in SVG', '<svg><desc><p><![CDATA[>x</svg>', '<svg><desc><p><!--[CDATA[-->x</p></desc></svg>'],
      ['xlink', '<svg><a xlink:href=x /></svg>', '<svg><a xlink:href="x"></a></svg>'],
      ['CRLF', 'a\r\nb\rc', 'a\nb\nc'],
      ['NUL', 'a\0b<i>\0</i>', 'ab<i></i>'],
      ['astral', '<p title="😀">😀', '<p title="😀">😀</p>'],
      ['first of duplicate attributes', '<p id=a ID=b>', '<p id="a"></p>'],
      ['text behind the end of body', '<body>a</body>b</html>c', 'abc'],
      ['form in form', '<form><form><i></i></form>', '<form><i></i></form>'],
      ['character references', '&amp;amp; &notit; &#128512;', '&amp;amp; ¬it; 😀'],
      ['attributes of a second body tag', 'x<body id=a>', 'x'],
    ]
    for (const [what, source, expected] of cases) it(what, () => expect(body(source)).to.equal(expected))

    it('a second body tag adds attributes', () => {
      const element = find(parseHtml('<body id=a>x<body id=b class=c>'), 'body')
      expect(element.attrs.map(a => `${a.name}=${a.value}`)).to.deep.equal(['id=a', 'class=c'])
    })

    it('namespaces of foreign attributes', () => {
      const element = find(parseHtml('<svg xmlns:xlink=u><a xlink:href=x id=y>'), 'a')
      expect(element.attrs[0]).to.deep.include({
        name: 'href',
        prefix: 'xlink',
        namespace: 'http://www.w3.org/1999/xlink',
      })
      expect(attribute(element, 'id')).to.equal('y')
    })

    it('quirks mode', () => {
      expect(parseHtml('<p>').mode).to.equal('quirks')
      expect(parseHtml('<!doctype html><p>').mode).to.equal('no-quirks')
      expect(body('<p><table></table>')).to.equal('<p><table></table></p>')
      expect(body('<!doctype html><p><table></table>')).to.equal('<p></p><table></table>')
    })
  })

  describe('offsets', () => {
    const source =
      '<!doctype html>\r\n<p title="😀">😀<b>x</b>&amp;<br>\r\n<!--c--></p><template><i>t</i></template><ul><li>1<li>2</ul>'
    const root = parseHtml(source)

    it('count UTF-16 code units of the source, whatever the parser normalises', () => {
      expect(nodesOf(root).map(node => sliceOf(source, node))).to.deep.equal([
        '<!doctype html>',
        '',
        '',
        '',
        '<p title="😀">😀<b>x</b>&amp;<br>\r\n<!--c--></p>',
        '😀',
        '<b>x</b>',
        'x',
        '&amp;',
        '<br>',
        '\r\n',
        '<!--c-->',
        '<template><i>t</i></template>',
        '<i>t</i>',
        't',
        '<ul><li>1<li>2</ul>',
        '<li>1',
        '1',
        '<li>2',
        '2',
      ])
    })

    it('tell start and end tags', () => {
      const b = find(root, 'b').sourceCodeLocation
      expect(b && [b.startTag, b.endTag].map(tag => tag && source.slice(tag.startOffset, tag.endOffset))).to.deep.equal(
        ['<b>', '</b>'],
      )
      expect(find(root, 'li').sourceCodeLocation?.endTag).to.equal(undefined)
      expect(find(root, 'br').sourceCodeLocation?.endTag).to.equal(undefined)
    })

    for (const [source, expected] of [
      ['<body></]', '</]'],
      ['<body><!--x', '<!--x'],
      ['<body></]>', '</]>'],
    ] as const) {
      it(`a comment that the text cuts short ends with it: ${source}`, () => {
        const comment = nodesOf(parseHtml(source)).find(node => node.nodeName === '#comment')
        expect(comment && sliceOf(source, comment)).to.equal(expected)
        expect(comment?.sourceCodeLocation?.endOffset).to.equal(source.length)
      })
    }
    for (const html of ['', '<html>', '<title>t</title>'])
      it(`HTTP-100 a body without end tag ends with the text, ${html ? `behind ${html}` : 'at its beginning'}, too`, () => {
        const source = `${html}<body><p>x`
        expect(sliceOf(source, find(parseHtml(source), 'body'))).to.equal('<body><p>x')
      })
    it('a body that the end tag of html ends does not hold what is behind it', () => {
      const source = '<body></html>\n'
      expect(sliceOf(source, find(parseHtml(source), 'body'))).to.equal('<body>')
    })
    for (const name of ['script', 'style', 'title', 'textarea', 'plaintext', 'noscript', 'xmp']) {
      it(`${name} that the text cuts short ends with it`, () => {
        const source = `<body><p>a<${name}>x`
        expect(sliceOf(source, find(parseHtml(source), name))).to.equal(`<${name}>x`)
      })
    }

    it('elements that the parser made up or copied have no place', () => {
      const copied = elementsOf(parseHtml('<table><td><b>1<p>2</b>3')).filter(e => !e.sourceCodeLocation)
      expect(copied.map(e => e.tagName)).to.deep.equal(['html', 'head', 'body', 'tbody', 'tr', 'b'])
    })
  })

  describe('limits', () => {
    const divs = (depth: number): string => '<div>'.repeat(depth)
    const attributes = (count: number): string => Array.from({ length: count }, (_, i) => ` a${i}`).join('')

    it(`depth ${MAX_DEPTH} is accepted, html and body included`, () => {
      expect(parseDocument('html', divs(MAX_DEPTH - 2)).clean).to.equal(true)
    })
    it('one more is refused at its tag', () => {
      const error = refusal(divs(MAX_DEPTH - 1))
      expect([error.reason, error.offset]).to.deep.equal(['too-deep', 5 * (MAX_DEPTH - 2)])
    })
    it('an element without content counts too', () => {
      expect(refusal(`${divs(MAX_DEPTH - 2)}<br>`).reason).to.equal('too-deep')
    })
    for (const nest of [
      '<div>',
      '<svg>',
      '<template>',
      '<table><td>',
      '<math><mi>',
      '<ruby><rt>',
      '<b><i><u></b></i>',
      '<frameset>',
    ]) {
      it(`endless ${nest} ends early`, () => expect(refusal(nest.repeat(200_000)).reason).to.equal('too-deep'))
    }
    it(`${MAX_ATTRIBUTES} attributes are accepted, one more refused`, () => {
      parseDocument('html', `<p${attributes(MAX_ATTRIBUTES)}>`)
      const error = refusal(`<p>x</p><p${attributes(MAX_ATTRIBUTES + 1)}>`)
      expect([error.reason, error.offset]).to.deep.equal(['too-many-attributes', 8])
    })
    it('attributes that repeated tags add to html and body are counted', () => {
      expect(refusal(Array.from({ length: 50_000 }, (_, i) => `<html a${i}>`).join('')).reason).to.equal(
        'too-many-attributes',
      )
      expect(refusal(Array.from({ length: 50_000 }, (_, i) => `<body a${i}>`).join('')).reason).to.equal(
        'too-many-attributes',
      )
    })
    it('unclosed formatting elements do not multiply', () => {
      const open = Array.from({ length: 400 }, (_, i) => `<b a${i}>`).join('')
      expect(refusal(`<p>${open}${'</p><p>x'.repeat(50_000)}`).reason).to.equal('too-many-elements')
    })
    it('SEC-12 nor do long attributes of a few of them', () => {
      const open = ['b', 'i', 'u', 's'].map(name => `<${name} class="${'x'.repeat(10_000)}">`).join('')
      expect(refusal(`<p>${open}${'</p><p>x'.repeat(100)}`).reason).to.equal('too-many-elements')
      expect(innerMarkup(parseHtml(`<p>${open}${'</p><p>x'.repeat(10)}`), 'html')).to.have.length.above(400_000)
    })
    for (const [what, source] of [
      ['attributes', `<p${attributes(100_000)}>`],
      ['fostered text', `<table>${'x<tr>'.repeat(40_000)}`],
      ['fostered elements', `<table>${'<a>x'.repeat(40_000)}`],
      ['misnesting', '<a><p>'.repeat(40_000)],
      ['stray end tags', `${'<div>'.repeat(400)}${'</p></x></b>'.repeat(20_000)}`],
      ['comments', '<!--'.repeat(50_000)],
      ['references', '&notit'.repeat(50_000)],
      ['open quotes', `<p ${'a="'.repeat(80_000)}`],
    ] as const) {
      it(`takes linear time for ${what}`, () =>
        takesLess(3000, () => {
          try {
            parseDocument('html', source)
          } catch (error) {
            expect(error).to.be.instanceOf(TreeError)
          }
        }))
    }
  })

  it('any text is a tree, or exceeds a limit', () => {
    fc.assert(
      fc.property(htmlSoup, source => {
        const { root } = parseDocument('html', source)
        for (const element of elementsOf(root))
          expect(element.childNodes.every(child => child.parentNode === element)).to.equal(true)
        for (const node of nodesOf(root)) {
          const place = node.sourceCodeLocation
          if (place)
            expect(
              place.startOffset >= 0 && place.startOffset < place.endOffset && place.endOffset <= source.length,
            ).to.equal(true)
        }
      }),
      runs(400),
    )
  })
})
