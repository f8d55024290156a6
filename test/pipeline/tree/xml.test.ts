import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { MAX_ATTRIBUTES, MAX_DEPTH, TreeError } from '../../../pipeline/tree/limits.ts'
import { XML_NAMESPACE, XMLNS_NAMESPACE } from '../../../pipeline/tree/namespaces.ts'
import { parseXml } from '../../../pipeline/tree/xml.ts'
import { takesLess } from '../../support/cost.ts'
import { elementsOf, find, nodesOf, runs, sliceOf, xmlDocument } from './samples.ts'

function refusal(source: string): TreeError {
  try {
    parseXml(source)
  } catch (error) {
    if (error instanceof TreeError) return error
  }
  throw new Error('not refused')
}

describe('tree/xml', () => {
  describe('HTTP-23 parses namespace-aware XML 1.0', () => {
    it('names, namespaces and attributes as written', () => {
      const root = parseXml('<p:A xmlns:p="u" xmlns="d" p:k="1" K="2" xml:lang="en"><b/><c xmlns=""/></p:A>')
      const [a, b, c] = elementsOf(root)
      expect([a?.tagName, a?.namespaceURI]).to.deep.equal(['p:A', 'u'])
      expect(a?.attrs).to.deep.equal([
        { name: 'p', value: 'u', namespace: XMLNS_NAMESPACE, prefix: 'xmlns' },
        { name: 'xmlns', value: 'd', namespace: XMLNS_NAMESPACE, prefix: '' },
        { name: 'k', value: '1', namespace: 'u', prefix: 'p' },
        { name: 'K', value: '2' },
        { name: 'lang', value: 'en', namespace: XML_NAMESPACE, prefix: 'xml' },
      ])
      expect(b?.namespaceURI).to.equal('d')
      expect(c?.namespaceURI).to.equal('')
    })

    it('no namespace is the empty string', () => expect(find(parseXml('<a/>'), 'a').namespaceURI).to.equal(''))

    it('character data in a row is one text node', () => {
      const a = find(parseXml('<a>1<![CDATA[<2>]]>&amp;3</a>'), 'a')
      expect(a.childNodes).to.have.length(1)
      expect(a.childNodes[0]).to.include({ nodeName: '#text', value: '1<2>&3' })
    })

    it('an empty CDATA section is nothing', () =>
      expect(find(parseXml('<a><![CDATA[]]></a>'), 'a').childNodes).to.deep.equal([]))

    it('comments and instructions, also outside the root; white space there is nothing', () => {
      const root = parseXml('<?xml version="1.0"?>\n<?s a b?>\n<!-- c --><a/>\n<?t?>')
      expect(root.childNodes.map(node => node.nodeName)).to.deep.equal([
        '#instruction',
        '#comment',
        'a',
        '#instruction',
      ])
      expect(root.childNodes[0]).to.include({ target: 's', data: 'a b' })
      expect(root.childNodes[1]).to.include({ data: ' c ' })
      expect(root.childNodes[3]).to.include({ target: 't', data: '' })
    })

    it('a declared version of 1.1 changes nothing', () => {
      expect(find(parseXml('<?xml version="1.1"?><a>\u0085</a>'), 'a').childNodes[0]).to.include({ value: '\u0085' })
    })

    it('names of object members are names like others', () => {
      const a = find(
        parseXml('<__proto__:a xmlns:__proto__="u" __proto__:constructor="1" toString="x"/>'),
        '__proto__:a',
      )
      expect(a.namespaceURI).to.equal('u')
      expect(a.attrs.map(x => x.name)).to.deep.equal(['__proto__', 'constructor', 'toString'])
    })
  })

  describe('document types are parsed, never loaded', () => {
    const accepted: [source: string, name: string, publicId: string, systemId: string][] = [
      ['<!DOCTYPE html><html/>', 'html', '', ''],
      ['<!DOCTYPE html SYSTEM "about:legacy-compat" ><html/>', 'html', '', 'about:legacy-compat'],
      [
        "<!DOCTYPE a PUBLIC '-//W3C//DTD X 1.0//EN' 'http://x/y.dtd'><a/>",
        'a',
        '-//W3C//DTD X 1.0//EN',
        'http://x/y.dtd',
      ],
      ['<!DOCTYPE a SYSTEM "x[y>z">\n<a/>', 'a', '', 'x[y>z'],
    ]
    for (const [source, name, publicId, systemId] of accepted) {
      it(source, () =>
        expect(parseXml(source).childNodes[0]).to.include({ nodeName: '#documentType', name, publicId, systemId }),
      )
    }
    for (const source of [
      '<!DOCTYPE a []><a/>',
      '<!DOCTYPE a SYSTEM "x" [<!ELEMENT a ANY>]><a/>',
      '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
      '<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><a/>',
      '<!DOCTYPE a PUBLIC "x"><a/>',
      '<!DOCTYPE a SYSTEM><a/>',
      '<!DOCTYPE a x><a/>',
      '<!DOCTYPE><a/>',
      '<a/><!DOCTYPE a>',
      '<!DOCTYPE a><!DOCTYPE a><a/>',
    ]) {
      it(`${source} is refused`, () => expect(refusal(source).reason).to.equal('malformed'))
    }
  })

  describe('what is not well formed is refused', () => {
    for (const source of [
      '',
      ' \n',
      'text',
      '<a>',
      '<a></b>',
      '</a>',
      '<a/><b/>',
      '<a/>x',
      '<a b=c/>',
      '<a b/>',
      '<a b="1" b="2"/>',
      '<a b="<"/>',
      '<a b="1"c="2"/>',
      '<a>]]></a>',
      '<a>&nbsp;</a>',
      '<a>&constructor;</a>',
      '<a>&__proto__;</a>',
      '<a>& </a>',
      '<a>&#0;</a>',
      '<a>&#xD800;</a>',
      '<a>\0</a>',
      '<a>\ufffe</a>',
      '<a><!-- -- --></a>',
      '<a><?xml version="1.0"?></a>',
      ' <?xml version="1.0"?><a/>',
      '<a><![CDATA[</a>',
      '<A></a>',
      '<1/>',
      '<a\u00d7/>',
      '<a>\ud83d</a>',
      '<a>\ude00</a>',
      '<a>\ud83dx</a>',
      '<a',
      '<',
      '<!',
      '<a/',
      '<a b="',
      '<a></a',
      '<p:a/>',
      '<a p:b="1"/>',
      '<a xmlns:p=""/>',
      '<a:/>',
      '<:a/>',
      '<a:b:c xmlns:a="u"/>',
      '<p:1 xmlns:p="u"/>',
      '<p:\u00b7 xmlns:p="u"/>',
      '<a xmlns:p="u" p:-="1"/>',
      '<a xmlns:\u0300="u"/>',
      '<a><?p?q?></a>',
      '<a/><?p??>',
      '<xmlns:a/>',
      '<a xmlns:p="u" xmlns:q="u" p:b="" q:b=""/>',
      '<a xmlns:xml="u"/>',
      '<a xmlns:xmlns="u"/>',
      '<a xmlns="http://www.w3.org/2000/xmlns/"/>',
    ]) {
      it(JSON.stringify(source), () => expect(refusal(source).reason).to.equal('malformed'))
    }
    it('the error says what and where', () => {
      const error = refusal('<a>\n<b>😀</c></a>')
      expect(error.message).to.equal('2:8: unexpected close tag.')
      expect(error.offset).to.equal(13)
    })
  })

  describe('offsets', () => {
    const source =
      '<?xml version="1.0"?>\r\n<!DOCTYPE a>\n<!-- 😀 --><a xmlns:p="u"\r\n>\r\n😀&#x1F600;<p:b c="é"/><![CDATA[x]]>&amp;<?p d?><b >y</b\n>\n</a >\r\n'
    const root = parseXml(source)

    it('count UTF-16 code units, behind line ends and astral characters too', () => {
      expect(nodesOf(root).map(node => sliceOf(source, node))).to.deep.equal([
        '<!DOCTYPE a>',
        '<!-- 😀 -->',
        source.slice(source.indexOf('<a '), -2),
        '\r\n😀&#x1F600;',
        '<p:b c="é"/>',
        '<![CDATA[x]]>&amp;',
        '<?p d?>',
        '<b >y</b\n>',
        'y',
        '\n',
      ])
    })

    it('tell start and end tags; a self-closing element has the one', () => {
      const tags = (name: string): unknown => {
        const place = find(root, name).sourceCodeLocation
        return [place?.startTag, place?.endTag].map(tag => tag && source.slice(tag.startOffset, tag.endOffset))
      }
      expect(tags('a')).to.deep.equal(['<a xmlns:p="u"\r\n>', '</a >'])
      expect(tags('p:b')).to.deep.equal(['<p:b c="é"/>', undefined])
      expect(tags('b')).to.deep.equal(['<b >', '</b\n>'])
    })

    it('every node covers exactly its own markup', () => {
      fc.assert(
        fc.property(xmlDocument, source => {
          for (const node of nodesOf(parseXml(source))) {
            const markup = sliceOf(source, node)
            const place = node.sourceCodeLocation
            switch (node.nodeName) {
              case '#text':
                expect(markup).to.match(/^(?:[^<]|<!\[CDATA\[)/)
                break
              case '#comment':
                expect(markup.replace(/\r\n?/g, '\n')).to.equal(`<!--${(node as { data: string }).data}-->`)
                break
              case '#instruction':
                expect(markup).to.match(/^<\?[\s\S]*\?>$/)
                break
              case '#documentType':
                expect(markup).to.match(/^<!DOCTYPE [^>]*>$/)
                break
              default: {
                const start = source.slice(place?.startTag?.startOffset, place?.startTag?.endOffset)
                expect(start.startsWith(`<${node.nodeName}`) && start.endsWith('>')).to.equal(true)
                expect(markup.startsWith(start)).to.equal(true)
                if (start.endsWith('/>')) {
                  expect(place?.endTag).to.equal(undefined)
                  expect(markup).to.equal(start)
                } else {
                  const end = source.slice(place?.endTag?.startOffset, place?.endTag?.endOffset)
                  expect(end).to.match(/^<\/[^>]*>$/)
                  expect(end.slice(2, -1).trimEnd()).to.equal(node.nodeName)
                  expect(markup.endsWith(end)).to.equal(true)
                }
              }
            }
          }
        }),
        runs(300),
      )
    })

    it('siblings follow each other without gap or overlap', () => {
      fc.assert(
        fc.property(xmlDocument, source => {
          for (const element of elementsOf(parseXml(source))) {
            const place = element.sourceCodeLocation
            let position = place?.startTag?.endOffset
            for (const child of element.childNodes) {
              expect(child.sourceCodeLocation?.startOffset).to.equal(position)
              position = child.sourceCodeLocation?.endOffset
            }
            // Only an empty CDATA section would leave a gap, and there is none.
            if (place?.endTag) expect(position).to.equal(place.endTag.startOffset)
          }
        }),
        runs(300),
      )
    })
  })

  describe('limits', () => {
    const nested = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth)
    const attributes = (count: number): string => Array.from({ length: count }, (_, i) => ` a${i}="1"`).join('')

    it(`depth ${MAX_DEPTH} is accepted, one more refused at its tag`, () => {
      expect(elementsOf(parseXml(nested(MAX_DEPTH)))).to.have.length(MAX_DEPTH)
      const error = refusal(nested(MAX_DEPTH + 1))
      expect([error.reason, error.offset]).to.deep.equal(['too-deep', 3 * MAX_DEPTH])
      expect(refusal(nested(MAX_DEPTH).replace('</a>', '<b/></a>')).reason).to.equal('too-deep')
    })
    it('endless nesting ends early', () => expect(refusal('<a>'.repeat(200_000)).reason).to.equal('too-deep'))
    it(`${MAX_ATTRIBUTES} attributes are accepted, one more refused at its tag`, () => {
      parseXml(`<a${attributes(MAX_ATTRIBUTES)}/>`)
      const error = refusal(`<a> <b${attributes(MAX_ATTRIBUTES + 1)}/></a>`)
      expect([error.reason, error.offset]).to.deep.equal(['too-many-attributes', 4])
    })
    for (const [what, source] of [
      ['references', `<a>${'x&amp;'.repeat(50_000)}</a>`],
      ['CDATA sections', `<a>${'<![CDATA[x]]>'.repeat(50_000)}</a>`],
      ['brackets', `<a><![CDATA[${']]]'.repeat(80_000)}]]></a>`],
      ['an instruction', `<a><?x ${'??'.repeat(100_000)}?></a>`],
      ['a comment', `<a><!--${' - '.repeat(80_000)}--></a>`],
      ['a name', `<${'a'.repeat(300_000)}/>`],
      ['an attribute', `<a b="${'x\n'.repeat(100_000)}"/>`],
      ['a document type', `<!DOCTYPE a ${'"'.repeat(200_000)}><a/>`],
      ['white space in a document type', `<!DOCTYPE a${' '.repeat(100_000)}x><a/>`],
      [
        'namespaces at every depth',
        `${Array.from({ length: 500 }, (_, i) => `<a xmlns:p${i}="u">`).join('')}${'<p0:b/>'.repeat(20_000)}${'</a>'.repeat(500)}`,
      ],
    ] as const) {
      it(`takes linear time for ${what}`, () =>
        takesLess(3000, () => {
          try {
            parseXml(source)
          } catch (error) {
            expect(error).to.be.instanceOf(TreeError)
          }
        }))
    }
  })
})
