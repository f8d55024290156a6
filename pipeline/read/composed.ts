/** Whole pages that were put together for their reader (COMP-10, COMP-124, COMP-125). */

import type { Answer } from '../answer.ts'
import { servedType } from '../http/media.ts'
import { bodyTag } from '../store/tags.ts'
import { writingDocument } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'
import { commonHeaders, conditional } from './elements.ts'
import type { Reading } from './read.ts'
import type { Representation } from './representation.ts'

/** 200 with the whole page, or 304; in steps. */
export function* composedAnswer(view: Representation, reading: Reading): Steps<Answer> {
  const text = yield* writingDocument(view.tree)
  const tag = bodyTag(text)
  const headers = commonHeaders(view, reading, tag)
  const reuse = reading.reuse && { reuse: reading.reuse }
  const unchanged = conditional(reading, headers, { tag })
  if (unchanged) return { ...unchanged, ...reuse }
  headers['Content-Type'] = servedType(view.file.resource.type, true)
  return { status: 200, headers, body: Buffer.from(text), ...reuse }
}
