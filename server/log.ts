/** The server's log: JSON lines for machines, short lines for people. */

import cluster from 'node:cluster'
import pino from 'pino'
import type { Settings } from '../config/schema.ts'
import { gatherRequests } from './finished-requests.ts'
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
  const write = (lines: string) => output.write(inPlainJson(lines))
  const log = pino(options, { ...output, write })
  gatherRequests(log, write, most.minLength)
  return log
}

/** One line a person can read: time, level unless it is `info`, message, and the rest as `name=value`. */
function forPeople({ level, time, msg = '', ...fields }: Entry): string {
  const label = level === 30 ? '' : `${pino.levels.labels[level] ?? level} `
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return `${time.slice(11, 23)} ${label}${inOneLine(`${msg} ${rest.join(' ')}`)}\n`
}

/** What somebody else has written can neither begin a line, nor tell the terminal anything, nor show the rest in another order. */
function inOneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)
}

/** The same of lines of JSON, which has escaped the others: all of these stand in its strings. */
export function inPlainJson(lines: string): string {
  return lines.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
