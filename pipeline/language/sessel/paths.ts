/** Paths of sources (SES-125). */

import { normalForm } from '../../tree/normal-form.ts'

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
