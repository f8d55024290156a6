/**
 * By which derivation rows of derived data were made. During a rolling upgrade servers of the release before write as
 * well; what they derive lacks the kinds that only this release knows. Tables notice that by themselves, so that no reader
 * has to look for it.
 */

/**
 * Rises with every kind of declarations that comes or gets another form, and with the form of all other derived data; each
 * time both stores get a new step in their tables. Rows of releases that did not say have 0.
 */
export const DERIVATION = 2

/**
 * Name of the derived data that tables add to what was written by another derivation than theirs. Written as `null` it goes
 * away.
 */
export const OUTDATED = 'outdated'
