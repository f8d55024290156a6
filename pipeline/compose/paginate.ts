/** Pagination of composed pages (COMP-63 to COMP-68). */

import { encodePath } from '../http/path.ts'
import type { Allowance } from '../language/allowance.ts'
import { trimmed } from '../tree/ascii.ts'
import { attribute, type ElementNode, HTML_NAMESPACE, isElement, type TreeDocument } from '../tree/nodes.ts'
import type { Paginator } from './composing.ts'
import { compositionError, tooMuch } from './failure.ts'
import type { Work } from './work.ts'

/** One link between pages, for `head` and for the `Link` field. */
interface PageLink {
  rel: 'first' | 'prev' | 'next' | 'last'
  query: string
  title: string | undefined
}

/** Characters of a `Link` field: clients take no longer ones, and each link holds the whole query. */
const LONGEST_FIELD = 256 * 1024

/** Links to the other pages of one paginator, as the `Link` field has them. */
export interface PaginatorLinks {
  paginator: ElementNode
  field: string
}

const POSITIVE = /^0*[1-9][0-9]*$/

/** A parameter as it was sent: its decoded name and value, and a form that is safe in fields. */
interface Parameter {
  name: string | undefined
  value: string | undefined
  written: string
}

/**
 * Leaves the children of the current pages and adds links to the others.
 *
 * @param allowance pays for the links, each of which holds the whole query
 * @param path decoded request path
 * @param query raw, without `?`
 * @param isPartly for readers who may not see all of the page: no list tells of another one, so ids are checked by
 *   `checkPaginators` once it is known what they may see, and `head` has no links (SEC-6)
 * @returns what the `Link` field says of each paginator that has something to link to
 * @throws Fault 503 for a field that no client would take, 422 for an attribute that is no positive integer, or paginators that cannot be told apart (COMP-65)
 */
export function* paginating(
  tree: TreeDocument,
  paginators: readonly Paginator[],
  allowance: Allowance,
  path: string,
  query: string | undefined,
  isPartly: boolean,
): Work<readonly PaginatorLinks[]> {
  if (paginators.length === 0) return []
  if (!isPartly) checkPaginators(paginators)
  const parameters = parametersOf(query ?? '')
  const target = encodePath(path)
  const linked: PaginatorLinks[] = []
  let length = 0
  for (const paginator of paginators) {
    if (isPartly) length = 0
    const links = pageLinks(paginator, isPartly || paginators.length > 1, parameters)
    allowance.step(links.length * (parameters.length + 1))
    const fields: string[] = []
    for (const link of links) {
      const named = link.title === undefined ? '' : `; title="${fieldText(link.title)}"`
      const field = `<${target}?${link.query}>; rel="${link.rel}"${named}`
      allowance.take(field.length * 4)
      length += field.length
      if (length > LONGEST_FIELD) throw tooManyLinks()
      fields.push(field)
    }
    if (fields.length > 0) linked.push({ paginator: paginator.element, field: fields.join(', ') })
    if (tree.kind === 'html' && !isPartly) addToHead(tree, links)
    yield
  }
  return linked
}

function tooManyLinks(): Error {
  return tooMuch('The page has more links to other pages than an answer can tell.')
}

/** @throws Fault 503 where the links of several lists do not fit into one answer */
export function checkLinks(links: readonly PaginatorLinks[]): void {
  if (links.reduce((length, { field }) => length + field.length, 0) > LONGEST_FIELD) throw tooManyLinks()
}

/** @throws Fault 422 for a length that is no positive integer, and for lists that cannot be told apart (COMP-65) */
export function checkPaginators(paginators: readonly Paginator[]): void {
  if (paginators.some(({ length }) => !POSITIVE.test(trimmed(length))))
    throw compositionError('The length of a page must be a positive integer.', 422)
  if (paginators.length <= 1) return
  const ids = new Set(paginators.map(({ element }) => attribute(element, 'id') || undefined))
  if (ids.size < paginators.length || ids.has(undefined))
    throw compositionError('Several paginators on one page need an id each.', 422)
}

/** Removes the children of other pages. */
function pageLinks(paginator: Paginator, several: boolean, parameters: readonly Parameter[]): PageLink[] {
  const { element, length } = paginator
  if (!POSITIVE.test(trimmed(length))) return []
  const id = attribute(element, 'id') || undefined
  const value = (what: string) => parameter(parameters, id, what)
  const perPage = value('length') ?? whole(length)
  const children = element.childNodes.filter(isElement)
  const last = Math.max(1, Math.ceil(children.length / perPage))
  const current = Math.min(value('page') ?? 1, last)
  const first = (current - 1) * perPage
  const shown = new Set(children.slice(first, first + perPage))
  if (last > 1) paginator.undivided = element.childNodes
  element.childNodes = element.childNodes.filter(node => !isElement(node) || shown.has(node))
  if (last === 1) return []
  const key = several && id !== undefined ? `paginate:${id}:page` : 'paginate:page'
  const stale = several || id === undefined ? undefined : `paginate:${id}:page`
  const link = (rel: PageLink['rel'], page: number): PageLink => ({
    rel,
    query: withParameter(parameters, key, String(page), stale),
    title: id,
  })
  return [
    link('first', 1),
    ...(current > 1 ? [link('prev', current - 1)] : []),
    ...(current < last ? [link('next', current + 1)] : []),
    link('last', last),
  ]
}

/** Digits as a number; larger ones than can be counted are as good as the largest. */
function whole(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
}

/** A paginator's own parameter, or the one for all that have none of their own (COMP-64). */
function parameter(parameters: readonly Parameter[], id: string | undefined, what: string): number | undefined {
  const firstValue = (name: string) => parameters.find(each => each.name === name)?.value
  const own = id === undefined ? undefined : firstValue(`paginate:${id}:${what}`)
  const text = own ?? firstValue(`paginate:${what}`)
  return text !== undefined && POSITIVE.test(text) ? whole(text) : undefined
}

function parametersOf(query: string): Parameter[] {
  return (query === '' ? [] : query.split('&')).map(pair => {
    const value = decoded(pair.slice(pair.indexOf('=') + 1))
    return { name: nameOf(pair), value, written: safe(pair) }
  })
}

/** Exchanges a parameter in its place, or adds it; all others stay as they were sent (COMP-67). */
function withParameter(
  parameters: readonly Parameter[],
  name: string,
  value: string,
  stale: string | undefined,
): string {
  const pairs: string[] = []
  let set = false
  for (const { name: own, written } of parameters) {
    if (own === stale && own !== undefined) continue
    if (own !== name) pairs.push(written)
    else if (!set) {
      pairs.push(`${parameterName(name)}=${value}`)
      set = true
    }
  }
  if (!set) pairs.push(`${parameterName(name)}=${value}`)
  return pairs.join('&')
}

/** Colons are not encoded. */
function parameterName(name: string): string {
  return encodeURIComponent(name).replaceAll('%3A', ':')
}

function nameOf(pair: string): string | undefined {
  const at = pair.indexOf('=')
  return decoded(at < 0 ? pair : pair.slice(0, at))
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** A parameter as it was sent, with whatever could end a field or its URL percent-encoded (COMP-148). */
function safe(pair: string): string {
  return pair.replace(/[^!$&'()*+,\-./0-9:;=?@A-Z_a-z~%]/g, character => encodeURIComponent(character.toWellFormed()))
}

/** A quoted string of a field: what is no visible ASCII is percent-encoded (COMP-148). */
function fieldText(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, part => encodeURIComponent(part.toWellFormed())).replace(/["\\]/g, '\\$&')
}

function addToHead({ root }: TreeDocument, links: readonly PageLink[]): void {
  const html = root.childNodes.find(isElement)
  const head = html?.childNodes.filter(isElement).find(element => element.tagName === 'head')
  for (const { rel, query, title } of head ? links : []) {
    const attrs = [
      { name: 'rel', value: rel },
      { name: 'href', value: `?${query}` },
      ...(title === undefined ? [] : [{ name: 'title', value: title }]),
    ]
    const link: ElementNode = {
      nodeName: 'link',
      tagName: 'link',
      namespaceURI: HTML_NAMESPACE,
      attrs,
      childNodes: [],
      parentNode: head ?? null,
    }
    head?.childNodes.push(link)
  }
}
