/** Bytes that names of properties take in an answer: each is written with its namespace, for each resource (DAV-35, DAV-37). */

import { Fault } from '../../pipeline/fault.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import type { PropertyName } from './property-name.ts'

/** Bytes of all names of one request: a namespace of 8 KB, named once, would be told with each of 40,000 names. */
const MOST = 4 * 1024 * 1024

/** Bytes of an element beside its name and namespace. */
const FRAME = 16

/** Counts the names of one request. */
export class NamedBytes {
  bytes = 0
  /** Lengths as written, by namespace. */
  readonly #namespaces = new Map<string, number>()

  /** @throws Fault 507 */
  add({ namespace, name }: PropertyName): void {
    let length = this.#namespaces.get(namespace)
    if (length === undefined) this.#namespaces.set(namespace, (length = escapeMarkup(namespace).length))
    this.bytes += FRAME + name.length + length
    if (this.bytes > MOST) throw tooMuch()
  }
}

export function tooMuch(): Fault {
  return new Fault(507, 'AllowanceExhausted', 'The request asks for too many properties of too many members at once.')
}
