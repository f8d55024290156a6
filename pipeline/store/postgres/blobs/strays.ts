/** Objects that no row knows: a database that was set back to an earlier state leaves them. */

import type { Objects } from '../../objects/objects.ts'
import type { Session } from '../session.ts'

/** Names of objects: everything else below the prefix is not of this store. */
export const OBJECT_NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Milliseconds: younger ones may have come since. */
const YOUNG = 24 * 60 * 60_000

/** Names compared in one go. */
const AT_ONCE = 1000

/**
 * @param now unix milliseconds
 * @throws the failure of the object store or the database
 */
export async function strayObjects(session: Session, objects: Objects, now: number): Promise<string[]> {
  const strays: string[] = []
  let names: string[] = []
  async function compare(): Promise<void> {
    const rows = await session.rows<{ id: string }>(
      `SELECT id FROM unnest($1::uuid[]) AS k (id) WHERE NOT EXISTS (SELECT 1 FROM object WHERE object.id = k.id)`,
      names,
    )
    strays.push(...rows.map(({ id }) => id))
    names = []
  }
  for await (const { name, modified } of objects.list()) {
    if (!OBJECT_NAME.test(name) || now - modified < YOUNG) continue
    names.push(name)
    if (names.length === AT_ONCE) await compare()
  }
  await compare()
  return strays
}
