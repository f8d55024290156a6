/** Pages of the site's public surface that publish from the browser (DAV-5). */

import type { IncomingMessage } from 'node:http'
import type { Answer } from '../../pipeline/answer.ts'
import { corsHeaders, isPreflight } from '../../pipeline/http/cors.ts'
import { ALLOW } from '../methods/options.ts'

const POLICY = {
  credentials: false,
  expose: 'ETag, Last-Modified, Content-Range, Content-Location, Lock-Token, Accept-Ranges, Allow, Accept-Query, DAV',
  methods: ALLOW,
  headers:
    'Authorization, Content-Type, Depth, Destination, If, If-Match, If-None-Match, Overwrite, Range, Timeout, Lock-Token',
  maxAge: 600,
}

function headersFor(request: IncomingMessage, origins: readonly string[]): Record<string, string> | undefined {
  const { origin } = request.headers
  if (origin === undefined) return undefined
  return corsHeaders({ ...POLICY, origins: new Set(origins) }, factsOf(request))
}

function factsOf({ method = '', headers }: IncomingMessage) {
  const requested = headers['access-control-request-method']
  return { method, origin: headers.origin, requestedMethod: Array.isArray(requested) ? requested[0] : requested }
}

/** @returns the answer to a preflight of a page of the site; undefined for any other request */
export function preflight(request: IncomingMessage, origins: readonly string[]): Answer | undefined {
  if (!isPreflight(factsOf(request)) || !headersFor(request, origins)) return undefined
  return { status: 204, headers: { 'Cache-Control': 'no-store' } }
}

export function addCors(request: IncomingMessage, answer: Answer, origins: readonly string[]): void {
  const headers = headersFor(request, origins)
  if (!headers) return
  Object.assign(answer.headers, headers)
  const { Vary } = answer.headers
  answer.headers.Vary = Vary ? `${Vary}, Origin` : 'Origin'
}
