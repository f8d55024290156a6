/** Values written back where they are read from (MOD-22, MOD-70). */

import { cloningElement, copiedFrom, noteStored } from '../tree/clone.ts'
import { valueAttribute } from '../tree/microdata-value.ts'
import { attribute, type ElementNode } from '../tree/nodes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/**
 * A copy of a property's element that has another value, in steps.
 *
 * @param byContent the item is a configuration item, whose values a `content` attribute holds on any element
 * @returns an element without a place in a source
 */
export function* writingText(element: ElementNode, text: string, byContent: boolean): Steps<ElementNode> {
  const copy = yield* cloningElement(copiedPart(element, byContent))
  copy.parentNode = element.parentNode
  copy.sourceCodeLocation = null
  setText(copy, text, byContent)
  return copy
}

/** The same of an element that is given up: what is in it stands in the new one from then on. */
export function movedWith(element: ElementNode, text: string, byContent: boolean): ElementNode {
  const moved = withoutChildren(element)
  moved.attrs = element.attrs.map(each => ({ ...each }))
  moved.childNodes = [...element.childNodes]
  for (const child of moved.childNodes) child.parentNode = moved
  setText(moved, text, byContent)
  return moved
}

/** Gives a property's element that the caller owns another value. */
export function setText(element: ElementNode, text: string, byContent: boolean): void {
  const own = attributeOfValue(element, byContent)
  if (own === undefined) {
    element.childNodes = text === '' ? [] : [{ nodeName: '#text', value: text, parentNode: element }]
    return
  }
  const present = element.attrs.find(({ name, prefix }) => name === own && !prefix)
  if (present) present.value = text
  else element.attrs.push({ name: own, value: text })
}

/**
 * Texts in the place of values, in steps, as many as there are.
 *
 * @param elements of the values; for texts beyond them the last is copied
 */
export function* writingTexts(
  texts: readonly string[],
  elements: readonly ElementNode[],
  byContent: boolean,
): Steps<ElementNode[]> {
  const written: ElementNode[] = []
  for (const [i, text] of texts.entries()) {
    const form = elements[i] ?? elements.at(-1)
    if (form) written.push(yield* writingText(form, text, byContent))
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
  }
  return written
}

function attributeOfValue(element: ElementNode, byContent: boolean): string | undefined {
  return byContent && attribute(element, 'content') !== undefined ? 'content' : valueAttribute(element)
}

/** What of a property's element each copy has that has another value: a text stands in the place of all that is in it. */
export function copiedPart(element: ElementNode, byContent: boolean): ElementNode {
  return attributeOfValue(element, byContent) === undefined ? withoutChildren(element) : element
}

function withoutChildren(element: ElementNode): ElementNode {
  const { nodeName, tagName, attrs, namespaceURI, parentNode, content } = element
  const part = { nodeName, tagName, attrs, namespaceURI, parentNode, childNodes: [], ...(content && { content }) }
  const stored = copiedFrom(element)
  if (stored) noteStored(part, stored)
  return part
}
