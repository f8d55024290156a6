/** The composition root: the only place that knows every part. */

import { firstCredential, withCredential } from '../config/first-start.ts'
import type { Settings } from '../config/schema.ts'
import { siteTable } from '../config/sites.ts'
import { dropStartGarbage } from '../pipeline/memory.ts'
import { checkFolder } from '../pipeline/store/check.ts'
import { banner } from './cli/banner.ts'
import { run } from './cli/cli.ts'
import type { Commands, ServeOptions } from './cli/commands.ts'
import { createLog } from './log.ts'
import { importDemo, openStore, startServer } from './running.ts'
import { explain, exportCommand, importCommand } from './site-work.ts'

export { siteTable }

/** Resolves when the process is asked to end. */
function ended(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal))
  })
}

async function serve(given: Settings, options: ServeOptions): Promise<void> {
  const log = createLog(given.log)
  const stop = ended()
  const store = await openStore(given, log)
  const first = options.firstStart ? await firstCredential(store, { renew: options.newPassword }) : undefined
  const settings = first ? withCredential(given, first.credential) : given
  const server = await startServer(settings, store, log).catch(async (error: unknown) => {
    if (first?.password !== undefined)
      options.print(`User ${first.credential.user}, password ${first.password} (shown only this once)`)
    await store.close()
    throw error
  })
  if (options.firstStart) await importDemo(server.hosting, store)
  dropStartGarbage()
  const password = first?.password
  const lines = banner({
    settings,
    publicOrigin: server.publicOrigin,
    ...(server.mountOrigin !== undefined && { mountOrigin: server.mountOrigin }),
    firstStart: options.firstStart,
    ...(first && password !== undefined && { firstPassword: { user: first.credential.user, password } }),
  })
  for (const line of lines) options.print(line)
  log.info({ signal: await stop }, 'ending')
  await server.close()
  log.flush()
}

const commands: Commands = {
  serve,
  check: (settings, options) => checkFolder(settings.data, options),
  export: exportCommand,
  import: importCommand,
  explain,
}

process.exitCode = await run(process.argv.slice(2), commands)
