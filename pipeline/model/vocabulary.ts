/** The names by which documents speak of data models (MOD-1). */

export interface Vocabulary {
  /** Base URI of the site's vocabulary, without slash at the end. */
  ns: string
  /** Base URI of primitive types, without slash at the end. */
  schemaHost: string
}
