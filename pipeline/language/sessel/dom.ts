/** Changing the trees of constructed elements (SES-144): they stay trees, and no deeper than documents may be. */

import { asciiLower } from '../../tree/ascii.ts'
import { cloningElement, cloningStored } from '../../tree/clone.ts'
import { checkNames, LONGEST_NAME, MAX_DEPTH, TreeError } from '../../tree/limits.ts'
import { isShort } from '../../tree/long-text.ts'
import {
  type ChildNode,
  type ElementNode,
  type FragmentNode,
  HTML_NAMESPACE,
  isElement,
  isText,
  type ParentNode,
  type TextNode,
  treeOf,
} from '../../tree/nodes.ts'
import { prefixIn } from '../../tree/prefixes.ts'
import { isVoid } from '../../tree/serialize-html.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../../tree/steps.ts'
import { charactersOf } from '../../tree/weight.ts'
import { OwnNames } from '../own-names.ts'
import { noteName, StoredNames } from '../stored-names.ts'
import { ElementValue, isList, type Value } from '../values.ts'
import type { Program } from './code.ts'
import { typeOf } from './comparison.ts'
import { type Evaluation, type Given, Pending, pausing, typeError, type Work } from './evaluation.ts'
import { isMutable } from './kinds.ts'
import { TemporalValue } from './temporal-value.ts'
import { textForm } from './text-form.ts'

/** Levels of elements at and below an element; what was taken out may be counted still. */
const heights = new WeakMap<ElementNode, number>()

export function newElement(tagName: string, namespaceURI: string = HTML_NAMESPACE): ElementNode {
  const node: ElementNode = { nodeName: tagName, tagName, namespaceURI, attrs: [], childNodes: [], parentNode: null }
  if (tagName === 'template' && namespaceURI === HTML_NAMESPACE)
    node.content = { nodeName: '#document-fragment', childNodes: [] }
  heights.set(node, 1)
  return node
}

function heightOf(node: ElementNode, on: Evaluation): number {
  const known = heights.get(node)
  if (known !== undefined) return known
  let height = 0
  const open = [{ node, level: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    height = Math.max(height, next.level)
    on.spend(1 + (next.node.childNodes.length >> 2))
    for (const child of next.node.childNodes) if (isElement(child)) open.push({ node: child, level: next.level + 1 })
  }
  heights.set(node, height)
  return height
}

/** Has an element, and those around it, counted again: what stands in it was put there otherwise than by `insert`. */
export function forgetHeights(node: ElementNode): void {
  for (let up: ParentNode | null = node; up && isElement(up); up = up.parentNode) heights.delete(up)
}

/** A copy without place in any document (SES-140). */
export function copyOf(node: ElementNode, on: Evaluation): ElementNode {
  count(node, on)
  return atOnce(copied(node))
}

/** `copyOf` with pauses. */
export function* copying(node: ElementNode, on: Evaluation): Work<ElementNode> {
  yield* pausing(counting(node, on))
  return yield* pausing(copied(node))
}

function* copied(element: ElementNode): Steps<ElementNode> {
  const { nodeName } = treeOf(element)
  // What a stored template holds is in a tree of its own.
  const isStored = nodeName === '#document' || (nodeName === '#document-fragment' && element.sourceCodeLocation)
  const copy = yield* isStored ? cloningStored(element) : cloningElement(element)
  delete copy.sourceCodeLocation
  return copy
}

/**
 * What is to be put into an element: of what is stored a copy goes there, and long ones are made with pauses before.
 *
 * @param put takes few values
 * @param putMany takes others, with pauses
 * @param isSlow whether few values may take long, too
 */
export function puttingIn(
  value: Value,
  on: Evaluation,
  put: (value: Value) => Value,
  putMany: (value: Value) => Work,
  isSlow = false,
): Given {
  if (!isSlow && !isMany(value) && !isLong(value)) return put(value)
  const work = function* (): Work {
    return yield* putMany(yield* owning(value, on))
  }
  return new Pending(work())
}

/** Values that are put into an element without a pause. */
const FEW = 500

/** Lists inside each other: the items of an element that is made, and one that is an item. What is nested deeper is refused. */
const LISTS = 2

function isMany(value: Value): boolean {
  if (value === null || !isList(value)) return false
  let values = value.length
  for (const each of value) {
    if (values > FEW) return true
    if (each !== null && isList(each)) values += each.length
  }
  return values > FEW
}

/** Whether anything of few values is stored and takes long to copy. */
function isLong(value: Value, lists = LISTS): boolean {
  if (value instanceof ElementValue) return !isMutable(value) && !isShort(value.node)
  return value !== null && isList(value) && lists > 0 && value.some(each => isLong(each, lists - 1))
}

function* owning(value: Value, on: Evaluation, lists = LISTS): Work {
  if (value instanceof ElementValue) return isLong(value) ? new ElementValue(yield* copying(value.node, on)) : value
  if (value === null || !isList(value) || lists === 0) return value
  on.take(16 + 8 * value.length)
  const values: Value[] = []
  for (const each of value) {
    on.spend(1)
    values.push(yield* owning(each, on, lists - 1))
    if (on.isDue) yield undefined
  }
  return values
}

function count(node: ElementNode, on: Evaluation): void {
  atOnce(counting(node, on))
}

/** Counts what a copy of a tree takes, before it is made: its texts, too, which will be written once more, although they are shared. */
function* counting(node: ElementNode, on: Evaluation): Steps<void> {
  const open: (ElementNode | FragmentNode)[] = [node]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    on.spend(1 + (next.childNodes.length >> 2))
    on.take(200 + ('attrs' in next ? 96 * next.attrs.length + charactersOf(next) : 0))
    for (const child of next.childNodes) {
      if (isElement(child)) open.push(child)
      else on.take(100 + charactersOf(child))
    }
    if ('content' in next && next.content) open.push(next.content)
  }
}

/** Where the children of an element are: those of a `template` are its contents. */
export function insideOf(node: ElementNode): ParentNode {
  return node.content ?? node
}

/** The place of a node among its siblings. */
export function placeOf(node: ChildNode, siblings: readonly ChildNode[], on: Evaluation): number {
  const at = siblings.indexOf(node)
  on.spend((at < 0 ? siblings.length : at) >> 7)
  return at
}

/** @throws SesselError when the element would hold itself, or the tree be too deep */
export function insert(parent: ElementNode, at: number, node: ChildNode, on: Evaluation): void {
  if (isVoid(parent)) return
  if (isElement(node)) {
    let depth = 0
    let height = heightOf(node, on)
    for (let up: ParentNode | null = parent; up && isElement(up); up = up.parentNode) {
      if (up === node) throw typeError('an element cannot be put into itself')
      height++
      depth++
      heights.set(up, Math.max(heightOf(up, on), height))
    }
    if (depth + heightOf(node, on) > MAX_DEPTH)
      throw typeError(`elements are nested deeper than ${MAX_DEPTH} levels`, 'limit')
  }
  detach(node, on)
  const inside = insideOf(parent)
  on.take(64)
  node.parentNode = inside
  if (at >= inside.childNodes.length) inside.childNodes.push(node)
  else {
    on.spend((inside.childNodes.length - at) >> 9)
    inside.childNodes.splice(at, 0, node)
  }
}

/** Takes a node from its place. What is looked for among many siblings, or makes many move up, costs steps. */
export function detach(node: ChildNode, on: Evaluation): void {
  const siblings = node.parentNode?.childNodes
  if (siblings) {
    const at = siblings.at(-1) === node ? siblings.length - 1 : placeOf(node, siblings, on)
    on.spend((siblings.length - at) >> 9)
    if (at >= 0) siblings.splice(at, 1)
  }
  node.parentNode = null
}

/** Nodes that are taken away one by one. */
const ONE_BY_ONE = 8

/** Takes nodes from their places: siblings are gone through once, however many of them go. */
export function detachAll(nodes: readonly ChildNode[], on: Evaluation): void {
  if (nodes.length < ONE_BY_ONE) {
    for (const node of nodes) detach(node, on)
    return
  }
  on.spend(nodes.length)
  const going = new Set(nodes)
  for (const parent of new Set(nodes.map(({ parentNode }) => parentNode))) {
    if (!parent) continue
    on.spend(parent.childNodes.length >> 4)
    parent.childNodes = parent.childNodes.filter(node => !going.has(node))
  }
  for (const node of nodes) node.parentNode = null
}

const RAW = new Set(['style', 'script', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'plaintext'])

/** SES-162: what stands raw in markup cannot be escaped, so it may not end its element, with what stands around it neither. */
function checkRaw({ tagName, namespaceURI, childNodes }: ElementNode, at: number, text: string, on: Evaluation): void {
  if (!RAW.has(tagName) || namespaceURI !== HTML_NAMESPACE) return
  const ends = tagName === 'script' ? ['</script', '<!--'] : [`</${tagName}`]
  const reach = tagName.length + 1
  let [before, after] = ['', '']
  let left = at
  while (left > 0 && before.length < reach) before = textAt(childNodes[--left]).slice(-reach) + before
  let right = at
  while (right < childNodes.length && after.length < reach) after += textAt(childNodes[right++]).slice(0, reach)
  on.spend((text.length >> 6) + ((right - left) >> 3))
  const whole = asciiLower(`${before.slice(-reach)}${text}${after.slice(0, reach)}`)
  if (ends.some(end => whole.includes(end))) throw typeError(`the text would end the “${tagName}” that it stands in`)
}

function textAt(node: ChildNode | undefined): string {
  return node && isText(node) ? node.value : ''
}

export function insertText(parent: ElementNode, at: number, value: string, on: Evaluation): void {
  checkRaw(parent, at, value, on)
  on.take(100 + 2 * value.length)
  const node: TextNode = { nodeName: '#text', value, parentNode: null }
  insert(parent, at, node, on)
}

/**
 * Adds a value to the content of an element (SES-144, SES-161).
 *
 * @param at place among the child nodes
 * @returns the place behind what was added
 */
export function insertValue(parent: ElementNode, at: number, value: Value, on: Evaluation, nested = false): number {
  const inside = insideOf(parent)
  const before = inside.childNodes.length
  if (value === null) return at
  if (value instanceof ElementValue) {
    const node = isMutable(value) ? value.node : copyOf(value.node, on)
    // What moves inside of one parent leaves its old place first.
    if (node.parentNode === inside && placeOf(node, inside.childNodes, on) < at) at--
    insert(parent, at, node, on)
    return isVoid(parent) ? at : at + 1
  }
  if (isList(value)) {
    if (nested) throw typeError('a List inside of a List cannot be put into an element')
    on.spend(value.length)
    let next = at
    for (const item of value) next = insertValue(parent, next, item, on, true)
    return next
  }
  if (typeof value !== 'object' || value instanceof TemporalValue) insertText(parent, at, textForm(value, on.spend), on)
  else throw typeError(`a ${typeOf(value)} cannot be put into an element`)
  return at + (inside.childNodes.length - before)
}

/** `insertValue` with pauses. */
export function* inserting(parent: ElementNode, at: number, value: Value, on: Evaluation): Work<number> {
  if (value === null || !isList(value)) return insertValue(parent, at, value, on)
  let next = at
  for (const item of value) {
    on.spend(1)
    next = insertValue(parent, next, item, on, true)
    if (on.isDue) yield undefined
  }
  return next
}

export function append(parent: ElementNode, value: Value, on: Evaluation): void {
  insertValue(parent, insideOf(parent).childNodes.length, value, on)
}

/** `append` with pauses. */
export function appending(parent: ElementNode, value: Value, on: Evaluation): Work<number> {
  return inserting(parent, insideOf(parent).childNodes.length, value, on)
}

export function clear(node: ElementNode): void {
  const inside = insideOf(node)
  for (const child of inside.childNodes) child.parentNode = null
  inside.childNodes = []
}

/** Sets the text of an element. */
export function setText(node: ElementNode, value: string, on: Evaluation): void {
  clear(node)
  if (value !== '') insertText(node, 0, value, on)
}

const ATTRIBUTE_NAME = /^[^\s"'<>/=\0-\x1f\x7f]+$/

const own = new WeakMap<Program, OwnNames>()
const known = new WeakMap<Evaluation, StoredNames>()

/** What names with a prefix mean in what the code builds: those of elements whose markup it has seen what they mean there. */
export function namesOf(on: Evaluation): StoredNames {
  const names = known.get(on) ?? new StoredNames({ has: name => isOwn(name, on) })
  known.set(on, names)
  return names
}

/** Whether a name stands in the code that runs, or in what has called it. */
function isOwn(name: string, { context: { program, callers } }: Evaluation): boolean {
  if (ownNames(program).has(name)) return true
  for (const caller of callers ?? []) if (ownNames(caller).has(name)) return true
  return false
}

function ownNames(program: Program): OwnNames {
  const names = own.get(program) ?? new OwnNames(program.text)
  own.set(program, names)
  return names
}

/** Sets an attribute; null takes it away. */
export function setAttribute(node: ElementNode, name: string, value: string | null, on: Evaluation): void {
  const wanted = attributeName(node, name)
  const at = node.attrs.findIndex(a => fullName(a) === wanted)
  if (value === null) {
    if (at >= 0) node.attrs.splice(at, 1)
    return
  }
  checkLength(wanted, value)
  if (!ATTRIBUTE_NAME.test(wanted)) throw typeError(`“${name.slice(0, 80)}” is not the name of an attribute`)
  on.take(96 + 2 * value.length)
  const attribute = node.attrs[at]
  if (attribute) attribute.value = value
  else if (node.attrs.length >= 1_000) throw typeError('an element has at most 1000 attributes', 'limit')
  else node.attrs.push({ name: wanted, value })
  if (prefixIn(wanted) !== undefined) noteName(node, wanted, namesOf(on))
}

/** @throws SesselError for a name, or names in the value, that no document may have (HTTP-181) */
function checkLength(name: string, value: string): void {
  try {
    checkNames(name, value)
  } catch (error) {
    throw error instanceof TreeError ? typeError(error.message, 'limit') : error
  }
}

export function attributeOf(node: ElementNode, name: string): string | null {
  const wanted = attributeName(node, name)
  return node.attrs.find(a => fullName(a) === wanted || asciiLower(fullName(a)) === wanted)?.value ?? null
}

function attributeName(node: ElementNode, name: string): string {
  // Nothing has a name that is too long, whatever its letters are.
  const isFolded = node.namespaceURI === HTML_NAMESPACE || node.namespaceURI === ''
  return isFolded && name.length <= LONGEST_NAME ? asciiLower(name) : name
}

function fullName({ prefix, name }: { prefix?: string; name: string }): string {
  return prefix ? `${prefix}:${name}` : name
}
