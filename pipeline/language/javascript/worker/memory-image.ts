/** What the memory of an instance of QuickJS holds before code runs in it, to be put back afterwards (JS-4, JS-37). */

/** What is asked of the instance: blocks by address, sizes in bytes. */
interface Allocating {
  _malloc(bytes: number): number
  _free(pointer: number): void
}

/**
 * Bytes of the C stack below the engine's own limit for it, which calls of functions keep to. The compiler of programs does not:
 * what is nested deeply goes through these bytes, and beyond.
 */
const STACK_SLACK = 64 * 1024

export interface Image {
  restore(): void
  /** Keeps what there is now. @returns puts it back */
  keep(): () => void
}

/** Where the heap of an instance begins, with the C stack below it, and where the address of its end is kept. */
export interface Layout {
  heapStart: number
  heapEndAt: number
}

/** Static data end before this address. */
const STATIC_BYTES = 128 * 1024

/** Bytes whose allocation moves the end of a fresh heap. */
const PROBE = 256 * 1024

/** Ends of heaps lie at multiples of it; blocks never do. */
const ALIGNMENT = 4_096

/** The build's name for `emscripten_stack_get_current`. */
const STACK_POINTER = 'Oa'

/** Looks which word of the static data moves with the end of the heap; nothing exports it. */
export function layoutOf(m: Allocating, memory: WebAssembly.Memory, exports: WebAssembly.Exports): Layout {
  const stackPointer = exports[STACK_POINTER]
  const heapStart = typeof stackPointer === 'function' ? Number(stackPointer()) : 0
  const before = new Uint32Array(memory.buffer.slice(0, STATIC_BYTES))
  const block = m._malloc(PROBE)
  const after = new Uint32Array(memory.buffer, 0, STATIC_BYTES / 4)
  m._free(block)
  const moved = [...before.keys()].filter(i => {
    const end = after[i] ?? 0
    return end > (before[i] ?? end) && (before[i] ?? 0) >= heapStart && end >= block + PROBE && end % ALIGNMENT === 0
  })
  const [word] = moved
  const isKnown = heapStart > STATIC_BYTES && block > heapStart && moved.length === 1
  if (word === undefined || !isKnown) throw new Error('The build of QuickJS is not the one that is known here.')
  return { heapStart, heapEndAt: 4 * word }
}

/** Keeps what an instance's memory holds: its static data, and the heap up to its end. */
export function takeImage(memory: WebAssembly.Memory, { heapStart, heapEndAt }: Layout, stack: number): Image {
  const heapEnd = () => new Uint32Array(memory.buffer, heapEndAt, 1)[0] ?? 0
  const end = heapEnd()
  const data = new Uint8Array(memory.buffer.slice(0, STATIC_BYTES))
  const heap = new Uint8Array(memory.buffer.slice(heapStart, end))
  const stackEnd = heapStart - stack - STACK_SLACK
  const untouched = new Uint8Array(STACK_SLACK)
  /** Megabytes that are rarely needed: whatever got there has left something on its way. */
  const clearBelow = (all: Uint8Array): void => {
    if (Buffer.compare(all.subarray(stackEnd, stackEnd + STACK_SLACK), untouched) !== 0)
      all.fill(0, data.length, stackEnd)
  }
  return {
    keep() {
      const data = new Uint8Array(memory.buffer.slice(0, STATIC_BYTES))
      const used = new Uint8Array(memory.buffer.slice(stackEnd, heapEnd()))
      return () => {
        const all = new Uint8Array(memory.buffer)
        const since = Math.min(heapEnd(), all.length)
        clearBelow(all)
        all.set(data)
        all.set(used, stackEnd)
        all.fill(0, stackEnd + used.length, Math.max(stackEnd + used.length, since))
      }
    },
    restore() {
      const used = Math.min(heapEnd(), memory.buffer.byteLength)
      const all = new Uint8Array(memory.buffer)
      clearBelow(all)
      all.set(data)
      all.fill(0, stackEnd, heapStart)
      all.set(heap, heapStart)
      all.fill(0, end, Math.max(end, used))
    },
  }
}
