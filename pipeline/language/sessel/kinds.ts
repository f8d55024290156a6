/** Values that only this language knows, or knows more of than the others (SES-60). */

import type { ElementNode } from '../../tree/nodes.ts'
import { ElementValue, NamedValue, type Source, type Value } from '../values.ts'
import type { Code } from './code.ts'
import type { Context } from './evaluation.ts'

/** The slots of one activation, and of those around it that it was made in. */
export interface Scope {
  slots: (Value | undefined)[]
  outer: Scope | undefined
}

/** A function of the program with what it has captured. */
export class Lambda extends NamedValue {
  readonly typeName = 'Lambda'
  readonly code: Code
  readonly outer: Scope | undefined
  readonly context: Context

  constructor(code: Code, outer: Scope | undefined, context: Context) {
    super()
    this.code = code
    this.outer = outer
    this.context = context
  }

  text(): string {
    return '[lambda]'
  }
}

/** SES-170: the class of a type, registered or not. */
export class ClassValue extends NamedValue {
  readonly typeName = 'Class'
  readonly type: string

  constructor(type: string) {
    super()
    this.type = type
  }

  text(): string {
    return this.type
  }
}

/** SES-129. */
export class SelectorValue extends NamedValue {
  readonly typeName = 'Selector'
  readonly selector: string

  constructor(selector: string) {
    super()
    this.selector = selector
  }

  text(): string {
    return this.selector
  }
}

/** A stored file that is no document (SES-181). */
export class Blob extends NamedValue {
  readonly typeName = 'Blob'
  readonly path: string
  readonly metadata: Value

  constructor(path: string, metadata: Value) {
    super()
    this.path = path
    this.metadata = metadata
  }

  text(): string {
    return this.path
  }
}

/** One of the names of SES-30 (4), such as `String` or `Temporal.PlainDate`. */
export class TypeName extends NamedValue {
  readonly typeName = 'Type'
  readonly name: string

  constructor(name: string) {
    super()
    this.name = name
  }

  text(): string {
    return this.name
  }
}

/** An element that was selected below a constructed one: nobody changes it through this value (SES-128). */
export class FixedElement extends ElementValue {}

/** The root of a document that the platform interface gave (SES-181). */
export class FetchedElement extends ElementValue {
  readonly metadata: Value

  constructor(node: ElementNode, source: Source, metadata: Value) {
    super(node, source)
    this.metadata = metadata
  }
}

/** Whether mutators may change the element (SES-140). */
export function isMutable(value: ElementValue): boolean {
  return value.source === undefined && !(value instanceof FixedElement)
}
