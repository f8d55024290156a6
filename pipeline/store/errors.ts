/** Why a store could not do what was asked of it; nothing was changed unless the reason is `failed`. */
export class StoreError extends Error {
  /**
   * `invalid`: a path or a combination of paths that cannot be (a mistake of the caller); `busy`: another process kept
   * the store locked; `full`: no space left; `closed`: after `close`; `failed`: anything else, the outcome may be unknown.
   */
  readonly reason: 'invalid' | 'busy' | 'full' | 'closed' | 'failed'
  constructor(reason: 'invalid' | 'busy' | 'full' | 'closed' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.reason = reason
  }
}
