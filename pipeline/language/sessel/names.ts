/** What names mean that the program has not bound itself (SES-30). */

import { rootElement } from '../../tree/nodes.ts'
import { ElementValue, type Source, type Value } from '../values.ts'
import { PRIOR } from './code.ts'
import type { Evaluation } from './evaluation.ts'
import { SesselError } from './failure.ts'
import { ClassValue, TypeName } from './kinds.ts'

/** Types by the name of their namespace (SES-30). */
const TYPES: ReadonlyMap<string, TypeName> = new Map(
  'Number Integer Float String Bool Null Element List Map Document Temporal Selector Class Instance'
    .split(' ')
    .map(name => [name, new TypeName(name)]),
)

/** Functions that are no values (SES-36). */
const FUNCTIONS: ReadonlyMap<string, TypeName> = new Map([['size', new TypeName('size')]])

/**
 * @param isCalled whether a function is wanted
 * @throws SesselError for a name that means nothing here
 */
export function resolveName(name: string, on: Evaluation, isCalled: boolean): Value {
  const own = lookUp(name, on)
  const found = own === undefined && isCalled ? FUNCTIONS.get(name) : own
  if (found !== undefined) return found
  if (name === PRIOR) return null
  const isSelf = name === 'self' || name === 'document'
  throw new SesselError(
    'RuntimeError',
    isSelf ? `“${name}” is not bound here` : `unresolved variable: ${name}`,
    isSelf ? 'unbound-self' : 'unresolved',
  )
}

/** SES-123. */
export function resolves(names: readonly string[], on: Evaluation): boolean {
  return names.every(name => lookUp(name, on) !== undefined)
}

function lookUp(name: string, on: Evaluation): Value | undefined {
  const { program, self, prior, names } = on.context
  const declared = program.declarations.get(name)
  if (declared?.kind === 'schema')
    return declared.url === `${on.host.ns}/Context` ? names.get('Context') : new ClassValue(declared.url)
  switch (name) {
    case 'self':
      return self
    case 'document':
      return self === undefined ? names.get(name) : (documentOf(self) ?? names.get(name))
    case 'prior':
    case PRIOR:
      if (prior !== undefined) return prior === null ? null : (rootOf(prior) ?? null)
  }
  // A parameter that was not given is null.
  const given = names.get(name)
  return given === undefined ? TYPES.get(name) : given
}

/** SES-3. */
function documentOf(self: Value): Value | undefined {
  if (!(self instanceof ElementValue)) return undefined
  if (self.source) return rootOf(self.source)
  return self.node.parentNode === null ? self : undefined
}

/** The document element of a stored document. */
export function rootOf(source: Source): ElementValue | undefined {
  const root = rootElement(source.document)
  return root && new ElementValue(root, source)
}
