/** Text and value of elements (SES-140, SES-141). */

import { collapsing } from '../../tree/collapse.ts'
import { isShort, LongText } from '../../tree/long-text.ts'
import { valueAttribute } from '../../tree/microdata-value.ts'
import { attribute, type ElementNode, isElement, isText, type ParentNode } from '../../tree/nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../../tree/steps.ts'
import type { ElementValue } from '../values.ts'
import { MAX_TEXT, type Spend, tooLong } from './comparison.ts'
import { type Given, Pending, pausing } from './evaluation.ts'
import { isMutable } from './kinds.ts'

/** UTF-16 code units of an element's text that is read without a pause: some 20 milliseconds, in which nobody else has a turn. */
const LONGEST = 1024 * 1024

/** The text of all below a node. */
function rawText(node: ParentNode, spend: Spend): string {
  const pieces: string[] = []
  gather(node, pieces, spend)
  return pieces.join('')
}

function gather(node: ParentNode, pieces: string[], spend: Spend): void {
  spend(node.childNodes.length >> 2)
  for (const child of node.childNodes) {
    if (isText(child)) {
      spend(child.value.length >> 6)
      pieces.push(child.value)
    } else if (isElement(child)) gather(child, pieces, spend)
  }
}

/** `rawText` in steps. @param most code units @throws SesselError for a longer one */
function* gathering(element: ElementNode, spend: Spend, most: number): Steps<string> {
  const text = new LongText()
  let [seen, length] = [0, 0]
  spend(element.childNodes.length >> 2)
  const open = [element.childNodes.values()]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const { value: child } = level.next()
    if (++seen % NODES_PER_STEP === 0) yield
    if (!child) open.pop()
    else if (isText(child)) {
      spend(child.value.length >> 6)
      if ((length += child.value.length) > most) throw tooLong(most)
      if (text.add(child.value)) yield
    } else if (isElement(child)) {
      spend(child.childNodes.length >> 2)
      open.push(child.childNodes.values())
    }
  }
  return text.whole
}

/** White space of HTML that is no single space; most runs are one already. */
const RUNS = /[ \t\n\f\r]{2,}|[\t\n\f\r]/g

function collapsed(text: string): string {
  return text.replace(RUNS, ' ').replace(/^ | $/g, '')
}

/** SES-140: of a stored element collapsed, of a constructed one as it is. */
export function elementText(value: ElementValue, spend: Spend): Given {
  const { node } = value
  if (!isShort(node)) return new Pending(pausing(readingText(value, spend)))
  const text = rawText(node, spend)
  return isMutable(value) ? text : collapsed(text)
}

function* readingText(value: ElementValue, spend: Spend): Steps<string> {
  const text = yield* gathering(value.node, spend, MAX_TEXT)
  return isMutable(value) ? text : yield* collapsing(text, RUNS)
}

/** The text of an element, collapsed, where nobody can wait. @throws SesselError for a long one */
export function collapsedText(node: ElementNode, spend: Spend): string {
  return isShort(node) ? collapsed(rawText(node, spend)) : atOnce(readingCollapsed(node, spend, LONGEST))
}

function* readingCollapsed(node: ElementNode, spend: Spend, most: number): Steps<string> {
  return yield* collapsing(yield* gathering(node, spend, most), RUNS)
}

/** SES-141. */
export function valueOfElement(value: ElementValue, spend: Spend): Given {
  const isLong = valueAttribute(value.node) === undefined && !isShort(value.node)
  return isLong ? new Pending(pausing(readingValue(value, spend))) : elementValue(value, spend)
}

function* readingValue({ node }: ElementValue, spend: Spend): Steps<string | null> {
  return (yield* readingCollapsed(node, spend, MAX_TEXT)) || null
}

/** `valueOfElement` where nobody can wait. @throws SesselError for a long text */
export function elementValue({ node }: ElementValue, spend: Spend): string | null {
  const name = valueAttribute(node)
  return name === undefined ? collapsedText(node, spend) || null : (attribute(node, name) ?? '')
}
