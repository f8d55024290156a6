/** Writes as fast as it can from 16 writers and tells what was acknowledged, until it is killed. */

import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import { bodyOf, LARGE, WRITERS } from './crash.ts'

const [, , folder = ''] = process.argv
const store = await openSqliteStore({ folder, inlineLimit: LARGE - 1 })
const site = store.site('crash')

async function write(writer: number): Promise<never> {
  const counter = `w${writer}`
  for (let n = (await site.counters())[counter] ?? 0; ; n++) {
    const paths = ['a', 'b', 'c'].map(name => `/${counter}/${n}/${name}`)
    const result = await site.commit({
      changes: paths.map(path => {
        const bytes = bodyOf(path, n)
        return { op: 'put', path, kind: 'blob', content: { bytes }, type: 'text/plain', derived: { of: path } }
      }),
      events: paths.map(path => ({ path, payload: path })),
      requires: { [counter]: n },
      raises: [counter],
    })
    if (!result.ok) throw new Error(`Refused: ${result.reason}`)
    process.send?.({ writer, n })
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
