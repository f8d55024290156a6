import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { keepingTogether } from '../../../pipeline/tree/long-text.ts'
import { isText, type ParentNode } from '../../../pipeline/tree/nodes.ts'
import { parseXml } from '../../../pipeline/tree/xml.ts'
import { find } from './samples.ts'

const LONG = 64 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

function textOf(node: ParentNode): string {
  const [text] = node.childNodes
  if (!text || !isText(text)) throw new Error('no text')
  return text.value
}

describe('tree/long-text', () => {
  it('HTTP-181 a growing text never has many pieces, and is not put together often', () => {
    const piece = 8 * 1024
    let copied = 0
    let joined = 0
    const look = keepingTogether(text => {
      copied += text.length
      joined = text.length
    })
    const length = 8 * 1024 * 1024
    for (let at = piece; at <= length; at += piece) {
      look('x'.repeat(at))
      expect(at - joined).to.be.at.most(Math.max(LONG, at / 8))
    }
    expect(copied).to.be.below(12 * length)
    look('x')
    look('x'.repeat(2 * LONG))
    expect(joined, 'of another text').to.equal(2 * LONG)
  })

  const pieces = 1_000_000
  const texts: [name: string, source: string][] = [
    ['brackets in a CDATA section', `<r><![CDATA[${']'.repeat(pieces)}x]]></r>`],
    ['references', `<r>${'&lt;'.repeat(pieces)}</r>`],
  ]
  for (const [name, source] of texts) {
    it(`SEC-4 HTTP-181 a long text of XML is not kept as its characters: ${name}`, () => {
      collect()
      const before = process.memoryUsage().heapUsed
      const root = parseXml(source)
      collect()
      const bytes = process.memoryUsage().heapUsed - before
      expect(bytes / pieces, 'bytes for each character').to.be.below(8)
      expect(textOf(find(root, 'r'))).to.have.length.at.least(pieces)
    })
  }

  const unit = ']]x- ?<>😀é'
  const long = unit.repeat(5 * Math.ceil(LONG / unit.length))
  const constructs: [name: string, before: string, content: string, after: string][] = [
    ['a text', '', long.replace(/[<>]/g, '='), ''],
    ['a CDATA section', '<![CDATA[', long, ']]>'],
    ['a comment', '<!--', long, '-->'],
    ['an instruction', '<?t ', long.replaceAll('?>', '??'), '?>'],
  ]
  for (const declaration of ['', '<?xml version="1.0"?>', '<?xml-stylesheet href="x"?>']) {
    for (const [name, before, content, after] of constructs) {
      it(`HTTP-23 ${name} that is long is read whole, and what follows by itself ${declaration}`, () => {
        const source = `${declaration}<r><a k="${long.replace(/[<>]/g, '=')}">${before}${content}${after}<b/>y</a></r>`
        const a = find(parseXml(source), 'a')
        const [first, b, last] = a.childNodes
        expect(a.attrs[0]?.value === long.replace(/[<>]/g, '=')).to.equal(true)
        const value = first && ('value' in first ? first.value : 'data' in first ? first.data : '')
        expect(value === content, `${value?.length} of ${content.length}`).to.equal(true)
        const place = first?.sourceCodeLocation
        expect(source.slice(place?.startOffset, place?.endOffset) === before + content + after).to.equal(true)
        expect(b?.nodeName).to.equal('b')
        expect(last).to.include({ nodeName: '#text', value: 'y' })
      })
    }
  }
})
