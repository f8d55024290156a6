/** Static methods of the type namespaces, and methods of Selectors and Blobs. */

import type { Value } from '../values.ts'
import { CONVERSIONS } from './conversions.ts'
import { documentFrom, elementFrom } from './elements.ts'
import { type Evaluation, type Given, Pending, typeError } from './evaluation.ts'
import type { Blob, SelectorValue, TypeName } from './kinds.ts'
import { countArguments, type Method, type Methods, textArgument } from './method.ts'
import { randomFloat, randomInteger } from './numbers.ts'
import { randomText } from './random-text.ts'
import { searchFor } from './select.ts'
import { callTemporalType } from './temporal.ts'

export const SELECTOR_METHODS: Methods = new Map<string, Method>([
  ['toString', { least: 0, most: 0, run: ({ selector }: SelectorValue) => selector }],
  [
    'execute',
    {
      least: 0,
      most: 1,
      run: ({ selector }: SelectorValue, args, on) =>
        searchFor(selector, args.length === 1 ? (args[0] ?? null) : selfOf(on), on),
    },
  ],
])

/** Without a source a selector looks at `self`. */
function selfOf(on: Evaluation): Value {
  const { self } = on.context
  if (self === undefined) throw typeError('“execute” without a source needs “self”')
  return self
}

export const BLOB_METHODS: Methods = new Map<string, Method>([
  ['metadata', { least: 0, most: 0, run: ({ metadata }: Blob) => metadata }],
  ['path', { least: 0, most: 0, run: ({ path }: Blob) => path }],
])

export function callType({ name: type }: TypeName, name: string, args: Value[], on: Evaluation): Given {
  const [first = null, second = null] = args
  const counted = (least: number, most = least) => countArguments(`${type}.${name}`, { least, most }, args)
  if (name === 'random' || type === 'Temporal.Now') on.readFleeting()
  switch (`${type}.${name}`) {
    case 'Integer.random':
      counted(2)
      return randomInteger(first, second)
    case 'Float.random':
      counted(2)
      return randomFloat(first, second)
    case 'Number.random':
      counted(2)
      return typeof first === 'bigint' && typeof second === 'bigint'
        ? randomInteger(first, second)
        : randomFloat(first, second)
    case 'String.random':
      counted(1, 2)
      return randomText(first, second, on)
    case 'Element.fromString':
      counted(1)
      return new Pending(elementFrom(textArgument('fromString', first), on))
    case 'Document.parse':
      counted(1)
      return new Pending(documentFrom(textArgument('parse', first), on))
  }
  if (type.startsWith('Temporal.')) return callTemporalType(type, name, args)
  if (CONVERSIONS.has(name) && name === 'Bool') return true
  throw typeError(`“${type}” has no method “${name}”`)
}
