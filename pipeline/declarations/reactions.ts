/** Triggers, processors and transitions as a kind of declarations (REA-2, REA-5). */

import { extractingReactions, type RawReactions, reactionTypes, sameReactions } from '../react/declared/extract.ts'
import { SiteReactions } from '../react/declared/reactions.ts'
import type { DeclarationKind } from './kind.ts'

export const reactions: DeclarationKind<RawReactions, SiteReactions> = {
  form: 2,
  finding: 'A reaction is not as its author may think',
  types: reactionTypes,
  withSubtypes: true,
  extracting: ({ items }, derivation) =>
    extractingReactions(
      items,
      derivation,
      (type, builtIn) => type === builtIn || derivation.subtypes?.get(builtIn)?.has(type) === true,
    ),
  same: sameReactions,
  sameAsWritten: sameReactions,
  empty: (_vocabulary, selectors) => SiteReactions.empty(selectors),
}
