/** Names of the Context: what bindings and methods have written, as seen from one element (COMP-20). */

import { OpenDictionary } from '../language/sessel/host.ts'
import type { Value } from '../language/values.ts'
import type { PageRequest } from './page-request.ts'

/** The names of an element and, behind them, those of its ancestors. */
export class Names {
  readonly #outer: Names | undefined
  #own: Map<string, Value> | undefined
  #failed: Map<string, Error> | undefined

  constructor(outer?: Names) {
    this.#outer = outer
  }

  /** @throws what the directive has thrown that was to give the value */
  get(name: string): Value | undefined {
    for (let scope: Names | undefined = this; scope; scope = scope.#outer) {
      const failure = scope.#failed?.get(name)
      if (failure) throw failure
      const value = scope.#own?.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }

  /** Visible to what is dispatched later on the same element and to its descendants. */
  set(name: string, value: Value): void {
    this.#own ??= new Map()
    this.#own.set(name, value)
  }

  /** Whoever asks for the name gets a failure from now on. */
  fail(name: string, failure: Error): void {
    this.#failed ??= new Map()
    this.#failed.set(name, failure)
  }

  /**
   * All names that are in scope, the nearest value of each.
   *
   * @param isAsked whether a name without a value is asked for; the others are left out, so that their failure is not told to
   *   whoever does not need them (SEC-6)
   * @throws what the directive has thrown that was to give a name that is asked for
   */
  all(isAsked: (name: string) => boolean = () => true): Map<string, Value> {
    const names = this.#outer?.all(name => !this.#own?.has(name) && isAsked(name)) ?? new Map<string, Value>()
    for (const [name, failure] of this.#failed ?? []) {
      if (isAsked(name)) throw failure
      names.delete(name)
    }
    for (const [name, value] of this.#own ?? []) if (!this.#failed?.has(name)) names.set(name, value)
    return names
  }
}

/** The same as the object that programs call `Context`: what they write to it is for the dispatched element (COMP-20). */
export class ContextValue extends OpenDictionary {
  readonly #names: Names
  readonly #request: PageRequest

  constructor(names: Names, request: PageRequest) {
    super()
    this.#names = names
    this.#request = request
  }

  get(key: string): Value | undefined {
    return this.#names.get(key) ?? (key === 'request' ? this.#request : undefined)
  }

  keys(): Iterable<string> {
    return ['request', ...this.#names.all().keys()]
  }

  set(key: string, value: Value): void {
    this.#names.set(key, value)
  }
}
