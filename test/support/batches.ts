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
  'cluster/objects',
  'pipeline/language/javascript/attacks',
  'cluster/server-faults',
  'cluster/database-faults',
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
 * Files that collect garbage again and again: that takes as long as all that their process holds, which is ten times as much
 * where a hundred files have run in it.
 */
export const COLLECTING = [
  'hostile/closed-sites',
  'hostile/open-items',
  'http/read/kept-answers',
  'pipeline/compose/garbage',
  'pipeline/own-text',
  'pipeline/site/tree-sums',
  'pipeline/tree/long-text',
  'server/connections',
].map(name => `test/${name}.test.ts`)

/**
 * How many other files that work are in a batch at most. A process that goes on has loaded and compiled what the next files
 * need: 14 files of `test/http/write/` take 14.4 s of processor time in one, 17.2 s in two.
 */
const MOST = 96
/** How many are at least. */
const LEAST = 12
/** What is left is cut as if so many processes were to share it: the last batches are small, and end together. */
const SHARES = 3

/** Folders with so few files that wait, at most, share a process. */
const FEW = 2

const kindOf = (file: string): Batch['kind'] => (WAITING.some(place => file.startsWith(place)) ? 'waits' : 'works')

/** @returns files that work, neighbours together: the first batches have most of them */
function cut(files: readonly string[]): string[][] {
  const parts: string[][] = []
  for (let at = 0; at < files.length; at += parts.at(-1)?.length ?? 0) {
    const share = Math.ceil((files.length - at) / SHARES)
    parts.push(files.slice(at, at + Math.min(MOST, Math.max(LEAST, share))))
  }
  return parts
}

/**
 * @param all paths of test files, from the root of the project
 * @param apart whether each file is a batch by itself
 */
export function batchesOf(all: readonly string[], apart = false): Batch[] {
  const first = LONGEST.filter(file => all.includes(file))
  const collecting = apart ? [] : COLLECTING.filter(file => all.includes(file))
  const rest = all.filter(file => !first.includes(file) && !collecting.includes(file)).sort()
  const ofKind = (kind: Batch['kind']) => rest.filter(file => kindOf(file) === kind)
  const folders = [...Map.groupBy(ofKind('waits'), dirname).values()].sort((one, other) => other.length - one.length)
  const small = folders.filter(files => files.length <= FEW).flat()
  const waiting = [...folders.filter(files => files.length > FEW), ...(small.length > 0 ? [small] : [])]
  const parts = [...waiting, collecting, ...cut(ofKind('works'))]
  return [...first.map(file => [file]), ...(apart ? rest.map(file => [file]) : parts)].map(files => ({
    files,
    kind: kindOf(files[0] ?? ''),
  }))
}
