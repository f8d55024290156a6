/** The server as its users run it: a process of its own with a folder of data, that can be killed and started again. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LAUNCHER = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

export interface ServerProcess {
  port: number
  pid: number
  /** Everything it has written so far. */
  output(): string
  /** Ends it at once, whatever it is doing. */
  kill(): Promise<void>
  /** Asks it to end. @returns its exit code */
  stop(): Promise<number | null>
}

export interface Installation {
  /** Folder of the data. */
  data: string
  start(): Promise<ServerProcess>
  /** Runs another command of the command line on the same data. */
  run(...args: string[]): Promise<{ code: number | null; output: string }>
  remove(): Promise<void>
}

/**
 * @param files of the site `localhost`, by path
 * @param settings of a settings file
 */
export async function install(files: Readonly<Record<string, string>>, settings: object = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-process-'))
  const data = join(folder, 'data')
  const config = join(folder, 'settings.json')
  const written = {
    data,
    listen: { port: 0 },
    mount: { port: 0 },
    log: { level: 'warn', format: 'json' },
    sites: [{ host: 'localhost' }],
    ...settings,
  }
  await writeFile(config, JSON.stringify(written))
  const run = async (command: string, ...args: string[]) => {
    const { child, output } = launch([command, '-c', config, ...args])
    return { code: await ending(child), output: output() }
  }
  const content = join(folder, 'site')
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(content, path)), { recursive: true })
    await writeFile(join(content, path), text)
  }
  const imported = await run('import', '--site', 'localhost', content)
  const remove = () => rm(folder, { recursive: true, force: true })
  if (imported.code !== 0) {
    await remove()
    throw new Error(`import failed: ${imported.output}`)
  }
  return { data, run, start: () => start(config), remove }
}

function launch(args: string[]): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const collect = (chunk: Buffer) => {
    text += chunk.toString('utf8')
  }
  child.stdout?.on('data', collect)
  child.stderr?.on('data', collect)
  return { child, output: () => text }
}

function ending(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise(resolve => child.once('close', code => resolve(code)))
}

async function start(config: string): Promise<ServerProcess> {
  const { child, output } = launch(['serve', '-c', config])
  const ended = ending(child)
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const ready = /^ready: site http:\/\/localhost:(\d+)\//m.exec(output())
      if (ready) resolve(Number(ready[1]))
    })
    void ended.then(code => reject(new Error(`the server ended with ${code}: ${output()}`)))
  })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return {
    port,
    pid: child.pid ?? 0,
    output,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}
