/** Header fields that code gives: what could break the connection or the session is dropped (REA-53, REA-82). */

/** A name with its value; a name may repeat. */
export type Field = readonly [name: string, value: string]

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const CONTROLS = /[\0-\x08\x0a-\x1f\x7f]/
/** They belong to the connection, not to its content. */
const OF_CONNECTION = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
])
const OF_REQUESTS = new Set(['host', 'expect', 'cookie'])

/** Names whose usual spelling is not that of words. */
const SPELLED = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
])

/**
 * Whether a field may stand in an answer (REA-53).
 *
 * @param sessionCookie name of the server's own cookie
 */
export function isSafeField([field, value]: Field, sessionCookie: string): boolean {
  if (!isField([field, value])) return false
  const lower = field.toLowerCase()
  if (OF_CONNECTION.has(lower)) return false
  if (lower !== 'set-cookie') return true
  const at = value.indexOf('=')
  const name = value.slice(0, Math.max(0, at)).trim()
  // Browsers give back a cookie without a name as its value alone, which may read as a name with a value.
  return name !== '' && name !== sessionCookie
}

/** Whether a field may stand in a request that goes out (REA-82). */
export function isSafeForRequests([name, value]: Field): boolean {
  const lower = name.toLowerCase()
  return isField([name, value]) && !OF_CONNECTION.has(lower) && !OF_REQUESTS.has(lower) && !lower.startsWith('proxy-')
}

function isField([name, value]: Field): boolean {
  return TOKEN.test(name) && !CONTROLS.test(value)
}

/** The one spelling in which the server writes a name, however its author did. */
export function usualName(name: string): string {
  const lower = name.toLowerCase()
  return SPELLED.get(lower) ?? lower.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())
}

/** A value as Node takes it: one character for each byte. */
export function encodedValue(value: string): string {
  return /^[\0-\x7f]*$/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}
