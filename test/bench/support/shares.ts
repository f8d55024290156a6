/** Fixed shares of a core for processes under measurement: what they do then does not depend on how many run beside them. */

import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Microseconds in which a share is given out anew: few, so that nobody waits long for the next. */
const PERIOD = 20_000

/** Where groups of processes are made: the older arrangement has a tree for each resource. */
const ROOTS = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']

/**
 * Gives a process so much of a core at most, with all its threads. Needs the rights of root.
 *
 * @param share 0.1 is a tenth of a core
 * @returns ends that; call it when the process is gone
 */
export function limitShare(pid: number, share: number): () => void {
  const root = ROOTS.find(each => existsSync(join(each, 'cgroup.procs')))
  if (root === undefined) throw new Error('There are no control groups here')
  const group = join(root, `scriptorium-bench-${process.pid}-${pid}`)
  mkdirSync(group)
  const quota = Math.round(PERIOD * share)
  const isOld = existsSync(join(group, 'cpu.cfs_quota_us'))
  const settings = isOld
    ? { 'cpu.cfs_period_us': PERIOD, 'cpu.cfs_quota_us': quota }
    : { 'cpu.max': `${quota} ${PERIOD}` }
  for (const [name, value] of Object.entries(settings)) writeFileSync(join(group, name), String(value))
  writeFileSync(join(group, 'cgroup.procs'), String(pid))
  return () => rmdirSync(group)
}
