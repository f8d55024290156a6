/** One installation with several server processes: one data folder, one Redis, one site. */

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { runHere } from '../server/cli/real.ts'
import { type Client, client } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'

const CREDENTIALS = { user: 'editor', password: 'a known password', scope: ['/*'], write: true }

/** One of the processes, or several behind one address. */
export interface Node {
  server: ServerProcess
  /** Origin of the public surface. */
  url: string
  /** Requests to the public surface. */
  http: Client
  /** Requests to the mount, with credentials. */
  dav: Client
}

export interface Cluster {
  redis: TestRedis
  nodes: Node[]
  /** Starts one more. */
  start(settings?: Record<string, unknown>, env?: Readonly<Record<string, string>>): Promise<Node>
  /** Ends everything. */
  close(): Promise<void>
}

export interface ClusterOptions {
  /** Processes to begin with. */
  count: number
  /** Files of the site, by path. */
  files: Readonly<Record<string, string>>
  /** Settings beside those that all need. */
  settings?: Record<string, unknown>
  /** Settings of the site. */
  site?: Record<string, unknown>
}

function nodeOf(server: ServerProcess): Node {
  const mountPort = Number(/^ready: .* mount https?:\/\/[^:/]+:(\d+)\//m.exec(server.output())?.[1])
  const { user, password } = CREDENTIALS
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return {
    server,
    url: `http://localhost:${server.port}`,
    http: client({ port: server.port, once: true }),
    dav: client({ port: mountPort, once: true }, { Authorization: authorization }),
  }
}

export async function startCluster({ count, files, settings, site }: ClusterOptions): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-cluster-'))
  const redis = await startRedis()
  const nodes: Node[] = []
  const common = {
    data: join(folder, 'data'),
    redis: redis.url,
    log: { level: 'warn', format: 'json' },
    sites: [{ host: 'localhost', credentials: [CREDENTIALS], ...site }],
    ...settings,
  }
  const content = join(folder, 'site')
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(content, path)), { recursive: true })
    await writeFile(join(content, path), text)
  }
  const config = join(folder, 'settings.json')
  await writeFile(config, JSON.stringify(common))
  const imported = await runHere(['import', '-c', config, '--site', 'localhost', content], folder)
  if (imported.code !== 0) throw new Error(`import failed: ${imported.output}`)

  async function start(more: Record<string, unknown> = {}, env?: Readonly<Record<string, string>>): Promise<Node> {
    const own = join(folder, `node${nodes.length}`)
    // One that did not start has left it.
    await mkdir(own, { recursive: true })
    const node = nodeOf(await startProcess(own, { ...common, ...more }, env))
    nodes.push(node)
    return node
  }

  for (let i = 0; i < count; i++) await start()
  return {
    redis,
    nodes,
    start,
    async close() {
      await Promise.all(nodes.map(({ server }) => server.stop()))
      await redis.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Process numbers of the workers, as the system lists them. */
export async function workersOf({ server }: Node): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
    const parent = Number(/\) \S (\d+)/.exec(stat)?.[1])
    if (parent === server.child.pid) found.push(Number(name))
  }
  return found
}

/** A node that a test is about. */
export function at(cluster: Pick<Cluster, 'nodes'>, i: number): Node {
  const node = cluster.nodes[i]
  if (!node) throw new Error(`there is no node ${i}`)
  return node
}
