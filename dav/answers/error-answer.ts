/** Failures on the mount as documents: one article, in XML also a precondition element (DAV-100, DAV-101). */

import { pageFor } from '../../edge/page.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault, type Precondition } from '../../pipeline/fault.ts'
import { namedQuality } from '../../pipeline/http/accept.ts'
import { errorArticle, statusLine } from '../../pipeline/http/error-article.ts'
import { failureItem } from '../../pipeline/http/failure-item.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { PROBLEM, prefersJson, problemDetails } from '../../pipeline/http/problem-details.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { selectFirst, selectorFor } from '../../pipeline/tree/selector/selector.ts'
import { outerMarkup } from '../../pipeline/tree/serialize.ts'
import { ALLOW } from '../methods/options.ts'

/** The vocabulary of the site, and how the request wants to be told. */
export interface ErrorContext {
  ns: string
  errorNs: string
  /** Path prefix of the mount, for `href`s. */
  prefix: string
  accept: string | undefined
  /** Collection that the request was about, decoded; a reader in a browser is led back to its listing. */
  folder?: string | undefined
}

/** Headers that a status asks for unless the failure brings its own. */
const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  405: { Allow: ALLOW },
  408: { Connection: 'close' },
  413: { Connection: 'close' },
  503: { 'Retry-After': '5' },
}

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

/**
 * Makes the whole answer to a failed request.
 *
 * @returns status, headers except those every response of the mount has, and the document
 */
export function errorAnswer(found: Fault, context: ErrorContext): Answer {
  const fault = inMountTerms(found)
  const { status, details } = fault
  const headers: Record<string, string> = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': PAGE_POLICY,
    ...HEADERS_OF_STATUS[status],
    ...details.headers,
  }
  if (prefersJson(context.accept)) {
    headers['Content-Type'] = PROBLEM
    return { status, headers, body: problemDetails(fault, context.errorNs) }
  }
  if (details.precondition) {
    headers['Content-Type'] = wantsXml(context.accept) ? 'application/xml; charset=utf-8' : 'text/html; charset=utf-8'
    return { status, headers, body: preconditionDocument(fault, details.precondition, context) }
  }
  headers['Content-Type'] = 'text/html; charset=utf-8'
  const article = errorArticle(factsOf(fault, context), { extra: failure(fault, context) + detail(details.document) })
  return { status, headers, body: pageFor(context.accept, statusLine(status), article + wayBack(fault, context)) }
}

/** Links for people in a browser, which names HTML; the folder of what is missing may be missing, too. */
function wayBack({ status }: Fault, { folder, prefix, accept }: ErrorContext): string {
  if (folder === undefined || namedQuality(accept, 'text/html') === 0) return ''
  const path = status === 404 ? '/' : folder
  const text = path === '/' ? 'Go to all files' : 'Back to the folder'
  return `\n<p class="actions"><a href="${escapeMarkup(prefix + encodePath(path))}">${text}</a></p>`
}

/** Code of a site that spends its budget has used up an allowance, which authors can do something about (HTTP-172). */
function inMountTerms(fault: Fault): Fault {
  if (fault.kind !== 'BudgetExceeded') return fault
  return new Fault(507, 'AllowanceExhausted', fault.message, fault.details)
}

function failure({ details }: Fault, { ns }: ErrorContext): string {
  return details.failure ? failureItem(ns, details.failure) : ''
}

function factsOf({ status, kind, message }: Fault, { ns, errorNs }: ErrorContext) {
  return { status, kind, message, ns, errorNs }
}

/** Whether XML is named with a higher quality than HTML gets; wildcards name nothing. */
function wantsXml(accept: string | undefined): boolean {
  const xml = Math.max(namedQuality(accept, 'application/xml'), namedQuality(accept, 'text/xml'))
  return xml > namedQuality(accept, 'text/html')
}

/**
 * The same bytes for readers of XML, of microdata and, with a way back, in a browser. The code element is never empty: HTML
 * knows no self-closing.
 */
function preconditionDocument(fault: Fault, { code, paths = [] }: Precondition, context: ErrorContext): string {
  const hrefs = paths.map(path => `<D:href>${escapeMarkup(context.prefix + encodePath(path))}</D:href>`).join('')
  const article = errorArticle(factsOf(fault, context), { xhtml: true })
  return `<D:error xmlns:D="DAV:"><D:${code}>${hrefs}</D:${code}>${article}${wayBack(fault, context)}</D:error>`
}

/** What the shared pipeline says of a refused write: the element with its item, as a part of the article (DAV-100). */
function detail(document: string | undefined): string {
  if (document === undefined) return ''
  const tree = parseDocument('html', document)
  const item = selectFirst(selectorFor('[itemscope]'), tree)
  if (!item) return ''
  const element = item.tagName === 'body' ? { ...item, tagName: 'div', nodeName: 'div' } : item
  return `<div itemprop="detail">${outerMarkup(element, 'html')}</div>`
}
