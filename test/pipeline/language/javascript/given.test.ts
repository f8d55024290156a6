import { expect } from 'chai'
import { compact, expand } from '../../../../pipeline/language/javascript/compact.ts'
import { type GivenTree, packed, unpacking } from '../../../../pipeline/language/javascript/given.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { innerHtml } from '../../../../pipeline/tree/serialize-html.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'

const tree = (source: string): GivenTree => {
  const { kind, root } = parseDocument('html', source)
  return { tree: compact(kind, root.mode, root.childNodes) }
}

describe('language: JavaScript: elements of results', () => {
  it('what was packed is unpacked as it was, behind what came before, however it is divided', () => {
    const first: GivenTree[] = [{ reference: 3 }, tree('<!doctype html><p a=1>x</p><!--c-->'), { reference: 0 }]
    const then: GivenTree[] = [tree(`<ul>${'<li>a</li>'.repeat(3_000)}</ul>`), tree('x'.repeat(100_000)), tree('')]
    const trees: GivenTree[] = []
    for (const some of [first, [], then]) {
      const pieces = packed(some)
      for (const piece of pieces) expect(JSON.parse(piece)).to.have.length.within(1, 4_096)
      atOnce(unpacking(pieces, trees))
    }
    expect(trees).to.deep.equal([...first, ...then])
  })

  it('a tree with templates inside each other is what it was', () => {
    const source =
      '<!DOCTYPE html><html><head></head><body><template><b>1</b><template>2</template></template><i>3</i>4</body></html>'
    const { kind, root } = parseDocument('html', source)
    const read = expand(compact(kind, root.mode, root.childNodes))
    expect(innerHtml(read)).to.equal(source)
  })
})
