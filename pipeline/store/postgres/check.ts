/** Proves that a store in PostgreSQL is sound: bytes, sums of collections, and nothing that hangs on nothing. */

import { createHash, hash } from 'node:crypto'
import { blobStream } from '../blobs.ts'
import { BlobChanged, StoreError } from '../errors.ts'
import type { Objects } from '../objects/objects.ts'
import { splitPath } from '../paths.ts'
import { changedMember } from '../records/changed-member.ts'
import type { Resource } from '../resource.ts'
import type { SiteReader } from '../store.ts'
import { memberSum, propertySum } from '../tags.ts'
import type { ProgressReport } from '../transfer.ts'
import { unusable } from './address.ts'
import { requireHome } from './blobs/home.ts'
import { doubtOfOwner } from './blobs/owner.ts'
import { strayObjects } from './blobs/strays.ts'
import { claim, type Use } from './claim.ts'
import { connectPrimary, type DatabaseAddress, drop, isOfDatabase } from './connection.ts'
import { checkIndexes } from './indexes.ts'
import { readSite } from './read/reader.ts'
import { type Recounted, recount } from './recount.ts'
import { rebuildSums, whileNobodyCommits } from './repair.ts'
import { prepareTables } from './schema.ts'
import { type Session, sessionOn } from './session.ts'

export interface CheckReport {
  /** Resources looked at. */
  checked: number
  /** What is wrong, one sentence each. */
  problems: string[]
  /** How many of them were repaired. */
  repaired: number
}

export interface CheckOptions {
  /** Repair what can be repaired without losing content: rows that belong to nothing, and sums. */
  repair?: boolean
  progress?: (report: ProgressReport) => void
  /** What the database is claimed for while it is repaired: others must not have it in memory, or learn of commits. */
  use?: Use
  /** Where blobs are that are not in the database. */
  objects?: Objects | undefined
  /** Unix milliseconds; the system's by default. */
  now?: number
}

const REPORT_EVERY = 500

/** Rows that belong to nothing, by what people call them: their table and the condition. */
const ORPHANS: readonly (readonly [what: string, table: string, condition: string])[] = [
  [
    'bodies without a document or event',
    'body',
    `NOT EXISTS (SELECT 1 FROM resource r WHERE r.body = body.id)
       AND NOT EXISTS (SELECT 1 FROM event e WHERE e.body = body.id)`,
  ],
  ...['derived', 'entry', 'entry_text', 'property'].map(
    table =>
      [
        `rows of ${table} without a resource`,
        table,
        `NOT EXISTS (SELECT 1 FROM resource r WHERE r.id = ${table}.id)`,
      ] as const,
  ),
  [
    'chunks without an upload or blob',
    'chunk',
    `NOT EXISTS (SELECT 1 FROM blob b WHERE b.upload = chunk.upload)
       AND NOT EXISTS (SELECT 1 FROM upload u WHERE u.id = chunk.upload)`,
  ],
]

/** Resources whose bytes are lost: only a backup has them. */
const LOST: readonly (readonly [what: string, condition: string])[] = [
  ['resources without their body', 'r.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM body b WHERE b.id = r.body)'],
  ['resources without their blob', 'r.blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob b WHERE b.digest = r.blob)'],
]

/** The bytes of a file as they are. */
async function bytesOf(site: SiteReader, resource: Resource): Promise<{ digest: string; size: number } | undefined> {
  const body = await site.body(resource)
  if (body === undefined) return undefined
  if ('bytes' in body) return { digest: hash('sha256', body.bytes), size: body.bytes.length }
  const digest = createHash('sha256')
  let size = 0
  for await (const piece of blobStream(body.blob)) {
    digest.update(piece)
    size += piece.length
  }
  return { digest: digest.digest('hex'), size }
}

async function* everything(site: SiteReader): AsyncGenerator<Resource> {
  const root = await site.find('/')
  if (root) yield root
  yield* site.walk('/', { collections: true })
}

/** Something that is wrong at a path. */
interface Fault {
  problem: string
  /** Sums are made anew for a whole site; nothing mends bytes. */
  mend?: 'sums' | ((session: Session) => Promise<void>)
}

/** Sets one column of a file, unless it has been written since it was looked at. */
function setting(
  name: string,
  { path, version }: Pick<Resource, 'path' | 'version'>,
  column: 'type' | 'size',
  value: string | number,
): Fault['mend'] {
  const { folder, name: own } = splitPath(path)
  return async session =>
    void (await session.run(
      `UPDATE resource SET ${column} = $1
       WHERE site = (SELECT id FROM site WHERE name = $2) AND folder = $3 AND name = $4 AND version = $5`,
      value,
      name,
      folder,
      own,
      version,
    ))
}

/** What is wrong with a resource. @param name of its site */
async function* faultsOf(session: Session, name: string, site: SiteReader, resource: Resource): AsyncGenerator<Fault> {
  const { path, kind, digest, size } = resource
  const fault = (message: string, mend?: Fault['mend'], at = path): Fault => ({
    problem: `${name}${at}: ${message}`,
    ...(mend && { mend }),
  })
  if (propertySum(await site.properties(path)) !== resource.properties)
    yield fault('its properties have another sum', 'sums')
  if (kind === 'collection') {
    const hidden = await session.rows<{ name: string }>(
      'SELECT name FROM resource WHERE site = (SELECT id FROM site WHERE name = $1) AND folder = $2 AND unlisted = 1',
      name,
      path,
    )
    const unlisted = new Set(hidden.map(each => each.name))
    const listed = (await site.list(path)).filter(member => !unlisted.has(splitPath(member.path).name))
    if (memberSum(listed) === resource.members) return
    const was = changedMember(listed, resource.members)
    const is = listed.find(member => member.path === was?.path)
    if (was === undefined) yield fault('its members have another sum', 'sums')
    else
      yield fault(
        `its type is ${is?.type}, and was ${was.type} when it was stored`,
        setting(name, was, 'type', was.type),
        was.path,
      )
    return
  }
  const found = await bytesOf(site, resource).catch(error => {
    // An object store that is away has lost nothing.
    if (error instanceof StoreError) throw error
    return error instanceof BlobChanged ? { digest: '', size } : undefined
  })
  if (found === undefined) yield fault('its bytes are missing')
  else if (found.digest !== digest) yield fault('its bytes are not those that were stored')
  else if (found.size !== size)
    yield fault(`its size is noted as ${size} bytes, and is ${found.size}`, setting(name, resource, 'size', found.size))
}

/**
 * Checks the store in a database, as it is at one moment. Others may use it meanwhile; while it is repaired, only those who go
 * together with the claim.
 *
 * @throws Unusable when the database cannot be reached or used, when blobs are in a bucket that is not given, and when others use a database that is to be
 *   repaired
 */
export async function checkDatabase(
  address: DatabaseAddress,
  { repair = false, progress, objects, now = Date.now(), use }: CheckOptions,
): Promise<CheckReport> {
  const client = await connectPrimary(address, 'check').catch(error => {
    throw unusable(address, error)
  })
  const report: CheckReport = { checked: 0, problems: [], repaired: 0 }
  const session = sessionOn(client)
  /** Adds problems, which a repair takes away if there is one. */
  async function found(problems: readonly string[], mend?: () => Promise<void>): Promise<void> {
    if (problems.length === 0) return
    const isMended = repair && mend !== undefined
    if (isMended) await whileNobodyCommits(session, mend)
    report.problems.push(...problems.map(problem => (isMended ? `${problem} (repaired)` : problem)))
    if (isMended) report.repaired += problems.length
  }
  try {
    await prepareTables(client, address)
    if (repair && use !== undefined) await claim(session, use, 'check')
    await requireHome(session, objects)
    const { orphans, recounted, lost, sites } = await lookAtAll(session, report, { progress, objects })
    for (const [problem, mend] of orphans) await found([problem], async () => void (await session.run(mend)))
    for (const { problem, mend } of recounted) await found([problem], mend && (() => mend(session)))
    await found(lost)
    if (objects !== undefined) await lookAtObjects(session, objects, { repair, now }, report)
    for (const [name, faults] of sites) {
      for (const { problem, mend } of faults) if (mend !== 'sums') await found([problem], mend && (() => mend(session)))
      const sums = faults.filter(({ mend }) => mend === 'sums').map(({ problem }) => problem)
      await found(sums, () => rebuildSums(session, name))
    }
    return report
  } catch (error) {
    throw isOfDatabase(error) ? unusable(address, error) : error
  } finally {
    drop(client)
  }
}

/** Objects that nobody knows: they only take room, unless another database has them. */
async function lookAtObjects(
  session: Session,
  objects: Objects,
  { repair, now }: Required<Pick<CheckOptions, 'repair' | 'now'>>,
  report: CheckReport,
): Promise<void> {
  const strays = await strayObjects(session, objects, now)
  const doubt = await doubtOfOwner(session, objects)
  if (doubt !== undefined) report.problems.push(doubt)
  if (doubt !== undefined || strays.length === 0) return
  if (repair) for (const name of strays) await objects.remove(name)
  report.problems.push(`${strays.length} objects that nothing in the database knows${repair ? ' (repaired)' : ''}`)
  if (repair) report.repaired++
}

/** Everything that is wrong at one moment. Orphans come with the statement that takes them away. */
async function lookAtAll(session: Session, report: CheckReport, { progress, objects }: CheckOptions) {
  await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await session.run('SET LOCAL enable_hashjoin = on')
  const countOf = async (sql: string) => (await session.row<{ count: number }>(sql))?.count ?? 0
  const orphans: [problem: string, mend: string][] = []
  for (const [what, table, condition] of ORPHANS) {
    const count = await countOf(`SELECT count(*) AS count FROM ${table} WHERE ${condition}`)
    if (count > 0) orphans.push([`${count} ${what}`, `DELETE FROM ${table} WHERE ${condition}`])
  }
  const recounted: Recounted[] = []
  for await (const each of checkIndexes(session)) recounted.push(each)
  for await (const each of recount(session)) recounted.push(each)
  const lost: string[] = []
  for (const [what, condition] of LOST) {
    const count = await countOf(`SELECT count(*) AS count FROM resource r WHERE ${condition}`)
    if (count > 0) lost.push(`${count} ${what}`)
  }
  const reads = { ...session, inOneState: <Result>(work: (own: Session) => Promise<Result>) => work(session) }
  const context = { reads, objects, clock: Date.now, eventRetention: 0, opened: 0 }
  const sites = new Map<string, Fault[]>()
  for (const { name } of await session.rows<{ name: string }>('SELECT name FROM site ORDER BY name')) {
    const site = readSite(context, name)
    const faults: Fault[] = []
    for await (const resource of everything(site)) {
      for await (const fault of faultsOf(session, name, site, resource)) faults.push(fault)
      if (++report.checked % REPORT_EVERY === 0) progress?.({ step: 'checking', done: report.checked })
    }
    sites.set(name, faults)
  }
  await session.run('COMMIT')
  return { orphans, recounted, lost, sites }
}
