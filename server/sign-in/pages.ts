/** What people see when signing in fails (OIDC-6, OIDC-9). */

import { page } from '../../edge/page.ts'
import { Fault, type Kind } from '../../pipeline/fault.ts'
import { statusLine } from '../../pipeline/http/error-article.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'

export interface FailedSignIn {
  status: number
  kind: Kind
  /** One sentence. */
  message: string
  /** What to do next. */
  advice: string
  /** Path that tries again, or undefined where that is of no use. */
  again?: string
  /** Seconds after which it is worth trying. */
  retryAfter?: number
  cause?: unknown
}

/** The failure with its document: an item on `body`, like that of a refusal. */
export function failedSignIn(ns: string, failure: FailedSignIn): Fault {
  const { status, kind, message, advice, again, retryAfter, cause } = failure
  const title = statusLine(status)
  const retry = again === undefined ? '' : `<a class="action" href="${escapeMarkup(again)}">Try again</a>`
  const content =
    `<h1>${escapeMarkup(title)}</h1>\n<p itemprop="message">${escapeMarkup(message)}</p>\n` +
    `<p class="advice">${escapeMarkup(advice)}</p>\n` +
    `<p class="actions">${retry}<a href="/">Go to the start page</a></p>`
  const document = page(title, content, `itemscope itemtype="${escapeMarkup(ns)}/1.0/Error"`)
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  return new Fault(status, kind, message, { document, headers, cause })
}
