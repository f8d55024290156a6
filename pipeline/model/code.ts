/**
 * What data models ask of the languages: a narrow door through which code in slots is run (MOD-7). Who implements it knows
 * nothing of validation, and validation knows nothing of languages.
 */

import { type CodeFailure, Fault } from '../fault.ts'
import type { Allowance } from '../language/allowance.ts'
import type { Value } from '../language/values.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import type { RawCode, RawMethod } from './declarations.ts'

export type Slot = 'default' | '@validate' | '@write' | '@read' | '@computed' | 'implementation'

/** A response that code throws to be the answer of the request (MOD-67). */
export interface ThrownResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** What became of a piece of code. */
export type CodeResult<T> = { value: T } | { failure: CodeFailure } | { response: ThrownResponse }

/** An item that code looks at. The document is the caller's own copy: it stays as it is while code runs, and after. */
export interface CodeItem {
  /** Canonical path of the document. */
  path: string
  document: TreeDocument
  element: ElementNode
  /** Type of the schema that the slot belongs to. */
  itemtype: string
}

/** The values of a property of an item. */
export interface CodeValues extends CodeItem {
  property: string
  /** In tree order, at least one. Code that changes them has copies of them (MOD-70). */
  elements: readonly ElementNode[]
  /** Whether JavaScript gets the values as an array (MOD-65). */
  asList: boolean
}

/** A default that is asked for (MOD-32). */
export interface CodeDefault extends CodeItem {
  property: string
  /** Names of the properties that the schema declares. */
  declared: readonly string[]
}

/**
 * What code gives for a property. Elements are new ones without a place in any document, or elements that were passed in,
 * which stay as they are; texts are written back where a value is read from (MOD-22).
 */
export type Given = { elements: readonly ElementNode[] } | { texts: readonly string[] }

/** What code gives for a property that an item lacks, and the item as the code has changed it, where it may (JS-18). */
export type DefaultResult = CodeResult<string | ElementNode | undefined> & { changed?: ElementNode }

/** One step of a chain. */
export interface CodeStep {
  code: RawCode
  at: CodeValues
}

/** What an expression calls code of another language with. */
export interface CodeCall {
  self: Value
  /** By name of the declared parameter. */
  parameters: ReadonlyMap<string, Value>
  /** `Context` of the program that calls, where there is one. */
  context?: Value | undefined
}

/** What a language has to do for writes, representations and groups. */
export interface CodeHost {
  /** MOD-32. Undefined: nothing is added. */
  default(code: RawCode, at: CodeDefault): Promise<DefaultResult>
  /** MOD-65, the answer as the language's own truth value. */
  validateValues(code: RawCode, at: CodeValues): Promise<CodeResult<boolean>>
  /** What keeps a validator from running at all (MOD-66); undefined where it compiles. Nothing of it is run. */
  uncompiled(code: RawCode): Promise<CodeFailure | undefined>
  /** MOD-66. */
  validateItem(code: RawCode, at: CodeItem): Promise<CodeResult<boolean>>
  /** MOD-70: one step of a chain. */
  write(code: RawCode, at: CodeValues): Promise<CodeResult<Given>>
  /** MOD-71: steps of chains that have nothing to do with each other. @returns a result for each, in their order */
  read(steps: readonly CodeStep[]): Promise<readonly CodeResult<Given>[]>
  /**
   * Code that an expression has called: a method, `@computed`, or a read resolver (JS-16). Missing where no language can.
   *
   * @throws whatever becomes an error of the expression
   */
  call?(code: RawCode, call: CodeCall): Value | Promise<Value>
  /** GRP-4, the answer as the language's own truth value; with a small budget of its own (GRP-5). */
  includes(method: RawMethod, at: CodeItem, email: string): Promise<CodeResult<boolean>>
}

/** The host that runs the code of one request: whatever it spends, all code of the request together has (SES-213). */
export type CodeHosts = (allowance: Allowance) => CodeHost

/**
 * The host of a server without languages: a write that needs code is not implemented; reads give what is stored, which is
 * what becomes of a resolver that does not compile (MOD-73).
 */
export const noCode: CodeHost = {
  default: code => missing('default', code),
  validateValues: code => missing('@validate', code),
  uncompiled: async () => undefined,
  validateItem: code => missing('@validate', code),
  write: code => missing('@write', code),
  read: async steps =>
    steps.map(({ code: { type } }) => ({
      failure: { language: type, variant: 'parse', message: 'There is no code on this server.' },
    })),
  includes: ({ implementation }) => missing('implementation', implementation),
}

async function missing(slot: Slot, { type }: RawCode): Promise<never> {
  const language = type === '' ? 'text/sessel' : type
  throw new Fault(
    501,
    'BindingFailure',
    `This write needs the code of a ${slot}, and ${language} is not available here.`,
  )
}

/** Failures that say a budget of the request is spent: they are answered with 503 (HTTP-172, MOD-133). */
export function isSpent({ variant }: CodeFailure): boolean {
  return variant === 'timeout' || variant === 'out-of-memory'
}

/** The answer when code has spent a budget of the request. */
export function budgetFault(failure: CodeFailure): Fault {
  return new Fault(503, 'BudgetExceeded', failure.message, { failure })
}

/** A response that code has thrown, as the failure that ends the write. */
export function responseFault({ status, headers, body }: ThrownResponse): Fault {
  return new Fault(status, 'BindingFailure', 'The code of a schema has answered.', { headers, document: body })
}
