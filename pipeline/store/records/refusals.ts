/** Commits that are undone because of what stands, or does not stand, at a path. */

import type { CommitResult, Expectation } from '../commit.ts'
import { ZERO } from '../tags.ts'
import { pathOf, type ResourceRow, resourceOf } from './rows.ts'

/** Thrown inside a commit to undo it; carries the answer. */
export class Refusal extends Error {
  readonly result: Extract<CommitResult, { ok: false }>
  constructor(result: Extract<CommitResult, { ok: false }>) {
    super(result.reason)
    this.result = result
  }
}

/** Undoes the commit because of what stands, or does not stand, at a path. */
export function refuse(reason: 'version' | 'missing' | 'kind', path: string, row?: ResourceRow): never {
  const current = row === undefined ? undefined : resourceOf(row)
  if (reason === 'kind' && current !== undefined) throw new Refusal({ ok: false, reason, path, current })
  if (reason === 'missing') throw new Refusal({ ok: false, reason, path })
  throw new Refusal(
    current === undefined ? { ok: false, reason: 'version', path } : { ok: false, reason: 'version', path, current },
  )
}

/** What refuses a whole commit because of its changes of another part: whoever commits knows that part no better than this. */
export function besideRefusal(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.result.reason === 'length') return error
  return new Refusal({ ok: false, reason: 'beside' })
}

/** Whether what a commit expects of a path holds. Pending sums must be in the row where one is expected. */
export function meets(expectation: Expectation, row: ResourceRow | undefined): boolean {
  if (expectation === undefined) return true
  if (expectation === 'absent') return row === undefined
  if (typeof expectation === 'object') {
    if ('digest' in expectation) return row !== undefined && row.kind !== 0 && row.digest === expectation.digest
    return row?.kind === 0 && (row.members ?? ZERO) === expectation.members
  }
  return row !== undefined && (expectation === 'present' || row.version === expectation)
}

/**
 * The row that a removal takes away.
 *
 * @throws Refusal where another one is expected, nothing stands there, or the other kind does
 */
export function removable<Row extends ResourceRow>(path: string, expectation: Expectation, row: Row | undefined): Row {
  const fits = row !== undefined && pathOf(row) === path
  if (!meets(expectation, fits ? row : undefined)) refuse('version', path, row)
  if (row === undefined) refuse('missing', path)
  if (!fits) refuse('kind', path, row)
  return row
}
