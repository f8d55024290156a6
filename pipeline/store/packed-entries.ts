/** Entries as one text, an entry to a line: the form in which versions are compared. */

import type { Entry } from './resource.ts'

/** Entries that are packed in one step. */
const PER_STEP = 500

/** Lists that were packed in steps. */
const packed = new WeakMap<readonly Entry[], string>()

export function packEntries(entries: readonly Entry[]): string {
  return packed.get(entries) ?? entries.map(lineOf).join('\n')
}

/** Packs a long list in steps, for whoever asks for it soon: a commit does it without a pause. */
export function* packingEntries(entries: readonly Entry[]): Generator<void, void, void> {
  if (entries.length <= PER_STEP) return
  const lines: string[] = []
  for (const entry of entries) if (lines.push(lineOf(entry)) % PER_STEP === 0) yield
  packed.set(entries, lines.join('\n'))
  yield
}

/** Entries that stay from version to version are the same objects, more often than not. */
const lines = new WeakMap<Entry, string>()

function lineOf(entry: Entry): string {
  let line = lines.get(entry)
  if (line === undefined) lines.set(entry, (line = JSON.stringify([entry.item, ...entry.keys])))
  return line
}
