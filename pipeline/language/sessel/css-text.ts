/** Values inside of selectors: always strings of CSS, so that no value can be more than a value (SES-122). */

const NUMERIC = /^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)[A-Za-z%]*$/

export const CSS_TEXT = {
  /** A text as a string of CSS. */
  string(text: string): string {
    return `"${text.replace(/["\\]|[\0-\x1f\x7f]/g, character =>
      character === '"' || character === '\\' ? `\\${character}` : `\\${character.charCodeAt(0).toString(16)} `,
    )}"`
  },

  /** SES-123: literal CSS; a number stands for its own text, which CSS takes in quotes alone. */
  literal(text: string): string {
    return NUMERIC.test(text) ? CSS_TEXT.string(text) : text
  },
}
