/** What a refused write is answered with: violations as data, and the documents that carry them (MOD-130 to MOD-135). */

import { beginning, beginningOf, type CodeFailure, Fault } from '../fault.ts'
import { failureItem, span } from '../http/failure-item.ts'
import { escapeMarkup } from '../http/markup.ts'
import { toldFailure } from '../language/told.ts'

/** Violations listed in one answer (MOD, section 15); more are looked for by nobody. */
export const LISTED = 100

/** Characters of a value that an answer repeats. */
const SHOWN = 200

/** A property whose values do not satisfy the schema, or an item as a whole. */
export interface SchemaViolation {
  check: 'cardinality' | 'type' | 'enum' | '@validate' | '@write' | '@read' | 'group' | 'default' | 'schema'
  itemtype: string
  property?: string
  value?: string
  /** What is wrong, without the place. */
  reason: string
  /** The code that went wrong (MOD-132). */
  failure?: CodeFailure
}

/** A violation of a shape, of uniqueness or of references. */
export interface ConstraintViolation {
  constraintSelector: string
  failedConstraint: string
  message: string
  itemtype?: string
  properties?: readonly string[]
  /** Of a transition (REA-109): primary key of the item, and its states; empty where there is none. */
  key?: string
  from?: string
  to?: string
}

/** Which of MOD-130 and MOD-131 an answer is. */
export type ConstraintCase = 'shape' | 'unique' | 'reference' | 'restrict' | 'transition'

const CASES: Readonly<Record<ConstraintCase, { title: string; description: string }>> = {
  shape: { title: 'Shape Constraint Violation', description: 'Shape constraints violated' },
  unique: { title: 'Uniqueness Constraint Violation', description: 'Uniqueness constraints violated' },
  reference: { title: 'Reference Constraint Violation', description: 'Reference constraints violated' },
  transition: { title: 'Transition Constraint Violation', description: 'Transition constraints violated' },
  restrict: { title: 'Referential Constraint Violation', description: 'Referential constraints violated' },
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  409: 'Conflict',
  422: 'Unprocessable Entity',
  500: 'Internal Server Error',
}

/** A value as an answer repeats it: long ones are cut. */
export function shown(value: string): string {
  return value.length <= SHOWN ? value : `${value.slice(0, SHOWN)}…`
}

/** The text of a violation, with its place in front (MOD-132). */
export function messageOf({ itemtype, property, reason }: SchemaViolation): string {
  return property === undefined ? `[${itemtype}]: ${reason}` : `[${itemtype}].${property}: ${reason}`
}

/** A violation for whoever may not read the item: which property is wrong, and nothing of its values. */
function withoutValue({ check, itemtype, property, value, reason, failure }: SchemaViolation): SchemaViolation {
  const bare = failure && toldFailure(failure)
  const kept = failure && bare ? reason.replace(failure.message, () => bare.message) : reason
  const told = value === undefined ? kept : kept.replace(`'${shown(value)}'`, () => 'a value')
  return {
    check,
    itemtype,
    ...(property !== undefined && { property }),
    reason: check === 'cardinality' || check === 'group' ? 'there are too few or too many values' : told,
    ...(bare !== undefined && { failure: bare }),
  }
}

/** The same for a violation of uniqueness, references and transitions: those of shapes are told apart elsewhere. */
function withoutValues(which: ConstraintCase, violation: ConstraintViolation): ConstraintViolation {
  const { constraintSelector, failedConstraint, message, itemtype, properties } = violation
  if (which === 'shape' || which === 'restrict') return violation
  const name = (properties ?? []).join(', ')
  const told = {
    unique: `Uniqueness violated: another ${itemtype} has the same ${name} already`,
    reference: `Nothing has the value that ${name} of [${itemtype}] refers to`,
    transition: `Transition of ${name} of [${itemtype}] is not permitted`,
  }
  return {
    constraintSelector,
    failedConstraint,
    message: properties === undefined ? message : told[which],
    ...(itemtype !== undefined && { itemtype }),
    ...(properties !== undefined && { properties }),
  }
}

/** Of what code throws for each value, the beginning is listed. */
function withBeginning(violation: SchemaViolation): SchemaViolation {
  const { reason, failure } = violation
  return { ...violation, reason: beginning(reason), ...(failure && { failure: beginningOf(failure) }) }
}

/** @param ns base URI of the site's vocabulary */
export function schemaFault(ns: string, violations: readonly SchemaViolation[], status: 422 | 500 = 422): Fault {
  const listed = violations.slice(0, LISTED).map(withBeginning)
  const [first] = listed
  const entries = listed.map(violation => {
    const { check, itemtype, property, value, failure } = violation
    return (
      `<li itemprop="violations" itemscope itemtype="${escapeMarkup(ns)}/Violation">\n` +
      [
        span('check', check),
        span('itemtype', itemtype),
        ...(property === undefined ? [] : [span('property', property)]),
        ...(value === undefined ? [] : [span('value', shown(value))]),
        span('message', messageOf(violation)),
        ...(failure === undefined ? [] : [failureItem(ns, failure)]),
      ].join('\n') +
      '</li>'
    )
  })
  const document = page({
    ns,
    status,
    title: 'Schema Violation',
    type: 'SchemaViolation',
    description: 'Schema validation failed',
    list: `<ul>${entries.join('\n')}</ul>`,
  })
  const message = first ? messageOf(first) : 'The data do not satisfy their schema.'
  return new Fault(status, status === 500 ? 'BindingFailure' : 'SchemaViolation', message, {
    document,
    violations: listed.map(schemaData),
    discreet: { of: 'written', fault: () => schemaFault(ns, violations.map(withoutValue), status) },
  })
}

/** A violation as JSON has it: what the document shows. */
function schemaData(violation: SchemaViolation): Record<string, unknown> {
  const { check, itemtype, property, value, failure } = violation
  return {
    check,
    itemtype,
    ...(property !== undefined && { property }),
    ...(value !== undefined && { value: shown(value) }),
    message: messageOf(violation),
    ...(failure !== undefined && { failure }),
  }
}

/**
 * @param status 409 for DELETE and referential actions (MOD-98, MOD-131)
 * @param discreetly the violations for whoever may not read what was judged
 */
export function constraintFault(
  ns: string,
  which: ConstraintCase,
  violations: readonly ConstraintViolation[],
  status: 409 | 422,
  discreetly = () => violations.map(violation => withoutValues(which, violation)),
): Fault {
  const { title, description } = CASES[which]
  const type = `itemscope itemtype="${escapeMarkup(ns)}/Violation"`
  const entries = violations.slice(0, LISTED).map(violation => {
    const { constraintSelector, failedConstraint, message, itemtype, properties = [], key, from, to } = violation
    return (
      `<li${which === 'shape' ? '' : ' itemprop="violations"'} ${type}>\n` +
      [
        ...(itemtype === undefined ? [] : [span('itemtype', itemtype)]),
        ...properties.map(property => span('property', property)),
        ...(key === undefined ? [] : [span('key', key)]),
        ...(from === undefined ? [] : [span('from', from)]),
        ...(to === undefined ? [] : [span('to', to)]),
        span('constraintSelector', constraintSelector),
        span('failedConstraint', failedConstraint),
        span('message', message),
      ].join('\n') +
      '</li>'
    )
  })
  const list = `<ul${which === 'shape' ? ' itemprop="violations"' : ''}>\n${entries.join('\n')}</ul>`
  const document = page({ ns, status, title, type: 'ConstraintViolation', description, list })
  const kind = status === 409 ? 'Conflict' : 'ConstraintViolation'
  return new Fault(status, kind, violations[0]?.message ?? description, {
    document,
    violations: violations.slice(0, LISTED).map(violation => ({ ...violation })),
    discreet: {
      of: which === 'transition' ? 'stored' : 'written',
      fault: () => constraintFault(ns, which, discreetly(), status),
    },
  })
}

function page(parts: {
  ns: string
  status: number
  title: string
  type: string
  description: string
  list: string
}): string {
  const { ns, status, title, type, description, list } = parts
  const name = STATUS_NAMES[status] ?? ''
  return `<!DOCTYPE html>
<html><head><title>${status} ${name} - ${title}</title></head>
<body itemscope itemtype="${escapeMarkup(ns)}/${type}">
<h1 itemprop="name">${name}</h1>
<meta itemprop="statusCode" content="${status}">
<p itemprop="description">${description}</p>
${list}</body></html>
`
}
