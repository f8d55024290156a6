/** Closes a store while a change is on its way, in a process that has nothing else to do, and tells what became of both. */

import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'

const [, , folder = ''] = process.argv
const store = await openSqliteStore({ folder })
const submitted = store.setSetting('last', 'word')
const closing = store.close()
await submitted
await closing
console.log('closed')
