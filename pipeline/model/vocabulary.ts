/** The names by which documents speak of data models (MOD-1). */

export interface Vocabulary {
  /** Base URI of the site's vocabulary, without slash at the end. */
  ns: string
  /** Base URI of primitive types, without slash at the end. */
  schemaHost: string
}

/** White space that separates tokens and surrounds values in HTML. */
const OUTER_SPACE = /^[\t\n\f\r ]+|[\t\n\f\r ]+$/g

/** A text without ASCII white space around it (MOD-3). */
export function trimmed(text: string): string {
  return text.replace(OUTER_SPACE, '')
}
