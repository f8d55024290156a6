/** Methods of Elements: getters, and mutators for constructed ones (SES-140 to SES-145). */

import { isBlank } from '../../tree/ascii.ts'
import { parsingFragment } from '../../tree/fragment.ts'
import { parsingHtml } from '../../tree/html.ts'
import { TreeError } from '../../tree/limits.ts'
import { isShort } from '../../tree/long-text.ts'
import { valueAttribute } from '../../tree/microdata-value.ts'
import {
  attribute,
  type ChildNode,
  type ElementNode,
  isElement,
  isText,
  type ParentNode,
  parentElement,
  rootElement,
} from '../../tree/nodes.ts'
import { writingInnerMarkup } from '../../tree/serialize.ts'
import type { Steps } from '../../tree/steps.ts'
import { notingNames } from '../stored-names.ts'
import { ElementValue, type Value } from '../values.ts'
import { attributeText } from './construct.ts'
import {
  attributeOf,
  clear,
  copying,
  copyOf,
  detach,
  forgetHeights,
  inserting,
  insertValue,
  insideOf,
  namesOf,
  newElement,
  placeOf,
  puttingIn,
  setAttribute,
  setText,
} from './dom.ts'
import { elementText, valueOfElement } from './element-text.ts'
import { type Evaluation, type Given, Pending, pausing, typeError, type Work } from './evaluation.ts'
import { FetchedElement, isMutable } from './kinds.ts'
import { type Method, type Methods, textArgument } from './method.ts'
import { microdataOf } from './microdata.ts'
import { rootOf } from './names.ts'
import { sameHandle } from './select.ts'
import { textForm } from './text-form.ts'

function getter(run: (element: ElementValue, on: Evaluation) => Given): Method {
  return { least: 0, most: 0, run: (element: ElementValue, _, on) => run(element, on) }
}

function mutator(name: string, least: number, most: number, run: Method['run']): Method {
  return {
    least,
    most,
    run: (element: ElementValue, args, on) => {
      requireMutable(name, element)
      return run(element as never, args, on)
    },
  }
}

function requireMutable(name: string, element: ElementValue): void {
  if (!isMutable(element)) throw typeError(`“${name}” cannot change a stored element: “clone()” gives one that it can`)
}

function* parsed<T>(steps: Steps<T>, length: number, on: Evaluation): Work<T> {
  on.spend(length >> 4)
  // A tree takes many times the memory of its text.
  on.take(16 * length)
  try {
    return yield* pausing(steps)
  } catch (error) {
    throw error instanceof TreeError ? typeError(error.message, 'limit') : error
  }
}

function* fragmentOf(markup: string, context: ElementNode, on: Evaluation): Work<ChildNode[]> {
  const nodes = yield* parsed(parsingFragment('html', markup, context), markup.length, on)
  // No name has a prefix where the text has no colon: references of characters are none in names.
  if (markup.includes(':')) yield* pausing(notingNames(nodes, namesOf(on)))
  return nodes
}

function asText(value: Value, on: Evaluation): string {
  return textForm(value, on.spend)
}

function setValue(element: ElementValue, value: Value, on: Evaluation): Value {
  const name = valueAttribute(element.node)
  if (name === undefined) setText(element.node, asText(value, on), on)
  else setAttribute(element.node, name, value === null ? null : asText(value, on), on)
  return element
}

function setAttr(element: ElementValue, [name, value = null]: Value[], on: Evaluation): Value {
  setAttribute(element.node, textArgument('attr', name), attributeText(value, on), on)
  return element
}

function assignText(element: ElementValue, [value = null]: Value[], on: Evaluation): Value {
  setText(element.node, asText(value, on), on)
  return element
}

function childrenOf(element: ElementValue, { childNodes }: ParentNode, on: Evaluation): Value[] {
  const children = childNodes.filter(isElement)
  on.spend(childNodes.length >> 2)
  on.take(16 + 48 * children.length)
  return children.map(child => sameHandle(element, child))
}

function innerHtml(element: ElementValue, on: Evaluation): Given {
  return new Pending(writingHtml(element, on))
}

function* writingHtml(element: ElementValue, on: Evaluation): Work {
  const { node, source } = element
  yield* pausing(namesOf(on).notingAll([node], source?.path !== undefined, source?.document.kind ?? 'html'))
  const pay = (units: number): void => {
    on.spend(units >> 6)
    on.take(32 + 2 * units)
  }
  return yield* pausing(writingInnerMarkup(node, source?.document.kind ?? 'html', pay))
}

/** SES-142. */
function selectorOf(node: ElementNode, on: Evaluation): string {
  const steps: string[] = []
  for (let at: ElementNode | undefined = node; at; at = parentElement(at)) {
    const id = attribute(at, 'id')
    if (id) {
      steps.push(`#${id}`)
      break
    }
    const parent = parentElement(at)
    if (!parent) {
      steps.push(at.tagName)
      break
    }
    let place = 0
    for (const child of parent.childNodes) {
      if (isElement(child)) place++
      if (child === at) break
    }
    on.spend(1 + (place >> 3))
    steps.push(`${at.tagName}:nth-child(${place})`)
  }
  return steps.reverse().join(' > ')
}

function setHtml(element: ElementValue, [value = null]: Value[], on: Evaluation): Given {
  return new Pending(replacingHtml(element, asText(value, on), on))
}

function* replacingHtml(element: ElementValue, markup: string, on: Evaluation): Work {
  const nodes = yield* fragmentOf(markup, element.node, on)
  clear(element.node)
  const inside = insideOf(element.node)
  for (const node of nodes) {
    node.parentNode = inside
    inside.childNodes.push(node)
  }
  forgetHeights(element.node)
  return element
}

function replaceWith(element: ElementValue, [value = null]: Value[], on: Evaluation): Given {
  if (!parentElement(element.node) || (value instanceof ElementValue && value.node === element.node)) return value
  /** The place that it had, once it has left it. */
  const left = () => {
    const parent = parentElement(element.node)
    const at = parent ? placeOf(element.node, parent.childNodes, on) : 0
    if (parent) detach(element.node, on)
    return { parent, at }
  }
  return puttingIn(
    value,
    on,
    own => {
      const { parent, at } = left()
      if (parent) insertValue(parent, at, own, on)
      return value
    },
    function* (own) {
      const { parent, at } = left()
      if (parent) yield* inserting(parent, at, own, on)
      return value
    },
  )
}

/** @param place among the nodes of the element, when it is put there */
function putInto(element: ElementValue, place: () => number, value: Value, on: Evaluation): Given {
  return puttingIn(
    value,
    on,
    own => {
      insertValue(element.node, place(), own, on)
      return element
    },
    function* (own) {
      yield* inserting(element.node, place(), own, on)
      return element
    },
  )
}

function cloneOf({ node, type }: ElementValue, on: Evaluation): Given {
  if (isShort(node)) return new ElementValue(copyOf(node, on), undefined, type)
  const work = function* (): Work {
    return new ElementValue(yield* copying(node, on), undefined, type)
  }
  return new Pending(work())
}

function insertBefore(element: ElementValue, [reference = null]: Value[], on: Evaluation): Value {
  if (!(reference instanceof ElementValue)) throw typeError('“insertBefore” takes an Element')
  requireMutable('insertBefore', reference)
  const parent = parentElement(reference.node)
  if (!parent) throw typeError('“insertBefore” takes an element that has a parent')
  if (reference.node !== element.node) {
    detach(element.node, on)
    insertValue(parent, placeOf(reference.node, parent.childNodes, on), element, on)
  }
  return element
}

/** A getter that becomes a mutator with an argument. */
function either(name: string, get: (element: ElementValue, on: Evaluation) => Given, set: Method['run']): Method {
  return {
    least: 0,
    most: 1,
    run: (element: ElementValue, args, on) => {
      if (args.length === 0) return get(element, on)
      requireMutable(name, element)
      return set(element as never, args, on)
    },
  }
}

export const ELEMENT_METHODS: Methods = new Map<string, Method>([
  ['text', either('text', (element, on) => elementText(element, on.spend), assignText)],
  [
    'value',
    either(
      'value',
      (element, on) => valueOfElement(element, on.spend),
      (element: ElementValue, [value = null], on) => setValue(element, value, on),
    ),
  ],
  [
    'attr',
    {
      least: 1,
      most: 2,
      run: (element: ElementValue, args, on) => {
        if (args.length === 1) return attributeOf(element.node, textArgument('attr', args[0]))
        requireMutable('attr', element)
        return setAttr(element, args, on)
      },
    },
  ],
  ['path', getter(({ source }) => source?.path ?? null)],
  ['document', getter(({ source }) => (source ? (rootOf(source) ?? null) : null))],
  ['selector', getter(({ node }, on) => selectorOf(node, on))],
  ['children', getter((element, on) => childrenOf(element, element.node, on))],
  [
    'parent',
    getter(element => {
      const parent = parentElement(element.node)
      return parent ? sameHandle(element, parent) : null
    }),
  ],
  [
    'content',
    getter((element, on) => {
      const { content } = element.node
      return content ? childrenOf(element, content, on) : null
    }),
  ],
  ['getHTML', getter(innerHtml)],
  ['innerhtml', getter(innerHtml)],
  ['clone', getter(cloneOf)],
  ['microdata', getter((element, on) => new Pending(microdataOf(element, on)))],
  [
    'metadata',
    getter(element => {
      if (element instanceof FetchedElement) return element.metadata
      throw typeError('only a document that was fetched has “metadata”')
    }),
  ],
  ['set_text', mutator('set_text', 1, 1, assignText)],
  ['set_attr', mutator('set_attr', 2, 2, setAttr)],
  [
    'append',
    mutator('append', 1, 1, (element: ElementValue, [value = null], on) =>
      putInto(element, () => insideOf(element.node).childNodes.length, value, on),
    ),
  ],
  [
    'prepend',
    mutator('prepend', 1, 1, (element: ElementValue, [value = null], on) => putInto(element, () => 0, value, on)),
  ],
  ['setHTML', mutator('setHTML', 1, 1, setHtml)],
  [
    'empty',
    mutator('empty', 0, 0, (element: ElementValue) => {
      clear(element.node)
      return element
    }),
  ],
  [
    'remove',
    getter((element, on) => {
      if (isMutable(element)) detach(element.node, on)
      return null
    }),
  ],
  ['replaceWith', mutator('replaceWith', 1, 1, replaceWith)],
  ['insertBefore', mutator('insertBefore', 1, 1, insertBefore)],
])

/** `Element.fromString(html)` (SES-145). */
export function* elementFrom(markup: string, on: Evaluation): Work {
  // In the contents of a template every element may stand, rows and cells too.
  const nodes = yield* fragmentOf(markup, newElement('template'), on)
  const first = nodes.find(isElement)
  if (!first) throw typeError('“fromString” takes markup of an element')
  first.parentNode = null
  return new ElementValue(first)
}

/** A comment ends at the first place where it can: otherwise comments could be told apart in 2^n ways. */
const WHOLE_DOCUMENT =
  /^[\t\n\f\r ]*(?:<!--(?:(?!-->)[\s\S])*-->[\t\n\f\r ]*)*<(?:!doctype\b|(?:html|head|body)(?=[\t\n\f\r />]))/i

/** `Document.parse(html)` (SES-145). */
export function* documentFrom(markup: string, on: Evaluation): Work {
  const root = WHOLE_DOCUMENT.test(markup.slice(0, 4_096)) ? yield* wholeFrom(markup, on) : undefined
  // A `frameset` takes the place of the body, and drops what stands behind it, which an element would hold: code that looks
  // for something in a text, whatever it is sent as, finds both.
  if (root && !root.childNodes.some(node => isElement(node) && node.tagName === 'frameset'))
    return new ElementValue(root)
  const body = newElement('body')
  const nodes = yield* fragmentOf(markup, body, on)
  const [only, ...others] = nodes.filter(node => !isText(node) || !isBlank(node.value))
  if (!root && only && isElement(only) && others.length === 0) {
    only.parentNode = null
    return new ElementValue(only)
  }
  for (const node of nodes) {
    node.parentNode = body
    body.childNodes.push(node)
  }
  if (!root) return new ElementValue(body)
  body.parentNode = root
  root.childNodes.push(body)
  return new ElementValue(root)
}

function* wholeFrom(source: string, on: Evaluation): Work<ElementNode | undefined> {
  const root = rootElement({
    kind: 'html',
    source,
    root: yield* parsed(parsingHtml(source), source.length, on),
    clean: false,
  })
  if (!root) return
  root.parentNode = null
  yield* pausing(notingNames([root], namesOf(on)))
  return root
}
