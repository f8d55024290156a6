/**
 * Templates of a stored document and the programs in them, as composition finds them (COMP-147): what stands in outputs and
 * tags is no markup there, while the tree of the same text may have a host end, or begin elsewhere, by it.
 */

import { parsingHtml } from '../../tree/html.ts'
import { TreeError } from '../../tree/limits.ts'
import type { DocumentKind, DocumentNode, TreeDocument } from '../../tree/nodes.ts'
import { findingPrefixed, parsingPrefixed } from '../../tree/prefixed-parser.ts'
import type { Steps } from '../../tree/steps.ts'
import { isTemplateHost } from '../../tree/template-hosts.ts'
import { findingHosts, mayHaveHosts, type TemplateHost } from './hosts.ts'

/**
 * The outermost hosts of a stored text.
 *
 * @param ns base URI of the site's vocabulary
 * @param read HTML: the text as composition reads it, its templates like everything else, where that is known
 * @throws TreeError for a limit
 */
export function* findingTemplates(
  source: string,
  kind: DocumentKind,
  ns: string,
  read?: DocumentNode,
): Steps<TemplateHost[]> {
  if (!mayHaveHosts(source)) return []
  const isPrefixed = kind === 'html' && (yield* findingPrefixed(source))
  return yield* findingHosts(source, {
    kind,
    isHost: element => isTemplateHost(element, ns),
    parse: isPrefixed ? parsingPrefixed : parsingHtml,
    ...(read && { read }),
  })
}

/** Pieces of the programs in a document, and how often each stands there. */
export type Programs = ReadonlyMap<string, number>

const NONE: Programs = new Map()

/** What opens and closes outputs and tags. */
const DELIMITER = /(\{[{%]|[%}]\})/

/** The programs in the sources of a document's templates, in steps; none where composition cannot read it. */
export function* findingPrograms({ source, kind }: TreeDocument, ns: string): Steps<Programs> {
  try {
    const pieces = new Map<string, number>()
    for (const host of yield* findingTemplates(source, kind, ns))
      for (const piece of piecesOf(host.source)) pieces.set(piece, (pieces.get(piece) ?? 0) + 1)
    return pieces
  } catch (error) {
    if (error instanceof TreeError) return NONE
    throw error
  }
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
