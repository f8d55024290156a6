/** What follows from other rows of a database, made anew and compared: index entries, owners, numbers that only grow. */

import { indexedBy } from '../records/changes.ts'
import { pathOf } from '../records/rows.ts'
import type { Session } from './session.ts'
import { pack, unpack } from './text.ts'

/** Something wrong, with what repairs it while nobody commits. */
export interface Recounted {
  problem: string
  mend?: ((session: Session) => Promise<void>) | undefined
}

const VERSIONS = ['resource', 'event', 'commit_log'].map(table => `(SELECT max(version) FROM ${table})`).join(', ')
const IDS = ['resource', 'body'].map(table => `(SELECT max(id) FROM ${table})`).join(', ')
const NO_SITE = 'NOT IN (SELECT id FROM site)'
const OWN_TRIGGERS = "('outdated', 'left_object')"

const OWN_TABLES = 'progress site resource body derived entry entry_text property chunk blob event setting note'
  .split(' ')
  .map(table => `to_regclass('${table}')`)
  .join(', ')

/** What is counted, by what people call it; with the statements that repair it. */
const COUNTED: readonly (readonly [what: string, count: string, mends: readonly string[]])[] = [
  [
    'documents and folders of a site that is not there; restore a backup',
    `SELECT count(*) AS count FROM resource WHERE site ${NO_SITE}`,
    [],
  ],
  ...['event', 'dropped', 'counter'].map(table => {
    const lost = `FROM ${table} WHERE site ${NO_SITE} AND site NOT IN (SELECT site FROM resource)`
    return [`rows of ${table} without a site`, `SELECT count(*) AS count ${lost}`, [`DELETE ${lost}`]] as const
  }),
  [
    'rows of derived under another site',
    'SELECT count(*) AS count FROM derived d JOIN resource r ON r.id = d.id WHERE d.site <> r.site',
    ['UPDATE derived d SET site = r.site FROM resource r WHERE r.id = d.id AND d.site <> r.site'],
  ],
  [
    'numbers of the last commit that are lost: versions would come again',
    `SELECT (NOT EXISTS (SELECT 1 FROM progress WHERE version >= greatest(0, ${VERSIONS})
      AND last_id >= greatest(0, ${IDS})))::int AS count`,
    [
      'INSERT INTO progress (version, last_id) VALUES (0, 0) ON CONFLICT DO NOTHING',
      `UPDATE progress SET version = greatest(version, ${VERSIONS}), last_id = greatest(last_id, ${IDS})`,
    ],
  ],
  [
    'sites whose last event is lost: ids of events would come again',
    `SELECT count(*) AS count FROM site s JOIN event e ON e.site = s.id
     WHERE (e.ms, e.seq) = (SELECT f.ms, f.seq FROM event f WHERE f.site = s.id ORDER BY f.ms DESC, f.seq DESC LIMIT 1)
     AND (e.ms, e.seq) > (s.ms, s.seq)`,
    [
      `UPDATE site s SET ms = e.ms, seq = e.seq FROM event e WHERE e.site = s.id AND (e.ms, e.seq) > (s.ms, s.seq)
       AND (e.ms, e.seq) = (SELECT f.ms, f.seq FROM event f WHERE f.site = s.id ORDER BY f.ms DESC, f.seq DESC LIMIT 1)`,
    ],
  ],
  [
    'events that have lost their text; they go when their time is over',
    'SELECT count(*) AS count FROM event e WHERE body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM body b WHERE b.id = e.body)',
    [],
  ],
  [
    'triggers or rules that do not belong to the store; drop them by hand',
    `SELECT (SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE NOT tgisinternal AND c.oid IN (${OWN_TABLES}) AND tgname NOT IN ${OWN_TRIGGERS})
     + (SELECT count(*) FROM pg_rewrite WHERE ev_class IN (${OWN_TABLES})) AS count`,
    [],
  ],
]

/** @param session in a transaction that sees one state */
export async function* recount(session: Session): AsyncGenerator<Recounted> {
  for (const [what, question, mends] of COUNTED) {
    const count = (await session.row<{ count: number }>(question))?.count ?? 0
    if (count === 0) continue
    const mend = async (writing: Session) => {
      for (const statement of mends) await writing.run(statement)
    }
    yield { problem: `${count} ${what}`, mend: mends.length > 0 ? mend : undefined }
  }
  yield* recountEntries(session)
}

/** Resources whose entries are read at once. */
const PAGE = 64

interface Text {
  id: number
  lines: string
  site: number
  host: string
  folder: string
  name: string
  kind: number
}

/** Rows of the index as the entries of a resource make them; undefined where those cannot be read. */
function rowsOf(lines: string): { key: Uint8Array; item: string }[] | undefined {
  try {
    const rows = [...indexedBy(unpack(lines).split('\n'))].map(({ key, item }) => ({ key, item: pack(item) }))
    return [...new Map(rows.map(row => [nameOf(row), row])).values()]
  } catch {
    return undefined
  }
}

const nameOf = ({ key, item }: { key: Uint8Array; item: string }) => `${Buffer.from(key).toString('hex')} ${item}`

/** Each resource is found by what its entries say, and by nothing else. */
async function* recountEntries(session: Session): AsyncGenerator<Recounted> {
  for (let last = 0; ; ) {
    const texts = await session.rows<Text>(
      `SELECT e.id, e.lines, r.site, s.name AS host, r.folder, r.name, r.kind FROM entry_text e
       JOIN resource r ON r.id = e.id JOIN site s ON s.id = r.site WHERE e.id > $1 ORDER BY e.id LIMIT ${PAGE}`,
      last,
    )
    if (texts.length === 0) return
    last = texts.at(-1)?.id ?? 0
    const found = await session.rows<{ id: number; site: number; key: Uint8Array; item: string }>(
      'SELECT id, site, key, item FROM entry WHERE id = ANY($1)',
      texts.map(({ id }) => id),
    )
    const indexed = Map.groupBy(found, ({ id }) => id)
    for (const text of texts) {
      const { id, site, host } = text
      const wanted = new Set(rowsOf(text.lines)?.map(nameOf))
      const rows = indexed.get(id) ?? []
      if (wanted.size === rows.length && rows.every(row => row.site === site && wanted.has(nameOf(row)))) continue
      const place = { folder: unpack(text.folder), name: unpack(text.name), kind: text.kind }
      const problem = `${host}${pathOf(place)}: the index does not find it by what it holds`
      yield { problem, mend: writing => indexAgain(writing, site, id) }
    }
  }
}

/** The index rows of a resource, from its entries; without them it has none. */
async function indexAgain(session: Session, site: number, id: number): Promise<void> {
  const text = await session.row<{ lines: string }>('SELECT lines FROM entry_text WHERE id = $1', id)
  const rows = rowsOf(text?.lines ?? '')
  await session.run('DELETE FROM entry WHERE id = $1', id)
  if (rows === undefined) await session.run('DELETE FROM entry_text WHERE id = $1', id)
  for (const { key, item } of rows ?? [])
    await session.run('INSERT INTO entry (site, key, id, item) VALUES ($1, $2, $3, $4)', site, key, id, item)
}
