/** Takes multipart bodies apart as strictly as RFC 2046 and HTTP-66 allow. */

import type { Received } from './http.ts'

export interface ReceivedPart {
  /** By name as spelled, in order. */
  headers: Readonly<Record<string, string>>
  content: Buffer
  /** Content as UTF-8. */
  text: string
}

/**
 * @returns the parts of a multipart answer
 * @throws where framing deviates in a single byte from HTTP-66
 */
export function partsOf({ headers, body }: Pick<Received, 'headers' | 'body'>): ReceivedPart[] {
  const type = headers['content-type'] ?? ''
  const boundary = /^multipart\/[a-z]+; boundary=([A-Za-z0-9]{1,70})$/.exec(type)?.[1]
  if (boundary === undefined) throw new Error(`no boundary as HTTP-66 wants it: ${type}`)
  const opening = Buffer.from(`--${boundary}\r\n`)
  const closing = Buffer.from(`--${boundary}--\r\n`)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const parts: ReceivedPart[] = []
  let at = 0
  while (!body.subarray(at).equals(closing)) {
    if (body.indexOf(opening, at) !== at) throw new Error(`no delimiter at byte ${at}`)
    const start = at + opening.length
    const end = body.indexOf(delimiter, start)
    if (end < 0) throw new Error(`a part has no end: ${body.toString('utf8', start)}`)
    parts.push(partOf(body.subarray(start, end)))
    at = end + 2
  }
  return parts
}

function partOf(bytes: Buffer): ReceivedPart {
  const blank = bytes.indexOf('\r\n\r\n')
  if (blank < 0) throw new Error(`a part has no empty line: ${bytes.toString()}`)
  const headers: Record<string, string> = {}
  for (const line of bytes.toString('utf8', 0, blank).split('\r\n')) {
    const [, name, value] = /^([A-Za-z-]+): (\S|\S.*\S)$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`no header line: ${JSON.stringify(line)}`)
    headers[name] = value
  }
  const content = bytes.subarray(blank + 4)
  return { headers, content, text: content.toString('utf8') }
}
