/** Code of schemas that a program comes to: slots and methods (SES-42, SES-173, SES-175). */

import type { Value } from '../values.ts'
import { type Evaluation, type Given, Pending, settled } from './evaluation.ts'
import type { Code } from './host.ts'

/** Runs code of a schema. @param self undefined where it is unbound (SES-2) */
export function runSlot(
  code: Code,
  self: Value | undefined,
  parameters: ReadonlyMap<string, Value>,
  on: Evaluation,
): Given {
  const { names } = on.host
  const reach = on.host.reachOfCode ?? on.host.reach
  if (!('sessel' in code))
    return new Pending(settled(code.run({ self: self ?? null, parameters, context: names.get('Context'), reach })))
  const visible = {
    get(name: string) {
      if (parameters.has(name)) return parameters.get(name)
      return name === 'Context' || name === 'request' ? names.get(name) : undefined
    },
  }
  return on.runCode(code.sessel, { self, prior: undefined, names: visible, reach })
}
