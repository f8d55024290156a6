/** The mount beside other WebDAV servers and a bare Node server, all in one run. */

import { leaveServersCore, startBare } from '../support/process.ts'
import { figure, type Row } from '../support/table.ts'
import { memoryOfPages } from './memory.ts'
import { mixed } from './mixed.ts'
import { basic, type MountServer, OURS, starters } from './servers.ts'
import * as work from './work.ts'

/** One line of the table: what it measures on a server, in its own words. */
interface Line {
  title: string
  goal: string
  /** To be measured on a server that has done nothing yet. */
  fresh?: true
  measure: (server: MountServer) => Promise<string>
  /** The same with a bare server, where that makes sense. */
  bare?: (ours: MountServer) => Promise<string>
}

const NO_ACCOUNT = { user: '', password: '' }

/** A bare server as a target. */
async function withBare<T>(size: number, status: number, use: (target: work.Target) => Promise<T>): Promise<T> {
  const { url, stop } = await startBare(size, status)
  try {
    return await use({ url, authorization: basic(NO_ACCOUNT), accounts: [NO_ACCOUNT, NO_ACCOUNT] })
  } finally {
    await stop()
  }
}

const perSecond = ({ perSecond, wrong }: { perSecond: number; wrong: number }) =>
  `${figure(perSecond)}/s${wrong > 0 ? ` (${wrong} wrong)` : ''}`
/** Of three measurements the one in the middle. */
async function medianRate(measure: () => Promise<number>): Promise<string> {
  const rates = [await measure(), await measure(), await measure()]
  return `${figure(work.median(rates))}/s`
}

const ms = (value: number) => (Number.isNaN(value) ? 'wrong' : `${figure(value)} ms`)

function puts(title: string, goal: string, clients: number, put: typeof work.putNew, folder: string): Line {
  return {
    title,
    goal,
    measure: async server => perSecond(await put(server, clients, folder)),
    bare: () => withBare(0, 201, async target => perSecond(await put(target, clients, folder))),
  }
}

function lists(members: number, how: 'again' | 'changed' | 'revalidated', goal: string): Line {
  const path = `/list-${members}/`
  return {
    title: `PROPFIND depth 1 of ${figure(members)}${{ again: '', changed: ', after a change', revalidated: ', revalidated' }[how]}`,
    goal,
    measure: async server => {
      const { ms: time, status } = await work.listing(server, path, how)
      return `${ms(time)}${how === 'revalidated' && status !== 304 ? ` (${status})` : ''}`
    },
    bare: async ours => {
      const { bytes, status } = await work.listing(ours, path, how)
      return withBare(bytes, status, async target => ms((await work.listing(target, path, 'again')).ms))
    },
  }
}

const LINES: Line[] = [
  {
    title: '200 MB up, down, peak memory (after 1 MB)',
    goal: '> 300, > 1,000 MB/s',
    fresh: true,
    measure: async server => {
      await work.blob(server, 1)
      const before = await server.peakMemory()
      const { up, down, same } = await work.blob(server, 200)
      const peak = await server.peakMemory()
      return `${figure(up)}, ${figure(down)} MB/s, ${figure(peak)} (${figure(before)}) MB${same ? '' : ' damaged'}`
    },
  },
  puts('PUT new 4 KB, 1 client', '', 1, work.putNew, 'new-1'),
  puts('PUT new 4 KB, 16 clients', '> 2,700/s durable', 16, work.putNew, 'new-16'),
  puts('PUT new HTML of 4 KB, 16 clients', '>= 0.75 of files, faster than all', 16, work.putPages, 'pages-16'),
  puts('PUT over 4 KB, 1 client', '', 1, work.putOver, 'over'),
  puts('PUT over 4 KB, 16 clients', '> 5,600/s durable', 16, work.putOver, 'over'),
  {
    title: 'GET 4 KB',
    goal: '>= 0.75 of bare',
    measure: server => medianRate(() => work.getRate(server, '/over/0.txt')),
    bare: () => withBare(4096, 200, target => medianRate(() => work.getRate(target, '/'))),
  },
  {
    title: 'GET of 1,000 files of 4 KB, 16 clients',
    goal: '>= 0.75 of bare',
    measure: async server => perSecond(await work.getMany(server, 16, 'many', 1000)),
    bare: () => withBare(4096, 200, async target => perSecond(await work.getMany(target, 16, 'many', 1000))),
  },
  {
    title: 'PROPFIND depth 0 of a file',
    goal: '>= 0.75 of bare',
    measure: server => medianRate(() => work.propfindRate(server, '/over/0.txt')),
    bare: () => withBare(600, 207, target => medianRate(() => work.propfindRate(target, '/'))),
  },
  {
    title: 'PROPFIND depth 0 of a collection',
    goal: '>= 0.75 of bare',
    measure: server => medianRate(() => work.propfindRate(server, '/over/')),
    bare: () => withBare(600, 207, target => medianRate(() => work.propfindRate(target, '/'))),
  },
  lists(1000, 'again', '<= 1.6 of bare, >= 2.5 times Apache'),
  lists(1000, 'changed', ''),
  lists(1000, 'revalidated', '< 0.1 ms'),
  lists(10_000, 'again', ''),
  lists(10_000, 'changed', ''),
  lists(10_000, 'revalidated', ''),
  {
    title: 'LOCK, PUT, UNLOCK, 16 clients',
    goal: '> 3,200/s, 0 wrong',
    measure: async server => perSecond(await work.lockCycles(server)),
  },
  {
    title: 'COPY, MOVE, DELETE of 1,000 files',
    goal: 'COPY and MOVE faster than Apache',
    measure: async server => (await work.trees(server, '/list-1000/')).map(ms).join(', '),
  },
  {
    title: '64 mixed clients, 10 s',
    goal: '>= 0.9 of nginx, 0 errors, p99 < 30 ms',
    measure: async server => {
      const { perSecond: rate, errors, torn, p99 } = await mixed(server)
      return `${figure(rate)}/s (${errors} errors${torn > 0 ? `, ${torn} torn reads` : ''}), p99 ${ms(p99)}`
    },
  },
  {
    title: 'Memory before, after 40,000 pages and 10,000 reads, 30 s later',
    goal: '< 300, 220 MB',
    measure: async server => `${(await memoryOfPages(server)).map(figure).join(', ')} MB`,
  },
]

export const MOUNT_HEAD: Row = ['Work', OURS, 'bare', 'Apache', 'nginx', 'lighttpd', 'rclone', 'webdav-server', 'goal']
const COLUMNS = [OURS, 'bare', 'Apache mod_dav', 'nginx dav-ext', 'lighttpd', 'rclone serve', 'webdav-server']

/** Brings a server into the state that the lines need. */
async function prepare(server: MountServer, lines: readonly Line[]): Promise<void> {
  const wanted = lines.map(({ title }) => title).join('\n')
  for (const folder of ['new-1', 'new-16', 'pages-16', 'over', 'locks', 'mixed'])
    await work.makeCollection(server, `/${folder}/`)
  await work.fill(server, '/over/', 64)
  await work.fill(server, '/locks/', 16)
  if (wanted.includes('GET of 1,000')) {
    await work.makeCollection(server, '/many/')
    await work.fill(server, '/many/', 1000)
  }
  if (/1,000|COPY/.test(wanted)) {
    await work.makeCollection(server, '/list-1000/')
    await work.fill(server, '/list-1000/', 1000, 100)
  }
  if (wanted.includes('10,000')) {
    await work.makeCollection(server, '/list-10000/')
    await work.fill(server, '/list-10000/', 10_000, 100)
  }
}

/** All rows; `BENCH_LINES` chooses lines by a part of their titles, `BENCH_SERVERS` servers by the begin of their names. */
export async function benchMount(say: (line: string) => void): Promise<Row[]> {
  leaveServersCore()
  const chosen = process.env.BENCH_LINES
  const lines = LINES.filter(
    ({ title }) => chosen === undefined || chosen.split(',').some(part => title.includes(part)),
  )
  const firstUsed = lines.find(({ fresh }) => !fresh)
  const cells = new Map(lines.map(line => [line, new Map<string, string>()]))
  for (const { name, start } of starters(say)) {
    const server = await start()
    if (!server) continue
    try {
      for (const line of lines) {
        if (line === firstUsed) await prepare(server, lines)
        const cell = await line.measure(server).catch(error => `failed: ${error.message}`)
        cells.get(line)?.set(name, cell)
        say(`${name}: ${line.title}: ${cell}`)
        if (name !== OURS || !line.bare) continue
        const bare = await line.bare(server)
        cells.get(line)?.set('bare', bare)
        say(`bare: ${line.title}: ${bare}`)
      }
    } finally {
      await server.stop()
    }
  }
  return lines.map(line => [line.title, ...COLUMNS.map(name => cells.get(line)?.get(name) ?? ''), line.goal])
}
