/** Repairs in a database what can be repaired without losing content: rows that belong to nothing, and sums. */

import { splitPath } from '../paths.ts'
import { pathOf } from '../records/rows.ts'
import { sumsOf } from '../records/sums.ts'
import type { Property } from '../resource.ts'
import { propertySum, ZERO } from '../tags.ts'
import { COLUMNS, type Row, rowOf } from './rows.ts'
import type { Session } from './session.ts'
import { unpack } from './text.ts'

/** Has work done in one transaction while nobody commits. It counts as a commit of which nothing else is known. */
export async function whileNobodyCommits(session: Session, work: () => Promise<void>): Promise<void> {
  await session.run('BEGIN')
  try {
    await session.row('SELECT version FROM progress FOR UPDATE')
    await work()
    await session.run('UPDATE progress SET version = version + 1')
    await session.run('COMMIT')
  } catch (error) {
    await session.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const stored = (sum: string) => (sum === ZERO ? null : sum)

/** Makes the sums of properties and members of a whole site anew. The bytes of files are not looked at. */
export async function rebuildSums(session: Session, name: string): Promise<void> {
  const site = (await session.row<{ id: number }>('SELECT id FROM site WHERE name = $1', name))?.id
  if (site === undefined) return
  const rows = (await session.rows<Row>(`SELECT ${COLUMNS} FROM resource r WHERE site = $1`, site)).map(rowOf)
  const properties = await session.rows<Property & { id: number }>(
    'SELECT p.id, p.namespace, p.name, p.value FROM property p JOIN resource r ON r.id = p.id WHERE r.site = $1',
    site,
  )
  const described = Map.groupBy(properties, ({ id }) => id)
  for (const row of rows) {
    const own = (described.get(row.id) ?? []).map(each => ({
      namespace: unpack(each.namespace),
      name: unpack(each.name),
      value: unpack(each.value),
    }))
    const sum = stored(propertySum(own))
    if (sum === row.properties) continue
    row.properties = sum
    await session.run('UPDATE resource SET properties = $1 WHERE id = $2', sum, row.id)
  }
  const members = new Map(rows.filter(({ kind }) => kind === 0).map(row => [pathOf(row), row.members]))
  const below = rows.filter(({ folder }) => folder !== '')
  for (const [path, sum] of sumsOf(below, '/')) {
    if (!members.has(path) || members.get(path) === sum) continue
    const { folder, name: own } = splitPath(path)
    await session.run(
      'UPDATE resource SET members = $1 WHERE site = $2 AND folder = $3 AND name = $4',
      sum,
      site,
      folder,
      own,
    )
  }
}
