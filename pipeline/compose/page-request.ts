/** `request` as bindings, methods and templates read it: reading what belongs to the requester is noted (COMP-22). */

import { FixedDictionary, LazyDictionary, type Value } from '../language/values.ts'
import { HeaderValues, jsonValue } from '../request-value.ts'
import type { Reads } from './reads.ts'
import type { RequestBody, Viewer } from './viewer.ts'

/** Members in the order in which they are enumerated. */
const MEMBERS = ['path', 'method', 'query', 'params', 'headers', 'auth', 'body'] as const

/** Members that say something about the requester. */
const PERSONAL: ReadonlySet<string> = new Set(['headers', 'auth'])

export class PageRequest extends LazyDictionary {
  readonly #viewer: Viewer
  readonly #params: ReadonlyMap<string, string>
  readonly #reads: Reads
  readonly #made = new Map<string, Value>()

  /** @param params what the path of a route has captured */
  constructor(viewer: Viewer, params: ReadonlyMap<string, string>, reads: Reads) {
    super()
    this.#viewer = viewer
    this.#params = params
    this.#reads = reads
  }

  get(key: string): Value | undefined {
    if (PERSONAL.has(key)) this.#reads.personal = true
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const value = this.#make(key)
    if (value !== undefined) this.#made.set(key, value)
    return value
  }

  keys(): Iterable<string> {
    this.#reads.personal = true
    return MEMBERS
  }

  #make(key: string): Value | undefined {
    const { path, method, query, headers, body } = this.#viewer
    switch (key) {
      case 'path':
        return path
      case 'method':
        return method
      case 'query':
        return dictionaryOf(parametersOf(query))
      case 'params':
        return new FixedDictionary(this.#params)
      case 'headers':
        return new HeaderValues(headers())
      case 'auth':
        return this.#auth()
      case 'body':
        return bodyValue(body)
    }
    return undefined
  }

  #auth(): Value {
    const { principal, roles } = this.#viewer
    const list = [...roles()]
    const claims = new FixedDictionary()
    for (const [name, claim] of Object.entries(principal?.claims ?? {})) {
      const value = jsonValue(claim)
      if (value !== null) claims.set(name, value)
    }
    return new FixedDictionary([
      ['claims', claims],
      ['username', principal?.sub ?? null],
      ['role', list],
      ['roles', list],
    ])
  }
}

/** Parameters of a query in their order; those that repeat have several values. */
export function parametersOf(query: string | undefined): Map<string, string[]> {
  const parameters = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(query ?? '')) {
    const values = parameters.get(name)
    if (values) values.push(value)
    else parameters.set(name, [value])
  }
  return parameters
}

function dictionaryOf(fields: ReadonlyMap<string, readonly string[]>): Value {
  const entries = [...fields].map(([name, values]): [string, Value] => [
    name,
    values.length === 1 ? (values[0] ?? '') : [...values],
  ])
  return new FixedDictionary(entries)
}

function bodyValue(body: RequestBody | undefined): Value {
  if (!body) return ''
  return 'fields' in body ? dictionaryOf(body.fields) : body.text
}
