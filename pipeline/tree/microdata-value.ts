/** Values of property elements. Every reader follows the microdata table; they differ in `content` and in white space. */

import { collapsed, collapsing } from './collapse.ts'
import { localName } from './namespaces.ts'
import { attribute, type ElementNode, HTML_NAMESPACE } from './nodes.ts'
import { gatheringText, textContent } from './serialize.ts'
import type { Steps } from './steps.ts'

/**
 * Reads the text value of a property element that is no item itself.
 *
 * @param item the item that the property belongs to
 */
export type ValueReader = (element: ElementNode, item: { types: string[] }) => string

const VALUE_ATTRIBUTES = new Map([
  ['meta', 'content'],
  ...['a', 'area', 'link'].map(name => [name, 'href'] as const),
  ...['audio', 'embed', 'iframe', 'img', 'source', 'track', 'video'].map(name => [name, 'src'] as const),
  ['object', 'data'],
  ...['data', 'meter'].map(name => [name, 'value'] as const),
])

/** JSON-LD's values outside configuration items (HTTP-71): text is untrimmed, URLs stay as written. */
export const microdataValue: ValueReader = element => attributeValue(element) ?? textContent(element)

/**
 * JSON-LD's values (HTTP-71): on configuration items a `content` attribute counts on any element.
 *
 * @param ns the site's `{ns}` setting, without slash at the end
 */
export function jsonLdValue(ns: string): ValueReader {
  return (element, item) => configuredContent(element, item, ns) ?? microdataValue(element, item)
}

/**
 * Values of instances and declarations (MOD-22): as JSON-LD's, with white space of text collapsed and trimmed; code, the
 * text of `script`, is taken raw.
 *
 * @param ns the site's `{ns}` setting, without slash at the end
 */
export function modelValue(ns: string): ValueReader {
  return (element, item) => {
    const value = configuredContent(element, item, ns) ?? attributeValue(element)
    if (value !== undefined) return value
    const text = textContent(element)
    return htmlName(element) === 'script' ? text : collapsed(text).trim()
  }
}

/** `modelValue` in steps. */
export function* readingModelValue(element: ElementNode, item: { types: string[] }, ns: string): Steps<string> {
  const value = configuredContent(element, item, ns) ?? attributeValue(element)
  if (value !== undefined) return value
  const text = yield* gatheringText(element)
  return htmlName(element) === 'script' ? text : yield* collapsing(text)
}

/**
 * Values of rules and groups (RULE-3): `content` of any element, `value` of `data`, else the text, trimmed. Readers drop
 * empty ones.
 */
export const ruleValue: ValueReader = element => {
  const value =
    attribute(element, 'content') ?? (htmlName(element) === 'data' ? attribute(element, 'value') : undefined)
  return (value ?? textContent(element)).trim()
}

/**
 * Names, below the site's `{ns}`, of the items that configure a site (SEC-8): rules and groups, the data model, reactions
 * and code. Any other type is the site's own, wherever its URL begins.
 */
export const CONFIGURATION_NAMES: ReadonlySet<string> = new Set([
  ...['AuthorizationRule', 'Group'],
  ...['Schema', 'Property', 'Method', 'Parameter', 'GroupConstraint', 'ShapeConstraint'],
  ...['Trigger', 'Processor', 'HttpRequest', 'HTTPRequest', 'Pair', 'TransitionConstraint', 'TransitionHandler'],
  ...['Sessel', 'Sessel/Lambda', 'JavaScript/Module'],
])

/** Whether an item configures the site by one of the server's own types. */
export function isConfiguration(types: readonly string[], ns: string): boolean {
  return types.some(type => type.startsWith(`${ns}/`) && CONFIGURATION_NAMES.has(type.slice(ns.length + 1)))
}

function configuredContent(element: ElementNode, item: { types: string[] }, ns: string): string | undefined {
  const content = attribute(element, 'content')
  return content !== undefined && isConfiguration(item.types, ns) ? content : undefined
}

function attributeValue(element: ElementNode): string | undefined {
  const name = valueAttribute(element)
  return name === undefined ? undefined : (attribute(element, name) ?? '')
}

/** The attribute that holds an element's value; undefined where its text does. */
export function valueAttribute(element: ElementNode): string | undefined {
  const name = htmlName(element)
  if (name === 'time') return attribute(element, 'datetime') === undefined ? undefined : 'datetime'
  return VALUE_ATTRIBUTES.get(name)
}

/**
 * Name by which the table counts: XHTML under any prefix, and XML without namespace, read like HTML; SVG's `a` is none of
 * HTML's.
 */
function htmlName(element: ElementNode): string {
  if (element.namespaceURI === HTML_NAMESPACE) return localName(element.tagName)
  return element.namespaceURI === '' ? element.tagName : ''
}
