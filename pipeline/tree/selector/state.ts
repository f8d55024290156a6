/** Pseudo-classes without argument that the document decides: place in the tree, links, the state of form controls. */
import { asciiLower } from '../ascii.ts'
import {
  attribute,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  isText,
  parentElement,
  SVG_NAMESPACE,
} from '../nodes.ts'
import type { Test } from './attribute.ts'
import * as form from './form.ts'
import { inherited } from './inherited.ts'
import { isHtml } from './name.ts'

const XLINK_NAMESPACE = 'http://www.w3.org/1999/xlink'

/** @param name one of STATES */
export function stateTest(name: string): Test {
  return STATE_TESTS[name] ?? (() => false)
}

const isRoot: Test = element => element.parentNode?.nodeName === '#document'

/** Comments and instructions do not count (Selectors 4 §13.2; white space does, as in browsers). */
const isEmpty: Test = (element, query) => {
  query.spend(element.childNodes.length >> 3)
  return !element.childNodes.some(child => isElement(child) || (isText(child) && child.value !== ''))
}

const isLink: Test = element => {
  if (isHtml(element, 'a', 'area')) return attribute(element, 'href') !== undefined
  if (element.namespaceURI !== SVG_NAMESPACE || element.tagName !== 'a') return false
  return element.attrs.some(a => a.name === 'href' && (a.namespace === XLINK_NAMESPACE || (!a.namespace && !a.prefix)))
}

/** HTML, “read-write”: controls that can be edited, and what is inside of an editing host. */
const isReadWrite: Test = (element, query) => {
  if (isHtml(element, 'input', 'textarea')) {
    return form.isEditable(element) && attribute(element, 'readonly') === undefined && !form.isDisabled(element, query)
  }
  return inherited(EDITABLE, element, query, ownEditing) ?? false
}

const EDITABLE = Symbol('editable')

function ownEditing(element: ElementNode): boolean | undefined {
  const value = element.namespaceURI === HTML_NAMESPACE ? attribute(element, 'contenteditable') : undefined
  if (value === undefined) return undefined
  const state = asciiLower(value)
  if (state === '' || state === 'true' || state === 'plaintext-only') return true
  return state === 'false' ? false : undefined
}

const STATE_TESTS: Record<string, Test> = {
  root: isRoot,
  scope: (element, query) => (query.scope ? element === query.scope : isRoot(element, query)),
  empty: isEmpty,
  'any-link': isLink,
  link: isLink,
  checked: (element, query) => form.isChecked(element, query) === true,
  unchecked: (element, query) => form.isChecked(element, query) === false,
  default: form.isDefault,
  // Elements with a name of their own count as defined, since no script ran that could define them.
  defined: () => true,
  disabled: form.isDisabled,
  enabled: (element, query) => form.canBeDisabled(element) && !form.isDisabled(element, query),
  indeterminate: form.isIndeterminate,
  optional: element => form.isRequired(element) === false,
  required: element => form.isRequired(element) === true,
  'placeholder-shown': form.showsPlaceholder,
  'read-only': (element, query) => !isReadWrite(element, query),
  'read-write': isReadWrite,
  blank: form.isBlank,
  open: element => isHtml(element, 'details', 'dialog') && attribute(element, 'open') !== undefined,
  heading: element => headingLevel(element) > 0,
}

/** `:heading(2, 3)`; the attributes `headingoffset` and `headingreset` shift levels (HTML, “heading level”). */
export function headingTest(levels: number[]): Test {
  return (element, query) => {
    let level = headingLevel(element)
    if (level === 0) return false
    for (let at: ElementNode | undefined = element; at; at = parentElement(at)) {
      query.spend(1)
      if (at.namespaceURI !== HTML_NAMESPACE) continue
      const offset = attribute(at, 'headingoffset')
      if (offset !== undefined && /^[ \t\n\f\r]*\+?\d/.test(offset)) level += Number.parseInt(offset, 10)
      if (attribute(at, 'headingreset') !== undefined) break
    }
    return levels.includes(Math.min(level, 9))
  }
}

function headingLevel(element: ElementNode): number {
  return element.namespaceURI === HTML_NAMESPACE && /^h[1-6]$/.test(element.tagName) ? Number(element.tagName[1]) : 0
}
