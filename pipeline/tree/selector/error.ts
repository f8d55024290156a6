/** The one error of the selector engine. */

/**
 * Why a selector was refused: it is not a selector (`syntax`), it is longer or deeper than the engine takes (`size`),
 * or evaluating it on this document would hold the process too long (`cost`).
 */
export type SelectorFault = 'syntax' | 'size' | 'cost'

/** A selector that cannot be used. The message is for the person who wrote the selector. */
export class SelectorError extends Error {
  readonly fault: SelectorFault

  constructor(message: string, fault: SelectorFault = 'syntax') {
    super(message)
    this.name = 'SelectorError'
    this.fault = fault
  }
}
