/**
 * Watches whether the database answers: one connection of its own asks for the number of the last commit. A database that
 * does not answer in time is away: what others wait for is ended at once, and what is asked meanwhile is refused at once,
 * until it answers again. With the number comes the time, so that all processes have one clock.
 */

import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import { unlessAnswered } from '../../unless-answered.ts'
import { StoreError, Unusable } from '../errors.ts'
import { claim, type Use } from './claim.ts'
import { applicationName, connectPrimary, type DatabaseAddress, drop, lifeOf, storeError } from './connection.ts'
import type { Foreign } from './foreign.ts'
import { NEWEST, NEWS, type News, readEntries } from './news.ts'
import { sessionOn } from './session.ts'
import type { Log } from './writer.ts'

export interface Watch {
  /** Unix milliseconds by the clock of the database, as far as the way there tells. */
  now(): number
  /** The last commit of anybody, with what `tellFrom` asked for; those who ask at the same time are told together. @throws StoreError */
  news(): Promise<News>
  /** Of the database that answered last. */
  life(): string
  /** Has the log of commits come along behind a version, for who makes commits under a name: both asked whenever the database is. */
  tellFrom(of: Pick<Foreign, 'version' | 'origin'>): void
  /** @throws StoreError while the database is away */
  requireThere(): void
  /** When it answered last, by `performance.now()`; undefined while the database is there. */
  awaySince(): number | undefined
  /** Has a function told at the moment in which the database goes away. */
  onAway(listener: () => void): void
  close(): Promise<void>
}

/** Milliseconds that an answer may take. */
const ANSWER_WAIT = 1000

/** Milliseconds between two questions when nobody asks: with the wait for an answer, in time for who wants to write. */
const EVERY = 500

/** Milliseconds between two attempts to reach a database that is away. */
const RETRY = 200

/** Unix milliseconds as they pass since the process began, whatever the clock of the system is set to meanwhile. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now()
}

/**
 * The clock of another machine. It moves only where an answer proves it wrong: what the other said lies between the sending
 * of the question and the coming of the answer.
 */
export function clockOfAnother(own: () => number = steadyNow) {
  let ahead = 0
  return {
    now: () => Math.round(own() + ahead),
    /** @param sent own time of the question, in milliseconds; the answer came just now */
    heard(said: number, sent: number): void {
      ahead = Math.min(Math.max(ahead, said - own()), said - sent)
    },
  }
}

interface Answer {
  version: number
  now: number
  by?: string | null
  log?: string | null
}

/** Settles with the work, or fails when that takes too long. */
function inTime<Result>(work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error('Timeout: the database does not answer'))
    const timer = unlessAnswered(late, ANSWER_WAIT)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * Answers all who ask while a question is under way with the next one, and all who ask in one turn of the event loop with
 * the same: it is put after they asked.
 */
export function sharedQuestion<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<unknown> | undefined
  let next: Promise<Answer> | undefined
  function begin(): Promise<Answer> {
    next = undefined
    const asked = ask()
    running = asked.catch(() => undefined)
    return asked
  }
  return () => {
    if (running === undefined) running = Promise.resolve()
    next ??= running.then(() => setImmediate()).then(begin)
    return next
  }
}

/**
 * @param process its name
 * @param use what the database is claimed for, if it is; without its claim a process holds the database to be away
 */
export function watchDatabase(address: DatabaseAddress, log: Log, process: string, use?: Use): Watch {
  const name = `watch ${process}`
  const listeners: (() => void)[] = []
  let client: pg.Client | undefined
  const clock = clockOfAnother()
  let lastAnswer = performance.now()
  let life = ''
  let isAway = false
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  let told: Parameters<Watch['tellFrom']>[0] | undefined

  async function ask(): Promise<News> {
    if (client === undefined) {
      const opened = await connectPrimary(address, name)
      if (isClosed) {
        drop(opened)
        throw new StoreError('busy', 'The store is closed')
      }
      client = opened
      if (use !== undefined) await inTime(claim(sessionOn(opened), use, applicationName(name)))
      life = await inTime(lifeOf(opened))
      opened.on('end', () => {
        if (client === opened) lose(new Error('The connection was closed'))
      })
    }
    const sent = steadyNow()
    const session = sessionOn(client)
    const asked = told ? session.row<Answer>(NEWS, told.version(), told.origin()) : session.row<Answer>(NEWEST)
    const { version = 0, now, by, log = null } = (await inTime(asked)) ?? {}
    lastAnswer = performance.now()
    if (now !== undefined) clock.heard(now, sent)
    return { version, by: by ?? undefined, life, log: log === null ? undefined : readEntries(log) }
  }

  function lose(error: unknown): void {
    if (client !== undefined) drop(client)
    client = undefined
    if (isClosed || isAway) return
    isAway = true
    const reason = error instanceof Error ? error.message : String(error)
    // One that others have is there; whoever opens it is told.
    if (!(error instanceof Unusable)) log('error', 'The database does not answer', { error: reason })
    for (const listener of listeners) listener()
    retry = setTimeout(lookAgain, RETRY).unref()
  }

  function lookAgain(): void {
    if (isClosed) return
    ask().then(
      () => {
        isAway = false
        log('warn', 'The database answers again', {})
      },
      error => {
        lose(error)
        retry = setTimeout(lookAgain, RETRY).unref()
      },
    )
  }

  const news = sharedQuestion(async () => {
    requireThere()
    try {
      return await ask()
    } catch (error) {
      lose(error)
      throw storeError(error)
    }
  })

  function requireThere(): void {
    if (isAway) throw new StoreError('busy', 'The database does not answer')
  }

  const timer = setInterval(() => {
    if (!isAway) news().catch(() => undefined)
  }, EVERY).unref()

  return {
    now: clock.now,
    news,
    life: () => life,
    tellFrom(of) {
      told = of
    },
    requireThere,
    awaySince: () => (isAway ? lastAnswer : undefined),
    onAway: listener => void listeners.push(listener),
    async close() {
      isClosed = true
      clearInterval(timer)
      clearTimeout(retry)
      await client?.end().catch(() => undefined)
    },
  }
}
