/** Directives of composed pages that a document has and an earlier state of it had not (COMP-147). */

import type { Registry } from '../model/registry.ts'
import { type DocumentKind, type ElementNode, isElement, type ParentNode } from '../tree/nodes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { readingMarkup } from './page.ts'
import { Prefixes, qualifiedName, writtenName } from './prefixes.ts'
import { isLive, meaningOf } from './vocabulary.ts'

/**
 * Whether an edit made directives of what was none. Composition reads HTML in its own way, in which elements with prefixes
 * stand where a browser drops or moves them: only what it reads itself tells.
 *
 * @param before source text
 * @param after source text
 * @returns in steps
 * @throws TreeError for a limit
 */
export function* gainsDirectives(
  known: { ns: string; model: Registry },
  kind: DocumentKind,
  before: string,
  after: string,
): Steps<boolean> {
  const left = yield* countingDirectives(known, kind, before)
  for (const [directive, count] of yield* countingDirectives(known, kind, after))
    if (count > (left.get(directive) ?? 0)) return true
  return false
}

/** How often a document has each directive: by its start tag, and what its prefixes mean there. */
function* countingDirectives(
  { ns, model }: { ns: string; model: Registry },
  kind: DocumentKind,
  text: string,
): Steps<Map<string, number>> {
  const { tree } = yield* readingMarkup(text, kind, ns)
  const counts = new Map<string, number>()
  const open: { parent: ParentNode; around: Prefixes }[] = [{ parent: tree.root, around: Prefixes.none }]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.parent.childNodes) {
      if (!isElement(node)) continue
      if (++seen % NODES_PER_STEP === 0) yield
      const prefixes = next.around.within(node)
      const meanings = [...namespacesOf(node, prefixes)].filter(uri => isLive(meaningOf(uri, ns, model), kind))
      if (meanings.length > 0) {
        const { startTag, startOffset = 0, endOffset = 0 } = node.sourceCodeLocation ?? {}
        const written = text.slice(startOffset, startTag?.endOffset ?? endOffset)
        const directive = JSON.stringify([written, ...meanings])
        counts.set(directive, (counts.get(directive) ?? 0) + 1)
      }
      open.push({ parent: node, around: prefixes })
      if (node.content) open.push({ parent: node.content, around: prefixes })
    }
  }
  return counts
}

/** Of the prefixed names of an element. */
function* namespacesOf(element: ElementNode, prefixes: Prefixes): Iterable<string> {
  for (const name of [element.tagName, ...element.attrs.map(writtenName)]) {
    const prefix = qualifiedName(name)?.prefix
    const uri = prefix === undefined ? undefined : prefixes.namespace(prefix)
    if (uri !== undefined) yield uri
  }
}
