/** The command that runs the server: in this process, or in several that this one watches over. */

import { firstCredential, withCredential } from '../config/first-start.ts'
import type { Settings } from '../config/schema.ts'
import { nodeOptions } from '../pipeline/memory.ts'
import { dropGarbage } from '../pipeline/store/garbage-collection.ts'
import { lockFolder } from '../pipeline/store/sqlite/folder-lock.ts'
import type { Store } from '../pipeline/store/store.ts'
import { addressesOf, tryAddress } from './addresses.ts'
import { banner, type ListedSite } from './cli/banner.ts'
import type { Commands, ServeOptions } from './cli/commands.ts'
import { importDemo } from './demo/import.ts'
import { createLog, type Log } from './log.ts'
import { openServed } from './open-store.ts'
import { hasLostTerminal, listenForReload } from './reload.ts'
import { type RunningServer, startServer } from './start.ts'
import { compileLess } from './start-code.ts'
import { type Addresses, isWorker, startWorkers, supervised, workerSettings } from './workers.ts'

/** Settles when the process is asked to end. */
function ended(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
    process.on('SIGHUP', () => {
      if (hasLostTerminal()) resolve('SIGHUP')
    })
  })
}

/** Reads the settings again, and takes from them what a running server can take. What is wrong leaves all as it was. */
async function renew(
  server: RunningServer,
  { reload }: ServeOptions,
  complete: (settings: Settings) => Settings,
  log: Log,
): Promise<void> {
  try {
    server.renew(complete(await reload()))
    log.info('credentials and certificates were read again')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.error({ reason }, 'credentials and certificates stay as they were')
  }
}

/** A standard output that is full or closed costs the lines that were meant for it, and nothing else. */
function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

export const serve: Commands['serve'] = (settings, options) => {
  outliveOutput()
  if (settings.workers === 1) return serveAlone(settings, options)
  return isWorker ? work(settings, options) : watchOver(settings, options)
}

async function announce(
  settings: Settings,
  { firstStart, print }: ServeOptions,
  addresses: Addresses,
  firstPassword: { user: string; password: string } | undefined,
): Promise<void> {
  const { publicOrigin, mountOrigin } = addresses
  const sites = firstStart ? [] : await triedSites(settings, addresses)
  const lines = banner({
    settings,
    publicOrigin,
    ...(mountOrigin !== undefined && { mountOrigin }),
    firstStart,
    sites,
    ...(firstPassword && { firstPassword }),
  })
  for (const line of lines) print(line)
}

/** The addresses of all sites, as many of them tried as are shown. */
async function triedSites(settings: Settings, listening: Addresses): Promise<ListedSite[]> {
  const found = addressesOf(settings, listening)
  const tried = await Promise.all(found.slice(0, MOST_TRIED).map(each => tryAddress(each, settings.health.public)))
  return found.map((each, place) => ({ ...each, missing: tried[place] }))
}

const MOST_TRIED = 20

/** A password that was made for a server which cannot start would be lost otherwise. */
function savePassword({ print }: ServeOptions, made: { user: string; password: string } | undefined): void {
  if (made) print(`User ${made.user}, password ${made.password} (shown only this once)`)
}

/** Gives back what only the start has needed: its garbage, and the thread that has written what a first start makes. */
function rest(store: Store, compileAsUsual: () => void): void {
  compileAsUsual()
  store.relax?.()
  dropGarbage()
}

/** Works of requests whose time is over would keep the process until they are done, though their store is closed. */
function leaveWorks(): void {
  process.exit()
}

async function serveAlone(given: Settings, options: ServeOptions): Promise<void> {
  const compileAsUsual = compileLess(nodeOptions())
  const log = createLog(given.log)
  const stop = ended()
  const onReload = listenForReload()
  const lock = lockFolder(given.data, 'serve', given.redis !== undefined)
  const store = await openServed(given, log)
  const first = options.firstStart ? await firstCredential(store, { renew: options.newPassword }) : undefined
  const complete = (settings: Settings) => (first ? withCredential(settings, first.credential) : settings)
  const settings = complete(given)
  const made = first?.password === undefined ? undefined : { user: first.credential.user, password: first.password }
  const server = await startServer(settings, store, log).catch(async (error: unknown) => {
    savePassword(options, made)
    await store.close()
    throw error
  })
  // Without its demo the server is one to write to; what keeps the demo out is told.
  const failed = (error: unknown) =>
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'the demo site was not imported')
  const hosted = options.firstStart ? await server.hosting.open('localhost') : undefined
  if (hosted) await importDemo(hosted.site, store).catch(failed)
  rest(store, compileAsUsual)
  onReload(() => renew(server, options, complete, log))
  await announce(settings, options, server, made)
  log.info({ signal: await stop }, 'ending')
  await server.close()
  lock.release()
  log.flush()
  leaveWorks()
}

/** What has to be done once is done before there are several processes. */
async function watchOver(settings: Settings, options: ServeOptions): Promise<void> {
  const log = createLog(settings.log)
  const stop = ended()
  const onReload = listenForReload()
  const lock = lockFolder(settings.data, 'serve', settings.redis !== undefined)
  let made: { user: string; password: string } | undefined
  if (options.firstStart) {
    const store = await openServed(settings, log)
    const { credential, password } = await firstCredential(store, { renew: options.newPassword })
    if (password !== undefined) made = { user: credential.user, password }
    await store.close()
    const { importDemoFiles } = await import('./site-commands.ts')
    await importDemoFiles(settings)
  }
  const workers = await startWorkers({ settings, log }).catch((error: unknown) => {
    savePassword(options, made)
    throw error
  })
  onReload(() => workers.signal('SIGHUP'))
  await announce(settings, options, workers.addresses, made)
  log.info({ signal: await stop }, 'ending')
  await workers.close()
  lock.release()
  log.flush()
}

async function work(settingsOfAll: Settings, options: ServeOptions): Promise<void> {
  const compileAsUsual = compileLess(nodeOptions())
  const given = workerSettings(settingsOfAll)
  const log = createLog(given.log)
  const supervisor = supervised()
  const stop = ended()
  const onReload = listenForReload()
  try {
    const store = await openServed(given, log)
    const first = options.firstStart ? await firstCredential(store) : undefined
    const complete = (settings: Settings) => (first ? withCredential(settings, first.credential) : settings)
    const server = await startServer(complete(given), store, log).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    rest(store, compileAsUsual)
    onReload(() => renew(server, options, complete, log))
    supervisor.ready({
      publicOrigin: server.publicOrigin,
      ...(server.mountOrigin !== undefined && { mountOrigin: server.mountOrigin }),
    })
    await Promise.race([stop, supervisor.orphaned])
    await server.close()
  } finally {
    supervisor.leave()
    log.flush()
  }
  leaveWorks()
}
