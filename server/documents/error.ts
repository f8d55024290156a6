/** Error documents of the public host, in the three forms of HTTP-170, and the headers that go with them. */

import { dressed, pageFor } from '../../edge/page.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { Fault } from '../../pipeline/fault.ts'
import { errorArticle, statusLine } from '../../pipeline/http/error-article.ts'
import { failureItem } from '../../pipeline/http/failure-item.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { PROBLEM, prefersJson, problemDetails } from '../../pipeline/http/problem-details.ts'
import { adviceFor } from './advice.ts'

/** The site and the request that failed. */
export interface ErrorContext {
  ns: string
  errorNs: string
  brand: string
  method: string
  /** Decoded. */
  path: string
  /** Raw, without `?`. */
  query?: string
  /** People can sign in to the site; unknown where no site was found. */
  canSignIn?: boolean
  /** The site has no documents at all; its mount is at this address. */
  emptyMount?: string
  /** The `Accept` field. */
  accept?: string | undefined
}

/**
 * Makes the whole answer to a failed request.
 *
 * @returns status, headers except those every response has, and the document; for HEAD the edge leaves the body out
 */
export function errorAnswer(fault: Fault, context: ErrorContext): Answer {
  const headers = errorHeaders(fault)
  if (!prefersJson(context.accept)) return { status: fault.status, headers, body: errorDocument(fault, context) }
  headers['Content-Type'] = PROBLEM
  return { status: fault.status, headers, body: problemDetails(fault, context.errorNs, ownMembers(fault, context)) }
}

/** The same words as the page has: a refusal names no kind, and everything else brings its advice. */
function ownMembers({ status, kind, details }: Fault, { canSignIn }: ErrorContext): Record<string, unknown> {
  const { refused } = details
  const advice = adviceFor(kind)
  if (!refused) return advice === undefined ? {} : { advice }
  const isAnonymous = status === 401
  return {
    detail: refusalText(isAnonymous, refused.method),
    kind: isAnonymous ? 'Unauthorized' : 'Forbidden',
    resource: refused.resource,
    ...(isAnonymous && { canSignIn: canSignIn ?? false }),
  }
}

/** HEAD tells the length of what GET gets, for failures as well (HTTP-56). */
function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** A page opened in a browser is read; whoever sends another method knows its name. */
function refusalText(anonymous: boolean, method: string): string {
  const action = `${isReading(method) ? 'read' : method} this resource`
  return anonymous
    ? `Authentication required to ${action}.`
    : `You are signed in, but you do not have permission to ${action}.`
}

/** Headers that a status asks for unless the failure brings its own (HTTP-170, HTTP-171). */
const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  // A scheme that browsers do not know, so that they do not ask for a password (DENY-5).
  401: { 'WWW-Authenticate': 'Session realm="site"' },
  408: { Connection: 'close' },
  413: { Connection: 'close' },
  503: { 'Retry-After': '5' },
}

/** @returns headers of an error document: never cached, no tag but that of a 412, nothing that tells of the target of a refusal (DENY-4) */
export function errorHeaders(fault: Fault): Record<string, string> {
  const headers: Record<string, string> = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    ...HEADERS_OF_STATUS[fault.status],
    ...fault.details.headers,
  }
  if (fault.details.isBodyRead) delete headers.Connection
  if (fault.status !== 412) delete headers.ETag
  if (fault.details.refused) {
    delete headers['Last-Modified']
    delete headers['Content-Range']
  }
  return headers
}

/** @returns a complete page; a document that validation made is returned as it is, but for its look */
export function errorDocument(fault: Fault, context: ErrorContext): string {
  const { document, failure, refused } = fault.details
  const { accept } = context
  if (document !== undefined) return dressed(accept, document)
  if (refused) return refusal(fault.status, refused.method, refused.resource, context)
  const title = statusLine(fault.status)
  if (fault.status === 413 && !fault.details.isBodyRead)
    return pageFor(accept, title, tooLarge(fault.message, context.ns))
  const { status, kind, message } = fault
  const { ns, errorNs } = context
  const facts = { status, kind, message, ns, errorNs }
  if (context.emptyMount !== undefined) {
    const heading = 'Nothing is here yet'
    return pageFor(accept, heading, errorArticle(facts, { heading }) + howToBegin(context.emptyMount))
  }
  const article = errorArticle(facts, { extra: failure && failureItem(ns, failure) })
  return pageFor(accept, title, article + advice(adviceFor(kind)) + wayOut(status, context))
}

/** DENY-2 and DENY-3: an item on `body`. It depends on nothing but requester, method and path. */
function refusal(status: number, method: string, resource: string, context: ErrorContext): string {
  const anonymous = status === 401
  const content =
    `<h1>${escapeMarkup(statusLine(status))}</h1>\n` +
    `<p itemprop="message">${escapeMarkup(refusalText(anonymous, method))}</p>\n` +
    `<dl><dt>Resource</dt><dd itemprop="resource">${escapeMarkup(resource)}</dd></dl>\n` +
    (anonymous
      ? wayIn(context)
      : `${advice('Ask the owner of this site for access, or sign out and sign in with another account.')}\n` +
        `<p class="actions"><a class="action" href="${escapeMarkup(endpointAddress('logout', context))}">Sign out</a>${startPage(context)}</p>`)
  const beginning = context.emptyMount === undefined ? '' : howToBegin(context.emptyMount)
  const item = `itemscope itemtype="${escapeMarkup(context.ns)}/1.0/Error"`
  return pageFor(context.accept, statusLine(status), content + beginning, item)
}

/** A button only where it leads somewhere. Without a provider the link remains (DENY-2), and says what it leads to. */
function wayIn(context: ErrorContext): string {
  const address = escapeMarkup(endpointAddress('login', context))
  if (context.canSignIn === false)
    return (
      '<p class="advice">This is for people who have signed in, but the site has no identity provider yet. ' +
      `Its operator names one in the settings (<code>oidc</code>): <a href="${address}">why nobody can sign in</a>.</p>\n` +
      `<p class="actions">${startPage(context)}</p>`
    )
  return (
    `${advice('Sign in with an account that may do this, then try again.')}\n` +
    `<p class="actions"><a class="action" href="${address}">Sign in</a>${startPage(context)}</p>`
  )
}

/** The address to sign in or out; what was read is read again afterwards. */
function endpointAddress(name: 'login' | 'logout', { brand, method, path, query }: ErrorContext): string {
  const address = `/-${encodeURIComponent(brand)}/oidc/${name}`
  if (!isReading(method)) return address
  const target = query === undefined ? encodePath(path) : `${encodePath(path)}?${query}`
  return `${address}?redirect-post=${encodeURIComponent(target.toWellFormed())}`
}

function tooLarge(message: string, ns: string): string {
  return (
    `<article itemscope itemtype="${escapeMarkup(ns)}/Error"><h1>${escapeMarkup(statusLine(413))}</h1>` +
    `<meta itemprop="status" content="413"><p itemprop="message">${escapeMarkup(message)}</p></article>` +
    advice('Send less at once, or ask the operator of this site to raise the limit.')
  )
}

function advice(text: string | undefined): string {
  return text === undefined ? '' : `<p class="advice">${escapeMarkup(text)}</p>`
}

/** For the operator of a site that nobody has put anything into yet. */
function howToBegin(mount: string): string {
  const address = escapeMarkup(mount)
  return (
    '<h2>This site is empty</h2>' +
    '<p>The server works. What is saved as <code>index.html</code> at the top of its mount is shown here.</p>' +
    `<p>Mount it as a drive, with a user of the settings, and save the page there:</p>` +
    `<dl><dt>Finder: Go › Connect to Server; Explorer: Map network drive</dt><dd><a href="${address}">${address}</a></dd>` +
    `<dt>GNOME Files: Connect to Server</dt><dd>${address.replace(/^http/, 'dav')}</dd>` +
    `<dt>In a terminal</dt><dd>curl -u USER -T index.html ${address}</dd></dl>` +
    advice('Or import a folder while the server is stopped: scriptorium import FOLDER')
  )
}

/** People who opened a page that is not there get a link; programs need none. */
function wayOut(status: number, context: ErrorContext): string {
  return status === 404 && startPage(context) ? `<p>${startPage(context)}</p>` : ''
}

/** Empty where the start page is what was asked for, or nobody reads the answer in a browser. */
function startPage({ method, path }: ErrorContext): string {
  return isReading(method) && path !== '/' && path !== '/index.html' ? '<a href="/">Go to the start page</a>' : ''
}
