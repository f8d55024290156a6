/** A PostgreSQL under measurement: durable, with the memory of a small machine, and what it costs. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cluster, newCluster } from '../../support/postgres.ts'

/**
 * A cluster that is running; commits are on disk when they are answered.
 *
 * @param settings beside those of a small machine
 */
export async function startDatabase(settings: Record<string, string> = {}): Promise<Cluster> {
  const cluster = await newCluster({ fsync: 'on', shared_buffers: '256MB', max_wal_size: '4GB', ...settings })
  await cluster.start()
  return cluster
}

/** Milliseconds of CPU that the processes of a cluster have used, those included that have ended. */
export function databaseCpu({ folder }: Pick<Cluster, 'folder'>): number {
  let ticks = 0
  for (const file of globSync('/proc/[0-9]*/stat')) {
    try {
      const text = readFileSync(file, 'latin1')
      if (!text.includes('(postgres)')) continue
      const [pid = '', parent = ''] = [file.split('/')[2], text.slice(text.lastIndexOf(')')).split(' ')[2]]
      const isOf = (id: string) => readFileSync(`/proc/${id}/cmdline`, 'latin1').includes(folder)
      if (!isOf(pid) && !isOf(parent)) continue
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      for (const at of [11, 12, 13, 14]) ticks += Number(fields[at])
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * 10
}

/** Milliseconds of CPU that the processes have used which serve connections now, to the microsecond. */
export function backendCpu({ folder }: Pick<Cluster, 'folder'>): number {
  const main = readFileSync(join(folder, 'data', 'postmaster.pid'), 'latin1').split('\n')[0]
  const children = readFileSync(`/proc/${main}/task/${main}/children`, 'latin1').split(' ').filter(Boolean)
  let used = 0
  for (const child of children) {
    try {
      // Those of the database itself have other titles.
      if (!readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('127.0.0.1(')) continue
      used += Number(readFileSync(`/proc/${child}/schedstat`, 'latin1').split(' ')[0])
    } catch {
      // It has ended meanwhile.
    }
  }
  return used / 1e6
}
