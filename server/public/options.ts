/** OPTIONS: what this requester may do here, from the rules alone (HTTP-120 to HTTP-123). */

import { header } from '../../edge/request.ts'
import { allMethods, capabilityParts, selectorMethods } from '../../pipeline/access/capabilities.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { names } from '../../pipeline/http/accept.ts'
import { ACCEPT_QUERY } from '../../pipeline/http/media.ts'
import { writeMultipart } from '../../pipeline/http/multipart.ts'
import { looksLikeHtml } from '../../pipeline/http/path.ts'
import { parseRange, selectorContentRange } from '../../pipeline/http/range.ts'
import type { Operation } from '../../pipeline/operation.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import type { Exchange } from './exchange.ts'

/** Needs no permission (HTTP-120). */
export function options(exchange: Exchange): Operation {
  return { admit: async () => ({}), carryOut: async () => capabilities(exchange) }
}

async function capabilities(exchange: Exchange): Promise<Answer> {
  const { target, authority } = exchange
  const { access } = authority()
  const { path } = target
  const headers: Record<string, string> = {
    Vary: 'Authorization, Accept',
    'Cache-Control': 'no-store',
    'Accept-Query': ACCEPT_QUERY,
  }
  if (looksLikeHtml(path)) headers['Accept-Ranges'] = 'selector'
  if (names(header(exchange, 'accept'), 'multipart/mixed')) {
    const parts = capabilityParts(access, path)
    if (!parts) return { status: 204, headers: { Allow: list(allMethods(access, path)), ...headers } }
    const { contentType, body } = writeMultipart(
      parts.map(({ selector, allow }) => ({
        headers: {
          ...(selector !== undefined && {
            'Content-Range': selectorContentRange(selector),
          }),
          Allow: list(allow),
        },
      })),
    )
    return { status: 207, headers: { 'Content-Type': contentType, ...headers }, body }
  }
  const selector = selectorOf(header(exchange, 'range'))
  const allow =
    selector === undefined ? allMethods(access, path) : await inTurns(selectorMethods(access, path, selector), 0)
  return { status: 200, headers: { Allow: list(allow), ...headers }, body: '' }
}

function list(methods: string[]): string {
  return methods.join(', ')
}

/**
 * The `Range` of OPTIONS, which is never refused: what cannot be read counts as absent (HTTP-120).
 *
 * @returns the selector text as sent, or undefined without a selector range
 */
function selectorOf(field: string | undefined): string | undefined {
  try {
    const range = parseRange(field)
    return range?.unit === 'selector' ? range.selector : undefined
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
