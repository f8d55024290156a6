/** The templates of a document as its page has them, and the programs in them (COMP-147). */

import { parsingHtml } from '../../tree/html.ts'
import { TreeError } from '../../tree/limits.ts'
import type { DocumentNode, TreeDocument } from '../../tree/nodes.ts'
import { findingPrefixed, parsingPrefixed } from '../../tree/prefixed-parser.ts'
import type { Steps } from '../../tree/steps.ts'
import { isTemplateHost } from '../../tree/template-hosts.ts'
import { findingHosts, type TemplateHost } from './hosts.ts'

/** A text and how it is read. */
type Markup = Pick<TreeDocument, 'kind' | 'source'>

/**
 * The templates of a document, in steps: HTML may have what stands in them elsewhere (LIQ-5, LIQ-6).
 *
 * @param read its tree, prefixed elements where they are written, where that is known
 * @throws TreeError for a limit
 */
export function* findingTemplates({ kind, source }: Markup, ns: string, read?: DocumentNode): Steps<TemplateHost[]> {
  const prefixed = kind === 'html' && (yield* findingPrefixed(source))
  return yield* findingHosts(source, {
    kind,
    isHost: element => isTemplateHost(element, ns),
    parse: masked => (prefixed ? parsingPrefixed(masked) : parsingHtml(masked)),
    ...(read && { read }),
  })
}

/** Pieces of the programs in a document, and how often each stands there. */
export type Programs = ReadonlyMap<string, number>

/** What opens and closes outputs and tags. */
const DELIMITER = /(\{[{%]|[%}]\})/

/** The programs in the sources of a document's templates, in steps; none where no page can be made of it. */
export function* findingPrograms(document: Markup, ns: string): Steps<Programs> {
  const pieces = new Map<string, number>()
  try {
    for (const { source } of yield* findingTemplates(document, ns))
      for (const piece of piecesOf(source)) pieces.set(piece, (pieces.get(piece) ?? 0) + 1)
  } catch (error) {
    if (!(error instanceof TreeError)) throw error
  }
  return pieces
}

function* piecesOf(text: string): Iterable<string> {
  const parts = text.split(DELIMITER)
  for (let i = 1; i < parts.length; i += 2)
    yield parts[i]?.startsWith('{') ? `${parts[i]}${parts[i + 1]}` : `${parts[i]}`
}

/** Whether a change that nobody has written brings anything into programs: what visitors have written would run. */
export function bringsProgram(before: Programs, after: Programs): boolean {
  for (const [piece, count] of after) if (count > (before.get(piece) ?? 0)) return true
  return false
}
