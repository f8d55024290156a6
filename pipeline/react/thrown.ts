/** Responses that code has thrown, as answers (REA-50 to REA-53). */

import type { Answer } from '../answer.ts'
import { asciiLower } from '../tree/ascii.ts'
import { encodedValue, type Field, isSafeField, usualName } from './header-fields.ts'

/** A response as a language gives it. */
export interface ThrownResponse {
  status: number
  body: string
  fields: readonly Field[]
}

/**
 * @param sessionCookie name of the server's own cookie, which no code sets
 * @returns an answer in which nothing of the one it replaces remains
 */
export function thrownAnswer({ status, body, fields }: ThrownResponse, sessionCookie: string): Answer {
  const answer: Answer = { status: statusOf(status), headers: {}, body }
  const own = fields.filter(field => isSafeField(field, sessionCookie))
  const has = (name: string) => own.some(([each]) => asciiLower(each) === name)
  if (!has('content-type')) answer.headers['Content-Type'] = 'text/html; charset=utf-8'
  if (!has('cache-control')) answer.headers['Cache-Control'] = 'no-store'
  addFields(answer, own)
  return answer
}

function statusOf(status: number): number {
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : 500
}

/** Adds fields to an answer; a name that comes several times is sent several times. */
export function addFields(answer: Answer, fields: readonly Field[]): void {
  const seen = new Set<string>()
  const repeated: Field[] = []
  for (const [name, value] of fields) {
    const usual = usualName(name)
    const lower = asciiLower(name)
    // The server may have a cookie of its own to send.
    if (seen.has(lower) || lower === 'set-cookie') repeated.push([usual, encodedValue(value)])
    else answer.headers[usual] = encodedValue(value)
    seen.add(lower)
  }
  if (repeated.length > 0) answer.repeated = [...(answer.repeated ?? []), ...repeated]
}
