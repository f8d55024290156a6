/** In which order a run of all tests takes them, so that no processor is idle while the last ones end. */

import { dirname } from 'node:path'

/** Test files for one process. */
export interface Batch {
  files: readonly string[]
  /** Whether their tests wait for other programs, for processes and for time-outs most of the time. */
  kind: 'waits' | 'works'
}

/** Folders on the way to a file by which those that work are told apart. What is deeper stays together as far as it goes. */
const DEPTH = 2

/** Files that take longest: each is a batch by itself, and they are begun first, in this order. */
export const LONGEST = [
  'pipeline/store/postgres/surfaces',
  'pipeline/store/postgres/contract',
  'http/hostile/large',
  'cluster/database-faults',
  'pipeline/language/javascript/attacks',
  'cluster/server-faults',
  'mount/rclone',
  'http/model/turns',
  'server/cli/store',
  'cluster/workers',
  'browser/demo',
  'pipeline/store/postgres/faults',
  'pipeline/store/sqlite/contract',
  'cluster/objects',
  'hostile/bad-day',
  'cluster/model',
  'mount/libreoffice',
].map(name => `test/${name}.test.ts`)

/** Folders and files whose tests wait. */
export const WAITING = [
  'test/browser/',
  'test/cluster/',
  'test/hostile/bad-day.test.ts',
  'test/hostile/shared-folder.test.ts',
  'test/http/hostile/fuzz-raw-sockets.test.ts',
  'test/mount/',
  'test/pipeline/store/objects/',
  'test/pipeline/store/postgres/',
  'test/server/cli/store.test.ts',
]

/**
 * How many other files are in a batch at most, where nobody says. A process that goes on has loaded and compiled what the next
 * files need: 18 files of `test/http/write/` take 18.4 s of processor time in one, 23.4 s in three.
 */
const MOST = { waits: 8, works: 24 }

const kindOf = (file: string): Batch['kind'] => (WAITING.some(place => file.startsWith(place)) ? 'waits' : 'works')

/**
 * @param all paths of test files, from the root of the project
 * @param most how many other files are in a batch at most
 */
export function batchesOf(all: readonly string[], most?: number): Batch[] {
  const rest = new Map<string, string[]>()
  for (const file of all.toSorted()) {
    const kind = kindOf(file)
    const folder = kind === 'waits' ? dirname(file) : dirname(file).split('/').slice(0, DEPTH).join('/')
    if (!LONGEST.includes(file)) rest.set(`${folder} ${kind}`, [...(rest.get(`${folder} ${kind}`) ?? []), file])
  }
  const parts = [...rest.values()].flatMap(files => {
    const count = Math.ceil(files.length / (most ?? MOST[kindOf(files[0] ?? '')]))
    return Array.from({ length: count }, (_, part) =>
      files.filter((_, index) => Math.floor((index * count) / files.length) === part),
    )
  })
  return [
    ...LONGEST.filter(file => all.includes(file)).map(file => [file]),
    ...parts.sort((one, other) => other.length - one.length),
  ].map(files => ({ files, kind: kindOf(files[0] ?? '') }))
}
