/**
 * Elements that are text for browsers with scripts and markup for those without, and for what scripts parse by themselves
 * (`DOMParser`, and `live.mjs` with it): in one reading they may hold what they leave in the other.
 */

import { parserOptions } from '../tree/html.ts'
import { attribute, type ChildNode, type ElementNode, HTML_NAMESPACE, isElement, isText } from '../tree/nodes.ts'
import { SteppedParser } from '../tree/stepped-parser.ts'
import type { Steps } from '../tree/steps.ts'

/** Elements of the shell are there without their tags. */
const SHELL = new Set(['html', 'head', 'body'])
const END = '<i id="end"></i>'

export function isNoscript(node: ChildNode): node is ElementNode {
  return isElement(node) && node.tagName === 'noscript' && node.namespaceURI === HTML_NAMESPACE
}

/** Whether it may hold markup. */
export function holdsMarkup({ childNodes }: ElementNode): boolean {
  return childNodes.some(node => isText(node) && node.value.includes('<'))
}

/** Whether what a `noscript` holds stays in it where it is markup, in steps. @param noscript where it stands */
export function* stayingInside(noscript: ElementNode): Steps<boolean> {
  const text = noscript.childNodes.map(node => (isText(node) ? node.value : '')).join('')
  const around: string[] = []
  for (let at = noscript.parentNode; at && isElement(at); at = at.parentNode) around.unshift(at.tagName)
  const inner = around.filter(name => !SHELL.has(name))
  // What stands in the head is read as it would be there.
  const shell = around.includes('head') ? '<head>' : '<head></head><body>'
  const source = `<!DOCTYPE html><html>${shell}${inner.map(name => `<${name}>`).join('')}<noscript>${text}</noscript>${END}`
  const parser = new SteppedParser({ ...parserOptions(source, { mode: undefined, depth: 0 }), scriptingEnabled: false })
  yield* parser.read(source)
  return endsAt(parser.document.childNodes, inner)
}

/** Whether the end is behind the `noscript`, in elements of these names and no others. */
function endsAt(nodes: readonly ChildNode[], names: readonly string[]): boolean {
  const root = nodes.find(isElement)
  let parent = root?.childNodes.filter(isElement).at(-1)
  if (!root || !parent || root.attrs.length > 0 || parent.attrs.length > 0) return false
  for (const name of names) {
    const last: ChildNode | undefined = parent.childNodes.at(-1)
    if (!last || !isElement(last) || last.tagName !== name) return false
    parent = last
  }
  const [before, end] = parent.childNodes.slice(-2)
  return before !== undefined && isNoscript(before) && isEnd(end)
}

function isEnd(node: ChildNode | undefined): boolean {
  return node !== undefined && isElement(node) && attribute(node, 'id') === 'end' && node.childNodes.length === 0
}
