/** What is made of the result in each place, and where a response may be thrown (JS-15 to JS-23, JS-45). */

import type { CodePlace } from './interface.ts'

export interface PlaceRules {
  /** The settled value, its truth value alone, or nothing. */
  returns: 'value' | 'truth' | 'nothing'
  mayAnswer: boolean
}

const value: PlaceRules = { returns: 'value', mayAnswer: false }

export const PLACES: Readonly<Record<CodePlace, PlaceRules>> = {
  method: value,
  call: value,
  default: value,
  validate: { returns: 'truth', mayAnswer: true },
  write: { returns: 'value', mayAnswer: true },
  read: value,
  computed: value,
  when: { returns: 'truth', mayAnswer: false },
  action: { returns: 'nothing', mayAnswer: true },
  property: value,
  expression: value,
}
