/** Texts as PostgreSQL takes them: it refuses U+0000, which stands in what people write nevertheless. */

/** Begins an escape; a noncharacter, which no text should have. */
const ESCAPE = '\uFFFE'

/** A text without U+0000, from which `unpack` makes the same again. Halves of characters become U+FFFD. */
export function pack(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  if (!whole.includes('\0') && !whole.includes(ESCAPE)) return whole
  return whole.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`)
}

/** The text that was packed. */
export function unpack(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE)
}
