/** Writes to elements of documents: PUT, POST, DELETE by selector and MOVE between places (HTTP-80 to HTTP-109). */

import type { Key } from '../access/matching.ts'
import type { Answer } from '../answer.ts'
import type { Authorizing } from '../authority.ts'
import { type BodySource, memoryBody } from '../body.ts'
import { Fault } from '../fault.ts'
import type { AddressedElements, Guard, Operation } from '../operation.ts'
import { bodyText } from '../read/body-text.ts'
import type { Representation } from '../read/representation.ts'
import { noMatch, toSelector } from '../refusals.ts'
import { largestDocument, type Site } from '../site/site.ts'
import { ChangedDocument } from '../tree/edit/edit.ts'
import { type DocumentKind, parentElement } from '../tree/nodes.ts'
import { inTurns } from '../tree/steps.ts'
import { commitLoop, modelState, oneAllowance } from './commit.ts'
import { type Head, inLine } from './edit-line.ts'
import { commitEdit, toEdit } from './element-commit.ts'
import {
  AUTHORIZATION,
  ELEMENT_GATES,
  type ElementWrite,
  findElements,
  isCurrent,
  isSibling,
  type Located,
  located,
  matchesHeader,
  type Selectors,
} from './element-target.ts'
import { joinEdit } from './join-edit.ts'
import { type SessionWrite, sessionWriteOf, writeSessionElement } from './session-element.ts'
import { type Noted, refuseOvertaken } from './transition-races.ts'
import { TransitionJudge } from './transitions.ts'
import { toldTo } from './whole.ts'

export type { ElementWrite }

/**
 * Writes one element of a stored document.
 *
 * @returns answers 206 with the new element, or 204 (HTTP-81)
 * @throws Fault 422 for a selector that does not parse (gate 7)
 */
export function writeElement(site: Site, write: ElementWrite, authority: Authorizing): Operation {
  const selectors: Selectors = { target: toSelector(write.range.selector, site) }
  if (write.op === 'move') selectors.anchor = toSelector(write.destination.selector, site)
  const allowance = write.allowance ?? oneAllowance(site)
  const find = async (gates = ELEMENT_GATES) => {
    await authority.settle?.([write.path])
    return findElements(site, write, selectors, authority(), gates)
  }
  /** A precondition tells of the element, also of one that has come into the place of another: its triggers are asked first. */
  const findFor = async (guard: Guard | undefined) => {
    try {
      return await find()
    } catch (failure) {
      if (guard && failure instanceof Fault && failure.status === 412)
        await commitLoop(async () => {
          const { view, target } = await find(AUTHORIZATION)
          return !view || !target || (await guard(addressedBy(write, view, target))) || undefined
        })
      throw failure
    }
  }
  const locate = (guard: Guard | undefined) => commitLoop(async () => located(await findFor(guard)))
  /** Writes of one session to copies of one document come one after another, through whatever page they are made. */
  const carryOutInSession = ({ session, place }: SessionWrite, text: string, guard: Guard | undefined) => {
    const folder = `/.${site.settings.brand}/sessions/${session.id}/`
    let { prefix } = place
    const alone = async (goOn: () => void) => {
      goOn()
      await authority.confirm?.()
      const found = await findFor(guard)
      const { view, target } = found
      const about = view && target && sessionWriteOf(write, view, target.element)
      if (!about) throw noMatch()
      if (guard && !(await guard(addressedBy(write, view, target)))) return undefined
      if (write.reader) delete write.reader.composed
      if (about.place.prefix !== prefix) {
        prefix = about.place.prefix
        return undefined
      }
      const model = modelState(site, allowance, write)
      const confirm = () => site.leases.confirm(site.store.name, [folder + prefix])
      const { target: selector } = selectors
      const answer = await writeSessionElement(site, model, write, about, selector, text, found.authority, confirm)
      return answer && { ...answer, headers: { ...answer.headers, ...matchesHeader(write, found) } }
    }
    return commitLoop(() => {
      // Its copy changes until the turn of this write has come.
      if (write.reader) delete write.reader.composed
      const goOn = allowance().pause()
      return site.leases.hold(site.store.name, [folder + prefix], () => alone(goOn))
    })
  }
  /** Until somebody has changed where the element is stored. */
  const carryOutAt = (at: FoundAt, text: string, arrival: Noted, guard: Guard | undefined) => {
    const { path, kind } = at
    let isFirst = true
    let isWaiting = true
    const goOn = allowance().pause()
    if (at.place?.view.composed)
      setImmediate(() => {
        // Whoever goes before changes what the page is made of: pages of all who wait would only fill the memory.
        if (!isWaiting) return
        at.place = undefined
        if (write.reader) delete write.reader.composed
      })
    const alone = () => {
      isWaiting = false
      goOn()
      return commitLoop(async () => {
        await write.check?.()
        await authority.confirm?.()
        await authority.settle?.([write.path])
        if (!at.place || !isCurrent(site, at.place, authority())) {
          at.place = await locate(guard)
          isFirst = false
        }
        const { place } = at
        if (place.file.resource.path !== path || place.tree.kind !== kind) return place
        if (guard && !(await guard(addressedBy(write, place.view, place.seen)))) {
          at.place = undefined
          return undefined
        }
        if (!isFirst && arrival.size > 0) refuseOvertaken(arrival, await noted(site, write, place))
        try {
          return await commitEdit(site, modelState(site, allowance, write), write, place, text, authority())
        } catch (error) {
          // The lease was lost, and memory has followed whoever had it then.
          if (error instanceof ChangedDocument) return undefined
          throw error
        }
      })
    }
    const isPlain = path === write.path && arrival.size === 0 && !guard
    if (!isPlain) return site.leases.hold(site.store.name, [path], alone)
    const join = (head: Head) => {
      if (authority.isSettled?.() === false || head.tree.kind !== kind) return undefined
      goOn()
      const model = modelState(site, allowance, write)
      return joinEdit({ site, write, selectors, text, authority: authority(), model }, head)
    }
    return inLine<Answer | Located>(site, path, { alone, join })
  }
  const carryOutFrom = (first: Located, body: BodySource, sent: string, arrival: Noted, guard: Guard | undefined) => {
    let at = foundAt(first)
    let text = sent
    return commitLoop(async () => {
      const done = await carryOutAt(at, text, arrival, guard)
      if (!('file' in done)) return done
      const { kind } = at
      at = foundAt(done)
      if (body.made && at.kind !== kind) text = await textFor(site, write, body, at.kind)
      return undefined
    })
  }
  /** @param paths of the page, and of the document that holds the elements */
  const refusing = (paths: string[]) => (error: unknown) => {
    throw toldTo(authority(), paths, error)
  }
  return {
    async admit() {
      const { view, target } = await find(AUTHORIZATION)
      return view && target ? { addressed: addressedBy(write, view, target) } : {}
    },
    async carryOut(body, guard) {
      const found = await findFor(guard)
      const about = found.view && found.target && sessionWriteOf(write, found.view, found.target.element)
      if (about && write.op !== 'move') {
        const text = await textFor(site, write, body, about.view.tree.kind)
        return carryOutInSession(about, text, guard).catch(refusing([write.path]))
      }
      const place = (await located(found)) ?? (await locate(guard))
      const arrival = await noted(site, write, place)
      const text = await textFor(site, write, body, place.tree.kind)
      return carryOutFrom(place, body, text, arrival, guard).catch(refusing([write.path, place.file.resource.path]))
    },
  }
}

/**
 * What comes beside an element comes into its parent, whom rules are asked about (METH-3): guards of either are asked (REA-23).
 * Where the page has put the element elsewhere, it comes into the parent that it is stored in (COMP-86).
 */
function addressedBy(write: ElementWrite, view: Representation, { element }: Key): AddressedElements {
  const parent = write.op === 'post' && isSibling(write.placement) ? parentElement(element) : undefined
  if (!parent) return { view, elements: [element] }
  const origin = view.originOf(element)
  const isOwn = origin?.file.resource.path === view.file.resource.path
  return { view, elements: [element, parent], into: isOwn ? parentElement(origin.element) : undefined }
}

/** Where an element is stored, and what was found there unless that was given up. */
interface FoundAt {
  readonly path: string
  readonly kind: DocumentKind
  place: Located | undefined
}

function foundAt(place: Located): FoundAt {
  return { path: place.file.resource.path, kind: place.tree.kind, place }
}

/** The states that a write may change, as they are now (REA-108). */
async function noted(site: Site, write: ElementWrite, place: Located): Promise<Noted> {
  const judge = TransitionJudge.of(site, write.transitions)
  return judge ? inTurns(judge.note(place.tree, toEdit(write, place, '')), place.tree.source.length) : new Map()
}

/** @param kind of the document that the fragment comes into */
async function textFor(site: Site, write: ElementWrite, body: BodySource, kind: DocumentKind): Promise<string> {
  if (write.op !== 'put' && write.op !== 'post') return ''
  const { made } = body
  write.isMade = made !== undefined
  return bodyText(made ? memoryBody(await made(kind)) : body, largestDocument(site.settings))
}
