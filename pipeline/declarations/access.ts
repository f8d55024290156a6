/** Rules and groups as a kind of declarations (RULE-1, GRP-1). */

import { AccessRules } from '../access/access-rules.ts'
import { extractingAccess, type RawAccess, sameDeclarations, sameRights } from '../access/extract.ts'
import type { DeclarationKind } from './kind.ts'

export const access: DeclarationKind<RawAccess, AccessRules> = {
  form: 1,
  finding: 'A rule or group is not as its author may think',
  types: ({ ns }) => [`${ns}/AuthorizationRule`, `${ns}/Group`],
  withSubtypes: true,
  extracting({ document }, { ns, subtypes }) {
    const below = (name: string) => subtypes?.get(`${ns}/${name}`) ?? new Set<string>()
    return extractingAccess(document, ns, subtypes && { rule: below('AuthorizationRule'), group: below('Group') })
  },
  same: sameDeclarations,
  sameAsWritten: sameRights,
  withoutEntries: raw => ({ ...raw, groups: raw.groups.map(group => ({ ...group, members: [] })) }),
  empty: ({ ns }, selectors) => AccessRules.empty(ns, selectors),
}
