/** What an answer tells: two sites that differ only in what a requester may not read tell the same (SEC-6). */

import type { Received } from '../support/http.ts'

/** Without what is made anew each time: dates, sessions, boundaries, and the keyed part of fragment tags. */
export function told({ status, lines, text }: Received): string {
  const type = lines.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const boundary = /boundary="?([^"\s;]+)/.exec(type)?.[1]
  const plain = (value: string) =>
    (boundary ? value.replaceAll(boundary, 'B') : value).replace(/([0-9a-f]{32}-)[0-9a-f]{32}/g, '$1K')
  const fields = lines
    .filter(([name]) => !/^(date|set-cookie|last-modified)$/i.test(name))
    .map(([name, value]) => `${name}: ${plain(value)}`)
  return [status, ...fields, '', plain(text).replace(/Last-Modified: .*/g, '')].join('\n')
}

/**
 * All of an answer but what is anew each time: dates, sessions and boundaries. Of fields a 304 need not repeat, those of
 * routes and lists are left out.
 */
export function wholly({ status, lines, text, headers }: Received): string {
  const boundary = /boundary="?([^"\s;]+)/.exec(headers['content-type'] ?? '')?.[1]
  const plain = (value: string) => (boundary ? value.replaceAll(boundary, 'B') : value)
  const left =
    status === 304 ? /^(date|connection|keep-alive|link|route-parameters)$/i : /^(date|connection|keep-alive)$/i
  const fields = lines
    .filter(([name]) => !left.test(name))
    .map(([name, value]) => `${name}: ${/^set-cookie$/i.test(name) ? value.replace(/=[^;]*/, '=S') : plain(value)}`)
  return [status, ...fields.sort(), '', plain(text)].join('\n')
}
