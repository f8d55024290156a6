/** What is committed on a disk without room: removals go on, with what is kept for them. */

import { giveUpReserve, keepReserve } from '../../disk/reserve.ts'
import { allChanges } from '../../records/changes.ts'
import type { JobResult, WriterJob } from './messages.ts'

/** Whether a job makes nothing but room. */
function frees(job: WriterJob): boolean {
  if (job.task === 'commit') return allChanges(job.commit).every(({ op }) => op === 'delete')
  return job.task === 'notes' && job.changes.every(({ op }) => op === 'drop' || op === 'drop-all')
}

export interface Room {
  /** Folder of the store, where the reserve is kept. */
  folder: string
  /** Brings what was logged into the pages that it freed, so that the room of the log can be kept again. */
  settle: () => void
  warn: (message: string, error: unknown) => void
}

/**
 * Commits a group. What frees room, and found none on the disk for itself, gets the reserve and is tried again.
 *
 * @param run commits jobs, each of which fails by itself
 * @returns an answer for every job
 */
export function commitWithin<Arrived extends { job: WriterJob }>(
  { folder, settle, warn }: Room,
  group: Arrived[],
  run: (group: Arrived[]) => JobResult[],
): JobResult[] {
  const answers = run(group)
  const full = new Set(
    answers.flatMap(answer => ('error' in answer && answer.error.reason === 'full' ? answer.id : [])),
  )
  const stuck = group.filter(({ job }) => full.has(job.id) && frees(job))
  if (stuck.length === 0 || !giveUpReserve(folder)) return answers
  const again = new Map(run(stuck).map(answer => [answer.id, answer]))
  try {
    settle()
    keepReserve(folder)
  } catch (error) {
    warn('Room for removals could not be kept', error)
  }
  return answers.map(answer => again.get(answer.id) ?? answer)
}
