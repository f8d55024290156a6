/** Templates in Liquid, as pages run them (COMP-46 to COMP-50). */

import { referringIn } from '../evaluation/readable.ts'
import { Fault } from '../fault.ts'
import type { Allowance } from '../language/allowance.ts'
import {
  compileTemplate,
  compilingTemplate,
  inDocument,
  renderTemplate,
  TemplateError,
} from '../language/liquid/liquid.ts'
import type { LiquidScope } from '../language/liquid/scope.ts'
import type { ElementValue } from '../language/values.ts'
import type { Declared } from '../tree/declared.ts'
import { inTurns } from '../tree/steps.ts'
import { type Dispatch, lookUp } from './composing.ts'
import { instanceNames, instanceProperty } from './instances.ts'
import type { TemplateRun } from './languages.ts'
import { readInstance } from './sessel.ts'
import type { MaybeLater } from './work.ts'

/** UTF-16 code units of source that are read without a pause. */
const SHORT = 64 * 1024

/** The instant of each request: `now` is the same in all of its templates (LIQ-44). */
const instants = new WeakMap<Allowance, number>()

/** What a template sees: the names at its host. */
class PageScope implements LiquidScope {
  readonly #dispatch: Dispatch
  readonly propertyNames = instanceNames
  readonly hasDirectives = true
  readonly refersIn: (path: string) => boolean

  constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch
    this.refersIn = referringIn(dispatch.composing.site)
  }

  get schemas(): Declared {
    return this.#dispatch.composing.model
  }

  get ns(): string {
    return this.#dispatch.composing.site.settings.ns
  }

  get now(): number {
    const { reads, viewer } = this.#dispatch.composing
    reads.fleeting = true
    const instant = instants.get(viewer.allowance) ?? Date.now()
    instants.set(viewer.allowance, instant)
    return instant
  }

  lookup(name: string): ReturnType<LiquidScope['lookup']> {
    return lookUp(this.#dispatch, name)
  }

  property(element: ElementValue, name: string): ReturnType<LiquidScope['property']> {
    const stored = instanceProperty(this.#dispatch.composing.model, element, name)
    return stored === undefined ? readInstance(element, name, this.#dispatch) : stored
  }
}

/** @throws Fault 500 (LIQ-64) */
export function renderLiquid({ dispatch, source, line, context }: TemplateRun): MaybeLater<string> {
  const { composing } = dispatch
  const scope = new PageScope(dispatch)
  const failed = (error: unknown): never => {
    if (!(error instanceof TemplateError)) throw error
    const placed = inDocument(error, line)
    throw new Fault(500, 'TemplateError', `Line ${placed.line} of the template's document: ${placed.message}`)
  }
  try {
    if (source.length > SHORT)
      return inTurns(compilingTemplate(source, context), source.length)
        .then(template => renderTemplate(template, scope, composing.allowance))
        .catch(failed)
    const output = renderTemplate(compileTemplate(source, context), scope, composing.allowance)
    return typeof output === 'string' ? output : output.catch(failed)
  } catch (error) {
    return failed(error)
  }
}
