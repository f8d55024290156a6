/** Proves that a store in PostgreSQL is sound: bytes, sums of collections, and nothing that hangs on nothing. */

import { createHash, hash } from 'node:crypto'
import { blobStream } from '../blobs.ts'
import { splitPath } from '../paths.ts'
import type { Resource } from '../resource.ts'
import type { SiteReader } from '../store.ts'
import { memberSum, propertySum } from '../tags.ts'
import type { ProgressReport } from '../transfer.ts'
import { connectPrimary, type DatabaseAddress, drop } from './connection.ts'
import { readSite } from './read/reader.ts'
import { prepareTables } from './schema.ts'
import { type Session, sessionOn } from './session.ts'

export interface CheckReport {
  /** Resources looked at. */
  checked: number
  /** What is wrong, one sentence each. */
  problems: string[]
  /** Nothing is repaired here: the database has backups of its own, and `scriptorium restore`. */
  repaired: 0
}

export interface CheckOptions {
  progress?: (report: ProgressReport) => void
}

const REPORT_EVERY = 500

/** Rows that belong to nothing, by what people call them. */
const ORPHANS: readonly (readonly [what: string, sql: string])[] = [
  [
    'bodies without a document or event',
    `SELECT count(*) AS count FROM body b WHERE NOT EXISTS (SELECT 1 FROM resource r WHERE r.body = b.id)
       AND NOT EXISTS (SELECT 1 FROM event e WHERE e.body = b.id)`,
  ],
  [
    'resources without their body',
    `SELECT count(*) AS count FROM resource r WHERE r.body IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM body b WHERE b.id = r.body)`,
  ],
  [
    'resources without their blob',
    `SELECT count(*) AS count FROM resource r WHERE r.blob IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM blob b WHERE b.digest = r.blob)`,
  ],
  ...['derived', 'entry', 'entry_text', 'property'].map(
    table =>
      [
        `rows of ${table} without a resource`,
        `SELECT count(*) AS count FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM resource r WHERE r.id = t.id)`,
      ] as const,
  ),
  [
    'chunks without an upload or blob',
    `SELECT count(*) AS count FROM chunk c WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.upload = c.upload)
       AND NOT EXISTS (SELECT 1 FROM upload u WHERE u.id = c.upload)`,
  ],
]

async function digestOf(site: SiteReader, resource: Resource): Promise<string | undefined> {
  const body = await site.body(resource)
  if (body === undefined) return undefined
  if ('bytes' in body) return hash('sha256', body.bytes)
  const digest = createHash('sha256')
  for await (const piece of blobStream(body.blob)) digest.update(piece)
  return digest.digest('hex')
}

async function* everything(site: SiteReader): AsyncGenerator<Resource> {
  const root = await site.find('/')
  if (root) yield root
  yield* site.walk('/', { collections: true })
}

/** What is wrong with a resource. @param name of its site */
async function* faultsOf(session: Session, name: string, site: SiteReader, resource: Resource): AsyncGenerator<string> {
  const { path, kind, digest } = resource
  if (propertySum(await site.properties(path)) !== resource.properties) yield 'its properties have another sum'
  if (kind === 'collection') {
    const hidden = await session.rows<{ name: string }>(
      'SELECT name FROM resource WHERE site = (SELECT id FROM site WHERE name = $1) AND folder = $2 AND unlisted = 1',
      name,
      path,
    )
    const unlisted = new Set(hidden.map(each => each.name))
    const listed = (await site.list(path)).filter(member => !unlisted.has(splitPath(member.path).name))
    if (memberSum(listed) !== resource.members) yield 'its members have another sum'
    return
  }
  const found = await digestOf(site, resource).catch(() => undefined)
  if (found === undefined) yield 'its bytes are missing'
  else if (found !== digest) yield 'its bytes are not those that were stored'
}

/**
 * Checks the store in a database, as it is at one moment. Servers may use it meanwhile.
 *
 * @throws the database's error when it cannot be reached
 */
export async function checkDatabase(address: DatabaseAddress, { progress }: CheckOptions): Promise<CheckReport> {
  const client = await connectPrimary(address, 'check')
  const report: CheckReport = { checked: 0, problems: [], repaired: 0 }
  try {
    await prepareTables(client, address)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_hashjoin = on')
    const session = sessionOn(client)
    const reads = { ...session, inOneState: <Result>(work: (own: Session) => Promise<Result>) => work(session) }
    const context = { reads, clock: Date.now, eventRetention: 0, opened: 0 }
    for (const [what, sql] of ORPHANS) {
      const count = (await session.row<{ count: number }>(sql))?.count ?? 0
      if (count > 0) report.problems.push(`${count} ${what}`)
    }
    const sites = await session.rows<{ name: string }>('SELECT name FROM site ORDER BY name')
    for (const { name } of sites) {
      const site = readSite(context, name)
      for await (const resource of everything(site)) {
        for await (const fault of faultsOf(session, name, site, resource))
          report.problems.push(`${name}${resource.path}: ${fault}`)
        if (++report.checked % REPORT_EVERY === 0) progress?.({ step: 'checking', done: report.checked })
      }
    }
    return report
  } finally {
    drop(client)
  }
}
