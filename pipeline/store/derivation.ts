/**
 * By which derivation rows of derived data were made. During a rolling upgrade servers of the release before write as
 * well; what they derive lacks the kinds that only this release knows. Tables notice that by themselves, so that no reader
 * has to look for it.
 */

/**
 * Rises with every kind of declarations that comes or gets another form, with the form of all other derived data, and with
 * every change of how markup is read; each time both stores get a new step in their tables, which notes as outdated what it
 * may concern. Rows of releases that did not say have 0.
 */
export const DERIVATION = 4

/** What names of `OUTDATED` begin with, in each derivation. */
export const ANY_OUTDATED = 'outdated'

/**
 * Name of the derived data that tables add to what was written by another derivation than theirs. Written as `null` it goes
 * away. Servers of the release before do not find it: what they read again would be noted again.
 */
export const OUTDATED = `${ANY_OUTDATED}/${DERIVATION}`

/**
 * Condition under which rows of tokens are of documents that the third derivation may read otherwise: those with elements of
 * SVG or MathML that hold HTML, in which `<![CDATA[` was a comment until then.
 *
 * @param holds condition that the row's value holds a text
 */
export function mayHoldCdata(holds: (text: string) => string): string {
  const any = (tokens: string) =>
    `(${tokens
      .split(' ')
      .map(token => holds(JSON.stringify(token)))
      .join(' OR ')})`
  return `(${holds('["*"]')} OR ${any('svg math')} AND ${any('title desc foreignobject annotation-xml mi mo mn ms mtext')})`
}

/**
 * Condition under which rows of profiles are of documents whose items the fourth derivation may find by more than those before:
 * those that bind a prefix, where values count also as pages show them.
 *
 * @param holds condition that the row's value holds a text
 */
export function mayShowOtherwise(holds: (text: string) => string): string {
  return holds('"namespaces":["')
}
