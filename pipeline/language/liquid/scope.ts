/** What a template sees of the page it stands in (LIQ-10). */

import type { Declared } from '../../tree/declared.ts'
import type { ElementValue, Value } from '../values.ts'

export interface LiquidScope {
  /**
   * Value of a name in Context at the host, nearest scope first, `request` last (LIQ-10). Asked when the template reads the
   * name, at most once a render unless it is undefined.
   *
   * @returns undefined where nothing has that name
   */
  lookup(name: string): Value | undefined | Promise<Value | undefined>

  /**
   * A property of an Instance, read through its schema (LIQ-15, MOD-15). Asked only for elements that have a `type`, at
   * most once a render for each property.
   *
   * @returns undefined or null where the Instance has none
   */
  property(element: ElementValue, name: string): Value | undefined | Promise<Value | undefined>

  /** Names of the properties of an Instance, in order; for `json`, `size` and the like. */
  propertyNames(element: ElementValue): readonly string[] | Promise<readonly string[]>

  /** Whether `itemref` leads to other elements of a stored document (SEC-7); in all of them when missing. */
  refersIn?(path: string): boolean

  /** What items have as it stands in them, wherever `itemref` leads (MOD-11); nothing when missing. */
  schemas?: Declared | undefined

  /** The site's `{ns}` setting, without slash at the end. */
  ns: string

  /** The instant of the request, in milliseconds since 1970 (LIQ-44). */
  now: number

  /** Whether names with a prefix may be directives where the output is read: no value has a `:` of its own then (COMP-145). */
  hasDirectives?: boolean

  /** The operator's ceiling for the cost of `bcrypt`; 14 when undefined (LIQ-46). */
  bcryptCeiling?: number
}
