/** Whether the rows of a store agree with each other: bodies with digests, members with parents, sums with lines. */

import { hash } from 'node:crypto'
import { isStorable, parentOf, splitPath } from '../../paths.ts'
import { changedMember } from '../../records/changed-member.ts'
import { COLUMNS, pathOf, type ResourceRow, resourceOf } from '../../records/rows.ts'
import { sumsOf } from '../../records/sums.ts'
import type { Property } from '../../resource.ts'
import { memberSum, propertySum, ZERO } from '../../tags.ts'
import { rebuildSums } from '../commit/sums.ts'
import type { Database } from '../database.ts'
import { SPLICES, type SpliceRow, spliced } from '../splices.ts'
import type { CheckContext, Found } from './context.ts'

/** Resources read at once. */
const PAGE = 256

interface Site {
  id: number
  name: string
}

/** Everything stored in a site, by folder and name. */
function* resourcesOf(database: Database, site: number): Generator<ResourceRow> {
  const page = database.prepare<ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE site = ? AND (folder, name) > (?, ?) ORDER BY folder, name LIMIT ${PAGE}`,
  )
  // The root comes first: its folder and name are empty.
  yield* database.prepare<ResourceRow>(`SELECT ${COLUMNS} FROM resource WHERE site = ? AND folder = ''`).all(site)
  for (let rows = page.all(site, '', ''); rows.length > 0; ) {
    yield* rows
    const last = rows.at(-1)
    rows = last === undefined ? [] : page.all(site, last.folder, last.name)
  }
}

function sitesOf(database: Database): Site[] {
  return database.prepare<Site>('SELECT id, name FROM site ORDER BY id').all()
}

/** The structure of the database file, as SQLite sees it. */
export function* checkIntegrity({ reader }: CheckContext): Generator<Found> {
  for (const { integrity_check: message } of reader
    .prepare<{ integrity_check: string }>('PRAGMA integrity_check')
    .all()) {
    if (message !== 'ok') yield { kind: 'integrity', message: `The database is damaged: ${message}` }
  }
}

/** Missing collections on the way to a member are made anew. */
function makeParents({ statements }: CheckContext, site: number, path: string): void {
  for (let folder = parentOf(path); ; folder = parentOf(folder)) {
    const { folder: above, name } = splitPath(folder)
    const row = statements.find.get(site, above, name)
    if (row !== undefined) break
    const id = (statements.lastId.get()?.id ?? 0) + 1
    const version = statements.progress.get()?.version ?? 0
    const now = Date.now()
    statements.insert.run(site, above, name, id, 0, version, '', 0, '', null, now, now, null, 0, null, null, 0, 0)
    if (folder === '/') break
  }
}

/** Each resource by itself: its place, its bytes, its properties. */
export function* checkResources(context: CheckContext): Generator<Found> {
  const { reader, statements } = context
  const bodies = reader.prepare<{ bytes: Uint8Array | null }>('SELECT bytes FROM body WHERE id = ?')
  const splices = reader.prepare<SpliceRow>(SPLICES)
  const find = reader.prepare<{ kind: number }>('SELECT kind FROM resource WHERE site = ? AND folder = ? AND name = ?')
  const properties = reader.prepare<Property>('SELECT namespace, name, value FROM property WHERE id = ?')
  const setProperties = context.writer.prepare('UPDATE resource SET properties = ? WHERE id = ?')
  const setSize = context.writer.prepare('UPDATE resource SET size = ? WHERE id = ?')
  const blobs = reader.prepare<{ size: number }>('SELECT size FROM blob WHERE digest = ?')
  const total = reader.prepare<{ count: number }>('SELECT count(*) AS count FROM resource').get()?.count ?? 0
  for (const site of sitesOf(reader)) {
    /** The collection last found to be there: members of one follow each other. */
    let known = ''
    for (const row of resourcesOf(reader, site.id)) {
      const path = pathOf(row)
      const at = { site: site.name, path }
      function* checkSize(size: number): Generator<Found> {
        if (size === row.size) return
        const repair = () => void setSize.run(size, row.id)
        yield { kind: 'body', message: `Its size is noted as ${row.size} bytes, and is ${size}`, ...at, repair }
      }
      context.counted('checking documents', total)
      if (!isStorable(path)) yield { kind: 'path', message: 'No such path can exist', ...at }
      if (row.folder !== known && path !== '/') {
        const { folder, name } = splitPath(row.folder)
        const parent = find.get(site.id, folder, name)
        if (parent === undefined) {
          const repair = () => makeParents(context, site.id, path)
          yield { kind: 'parent', message: 'The collection it is in is missing', ...at, repair }
        } else if (parent.kind !== 0) yield { kind: 'parent', message: 'It is below a file', ...at }
        known = row.folder
      }
      if (row.kind !== 0 && row.in_file === 0) {
        const body = bodies.get(row.id)?.bytes
        const bytes = body ? spliced(body, splices.all(row.id)) : row.size === 0 ? new Uint8Array() : undefined
        if (bytes === undefined) yield { kind: 'body', message: 'Its bytes are missing', ...at }
        else if (hash('sha256', bytes) !== row.digest)
          yield { kind: 'body', message: 'Its bytes are not those that were stored', ...at }
        else yield* checkSize(bytes.length)
      }
      const blob = row.in_file === 1 ? blobs.get(row.digest) : undefined
      if (blob !== undefined) yield* checkSize(blob.size)
      const sum = propertySum(properties.all(row.id))
      if (sum !== (row.properties ?? ZERO)) {
        const repair = () => void setProperties.run(sum === ZERO ? null : sum, row.id)
        yield { kind: 'sum', message: 'The sum of its properties is wrong', ...at, repair }
      }
    }
    if (statements.find.get(site.id, '', '') === undefined) {
      const repair = () => makeParents(context, site.id, '/any')
      yield { kind: 'parent', message: 'The root is missing', site: site.name, path: '/', repair }
    }
  }
}

/** Rows that hang on resources which are not there. */
export function* checkOrphans({ reader, writer }: CheckContext): Generator<Found> {
  const table = [
    {
      name: 'body',
      what: 'A body belongs to nothing',
      owners: 'SELECT id FROM resource WHERE kind <> 0 AND in_file = 0 UNION SELECT body FROM event WHERE body NOTNULL',
    },
    { name: 'splice', what: 'Changes of a body belong to nothing', owners: 'SELECT id FROM body' },
    { name: 'derived', what: 'Derived data belong to nothing', owners: 'SELECT id FROM resource' },
    { name: 'entry', what: 'Index entries belong to nothing', owners: 'SELECT id FROM entry_text' },
    { name: 'entry_text', what: 'Entries belong to nothing', owners: 'SELECT id FROM resource' },
    { name: 'property', what: 'Properties belong to nothing', owners: 'SELECT id FROM resource' },
  ]
  for (const { name, what, owners } of table) {
    const remove = writer.prepare(`DELETE FROM ${name} WHERE id = ? AND id NOT IN (${owners})`)
    for (const { id } of reader
      .prepare<{ id: number }>(`SELECT DISTINCT id FROM ${name} WHERE id NOT IN (${owners})`)
      .all()) {
      yield { kind: 'orphan', message: `${what} (number ${id})`, repair: () => void remove.run(id) }
    }
  }
}

/** A member whose type is not what the sum of its collection was made of. */
interface ChangedType {
  row: ResourceRow
  was: string
}

/** Types that have changed, as far as sums of collections tell. @param sumAt the sum of a path as it is stored */
function* changedTypes(
  rows: Iterable<ResourceRow>,
  sumAt: (path: string) => string | null | undefined,
): Generator<ChangedType> {
  let members: ResourceRow[] = []
  function* look(): Generator<ChangedType> {
    const folder = members[0]?.folder ?? ''
    const lines = members.filter(row => row.unlisted === 0).map(resourceOf)
    const stored = folder === '' ? undefined : sumAt(folder)
    if (stored === undefined || memberSum(lines) === (stored ?? ZERO)) return
    const was = changedMember(lines, stored ?? ZERO)
    const row = members.find(each => pathOf(each) === was?.path)
    if (was && row) yield { row, was: was.type }
  }
  for (const row of rows) {
    if (row.folder !== members[0]?.folder) {
      yield* look()
      members = []
    }
    members.push(row)
  }
  yield* look()
}

/** Sums of collections (DAV-52), computed anew from their members. */
export function* checkSums({ reader, writer, statements }: CheckContext): Generator<Found> {
  const setType = writer.prepare('UPDATE resource SET type = ? WHERE id = ?')
  const find = reader.prepare<{ members: string | null }>(
    'SELECT members FROM resource WHERE site = ? AND folder = ? AND name = ?',
  )
  for (const site of sitesOf(reader)) {
    const sumAt = (path: string) => {
      const { folder, name } = splitPath(path)
      return find.get(site.id, folder, name)?.members
    }
    const types = new Map<number, string>()
    for (const { row, was } of changedTypes(resourcesOf(reader, site.id), sumAt)) {
      types.set(row.id, was)
      const repair = () => void setType.run(was, row.id)
      const message = `Its type is ${row.type}, and was ${was} when it was stored`
      yield { kind: 'sum', message, site: site.name, path: pathOf(row), repair }
    }
    const rows = resourcesOf(reader, site.id)
    const belowRoot = (function* () {
      for (const row of rows) if (row.folder !== '') yield { ...row, type: types.get(row.id) ?? row.type }
    })()
    for (const [path, sum] of sumsOf(belowRoot, '/')) {
      if ((sumAt(path) ?? null) === sum) continue
      const repair = () => rebuildSums(statements, site.id, '/')
      yield { kind: 'sum', message: 'The sum of its members is wrong', site: site.name, path, repair }
    }
  }
}
