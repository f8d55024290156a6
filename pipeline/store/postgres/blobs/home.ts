/** Where the blobs of a database are: a database whose blobs are in a bucket belongs to that bucket. */

import { Unusable } from '../../errors.ts'
import type { Objects } from '../../objects/objects.ts'
import type { Session } from '../session.ts'
import { pack, unpack } from '../text.ts'

/** Name of the installation's value that says which bucket it is. */
const HOME = pack('objects')

/** The bucket that blobs are in, or were; undefined where there was none. */
export async function homeOf(session: Session): Promise<string | undefined> {
  const row = await session.row<{ value: string }>('SELECT value FROM setting WHERE name = $1', HOME)
  return row && unpack(row.value)
}

/** @throws Unusable when blobs are in a bucket that is not the one of the settings */
export async function requireHome(session: Session, objects: Objects | undefined): Promise<void> {
  const used = await session.row('SELECT 1 AS found FROM object JOIN blob ON blob.upload = object.id LIMIT 1')
  if (used === undefined) return
  const home = await homeOf(session)
  if (objects === undefined)
    throw new Unusable(`large files of this database are in ${home}; the setting blobs must name that`)
  if (home !== undefined && home !== objects.place)
    throw new Unusable(`large files of this database are in ${home}, but the setting blobs names ${objects.place}`)
}

/** Notes which bucket the blobs are in from now on. */
export async function settleHome(session: Session, { place }: Objects): Promise<void> {
  await session.run(
    'INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value',
    HOME,
    pack(place),
  )
}
