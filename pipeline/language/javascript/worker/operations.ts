/** All operations that a realm may ask the host for, by number. */

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Limits } from '../interface.ts'
import { changing } from './dom/change.ts'
import { DomError, type DomErrorName } from './dom/errors.ts'
import { INTERFACES } from './dom/interfaces.ts'
import { marking } from './dom/markup.ts'
import type { Nodes } from './dom/nodes.ts'
import { querying } from './dom/query.ts'
import { type DomOperation, reading } from './dom/read.ts'
import type { Arguments } from './engine.ts'

/** What an evaluation answers itself, beside what can be said of its nodes. */
export interface Surroundings {
  nodes: Nodes
  /** The name of the document that the program sees. */
  document(): number
  /** The name of an element that was handed in, by its number. */
  reference(number: number): number
  /** Takes an element of the result. @returns its number there */
  give(handle: number): number
  /** JSON of a member of a lazy dictionary, or null. */
  lookup(dictionary: number, name: string): string | null
  names(dictionary: number): string
  schema(type: string): string | null
  method(call: string): string
  log(level: string, text: string): void
  /** The program has looked at the clock or at chance. */
  readFleeting(): void
}

type Reply = string | number | null | undefined

const own: Record<string, (around: Surroundings, values: Arguments) => Reply> = {
  document: around => around.document(),
  reference: (around, values) => around.reference(values.number(1)),
  give: (around, values) => around.give(values.number(1)),
  lookup: (around, values) => around.lookup(values.number(1), values.text(2)),
  names: (around, values) => around.names(values.number(1)),
  schema: (around, values) => around.schema(values.text(1)),
  method: (around, values) => around.method(values.text(1)),
  log: (around, values) => {
    around.log(values.text(1), values.text(2))
    return null
  },
  clock: around => {
    around.readFleeting()
    return null
  },
  random: (around, values) => {
    around.readFleeting()
    return randomBytes(values.number(1) & 0x1ffff).toString('hex')
  },
  uuid: around => {
    around.readFleeting()
    return randomUUID()
  },
  digest: (around, values) => {
    const data = Buffer.from(values.text(2), 'hex')
    around.nodes.budget.step(data.length >> 8)
    return createHash(values.text(1).replace('-', '')).update(data).digest('hex')
  },
  decode: (_, values) => {
    try {
      return new TextDecoder('utf-8', { fatal: values.number(2) === 1 }).decode(Buffer.from(values.text(1), 'hex'))
    } catch {
      return null
    }
  },
}

const OF_NODES: Record<string, DomOperation> = { ...reading, ...querying, ...changing, ...marking }

const ERRORS: DomErrorName[] = [
  'HierarchyRequestError',
  'InvalidCharacterError',
  'NoModificationAllowedError',
  'NotFoundError',
  'NotSupportedError',
  'InvalidStateError',
  'SyntaxError',
  'NamespaceError',
  'QuotaExceededError',
]

/** The first gives the table to the realm when it starts; the second tells what went wrong last. */
const NAMES = ['setup', 'message', ...Object.keys(own), ...Object.keys(OF_NODES)]

/** What the realm has to know of this side, in JSON. */
export function setup(limits: Limits): string {
  const operations = Object.fromEntries(NAMES.map((name, number) => [name, number]))
  return JSON.stringify({ operations, interfaces: INTERFACES, errors: ERRORS, limits })
}

const TABLE = NAMES.map((name): ((around: Surroundings, values: Arguments) => Reply) => {
  const ofNodes = OF_NODES[name]
  if (ofNodes) return ({ nodes }, values) => ofNodes(nodes, values)
  return own[name] ?? (() => null)
})

/** A call from the realm that failed in a way that it may know. */
export class RealmError extends Error {}

/**
 * Answers calls of one evaluation.
 *
 * @returns the answer; for an error the negative number of its name, whose message is asked for next
 */
export function answering(around: Surroundings): (operation: number, values: Arguments) => Reply {
  const { budget } = around.nodes
  let message = ''
  return (operation, values) => {
    if (operation === 1) return message
    // Nothing is worth doing for a program that has to end; it does at its next few operations.
    if (budget.ended) return undefined
    budget.step(1)
    try {
      return TABLE[operation]?.(around, values)
    } catch (error) {
      if (!(error instanceof DomError || error instanceof RealmError)) throw error
      message = error.message
      if (error.name === 'QuotaExceededError') budget.isAtLimit = true
      return error instanceof DomError ? -1 - ERRORS.indexOf(error.name) : -1 - ERRORS.length
    }
  }
}
