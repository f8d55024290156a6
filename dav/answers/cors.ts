/** Pages of the site's public surface that publish from the browser (DAV-5). */

import type { IncomingMessage } from 'node:http'
import type { SiteSettings } from '../../config/sites.ts'
import { varyByOrigin } from '../../edge/conclusion.ts'
import type { Client } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { corsHeaders, isPreflight, ownFields } from '../../pipeline/http/cors.ts'
import { ownOrigin } from '../../pipeline/http/origin.ts'
import { ALLOW } from '../methods/options.ts'

const POLICY = {
  credentials: false,
  expose:
    'ETag, Last-Modified, Link, Content-Range, Content-Location, Lock-Token, Accept-Ranges, Allow, Accept-Query, DAV',
  methods: ALLOW,
  headers:
    'Authorization, Content-Type, Depth, Destination, If, If-Match, If-None-Match, Overwrite, Range, Timeout, Lock-Token',
  maxAge: 600,
}

function headersFor(
  request: IncomingMessage,
  publicPages: string,
  own: readonly string[] = [],
): Record<string, string> | undefined {
  const { origin } = request.headers
  if (origin === undefined) return undefined
  return corsHeaders({ ...POLICY, origins: new Set([publicPages]) }, factsOf(request), own)
}

function factsOf({ method = '', headers }: IncomingMessage) {
  const requested = headers['access-control-request-method']
  return { method, origin: headers.origin, requestedMethod: Array.isArray(requested) ? requested[0] : requested }
}

/**
 * On every response: scripts, styles and pictures are loaded without asking, and a browser that knows the author's password
 * sends it along, also for a page of a neighbour or of a visitor. In a frame, or in a window that it opens, such a page
 * would see whether there is a document, and how many frames it has.
 */
export const OWN_PAGES: Readonly<Record<string, string>> = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

/** Host and port under which visitors reach the site whose mount has these; settings may name others. */
export type PublicAuthority = (authority: string) => string

/** The origin of a site's public surface, whose pages may use the mount. */
export function publicOrigin(
  { publicUrl }: Pick<SiteSettings, 'publicUrl'>,
  { authority = '', secure }: Client,
  publicAuthority: PublicAuthority,
): string {
  return publicUrl ?? ownOrigin(secure, publicAuthority(authority))
}

/** @returns the answer to a preflight of a page of the site; undefined for any other request */
export function preflight(request: IncomingMessage, publicPages: string): Answer | undefined {
  if (!isPreflight(factsOf(request)) || !headersFor(request, publicPages)) return undefined
  return { status: 204, headers: { 'Cache-Control': 'no-store' } }
}

/** @param brandHeader brand word as names of header fields begin with it */
export function addCors(request: IncomingMessage, answer: Answer, publicPages: string, brandHeader: string): void {
  if (request.headers.origin === undefined) return
  const headers = headersFor(request, publicPages, ownFields(answer.headers, brandHeader))
  if (!headers) return
  Object.assign(answer.headers, headers)
  varyByOrigin(answer)
}
