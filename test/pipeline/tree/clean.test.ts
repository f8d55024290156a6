import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { elementsOf, htmlSoup, runs, sliceOf, tidyHtml } from './samples.ts'

const clean = (source: string): boolean => parseDocument('html', source).clean

describe('tree/clean', () => {
  const tidy: [what: string, source: string][] = [
    ['a whole document', '<!doctype html>\n<html><head><title>t</title></head>\n<body>\n<p>x</p>\n</body>\n</html>\n'],
    ['implied shell', '<p>x'],
    ['implied end tags', '<ul><li>a<li>b</ul><dl><dt>a<dd>b</dl><p>a<p>b'],
    ['implied table parts', '<table><col><tr><td>a<td>b<tr><td>c</table>'],
    ['template', '<template><tr><td>x</td></tr></template>'],
    ['foreign elements', '<svg viewbox=0><FOREIGNOBJECT></FOREIGNOBJECT><g/></svg>'],
    ['a comment behind the document', '<body>\n<p>x</p>\n</body>\n<!-- made at noon -->\n</html>\n<!-- end -->\n'],
    ['white space behind a comment behind the body', '<body><p>x</p></body><!-- a -->\n<!-- b --> </html>\n'],
    ['white space behind a comment behind an implied body', '<p>x</p></html><!-- end -->\n'],
    ['CRLF, NUL, references', '<p>a\r\n\0&amp;</p>\r\n'],
    ['ignored tags', '<p>a</x>b</p><tr>'],
    ['void elements', '<br><img><input/><hr>'],
    ['frameset', '<frameset><frame></frameset>'],
  ]
  for (const [what, source] of tidy) it(`${what} is clean`, () => expect(clean(source)).to.equal(true))

  const soup: [what: string, source: string][] = [
    ['foster parenting', '<table>x<tr></table>'],
    ['an element fostered', '<table><b>x</b><tr></table>'],
    ['adoption agency', '<b>1<p>2</b>3</p>'],
    ['misnested formatting', '<b><i>x</b></i>'],
    ['open formatting element', '<p><b>x</p><p>y</p>'],
    ['open formatting element at the end', '<p>x<b>y'],
    ['open form', '<form><p>x</p>'],
    ['form closed across an element', '<form><div></form></div>'],
    ['head content behind head', '<head></head><link><body>'],
    ['a comment in misplaced text', '<table><tr><td>x</td></tr>y<!--c-->z</table>'],
    ['text behind a comment behind the body', '<p>x</p></body><!--c-->y\n'],
    ['text of the body that reaches over a comment', '<body>a</body><!--c-->\n<p>x</p>'],
    ['a no-break space behind a comment behind the body', '<p>x</p></body><!--c-->&nbsp;'],
    ['image', '<image src=x>'],
    ['link in a link', '<a>1<a>2</a>'],
  ]
  for (const [what, source] of soup) it(`${what} is not`, () => expect(clean(source)).to.equal(false))

  it('is always true for XML', () => expect(parseDocument('xml', '<b><i>x</i></b>').clean).to.equal(true))

  it('tidy documents are clean', () => {
    fc.assert(
      fc.property(tidyHtml, source => {
        expect(clean(source)).to.equal(true)
      }),
      runs(200),
    )
  })

  it('in clean documents every range begins with its own tag, nests and follows the one before', () => {
    let seen = 0
    fc.assert(
      fc.property(fc.oneof(htmlSoup, tidyHtml), source => {
        const { clean, root } = parseDocument('html', source)
        if (!clean) return
        seen++
        let last = 0
        for (const element of elementsOf(root)) {
          const place = element.sourceCodeLocation
          if (!place) continue
          const markup = sliceOf(source, element).toLowerCase().replaceAll('\0', '\ufffd')
          expect(markup.startsWith(`<${element.tagName.toLowerCase()}`), markup).to.equal(true)
          expect(place.startOffset).to.be.at.least(last)
          last = place.startTag?.endOffset ?? 0
          if (place.endTag) {
            const end = source
              .slice(place.endTag.startOffset, place.endTag.endOffset)
              .toLowerCase()
              .replaceAll('\0', '\ufffd')
            expect(end.startsWith(`</${element.tagName.toLowerCase()}`), end).to.equal(true)
          }
          let previous: number | undefined
          for (const child of element.content?.childNodes ?? element.childNodes) {
            const inner = child.sourceCodeLocation
            if (!inner || child.nodeName === '#text') continue
            expect(inner.startOffset).to.be.at.least(previous ?? place.startTag?.endOffset ?? 0)
            previous = inner.endOffset
          }
        }
      }),
      runs(600),
    )
    expect(seen).to.be.greaterThan(100)
  })
})
