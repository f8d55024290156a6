/** Fills a store whose files may not grow any more, and tells what was acknowledged. Run with `ulimit -f`. */

import { StoreError } from '../../../../pipeline/store/errors.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import { put } from '../fixture.ts'

const [, , folder = ''] = process.argv
const store = await openSqliteStore({ folder })
const site = store.site('s')
let errors = 0
for (let i = 0; errors < 2; i++) {
  const path = `/${i}`
  try {
    await site.commit({ changes: [put(path, 'x'.repeat(100_000))] })
    process.send?.({ ok: path })
  } catch (error) {
    errors++
    process.send?.({ error: error instanceof StoreError ? error.reason : String(error) })
  }
}
await store.close()
process.disconnect()
