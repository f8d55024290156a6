/** Writes of actions: through the same operations as those of requests, with the requester's authority (REA-60 to REA-66). */

import { type Authorizing, mayPut } from '../authority.ts'
import { type Made, memoryBody, NO_BODY } from '../body.ts'
import { asFault } from '../failures.ts'
import { Fault } from '../fault.ts'
import { canonicalPath, decodeTarget, encodePath, isReserved, reserved } from '../http/path.ts'
import type { Allowance } from '../language/allowance.ts'
import { type Platform, SesselError } from '../language/sessel/sessel.ts'
import type { ElementValue } from '../language/values.ts'
import { readingItem, valueReader } from '../model/items.ts'
import { keepingNames } from '../model/kept-names.ts'
import { isLive } from '../model/meanings.ts'
import type { Operation } from '../operation.ts'
import { perform } from '../operation.ts'
import { absent, noMarkup } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import { cloningElement, cloningStored } from '../tree/clone.ts'
import { encoding, joining } from '../tree/document.ts'
import type { DocumentKind, ElementNode } from '../tree/nodes.ts'
import { changesNames } from '../tree/rewritten.ts'
import { writingFragment } from '../tree/serialize.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import { deleteDocument, putDocument } from '../write/document.ts'
import { writeElement } from '../write/element.ts'
import type { TransitionSink } from '../write/transitions.ts'
import type { KeptBody } from './body.ts'
import { pathOf, standing } from './stored-element.ts'

/** Writes of one request (REA-95). */
const MOST_WRITES = 32

/** Media type of what is stored as a document. */
const WHOLE = 'text/html; charset=utf-8'

/** Times that an element is looked for which others are changing. */
const ATTEMPTS = 5

export interface ActionWrites {
  site: Site
  /** The requester's. */
  authority: Authorizing
  allowance: Allowance
  /** The body that a write to the own path replaces (REA-62); undefined where that is an ordinary write. */
  own: { path: string; body: KeptBody; isFragment: boolean } | undefined
  /** Writes that the request has made so far. */
  count: { writes: number }
  /** Told of handlers that they fire. */
  transitions: TransitionSink | undefined
  /** False for those whose writes must leave the configuration of the site alone (SEC-10). */
  configure?: boolean
  /** Refuses names that the server keeps for itself (DAV-70). @throws Fault */
  refuse: (path: string) => void
  /** Whether writes of whole documents are bound by locks (HTTP-85). */
  refuseLocked?: (paths: readonly string[]) => Promise<void>
}

/** The write members of `{ns}/1.0` in an action. A write that is refused is an error of the program (REA-64). */
export function writingPlatform(writes: ActionWrites): Required<Pick<Platform, 'put' | 'delete'>> {
  const { site, authority, allowance, own, transitions, configure, refuseLocked } = writes
  const deleted: ElementValue[] = []
  const common = {
    conditions: undefined,
    cause: {},
    allowance: Object.assign(() => allowance, { pause: () => allowance.pause() }),
    transitions,
    configure,
    mayPut: (path: string) => mayPut(authority(), path),
    ...(refuseLocked && { refuseLocked }),
  }
  const deleteElement = async (element: ElementValue) => {
    // Elements that are alike take each other's places.
    if (deleted.some(({ node }) => node === element.node)) throw absent()
    await refuseUnknown(pathOf(element), authority)
    for (let attempt = 1; ; attempt++) {
      const place = await standing(site, element, deleted)
      try {
        await carriedOut(writeElement(site, { ...common, op: 'delete', ...place }, authority))
        deleted.push(element)
        return
      } catch (error) {
        const isOvertaken = error instanceof Fault && error.status === 412
        if (!isOvertaken || attempt === ATTEMPTS) throw error
      }
    }
  }
  return {
    async put(item, path) {
      await refusing('PUT', path, async () => {
        const to = checkedPath(path, site)
        const isOwn = own !== undefined && to === own.path
        const isFragment = isOwn && own.isFragment
        const node = await inTurns(storing(item, site), 0)
        const made: Made = kind => inTurns(writing(node, site, kind, isFragment), 0)
        if (isFragment) {
          own.body.replace(await made((await site.find(to))?.kind === 'xml' ? 'xml' : 'html'), made)
          return
        }
        const whole = await made('html')
        if (isOwn) {
          own.body.replace(whole, WHOLE)
          return
        }
        writes.refuse(to)
        countWrite(writes)
        const write = { ...common, path: to, type: WHOLE }
        await carriedOut(putDocument(site, write, authority), whole)
      })
    },
    async delete(target) {
      const path = typeof target === 'string' ? target : pathOf(target)
      await refusing('DELETE', path, async () => {
        const from = checkedPath(path, site)
        countWrite(writes)
        if (typeof target === 'string') await carriedOut(deleteDocument(site, { ...common, path: from }, authority))
        else await deleteElement(target)
      })
    },
  }
}

/** Whoever may delete nothing in a document does not learn whether its elements are still there. */
async function refuseUnknown(path: string, authority: Authorizing): Promise<void> {
  await authority.settle?.([path])
  const asked = authority()
  if (asked.reach('DELETE', path) === 'nothing') throw asked.refusal('DELETE', path)
}

async function carriedOut(operation: Operation, body?: Uint8Array): Promise<void> {
  await perform(operation, body ? memoryBody(body) : NO_BODY)
}

/** @throws SesselError for what was refused */
async function refusing(method: string, path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (thrown) {
    const error = asFault(thrown)
    if (!(error instanceof Fault) || error.kind === 'BudgetExceeded') throw thrown
    // The path may be a value of a document (COMP-148).
    const told = `runtime error: ${method} “${path}” was refused with ${error.status}: ${error.message}`
    throw new SesselError('RuntimeError', told)
  }
}

function countWrite({ count }: ActionWrites): void {
  count.writes++
  if (count.writes > MOST_WRITES) throw new SesselError('RuntimeError', `a request may write ${MOST_WRITES} times`)
}

/** @throws Fault 400 or 403 */
function checkedPath(path: string, { settings }: Site): string {
  const { path: decoded } = decodeTarget(encodePath(path), 'public', true)
  const canonical = canonicalPath(decoded)
  if (isReserved(canonical, settings.brand)) throw reserved()
  return canonical
}

/** An element as it is stored: an instance has its key as `id` (MOD-46); in steps. */
function* storing({ node, type, source }: ElementValue, site: Site): Steps<ElementNode> {
  const copy = yield* source ? cloningStored(node) : cloningElement(node)
  const key = type === undefined ? undefined : site.model.schema(type)?.key
  if (!key) return copy
  const item = yield* readingItem(node)
  const [element] = item.properties.get(key.name) ?? []
  const value = element && valueReader(site.settings.ns)(element, item)
  if (!value || /[\t\n\f\r ]/.test(value)) return copy
  copy.attrs = [...copy.attrs.filter(({ name, prefix }) => name !== 'id' || prefix), { name: 'id', value }]
  return copy
}

/** Markup of an element for a document of a kind: what visitors have written elsewhere becomes no directive (COMP-147); in steps. */
function* writing(node: ElementNode, site: Site, kind: DocumentKind, isFragment: boolean): Steps<Uint8Array> {
  const copy = yield* cloningElement(node)
  yield* keepingNames(copy, undefined, kind, site.model, isFragment)
  if (kind === 'html') {
    const isLiveName = (uri: string) => isLive(uri, site.model, kind)
    const place = { isLive: isLiveName, frame: isFragment ? undefined : frameOf(copy) }
    if (yield* changesNames(copy, place)) throw noMarkup()
  }
  return yield* writingItem(copy, isFragment, kind)
}

/** The document that an element becomes (REA-60), or its markup alone; in steps. */
export function* writingItem(node: ElementNode, isFragment: boolean, kind: DocumentKind = 'html'): Steps<Uint8Array> {
  const markup = yield* encoding(yield* writingFragment(node, kind), false)
  if (isFragment) return markup
  const [before, behind] = frameOf(node)
  return yield* joining([Buffer.from(before), markup, Buffer.from(behind)])
}

/** What a document has before and behind the element that it is made of. */
function frameOf({ tagName }: ElementNode): [before: string, behind: string] {
  if (tagName === 'html') return ['<!DOCTYPE html>\n', '\n']
  return ['<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title></title></head><body>\n', '\n</body></html>\n']
}
