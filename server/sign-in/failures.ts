/** Why somebody was not signed in, and what to do about it, in words for people (OIDC-6, OIDC-9). */

import type { SiteSettings } from '../../config/sites.ts'
import type { Fault } from '../../pipeline/fault.ts'
import { endpointPath } from './addresses.ts'
import { type FailedSignIn, failedSignIn } from './pages.ts'
import { messagesOf, ProviderError } from './provider-error.ts'

/** Failures of one site. A target is the path that the visitor wanted to go to. */
export interface SignInFailures {
  noProvider(): Fault
  /** @param external sessions are issued by another server */
  noSession(external: boolean): Fault
  /** @param retryAfter seconds */
  tooMany(target: string, retryAfter: number): Fault
  /** Of a login that is not under way. */
  unknown(target: string): Fault
  /**
   * What a provider that was of no use means.
   *
   * @param elsewhere status of a provider that cannot be reached
   * @returns another error as it is
   */
  ofProvider(error: unknown, target: string, elsewhere: 502 | 503): unknown
}

/** @param report told of failures that the operator should know */
export function signInFailures(
  { brand, ns }: Pick<SiteSettings, 'brand' | 'ns'>,
  report: (message: string, details: object) => void,
): SignInFailures {
  const fail = (failure: FailedSignIn) => failedSignIn(ns, failure)
  const loginPath = endpointPath(brand, 'login')
  const retryAddress = (target: string) =>
    target === '/' ? loginPath : `${loginPath}?redirect-post=${encodeURIComponent(target)}`
  return {
    noProvider: () =>
      fail({
        status: 404,
        kind: 'NotFound',
        message: 'No identity provider is configured for this site, so nobody can sign in here.',
        advice: 'The operator of the site names one in its settings (oidc.issuer, oidc.clientId).',
      }),
    noSession: external =>
      fail({
        status: 503,
        kind: 'Unavailable',
        message: external
          ? 'Sessions of this site are issued by another server, so people sign in there.'
          : 'Nobody can sign in at the moment: there is no session that could remember it.',
        advice: 'Try again later, or ask the operator of this site.',
      }),
    tooMany: (target, retryAfter) =>
      fail({
        status: 429,
        kind: 'TooManyRequests',
        message: 'Too many people, or a program, have begun to sign in from your network just now.',
        advice: 'Wait a few seconds and try again.',
        again: retryAddress(target),
        retryAfter,
      }),
    unknown: target =>
      fail({
        status: 400,
        kind: 'BadRequest',
        message:
          'This sign-in cannot be finished: it was finished already, took too long, or began in another browser.',
        advice: 'Begin again. Cookies have to be allowed for this site.',
        again: retryAddress(target),
      }),
    ofProvider(error, target, elsewhere) {
      if (!(error instanceof ProviderError)) return error
      const { reason } = error
      if (reason !== 'declined') report(`Sign-in failed: ${error.message}`, { reason: messagesOf(error.cause) })
      return fail({ ...meaning(reason, elsewhere), again: retryAddress(target) })
    },
  }
}

function meaning(reason: ProviderError['reason'], elsewhere: 502 | 503): FailedSignIn {
  if (reason === 'declined')
    return {
      status: 400,
      kind: 'BadRequest',
      message: 'You were not signed in: the identity provider did not confirm who you are.',
      advice: 'If you did not cancel this yourself, try again or use another account.',
    }
  if (reason === 'invalid')
    return {
      status: 400,
      kind: 'BadRequest',
      message: 'You were not signed in: the answer of the identity provider could not be verified.',
      advice: 'Try again. If it happens every time, tell the operator of this site.',
    }
  const status = reason === 'unconfigured' ? 503 : elsewhere
  return {
    status,
    kind: status === 503 ? 'Unavailable' : 'BadGateway',
    message: 'Nobody can sign in at the moment: the identity provider of this site cannot be reached.',
    advice: 'Try again in a few minutes. What is open to everybody can be read meanwhile.',
  }
}
