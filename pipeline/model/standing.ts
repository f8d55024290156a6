/** The data model of a site as it stands at any moment, and selectors that ask it for types (COMP-138). */

import { additions, type Extensions } from '../tree/selector/selector.ts'
import { Registry } from './registry.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface StandingModel {
  /** Replaced by every commit that changes declarations. */
  registry: Registry
  /** What selectors of the site may use beside CSS. Compiled selectors outlive changes of the model: they ask anew. */
  readonly selectors: Extensions
}

/** That of a site without declarations. */
export function standingModel(vocabulary: Vocabulary): StandingModel {
  const selectors = additions((type, ancestor) => model.registry.hasSchemas && model.registry.isa(type, ancestor))
  const model: StandingModel = { registry: Registry.empty(vocabulary, selectors), selectors }
  return model
}
