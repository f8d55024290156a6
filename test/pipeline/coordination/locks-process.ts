/**
 * A process that takes locks as fast as it can until it is killed or its disk is full, and tells of every call that was
 * acknowledged: `take <token>`, `end <token>`, `failed <name of the error>`.
 */

import { writeSync } from 'node:fs'
import { openLocalLocks } from '../../../pipeline/coordination/local/locks.ts'

// A limit on the size of files is told by an error instead of a signal that ends the process.
process.on('SIGXFSZ', () => undefined)

const tell = (line: string) => writeSync(1, `${line}\n`)
const [folder = '', workers = '8'] = process.argv.slice(2)
const locks = await openLocalLocks({ folder })
tell('ready')

async function work(worker: number): Promise<void> {
  for (let i = 0; ; i++) {
    const path = `/${worker}/${i}`
    const taken = await locks.take('a.example', {
      path,
      scope: 'exclusive',
      depth: 0,
      owner: '',
      user: 'ann',
      seconds: 3600,
    })
    if (!taken.ok) throw new Error(taken.reason)
    const { token } = taken.lock
    tell(`take ${token}`)
    if (i % 2 === 0) continue
    tell(`ending ${token}`)
    if (await locks.end('a.example', token)) tell(`end ${token}`)
  }
}

await Promise.all(
  Array.from({ length: Number(workers) }, (_, worker) =>
    work(worker).catch((error: unknown) => tell(`failed ${error instanceof Error ? error.name : 'otherwise'}`)),
  ),
)
