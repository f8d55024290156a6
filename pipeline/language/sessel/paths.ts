/** Paths of sources (SES-125). */

import { normalForm } from '../../tree/normal-form.ts'
import { type Spend, tooLong } from './comparison.ts'

/** UTF-16 code units of a path or glob: many times as many as a path may have. */
const LONGEST_SOURCE = 16 * 1024

/** @throws SesselError for what is too long to be looked at as a path or glob */
export function checkSource(source: string, spend: Spend): void {
  if (source.length > LONGEST_SOURCE) throw tooLong(LONGEST_SOURCE)
  spend(source.length >> 5)
}

/**
 * A path against the path of the document that it stands in; dot segments are taken out.
 *
 * @param base canonical path
 */
export function resolvePath(base: string, path: string): string {
  const whole = path.startsWith('/') ? path : base.slice(0, base.lastIndexOf('/') + 1) + path
  if (!/\/\.{0,2}(?:\/|$)/.test(whole)) return normalForm(whole)
  const segments: string[] = []
  const parts = whole.split('/').slice(1)
  parts.forEach((segment, at) => {
    const isLast = at === parts.length - 1
    if (segment === '..') segments.pop()
    if (segment === '.' || segment === '..') {
      if (isLast) segments.push('')
    } else segments.push(segment)
  })
  return normalForm(`/${segments.join('/')}`)
}
