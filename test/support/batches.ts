/** In which order a run of all tests takes them, so that no processor is idle while the last ones end. */

import { dirname } from 'node:path'

/** Test files for one process. */
export interface Batch {
  files: readonly string[]
  /** Whether their tests wait for other programs, for processes and for time-outs most of the time. */
  kind: 'waits' | 'works'
}

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
  'pipeline/tree/selector/judge',
  'cluster/workers',
  'browser/demo',
  'pipeline/store/postgres/faults',
  'pipeline/store/sqlite/contract',
  'cluster/objects',
  'http/model/shapes',
  'hostile/bad-day',
  'cluster/model',
  'pipeline/compose/reuse',
  'mount/libreoffice',
  'dav/methods/random-operations',
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

/** How many other files of one folder are in a batch at most, where nobody says. */
const MOST = 8

/**
 * @param all paths of test files, from the root of the project
 * @param most how many other files of one folder are in a batch at most
 */
export function batchesOf(all: readonly string[], most = MOST): Batch[] {
  const rest = new Map<string, string[]>()
  for (const file of all.toSorted()) {
    const waits = WAITING.some(place => file.startsWith(place))
    const place = `${dirname(file)} ${waits}`
    if (!LONGEST.includes(file)) rest.set(place, [...(rest.get(place) ?? []), file])
  }
  const parts = [...rest.values()].flatMap(files => {
    const count = Math.ceil(files.length / most)
    return Array.from({ length: count }, (_, part) => files.filter((_, index) => index % count === part))
  })
  return [
    ...LONGEST.filter(file => all.includes(file)).map(file => [file]),
    ...parts.sort((one, other) => other.length - one.length),
  ].map(files => ({
    files,
    kind: files.every(file => WAITING.some(place => file.startsWith(place))) ? 'waits' : 'works',
  }))
}
