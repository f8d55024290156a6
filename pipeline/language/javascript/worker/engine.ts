/**
 * One instance of QuickJS in a WebAssembly memory of its own. Its state after the start is kept as an image and put back
 * before each evaluation: that makes a fresh realm, repairs what an exhausted memory leaves behind, and lets nothing pass
 * from one evaluation to the next (JS-4, JS-37, JS-38). The calls are those of the low-level interface of quickjs-emscripten.
 */

import loader from '@jitl/quickjs-wasmfile-release-sync/emscripten-module'
import { layoutOf, takeImage } from './memory-image.ts'

/** Address of a value, runtime, context or text in the instance. */
type Pointer = number

interface Functions {
  _malloc(bytes: number): Pointer
  _free(pointer: Pointer): void
  _QTS_NewRuntime(): Pointer
  _QTS_NewContext(runtime: Pointer, intrinsics: number): Pointer
  _QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void
  _QTS_RuntimeEnableInterruptHandler(runtime: Pointer): void
  _QTS_RuntimeEnableModuleLoader(runtime: Pointer, normalizes: number): void
  _QTS_Eval(context: Pointer, code: Pointer, bytes: number, name: Pointer, detectModule: number, flags: number): Pointer
  _QTS_Call(context: Pointer, callee: Pointer, self: Pointer, count: number, values: Pointer): Pointer
  _QTS_ResolveException(context: Pointer, value: Pointer): Pointer
  _QTS_NewFunction(context: Pointer, name: Pointer, count: number, constructs: number, reference: number): Pointer
  _QTS_GetGlobalObject(context: Pointer): Pointer
  _QTS_GetProp(context: Pointer, object: Pointer, key: Pointer): Pointer
  _QTS_SetProp(context: Pointer, object: Pointer, key: Pointer, value: Pointer): void
  _QTS_NewString(context: Pointer, text: Pointer): Pointer
  _QTS_GetString(context: Pointer, value: Pointer): Pointer
  _QTS_FreeCString(context: Pointer, text: Pointer): void
  _QTS_NewFloat64(context: Pointer, value: number): Pointer
  _QTS_GetFloat64(context: Pointer, value: Pointer): number
  _QTS_GetUndefined(): Pointer
  _QTS_GetNull(): Pointer
  _QTS_GetTrue(): Pointer
  _QTS_GetFalse(): Pointer
  _QTS_FreeValuePointer(context: Pointer, value: Pointer): void
  _QTS_ExecutePendingJob(runtime: Pointer, most: number, context: Pointer): Pointer
  _QTS_IsJobPending(runtime: Pointer): number
  _QTS_PromiseState(context: Pointer, value: Pointer): number
}

interface Module extends Functions {
  callbacks: {
    callFunction(_: undefined, context: Pointer, self: Pointer, count: number, values: Pointer): Pointer
    shouldInterrupt(_: undefined, runtime: Pointer): number
    loadModuleSource(_: undefined, runtime: Pointer, context: Pointer, name: string): Pointer
    normalizeModule(_: undefined, runtime: Pointer, context: Pointer, base: string, name: string): Pointer
    freeHostRef(): void
  }
  HEAPU8: Uint8Array
  UTF8ToString(pointer: Pointer): string
  stringToUTF8(text: string, pointer: Pointer, most: number): number
  lengthBytesUTF8(text: string): number
}

/** The types of the package say that the module is the function's namespace. */
const load = loader as unknown as (options: object) => Promise<Module>

const PAGE = 65_536

/** Pages that the build wants at least. */
const FIRST_PAGES = 256

/** Pages that the build can use at most. */
const MOST_PAGES = 32_768

/** As module, in strict mode. */
const AS_MODULE = 1

/** Promises that are not settled (`JSPromiseStateEnum`); what is no promise has a negative state. */
const PENDING = 0

/** The host's side of an evaluation. None of them may throw. */
export interface Host {
  /** Answers a realm's call: a number, a text, null or nothing. Arguments are numbers, and texts where they are asked for. */
  call(operation: number, values: Arguments): string | number | null | undefined
  /** Whether the program has to end; asked every few thousand operations. */
  interrupts(): boolean
  /** Told once when the memory cannot grow any more. */
  exhausted(): void
  /** The name under which a module is loaded; undefined when it may not be. */
  resolve(name: string, importer: string): string | undefined
  /** Source of a module that was resolved. */
  source(name: string): string | undefined
}

/** Arguments of a call from the realm. */
export interface Arguments {
  number(at: number): number
  text(at: number): string
}

/** What a call into the realm gave: something, or the exception that ended it. */
export type Completion = { value: Pointer } | { exception: Pointer }

export interface Engine {
  /** Puts the image back and takes calls for another host. */
  begin(host: Host): void
  /** Does something else with the engine while a realm waits for an answer, and puts that realm back afterwards. */
  meanwhile<T>(work: () => T): T
  /** Evaluates a module; the value is its namespace, or the promise of it where it waits. */
  evaluate(source: string, name: string): Completion
  isPending(value: Pointer): boolean
  /** Calls a function that the realm has handed out (`Realm`). */
  call(name: keyof Realm, ...values: (Pointer | string)[]): Completion
  /** Runs some of the jobs of promises. @returns whether there may be more */
  work(): boolean
  text(value: Pointer): string
  boolean(value: boolean): Pointer
  /** Bytes of its memory. */
  readonly bytes: number
  /** Whether it is still good, and no larger than at first. */
  readonly isSound: boolean
}

/** Functions of the realm that the host calls. */
export interface Realm {
  begin: Pointer
  enter: Pointer
  failed: Pointer
  finish: Pointer
}

const REALM: readonly (keyof Realm)[] = ['begin', 'enter', 'failed', 'finish']

/** A text with NUL is cut short on its way: they are written as two characters, whose first is written so, too. */
const MASKED = /[\0\x01]/g
const UNMASKED = /\x01[ab]/g

function masked(text: string): string {
  return text.includes('\0') || text.includes('\x01')
    ? text.replace(MASKED, c => (c === '\0' ? '\x01a' : '\x01b'))
    : text
}

function unmasked(text: string): string {
  return text.includes('\x01') ? text.replace(UNMASKED, pair => (pair === '\x01a' ? '\0' : '\x01')) : text
}

/**
 * Starts an instance.
 *
 * @param compiled the engine itself
 * @param limits bytes of memory beyond the empty realm, and of stack
 * @param prelude evaluated once, before the image is taken: a module that is given the function `host` as a global and hands
 *   out the functions of `Realm` as globals; the host resolves what it imports
 */
export async function startEngine(
  compiled: WebAssembly.Module,
  limits: { memory: number; stack: number },
  prelude: string,
  preparing: Host,
): Promise<Engine> {
  // An empty realm with its stack ends below seven megabytes. The build begins with sixteen, whatever the limit is.
  const pages = Math.max(FIRST_PAGES, Math.min(MOST_PAGES, 110 + Math.ceil(limits.memory / PAGE)))
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: pages })
  let host = preparing
  let isBroken = false
  memory.grow = pages => {
    try {
      return WebAssembly.Memory.prototype.grow.call(memory, pages)
    } catch (error) {
      host.exhausted()
      throw error
    }
  }
  let exports: WebAssembly.Exports = {}
  const m = await load({
    wasmMemory: memory,
    print: () => undefined,
    printErr: () => undefined,
    onAbort: () => {
      isBroken = true
    },
    instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
      const instance = new WebAssembly.Instance(compiled, imports)
      exports = instance.exports
      done(instance)
      return {}
    },
  })

  const intoMemory = (text: string): { at: Pointer; bytes: number } => {
    const bytes = m.lengthBytesUTF8(text)
    const at = m._malloc(bytes + 1)
    if (at === 0) throw new RangeError('no memory')
    m.stringToUTF8(text, at, bytes + 1)
    return { at, bytes }
  }

  const layout = layoutOf(m, memory, exports)
  const runtime = m._QTS_NewRuntime()
  const context = m._QTS_NewContext(runtime, 0)

  const newText = (text: string): Pointer => {
    const { at } = intoMemory(masked(text))
    const value = m._QTS_NewString(context, at)
    m._free(at)
    return value
  }
  const textOf = (value: Pointer): string => {
    const at = m._QTS_GetString(context, value)
    if (at === 0) return ''
    const text = m.UTF8ToString(at)
    m._QTS_FreeCString(context, at)
    return unmasked(text)
  }

  let values = 0
  const given: Arguments = {
    number: at => {
      const place = (values >> 2) + 2 * at
      const words = new Int32Array(memory.buffer, 0, place + 2)
      // A value is 64 bits with its tag in the upper half; 0 stands for an integer.
      return words[place + 1] === 0 ? (words[place] ?? 0) : m._QTS_GetFloat64(context, values + 8 * at)
    },
    text: at => textOf(values + 8 * at),
  }

  m.callbacks = {
    callFunction: (_, _context, _self, count, at) => {
      if (count < 1) return 0
      const before = values
      values = at
      try {
        const answer = host.call(given.number(0), given)
        if (answer === undefined) return 0
        if (answer === null) return m._QTS_GetNull()
        return typeof answer === 'number' ? m._QTS_NewFloat64(context, answer) : newText(answer)
      } catch {
        // No room for a long text, or for the way to it.
        host.exhausted()
        return 0
      } finally {
        values = before
      }
    },
    shouldInterrupt: () => (host.interrupts() ? 1 : 0),
    loadModuleSource: (_, _runtime, _context, name) => {
      const source = host.source(name)
      return source === undefined ? 0 : intoMemory(source).at
    },
    normalizeModule: (_, _runtime, _context, base, name) => {
      const resolved = host.resolve(name, base)
      return resolved === undefined ? 0 : intoMemory(resolved).at
    },
    freeHostRef: () => undefined,
  }

  const complete = (value: Pointer): Completion => {
    const exception = m._QTS_ResolveException(context, value)
    return exception === 0 ? { value } : { exception }
  }
  const evaluate = (source: string, name: string): Completion => {
    const code = intoMemory(source)
    const file = intoMemory(name)
    const value = m._QTS_Eval(context, code.at, code.bytes, file.at, 0, AS_MODULE)
    m._free(code.at)
    return complete(value)
  }

  m._QTS_RuntimeSetMaxStackSize(runtime, limits.stack)
  m._QTS_RuntimeEnableInterruptHandler(runtime)
  m._QTS_RuntimeEnableModuleLoader(runtime, 1)
  const globals = m._QTS_GetGlobalObject(context)
  const name = intoMemory('host')
  m._QTS_SetProp(context, globals, newText('host'), m._QTS_NewFunction(context, name.at, 5, 0, 1))
  const started = evaluate(prelude, 'realm:main')
  if ('exception' in started) throw new Error(`The realm does not start: ${textOf(started.exception)}`)
  const realm = Object.fromEntries(
    REALM.map(each => [each, m._QTS_GetProp(context, globals, newText(`realm:${each}`))]),
  ) as unknown as Realm
  const cleaned = evaluate(
    `for (const name of ['host', ${REALM.map(each => `'realm:${each}'`).join()}]) delete globalThis[name]`,
    'realm:clean',
  )
  if ('exception' in cleaned) throw new Error('The realm does not start.')

  const room = m._malloc(4 * 8)
  const image = takeImage(memory, layout, limits.stack)

  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      // The host's stack was exhausted, or the engine has given up: nothing of its state can be trusted.
      isBroken = true
      throw error
    }
  }

  return {
    begin(next) {
      host = next
      image.restore()
    },
    meanwhile(work) {
      const waiting = { host, values, restore: image.keep() }
      try {
        return work()
      } finally {
        waiting.restore()
        host = waiting.host
        values = waiting.values
      }
    },
    evaluate: (source, file) => guarded(() => evaluate(source, file)),
    isPending: value => m._QTS_PromiseState(context, value) === PENDING,
    call: (name, ...given) =>
      guarded(() => {
        const values = given.map(value => (typeof value === 'string' ? newText(value) : value))
        const places = new Uint32Array(memory.buffer, room, 8)
        for (const [i, value] of values.entries()) places[i] = value
        return complete(m._QTS_Call(context, realm[name], m._QTS_GetUndefined(), values.length, room))
      }),
    work: () =>
      guarded(() => {
        if (m._QTS_IsJobPending(runtime) === 0) return false
        m._QTS_ExecutePendingJob(runtime, 16, room)
        return true
      }),
    boolean: value => (value ? m._QTS_GetTrue() : m._QTS_GetFalse()),
    text: value => guarded(() => textOf(value)),
    get bytes() {
      return memory.buffer.byteLength
    },
    get isSound() {
      return !isBroken && memory.buffer.byteLength === FIRST_PAGES * PAGE
    },
  }
}
