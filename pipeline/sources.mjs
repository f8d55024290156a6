// Gives Node the TypeScript of this project without its types. Node could do that by itself, but at a price: its stripper
// stays in memory (30 MB), and so does everything that it keeps of earlier starts (10 MB). Here each file is stripped once,
// by a process of its own, of its comments too, and kept beside the packages under the hash of its text. Where that cannot be
// (nothing may be written there, or the file is not one of these), Node does it. To be imported once in every thread.
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = ['config', 'dav', 'edge', 'pipeline', 'server']
const ADDRESSES = SOURCES.map(folder => pathToFileURL(join(ROOT, folder, '/')).href)
const KEPT = join(ROOT, 'node_modules', '.cache', 'scriptorium', `plain-${process.version}`)

/** Milliseconds after which what no source has any more goes: other checkouts may share the folder. */
const STALE = 30 * 24 * 60 * 60 * 1000

const keptAt = text => join(KEPT, `${hash('sha256', text)}.js`)

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** A comment of lines of its own, or blanks at the end of a line. */
const IDLE_TEXT = /^[ \t]*\/\*\*[\s\S]*?\*\/|^[ \t]*\/\/.*$|[ \t]+$/gm

/** Node keeps the whole text of a module: without comments it is a third less. Every line stays where it is. */
function withoutComments(text) {
  const less = text.replace(IDLE_TEXT, idle => idle.replaceAll(/[^\n]/g, ''))
  return meaning(less) === meaning(text) ? less : text
}

/** A program as its tree says it, by which text within quotes counts and a comment does not. */
const meaning = text => stripTypeScriptTypes(text, { mode: 'transform' })

/** Strips every source that was not stripped before. @throws the system's error where nothing may be written */
export function stripAll() {
  mkdirSync(KEPT, { recursive: true })
  const own = new Set()
  for (const folder of SOURCES)
    for (const name of readdirSync(join(ROOT, folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      const text = readFileSync(join(ROOT, folder, name), 'utf8')
      const file = keptAt(text)
      own.add(file)
      if (read(file) !== undefined) continue
      // Several processes may be at it: each file appears whole.
      const begun = `${file}.${process.pid}`
      writeFileSync(begun, withoutComments(stripTypeScriptTypes(text)))
      renameSync(begun, file)
    }
  for (const name of readdirSync(KEPT)) {
    const file = join(KEPT, name)
    if (!own.has(file) && Date.now() - statSync(file).mtimeMs > STALE) rmSync(file, { force: true })
  }
}

let hasTried = false

/** @returns whether there is hope that the file is there now */
function strip() {
  if (hasTried) return false
  hasTried = true
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url), '--strip']
  return spawnSync(process.execPath, args, { stdio: 'ignore', timeout: 60_000 }).status === 0
}

if (isMainThread && process.argv[2] === '--strip' && process.argv[1] === fileURLToPath(import.meta.url)) stripAll()
else
  registerHooks({
    // Sources name each other by relative addresses of files: Node would ask the disk about each of their 2,700 imports, for
    // links and for the package they are in, which is a seventh of what it takes to load a server.
    resolve(specifier, context, next) {
      const { parentURL = '' } = context
      const isOwn = /^\.\.?\/.*\.ts$/.test(specifier) && ADDRESSES.some(address => parentURL.startsWith(address))
      return isOwn ? { url: new URL(specifier, parentURL).href, shortCircuit: true } : next(specifier, context)
    },
    load(url, context, next) {
      if (!url.endsWith('.ts') || !ADDRESSES.some(address => url.startsWith(address))) return next(url, context)
      const file = keptAt(readFileSync(fileURLToPath(url), 'utf8'))
      const source = read(file) ?? (strip() ? read(file) : undefined)
      return source === undefined ? next(url, context) : { format: 'module', shortCircuit: true, source }
    },
  })
