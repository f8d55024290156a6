#!/usr/bin/env node
// Starts the command line on Node 24. An older Node starts the one that `npm ci` brought along, with the same arguments.
// `--run FILE` starts another module of the project instead (tests and benchmarks).
import { spawn } from 'node:child_process'
import * as modules from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = [24, 15]
const here = dirname(fileURLToPath(import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

/** Megabytes of a half of the young generation where nobody has said. */
const YOUNG = 16
/** The least part of the heap that is so much. */
const PART = 1 / 16

/**
 * V8 marks the whole heap again and again, without an end, where what is left of it is not more than half of the young
 * generation, which it does not make smaller for a heap whose size was asked for.
 *
 * @returns options that make it smaller
 */
function youngOfSmallHeap() {
  const options = `${process.env.NODE_OPTIONS} ${process.execArgv.join(' ')}`
  const [, heap] = Array.from(options.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)).at(-1) ?? []
  const young = Math.max(1, Math.floor(Number(heap) * PART))
  return young < YOUNG && !/--max[-_]semi[-_]space[-_]size/.test(options) ? [`--max-semi-space-size=${young}`] : []
}

/**
 * Threads that files are read in and names of hosts are asked for, the latter in half of them: two for the hosts that a site
 * calls, whose name servers may say nothing, one for those of other sites, and one for the database and Redis.
 */
const THREADS = '8'

/**
 * What the C library and V8 read when a program starts: this one starts again in its place, with its process id.
 *
 * A server has the C library keep one heap for all threads, unless the environment says how many: of several, much that is
 * free stays with the process.
 */
function startFrugally() {
  const { env, execPath, execArgv, argv } = process
  const heaps = startsServer(argv[2]) && env.MALLOC_ARENA_MAX === undefined ? { MALLOC_ARENA_MAX: '1' } : undefined
  const young = youngOfSmallHeap()
  const canStartAgain = process.platform === 'linux' && process.execve && !process.connected
  if (!canStartAgain || (heaps === undefined && young.length === 0)) return
  process.execve(execPath, [execPath, ...execArgv, ...young, ...argv.slice(1)], { ...env, ...heaps })
}

/** Whether a server is to be started: that needs no command. */
function startsServer(first = '') {
  return first === 'serve' || first === '' || (first.startsWith('-') && first !== '--run')
}

/** SIGHUP would end a server that does not listen for it yet. What was asked so early is asked again as soon as it does. */
function keepReloads() {
  let isAsked = false
  process.on('SIGHUP', () => {
    isAsked = true
  })
  process.on('newListener', function listens(event) {
    if (event !== 'SIGHUP') return
    process.off('newListener', listens)
    if (isAsked) setImmediate(() => process.emit('SIGHUP', 'SIGHUP'))
  })
}

if (process.env.npm_lifecycle_event === 'start') {
  // A signal to npm ends npm and the shell that it started, which passes nothing on: whoever sent it meant the server.
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  // Read when they are started, which nothing has asked for yet.
  if (startsServer(process.argv[2])) process.env.UV_THREADPOOL_SIZE ??= THREADS
  startFrugally()
  // That of a terminal which goes ends what was started in it.
  if (startsServer(process.argv[2]) && !process.stdout.isTTY && process.platform !== 'win32') keepReloads()
  let entry = join(here, 'main.ts')
  if (process.argv[2] === '--run' && process.argv[3] !== undefined) {
    entry = resolve(process.argv[3])
    process.argv.splice(1, 3, entry)
    // Keeps compiled modules beside the packages, for starts that follow each other; a server would keep them in memory.
    process.env.NODE_COMPILE_CACHE ??= join(here, '..', 'node_modules', '.cache', 'scriptorium')
    modules.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  }
  await import('../pipeline/sources.mjs')
  await import(pathToFileURL(entry).href)
} else {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${platform}-${process.arch}`
  let binary
  try {
    const manifest = modules.createRequire(import.meta.url).resolve(`${name}/package.json`)
    binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    console.error(
      `scriptorium needs Node ${NEEDED.join('.')} or newer and found ${process.version}.\n` +
        `Install it, or run "npm ci" without --omit=optional: it brings ${name} where there is one.`,
    )
    process.exitCode = 1
  }
  if (binary) {
    const child = spawn(binary, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
      stdio: 'inherit',
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('exit', (code, signal) => {
      if (signal) {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      } else process.exitCode = code ?? 1
    })
  }
}
