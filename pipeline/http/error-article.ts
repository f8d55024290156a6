/** The microdata `article` that tells clients and people of a failure (HTTP-170, DAV-100, DAV-101). */

import { escapeMarkup } from './markup.ts'
import { STATUS_CODES } from './node-http.ts'

/** The failure and the vocabulary in which it is told. */
export interface ErrorFacts {
  status: number
  /** Name of the failure. */
  kind: string
  message: string
  /** Base URI of the vocabulary. */
  ns: string
  /** Base URI of error kinds. */
  errorNs: string
}

/** Parts of the article that a surface adds. */
export interface ArticleOptions {
  /** Writes markup that is well-formed XML as well, in the XHTML namespace. */
  xhtml?: boolean
  /** Markup placed at the end, in the same syntax. */
  extra?: string
  /** Heading in place of the status line. */
  heading?: string
}

/** @returns the status line without version: `404 Not Found` */
export function statusLine(status: number): string {
  const reason = STATUS_CODES[status]
  return reason === undefined ? String(status) : `${status} ${reason}`
}

/**
 * Writes exactly one article item of type `{ns}/Error` with `status`, `kind`, the nested `type` item and `message`.
 *
 * @returns markup without white space between elements
 */
export function errorArticle(facts: ErrorFacts, { xhtml = false, extra = '', heading }: ArticleOptions = {}): string {
  const scope = xhtml ? 'itemscope=""' : 'itemscope'
  const space = xhtml ? ' xmlns="http://www.w3.org/1999/xhtml"' : ''
  const close = xhtml ? ' />' : '>'
  const kind = escapeMarkup(facts.kind)
  return (
    `<article${space} ${scope} itemtype="${escapeMarkup(facts.ns)}/Error">` +
    `<h1>${escapeMarkup(heading ?? statusLine(facts.status))}</h1>` +
    `<meta itemprop="status" content="${facts.status}"${close}` +
    `<meta itemprop="kind" content="${kind}"${close}` +
    `<div itemprop="type" ${scope} itemtype="${escapeMarkup(facts.errorNs)}/${kind}"></div>` +
    `<p itemprop="message">${escapeMarkup(facts.message)}</p>${extra}</article>`
  )
}
