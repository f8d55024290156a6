/** Why an identity provider was of no use, in the few words that matter to people and operators. */

import { lazyPackage } from '../../pipeline/lazy-package.ts'

export const oidc = lazyPackage<typeof import('openid-client')>('openid-client')

export class ProviderError extends Error {
  /**
   * `unconfigured`: settings are missing; `unreachable`: no usable answer came from the provider; `declined`: the provider
   * says no; `invalid`: what came back proves nothing.
   */
  readonly reason: 'unconfigured' | 'unreachable' | 'declined' | 'invalid'

  constructor(reason: ProviderError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProviderError'
    this.reason = reason
  }
}

/** Characters of a word by which a provider says why, in the log; those of the standards are shorter. */
const LONGEST_WORD = 100

/**
 * @param error thrown while a code was exchanged
 * @param networkFailed an answer that was waited for did not come
 */
export function asProviderError(error: unknown, networkFailed: boolean): ProviderError {
  if (error instanceof ProviderError) return error
  if (networkFailed) return new ProviderError('unreachable', 'The identity provider does not answer', { cause: error })
  if (error instanceof oidc().AuthorizationResponseError)
    return new ProviderError('declined', `The identity provider says ${error.error}`, { cause: error })
  if (error instanceof oidc().ResponseBodyError)
    return new ProviderError('invalid', `The identity provider takes no code: ${error.error.slice(0, LONGEST_WORD)}`, {
      cause: error,
    })
  return new ProviderError('invalid', 'What the identity provider sent proves nothing', { cause: error })
}

/** Messages of an error and its causes; not the errors themselves, which may hold tokens. */
export function messagesOf(error: unknown): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause)
    messages.push(cause.message)
  return messages.join(': ')
}
