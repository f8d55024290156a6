/** What composition asks of the languages; each is connected by a module of its own. */

import type { MarkupContext } from '../language/liquid/liquid.ts'
import type { Value } from '../language/values.ts'
import type { RawCode } from '../model/declarations.ts'
import type { Dispatch } from './composing.ts'
import type { MaybeLater } from './work.ts'

/** Arguments of a method, in the order of its declared parameters. */
export type Arguments = ReadonlyMap<string, Value>

/** A method that a directive has dispatched; what it writes to its Context goes into the names of the place. */
export interface MethodRun {
  dispatch: Dispatch
  code: RawCode
  arguments: Arguments
  /** The schema whose method it is. */
  type: string
}

/** A template at its host. */
export interface TemplateRun {
  dispatch: Dispatch
  source: string
  /** Line of the document on which the source begins, from 1. */
  line: number
  /** What the source is the content of. */
  context: MarkupContext
}

/** Every function throws a Fault, or AllowanceSpent. */
export interface Languages {
  /** COMP-39. */
  sessel(expression: string, dispatch: Dispatch): MaybeLater<Value>
  /** COMP-43. */
  javascript(expression: string, dispatch: Dispatch): MaybeLater<Value>
  /** COMP-52, COMP-56. */
  method(run: MethodRun): MaybeLater<Value>
  /** COMP-46. */
  template(run: TemplateRun): MaybeLater<string>
}
