/** The reactions of a site around a request on its public surface (REA-6). */

import type { Readable } from 'node:stream'
import { header } from '../../edge/fields.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { resolvePath } from '../../pipeline/compose/routes.ts'
import { negotiate } from '../../pipeline/http/accept.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import type { JavaScript } from '../../pipeline/language/javascript/interface.ts'
import { type Operation, perform } from '../../pipeline/operation.ts'
import { KeptBody } from '../../pipeline/react/body.ts'
import type { Call } from '../../pipeline/react/calls.ts'
import { type ReactingRequest, reactionsTo } from '../../pipeline/react/chain.ts'
import { javascriptReactions } from '../../pipeline/react/javascript.ts'
import { sesselReactions } from '../../pipeline/react/sessel.ts'
import { writingPlatform } from '../../pipeline/react/writes.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import type { StagedBlob, StagingOptions } from '../../pipeline/store/blobs.ts'
import { refuseLocked } from '../../pipeline/write/whole.ts'
import { type Exchange, requestValue } from './exchange.ts'

/** What reactions need of the process. */
export interface ReactionParts {
  stage: (body: Readable, options: StagingOptions) => Promise<StagedBlob>
  /** Without it, JavaScript is not available. */
  javascript: Pick<JavaScript, 'evaluate'> | undefined
  report: (site: string, message: string, details: object) => void
}

/**
 * Runs the operation of a request, with the reactions of its site around it if there are any.
 *
 * @param toAnswer a failure as the answer that it would be
 */
export async function performReacting(
  parts: ReactionParts,
  exchange: Exchange,
  operation: Operation,
  toAnswer: (failure: unknown) => Answer,
): Promise<Answer> {
  const { site, method, target } = exchange
  const candidates = site.declarations('reactions').candidates(method, target.path)
  if (!candidates) return perform(operation, exchange.body)
  const body = keptBody(parts, exchange)
  const calls: Call[] = []
  const request = { ...reactingRequest(parts, exchange, body, calls), candidates, toAnswer }
  try {
    // What reactions may change or refuse must not be given again without them.
    const { reuse: _, ...answer } = await perform(operation, body, reactionsTo(request))
    return answer
  } finally {
    await body.discard()
  }
}

function keptBody({ stage }: ReactionParts, exchange: Exchange): KeptBody {
  const { method, path, hosted, site, target } = exchange
  const isWhole = selectorOf(exchange) === undefined
  const isCreation = method === 'POST' && target.path.endsWith('/')
  const type = storedType(isCreation ? target.path : path, header(exchange, 'content-type'))
  const isBlob = isWhole && (method === 'PUT' || isCreation) && kindOf(type) === 'blob'
  const limits = { document: largestDocument(site.settings), body: hosted.settings.maxBody }
  return new KeptBody(exchange.body, limits, isBlob, stage)
}

function reactingRequest(
  parts: ReactionParts,
  exchange: Exchange,
  body: KeptBody,
  calls: Call[],
): Omit<ReactingRequest, 'candidates' | 'toAnswer'> {
  const { site, hosted, method, path, allowance, authority, locks } = exchange
  const { brand } = hosted.settings
  const selector = selectorOf(exchange)
  const isReplaceable = method === 'PUT' || method === 'POST'
  const common = { site, authority, allowance, count: { writes: 0 } }
  const bound = hosted.settings.locksBindPublicWrites && {
    refuseLocked: (paths: readonly string[]) => refuseLocked(locks, site.store.name, paths),
  }
  const javascript = parts.javascript
    ? [javascriptReactions({ site, allowance, path, javascript: parts.javascript })]
    : []
  const languages = {
    trigger: [
      sesselReactions({
        site,
        allowance,
        writes: writingPlatform({
          ...common,
          ...bound,
          own: isReplaceable ? { path, body, isFragment: selector !== undefined } : undefined,
        }),
      }),
      ...javascript,
    ],
    processor: [
      sesselReactions({ site, allowance, writes: writingPlatform({ ...common, ...bound, own: undefined }) }),
      ...javascript,
    ],
  }
  return {
    site,
    path,
    selector,
    request: async () => {
      const params = (await resolvePath(site, path))?.params ?? new Map<string, string>()
      return requestValue(exchange, { params, body: '', repeated: 'first' })
    },
    body,
    allowance,
    sessionCookie: `${brand}_session`,
    languages: phase => languages[phase],
    queue: call => calls.push(call),
    report: (message, details) => parts.report(site.store.name, message, { method, path, ...details }),
  }
}

/** The element that a request is about (REA-23). */
function selectorOf(exchange: Exchange): { text: string; all: boolean } | undefined {
  const range = parseRange(header(exchange, 'range'))
  if (range?.unit !== 'selector') return undefined
  const { method } = exchange
  const isRead = method === 'GET' || method === 'HEAD'
  return { text: range.selector, all: isRead && negotiate(header(exchange, 'accept'), true) !== 'html' }
}
