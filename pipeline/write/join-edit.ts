/** An edit of one element on top of edits that are not committed yet. */

import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import { isComposed, viewingStored } from '../read/representation.ts'
import { editNotice } from '../site/followed-edits.ts'
import type { Site } from '../site/site.ts'
import { StoredFile } from '../site/stored-file.ts'
import type { Change } from '../store/commit.ts'
import { atOnce, ifShort } from '../tree/steps.ts'
import { askedCommit, type ModelState } from './commit.ts'
import { nothingFollows } from './consequences.ts'
import type { Head, Joined } from './edit-line.ts'
import {
  answerTo,
  editEvent,
  editRequest,
  findingEventSelectors,
  isInItself,
  ownChanges,
  toEdit,
} from './element-commit.ts'
import { type ElementWrite, findingIn, type Located, type Selectors } from './element-target.ts'
import { judgeEditAtOnce } from './judge-edit.ts'

/** Milliseconds in which the elements have to be found. */
const LOOK = 10

/** A write that joins others. */
export interface JoiningWrite {
  site: Site
  write: ElementWrite
  selectors: Selectors
  /** What it brings. */
  text: string
  authority: Authority
  model: ModelState
}

/**
 * Everything that a write alone would do up to its commit, if none of it needs the store, code, or time.
 *
 * @param head the document at the path of the write
 * @returns undefined for a write that has to be made alone
 * @throws Fault that refuses the write
 */
export function joinEdit(joining: JoiningWrite, head: Head): Joined<Answer> | undefined {
  const { site, write, text, authority, model } = joining
  const found = mayJoin(joining, head) ? find(joining, head) : undefined
  if (!found) return undefined
  const selectors = atOnce(findingEventSelectors(site, write, found))
  const wanted = toEdit(write, found, text)
  const { request, brought } = editRequest({ site, model, write, located: found, wanted, authority })
  const judged = judgeEditAtOnce(site, model, request)
  if (!judged || judged.isBeyond) return undefined
  const { judgement, losses, digest, derived, body } = judged
  if (judgement.failures.length + brought.own.length + brought.shown.length + losses.length > 0) return undefined
  const event = editEvent(site, write, selectors, judged)
  const own = ownChanges(found, judged, event, authority)
  const { digest: before } = head.file.resource
  const changes = head.isCommitted ? own.changes : own.changes.map(change => behind(head.file, change))
  const from = head.isCommitted ? undefined : { digest: before }
  const edit = site.isShared ? editNotice(head.file, wanted, judged, from) : undefined
  const asked = { ...own, changes, ...(edit !== undefined && { edit }) }
  const commit = askedCommit(model, asked, nothingFollows(judgement.requirements))
  const { profile, declares } = derived
  const document = { path: head.file.resource.path, body, profile, declares }
  if (!site.keepsDeclarations(commit, document)) return undefined
  return {
    commit,
    written: document,
    make: () => {
      const tree = atOnce(judged.newTree())
      const resource = { ...head.file.resource, digest, size: body.length }
      return { file: new StoredFile(resource, body, profile), tree, isCommitted: false }
    },
    answer: at => answerTo(write, found, judged, at),
  }
}

function mayJoin({ site, write, authority, model }: JoiningWrite, { file, isCommitted }: Head): boolean {
  const { path, op, reader, conditions, check, alongside } = write
  if (check || alongside || !model.configure || isComposed(site, file, reader)) return false
  // Nobody knows yet when that was changed which is on its way to the store.
  if (!isCommitted && (conditions?.ifModifiedSince ?? conditions?.ifUnmodifiedSince) !== undefined) return false
  return !reader || authority.reach(op.toUpperCase(), path) === 'elements'
}

/** What the write is about. @returns undefined where looking for it takes long, and where it would change nothing @throws Fault */
function find({ site, write, selectors, authority }: JoiningWrite, { file, tree }: Head): Located | undefined {
  const view = ifShort(viewingStored(site, file, tree), LOOK)?.value
  // Elements of another tree are looked for in this one by who has it alone.
  if (view?.tree !== tree) return undefined
  const found = ifShort(findingIn(site, write, selectors, authority, { file, view }), LOOK)?.value
  if (!found?.target) return undefined
  const { target, anchor } = found
  const place = { ...found, view, file, tree, seen: target, target, anchor }
  return isInItself(write, place) ? undefined : place
}

/** The change of a document whose version nobody knows yet: it is known by what it holds. */
function behind({ resource }: StoredFile, change: Change): Change {
  return change.op === 'put' ? { ...change, expect: { digest: resource.digest } } : change
}
