/** Values inside of selectors: always strings of CSS, so that no value can be more than a value (SES-122). */

import { cssString } from '../../tree/selector/selector.ts'

const NUMERIC = /^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)[A-Za-z%]*$/

export const CSS_TEXT = {
  /** A text as a string of CSS. */
  string: cssString,

  /** SES-123: literal CSS; a number stands for its own text, which CSS takes in quotes alone. */
  literal(text: string): string {
    return NUMERIC.test(text) ? CSS_TEXT.string(text) : text
  },
}
