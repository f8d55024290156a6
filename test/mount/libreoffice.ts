/** LibreOffice without a screen: converting files, and editing documents by its own WebDAV client. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { run, succeed } from '../support/program.ts'
import type { TestServer } from '../support/server.ts'

/** A profile of its own for each run, so that runs do not meet. */
const options = (folder: string) => ['--headless', '--norestore', `-env:UserInstallation=file://${folder}/profile`]

/** Converts a document. @param folder for the profile */
export function convert(folder: string, to: string, source: string, outFolder: string): Promise<string> {
  return succeed('soffice', [...options(folder), '--convert-to', to, '--outdir', outFolder, source], {
    timeout: 240_000,
  })
}

/** One request of LibreOffice as it passed by. */
export interface Passed {
  method: string
  path: string
  /** `If` */
  condition: string | undefined
  status: number
}

/**
 * A way to the mount that brings the credentials, as gateways with a sign-in of their own do: a LibreOffice without a
 * screen has nobody to ask for them.
 */
export async function gateway({ mountUrl, user, password }: TestServer) {
  const passed: Passed[] = []
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const { hostname, port } = new URL(mountUrl)
  const server = createServer((asked, answer) => {
    const { method = '', url: path = '', headers } = asked
    const onward = request({ hostname, port, method, path, headers: { ...headers, authorization } }, answered => {
      const { statusCode: status = 0 } = answered
      passed.push({ method, path, condition: headers.if?.toString(), status })
      answer.writeHead(status, answered.headers)
      answered.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    asked.pipe(onward)
  })
  await new Promise<void>(resolve => server.listen(0, 'localhost', resolve))
  const address = server.address()
  return {
    url: `http://localhost:${typeof address === 'object' ? address?.port : ''}`,
    passed,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** Edits and saves a document by its address. @returns what the script said */
export async function edit(folder: string, address: string, copy: string): Promise<string> {
  const pipe = `scriptorium-${process.pid}`
  const office: ChildProcess = spawn('soffice', [...options(folder), `--accept=pipe,name=${pipe};urp`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  let isRunning = true
  for (const stream of [office.stdout, office.stderr]) stream?.setEncoding('utf8').on('data', text => (said += text))
  const gone = new Promise<string>(resolve => {
    office.once('error', error => resolve(`cannot be started: ${error.message}`))
    office.once('exit', (code, signal) => {
      isRunning = false
      resolve(`ended with ${code ?? signal}`)
    })
  })
  const script = fileURLToPath(new URL('libreoffice-save.py', import.meta.url))
  // The module comes with the system's Python, whichever else is first on the path.
  const { code, output } = await run('/usr/bin/python3', [script, address, copy, pipe, `${office.pid}`], {
    timeout: 240_000,
  })
  const state = isRunning ? 'was running still' : 'had ended'
  if (code !== 0 && isRunning && office.pid !== undefined) process.kill(-office.pid, 'SIGKILL')
  const end = await gone
  if (code !== 0) throw new Error(`Saving ended with ${code}; LibreOffice ${state}, ${end}.\n${output}\n${said}`)
  return output
}
