/** What follows from other rows, made anew and compared: index entries, owners of sites' rows, numbers that only grow. */

import { indexedBy } from '../../records/changes.ts'
import { pathOf } from '../../records/rows.ts'
import type { Statements } from '../commit/statements.ts'
import type { CheckContext, Found } from './context.ts'

/** Rows read at once. */
const PAGE = 256

interface Indexed {
  id: number
  lines: string
  site: number
  host: string
  folder: string
  name: string
  kind: number
}

/** Rows of the index as the entries of a resource make them; undefined where those cannot be read. */
function rowsOf(site: number, lines: string): Set<string> | undefined {
  try {
    return new Set(
      [...indexedBy(lines.split('\n'))].map(({ key, item }) => `${site} ${Buffer.from(key).toString('hex')} ${item}`),
    )
  } catch {
    return undefined
  }
}

/** The index rows of a resource, from its entries; without them it has none. */
function indexAgain(statements: Statements, site: number, id: number): void {
  const lines = statements.entryText.get(id)?.lines ?? ''
  statements.removeEntries.run(id)
  if (rowsOf(site, lines) === undefined) statements.removeEntryText.run(id)
  else for (const { key, item } of indexedBy(lines.split('\n'))) statements.addEntry.run(site, key, id, item)
}

/** Each resource is found by what its entries say, and by nothing else. */
export function* checkEntries({ reader, statements }: CheckContext): Generator<Found> {
  const page = reader.prepare<Indexed>(
    `SELECT e.id, e.lines, r.site, s.name AS host, r.folder, r.name, r.kind FROM entry_text e
     JOIN resource r ON r.id = e.id JOIN site s ON s.id = r.site WHERE e.id > ? ORDER BY e.id LIMIT ${PAGE}`,
  )
  const index = reader.prepare<{ row: string }>(
    "SELECT site || ' ' || lower(hex(key)) || ' ' || item AS row FROM entry WHERE id = ?",
  )
  for (let texts = page.all(0); texts.length > 0; texts = page.all(texts.at(-1)?.id ?? 0)) {
    for (const { id, lines, site, host, ...place } of texts) {
      const wanted = rowsOf(site, lines)
      const found = index.all(id)
      if (wanted?.size === found.length && found.every(({ row }) => wanted.has(row))) continue
      const repair = () => indexAgain(statements, site, id)
      const message = 'The index does not find it by what it holds'
      yield { kind: 'index', message, site: host, path: pathOf(place), repair }
    }
  }
}

const OF_EVENTS = ['event', 'event_bundle', 'dropped', 'counter']

/** What is stored belongs to a site that is there. */
export function* checkSites({ reader, writer }: CheckContext): Generator<Found> {
  const owned = ['resource', ...OF_EVENTS].map(table => `SELECT site FROM ${table}`).join(' UNION ')
  const lost = reader
    .prepare<{ site: number; count: number }>(
      `SELECT site, (SELECT count(*) FROM resource r WHERE r.site = o.site) AS count FROM (${owned}) o
       WHERE site NOT IN (SELECT id FROM site)`,
    )
    .all()
  const empty = reader
    .prepare<{ id: number; name: string }>(
      'SELECT id, name FROM site WHERE NOT EXISTS (SELECT 1 FROM resource WHERE resource.site = site.id)',
    )
    .all()
  const isOne = empty.length === 1 && lost.filter(({ count }) => count > 0).length === 1
  for (const { site, count } of lost) {
    if (count === 0) {
      const remove = OF_EVENTS.map(table => writer.prepare(`DELETE FROM ${table} WHERE site = ?`))
      const repair = () => {
        for (const statement of remove) statement.run(site)
      }
      yield { kind: 'site', message: `Events or counters belong to site number ${site}, which is not there`, repair }
      continue
    }
    const message = `${count} documents and folders belong to site number ${site}, which is not there; restore a backup`
    const [owner] = isOne ? empty : []
    const number = writer.prepare('UPDATE site SET id = ? WHERE id = ?')
    if (owner === undefined) yield { kind: 'site', message }
    else {
      const repair = () => void number.run(site, owner.id)
      yield {
        kind: 'site',
        message: `All that it holds belongs to another number`,
        site: owner.name,
        path: '/',
        repair,
      }
    }
  }
  const wrong = 'FROM derived JOIN resource r ON r.id = derived.id WHERE derived.site <> r.site'
  const { count } = reader.prepare<{ count: number }>(`SELECT count(*) AS count ${wrong}`).get() ?? { count: 0 }
  if (count === 0) return
  const repair = () =>
    writer.exec(`UPDATE derived SET site = (SELECT site FROM resource r WHERE r.id = derived.id)
      WHERE id IN (SELECT derived.id ${wrong})`)
  yield { kind: 'site', message: `${count} derived data are kept under another site`, repair }
}

const NEWEST_VERSION = `SELECT max(version) AS version FROM (${['resource', 'event', 'event_bundle', 'commit_log']
  .map(table => `SELECT max(version) AS version FROM ${table}`)
  .join(' UNION ALL ')})`

const NEWEST_EVENT = `SELECT ms, seq FROM (SELECT ms, seq FROM event WHERE site = ?1
  UNION ALL SELECT ms, seq + count - 1 FROM event_bundle WHERE site = ?1
  UNION ALL SELECT ms, seq FROM dropped WHERE site = ?1) ORDER BY ms DESC, seq DESC LIMIT 1`

/** Versions and ids of events that were given out are not given out again. */
export function* checkNumbers({ reader, writer, statements }: CheckContext): Generator<Found> {
  const versions = reader.prepare<{ version: number }>('SELECT version FROM progress').all()
  const newest = reader.prepare<{ version: number | null }>(NEWEST_VERSION).get()?.version ?? 0
  if (versions.length !== 1 || (versions[0]?.version ?? 0) < newest) {
    const last = writer.prepare<{ version: number | null }>(`SELECT max(version) AS version FROM (${NEWEST_VERSION}
      UNION ALL SELECT max(version) FROM progress)`)
    const set = writer.prepare('INSERT INTO progress (version) VALUES (?)')
    const repair = () => {
      const version = last.get()?.version ?? 0
      writer.exec('DELETE FROM progress')
      set.run(version)
    }
    yield { kind: 'number', message: 'The number of the last commit is lost: versions would come again', repair }
  }
  const event = reader.prepare<{ ms: number; seq: number }>(NEWEST_EVENT)
  for (const { id, name, ms, seq } of reader
    .prepare<{ id: number; name: string; ms: number; seq: number }>('SELECT id, name, ms, seq FROM site')
    .all()) {
    const last = event.get(id)
    if (last === undefined || last.ms < ms || (last.ms === ms && last.seq <= seq)) continue
    const repair = () => void statements.setSite.run(last.ms, last.seq, id)
    const message = 'The id of its last event is lost: ids would come again'
    yield { kind: 'number', message, site: name, path: '/', repair }
  }
  const silent = 'FROM event WHERE body NOTNULL AND NOT EXISTS (SELECT 1 FROM body WHERE body.id = event.body)'
  const { count } = reader.prepare<{ count: number }>(`SELECT count(*) AS count ${silent}`).get() ?? { count: 0 }
  if (count > 0)
    yield { kind: 'body', message: `${count} events have lost their text; they go when their time is over` }
}
