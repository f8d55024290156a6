/**
 * Elements that are text for browsers with scripts and markup for those without, and for what scripts parse by themselves
 * (`DOMParser`, and `live.mjs` with it): in one reading they may hold what they leave in the other.
 */

import { parserOptions } from '../tree/html.ts'
import { type ChildNode, type ElementNode, HTML_NAMESPACE, isElement, isText } from '../tree/nodes.ts'
import { SteppedParser } from '../tree/stepped-parser.ts'
import type { Steps } from '../tree/steps.ts'

/** Elements of the shell are there without their tags. */
const SHELL = new Set(['html', 'head', 'body'])

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
  const isHead = around.includes('head')
  const end = isHead ? '<meta>' : '<i></i>'
  const lead = `<!DOCTYPE html><html>${isHead ? '<head>' : '<head></head><body>'}${inner.map(name => `<${name}>`).join('')}`
  const source = `${lead}<noscript>${text}</noscript>${end}`
  const parser = new SteppedParser({ ...parserOptions(source, { mode: undefined, depth: 0 }), scriptingEnabled: false })
  yield* parser.read(source)
  // A form that its table closes keeps those that follow from being ones.
  if ((parser.formElement !== null) !== inner.includes('form')) return false
  const root = parser.document.childNodes.find(isElement)
  const place = root?.childNodes.filter(isElement).at(isHead ? 0 : -1)
  if (!root || !place || root.attrs.length > 0 || place.attrs.length > 0) return false
  return endsAt(place, inner, [lead.length, source.length - end.length])
}

/**
 * Whether the end is behind the `noscript`, in the elements that are around it and no others of their names.
 *
 * @param place the outermost one
 * @param offsets where the `noscript` and the end begin
 */
function endsAt(place: ElementNode, names: readonly string[], [start, end]: [number, number]): boolean {
  let parent = place
  for (const name of names) {
    const last: ChildNode | undefined = parent.childNodes.at(-1)
    if (!last || !isElement(last) || last.tagName !== name || startOf(last) >= start) return false
    parent = last
  }
  const [before, last] = parent.childNodes.slice(-2)
  return before !== undefined && isNoscript(before) && startOf(before) === start && startOf(last) === end
}

function startOf(node: ChildNode | undefined): number {
  return node?.sourceCodeLocation?.startOffset ?? Number.POSITIVE_INFINITY
}
