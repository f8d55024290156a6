/** What composition shows of a document and would not show of an earlier state of it (COMP-147). */

import { isLive } from '../model/meanings.ts'
import type { Registry } from '../model/registry.ts'
import { parsingHtml } from '../tree/html.ts'
import { TreeError } from '../tree/limits.ts'
import { type DocumentKind, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { findingPrefixed } from '../tree/prefixed-parser.ts'
import { Prefixes, writtenName } from '../tree/prefixes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { readingMarkup } from './page.ts'

/** A directive or the source of a template, or an element that stands where it does in composed pages alone. */
export type Gained = 'directive' | 'place'

/**
 * What an edit made that composition shows and nobody has judged. Composition reads HTML in its own way, in which elements
 * with prefixes stand where a browser drops or moves them: only what it reads itself tells. Rules, schemas and shapes look
 * at the ordinary reading, so that an element which that one lacks, or has inside another, is one that they have not seen.
 *
 * @param before source text
 * @param after source text
 * @returns in steps; undefined when there is nothing new
 * @throws TreeError for a limit
 */
export function* gainedByEdit(
  model: Registry,
  kind: DocumentKind,
  before: string,
  after: string,
): Steps<Gained | undefined> {
  const left = yield* countingShown(model, kind, before)
  for (const [shown, { count, what }] of yield* countingShown(model, kind, after))
    if (count > (left.get(shown)?.count ?? 0)) return what
  return undefined
}

/** An element of composition's reading, to be looked at with all that is in it. */
interface Open {
  parent: ParentNode
  around: Prefixes
  /** Where the next element around starts that is written in the text. */
  start: number
}

/**
 * A document as composition reads it, where that shows elements that the ordinary reading has elsewhere or not at all.
 *
 * @returns in steps; undefined where both have the same elements, or composition cannot read it either
 */
export function* shownElsewhere(ns: string, text: string): Steps<TreeDocument | undefined> {
  if (!(yield* findingPrefixed(text))) return undefined
  try {
    const { tree } = yield* readingMarkup(text, 'html', ns)
    const plain = yield* collectingPlaces(text)
    const open: Pick<Open, 'parent' | 'start'>[] = [{ parent: tree.root, start: NOWHERE }]
    let seen = 0
    for (let next = open.pop(); next; next = open.pop()) {
      for (const node of next.parent.childNodes) {
        if (!isElement(node)) continue
        if (++seen % NODES_PER_STEP === 0) yield
        const start = node.sourceCodeLocation?.startOffset ?? next.start
        if (start !== next.start && !plain.has(placeIn(text, start, next.start))) return tree
        open.push({ parent: node, start })
      }
    }
  } catch (error) {
    if (!(error instanceof TreeError)) throw error
  }
  return undefined
}

/**
 * How often a document has each directive, by its start tag and what its prefixes mean there, each source of a template, in
 * which all text is program, and each element elsewhere.
 */
function* countingShown(
  model: Registry,
  kind: DocumentKind,
  text: string,
): Steps<Map<string, { count: number; what: Gained }>> {
  const { tree, hosts } = yield* readingMarkup(text, kind, model.vocabulary.ns)
  const plain = kind === 'html' && (yield* findingPrefixed(text)) ? yield* collectingPlaces(text) : undefined
  const counts = new Map<string, { count: number; what: Gained }>()
  const add = (what: Gained, shown: readonly string[]) => {
    const key = JSON.stringify([what, ...shown])
    counts.set(key, { count: (counts.get(key)?.count ?? 0) + 1, what })
  }
  for (const { source } of hosts) add('directive', [source])
  const open: Open[] = [{ parent: tree.root, around: Prefixes.none, start: NOWHERE }]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.parent.childNodes) {
      if (!isElement(node)) continue
      if (++seen % NODES_PER_STEP === 0) yield
      const around = next.around.within(node)
      const start = node.sourceCodeLocation?.startOffset ?? next.start
      const meanings = [...around.namespacesOf(node)].filter(uri => isLive(uri, model, kind))
      if (meanings.length > 0) add('directive', [startTagOf(node), ...meanings])
      if (plain && start !== next.start && !plain.has(placeIn(text, start, next.start)))
        add('place', [startTagOf(node)])
      open.push({ parent: node, around, start })
      if (node.content) open.push({ parent: node.content, around, start })
    }
  }
  return counts
}

/** Around the first element. */
const NOWHERE = -1

/** A number for an element that starts at one offset, in another. */
function placeIn({ length }: string, start: number, around: number): number {
  return start * (length + 1) + around + 1
}

/** Where the ordinary reading has its elements. */
function* collectingPlaces(text: string): Steps<Set<number>> {
  const places = new Set<number>()
  const open: Pick<Open, 'parent' | 'start'>[] = [{ parent: yield* parsingHtml(text), start: NOWHERE }]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.parent.childNodes) {
      if (!isElement(node)) continue
      if (++seen % NODES_PER_STEP === 0) yield
      const start = node.sourceCodeLocation?.startOffset ?? next.start
      places.add(placeIn(text, start, next.start))
      open.push({ parent: node, start })
      if (node.content) open.push({ parent: node.content, start })
    }
  }
  return places
}

/** The same for a tag that was written anew, with other quotes, as lists are whose entries leave tags open (HTTP-24). */
function startTagOf({ tagName, attrs }: ElementNode): string {
  return JSON.stringify([tagName, ...attrs.map(attr => [writtenName(attr), attr.value])])
}
