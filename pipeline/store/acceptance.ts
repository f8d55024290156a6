/** Whether what is to be kept somewhere is taken there, as the last that was asked for has shown. */

/**
 * A place that takes writes until it refuses one, and from the next on that it takes. The connection to it may stand all
 * the while, and reads may be answered.
 */
export class Acceptance {
  /** False from a refused write on. */
  takesWrites = true
  readonly #refuses: (error: unknown) => boolean
  readonly #report: (level: 'info' | 'warn', message: string, details: Record<string, unknown>) => void
  readonly #place: string

  /**
   * @param place its name for people
   * @param refuses whether an error says that the place takes no writes, and not that it is away, or that one was wrong
   * @param report told of the first refusal in a row, and of the end of them
   */
  constructor(
    place: string,
    refuses: (error: unknown) => boolean,
    report: (level: 'info' | 'warn', message: string, details: Record<string, unknown>) => void,
  ) {
    this.#place = place
    this.#refuses = refuses
    this.#report = report
  }

  /** To be told of every write that was taken, unless it takes writes already. */
  taken(): void {
    if (this.takesWrites) return
    this.takesWrites = true
    this.#report('info', `${this.#place} takes writes again`, {})
  }

  /** To be told of every write that failed. */
  failed(error: unknown): void {
    if (!this.takesWrites || !this.#refuses(error)) return
    this.takesWrites = false
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    this.#report('warn', `${this.#place} takes no writes`, { reason: String(cause) })
  }
}
