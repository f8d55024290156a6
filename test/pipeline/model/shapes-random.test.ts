import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { compilingShapes } from '../../../pipeline/model/shape.ts'
import { checkingShapes } from '../../../pipeline/model/shape-check.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { page } from '../../support/content.ts'
import { readDom } from '../../support/dom.ts'

/** A compound as it is generated: what it names is known without reading it. */
interface Compound {
  text: string
  /** Attributes that the compound names, lower-case (MOD-95). */
  names: string[]
  /** It names a type, class, id or attribute (MOD-93). */
  named: boolean
}

/** A selector of one branch; the subject is its last compound. */
interface Branch {
  text: string
  subject: Compound
}

interface Shape {
  selectors: Branch[][]
  constraints: Branch[][]
  permits: Branch[][]
}

const TAGS = ['div', 'p', 'b', 'i', 'ul', 'li']
const ATTRIBUTES = ['class', 'id', 'lang', 'title', 'itemprop']
const VALUES = ['x', 'y', 'x y']

const simple: fc.Arbitrary<Compound> = fc.oneof(
  fc.constantFrom('x', 'y').map(name => ({ text: `.${name}`, names: ['class'], named: true })),
  fc.constantFrom('x', 'y').map(name => ({ text: `#${name}`, names: ['id'], named: true })),
  fc.constantFrom(...ATTRIBUTES).map(name => ({ text: `[${name}]`, names: [name], named: true })),
  fc
    .tuple(fc.constantFrom(...ATTRIBUTES), fc.constantFrom('=', '~=', '^='), fc.constantFrom('x', 'y'))
    .map(([name, operator, value]) => ({ text: `[${name}${operator}${value}]`, names: [name], named: true })),
  fc
    .constantFrom(':not(.x)', ':has(b)', ':has(> [title])', ':is([id], p)', ':where(.x)', ':first-child', ':empty')
    .map(text => ({ text, names: [], named: false })),
)

const compound: fc.Arbitrary<Compound> = fc
  .tuple(fc.constantFrom('', '', '*', ...TAGS), fc.array(simple, { maxLength: 2 }))
  .filter(([tag, simples]) => tag !== '' || simples.length > 0)
  .map(([tag, simples]) => ({
    text: tag + simples.map(({ text }) => text).join(''),
    names: simples.flatMap(({ names }) => names),
    named: (tag !== '' && tag !== '*') || simples.some(({ named }) => named),
  }))

const branch: fc.Arbitrary<Branch> = fc
  .tuple(fc.array(fc.tuple(compound, fc.constantFrom(' ', ' > ', ' + ')), { maxLength: 1 }), compound)
  .map(([before, subject]) => ({
    text: before.map(([{ text }, combinator]) => text + combinator).join('') + subject.text,
    subject,
  }))

const written = fc.array(branch, { minLength: 1, maxLength: 2 })
const shape: fc.Arbitrary<Shape> = fc.record({
  selectors: fc.array(written, { maxLength: 2 }),
  constraints: fc.array(written, { maxLength: 2 }),
  permits: fc.array(fc.oneof(written, fc.constantFrom(...TAGS).map(wholly)), { maxLength: 6 }),
})

function wholly(tag: string): Branch[] {
  return [{ text: tag, subject: { text: tag, names: [], named: true } }]
}

const markup = fc.letrec<{ node: string; list: string }>(tie => ({
  node: fc
    .tuple(
      fc.constantFrom('div', 'b', 'i', 'ul', 'li', 'p', 'template'),
      fc.uniqueArray(fc.tuple(fc.constantFrom(...ATTRIBUTES), fc.constantFrom(...VALUES)), {
        selector: ([name]) => name,
        maxLength: 2,
      }),
      tie('list'),
    )
    .map(([tag, attributes, inside]) => {
      const attrs = attributes.map(([name, value]) => ` ${name}="${value}"`).join('')
      return `<${tag}${attrs}>${inside}</${tag}>`
    }),
  list: fc
    .array(fc.oneof({ maxDepth: 4 }, fc.constantFrom('', 'text'), tie('node')), { maxLength: 3 })
    .map(parts => parts.join('')),
}))

const textOf = (branches: Branch[]) => branches.map(({ text }) => text).join(', ')

const isTemplate = (element: Element): element is HTMLTemplateElement => element.localName === 'template'

/** MOD-92 to MOD-97 by the engine of another project, one element at a time. */
function oracle(shapes: readonly Shape[], source: string): string[] {
  const document = readDom(source)
  const failures: string[] = []
  const matches = (element: Element, { text }: Branch) => element.matches(text)
  const scopesOf = ({ selectors }: Shape, element: Element) =>
    selectors.length === 0
      ? element === document.documentElement
        ? [undefined]
        : []
      : selectors.filter(branches => branches.some(each => matches(element, each)))
  const isClosed = ({ permits }: Shape) => permits.length > 0
  for (const shape of shapes) {
    const permits = shape.permits.flat()
    for (const scope of document.querySelectorAll('*')) {
      const matching = scopesOf(shape, scope)
      if (matching.length === 0) continue
      const [first] = matching
      const name = first === undefined ? ':root' : textOf(first)
      for (const constraint of shape.constraints) {
        const holds = constraint.some(
          each =>
            matches(scope, each) ||
            (each.subject.named && [...scope.querySelectorAll('*')].some(e => matches(e, each))),
        )
        if (!holds) failures.push(`Element matching '${name}' does not satisfy constraint '${textOf(constraint)}'`)
      }
      if (!isClosed(shape)) continue
      const attributes = (element: Element, covering: Branch[]) => {
        const covered = covering.filter(each => matches(element, each)).flatMap(({ subject }) => subject.names)
        for (const attribute of element.getAttributeNames())
          if (!covered.includes(attribute))
            failures.push(`Attribute '${attribute}' on <${element.localName}> is not permitted inside '${name}'`)
      }
      attributes(scope, [...permits, ...shape.selectors.flat()])
      const visit = (parent: ParentNode, inTree: boolean) => {
        for (const child of parent.children) {
          if (permits.some(each => matches(child, each))) attributes(child, permits)
          else failures.push(`Element <${child.localName}> is not permitted inside '${name}'`)
          const taken =
            inTree &&
            shapes.some(
              other =>
                other !== shape && isClosed(other) && other.selectors.length > 0 && scopesOf(other, child).length > 0,
            )
          if (taken) continue
          visit(child, inTree)
          if (isTemplate(child)) visit(child.content, false)
        }
      }
      visit(scope, true)
      if (isTemplate(scope)) visit(scope.content, false)
    }
  }
  return failures.sort()
}

/** Shapes of what no document has. */
const absent = atOnce(
  compilingShapes(
    Array.from({ length: 20 }, (_, i) => ({
      resources: [],
      selectors: [`.absent${i}`],
      constraints: ['b'],
      permits: ['b'],
    })),
  ),
)

describe('Shapes against an oracle', () => {
  it('MOD-92 to MOD-97: elements, attributes, constraints and nested shapes', function () {
    this.timeout(300_000)
    let failing = 0
    let passing = 0
    fc.assert(
      fc.property(fc.array(shape, { minLength: 1, maxLength: 3 }), markup.list, (shapes, inside) => {
        const source = page(`<main>${inside}</main>`)
        const raw = shapes.map(({ selectors, constraints, permits }) => ({
          resources: [],
          selectors: selectors.map(textOf),
          constraints: constraints.map(textOf),
          permits: permits.map(textOf),
        }))
        const compiled = atOnce(compilingShapes(raw))
        const document = parseDocument('html', source)
        const found = atOnce(checkingShapes(compiled, { document }))
        // Among many, each is asked of the elements alone that it may select.
        expect(atOnce(checkingShapes([...compiled, ...absent], { document }))).to.deep.equal(found)
        const expected = oracle(shapes, source)
        if (expected.length > 0) failing++
        else passing++
        // What would make an element one that is permitted is told beside.
        expect(found.map(({ message }) => message.replace(/; it needs .*$/, '')).sort()).to.deep.equal(expected)
      }),
      { numRuns: Number(process.env.FUZZ ?? 100), seed: Number(process.env.SEED ?? 20311104) },
    )
    expect(Math.min(failing, passing)).to.be.greaterThan(20)
  })
})
