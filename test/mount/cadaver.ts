/** cadaver, the command-line client that speaks RFC 4918 as it is written: scripts of commands, and what each said. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { succeed } from '../support/program.ts'
import type { TestServer } from '../support/server.ts'

/** A folder with credentials and local files, from which cadaver works. */
export interface CadaverSession {
  folder: string
  /**
   * Runs commands in one session.
   *
   * @returns what each said
   */
  run(...commands: string[]): Promise<string[]>
  close(): Promise<void>
}

/** @param files local files by name */
export async function cadaver(server: TestServer, files: Readonly<Record<string, string>>): Promise<CadaverSession> {
  const folder = await mkdtemp(join(tmpdir(), 'cadaver-'))
  const { mountUrl, user, password } = server
  const { hostname } = new URL(mountUrl)
  await writeFile(join(folder, '.netrc'), `machine ${hostname} login ${user} password "${password}"\n`, { mode: 0o600 })
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return {
    folder,
    async run(...commands) {
      const input = [...commands, 'quit', ''].join('\n')
      const output = await succeed('cadaver', [`${mountUrl}/`], { cwd: folder, env: { HOME: folder }, input })
      // Each command is echoed behind the prompt.
      const [, ...said] = output.split(/^dav:[^>\n]*[>?] /m)
      return commands.map((command, i) => (said[i] ?? '').slice(command.length).trim())
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}
