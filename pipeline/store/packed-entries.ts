/** Entries as one text, an entry to a line: the form in which versions are compared. */

import type { Entry } from './resource.ts'

/** Keys that are packed in one step. */
const KEYS_PER_STEP = 1_000

/** Lists that were packed in steps. */
const packed = new WeakMap<readonly Entry[], string>()

export function packEntries(entries: readonly Entry[]): string {
  return packed.get(entries) ?? entries.map(lineOf).join('\n')
}

/** Packs a long list in steps, for whoever asks for it soon: a commit does it without a pause. */
export function* packingEntries(entries: readonly Entry[]): Generator<void, void, void> {
  if (entries.length + entries.reduce((sum, { keys }) => sum + keys.length, 0) <= KEYS_PER_STEP) return
  const packedLines: string[] = []
  let made = 0
  for (const entry of entries) {
    made += 1 + entry.keys.length
    if (made >= KEYS_PER_STEP) {
      made = 0
      yield
    }
    packedLines.push(yield* packingLine(entry))
  }
  packed.set(entries, packedLines.join('\n'))
  yield
}

/** One item may have hundreds of thousands of keys. */
function* packingLine(entry: Entry): Generator<void, string, void> {
  const { item, keys } = entry
  if (keys.length <= KEYS_PER_STEP || lines.has(entry)) return lineOf(entry)
  const parts = [JSON.stringify(item)]
  for (let i = 0; i < keys.length; i += KEYS_PER_STEP) {
    parts.push(JSON.stringify(keys.slice(i, i + KEYS_PER_STEP)).slice(1, -1))
    yield
  }
  const line = `[${parts.join()}]`
  lines.set(entry, line)
  return line
}

/** Entries that stay from version to version are the same objects, more often than not. */
const lines = new WeakMap<Entry, string>()

function lineOf(entry: Entry): string {
  let line = lines.get(entry)
  if (line === undefined) lines.set(entry, (line = JSON.stringify([entry.item, ...entry.keys])))
  return line
}
