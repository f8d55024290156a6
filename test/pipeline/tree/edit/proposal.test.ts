import { expect } from 'chai'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { EditError, edit, editing } from '../../../../pipeline/tree/edit/edit.ts'
import { isElement, type TreeDocument } from '../../../../pipeline/tree/nodes.ts'
import { serializeDocument } from '../../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { command, element } from './command.ts'
import { dump } from './judge.ts'

const PAGE =
  '<!DOCTYPE html>\n<html><head><title>T</title></head>\n<body><ul id=u><li id=a>A</li><li id=b>B</li></ul><p id=p>x <br id=v></p><svg id=s><g id=g/></svg><template id=t><i id=ti></i></template></body></html>\n'

function page(): TreeDocument {
  return parseDocument('html', PAGE)
}

function reason(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof EditError) return error.reason
    throw error
  }
  return undefined
}

describe('HTTP-80, HTTP-95, HTTP-100, HTTP-106 edits that cannot be made', () => {
  const CASES: [line: string, reason: string][] = [
    ['replace a ', 'empty'],
    ['replace a  \n\t', 'empty'],
    ['append u ', 'empty'],
    ['append u </i>', 'empty'],
    ['replace a text', 'no-element'],
    ['replace a <!-- c -->', 'no-element'],
    ['replace body text', 'no-element'],
    ['append v x', 'void-anchor'],
    ['prepend v x', 'void-anchor'],
    ['move a append v', 'void-anchor'],
    ['before html x', 'parentless'],
    ['after html x', 'parentless'],
    ['move a after html', 'parentless'],
    ['remove html', 'root'],
    ['move html append u', 'root'],
    ['move u append a', 'into-itself'],
    ['move u append u', 'into-itself'],
    ['move u before a', 'into-itself'],
    ['move t append ti', 'into-itself'],
    [`append a ${'<div>'.repeat(520)}`, 'too-deep'],
    [`append a ${'<div>'.repeat(509)}`, 'too-deep'],
    [`append a <p ${Array.from({ length: 1001 }, (_, i) => `a${i}`).join(' ')}>`, 'too-many-attributes'],
  ]
  for (const [line, expected] of CASES) {
    it(`${JSON.stringify(line.slice(0, 40))} is ${expected}`, () => {
      const document = page()
      const before = dump(document.root, true)
      expect(reason(() => edit(document, command(document, line)))).to.equal(expected)
      expect(dump(document.root, true)).to.equal(before)
    })
  }

  it('512 levels are not too deep', () => {
    const document = page()
    expect(atOnce(edit(document, command(document, `append a ${'<div>'.repeat(508)}`)).accepting())).to.equal(document)
  })

  const XML: [line: string, reason: string][] = [
    ['append r <a>', 'malformed'],
    ['append r </r><r>', 'malformed'],
    ['append r &nbsp;', 'malformed'],
    ['append r <q:x/>', 'malformed'],
    ['append r <?xml version="1.0"?><n/>', 'malformed'],
    ['replace r <?xml version="1.0"?><n/>', 'malformed'],
    ['replace r <a/><b/>', 'malformed'],
    ['replace r <a/>text', 'malformed'],
    ['replace r <!-- c -->', 'no-element'],
    ['replace a text', 'no-element'],
    ['before r x', 'parentless'],
    ['remove r', 'root'],
    [`append r ${'<d>'.repeat(512)}${'</d>'.repeat(512)}`, 'too-deep'],
  ]
  for (const [line, expected] of XML) {
    it(`XML: ${line.slice(0, 40)} is ${expected}`, () => {
      const document = parseDocument('xml', '<r><a/></r>')
      expect(reason(() => edit(document, command(document, line)))).to.equal(expected)
    })
  }

  it('HTTP-106 an element that is moved beside itself stays', () => {
    const document = page()
    const proposed = edit(document, command(document, 'move a after a'))
    expect([proposed.source, proposed.changes]).to.deep.equal([PAGE, []])
    expect(atOnce(proposed.accepting())).to.equal(document)
    expect(document.source).to.equal(PAGE)
  })
})

describe('HTTP-80 what was inserted', () => {
  const CASES: [line: string, inserted: string][] = [
    ["replace a  <li class='n'>N</li>\n", ' <li class="n">N</li>\n'],
    ['append u \n <li>1<li>2</li>\n', '\n <li>1</li><li>2</li>\n'],
    ['append p world &lt; &nbsp;', 'world &lt; &nbsp;'],
    ['append g <path/>', '<path></path>'],
    ['append t <b>x', '<b>x</b>'],
    ['move b before a', '<li id="b">B</li>'],
    ['remove a', ''],
    ['append title a & b', 'a &amp; b'],
    ['replace body <p>x', '<body><p>x</p></body>'],
    ['append p <p>y', '<p>y</p>'],
  ]
  for (const [line, inserted] of CASES) {
    it(line.replaceAll('\n', '\\n'), () => {
      const document = page()
      expect(edit(document, command(document, line)).inserted).to.equal(inserted)
    })
  }

  it('XML elements carry the namespaces they need', () => {
    const document = parseDocument('xml', '<r xmlns:p="urn:p"><a/></r>')
    expect(edit(document, command(document, 'after a <p:n/>')).inserted).to.equal('<p:n xmlns:p="urn:p"/>')
  })
})

describe('Proposed edits', () => {
  it('show the new nodes, the changed parents and the new source, and take them away again', () => {
    const document = page()
    const before = dump(document.root, true)
    const proposed = edit(document, command(document, 'append u <li id=c>C</li>'))
    const seen = proposed.propose(view => {
      expect(view.document.source).to.equal(proposed.source)
      expect(serializeDocument(view.document)).to.include('<li id="c">C</li></ul>')
      expect(element(view.document, 'c')).to.equal(view.nodes[0])
      return [view.nodes.map(node => node.nodeName), view.parents.map(parent => isElement(parent) && parent.tagName)]
    })
    expect(seen).to.deep.equal([['li'], ['ul']])
    expect(document.source).to.equal(PAGE)
    expect(dump(document.root, true)).to.equal(before)
  })

  it('name both parents of a move, and a self-closed anchor that was opened', () => {
    const document = page()
    const parentsOf = (line: string): unknown =>
      edit(document, command(document, line)).propose(({ parents, nodes }) => [
        parents.map(parent => parent.nodeName),
        nodes.map(node => node.nodeName),
      ])
    expect(parentsOf('move v append a')).to.deep.equal([['p', 'li'], ['br']])
    expect(parentsOf('move b before a')).to.deep.equal([['ul'], ['li']])
    expect(parentsOf('append g <path/>')).to.deep.equal([['g'], ['path']])
    expect(parentsOf('append t x')).to.deep.equal([['#document-fragment'], ['#text']])
    expect(parentsOf('remove a')).to.deep.equal([['ul'], []])
    expect(parentsOf('append p <p>y')).to.deep.equal([['body'], ['p']])
    expect(parentsOf('replace body <p>y')).to.deep.equal([['html'], ['body']])
  })

  it('take the tree back when the look throws, and can be looked at again', () => {
    const document = page()
    const before = dump(document.root, true)
    const proposed = edit(document, command(document, 'remove a'))
    expect(() =>
      proposed.propose(() => {
        throw new Error('refused')
      }),
    ).to.throw('refused')
    expect(dump(document.root, true)).to.equal(before)
    expect(proposed.propose(view => element(view.document, 'u').childNodes.length)).to.equal(1)
  })

  it('are not made while a proposed tree is shown', () => {
    const document = page()
    const proposed = edit(document, command(document, 'remove a'))
    const other = edit(document, command(document, 'remove b'))
    proposed.propose(() => {
      expect(() => edit(document, command(document, 'remove b'))).to.throw('proposed tree')
      expect(() => atOnce(other.accepting())).to.throw('proposed tree')
      expect(() => proposed.propose(() => 0)).to.throw('proposed tree')
    })
  })

  it('do not outlive another edit of their document', () => {
    const document = page()
    const first = edit(document, command(document, 'remove a'))
    const second = edit(document, command(document, 'remove b'))
    expect(atOnce(first.accepting())).to.equal(document)
    const { source } = document
    expect(() => atOnce(second.accepting())).to.throw('changed since')
    expect(() => second.propose(() => 0)).to.throw('changed since')
    expect(() => atOnce(first.accepting())).to.throw('changed since')
    expect(document.source).to.equal(source)
  })

  it('settle to another document when the whole was parsed', () => {
    const document = page()
    const other = edit(document, command(document, 'append p <p>z'))
    const settled = atOnce(edit(document, command(document, 'append p <p>y')).accepting())
    expect(settled).to.not.equal(document)
    expect(document.source).to.equal(PAGE)
    expect(() => atOnce(other.accepting())).to.throw('changed since')
  })

  it('are made from the source when the offsets of the tree are wrong', () => {
    const document = page()
    const target = element(document, 'a')
    const place = target.sourceCodeLocation
    if (!place?.startTag) throw new Error('no place')
    place.startTag.startOffset += 3
    const proposed = edit(document, { op: 'remove', target })
    expect(proposed.source).to.equal(PAGE.replace('<li id=a>A</li>', ''))
    expect(atOnce(proposed.accepting()).source).to.equal(proposed.source)
  })

  it('refuse a tree that is not that of its source, and elements of other trees', () => {
    const document = page()
    const other = page()
    expect(() => edit(document, { op: 'remove', target: element(other, 'a') })).to.throw('does not belong')
    document.source = document.source.replace('<li id=a>', '<li id=z>')
    const target = element(document, 'b')
    target.sourceCodeLocation = { startOffset: 0, endOffset: 1, startTag: { startOffset: 0, endOffset: 1 } }
    expect(() => edit(document, { op: 'remove', target })).to.throw('not that of its source')
  })
})

describe('edits that are broken off', () => {
  // The last one is written by climbing: no text has a paragraph in a paragraph.
  const LINES = [
    'append u <li>c</li>',
    'replace p <p id=p>y<b>z</p>',
    'move a after b',
    'remove b',
    'append p <p>w</p>',
  ]
  const PAGES: [name: string, source: string][] = [
    ['a clean document', PAGE],
    ['one that is proved as a whole', PAGE.replace('<ul', '<b>1<i>2</b>3</i><ul')],
    ['one whose end belongs to an open element', `${PAGE.replace(/<template.*/s, '')}<p>last</body>\n<!-- end -->\n`],
  ]
  for (const [name, source] of PAGES) {
    for (const line of LINES) {
      it(`leave the tree as it was: ${line} in ${name}`, () => {
        const document = parseDocument('html', source)
        const before = dump(document.root, true)
        for (let steps = 0, done: boolean | undefined = false; !done; steps++) {
          const work = editing(document, command(document, line))
          for (let i = 0; i < steps && !done; i++) done = work.next().done
          work.return(undefined as never)
          expect(document.source).to.equal(source)
          expect(dump(document.root, true), `after ${steps} steps`).to.equal(before)
        }
        expect(atOnce(edit(document, command(document, line)).accepting())).to.be.an('object')
      })
    }
  }
})
