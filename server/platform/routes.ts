/** Addresses that the server itself answers under the brand's prefix: health and metrics for operators. */

import type { IncomingMessage } from 'node:http'
import Router from '@koa/router'
import { isLocal } from '../../edge/client.ts'
import type { Metrics } from '../metrics.ts'

/** What health is made of. */
export interface Health {
  /** False while starting and while shutting down. */
  ready: boolean
}

/**
 * Routes for `/-{brand}/health` and `/-{brand}/metrics`; requests that may not see them fall through.
 *
 * @param options.open which of them strangers may see
 */
export function platformRoutes(options: {
  brands: ReadonlySet<string>
  metrics: Metrics
  health: () => Health
  open: { health: boolean; metrics: boolean }
}): Router {
  const router = new Router({ strict: true, sensitive: true })
  const known = (brand: string | undefined) => brand !== undefined && options.brands.has(brand)
  const visible = (request: IncomingMessage, open: boolean) => open || isLocal(request)

  router.get('/-:brand/health', (context, next) => {
    if (!known(context.params.brand) || !visible(context.req, options.open.health)) return next()
    const { ready } = options.health()
    context.state.answer = {
      status: ready ? 200 : 503,
      headers: {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        ...(ready ? {} : { 'Retry-After': '5' }),
      },
      body: JSON.stringify({ status: ready ? 'ok' : 'unavailable' }),
    }
  })

  router.get('/-:brand/metrics', async (context, next) => {
    if (!known(context.params.brand) || !visible(context.req, options.open.metrics)) return next()
    context.state.answer = {
      status: 200,
      headers: { 'Content-Type': options.metrics.registry.contentType, 'Cache-Control': 'no-store' },
      body: await options.metrics.text(),
    }
  })
  return router
}
