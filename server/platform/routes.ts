/** Addresses that the server itself answers under the brand's prefix: health and metrics for operators. */

import type { IncomingMessage } from 'node:http'
import type Router from '@koa/router'
import { isLocal } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { lazyPackage } from '../../pipeline/lazy-package.ts'
import { isUsable, type Missing, type Readiness } from '../health.ts'
import type { Metrics } from '../metrics.ts'

/** Not imported: its module for imports would load a client of 13 MB (`pipeline/http/node-http.ts`). */
const loadRouter = lazyPackage<{ default: typeof Router }>('@koa/router')

/** Addresses behind `/-{brand}/`. */
const ADDRESSES = ['health', 'health/live', 'health/ready', 'metrics'] as const
type Address = (typeof ADDRESSES)[number]
const KNOWN: ReadonlySet<string> = new Set(ADDRESSES)

export interface PlatformOptions {
  /** Of all sites. */
  brands: ReadonlySet<string>
  metrics: Metrics
  /** False while starting and while shutting down. */
  isServing: () => boolean
  readiness: Readiness
  /** Which of them strangers may see. */
  open: { health: boolean; metrics: boolean }
}

/**
 * Routes for `/-{brand}/health` and `/-{brand}/metrics`; requests that may not see them fall through. `health/live` answers
 * as long as the process does; `health/ready` says whether it can do its work, and what it waits for; `health` alone,
 * whether it takes requests at all.
 */
export function platformRoutes(options: PlatformOptions): Router {
  const { default: Routes } = loadRouter()
  const router = new Routes({ strict: true, sensitive: true })
  const known = (brand: string | undefined) => brand !== undefined && options.brands.has(brand)

  const at = (address: Address) => `/-:brand/${address}`

  const health: [address: Address, answer: () => Answer | Promise<Answer>][] = [
    ['health', () => healthAnswer(options.isServing())],
    ['health/live', () => healthAnswer(true)],
    [
      'health/ready',
      async () => {
        const missing = await options.readiness()
        return healthAnswer(isUsable(missing), missing)
      },
    ],
  ]
  for (const [address, answer] of health)
    router.get(at(address), async (context, next) => {
      if (!known(context.params.brand) || !isVisible(context.req, options.open.health)) return next()
      context.state.answer = await answer()
    })

  router.get(at('metrics'), async (context, next) => {
    if (!known(context.params.brand) || !isVisible(context.req, options.open.metrics)) return next()
    const { type, text } = await options.metrics.told()
    context.state.answer = {
      status: 200,
      headers: { 'Content-Type': type, 'Cache-Control': 'no-store' },
      body: text,
    }
  })
  return router
}

/**
 * Whether one of these addresses is read by somebody who is answered there: no document has a part in that. For others, and at
 * sites with another brand, whatever stands there is decided like anything else.
 */
export function isForOperators(
  request: IncomingMessage,
  { brands, open }: Pick<PlatformOptions, 'brands' | 'open'>,
): boolean {
  const { method, url = '' } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  const [, brand = '', address = ''] = /^\/-([^/?%]+)\/([^?]*)/.exec(url) ?? []
  if (!brands.has(brand) || !KNOWN.has(address)) return false
  return isVisible(request, address === 'metrics' ? open.metrics : open.health)
}

function isVisible(request: IncomingMessage, isOpen: boolean): boolean {
  return isOpen || isLocal(request)
}

/** @param missing without which it is not all well, even where it is `ok` */
function healthAnswer(ok: boolean, missing: readonly Missing[] = []): Answer {
  const well = missing.length === 0 ? 'ok' : 'limited'
  return {
    status: ok ? 200 : 503,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(ok ? {} : { 'Retry-After': '5' }),
    },
    body: JSON.stringify({ status: ok ? well : 'unavailable', ...(missing.length > 0 && { missing }) }),
  }
}
