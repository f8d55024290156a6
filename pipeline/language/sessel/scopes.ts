/** Where names are bound, worked out before a program runs (SES-30, SES-31). */

import type { Code } from './code.ts'

/** A binding: so many activations outside, in that slot. */
export interface Binding {
  levels: number
  slot: number
}

/** A reference from inside of a lambda to a name that nobody has bound yet. */
interface Late {
  fn: Routine
  /** Where the instruction's operands are. */
  at: number
}

type Waiting = Map<string, Late[]>

/** What `let` binds in a program, block or lambda. A name that is bound again gets another slot. */
export class Frame {
  readonly outer: Frame | undefined
  readonly #slots = new Map<string, number>()
  /** References from inside of lambdas that wait for a name to be bound here. */
  waiting: Waiting = new Map()
  /** The name that is about to be bound to a lambda: seen from inside of it. */
  coming: { name: string; slot: number } | undefined

  constructor(outer: Frame | undefined) {
    this.outer = outer
  }

  slot(name: string): number | undefined {
    return this.#slots.get(name)
  }

  /** @param fn the function that the frame belongs to */
  bind(name: string, slot: number, fn: Routine): void {
    this.#slots.set(name, slot)
    const bound = this.waiting.get(name) ?? []
    this.waiting.delete(name)
    for (const reference of bound) {
      reference.fn.code.instructions[reference.at] = reference.fn.depth - fn.depth
      reference.fn.code.instructions[reference.at + 1] = slot
    }
  }
}

/** A function while it is compiled. */
export interface Routine {
  code: Code
  /** Numbers of constants that may be shared. */
  numbers: Map<unknown, number>
  outer: Routine | undefined
  depth: number
  frame: Frame
  /** Its own references to names that nobody has bound yet. */
  late: Waiting
  /** Of the whole program: nodes that were worked through. */
  meter: { nodes: number }
}

export function functionInside(
  outer: Routine | undefined,
  parameters: readonly string[],
  rest: string | undefined,
): Routine {
  const names = rest === undefined ? parameters : [...parameters, rest]
  const fn: Routine = {
    code: {
      instructions: [],
      constants: [],
      slots: names.length,
      parameters: parameters.length,
      hasRest: rest !== undefined,
    },
    numbers: new Map(),
    outer,
    depth: outer ? outer.depth + 1 : 0,
    frame: new Frame(undefined),
    late: new Map(),
    meter: outer?.meter ?? { nodes: 0 },
  }
  names.forEach((name, slot) => {
    fn.frame.bind(name, slot, fn)
  })
  return fn
}

/** The binding that a name has where it stands; undefined for names from outside of the program. */
export function resolve(fn: Routine, name: string): Binding | undefined {
  let levels = 0
  for (let at: Routine | undefined = fn; at; at = at.outer) {
    for (let frame: Frame | undefined = at.frame; frame; frame = frame.outer) {
      if (levels > 0 && frame.coming?.name === name) return { levels, slot: frame.coming.slot }
      const slot = frame.slot(name)
      if (slot !== undefined) return { levels, slot }
    }
    levels++
  }
  return undefined
}

/** Notes a reference of a lambda to a name that is not bound where it stands (SES-35). */
export function refersLate(fn: Routine, name: string, at: number): void {
  const known = fn.late.get(name)
  if (known) known.push({ fn, at })
  else fn.late.set(name, [{ fn, at }])
}

/** Begins a part with a frame of its own. @returns ends it: what still waits for names waits in the frame around it */
export function enterFrame(fn: Routine): () => void {
  const outside = fn.frame
  fn.frame = new Frame(outside)
  return () => {
    outside.waiting = together(outside.waiting, fn.frame.waiting)
    fn.frame = outside
  }
}

/** Ends a lambda: what it and the lambdas in it refer to may be bound later in the frame around it. */
export function leaveFunction({ outer, late, frame }: Routine): void {
  if (outer) outer.frame.waiting = together(outer.frame.waiting, together(late, frame.waiting))
}

/** Moves the smaller set into the larger one, so that no reference is moved often. */
function together(a: Waiting, b: Waiting): Waiting {
  const [into, from] = a.size < b.size ? [b, a] : [a, b]
  for (const [name, references] of from) {
    const known = into.get(name)
    if (!known) into.set(name, references)
    else for (const reference of references) known.push(reference)
  }
  return into
}
