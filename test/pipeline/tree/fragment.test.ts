import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { parseFragment, parsingAsPart } from '../../../pipeline/tree/fragment.ts'
import { TreeError } from '../../../pipeline/tree/limits.ts'
import { type ChildNode, type ElementNode, isElement } from '../../../pipeline/tree/nodes.ts'
import { equalTrees, outerMarkup, serializeDocument, textContent } from '../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { elementsOf, find, nodesOf, runs, sliceOf, xmlMarkup } from './samples.ts'

function markup(nodes: ChildNode[], kind: 'html' | 'xml' = 'html'): string {
  return nodes.map(node => outerMarkup(node, kind)).join('')
}

function htmlContext(source: string, name: string): ElementNode {
  return find(parseDocument('html', source).root, name)
}

describe('tree/fragment', () => {
  describe('HTTP-80 HTML is parsed in the element that will be the parent', () => {
    const table = '<!doctype html><table><tbody><tr><td></table>'
    const cases: [what: string, source: string, context: string, text: string, expected: string][] = [
      ['a row in a tbody stays a row', table, 'tbody', '<tr><td>1', '<tr><td>1</td></tr>'],
      ['a row in a table gains a tbody', table, 'table', '<tr><td>1', '<tbody><tr><td>1</td></tr></tbody>'],
      ['a cell in a row', table, 'tr', '<td>1<td>2', '<td>1</td><td>2</td>'],
      ['a row in a cell is only its text', table, 'td', '<tr><td>1', '1'],
      ['a row in a div is only its text', '<div>', 'div', '<tr><td>1</td></tr>', '1'],
      ['several nodes, text included', '<div>', 'div', ' a<b>c</b> <!--d-->', ' a<b>c</b> <!--d-->'],
      ['options in a select', '<select>', 'select', '<option>1<option>2', '<option>1</option><option>2</option>'],
      ['markup in a title is text', '<title></title>', 'title', '<b>&amp;', '&lt;b&gt;&amp;'],
      ['markup in a textarea is text', '<textarea>', 'textarea', '</p>x', '&lt;/p&gt;x'],
      ['SVG in SVG', '<svg></svg>', 'svg', '<foreignobject/><g/>', '<foreignObject></foreignObject><g></g>'],
      ['HTML in foreignObject', '<svg><foreignobject></svg>', 'foreignObject', '<p>x', '<p>x</p>'],
      ['rows in a template', '<template></template>', 'template', '<tr><td>1', '<tr><td>1</td></tr>'],
      ['a form in a form is dropped', '<form><div></div></form>', 'div', '<form><i></i></form>', '<i></i>'],
      ['a form elsewhere is not', '<div>', 'div', '<form><i></i></form>', '<form><i></i></form>'],
      ['head content in head', '<title>', 'head', '<meta charset=utf-8><link>', '<meta charset="utf-8"><link>'],
      [
        'a table in a paragraph closes it',
        '<!doctype html><div>',
        'div',
        '<p><table></table>',
        '<p></p><table></table>',
      ],
      ['but not in quirks mode', '<div>', 'div', '<p><table></table>', '<p><table></table></p>'],
      ['html and body tags are dropped', '<div>', 'div', '<html><body><p>x', '<p>x</p>'],
      ['nothing', '<div>', 'div', '', ''],
    ]
    for (const [what, source, context, text, expected] of cases) {
      it(what, () => expect(markup(parseFragment('html', text, htmlContext(source, context)))).to.equal(expected))
    }

    it('markup in a script is text', () => {
      const nodes = parseFragment('html', 'a<b>&amp;', htmlContext('<script></script>', 'script'))
      expect(nodes.map(textContent)).to.deep.equal(['a<b>&amp;'])
    })

    it('nodes stand alone, with offsets in their own text', () => {
      const text = '\r\n<p id=😀>a</p>b<br>'
      const nodes = parseFragment('html', text, htmlContext('<div>', 'div'))
      expect(nodes.map(node => sliceOf(text, node))).to.deep.equal(['\r\n', '<p id=😀>a</p>', 'b', '<br>'])
      expect(nodes.map(node => node.parentNode)).to.deep.equal([null, null, null, null])
    })

    it('the context and its document stay as they are', () => {
      const document = parseDocument('html', '<form><table><tr><td id=x>a</table></form>')
      const before = serializeDocument(document)
      parseFragment('html', '<tr><td><form><a>x<a>y</table>z', find(document.root, 'td'))
      parseFragment('html', '<tr>x<td>', find(document.root, 'table'))
      expect(serializeDocument(document)).to.equal(before)
    })
  })

  describe('HTTP-80 XML is parsed with the namespaces in scope', () => {
    const document = parseDocument('xml', '<r xmlns="d" xmlns:p="u"><a xmlns:p="v" xmlns:q=" w "><b xmlns=""/></a></r>')

    it('declarations of ancestors count, the nearest first', () => {
      const [c, , d] = parseFragment('xml', '<p:c/> <d/>', find(document.root, 'a'))
      expect(c && isElement(c) && c.namespaceURI).to.equal('v')
      expect(d && isElement(d) && d.namespaceURI).to.equal('d')
      const [e] = parseFragment('xml', '<p:c/>', find(document.root, 'r'))
      expect(e && isElement(e) && e.namespaceURI).to.equal('u')
      const [f] = parseFragment('xml', '<d q:x=""/>', find(document.root, 'b'))
      expect(f && isElement(f) && [f.namespaceURI, f.attrs[0]?.namespace]).to.deep.equal(['', 'w'])
    })

    it('any content, with offsets in its own text', () => {
      const text = 'a😀<b>c</b><!--d--><?e f?> <g/>\r\nh'
      const nodes = parseFragment('xml', text, find(document.root, 'a'))
      expect(nodes.map(node => sliceOf(text, node))).to.deep.equal([
        'a😀',
        '<b>c</b>',
        '<!--d-->',
        '<?e f?>',
        ' ',
        '<g/>',
        '\r\nh',
      ])
      expect(nodes.every(node => node.parentNode === null)).to.equal(true)
    })

    for (const text of [
      '<a>',
      'a</a>',
      '<q:x/>&nbsp;',
      '<z:a/>',
      '&x;',
      '<!DOCTYPE a>',
      '<?xml version="1.0"?><a/>',
      ']]>',
      'a]]>b<c/>',
      '<c/>]]>',
      '<a',
      '\ud800',
      '&',
    ]) {
      it(`422 for ${JSON.stringify(text)}`, () => {
        expect(() => parseFragment('xml', text, find(document.root, 'a')))
          .to.throw(TreeError)
          .with.property('reason', 'malformed')
      })
    }

    for (const text of ['', ' ', '\r', 'a\r\n', '<![CDATA[<]]>']) {
      it(`${JSON.stringify(text)} is content`, () => {
        const [node, ...more] = parseFragment('xml', text, find(document.root, 'a'))
        expect(more).to.deep.equal([])
        expect(node ? sliceOf(text, node) : '').to.equal(text)
      })
    }

    it('the markup of an element is that element again in its place', () => {
      fc.assert(
        fc.property(xmlMarkup, source => {
          const { root } = parseDocument('xml', source)
          for (const element of elementsOf(root)) {
            if (!element.parentNode || !isElement(element.parentNode)) continue
            const [again, ...more] = parseFragment('xml', sliceOf(source, element), element.parentNode)
            expect(more).to.deep.equal([])
            expect(again && equalTrees(again, element)).to.equal(true)
          }
        }),
        runs(150),
      )
    })
  })

  describe('limits hold for fragments', () => {
    const div = htmlContext('<div>', 'div')
    const xml = find(parseDocument('xml', '<a/>').root, 'a')
    for (const [kind, context, text, reason] of [
      ['html', div, '<div>'.repeat(100_000), 'too-deep'],
      ['xml', xml, '<a>'.repeat(100_000), 'too-deep'],
      ['html', div, `<p ${Array.from({ length: 20_000 }, (_, i) => `a${i}`).join(' ')}>`, 'too-many-attributes'],
      ['xml', xml, `<p ${Array.from({ length: 20_000 }, (_, i) => `a${i}=""`).join(' ')}/>`, 'too-many-attributes'],
    ] as const) {
      it(`${kind} ${reason}`, () =>
        expect(() => parseFragment(kind, text, context))
          .to.throw(TreeError)
          .with.property('reason', reason))
    }
  })

  it('the depth of the context counts', () => {
    const html = parseDocument('html', '<div>'.repeat(500))
    const div = elementsOf(html.root).at(-1)
    const xml = parseDocument('xml', '<a>'.repeat(502) + '</a>'.repeat(502))
    const a = elementsOf(xml.root).at(-1)
    if (!div || !a) throw new Error('no context')
    expect(parseFragment('html', '<i>'.repeat(10), div)).to.have.length(1)
    expect(() => parseFragment('html', '<i>'.repeat(11), div)).to.throw(TreeError)
    expect(parseFragment('xml', '<i>'.repeat(10) + '</i>'.repeat(10), a)).to.have.length(1)
    expect(() => parseFragment('xml', '<i>'.repeat(11) + '</i>'.repeat(11), a)).to.throw(TreeError)
  })

  describe('HTTP-80 html, head and body are taken from a document', () => {
    const part = (text: string, name: 'html' | 'head' | 'body', mode?: string): string => {
      const element = atOnce(parsingAsPart(text, name, mode))
      return element ? outerMarkup(element, 'html') : 'none'
    }
    it('body', () => expect(part('<body class=a>x</body>', 'body')).to.equal('<body class="a">x</body>'))
    it('body from its content', () => expect(part('<p>x', 'body')).to.equal('<body><p>x</p></body>'))
    it('head', () => expect(part('<head><title>t</title></head>', 'head')).to.equal('<head><title>t</title></head>'))
    it('html', () =>
      expect(part('<html lang=en><p>x', 'html')).to.equal('<html lang="en"><head></head><body><p>x</p></body></html>'))
    it('head is there even if empty', () => expect(part('<p>', 'head')).to.equal('<head></head>'))
    it('a frameset is no body', () => expect(part('<frameset>', 'body')).to.equal('none'))
    it('in the quirks mode of its document', () => {
      expect(part('<body><p><table></table>', 'body')).to.equal('<body><p><table></table></p></body>')
      expect(part('<body><p><table></table>', 'body', 'no-quirks')).to.equal('<body><p></p><table></table></body>')
    })
    it('offsets count in its own text', () => {
      const text = ' <body>\r\n<p>x</p></body> '
      const body = atOnce(parsingAsPart(text, 'body'))
      expect(body && nodesOf(body).map(node => sliceOf(text, node))[1]).to.equal('<p>x</p>')
    })
  })
})
