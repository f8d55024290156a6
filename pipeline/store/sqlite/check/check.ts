/** Proves that an embedded store is sound, and repairs what can be repaired without losing content. */

import { Unusable } from '../../errors.ts'
import type { ProgressReport } from '../../transfer.ts'
import { prepareBeginning } from '../commit/begin.ts'
import { prepareStatements } from '../commit/statements.ts'
import { connectReader, connectWriter, holdsStore, prepareTables } from '../schema.ts'
import { checkBlobs, checkFiles, checkReferences } from './blobs.ts'
import type { CheckContext, Disagreement, Found } from './context.ts'
import { checkEntries, checkNumbers, checkSites } from './recount.ts'
import { checkIntegrity, checkOrphans, checkResources, checkSums } from './rows.ts'
import { checkSchema } from './schema.ts'

export interface StoreFinding extends Disagreement {
  repaired: boolean
}

export interface CheckReport {
  /** Number of resources and blobs looked at. */
  checked: number
  findings: StoreFinding[]
  /** The findings as sentences that name their place. */
  problems: string[]
  /** How many of them were repaired. */
  repaired: number
}

export interface CheckOptions {
  repair: boolean
  /** Told now and then how far the check is. */
  progress?: (report: ProgressReport) => void
}

/** Things looked at between two reports of progress. */
const REPORT_EVERY = 500

/** A finding as one sentence. */
function sentence({ site, path, digest, message, repaired }: StoreFinding): string {
  const place =
    path !== undefined ? `${site ?? ''}${path}: ` : digest !== undefined ? `blob ${digest.slice(0, 12)}: ` : ''
  return `${place}${message}${repaired ? ' (repaired)' : ''}`
}

/**
 * Checks the store in a folder. A server may have it open meanwhile.
 * @throws Unusable when there is no store in the folder
 */
export async function checkFolder(folder: string, options: CheckOptions): Promise<CheckReport> {
  if (!holdsStore(folder)) throw new Unusable(`there is no store in ${folder}`)
  prepareTables(folder)
  const writer = connectWriter(folder)
  const reader = connectReader(folder)
  const begin = prepareBeginning(writer)
  let checked = 0
  const steps = new Map<string, number>()

  function locked<Result>(work: () => Result): Result {
    begin.run()
    try {
      const result = work()
      writer.exec('COMMIT')
      return result
    } finally {
      if (writer.inTransaction()) writer.exec('ROLLBACK')
    }
  }

  const findings: StoreFinding[] = []
  /** What is not found in a damaged file may still be there; without it, what hangs on it seems to belong to nothing. */
  const isWhole = () => !findings.some(({ kind, repaired }) => kind === 'integrity' || (kind === 'table' && !repaired))
  function take({ repair, ...found }: Found): void {
    let repaired = false
    if (options.repair && isWhole() && repair !== undefined) {
      try {
        locked(repair)
        repaired = true
      } catch {
        // Stays a finding that was not repaired.
      }
    }
    findings.push({ ...found, repaired })
  }

  /** All that is found in tables whose rows can be looked at. */
  async function checkRows(): Promise<void> {
    const context: CheckContext = {
      folder,
      reader,
      writer,
      statements: prepareStatements(writer),
      locked,
      counted(step, total) {
        checked++
        const done = (steps.get(step) ?? 0) + 1
        steps.set(step, done)
        if (done % REPORT_EVERY === 0 || done === total) options.progress?.({ step, done, total })
      },
    }
    for (const check of [
      checkIntegrity,
      checkSites,
      checkResources,
      checkOrphans,
      checkEntries,
      checkNumbers,
      checkSums,
      checkReferences,
      checkBlobs,
      checkFiles,
    ]) {
      // Each check sees one state, and the next one what was repaired.
      reader.exec('BEGIN')
      for await (const found of check(context)) take(found)
      reader.exec('COMMIT')
    }
  }

  try {
    for (const found of checkSchema(reader, writer)) take(found)
    if (!findings.some(({ kind, repaired }) => kind === 'table' && !repaired)) await checkRows()
  } finally {
    reader.close()
    writer.close()
  }
  const problems = findings.map(sentence)
  return { checked, findings, problems, repaired: findings.filter(({ repaired }) => repaired).length }
}
