/**
 * Work that may take long, done in steps: a generator that yields wherever it can be left for a while. Whoever has
 * nobody waiting does it at once; a server does it in turns, so that one large document holds up nobody else.
 */

import { noteFreed } from './heap.ts'
import { PartyLines } from './party-lines.ts'
import { Precedence } from './precedence.ts'

/** Yields at least every few milliseconds; what it works on must not change meanwhile. */
export type Steps<T> = Generator<void, T, void>

/** Nodes that a pass over a tree looks at in one step: well under a millisecond. */
export const NODES_PER_STEP = 500

/** Milliseconds of work after which others get their turn. */
const TURN = 5

/** Milliseconds of work without a pause that nobody notices. */
const UNNOTICED = 20

/** The same where other works have taken as much since the event loop had its last turn: what is short is done all the same. */
const BRIEF = 1

/** UTF-16 code units of text that are worked through without a pause: a few milliseconds. */
const SHORT = 64 * 1024

/** UTF-16 code units of text up to which work finds room whatever else goes on. */
const LIGHT = 1024 * 1024

/** Bytes that a tree takes at most for each UTF-16 code unit of its text. */
const WEIGHT = 80

/** UTF-16 code units of text that heavier works may have together. */
const ROOM = 24 * 1024 * 1024

/** Does the work without a pause. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** What `map` gives for a list of any length, in steps. */
export function* mapping<From, To>(list: readonly From[], map: (each: From) => To): Steps<To[]> {
  const mapped: To[] = []
  for (const each of list) {
    mapped.push(map(each))
    if (mapped.length % NODES_PER_STEP === 0) yield
  }
  return mapped
}

/**
 * Looks at all of a list, in steps.
 *
 * @param look says how much more than one node there was to look at: an item may have thousands of types
 */
export function* lookingThrough<Each>(list: Iterable<Each>, look: (each: Each) => number): Steps<void> {
  let seen = 0
  for (const each of list) {
    seen += 1 + look(each)
    if (seen < NODES_PER_STEP) continue
    seen = 0
    yield
  }
}

/** Work that is done already. */
// biome-ignore lint/correctness/useYield: nothing is left to do
export function* done<T>(value: T): Steps<T> {
  return value
}

/**
 * Begins the work, which is then left where it is if it is not short.
 *
 * @param most milliseconds that it may take
 * @returns what came of it; undefined when it is to go on
 */
export function begin<T>(work: Steps<T>, most = UNNOTICED): { value: T } | undefined {
  const from = performance.now()
  let now = from
  do {
    const step = work.next()
    now = performance.now()
    if (!step.done) continue
    noteUnpaused(now - from)
    return { value: step.value }
  } while (now < from + most)
  noteUnpaused(now - from)
  return undefined
}

/** Milliseconds that works have taken without a pause since the event loop had its last turn. */
let unpaused = 0

/** Takes note of time that was taken without a pause. */
export function noteUnpaused(milliseconds: number): void {
  if (milliseconds < BRIEF) return
  if (unpaused === 0) setImmediate(forgetUnpaused)
  unpaused += milliseconds
}

function forgetUnpaused(): void {
  unpaused = 0
}

/**
 * Milliseconds that a work may take now without a pause. Requests that come at once are begun in one turn of the event loop:
 * together they take no more than nobody notices, but for a little each. Those that come one after the other while others stand
 * in line hold these up no longer than one of them does.
 *
 * @param most that it takes where it is alone
 */
export function unnoticed(most = UNNOTICED): number {
  return Math.max(BRIEF, (isTurning ? Math.min(TURN, most) : most) - unpaused)
}

/**
 * Does the work without a pause if it is short, else breaks it off. What others have the processor for meanwhile does not
 * count: on a busy machine all would be made once more.
 *
 * @param most milliseconds of the processor that it may take
 * @returns what came of it; undefined when it was broken off
 */
export function ifShort<T>(work: Steps<T>, most = UNNOTICED): { value: T } | undefined {
  const brief = begin(work, BRIEF)
  if (brief) return brief
  // Looked at for the few that take longer: that is a call of the system.
  const from = process.threadCpuUsage()
  for (let left = most - BRIEF; left > 0; left = most - BRIEF - processorTime(from)) {
    const made = begin(work, left)
    if (made) return made
  }
  // What the work has prepared is taken back.
  work.return(undefined as never)
  return undefined
}

/** Milliseconds of the processor that this thread has had since. */
function processorTime(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

/**
 * Does long work a few milliseconds at a time, between which requests and their answers pass.
 *
 * @param length UTF-16 code units of the text that is worked on; what is short is done at once, unless it takes long all the same
 * @throws what the work throws; HeapError where the heap has no room for it beside what else goes on
 */
export async function inTurns<T>(work: Steps<T>, length: number): Promise<T> {
  const made = length <= SHORT ? begin(work, unnoticed()) : undefined
  if (made) return made.value
  const needs = length <= LIGHT ? 0 : Math.min(length, ROOM)
  await enter(needs)
  // What comes of no text may take as much as it likes.
  const precedence = new Precedence(length > 0 ? length * WEIGHT : undefined)
  precedence.begin()
  try {
    for (;;) {
      await waitingTurn()
      await precedence.next()
      const end = performance.now() + TURN
      do {
        const step = work.next()
        if (step.done) return step.value
      } while (performance.now() < end)
    }
  } finally {
    // What the work has prepared is taken back, if it was broken off.
    work.return(undefined as never)
    precedence.end()
    noteFreed()
    leave(needs)
  }
}

let room = ROOM
const waiting = new PartyLines<{ needs: number; enter: () => void }>()

async function enter(needs: number): Promise<void> {
  if (needs > 0 && (waiting.first || needs > room))
    return new Promise<void>(resolve => waiting.add({ needs, enter: resolve }))
  room -= needs
}

/** Lets those in whose turn it is. */
function leave(needs: number): void {
  room += needs
  for (let first = waiting.first; first && first.needs <= room; first = waiting.first) {
    waiting.take()
    room -= first.needs
    first.enter()
  }
}

/** Works that wait for a turn of the event loop. */
const turns = new PartyLines<() => void>()
let isTurning = false

/** Waits for a turn that no other work has: together they hold up the rest no longer than one does. */
export function waitingTurn(): Promise<void> {
  return new Promise(resolve => {
    turns.add(resolve)
    if (isTurning) return
    isTurning = true
    setImmediate(giveTurn)
  })
}

function giveTurn(): void {
  turns.take()?.()
  isTurning = turns.first !== undefined
  if (isTurning) setImmediate(giveTurn)
}

/**
 * For works that follow each other without an end of the turn: each is short, or waits for what is there at once, so that
 * nobody else would have a turn before the last of them is done.
 */
export class TurnsBetween {
  #due = performance.now() + TURN

  /** To be waited for before the next work; undefined where others have not waited long yet. */
  next(): Promise<void> | undefined {
    return performance.now() > this.#due ? this.#leave() : undefined
  }

  async #leave(): Promise<void> {
    await waitingTurn()
    this.#due = performance.now() + TURN
  }
}

/** Does what cannot be divided, with a turn before and after it for everybody else. */
export async function inOwnTurn<T>(work: () => T): Promise<T> {
  await waitingTurn()
  const made = work()
  await waitingTurn()
  return made
}
