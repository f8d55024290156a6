/** The changes of a commit to single files and empty collections, applied in order inside a savepoint. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { endOf, namesCollection, parentOf, placeOf } from '../paths.ts'
import type { Expectation } from '../store.ts'
import { addTo, propertyWeight, ZERO } from '../tags.ts'
import { blobFile } from './blobs.ts'
import { type Draft, nextId, refuse, rowAt, settle } from './draft.ts'
import type { PackedChange, PackedContent } from './jobs.ts'
import { kindNumber, pathOf, type ResourceRow, resourceOf } from './rows.ts'
import { copyMembers, moveMembers, newestWithin, removeMembers } from './subtree.ts'
import { gain, markMembership, share } from './sums.ts'

type ChangeOf<Op extends PackedChange['op']> = Extract<PackedChange, { op: Op }>

/** Kind number of documents: their bytes are always in the database. */
const DOCUMENT = kindNumber('document')

/** Applies one change. @throws Refusal when it cannot be done */
export function applyChange(draft: Draft, change: PackedChange): void {
  if (change.op === 'put') put(draft, change)
  else if (change.op === 'delete') remove(draft, change)
  else if (change.op === 'collection') makeCollection(draft, change)
  else if (change.op === 'move') move(draft, change)
  else if (change.op === 'copy') copy(draft, change)
  else describe(draft, change)
}

/** Whether what a commit expects of a path holds. */
function meets(expectation: Expectation, row: ResourceRow | undefined): boolean {
  if (expectation === undefined) return true
  if (expectation === 'absent') return row === undefined
  return row !== undefined && (expectation === 'present' || row.version === expectation)
}

const seconds = (ms: number) => Math.floor(ms / 1000)

/** Unix milliseconds up to which versions of a path are known to have been served although nothing stands there now. */
function lastSeen(draft: Draft, path: string): number {
  const { statements, site } = draft
  return (statements.newestEvent.get(site.id, path) ?? statements.newestDropped.get(site.id, path))?.ms ?? -1
}

/** Notes that a member's line or existence changed in its collection. */
function exchange(draft: Draft, folder: string, before: ResourceRow | undefined, after: ResourceRow | undefined): void {
  gain(draft.sums, folder, (after === undefined ? 0n : share(after)) - (before === undefined ? 0n : share(before)))
  if (before === undefined || after === undefined) markMembership(draft.sums, folder, draft.version, draft.at)
}

function insert(draft: Draft, row: ResourceRow): void {
  draft.statements.insert.run(
    draft.site.id,
    row.folder,
    row.name,
    row.id,
    row.kind,
    row.version,
    row.digest,
    row.size,
    row.type,
    row.language,
    row.created,
    row.modified,
    row.shown,
    row.same_second,
    row.properties,
    row.members,
    row.in_file,
    row.unlisted,
  )
}

/** Row of a collection without members that is being made now. */
function emptyCollection(draft: Draft, folder: string, name: string): ResourceRow {
  return {
    folder,
    name,
    id: nextId(draft),
    kind: 0,
    version: draft.version,
    digest: '',
    size: 0,
    type: '',
    language: null,
    created: draft.at,
    modified: draft.at,
    shown: null,
    same_second: 0,
    properties: null,
    members: null,
    in_file: 0,
    unlisted: draft.unlisted.has(name) ? 1 : 0,
  }
}

/** Adds an empty collection; also the root when a site is founded. */
export function addCollection(draft: Draft, path: string): void {
  const { folder, name } = placeOf(path)
  const row = emptyCollection(draft, folder, name)
  insert(draft, row)
  draft.known.add(path)
  if (folder !== '') exchange(draft, folder, undefined, row)
}

/** Makes the collections that are missing on the way to a member (DAV-14). @throws Refusal where a file stands in the way */
function ensureCollection(draft: Draft, path: string): void {
  if (draft.known.has(path) || draft.site.known.has(path)) return
  const row = rowAt(draft, path)
  if (row === undefined) {
    ensureCollection(draft, parentOf(path))
    addCollection(draft, path)
  } else if (row.kind !== 0) refuse('kind', pathOf(row), row)
  else draft.known.add(path)
}

/** For changes that do not make missing collections. @throws Refusal naming the parent, or the file in its place */
function requireParent(draft: Draft, path: string): void {
  const parent = parentOf(path)
  if (draft.known.has(parent) || draft.site.known.has(parent)) return
  for (let above = parent; ; above = parentOf(above)) {
    const row = rowAt(draft, above)
    if (row !== undefined && row.kind !== 0) refuse('kind', pathOf(row), row)
    if (row !== undefined && above !== parent) refuse('missing', parent)
    if (row !== undefined || above === '/') break
  }
  draft.known.add(parent)
}

/** What a content is, with its bytes at hand when they go into the database. */
function resolve(draft: Draft, content: PackedContent, kind: number) {
  if ('offset' in content) {
    const bytes = new Uint8Array(draft.bytes, content.offset, content.length)
    return { bytes, digest: content.digest ?? hash('sha256', bytes), size: bytes.length }
  }
  const { sha256: digest, size } = content
  draft.consumed.push(content.file)
  if (kind === DOCUMENT) return { bytes: readFileSync(content.file), digest, size }
  draft.adoptions.push({ file: content.file, digest, size })
  draft.statements.useBlob.run(digest, size, content.sha1, content.md5)
  return { bytes: undefined, digest, size }
}

function deriveAll(draft: Draft, id: number, derived: Record<string, string> | undefined): void {
  if (derived === undefined) return
  for (const name in derived) draft.statements.derive.run(id, name, draft.site.id, derived[name] ?? '')
}

function put(draft: Draft, change: ChangeOf<'put'>): void {
  const { statements, site, version, at } = draft
  const { folder, name } = placeOf(change.path)
  const old = rowAt(draft, change.path)
  if (old?.kind === 0) refuse('kind', change.path, old)
  if (!meets(change.expect, old)) refuse('version', change.path, old)
  if (old === undefined) ensureCollection(draft, folder)
  const kind = kindNumber(change.kind)
  const { bytes, digest, size } = resolve(draft, change.content, kind)
  const replaced = old?.modified ?? lastSeen(draft, change.path)
  // Where a clock steps back, the time of a path stands still.
  const modified = Math.max(at, replaced)
  const shown = change.shown ?? null
  const sameSecond =
    seconds(modified) === seconds(replaced) || (old !== undefined && shown !== null && shown === old.shown)
  const row: ResourceRow = {
    folder,
    name,
    id: old?.id ?? nextId(draft),
    kind,
    version,
    digest,
    size,
    type: change.type,
    language: change.language ?? null,
    created: old?.created ?? at,
    modified,
    shown,
    same_second: sameSecond ? 1 : 0,
    properties: old?.properties ?? null,
    members: null,
    in_file: bytes === undefined ? 1 : 0,
    unlisted: old?.unlisted ?? (draft.unlisted.has(name) ? 1 : 0),
  }
  if (old === undefined) insert(draft, row)
  else {
    statements.replace.run(
      kind,
      version,
      digest,
      size,
      row.type,
      row.language,
      modified,
      shown,
      row.same_second,
      row.in_file,
      site.id,
      folder,
      name,
    )
    statements.removeDerived.run(row.id)
    if (old.in_file === 1 && !(row.in_file === 1 && old.digest === digest)) statements.leaveBlob.run(at, old.digest)
  }
  if (bytes !== undefined) statements.setBody.run(row.id, bytes)
  else if (old?.in_file === 0) statements.removeBody.run(row.id)
  deriveAll(draft, row.id, change.derived)
  exchange(draft, folder, old, row)
}

/** Takes away whatever a row describes. */
function removeRow(draft: Draft, row: ResourceRow): void {
  const { statements, site, at } = draft
  const path = pathOf(row)
  if (row.kind === 0) removeMembers(draft, path)
  else if (row.in_file === 1) statements.leaveBlob.run(at, row.digest)
  else statements.removeBody.run(row.id)
  statements.removeDerived.run(row.id)
  if (row.properties !== null) statements.removeProperties.run(row.id)
  statements.remove.run(site.id, row.folder, row.name)
  exchange(draft, row.folder, row, undefined)
}

function remove(draft: Draft, change: ChangeOf<'delete'>): void {
  if (namesCollection(change.path)) settle(draft)
  const row = rowAt(draft, change.path)
  const fits = row !== undefined && pathOf(row) === change.path
  if (!meets(change.expect, fits ? row : undefined)) refuse('version', change.path, row)
  if (row === undefined) refuse('missing', change.path)
  if (!fits) refuse('kind', change.path, row)
  if (row.folder !== '') removeRow(draft, row)
  else {
    // The root itself stays, empty.
    removeMembers(draft, '/')
    draft.statements.member.run(null, draft.site.id, '', '')
    markMembership(draft.sums, '/', draft.version, draft.at)
  }
}

function makeCollection(draft: Draft, change: ChangeOf<'collection'>): void {
  const row = rowAt(draft, change.path)
  if (row !== undefined) refuse(row.kind === 0 ? 'version' : 'kind', change.path, row)
  requireParent(draft, change.path)
  addCollection(draft, change.path)
}

/** Checks both ends of a move or copy and takes away what stood at its destination. */
function prepareTransfer(draft: Draft, change: ChangeOf<'move'> | ChangeOf<'copy'>) {
  if (namesCollection(change.from) || rowAt(draft, change.to)?.kind === 0) settle(draft)
  const source = rowAt(draft, change.from)
  const fits = source !== undefined && pathOf(source) === change.from
  if (!meets(change.expect, fits ? source : undefined)) refuse('version', change.from, source)
  if (source === undefined) refuse('missing', change.from)
  if (!fits) refuse('kind', change.from, source)
  requireParent(draft, change.to)
  const replaced = rowAt(draft, change.to)
  if (!meets(change.expectTo, replaced)) refuse('version', change.to, replaced)
  let seen = lastSeenWithin(draft, change.to)
  if (replaced !== undefined) {
    const path = pathOf(replaced)
    // What stands there is removed first; were the source inside it, nothing would be left to put there.
    if (replaced.kind === 0 && change.from.startsWith(path)) refuse('kind', change.to, replaced)
    seen = Math.max(seen, replaced.modified, replaced.kind === 0 ? newestWithin(draft, path) : -1)
    removeRow(draft, replaced)
  }
  return { source, seen }
}

/** As `lastSeen`, for a collection the newest of everything that ever stood below it. */
function lastSeenWithin(draft: Draft, path: string): number {
  if (!namesCollection(path)) return lastSeen(draft, path)
  return draft.statements.newestEventBelow.get(draft.site.id, path, endOf(path))?.ms ?? -1
}

/** Brings the bytes of a file into the database when it becomes a document. */
function inline(draft: Draft, row: ResourceRow, kind: number): number {
  if (kind !== DOCUMENT || row.in_file === 0) return row.in_file
  const staged = draft.adoptions.find(({ digest }) => digest === row.digest)?.file
  draft.statements.setBody.run(row.id, readFileSync(staged ?? blobFile(draft.transaction.writer.folder, row.digest)))
  draft.statements.leaveBlob.run(draft.at, row.digest)
  return 0
}

function move(draft: Draft, change: ChangeOf<'move'>): void {
  const { statements, site, version, at } = draft
  const { source, seen } = prepareTransfer(draft, change)
  const { folder, name } = placeOf(change.to)
  const kind = source.kind === 0 || change.kind === undefined ? source.kind : kindNumber(change.kind)
  // Times go along, unless that would turn back the time of the destination in the eyes of caches.
  const modified = source.kind !== 0 && source.modified <= seen ? Math.max(at, seen) : source.modified
  const row: ResourceRow = {
    ...source,
    folder,
    name,
    kind,
    version,
    type: source.kind === 0 ? '' : (change.type ?? source.type),
    modified,
    same_second: source.kind !== 0 && seconds(modified) === seconds(seen) ? 1 : source.same_second,
    in_file: inline(draft, source, kind),
    unlisted: draft.unlisted.has(name) ? 1 : 0,
  }
  statements.place.run(
    folder,
    name,
    kind,
    version,
    row.type,
    modified,
    row.same_second,
    row.in_file,
    row.unlisted,
    site.id,
    source.folder,
    source.name,
  )
  if (source.kind === 0) row.members = moveMembers(draft, change.from, change.to, seen) ?? row.members
  else if (change.derived !== undefined) {
    statements.removeDerived.run(row.id)
    deriveAll(draft, row.id, change.derived)
  }
  exchange(draft, source.folder, source, undefined)
  exchange(draft, folder, undefined, row)
}

function copy(draft: Draft, change: ChangeOf<'copy'>): void {
  const { statements, version, at } = draft
  const { source, seen } = prepareTransfer(draft, change)
  const { folder, name } = placeOf(change.to)
  const kind = source.kind === 0 || change.kind === undefined ? source.kind : kindNumber(change.kind)
  const modified = Math.max(at, seen)
  const sameSecond = seconds(modified) === seconds(seen) ? 1 : 0
  const row: ResourceRow = {
    ...source,
    folder,
    name,
    id: nextId(draft),
    kind,
    version,
    type: source.kind === 0 ? '' : (change.type ?? source.type),
    created: at,
    modified,
    shown: null,
    same_second: source.kind === 0 ? 0 : sameSecond,
    members: null,
    unlisted: draft.unlisted.has(name) ? 1 : 0,
  }
  if (source.kind !== 0 && source.in_file === 0) statements.copyBody.run(row.id, source.id)
  if (source.in_file === 1) {
    row.in_file = inline(draft, { ...source, id: row.id }, kind)
    statements.keepBlob.run(source.digest)
  }
  insert(draft, row)
  if (source.properties !== null) statements.copyProperties.run(row.id, source.id)
  if (change.derived !== undefined && source.kind !== 0) deriveAll(draft, row.id, change.derived)
  else statements.copyDerived.run(row.id, source.id)
  if (source.kind === 0 && change.deep) row.members = copyMembers(draft, change.from, change.to, modified, sameSecond)
  exchange(draft, folder, undefined, row)
}

function describe(draft: Draft, change: ChangeOf<'describe'>): void {
  const { statements, site } = draft
  if (namesCollection(change.path)) settle(draft)
  const row = rowAt(draft, change.path)
  if (row === undefined) refuse('missing', change.path)
  if (pathOf(row) !== change.path) refuse('kind', change.path, row)
  let difference = 0n
  for (const { namespace, name } of [...change.remove, ...change.set]) {
    const value = statements.property.get(row.id, namespace, name)?.value
    if (value === undefined) continue
    difference -= propertyWeight({ namespace, name, value })
    statements.removeProperty.run(row.id, namespace, name)
  }
  for (const { namespace, name, value } of change.set) {
    const twice = statements.property.get(row.id, namespace, name)?.value
    if (twice !== undefined) difference -= propertyWeight({ namespace, name, value: twice })
    statements.setProperty.run(row.id, namespace, name, value)
    difference += propertyWeight({ namespace, name, value })
  }
  const properties = addTo(row.properties ?? ZERO, difference)
  const after: ResourceRow = {
    ...row,
    properties: properties === ZERO ? null : properties,
    shown: change.shown ?? row.shown,
    language: change.language === undefined ? row.language : change.language || null,
  }
  statements.describe.run(after.properties, after.shown, after.language, site.id, row.folder, row.name)
  if (row.folder !== '') gain(draft.sums, row.folder, share(after) - share(row))
}

/** For the answer of a commit: what stands now at a path that a change named. */
export function stateOf(draft: Draft, path: string) {
  const row = rowAt(draft, path)
  return row !== undefined && pathOf(row) === path ? resourceOf(row) : undefined
}
