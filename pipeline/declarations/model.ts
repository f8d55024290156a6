/** Schemas, enumerations and shapes as a kind of declarations (MOD-1). */

import { extractingDeclarations, modelTypes, type RawDeclarations, sameModel } from '../model/declarations.ts'
import { Registry } from '../model/registry.ts'
import type { DeclarationKind } from './kind.ts'

export const model: DeclarationKind<RawDeclarations, Registry> = {
  form: 1,
  finding: 'A declaration is left out',
  types: modelTypes,
  withSubtypes: false,
  extracting: ({ items }, vocabulary) => extractingDeclarations(items, vocabulary),
  same: sameModel,
  sameAsWritten: sameModel,
  withoutEntries: raw => ({ ...raw, enums: raw.enums.map(({ url }) => ({ url, values: [] })) }),
  empty: (vocabulary, selectors) => Registry.empty(vocabulary, selectors),
}
