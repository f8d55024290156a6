/** What of a document a visitor's program sees (SES-127). */

import { Access, RULES_PER_STEP } from '../access/decision.ts'
import { collectingNames } from '../access/needs.ts'
import type { Site } from '../site/site.ts'
import { cloning } from '../tree/clone.ts'
import { elementsIn } from '../tree/ids.ts'
import type { ChildNode, ElementNode, TreeDocument } from '../tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/** What a request says of which nothing is known. */
const NO_FACTS = { method: 'GET', path: '/', headers: () => undefined, queryString: '' }

/**
 * Where stored code and templates follow `itemref`: in documents that everybody may read, unasked by a trigger (SEC-7). Items that
 * visitors have written where they cannot read lead nowhere else, since what pages show of items is read with the right of the site.
 *
 * @returns whether a path is that of such a document; rules are looked at when it is asked first
 */
export function referringIn(site: Site): (path: string) => boolean {
  const { rules, settings } = site
  let access: Access | undefined
  const known = new Map<string, boolean>()
  return path => {
    access ??= new Access(rules, { facts: NO_FACTS }, settings)
    const refers = known.get(path) ?? (access.readable(path) && !isGuarded(site, path))
    known.set(path, refers)
    return refers
  }
}

/** Whether a trigger may refuse to have a document read (PRIV-1). */
function isGuarded(site: Site, path: string): boolean {
  return (site.declarations('reactions').candidates('GET', path)?.triggers.length ?? 0) > 0
}

/** Characters of source that an element counts for in a document of which something may be hidden. */
const ELEMENT_SOURCE = 40

/**
 * A document without the elements that a rule with a selector denies to be read or queried.
 *
 * @param spend counts the elements that are left: others would tell by what they cost that they are there (SEC-6)
 * @returns the document itself where there is no such rule
 */
export function readableTree(
  access: Access,
  path: string,
  document: TreeDocument,
  spend: (steps: number) => void,
): TreeDocument | Promise<TreeDocument> {
  const methods = ['GET', 'QUERY'].filter(method => access.mayDenyElements(method, path))
  if (methods.length === 0) return document
  const looking = function* (): Steps<TreeDocument> {
    return yield* measuring(yield* leavingOut(access, methods, path, document), spend)
  }
  return inTurns(looking(), document.source.length)
}

/** The same tree under a source of which only the length counts, and that tells of nothing but the tree. */
function* measuring(document: TreeDocument, spend: (steps: number) => void): Steps<TreeDocument> {
  let elements = 0
  let length = 0
  for (const { attrs, childNodes, content } of everyElement(document.root.childNodes)) {
    if (++elements % NODES_PER_STEP === 0) yield
    length += ELEMENT_SOURCE
    for (const { name, value } of attrs) length += name.length + value.length
    for (const nodes of [childNodes, content?.childNodes ?? []])
      for (const node of nodes) length += 'value' in node ? node.value.length : 'data' in node ? node.data.length : 0
  }
  spend(elements)
  return { ...document, source: ' '.repeat(length) }
}

/** `readableTree` in steps; exported for tests. */
export function* leavingOut(
  access: Access,
  methods: readonly string[],
  path: string,
  document: TreeDocument,
): Steps<TreeDocument> {
  const denied = yield* findingDenied(access, methods, path, document)
  if (denied.size === 0) return document
  const hidden: ChildNode[] = []
  const copy = yield* cloning(document, (node, other) => {
    if (denied.has(node)) hidden.push(other)
  })
  const gone = new Set(hidden)
  // Each of them once, however many of its children are hidden.
  const parents = new Set(hidden.flatMap(({ parentNode }) => parentNode ?? []))
  for (const parent of parents) parent.childNodes = yield* without(parent.childNodes, gone)
  return copy
}

function* findingDenied(
  access: Access,
  methods: readonly string[],
  path: string,
  document: TreeDocument,
): Steps<ReadonlySet<ChildNode>> {
  const denied = new Set<ChildNode>()
  let asked = 0
  const ask = (rules: number) => {
    asked += rules
  }
  const names = yield* collectingNames(everyElement(document.root.childNodes))
  const denying = methods.flatMap(method => access.denying(method, path, names, ask) ?? [])
  if (denying.length === 0) return denied
  for (const element of everyElement(document.root.childNodes)) {
    if (denying.some(isDenied => isDenied({ element, document }))) denied.add(element)
    if (asked < RULES_PER_STEP) continue
    asked = 0
    yield
  }
  return denied
}

/** Those in templates as well. */
function* everyElement(nodes: readonly ChildNode[]): Generator<ElementNode, void, void> {
  for (const element of elementsIn(nodes)) {
    yield element
    if (element.content) yield* everyElement(element.content.childNodes)
  }
}

function* without(nodes: readonly ChildNode[], gone: ReadonlySet<ChildNode>): Steps<ChildNode[]> {
  const left: ChildNode[] = []
  for (const [i, node] of nodes.entries()) {
    if (!gone.has(node)) left.push(node)
    if (i % NODES_PER_STEP === 0) yield
  }
  return left
}
