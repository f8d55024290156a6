/** Safe text in parts that are printed each in its own way (LIQ-34, LIQ-35). */

import { hasNames, takesReferences } from './escape.ts'
import { SPAN_BYTES } from './output.ts'
import type { Run } from './run.ts'
import type { Safe } from './values.ts'

/** What is printed in one way. */
export interface Part {
  text: string
  trust?: Safe['trust']
  isData: boolean
}

/** The parts of a value, each asked for when the one before is printed: what is captured holds data that was escaped for the places in it. */
export function* partsOf(value: Safe, run: Run): Iterable<Part> {
  const { out } = run
  const { text, trust, data } = value
  if (out.writeCaptured(value)) {
    if (out.data) run.allowance.take(data.length * SPAN_BYTES)
    return run.counted(text)
  }
  const isCaptured = trust === 'printed' || trust === 'raw'
  // Where it was made for raw text, and is printed there, it is markup that may end it.
  const own = trust === 'raw' && out.place.position === 'raw' ? 'printed' : trust
  // Markup of its author is written as it is, unless all of it is to be one value.
  const isValue = out.place.position === 'unquoted'
  const literal = () => (own === 'printed' && !isValue && hasNames(out.place) ? 'trusted' : own)
  let last = 0
  for (const [start, end, position] of data) {
    yield { text: text.slice(last, start), trust: literal(), isData: false }
    const isSame = position === out.place.position
    const isEscaped = takesReferences(position) || position === 'comment'
    yield { text: text.slice(start, end), trust: isEscaped ? (isSame ? 'printed' : 'escaped') : 'raw', isData: true }
    last = end
  }
  yield { text: text.slice(last), trust: literal(), isData: !isCaptured && trust !== 'trusted' }
}
