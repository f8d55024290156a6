/** The server's log: JSON lines for machines, short lines for people; requests with duration and outcome. */

import cluster from 'node:cluster'
import pino from 'pino'
import type { Settings } from '../config/schema.ts'
import { logOutput } from './log-output.ts'

export type Log = pino.Logger

/** Fields of an entry that a line for people shows on its own terms. */
interface Entry {
  level: number
  time: string
  msg?: string
  [field: string]: unknown
}

/**
 * @param settings level, and `json`, `text`, or `auto`: text on a terminal
 * @param destination file descriptor; standard output by default
 */
export function createLog(settings: Pick<Settings['log'], 'level' | 'format'>, destination = 1): Log {
  const text = settings.format === 'text' || (settings.format === 'auto' && process.stdout.isTTY)
  const options: pino.LoggerOptions = {
    level: settings.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['headers.authorization', 'headers.cookie'],
  }
  // Lines are gathered for a moment: a system call for every request would cost more than many requests do.
  // A pipe that several processes share takes this much in one piece.
  const most = cluster.isWorker ? { maxWrite: 4096, minLength: 2048 } : { minLength: 8192 }
  const output = logOutput(destination, text ? { ...most, minLength: 0 } : most)
  if (text)
    return pino(options, { ...output, write: (line: string) => output.write(forPeople(JSON.parse(line) as Entry)) })
  const log = pino(options, output)
  requestLines.set(
    log,
    gathering(lines => output.write(lines), most.minLength),
  )
  return log
}

/** One line a person can read: time, level unless it is `info`, message, and the rest as `name=value`. */
function forPeople({ level, time, msg = '', ...fields }: Entry): string {
  const label = level === 30 ? '' : `${pino.levels.labels[level] ?? level} `
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return `${time.slice(11, 23)} ${label}${msg} ${rest.join(' ')}\n`
}

/** A request that was answered. */
export interface LoggedRequest {
  face: 'public' | 'mount'
  host: string
  method: string
  /** As it was sent; its query is left out, which may hold secrets. */
  url: string
  status: number
  milliseconds: number
  /** Of a write: who sent it, and what it addresses. */
  by?: Writer
}

/** Who changes something, as far as the settings have it told. */
export interface Writer {
  user?: string
  /** Client address, or a part of it. */
  client?: string
  /** Selector of the element that is addressed. */
  selector?: string
}

/**
 * Hands lines of one turn of the event loop over together: the stream looks through all it holds for each piece.
 *
 * @param most characters after which there is no waiting for the end of the turn
 */
function gathering(write: (lines: string) => void, most: number): (line: string) => void {
  let lines = ''
  const handOver = () => {
    const all = lines
    lines = ''
    if (all !== '') write(all)
  }
  return line => {
    if (lines === '') setImmediate(handOver)
    lines += line
    if (lines.length >= most) handOver()
  }
}

/** Where lines about requests go past pino, which takes as long over one as the rest of a repeated answer does. */
const requestLines = new WeakMap<Log, (line: string) => void>()

/** One line a request, the same as pino writes for the same fields. */
export function logRequest(log: Log, { face, host, method, url, status, milliseconds, by }: LoggedRequest): void {
  if (!log.isLevelEnabled('info')) return
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  const ms = Math.round(milliseconds * 100) / 100
  const write = requestLines.get(log)
  if (!write) {
    log.info({ face, host, method, path, status, ms, ...by }, 'request')
    return
  }
  write(
    `{"level":30,"time":"${isoTime(Date.now())}","face":"${face}","host":${JSON.stringify(host)},"method":"${method}",` +
      `"path":${JSON.stringify(path)},"status":${status},"ms":${ms},${inside(by)}"msg":"request"}\n`,
  )
}

/** The members of an object as they stand in JSON, with a comma behind. */
function inside(by: Writer | undefined): string {
  const text = by === undefined ? '{}' : JSON.stringify(by)
  return text === '{}' ? '' : `${text.slice(1, -1)},`
}

let written = { at: Number.NaN, text: '' }

/** RFC 3339 with milliseconds; many requests fall into one. */
function isoTime(at: number): string {
  if (at !== written.at) written = { at, text: new Date(at).toISOString() }
  return written.text
}
