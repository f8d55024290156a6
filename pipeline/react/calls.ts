/** Outbound requests as actions: their properties are evaluated when the action runs (REA-80 to REA-82). */

import { asciiLower, asciiUpper, trimmed } from '../tree/ascii.ts'
import type { RawCall, RawHeader, RawValue } from './declared/extract.ts'
import { SENT, wrongUrl } from './declared/reactions.ts'
import { encodedValue, type Field, isSafeForRequests } from './header-fields.ts'

/** An outbound request that is ready to be queued. */
export interface OutboundCall {
  /** Absolute; or a path on the own site. */
  url: string
  method: string
  /** Without those that belong to the connection or are added when it is sent. */
  fields: readonly Field[]
  body: string
  /** Attempts after the first. */
  retries: number
}

export const MOST_RETRIES = 4

/** Outbound requests of one request (REA-95). */
const MOST_CALLS = 64

/**
 * Outbound requests that one request may queue: fewer where calls to own sites have led to it, for each of them may lead to
 * as many again (REA-88).
 *
 * @param depth such calls before it
 */
export function mostCallsAt(depth: number): number {
  return Math.max(1, MOST_CALLS >> (2 * depth))
}

/** Why a call is dropped (REA-80). */
export interface Dropped {
  dropped: string
}

/**
 * @param evaluate gives the text of a property that is code; null where it is absent
 * @throws what `evaluate` throws
 */
export async function callFrom(
  { properties }: RawCall,
  evaluate: (value: RawValue) => Promise<string | null>,
): Promise<OutboundCall | Dropped> {
  const texts = new Map<string, string>()
  const fields: Field[] = []
  for (const property of properties) {
    if (property[0] === 'header') {
      const field = await fieldFrom(property[1], evaluate)
      if (field) fields.push(field)
      continue
    }
    const text = await evaluate(property[1])
    if (text !== null) texts.set(property[0], text)
  }
  return checkedCall({
    url: texts.get('url') ?? '',
    method: texts.get('method') ?? '',
    type: texts.get('content-type') ?? 'text/html',
    body: texts.get('body') ?? '',
    retry: texts.get('retry') ?? '',
    fields,
  })
}

/** A call in plain text, checked (REA-80, REA-82, REA-84). */
export function checkedCall(call: {
  url: string
  method: string
  type: string
  body: string
  retry: string
  fields: readonly Field[]
}): OutboundCall | Dropped {
  const url = trimmed(call.url)
  const why = wrongUrl(url)
  if (why !== undefined) return { dropped: why }
  const method = asciiUpper(trimmed(call.method)) || 'POST'
  if (!SENT.has(method)) return { dropped: 'the method is none that can be sent' }
  const safe = call.fields.filter(isSafeForRequests).map(([name, value]): Field => [name, encodedValue(value)])
  const types = safe.filter(([name]) => asciiLower(name) === 'content-type')
  const type: Field = types.at(-1) ?? ['Content-Type', encodedValue(call.type)]
  const fields = safe.filter(([name]) => asciiLower(name) !== 'content-type')
  const body = method === 'GET' ? '' : call.body
  const retries = /^[\t\n\f\r ]*\d+[\t\n\f\r ]*$/.test(call.retry) ? Math.min(Number(call.retry), MOST_RETRIES) : 0
  return {
    url,
    method,
    fields: isSafeForRequests(type) && method !== 'GET' ? [type, ...fields] : fields,
    body,
    retries,
  }
}

async function fieldFrom(
  header: RawHeader,
  evaluate: (value: RawValue) => Promise<string | null>,
): Promise<Field | undefined> {
  if ('line' in header) {
    const line = await evaluate(header.line)
    const colon = line?.indexOf(':') ?? -1
    return line === null || colon < 0 ? undefined : [trimmed(line.slice(0, colon)), trimmed(line.slice(colon + 1))]
  }
  const parts: { key?: string; value?: string } = {}
  for (const [name, value] of header.pair) {
    const text = await evaluate(value)
    if (text !== null) parts[name] = text
  }
  return parts.key === undefined ? undefined : [trimmed(parts.key), trimmed(parts.value ?? '')]
}
