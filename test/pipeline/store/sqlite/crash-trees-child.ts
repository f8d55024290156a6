/** Moves, copies and removes a tree as fast as it can, and saves a document in it, until it is killed. */

import type { Change } from '../../../../pipeline/store/commit.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import { put } from '../fixture.ts'
import { FILES, MOVES, placeAfter, TELL } from './crash.ts'

const [, , folder = ''] = process.argv
const store = await openSqliteStore({ folder })
const site = store.site('trees')

async function commit(changes: Change[], raises: string[] = []): Promise<void> {
  const result = await site.commit({ changes, raises })
  if (!result.ok) throw new Error(`Refused: ${result.reason}`)
}

const done = (await site.counters())[MOVES]
if (done === undefined)
  await commit(
    Array.from({ length: FILES }, (_, i) => put(`${placeAfter(0)}${i}.html`, `file ${i}`)),
    [MOVES],
  )
for (let n = done ?? 1; ; n++) {
  const [from, to] = [placeAfter(n - 1), placeAfter(n)]
  await commit([{ op: 'move', from, to, tell: TELL }], [MOVES])
  process.send?.(n)
  await commit([{ op: 'copy', from: to, to: '/copy/', deep: true, tell: TELL }])
  await commit([put(`${to}0.html`, `file 0 after ${n}`)])
  await commit([{ op: 'delete', path: '/copy/', tell: TELL }])
}
