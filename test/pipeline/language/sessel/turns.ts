/** Programs that are left wherever they can be. */

import type { Allowance } from '../../../../pipeline/language/allowance.ts'
import { Machine } from '../../../../pipeline/language/sessel/machine.ts'
import { compile } from '../../../../pipeline/language/sessel/sessel.ts'
import { ElementValue, type Value } from '../../../../pipeline/language/values.ts'
import type { ElementNode } from '../../../../pipeline/tree/nodes.ts'
import type { Steps } from '../../../../pipeline/tree/steps.ts'
import { unhurried } from '../../../support/unhurried.ts'
import { hostFor } from './site.ts'

/** A program about an element, left wherever it asks for a pause, until it has a value. */
export function programOn(node: ElementNode, text: string, allowance?: Allowance): Steps<Value> {
  return running(text, { ...hostFor(), self: new ElementValue(node) }, allowance)
}

/** Any program, as `programOn`. */
export function* running(text: string, host = hostFor(), allowance = unhurried()): Steps<Value> {
  const machine = new Machine(compile(text), host, allowance)
  for (;;) {
    const progress = machine.run(0)
    if (progress instanceof Promise) throw new Error('nothing to wait for')
    if (progress !== 'turn') return progress.value
    yield
  }
}
