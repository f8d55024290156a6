/** What writes to elements are about: found in the newest version, and passed through the gates (HTTP-6). */

import type { Admission, Authority, Key, Question } from '../authority.ts'
import { transientAround } from '../compose/transient.ts'
import type { Cause } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import type { DestinationRange, SelectorRange } from '../http/range.ts'
import { fragmentPart, fragmentTag } from '../http/tags.ts'
import type { Gate } from '../operation.ts'
import { lookAt } from '../read/representation.ts'
import { absent, noMatch } from '../refusals.ts'
import { type Held, notHtml } from '../site/held.ts'
import type { Site } from '../site/site.ts'
import type { Placement } from '../tree/edit/edit.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { type Selector, selectingFirst } from '../tree/selector/selector.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import type { Judging } from './commit.ts'

interface ElementWriteBase extends Judging {
  /** Canonical path of the document. */
  path: string
  conditions: Conditions | undefined
  cause: Cause
  /** A last look inside the commit; it throws a Fault. */
  check?: () => Promise<void>
}

export type ElementWrite = ElementWriteBase &
  (
    | { op: 'put'; range: SelectorRange }
    | { op: 'post'; range: SelectorRange; placement: Placement }
    | { op: 'delete'; range: SelectorRange }
    | { op: 'move'; range: SelectorRange; destination: DestinationRange }
  )

/** What a write is about, as far as it was found in one version and decided under one set of rules. */
interface Found {
  site: Site
  write: ElementWrite
  authority: Authority
  admission: Admission
  accessVersion: number
  held?: Held
  /** Undefined for a blob. */
  tree?: TreeDocument | undefined
  target?: Key | undefined
  /** Of a move. */
  anchor?: Key | undefined
  /** What the requester may know of the document by its tags (SEC-6, SEC-11). */
  known: 'everything' | 'target' | 'nothing'
}

/** The same once it has passed all gates. */
export interface Located extends Found {
  held: Held
  tree: TreeDocument
  target: Key
}

/** Selectors of a write, compiled once. */
export interface Selectors {
  target: Selector
  anchor?: Selector
}

type ElementGates = readonly Gate<Found, void | Steps<void>>[]

/** Gates of selector writes. They are passed in the step in which the elements were found: trees change in between. */
export const ELEMENT_GATES: ElementGates = [
  {
    name: 'authorization',
    pass({ write: { op, path }, admission, authority }) {
      if (admission === 'refuse') throw authority.refusal(op.toUpperCase(), path)
    },
  },
  {
    name: 'existence',
    pass({ held }) {
      if (!held) throw absent()
    },
  },
  {
    name: 'kind',
    pass({ held, tree }) {
      if (!tree) throw notHtml()
      if (held?.profile?.utf8 === false)
        throw new Fault(
          422,
          'InvalidFragment',
          'The document is not valid UTF-8; its elements cannot be written one by one.',
        )
    },
  },
  {
    name: 'target',
    pass({ site, write, target, anchor }) {
      if (!target || (write.op === 'move' && !anchor)) throw noMatch()
      refuseTransient(site, write, target, anchor)
    },
  },
  {
    name: 'preconditions',
    pass({ site, write: { conditions }, held, target, known }) {
      if (conditions && held && target) return checkingConditions(site, conditions, held, target, known)
      return undefined
    },
  },
]

export const AUTHORIZATION: ElementGates = ELEMENT_GATES.filter(({ name }) => name === 'authorization')

/** What has passed all gates is there. */
export function located(found: Found): Located {
  const { held, tree, target } = found
  if (!held || !tree || !target) throw noMatch()
  return { ...found, held, tree, target }
}

/** Whether what was found is still what stands there, under the same rules. */
export function isCurrent(site: Site, path: string, { held, tree, accessVersion }: Located): boolean {
  return site.held(path) === held && held.hasTree && held.tree === tree && site.accessVersion === accessVersion
}

/**
 * Looks for the elements in the newest version, asks whether they may be written (HTTP-6), and passes gates.
 *
 * @throws Fault of the first gate that fails
 */
export async function findElements(
  site: Site,
  write: ElementWrite,
  selectors: Selectors,
  authority: Authority,
  gates: ElementGates,
): Promise<Found> {
  const common = { site, write, authority, known: 'nothing' as const }
  const found = await lookAt(site, write.path, function* ({ held, view: seen }) {
    const { accessVersion } = site
    const tree = seen?.tree
    const view = tree && (yield* authority.viewing(write.path, tree))
    const first = function* (selector: Selector | undefined): Steps<Key | undefined> {
      if (!tree || !view || !selector) return undefined
      const element = yield* selectingFirst(selector, view.document)
      return element && { element: view.original(element), document: tree }
    }
    const target = yield* first(selectors.target)
    const anchor = yield* first(selectors.anchor)
    const admission = authority.admit(questionOf(write, tree ? 'document' : 'blob', target, anchor))
    const known =
      view?.document === tree ? 'everything' : target && view?.isReadable(target.element) ? 'target' : 'nothing'
    return yield* passing(gates, { ...common, held, tree, target, anchor, admission, accessVersion, known })
  })
  if (found) return found
  const admission = authority.admit(questionOf(write, 'nothing'))
  return atOnce(passing(gates, { ...common, admission, accessVersion: site.accessVersion }))
}

/** Passes gates one after another, in steps. */
function* passing(gates: ElementGates, found: Found): Steps<Found> {
  for (const gate of gates) {
    const steps = gate.pass(found)
    if (steps) yield* steps
  }
  return found
}

function questionOf(
  write: ElementWrite,
  stored: 'document' | 'blob' | 'nothing',
  target?: Key,
  anchor?: Key,
): Question {
  const { path, op } = write
  const exists = stored !== 'nothing'
  if (op === 'move')
    return { ask: 'move-element', path, exists, source: target, anchor, placement: write.destination.placement }
  // A blob has no place beside an element either: who may POST there learns that, as for any other placement (HTTP-22).
  const placed = op === 'post' && stored !== 'blob' ? { placement: write.placement } : {}
  return { ask: `${op}-element`, path, exists, target, ...placed }
}

/**
 * What a visitor makes of a transient element is for that visitor alone (COMP-74), so it must not be stored for all.
 *
 * @throws Fault 405 for a MOVE (COMP-76), else 501
 */
function refuseTransient(site: Site, write: ElementWrite, target: Key, anchor: Key | undefined): void {
  const { ns } = site.settings
  const isBeside = (placement: Placement | undefined) => placement !== undefined && isSibling(placement)
  const marked = ({ element }: Key, beside: boolean) => {
    const outermost = transientAround(element, ns)
    return outermost !== undefined && !(beside && outermost === element)
  }
  if (write.op === 'move') {
    if (marked(target, false) || (anchor && marked(anchor, isBeside(write.destination.placement))))
      throw new Fault(405, 'MethodNotAllowed', 'Transient elements cannot be moved.', {
        headers: { Allow: 'GET, HEAD, PUT, POST, DELETE, OPTIONS, QUERY' },
      })
  } else if (marked(target, write.op === 'post' && isBeside(write.placement)))
    throw new Fault(501, 'NotImplemented', 'Elements that each visitor has a version of cannot be written yet.')
}

/**
 * HTTP-37 and HTTP-38 for selector writes. Whoever may not read the element or the document is told nothing of them by
 * tags or dates: neither a guess is confirmed, nor does a failure name what is there (SEC-6).
 */
function* checkingConditions(
  site: Site,
  conditions: Conditions,
  held: Held,
  target: Key,
  known: Found['known'],
): Steps<void> {
  const { resource } = held
  const fragment = fragmentPart(yield* writingMarkup(target.element, target.document.kind))
  const document = site.documentPart(resource)
  const all = known === 'everything'
  const verdict = evaluateWrite(conditions, {
    exists: true,
    tags: all ? [held.tag] : [],
    documentParts: [document],
    fragmentParts: known === 'nothing' ? [] : [fragment],
    ...(all && { lastModified: resource.modified, sameSecond: resource.sameSecond }),
  })
  if (verdict !== 'proceed')
    throw preconditionFailed(known === 'nothing' ? undefined : fragmentTag(fragment, document), true)
}

export function isSibling(placement: Placement): boolean {
  return placement === 'before' || placement === 'after'
}
