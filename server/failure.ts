/** Failures of the public surface, as the document that its site shows for them. */

import type Koa from 'koa'
import type { SiteSettings } from '../config/sites.ts'
import { faultFor } from '../edge/conclusion.ts'
import type { Client } from '../edge/request.ts'
import type { Answer } from '../pipeline/answer.ts'
import { errorAnswer } from './documents/error.ts'
import type { Log } from './log.ts'
import type { State } from './request-state.ts'

export interface FailureParts {
  log: Log
  /** Address of the mount of the site that a client has asked for. */
  mountOf: (client: Client) => string | undefined
  /** Used for failures before a site is found. */
  fallback: Pick<SiteSettings, 'ns' | 'errorNs' | 'brand'>
}

/** @param thrown what a step threw; what is no `Fault` is told to the log, and to nobody else */
export function failure(parts: FailureParts, { state, req }: Koa.ParameterizedContext<State>, thrown: unknown): Answer {
  const { method = 'GET', headers } = req
  const { path = '/', query } = state.target ?? {}
  const error = faultFor(thrown, (err, message) => parts.log.error({ err, method, path }, message))
  const { ns, errorNs, brand } = state.hosted?.settings ?? parts.fallback
  const emptyMount = state.isEmpty ? parts.mountOf(state.client) : undefined
  const answer = errorAnswer(error, {
    ns,
    errorNs,
    brand,
    method,
    path,
    canSignIn: state.hosted && state.hosted.settings.oidc !== undefined,
    accept: headers.accept,
    ...(query !== undefined && { query }),
    ...(emptyMount !== undefined && { emptyMount }),
  })
  return { ...answer, serverPage: true }
}
