/** Validators of properties and of whole items (MOD-65, MOD-66). */

import { toldFailure } from '../language/told.ts'
import { budgetFault, type CodeHost, type CodeResult, isSpent, responseFault } from './code.ts'
import type { RawCode } from './declarations.ts'
import type { Instance } from './instance-check.ts'
import type { ModelItem } from './items.ts'
import type { WrittenPlace } from './place.ts'
import { isList } from './resolvers.ts'
import { propertiesAmong, type Schema, type SchemaProperty } from './schema.ts'
import { LISTED, type SchemaViolation } from './violations.ts'

/** Validators that compile, and schemas all of whose validators do: whether code compiles depends on nothing else. */
const sound = new WeakSet<RawCode | Schema>()

/** Whether judging an item needs code. */
export function hasValidators({ item, schemas }: Instance): boolean {
  return schemas.some(
    schema =>
      schema.validators.length > 0 ||
      (schema.validated.length > 0 &&
        (!sound.has(schema) ||
          propertiesAmong(schema, item.properties).some(({ validate }) => validate !== undefined))),
  )
}

/**
 * @returns violations of the validators of properties that have values
 * @throws Fault 501 or 503 when code cannot be run, or the one that code throws
 */
export async function checkValidators(
  host: CodeHost,
  path: string,
  { document }: WrittenPlace,
  { item, schemas }: Instance,
): Promise<SchemaViolation[]> {
  const violations: SchemaViolation[] = []
  for (const schema of schemas) {
    const { type: itemtype } = schema
    for (const property of propertiesAmong(schema, item.properties)) {
      const { name, validate } = property
      const elements = item.properties.get(name)
      if (!validate || !elements) continue
      const at = { path, document, element: item.element, itemtype, property: name, elements }
      const outcome = await host.validateValues(validate, { ...at, asList: isList(property, elements.length) })
      if ('value' in outcome) sound.add(validate)
      violations.push(...told(outcome, { itemtype, property: name }, [validate.source]))
    }
    violations.push(...(await checkUncompiled(host, schema, item)))
  }
  return violations
}

/** Validators that do not compile, of properties without values: an item is refused all the same (MOD-66). */
async function checkUncompiled(host: CodeHost, schema: Schema, item: ModelItem): Promise<SchemaViolation[]> {
  if (sound.has(schema)) return []
  const violations: SchemaViolation[] = []
  const isOpen = ({ validate }: SchemaProperty) => validate !== undefined && !sound.has(validate)
  for (const property of schema.validated) {
    const { name, validate } = property
    // Those of values have just run.
    if (!validate || !isOpen(property) || item.properties.has(name)) continue
    const failure = await host.uncompiled(validate)
    if (!failure) sound.add(validate)
    else violations.push(...told({ failure }, { itemtype: schema.type, property: name }, [validate.source]))
    if (violations.length === LISTED) break
  }
  if (!schema.validated.some(isOpen)) sound.add(schema)
  return violations
}

/** The same for the validators of schemas, root first. */
export async function checkItemValidators(
  host: CodeHost,
  path: string,
  { document }: WrittenPlace,
  { item, schemas }: Instance,
): Promise<SchemaViolation[]> {
  const violations: SchemaViolation[] = []
  for (const { type: itemtype, validators } of schemas) {
    for (const code of validators) {
      const outcome = await host.validateItem(code, { path, document, element: item.element, itemtype })
      violations.push(...told(outcome, { itemtype }, [code.source]))
    }
  }
  return violations
}

/** @param own texts whose content is no news to whoever is told */
function told(
  outcome: CodeResult<boolean>,
  place: Pick<SchemaViolation, 'itemtype' | 'property'>,
  own: readonly string[],
): SchemaViolation[] {
  if ('response' in outcome) throw responseFault(outcome.response)
  if ('value' in outcome)
    return outcome.value ? [] : [{ check: '@validate', ...place, reason: 'the validator does not accept it' }]
  if (isSpent(outcome.failure)) throw budgetFault(outcome.failure)
  const failure = toldFailure(outcome.failure, ...own)
  return [{ check: '@validate', ...place, reason: `the validator failed: ${failure.message}`, failure }]
}
