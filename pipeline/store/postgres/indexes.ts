/**
 * Whether indexes hold what their tables hold, in order: asked of each by its rows as the table has them and as the index
 * gives them, which takes no rights but to read. What is damaged inside the pages of an index, and is not read that way, only
 * `amcheck` tells; where this user may use it, it is asked as well.
 */

import type { Recounted } from './recount.ts'
import type { Session } from './session.ts'

interface Index {
  id: number
  name: string
  table: string
  columns: string[]
  predicate: string | null
}

interface Seen {
  count: number
  sum: string
  disorder: number
}

const INDEXES = `SELECT i.indexrelid::bigint AS id, x.relname AS name, t.relname AS table, pg_get_expr(i.indpred, i.indrelid) AS predicate,
    ARRAY(SELECT pg_get_indexdef(i.indexrelid, n, true) FROM generate_series(1, i.indnkeyatts) n ORDER BY n) AS columns
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND x.relam = (SELECT oid FROM pg_am WHERE amname = 'btree')
  ORDER BY 2`

/** How the planner is made to read the table itself, or the index. */
const WAYS = {
  table: ['enable_seqscan = on', 'enable_indexscan = off', 'enable_indexonlyscan = off', 'enable_bitmapscan = off'],
  index: ['enable_seqscan = off', 'enable_indexscan = on', 'enable_indexonlyscan = on', 'enable_sort = off'],
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Reads all keys of an index one way or the other. */
async function readBy(session: Session, { table, columns, predicate }: Index, way: keyof typeof WAYS): Promise<Seen> {
  for (const setting of WAYS[way]) await session.run(`SET LOCAL ${setting}`)
  const keys = columns.join(', ')
  const rows = `SELECT ROW(${keys}) AS key${way === 'index' ? `, lag(ROW(${keys})) OVER (ORDER BY ${keys}) AS before` : ''}
    FROM ${quoted(table)}${predicate === null ? '' : ` WHERE ${predicate}`}`
  const disorder = way === 'index' ? 'count(*) FILTER (WHERE before > key)' : '0'
  const seen = await session.row<Seen>(
    `SELECT count(*) AS count, coalesce(sum(hashtextextended(key::text, 0)), 0)::text AS sum, ${disorder} AS disorder
     FROM (${rows}) k`,
  )
  if (way === 'index') await session.run('SET LOCAL enable_sort = on')
  return seen ?? { count: 0, sum: '0', disorder: 0 }
}

/** What `amcheck` says of an index; nothing where this user may not ask. */
async function checkedPages(session: Session, { id }: Index, asked: string): Promise<string | undefined> {
  await session.run('SAVEPOINT pages')
  const said = await session.rows(`SELECT ${asked}($1::oid::regclass)`, id).then(
    () => undefined,
    (error: Error) => error.message,
  )
  await session.run('ROLLBACK TO SAVEPOINT pages')
  return said
}

/** The function of `amcheck`, if it is there and this user may call it. */
const AMCHECK = `SELECT format('%I.%I', n.nspname, p.proname) AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE p.proname = 'bt_index_check' AND p.pronargs = 1 AND has_function_privilege(p.oid, 'EXECUTE')
  AND has_schema_privilege(n.oid, 'USAGE') LIMIT 1`

/** @param session in a transaction that sees one state */
export async function* checkIndexes(session: Session): AsyncGenerator<Recounted> {
  const amcheck = (await session.row<{ name: string }>(AMCHECK))?.name
  for (const index of await session.rows<Index>(INDEXES)) {
    const wanted = await readBy(session, index, 'table')
    const found = await readBy(session, index, 'index')
    const isWhole = wanted.count === found.count && wanted.sum === found.sum
    const wrong = !isWhole
      ? `holds ${found.count} rows of ${wanted.count}${wanted.count === found.count ? ', and others' : ''}`
      : found.disorder > 0
        ? 'is not in order'
        : amcheck === undefined
          ? undefined
          : await checkedPages(session, index, amcheck)
    if (wrong === undefined) continue
    const mend = async (writing: Session) => void (await writing.run(`REINDEX INDEX ${quoted(index.name)}`))
    yield { problem: `the index ${index.name} of ${index.table} is damaged: it ${wrong}`, mend }
  }
  for (const setting of WAYS.table) await session.run(`SET LOCAL ${setting.replace('off', 'on')}`)
}
