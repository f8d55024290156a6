/** Requests that are broken in every way a seed can think of: valid ones, mutated byte by byte, spliced and cut off. */

/** @returns a generator of numbers from 0 up to 1, the same for the same seed (mulberry32) */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'OPTIONS', 'QUERY', 'PROPFIND', 'TRACE', 'X']
const TARGETS = [
  '/fuzz/a.html',
  '/fuzz/b.html',
  '/fuzz/',
  '/fuzz/x.xml',
  '/fuzz/blob.bin',
  '/',
  '/none.html',
  '*',
  '//fuzz/a.html',
  '/fuzz/%61.html',
  '/fuzz/%00',
  '/fuzz/../a.html',
  '/.platform/x',
  '/-platform/health',
  'http://localhost/fuzz/a.html',
  'http://other.example/',
  `/fuzz/${'x'.repeat(300)}`,
  '/fuzz/a.html?x=1&y=%zz',
]
const BODIES = [
  '',
  '<li>x</li>',
  '<p id="p">x',
  '<!DOCTYPE html><title>t</title><ul id="l"><li>1</ul>',
  '<a><b/></a>',
  '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
  'li',
  '\u00e9\u4e2d\u{1f600}',
  '<div>'.repeat(600),
  'x'.repeat(5_000),
]
const FIELDS: readonly (readonly [string, readonly string[]])[] = [
  ['Host', ['localhost', 'localhost:1', '', 'other.example', '[::1]', 'a b', 'localhost\r\nHost: x']],
  [
    'Range',
    [
      'selector=li',
      'selector=#l; placement=before',
      'selector=',
      'bytes=0-3',
      'bytes=5-1,-2',
      'selector=:not(',
      'rows=1',
      'entries=0-1',
      'selector=li; entries=0-9',
    ],
  ],
  ['Destination', ['/fuzz/a.html', '/fuzz/c.html', 'http://localhost/fuzz/b.html', 'x', '//', '/fuzz/%2e%2e/x']],
  ['Destination-Range', ['selector=#l; placement=append', 'selector=li; placement=x', 'selector=', 'x']],
  [
    'Accept',
    [
      'multipart/mixed',
      'application/ld+json',
      'text/event-stream;q=0',
      '*/*;q=x',
      'text/html, application/ld+json;q=0.9',
    ],
  ],
  ['Accept-Encoding', ['gzip', 'br;q=1, *;q=0', 'identity;q=0']],
  ['Content-Type', ['text/html', 'text/css-selector', 'text/sessel', 'multipart/form-data; boundary=x', '/', 'a/b;c']],
  ['Content-Length', ['0', '5', '10', '999999999999', '-1', 'x', '1e3']],
  ['Transfer-Encoding', ['chunked', 'gzip, chunked', 'x']],
  ['Content-Encoding', ['gzip', 'identity']],
  ['If-Match', ['*', '"x"', 'W/"x", "y"', '"', ',,,']],
  ['If-None-Match', ['*', '"x"', '']],
  ['If-Modified-Since', ['Mon, 01 Jan 2001 00:00:00 GMT', 'x']],
  ['Overwrite', ['F', 'T', 'x']],
  ['Expect', ['100-continue', 'x']],
  ['Cookie', ['platform_session=x', 'a=b; platform_session=', ';;;=']],
  ['Origin', ['null', 'http://localhost', 'x']],
  ['Connection', ['close', 'keep-alive', 'upgrade']],
  ['Upgrade', ['h2c', 'websocket']],
  ['Authorization', ['Basic eDp5', 'Basic', 'x']],
]
/** What tends to confuse parsers; put in anywhere. */
const POISON = [
  '\r\n',
  '\n',
  '\r',
  '\u0000',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '"',
  '%',
  '\\',
  '\u00ff',
  '\r\n\r\n',
  '0\r\n\r\n',
  'ffffffff\r\n',
  'HTTP/1.1',
]

/** One thing to do on a connection. */
export type Step = { send: Buffer } | { pause: true } | { end: 'half' | 'reset' | 'close' }

/**
 * @param next of `random`
 * @returns what to do on one connection: one or several requests, whole or broken, in one piece or in many
 */
export function broken(next: () => number): Step[] {
  const under = (limit: number) => Math.floor(next() * limit)
  const pick = <T>(list: readonly T[]): T => list[under(list.length)] as T

  function request(): Buffer {
    const body = pick(BODIES)
    const sound = next() < 0.4
    const lines = [`${pick(METHODS)} ${sound ? '/fuzz/a.html' : pick(TARGETS)} HTTP/1.1`]
    if (next() < 0.95) lines.push('Host: localhost')
    if (sound) lines.push(`Range: selector=${pick(['li', '#l', 'ul', 'body'])}`)
    for (let i = under(sound ? 2 : 6); i > 0; i--) {
      const [name, values] = pick(FIELDS)
      if (name !== 'Host' || next() < 0.1) lines.push(`${name}: ${pick(values)}`)
    }
    if (next() < 0.7) lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
    else if (next() < 0.5)
      return Buffer.from(`${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(body)}`)
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
  }

  function chunked(body: string): string {
    const bytes = Buffer.from(body)
    return `${bytes.length.toString(16)}\r\n${body}\r\n${bytes.length === 0 ? '\r\n' : '0\r\n\r\n'}`
  }

  function mutate(bytes: Buffer): Buffer {
    const at = under(bytes.length + 1)
    const until = Math.min(bytes.length, at + under(20))
    switch (under(7)) {
      case 0:
        return Buffer.concat([bytes.subarray(0, at), Buffer.from(pick(POISON), 'latin1'), bytes.subarray(at)])
      case 1:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(until)])
      case 2:
        return Buffer.concat([bytes.subarray(0, until), bytes.subarray(at)])
      case 3: {
        const changed = Buffer.from(bytes)
        if (at < changed.length) changed[at] = under(256)
        return changed
      }
      case 4:
        return bytes.subarray(0, at)
      case 5:
        return Buffer.concat([bytes.subarray(0, at), request()])
      default:
        return Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(pick(POISON).repeat(under(2_000)), 'latin1'),
          bytes.subarray(at),
        ])
    }
  }

  const steps: Step[] = []
  for (let i = 1 + under(3); i > 0; i--) {
    let bytes = request()
    if (next() < 0.6) for (let m = under(4); m > 0; m--) bytes = mutate(bytes)
    if (next() < 0.3) {
      const cut = under(bytes.length + 1)
      steps.push({ send: bytes.subarray(0, cut) }, { pause: true }, { send: bytes.subarray(cut) })
    } else steps.push({ send: bytes })
  }
  steps.push({ end: pick(['half', 'half', 'reset', 'close'] as const) })
  return steps
}
