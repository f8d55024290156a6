/** Pagination of composed pages (COMP-63 to COMP-68). */

import { encodePath } from '../http/path.ts'
import { attribute, type ElementNode, HTML_NAMESPACE, isElement, type TreeDocument } from '../tree/nodes.ts'
import type { Paginator } from './composing.ts'
import { compositionError } from './failure.ts'

/** One link between pages, for `head` and for the `Link` field. */
interface PageLink {
  rel: 'first' | 'prev' | 'next' | 'last'
  query: string
  title: string | undefined
}

const POSITIVE = /^0*[1-9][0-9]*$/

/**
 * Leaves the children of the current pages and adds links to the others.
 *
 * @param path decoded request path
 * @param query raw, without `?`
 * @returns the value of the `Link` field; undefined where there is nothing to link to
 * @throws Fault 422 for an attribute that is no positive integer, or paginators that cannot be told apart (COMP-65)
 */
export function paginate(
  tree: TreeDocument,
  paginators: readonly Paginator[],
  path: string,
  query: string | undefined,
): string | undefined {
  if (paginators.length === 0) return undefined
  checkIds(paginators)
  const links = paginators.flatMap(paginator => pageLinks(paginator, paginators.length > 1, query ?? ''))
  if (links.length === 0) return undefined
  if (tree.kind === 'html') addToHead(tree, links)
  const target = encodePath(path)
  return links
    .map(({ rel, query, title }) => {
      const named = title === undefined ? '' : `; title="${fieldText(title)}"`
      return `<${target}?${query}>; rel="${rel}"${named}`
    })
    .join(', ')
}

function checkIds(paginators: readonly Paginator[]): void {
  if (paginators.some(({ length }) => !POSITIVE.test(length.trim())))
    throw compositionError('The length of a page must be a positive integer.', 422)
  if (paginators.length === 1) return
  const ids = new Set(paginators.map(({ element }) => attribute(element, 'id') || undefined))
  if (ids.size < paginators.length || ids.has(undefined))
    throw compositionError('Several paginators on one page need an id each.', 422)
}

/** Removes the children of other pages. */
function pageLinks({ element, length }: Paginator, several: boolean, query: string): PageLink[] {
  const id = attribute(element, 'id') || undefined
  const value = (what: string) => parameter(query, id, what)
  const perPage = value('length') ?? whole(length)
  const children = element.childNodes.filter(isElement)
  const last = Math.max(1, Math.ceil(children.length / perPage))
  const current = Math.min(value('page') ?? 1, last)
  const first = (current - 1) * perPage
  const shown = new Set(children.slice(first, first + perPage))
  element.childNodes = element.childNodes.filter(node => !isElement(node) || shown.has(node))
  if (last === 1) return []
  const key = several ? `paginate:${id}:page` : 'paginate:page'
  const stale = several || id === undefined ? undefined : `paginate:${id}:page`
  const link = (rel: PageLink['rel'], page: number): PageLink => ({
    rel,
    query: withParameter(query, key, String(page), stale),
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
function parameter(query: string, id: string | undefined, what: string): number | undefined {
  const own = id === undefined ? undefined : firstValue(query, `paginate:${id}:${what}`)
  const text = own ?? firstValue(query, `paginate:${what}`)
  return text !== undefined && POSITIVE.test(text) ? whole(text) : undefined
}

function firstValue(query: string, name: string): string | undefined {
  for (const pair of query.split('&')) if (nameOf(pair) === name) return decoded(pair.slice(pair.indexOf('=') + 1))
  return undefined
}

/** Exchanges a parameter in its place, or adds it; all others stay as they were sent (COMP-67). */
function withParameter(query: string, name: string, value: string, stale: string | undefined): string {
  const pairs: string[] = []
  let set = false
  for (const pair of query === '' ? [] : query.split('&')) {
    const own = nameOf(pair)
    if (own === stale && own !== undefined) continue
    if (own !== name) pairs.push(safe(pair))
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

/** A quoted string of a field: what is no visible ASCII is left out. */
function fieldText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, '\\$&')
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
