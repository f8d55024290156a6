/** The Request document: the request as markup, in the site graph of its own composition alone (COMP-114). */

import { type ElementNode, HTML_NAMESPACE, type TreeDocument } from '../tree/nodes.ts'
import { type Needs, typeOfAny } from '../tree/selector/needs.ts'
import { parametersOf } from './page-request.ts'
import type { Viewer } from './viewer.ts'

/** @param ns base URI of the site's vocabulary */
export function requestDocument(viewer: Viewer, ns: string): TreeDocument {
  const { path, method, query, principal } = viewer
  const html = element('html')
  const body = element('body', { itemscope: '', itemtype: `${ns}/Request` })
  add(html, element('head'), body)
  add(
    body,
    meta('path', path),
    meta('method', method),
    meta('query', query ?? ''),
    meta('body', viewer.body?.text ?? ''),
  )
  const parameters = item('query', `${ns}/Request/HTTP/Query`)
  for (const [name, values] of parametersOf(query)) for (const value of values) add(parameters, meta(name, value))
  const headers = item('headers', `${ns}/Request/HTTP/Headers`)
  for (const [name, value] of viewer.headers()) add(headers, meta(name, value))
  const auth = item('auth', `${ns}/Authorization`)
  const claims = item('claims', `${ns}/Claims`)
  for (const [name, value] of Object.entries(principal?.claims ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
        add(claims, meta(name, String(one)))
  add(auth, claims)
  if (principal) add(auth, meta('username', principal.sub), ...viewer.roles().map(role => meta('role', role)))
  add(body, parameters, headers, auth)
  const root: TreeDocument['root'] = { nodeName: '#document', mode: 'no-quirks', childNodes: [html] }
  html.parentNode = root
  return { kind: 'html', source: '', root, clean: false }
}

/** Elements and attributes of a Request document, as tokens. */
const TOKENS = new Set([
  'html',
  'head',
  'body',
  'section',
  'meta',
  '[itemscope]',
  '[itemtype]',
  '[itemprop]',
  '[content]',
])

/**
 * Whether a selector may find something in the Request document of some visitor, whatever it finds in that of this one.
 *
 * @param ns base URI of the site's vocabulary
 */
export function mayMatchRequest(
  needs: Needs,
  ns: string,
  subtypes: (type: string) => Iterable<string> = type => [type],
): boolean {
  const isOwn = (type: string) => type.startsWith(`${ns}/`)
  const mayHave = (token: string) => {
    const ancestor = typeOfAny(token)
    if (ancestor !== undefined) return [...subtypes(ancestor)].some(isOwn)
    return TOKENS.has(token) || token.startsWith(`type:${ns}/`)
  }
  return needs.some(tokens => tokens.every(mayHave))
}

function item(property: string, type: string): ElementNode {
  return element('section', { itemprop: property, itemscope: '', itemtype: type })
}

function meta(property: string, content: string): ElementNode {
  return element('meta', { itemprop: property, content })
}

function element(tagName: string, attributes: Readonly<Record<string, string>> = {}): ElementNode {
  return {
    nodeName: tagName,
    tagName,
    namespaceURI: HTML_NAMESPACE,
    attrs: Object.entries(attributes).map(([name, value]) => ({ name, value })),
    childNodes: [],
    parentNode: null,
  }
}

function add(parent: ElementNode, ...children: ElementNode[]): void {
  for (const child of children) {
    child.parentNode = parent
    parent.childNodes.push(child)
  }
}
