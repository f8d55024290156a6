/**
 * Edits of documents that other processes have made, done again on the trees that are held here: an edit costs a small
 * part of what it costs to parse the new version.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Derived, Profile } from '../declarations/derive.ts'
import { notingEdit } from '../declarations/derive-edit.ts'
import { forgetEntries } from '../model/entries.ts'
import { elementsAround } from '../model/place.ts'
import type { ByteSplice } from '../store/blobs.ts'
import type { ForeignEdit } from '../store/foreign.ts'
import type { Resource } from '../store/resource.ts'
import { cloning } from '../tree/clone.ts'
import { encode } from '../tree/document.ts'
import { type Edit, editing, editingAgain, type Way } from '../tree/edit/edit.ts'
import { type EditRecord, recalledEdit, recordEdit } from '../tree/edit/record.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { isPinned } from '../tree/pins.ts'
import { revisionOf } from '../tree/revisions.ts'
import type { SplicedBytes } from '../tree/spliced-bytes.ts'
import { ifShort, type Steps } from '../tree/steps.ts'
import type { StoredFile } from './stored-file.ts'

/** An edit that made one version of a document out of another. */
export interface FollowedEdit extends ForeignEdit {
  /** Version of the document that the edit was made on; where its number was not known yet, the bytes of it. */
  readonly from: number | { readonly digest: string }
  readonly edit: EditRecord
  /** How the text came about; entries of an earlier release do not say. */
  readonly way?: Way | undefined
  /** What it changes of the bytes, in order, each with the text that comes there; missing where that is much. */
  readonly splices?: readonly (readonly [start: number, end: number, text: string])[] | undefined
  /** Of the new version; missing where it is that of the one before. */
  readonly profile?: Profile | undefined
}

/**
 * UTF-16 code units of an edit, and bytes of what it changes; larger ones are not followed step by step, so that the log of
 * commits stays small.
 */
const LARGEST = 4 * 1024

/** Ways of edits that cost less than parsing does. */
const QUICK: readonly Way[] = ['splice', 'normalised', 'closed']

/** What an edit made of a document. */
export interface MadeEdit {
  /** In which it came about. */
  way: Way
  splices?: readonly ByteSplice[] | undefined
  derived?: Pick<Derived, 'profile'>
}

/**
 * An edit as others learn of it.
 *
 * @param file that it is made on
 * @param made what became of it; without the bytes it changes and the new profile, others load the new version
 * @param from version of the file where that has no number yet
 * @returns undefined where the others had better parse the new version
 */
export function editNotice(
  file: Pick<StoredFile, 'resource' | 'profile'>,
  wanted: Edit,
  made: MadeEdit,
  from: FollowedEdit['from'] = file.resource.version,
): FollowedEdit | undefined {
  const { path } = file.resource
  const { way, splices, derived } = made
  if (!QUICK.includes(way) || ('text' in wanted && wanted.text.length > LARGEST)) return undefined
  const edit = recordEdit(wanted)
  const profile = derived?.profile
  const isTold = profile && splices && sum(splices, ({ bytes }) => bytes.length) + sizeOf(profile) <= LARGEST
  if (!edit || !isTold) return edit && { path, from, edit, way }
  const told = splices.map(({ start, end, bytes }) => [start, end, Buffer.from(bytes).toString()] as const)
  return { path, from, edit, way, splices: told, ...(!isDeepStrictEqual(profile, file.profile) && { profile }) }
}

const sum = <T>(list: readonly T[], of: (each: T) => number) => list.reduce((total, each) => total + of(each), 0)

/** Letters of what a profile lists. */
function sizeOf({ types, namespaces }: Profile): number {
  return sum([...types, ...namespaces], ({ length }) => length)
}

/** @param edit as it was passed on */
export function readNotice(edit: ForeignEdit): FollowedEdit {
  return edit as FollowedEdit
}

/** Whether an edit was made on a version. */
export function isFrom(from: FollowedEdit['from'], { version, digest }: Partial<Resource>): boolean {
  return typeof from === 'number' ? from === version : from.digest === digest
}

/** A version as somebody can make it who holds the one before. */
export interface FollowedVersion {
  resource: Resource
  body: SplicedBytes
  profile: Profile
}

/**
 * What an edit has made of the version that it was made on.
 *
 * @param to version that came of it
 * @returns undefined where that is not told, or of another version
 */
export function followedVersion(
  { resource, spliced, profile: before }: Pick<StoredFile, 'resource' | 'spliced' | 'profile'>,
  { from, splices, left, profile = before }: FollowedEdit,
  to: number,
): FollowedVersion | undefined {
  if (!left || !splices || !spliced || !profile || !isFrom(from, resource) || left.version !== to) return undefined
  const body = spliced.changed(splices.map(([start, end, text]) => ({ start, end, bytes: encode(text, false) })))
  return body.length === left.size ? { resource: left, body, profile } : undefined
}

/**
 * Makes edits on a tree, in steps.
 *
 * @param tree belongs to the caller, and is good for nothing afterwards unless it is returned; one that somebody reads is
 *   copied first
 * @param text of the version that comes of it
 * @returns the tree of that version; undefined when the edits do not lead there
 */
export function* following(
  tree: TreeDocument,
  edits: readonly Pick<FollowedEdit, 'edit' | 'way'>[],
  text: string,
): Steps<TreeDocument | undefined> {
  let reached = isPinned(tree) ? yield* cloning(tree) : tree
  try {
    for (const { edit: record, way } of edits) {
      const wanted = recalledEdit(reached, record)
      if (!wanted) return undefined
      const edited = reached
      const revision = revisionOf(edited)
      const again = way === 'splice' ? yield* editingAgain(edited, wanted) : undefined
      const edit = again ?? (yield* editing(edited, wanted))
      const { parents, noted } = edit.propose(view => ({
        parents: view.parents,
        noted: ifShort(notingEdit(edited, revision, view))?.value,
      }))
      reached = yield* edit.accepting()
      noted?.(reached)
      forgetEntries(elementsAround(reached, parents))
      yield
    }
  } catch {
    // What could be done elsewhere cannot be done here: the document is parsed, which is always right.
    return undefined
  }
  return reached.source === text ? reached : undefined
}
