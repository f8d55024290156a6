/** Times as clients of clouds tell them: seconds since 1970 (DAV-36). */

import { LATEST_SHOWN } from '../../pipeline/store/tags.ts'

/**
 * @param text digits, also with a fraction as some clients send it
 * @returns whole unix seconds; undefined for anything else, and for times that no date can tell
 */
export function readUnixSeconds(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(trimmed)) return undefined
  const seconds = Math.floor(Number(trimmed))
  return seconds <= LATEST_SHOWN ? seconds : undefined
}
