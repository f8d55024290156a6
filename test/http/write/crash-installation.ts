/** An installation with a site of its own that can be started, killed, checked and started again. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runHere } from '../../server/cli/real.ts'
import { type ServerProcess, startProcess } from '../../support/process.ts'

export interface Installation {
  /** Folder of the data. */
  data: string
  start(): Promise<ServerProcess>
  /** Runs another command of the command line on the same data, in this process. */
  run(...args: string[]): ReturnType<typeof runHere>
  remove(): Promise<void>
}

/** @param files of the site `localhost`, by path */
export async function install(files: Readonly<Record<string, string>>): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-installation-'))
  const data = join(folder, 'data')
  const config = join(folder, 'settings.json')
  const settings = { data, log: { level: 'warn', format: 'json' }, sites: [{ host: 'localhost' }] }
  await writeFile(config, JSON.stringify(settings))
  const installation: Installation = {
    data,
    start: () => startProcess(folder, settings),
    run: (command = 'check', ...args) => runHere([command, '-c', config, ...args], folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
  const content = join(folder, 'site')
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(content, path)), { recursive: true })
    await writeFile(join(content, path), text)
  }
  const imported = await installation.run('import', '--site', 'localhost', content)
  if (imported.code === 0) return installation
  await installation.remove()
  throw new Error(`import failed: ${imported.output}`)
}
