/** What of a document a visitor's program sees. */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { leavingOut, readableTree } from '../../../pipeline/evaluation/readable.ts'
import { type ChildNode, type ElementNode, isElement, type TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { serializeDocument } from '../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../support/steps.ts'
import { access, html, type Line, site } from '../access/site.ts'

const METHODS = ['GET', 'QUERY']
const classes = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => `<li class=${name}${i}>x</li>`).join('')
const denying = (count: number) =>
  access(site(Array.from({ length: count }, (_, i): Line => ['*', 'GET', 'Deny', '/a', `.z${i}`])))
const text = (document: TreeDocument) => serializeDocument(document)

describe('a document without what rules hide', () => {
  it('SES-127 SEC-12 many rules and many elements are held against each other in many steps', () => {
    const document = html(`<ul>${classes(300, 'z')}</ul>`)
    expect(stepsOf(leavingOut(denying(300), METHODS, '/a', document))).to.be.at.least((300 * 300) / 5000)
  })

  it('SES-127 SEC-12 rules for what is not in it cost nothing, however many they are', () => {
    const document = html(`<ul>${classes(300, 'y')}</ul>`)
    expect(stepsOf(leavingOut(denying(300), METHODS, '/a', document))).to.be.at.most(3)
    expect(atOnce(leavingOut(denying(300), METHODS, '/a', document))).to.equal(document)
  })

  it('SES-127 nothing is copied where no rule is for elements', () => {
    const document = html('<p>x</p>')
    expect(readableTree(access(site([['*', 'GET', 'Allow', '/a']])), '/a', document, () => {})).to.equal(document)
  })

  it('SES-127 SEC-6 what is hidden costs nothing: what a request may still spend would tell of it', async () => {
    const open = '<ul id=l><li title=t>1<!-- c --></li>\n</ul>'
    const seen = async (source: string) => {
      let spent = 0
      const spend = (steps: number) => {
        spent += steps
      }
      const tree = await readableTree(denying(1), '/a', html(source), spend)
      return [spent, tree.source, text(tree)]
    }
    const without = await seen(open)
    expect(without[0]).to.equal(6)
    for (const hidden of ['<p class=z0>secret</p>', `<p class=z0>${'<b title=x>y</b>'.repeat(9)}</p>`])
      expect(await seen(open.replace('</li>', `</li>${hidden}`))).to.deep.equal(without)
  })

  for (const method of METHODS)
    it(`SES-127 what a rule for elements denies stays hidden where another one denies ${method} of the whole`, async () => {
      const document = html('<p class=z0>secret</p><p>open</p>')
      const denied = access(
        site([
          ['*', method, 'Deny', '/*'],
          ['*', method, 'Deny', '/a', '.z0'],
        ]),
      )
      const seen = text(await readableTree(denied, '/a', document, () => {}))
      expect(seen).to.include('open').and.not.to.include('secret')
    })

  it('SES-127 what is in templates is hidden as well', () => {
    const document = html('<template><p class=z0>secret</p><p>open</p></template>')
    const seen = atOnce(leavingOut(denying(1), METHODS, '/a', document))
    expect(text(seen)).to.include('open').and.not.to.include('secret')
    expect(text(document)).to.include('secret')
  })

  it('SES-127 hides what is denied one by one, and nothing else', () => {
    const names = fc.constantFrom('a', 'b', 'c')
    const selector = fc.oneof(
      names.map(name => `.${name}`),
      fc.tuple(names, names).map(([outer, inner]) => `.${outer} .${inner}`),
      names.map(name => `li:not(.${name})`),
      names.map(name => `:has(> .${name})`),
    )
    const line = fc
      .tuple(fc.constantFrom('Allow', 'Deny'), fc.constantFrom('GET', 'QUERY'), fc.option(selector, { nil: undefined }))
      .map(([action, method, chosen]): Line => ['*', method, action, '/a', chosen])
    const item = (depth: number): fc.Arbitrary<string> =>
      fc
        .tuple(names, depth === 0 ? fc.constant([]) : fc.array(item(depth - 1), { maxLength: 3 }))
        .map(([name, inside]) => `<ul><li class=${name}>${name}${inside.join('')}</li></ul>`)
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 4 }), item(3), (lines, source) => {
        const own = access(site(lines))
        const document = html(source)
        const naive = html(source)
        const forElements = access(site(lines.filter(([, , action, , chosen]) => action === 'Allow' || chosen)))
        const isDenied = (element: ElementNode) =>
          METHODS.some(method => forElements.decide(method, '/a', { element, document: naive }) === 'deny')
        const left = new Map<ChildNode[], ChildNode[]>()
        const look = (nodes: ChildNode[]) => {
          left.set(
            nodes,
            nodes.filter(node => !isElement(node) || !isDenied(node)),
          )
          for (const node of nodes) if (isElement(node)) look(node.childNodes)
        }
        look(naive.root.childNodes)
        for (const [nodes, some] of left) nodes.splice(0, nodes.length, ...some)
        const seen = atOnce(
          leavingOut(
            own,
            METHODS.filter(m => own.mayDenyElements(m, '/a')),
            '/a',
            document,
          ),
        )
        expect(text(seen)).to.equal(text(naive))
      }),
      { numRuns: 60, ...(process.env.FUZZ ? {} : { seed: 7 }) },
    )
  })
})
