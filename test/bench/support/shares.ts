/** Fixed shares of a core for processes under measurement: what they do then does not depend on how many run beside them. */

import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Microseconds that a share comes in: as few as the system takes, so that whoever has used up its share while others wait for
 * it goes on about as soon as on a slower core.
 */
const PORTION = 1000

/** Where groups of processes are made: the older arrangement has a tree for each resource. */
const ROOTS = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']

/** Ahead of everything else on the machine, as far as that goes. */
const FIRST = { 'cpu.shares': 262_144, 'cpu.weight': 10_000 }

/**
 * Puts a process, with its threads and what it starts from then on, into a group of its own. Needs the rights of root.
 *
 * @param settings by name; those of the other arrangement are left out
 * @returns ends that; call it when the processes are gone
 */
function group(pid: number, settings: Readonly<Record<string, string | number>>): () => void {
  const root = ROOTS.find(each => existsSync(join(each, 'cgroup.procs')))
  if (root === undefined) throw new Error('There are no control groups here')
  const folder = join(root, `scriptorium-bench-${process.pid}-${pid}`)
  mkdirSync(folder)
  for (const [name, value] of Object.entries(settings))
    if (existsSync(join(folder, name))) writeFileSync(join(folder, name), String(value))
  writeFileSync(join(folder, 'cgroup.procs'), String(pid))
  return () => {
    // Whoever is left goes back to all others.
    if (pid === process.pid) writeFileSync(join(root, 'cgroup.procs'), String(pid))
    rmdirSync(folder)
  }
}

/**
 * Gives a process so much of a core at most, and before all others.
 *
 * @param share 0.1 is a tenth of a core
 * @param portion microseconds of the core that it gets at a time
 * @returns ends that; call it when the process is gone
 */
export function limitShare(pid: number, share: number, portion = PORTION): () => void {
  const [quota, period] = [portion, Math.round(portion / share)]
  const limits = { 'cpu.cfs_period_us': period, 'cpu.cfs_quota_us': quota, 'cpu.max': `${quota} ${period}` }
  return group(pid, { ...FIRST, ...limits })
}

/** Has this process, and what it starts from then on, go before all others on the machine. @returns ends that, when those have ended */
export function goFirst(): () => void {
  return group(process.pid, FIRST)
}
