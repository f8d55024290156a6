/**
 * Whose objects a prefix of a bucket holds. Each database that keeps blobs there leaves a mark: an object whose name says
 * the installation and where the database is. The installation goes wherever its data go: with a dump, to a replica, into a
 * backup and with a move. So another place of the same installation may be a copy that is tried out, or what the database
 * was before it moved: both are served, and neither removes what the other may have, until one mark is taken away. A mark
 * of another installation is a mistake.
 */

import { randomUUID } from 'node:crypto'
import { Unusable } from '../../errors.ts'
import type { Objects } from '../../objects/objects.ts'
import type { Session } from '../session.ts'
import { pack, unpack } from '../text.ts'
import { homeOf } from './home.ts'
import { OBJECT_NAME } from './strays.ts'

/**
 * Name of the value that says which installation it is. Unlike that which keeps processes apart in a Redis, it goes along with
 * copies.
 */
export const INSTALLATION = 'objects-installation'

/** What the names of marks begin with. */
const OWNERS = 'owner/'

/** Where a database is, as far as its address may be written in many ways. */
async function placeOfDatabase(session: Session): Promise<string> {
  const row = await session.row<{ database: string; schema: string; may: boolean }>(
    `SELECT current_database() AS database, current_schema() AS schema,
       has_function_privilege('pg_control_system()', 'EXECUTE') AS may`,
  )
  // Where a service keeps this from its customers, the names alone tell databases apart.
  const cluster =
    row?.may === true
      ? await session.row<{ number: string }>('SELECT system_identifier::text AS number FROM pg_control_system()')
      : undefined
  return [cluster?.number ?? '', row?.database ?? '', row?.schema ?? ''].map(encodeURIComponent).join('/')
}

interface Marks {
  own: string
  /** Marks at other places. */
  others: string[]
  /** Marks that an earlier database left at the same place. */
  former: string[]
  isMarked: boolean
}

async function marksOf(session: Session, objects: Objects, installation: string): Promise<Marks> {
  const place = await placeOfDatabase(session)
  const own = `${installation}/${place}`
  const found = await objects.namesWith(OWNERS)
  const former = found.filter(name => name !== own && name.slice(name.indexOf('/') + 1) === place)
  return {
    own,
    others: found.filter(name => name !== own && !former.includes(name)),
    former,
    isMarked: found.includes(own),
  }
}

async function installationOf(session: Session): Promise<string | undefined> {
  const row = await session.row<{ value: string }>('SELECT value FROM setting WHERE name = $1', pack(INSTALLATION))
  return row && unpack(row.value)
}

/** What distinguishes this installation from all others; made with the first use. @param given where it is a restored one */
async function requireInstallation(session: Session, given = randomUUID() as string): Promise<string> {
  await session.run(
    'INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
    pack(INSTALLATION),
    pack(given),
  )
  return (await installationOf(session)) ?? given
}

/** The database of a mark, for people. */
function named(mark: string): string {
  const [, , database = '', schema = ''] = mark.split('/').map(decodeURIComponent)
  return `${database}, schema ${schema}`
}

/** @throws Unusable when a mark is of another installation */
function requireOwn({ place }: Objects, { others }: Marks, installation: string): void {
  const foreign = others.find(mark => !mark.startsWith(`${installation}/`))
  if (foreign === undefined) return
  throw new Unusable(
    `${place} holds the large files of another database (${named(foreign)}). Give this one a prefix of its own; ` +
      `if that database is no more, remove the object ${place}${OWNERS}${foreign}`,
  )
}

/** Releases before this one left no marks. @throws Unusable when there are objects that must be another database's */
async function requireEmpty(session: Session, objects: Objects): Promise<void> {
  if ((await homeOf(session)) === objects.place) return
  for await (const { name } of objects.list())
    if (OBJECT_NAME.test(name))
      throw new Unusable(
        `${objects.place} holds large files that are not of this database. Give this one a prefix of its own, ` +
          'or remove them if nobody uses them any more',
      )
}

/**
 * Marks a prefix as this database's.
 *
 * @param given the installation that is restored or moved into the database; its own, or a new one, by default
 * @returns what to tell an operator, where the installation has marked the prefix at other places as well
 * @throws Unusable when the prefix is another installation's, NoAnswer
 */
export async function markOwner(session: Session, objects: Objects, given?: string): Promise<string | undefined> {
  const installation = await requireInstallation(session, given)
  const before = await marksOf(session, objects, installation)
  requireOwn(objects, before, installation)
  if (!before.isMarked) {
    if (before.others.length + before.former.length === 0) await requireEmpty(session, objects)
    await objects.note(OWNERS + before.own)
  }
  // Two that begin at the same time see each other's mark: neither keeps its own unless it may.
  const now = await marksOf(session, objects, installation)
  try {
    requireOwn(objects, now, installation)
  } catch (error) {
    if (!before.isMarked) await objects.remove(OWNERS + now.own)
    throw error
  }
  for (const mark of now.former) await objects.remove(OWNERS + mark)
  return doubtOf(objects, now)
}

/** Why nothing is to be removed. */
function doubtOf({ place }: Objects, { others: [other], isMarked }: Marks): string | undefined {
  if (other !== undefined)
    return (
      `${place} holds the large files of another database as well (${named(other)}), so that none are removed. ` +
      `If that database is no more, remove the object ${place}${OWNERS}${other}`
    )
  return isMarked ? undefined : `${place} is not marked as this database's; that is done when a server starts`
}

/**
 * To be asked before anything is removed.
 *
 * @returns undefined where what this database does not name is nobody's; otherwise why not, in a sentence
 * @throws Unusable, NoAnswer
 */
export async function doubtOfOwner(session: Session, objects: Objects): Promise<string | undefined> {
  return doubtOf(objects, await marksOf(session, objects, (await installationOf(session)) ?? 'none'))
}

/** Takes the mark of this database away. @throws StoreError */
export async function leaveOwner(session: Session, objects: Objects): Promise<void> {
  const { own, isMarked } = await marksOf(session, objects, (await installationOf(session)) ?? 'none')
  if (isMarked) await objects.remove(OWNERS + own)
}
