import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { parseFragment } from '../../../pipeline/tree/fragment.ts'
import { rootElement } from '../../../pipeline/tree/nodes.ts'
import {
  equalTrees,
  innerMarkup,
  outerMarkup,
  serializeDocument,
  textContent,
  writingInnerMarkup,
  writingMarkup,
} from '../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { takesLess } from '../../support/cost.ts'
import { elementsOf, find, htmlSoup, runs, tidyHtml, xmlDocument } from './samples.ts'

describe('tree/serialize', () => {
  describe('HTTP-24 HTML', () => {
    const cases: [what: string, source: string, name: string, expected: string][] = [
      ['attributes are quoted and escaped', `<p a='"&<>\u00a0' b>`, 'p', '<p a="&quot;&amp;&lt;&gt;&nbsp;" b=""></p>'],
      ['text is escaped', '<p>&amp;&lt;&gt;"\u00a0', 'p', '<p>&amp;&lt;&gt;"&nbsp;</p>'],
      ['raw text is not', '<style>a>b&c</style>', 'style', '<style>a>b&c</style>'],
      ['void elements have no end', '<div><br><img src=x></div>', 'div', '<div><br><img src="x"></div>'],
      ['SVG has no void elements', '<svg><image/><br:x/></svg>', 'svg', '<svg><image></image><br:x></br:x></svg>'],
      [
        'foreign attributes keep their prefix',
        '<svg xmlns:xlink=u xml:lang=en xlink:href=x>',
        'svg',
        '<svg xmlns:xlink="u" xml:lang="en" xlink:href="x"></svg>',
      ],
      ['contents of a template', '<template a><td>x</template>', 'template', '<template a=""><td>x</td></template>'],
      ['text of style in SVG is escaped', '<svg><style>&lt;</style></svg>', 'style', '<style>&lt;</style>'],
      ['comments', '<p><!-- - -->', 'p', '<p><!-- - --></p>'],
      ['a first line feed that the parser would drop', '<pre>\n\nx</pre>', 'pre', '<pre>\n\nx</pre>'],
    ]
    for (const [what, source, name, expected] of cases) {
      it(what, () => expect(outerMarkup(find(parseDocument('html', source).root, name), 'html')).to.equal(expected))
    }

    const escaping: [xml: string, expected: string][] = [
      ['<!--><u>1</u>-->', '<!--&gt;&lt;u&gt;1&lt;/u&gt;-->'],
      ['<!--- ><u/>-->', '<!--- ><u/>-->'],
      ['<!---><u/>-->', '<!---&gt;&lt;u/&gt;-->'],
      ['<?x ><u/>?>', '<?x &gt;&lt;u/&gt;>'],
      ['<title><b><!-- </Title><u/> --></b></title>', '<title><b><!-- &lt;/Title&gt;&lt;u/&gt; --></b></title>'],
      ['<b><!-- </title> --></b>', '<b><!-- </title> --></b>'],
    ]
    for (const [xml, expected] of escaping)
      it(`MOD-94 what HTML would read as elements in comments and instructions of XML: ${xml}`, () =>
        expect(innerMarkup(find(parseDocument('xml', `<r>${xml}</r>`).root, 'r'), 'html')).to.equal(expected))

    const H = 'xmlns="http://www.w3.org/1999/xhtml"'
    const rawTexts: [xml: string, html: string][] = [
      [`<style ${H}>a&lt;b>c</style>`, 'a<b>c'],
      [`<style ${H}>a&lt;/styles></style>`, 'a</styles>'],
      [`<style ${H}>&lt;/style>&lt;i></style>`, '&lt;/style&gt;&lt;i&gt;'],
      [`<noscript ${H}>&lt;/NOSCRIPT &lt;i></noscript>`, '&lt;/NOSCRIPT &lt;i&gt;'],
      [`<style ${H}>&lt;i>&lt;/style<style/></style>`, '&lt;i&gt;&lt;/style<style></style>'],
      [`<svg ${H}><style>&lt;i></style></svg>`, '<style>&lt;i&gt;</style>'],
      [`<svg ${H}><desc><style>&lt;i></style></desc></svg>`, '<desc><style><i></style></desc>'],
      [`<math ${H}><desc><style>&lt;i></style></desc></math>`, '<desc><style>&lt;i&gt;</style></desc>'],
      [`<select ${H}><style>&lt;/select></style></select>`, '<style>&lt;/select&gt;</style>'],
      [`<select ${H}><script>&lt;i></script></select>`, '<script><i></script>'],
      [`<title ${H}><style>&lt;/title></style></title>`, '<style>&lt;/title&gt;</style>'],
    ]
    for (const [xml, html] of rawTexts)
      it(`MOD-94 text of XML that HTML would read as elements: ${xml.replace(` ${H}`, '')}`, () =>
        expect(innerMarkup(find(parseDocument('xml', `<r>${xml}</r>`).root, 'r'), 'html').replace(` ${H}`, ''))
          .to.match(/^<(\w+)>.*<\/\1>$/)
          .and.include(html))

    it('text of a script by itself', () => {
      const [text] = find(parseDocument('html', '<script>a<b</script>').root, 'script').childNodes
      expect(text && outerMarkup(text, 'html')).to.equal('a<b')
    })

    it('MOD-94 COMP-147 text of a script that a tag in it would end is escaped, and no other', () => {
      const words = ['<!--', '-->', '<script>', '</script>', '</script', '-', '>', '!', '<b>', '<!-->', '<!--->']
      const code = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 }).map(each => each.join(''))
      const [before, behind] = ['<!DOCTYPE html><html><head></head><body><script>', '</script><i></i></body></html>']
      const read = (markup: string) => find(parseDocument('html', markup).root, 'body').childNodes
      fc.assert(
        fc.property(code, text => {
          const document = parseDocument('html', before + behind)
          const parentNode = find(document.root, 'script')
          parentNode.childNodes.push({ nodeName: '#text', value: text, parentNode })
          const markup = serializeDocument(document)
          const [plain] = read(before + text + behind)
          const isWhole = plain !== undefined && textContent(plain).startsWith(text)
          expect(markup === before + text + behind, markup).to.equal(isWhole)
          if (!isWhole) expect(read(markup).map(({ nodeName }) => nodeName)).to.deep.equal(['script', 'i'])
        }),
        runs(300),
      )
    })

    it('inner markup', () => {
      const { root } = parseDocument('html', '<div>a<b>c</b></div><template><i>t</i></template><br>')
      expect(innerMarkup(find(root, 'div'), 'html')).to.equal('a<b>c</b>')
      expect(innerMarkup(find(root, 'template'), 'html')).to.equal('<i>t</i>')
      expect(innerMarkup(find(root, 'br'), 'html')).to.equal('')
    })

    it('a whole document, its doctype with identifiers', () => {
      const source =
        '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd"><!--a--><html><head></head><body>x</body></html><!--b-->'
      expect(serializeDocument(parseDocument('html', source))).to.equal(source)
      for (const doctype of [
        '<!DOCTYPE html>',
        '<!DOCTYPE html SYSTEM "about:legacy-compat">',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">',
        `<!DOCTYPE html SYSTEM 'a"b'>`,
      ]) {
        const document = parseDocument('html', doctype)
        const again = parseDocument('html', serializeDocument(document))
        expect(again.root.mode).to.equal(document.root.mode)
        expect(equalTrees(again.root, document.root)).to.equal(true)
      }
    })

    it('tidy documents parse to the same tree again', () => {
      fc.assert(
        fc.property(tidyHtml, source => {
          const document = parseDocument('html', source)
          expect(equalTrees(parseDocument('html', serializeDocument(document)).root, document.root)).to.equal(true)
        }),
        runs(200),
      )
    })

    it('a fragment parses to exactly one node, the same, in its place', () => {
      fc.assert(
        fc.property(tidyHtml, source => {
          for (const element of elementsOf(parseDocument('html', source).root)) {
            const context = element.parentNode
            if (!context || !('tagName' in context) || context.tagName === 'html') continue
            const [again, ...more] = parseFragment('html', outerMarkup(element, 'html'), context)
            expect(more).to.deep.equal([])
            expect(again && equalTrees(again, element)).to.equal(true)
          }
        }),
        runs(60),
      )
    })

    it('what was serialized once stays as it is', () => {
      fc.assert(
        fc.property(htmlSoup, source => {
          const again = (text: string): string => serializeDocument(parseDocument('html', text))
          // Some trees have no HTML text (a paragraph in a paragraph); their second reading has.
          let text = again(source)
          for (let i = 0; i < 12 && again(text) !== text; i++) text = again(text)
          expect(again(text)).to.equal(text)
        }),
        runs(150),
      )
    })
  })

  describe('HTTP-24 XML', () => {
    const xml = (source: string): string => serializeDocument(parseDocument('xml', source))

    it('is written so that it reads the same', () => {
      expect(xml("<a  b = '\"&#10;&#9;&#13;&lt;' >&#13;<![CDATA[<&>]]></a >")).to.equal(
        '<a b="&quot;&#10;&#9;&#13;&lt;">&#13;&lt;&amp;&gt;</a>',
      )
      expect(xml('<a></a>')).to.equal('<a/>')
    })

    it('keeps declaration, document type, comments and instructions', () => {
      const source =
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE a PUBLIC "p" "s">\n<!--c-->\n<?x y?>\n<a/>\n<?z?>'
      expect(xml(source)).to.equal(source)
      expect(xml(`<!DOCTYPE a SYSTEM 'x"y'><a/>`)).to.equal(`<!DOCTYPE a SYSTEM 'x"y'>\n<a/>`)
    })

    for (const source of [
      '<?xml\ufeff version="1.0"?>\n<a/>',
      '<p:a xmlns="http://www.w3.org/XML/1998/other" xmlns:p="u"/>',
    ])
      it(`keeps what only begins like XML's own: ${JSON.stringify(source)}`, () => expect(xml(source)).to.equal(source))

    it('declares the encoding that it is written in', () => {
      expect(xml('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a/>')).to.equal(
        '<?xml version="1.0" encoding="UTF-8"?>\n<a/>',
      )
      expect(xml("<?xml version='1.0' encoding = 'utf-16' standalone='yes'?><a/>")).to.equal(
        "<?xml version='1.0' encoding = 'UTF-8' standalone='yes'?>\n<a/>",
      )
      for (const kept of ['<?xml version="1.0"?>', '<?xml version="1.0" encoding="Utf-8"?>'])
        expect(xml(`${kept}\n<a/>`)).to.equal(`${kept}\n<a/>`)
    })

    it('parses to the same tree again', () => {
      fc.assert(
        fc.property(xmlDocument, source => {
          const document = parseDocument('xml', source)
          expect(equalTrees(parseDocument('xml', serializeDocument(document)).root, document.root)).to.equal(true)
        }),
        runs(300),
      )
    })

    const cut: [what: string, source: string, name: string, expected: string][] = [
      ['nothing to declare', '<r><a/></r>', 'a', '<a/>'],
      ['the prefix of its name', '<r xmlns:p="u"><p:a/></r>', 'p:a', '<p:a xmlns:p="u"/>'],
      ['the default namespace', '<r xmlns="u"><a/></r>', 'a', '<a xmlns="u"/>'],
      ['prefixes of attributes', '<r xmlns:p="u"><a p:k="1"/></r>', 'a', '<a p:k="1" xmlns:p="u"/>'],
      [
        'prefixes of descendants, once',
        '<r xmlns:p="u"><a><p:b/><p:b/></a></r>',
        'a',
        '<a xmlns:p="u"><p:b/><p:b/></a>',
      ],
      ['not what it declares itself', '<r xmlns:p="u"><a xmlns:p="v"><p:b/></a></r>', 'a', '<a xmlns:p="v"><p:b/></a>'],
      [
        'not what a descendant declares',
        '<r xmlns:p="u"><a><p:b xmlns:p="v"/></a></r>',
        'a',
        '<a><p:b xmlns:p="v"/></a>',
      ],
      [
        'but what its sibling needs',
        '<r xmlns:p="u"><a><p:b xmlns:p="v"/><p:c/></a></r>',
        'a',
        '<a xmlns:p="u"><p:b xmlns:p="v"/><p:c/></a>',
      ],
      ['not what nobody uses', '<r xmlns:p="u" xmlns:q="v"><a/></r>', 'a', '<a/>'],
      ['not the prefix xml', '<r><a xml:lang="en"/></r>', 'a', '<a xml:lang="en"/>'],
      [
        'nor that of elements, and no namespace of theirs',
        '<r><xml:a k="1"><b/></xml:a></r>',
        'xml:a',
        '<xml:a k="1"><b/></xml:a>',
      ],
      ['no namespace of xml within', '<r xmlns="u"><a><xml:b/></a></r>', 'a', '<a xmlns="u"><xml:b/></a>'],
      ['a default namespace undone', '<r xmlns="u"><a xmlns=""><b/></a></r>', 'b', '<b/>'],
    ]
    for (const [what, source, name, expected] of cut) {
      it(`an element cut out declares ${what}`, () =>
        expect(outerMarkup(find(parseDocument('xml', source).root, name), 'xml')).to.equal(expected))
    }

    it('every element cut out is a document of its own with the same tree', () => {
      fc.assert(
        fc.property(xmlDocument, source => {
          for (const element of elementsOf(parseDocument('xml', source).root)) {
            const again = rootElement(parseDocument('xml', outerMarkup(element, 'xml')))
            const bare = (markup: string): string => markup.replace(/ xmlns(?::\w+)?="[^"]*"/g, '')
            expect(again?.namespaceURI).to.equal(element.namespaceURI)
            expect(again && bare(outerMarkup(again, 'xml'))).to.equal(bare(outerMarkup(element, 'xml')))
            expect(again && elementsOf(again).map(e => e.namespaceURI)).to.deep.equal(
              elementsOf(element).map(e => e.namespaceURI),
            )
          }
        }),
        runs(100),
      )
    })

    it('an element that moved keeps its namespaces', () => {
      const { root } = parseDocument('xml', '<r xmlns:p="u"><a xmlns:p="v" xmlns="d"/><p:b p:k="1"><c/></p:b></r>')
      const a = find(root, 'a')
      const b = find(root, 'p:b')
      b.parentNode = a
      a.childNodes.push(b)
      expect(outerMarkup(a, 'xml')).to.equal(
        '<a xmlns:p="v" xmlns="d"><p:b p:k="1" xmlns:p="u"><c xmlns=""/></p:b></a>',
      )
    })

    const brought: [html: string, xml: string][] = [
      ['a\f&#1;\uffff\u{1f600}b', 'a\ufffd\ufffd\ufffd\u{1f600}b'],
      ['<!-- x -- y - -->', '<!-- x - - y - -->'],
      ['<!---x--->', '<!---x- -->'],
      ['<b @click="1" a"b="2" :x="3" 1a="4" é="5" title="a&#2;\n">t</b>', '<b é="5" title="a\ufffd&#10;">t</b>'],
      ['<b q:x="1" xml:space="s" xmlns:w="urn:w" w:y="2">t</b>', '<b xml:space="s" xmlns:w="urn:w" w:y="2">t</b>'],
      ['<b xmlns="urn:z" xmlns:q="" xmlns:xml="u" xmlns:1="v" q:x="1">t</b>', '<b>t</b>'],
      ['<xml:a xmlns="urn:z">t</xml:a>', '<xmlU00003Aa>t</xmlU00003Aa>'],
      [
        '<b xmlns:w="urn:w" w:x="1" xmlns:y=" urn:w" y:x="2" y:z="3">t</b>',
        '<b xmlns:w="urn:w" w:x="1" xmlns:y=" urn:w" y:z="3">t</b>',
      ],
      [
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="1" xmlns:y="http://www.w3.org/1999/xlink" y:href="2"/>',
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="1" xmlns:y="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg"/>',
      ],
      [
        '<svg xmlns:xlink="urn:w" xlink:href="1"></svg>',
        '<svg xlink:href="1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"/>',
      ],
      ['<svg xmlns:xlink="\n"></svg>', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
      [
        '<svg xmlns:xlink="http://www.w3.org/XML/1998/namespace" xlink:href="1"></svg>',
        '<svg xlink:href="1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"/>',
      ],
      ['<svg xmlns:xlink="http://www.w3.org/2000/xmlns/"></svg>', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
      [
        '<b xmlns:w="u"><w:t xmlns="http://www.w3.org/XML/1998/namespace">t</w:t></b>',
        '<b xmlns:w="u"><w:t>t</w:t></b>',
      ],
      [
        '<b xmlns:w="&#1;" xmlns:y="\uffff" w:x="1" y:x="2">t</b>',
        '<b xmlns:w="\ufffd" xmlns:y="\ufffd" w:x="1">t</b>',
      ],
      ['<x"y>t</x"y>', '<xU000022y>t</xU000022y>'],
      ['<xml:a>t</xml:a>', '<xmlU00003Aa>t</xmlU00003Aa>'],
      ['<w:t xmlns:w="urn:w">t</w:t>', '<w:t xmlns:w="urn:w">t</w:t>'],
    ]
    for (const [html, xml] of brought)
      it(`COMP-119 what HTML has and XML has not: ${JSON.stringify(html)}`, () => {
        const div = find(parseDocument('html', `<div>${html}</div>`).root, 'div')
        const written = outerMarkup(div, 'xml')
        expect(written).to.equal(`<div xmlns="http://www.w3.org/1999/xhtml">${xml}</div>`)
        expect(atOnce(writingMarkup(div, 'xml'))).to.equal(written)
        expect(outerMarkup(find(parseDocument('xml', written).root, 'div'), 'xml')).to.equal(written)
      })

    it('inner markup reads in the context of its element', () => {
      const { root } = parseDocument('xml', '<r xmlns:p="u"><a>x<p:b/></a></r>')
      expect(innerMarkup(find(root, 'a'), 'xml')).to.equal('x<p:b/>')
    })

    it('takes linear time with many declarations', () => {
      const deep = Array.from(
        { length: 500 },
        (_, i) => `<a ${Array.from({ length: 40 }, (_, j) => `xmlns:p${i}-${j}="u"`).join(' ')}>`,
      ).join('')
      const document = parseDocument('xml', `${deep}${'<b xmlns:q="v"/>'.repeat(10_000)}${'</a>'.repeat(500)}`)
      const elements = elementsOf(document.root).slice(-5000)
      return takesLess(2000, () => {
        serializeDocument(document)
        for (const element of elements) outerMarkup(element, 'xml')
      })
    })
  })

  it('HTTP-24 SEC-12 one long text is written in as many steps as it is long', () => {
    for (const [kind, source] of [
      ['html', `<p>${'<& '.repeat(400_000)}</p>`],
      ['xml', `<p>${'&lt;&amp;>'.repeat(400_000)}</p>`],
    ] as const) {
      const node = find(parseDocument(kind, source).root, 'p')
      const writing = writingMarkup(node, kind)
      let steps = 0
      let step = writing.next()
      for (; !step.done; step = writing.next()) steps++
      expect(steps, kind).to.be.above(15)
      expect(step.value, kind).to.equal(outerMarkup(node, kind))
    }
  })

  it('markup that is written in steps is the same', () => {
    const long = 'x'.repeat(70_000)
    fc.assert(
      fc.property(fc.oneof(htmlSoup, tidyHtml), htmlSoup, (first, second) => {
        const { root } = parseDocument('html', `${first}<div><pre>\n\n${long}</pre>${second}${long}`)
        for (const element of [find(root, 'html'), find(root, 'body')])
          expect(atOnce(writingMarkup(element, 'html'))).to.equal(outerMarkup(element, 'html'))
      }),
      runs(60),
    )
  })

  it('HTTP-24 XML that is written in steps is the same', () => {
    fc.assert(
      fc.property(xmlDocument, source => {
        const { root } = parseDocument('xml', source)
        const elements = elementsOf(root)
        const markups = () =>
          elements.map(element => [atOnce(writingMarkup(element, 'xml')), atOnce(writingInnerMarkup(element, 'xml'))])
        const expected = markups()
        // Elements without a place may be of any length.
        for (const element of elements) element.sourceCodeLocation = null
        expect(markups()).to.deep.equal(expected)
      }),
      runs(150),
    )
  })

  it('text content: text below, in order, without comments and templates', () => {
    const { root } = parseDocument('html', '<div>a<b>b<!--x--></b><template>t</template><script>s</script> c</div>')
    expect(textContent(find(root, 'div'))).to.equal('abs c')
    expect(textContent(root)).to.equal('abs c')
    expect(textContent({ nodeName: '#comment', data: 'x', parentNode: null })).to.equal('')
  })

  for (const kind of ['html', 'xml'] as const)
    it(`SEC-4 HTTP-65 a long text is put together once, however many elements it is in: ${kind}`, async () => {
      const source = `${'<div>'.repeat(400)}${'x'.repeat(2_000_000)}${'</div>'.repeat(400)}`
      const document = parseDocument(kind, source)
      const markup = await takesLess(200, () => {
        const written = atOnce(writingMarkup(find(document.root, 'div'), kind))
        // Read, because V8 puts a sum of texts together when it is.
        written.charCodeAt(0)
        return written
      })
      expect(markup === source).to.equal(true)
    })
})
