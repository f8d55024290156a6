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
