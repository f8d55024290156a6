/** Rows of the table of resources as commits make them. */

import type { Change } from '../commit.ts'
import { addTo, ZERO } from '../tags.ts'
import type { ResourceRow } from './rows.ts'

/** What a commit knows of itself. */
interface Committing {
  version: number
  /** Unix milliseconds. */
  at: number
  /** Names without a line in sums. */
  unlisted: ReadonlySet<string>
}

type Placed = Pick<ResourceRow, 'folder' | 'name'>

/** Unix seconds of a time in milliseconds. */
export const seconds = (ms: number) => Math.floor(ms / 1000)

/** The second that a mount shows as time of change (DAV-36). */
function shownSecond(row: Pick<ResourceRow, 'shown' | 'modified'>): number {
  return row.shown ?? seconds(row.modified)
}

/** Parts of `same_second`: what dates tell of a version and of those before it at its path (DAV-41). */
const [SAME, LATER] = [1, 2]

/**
 * What dates tell of a version that comes to a path.
 *
 * @param replaced what stood there
 * @param seen newest time of the path, unix milliseconds
 * @returns `same_second`
 */
export function sameSecondOf(
  row: Pick<ResourceRow, 'shown' | 'modified'>,
  replaced: Pick<ResourceRow, 'shown' | 'modified' | 'same_second'> | undefined,
  seen: number,
): number {
  const isSame =
    seconds(row.modified) === seconds(seen) || (replaced !== undefined && shownSecond(row) === shownSecond(replaced))
  const wasLater =
    replaced !== undefined && (shownLater(replaced.same_second) || shownSecond(replaced) > seconds(row.modified))
  return (isSame ? SAME : 0) + (wasLater ? LATER : 0)
}

/** Whether the version before carried the same second. @param value of `same_second` */
export function isSameSecond(value: number): boolean {
  return (value & SAME) !== 0
}

/** Whether one before has shown a time later than its successor's, as a client may set it. @param value of `same_second` */
export function shownLater(value: number): boolean {
  return (value & LATER) !== 0
}

/** Row of a collection without members that is being made now. */
export function collectionRow(
  { version, at, unlisted }: Committing,
  { folder, name }: Placed,
  id: number,
): ResourceRow {
  return {
    folder,
    name,
    id,
    kind: 0,
    version,
    digest: '',
    size: 0,
    type: '',
    language: null,
    created: at,
    modified: at,
    shown: null,
    same_second: 0,
    properties: null,
    members: null,
    in_file: 0,
    unlisted: unlisted.has(name) ? 1 : 0,
  }
}

/**
 * Row of a file that is put.
 *
 * @param old the row that it takes the place of
 * @param change.replaced newest time of the path, unix milliseconds: that of what is replaced, or of what last stood there
 */
export function fileRow(
  { version, at, unlisted }: Committing,
  { folder, name }: Placed,
  old: ResourceRow | undefined,
  change: Pick<Extract<Change, { op: 'put' }>, 'type' | 'language' | 'shown'> &
    Pick<ResourceRow, 'id' | 'kind' | 'digest' | 'size' | 'in_file'> & { replaced: number },
): ResourceRow {
  const { id, kind, digest, size, in_file, replaced } = change
  // Where a clock steps back, the time of a path stands still.
  const modified = Math.max(at, replaced)
  const shown = change.shown ?? null
  return {
    folder,
    name,
    id,
    kind,
    version,
    digest,
    size,
    type: change.type,
    language: change.language ?? null,
    created: old?.created ?? at,
    modified,
    shown,
    same_second: sameSecondOf({ shown, modified }, old, replaced),
    properties: old?.properties ?? null,
    members: null,
    in_file,
    unlisted: old?.unlisted ?? (unlisted.has(name) ? 1 : 0),
  }
}

/**
 * A row after its resource was described.
 *
 * @param difference of the weights of its dead properties
 */
export function describedRow<Row extends ResourceRow>(
  row: Row,
  { shown, language }: Pick<Extract<Change, { op: 'describe' }>, 'shown' | 'language'>,
  difference: bigint,
): Row {
  const properties = addTo(row.properties ?? ZERO, difference)
  const before = shownSecond(row)
  // The next version may have shown no later time than its commit, while a client still holds this one by that time.
  const isTakenBack = shown !== undefined && shown < before && before > seconds(row.modified) && row.kind !== 0
  return {
    ...row,
    same_second: isTakenBack ? row.same_second | LATER : row.same_second,
    properties: properties === ZERO ? null : properties,
    shown: shown ?? row.shown,
    language: language === undefined ? row.language : language || null,
  }
}
