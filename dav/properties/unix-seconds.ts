/** Times as clients of clouds tell them: seconds since 1970 (DAV-36). */

import { LATEST_SHOWN } from '../../pipeline/store/tags.ts'
import { trimmed } from '../../pipeline/tree/ascii.ts'

/**
 * @param text digits, also with a fraction as some clients send it
 * @returns whole unix seconds; undefined for anything else, and for times that no date can tell
 */
export function readUnixSeconds(text: string): number | undefined {
  const number = trimmed(text)
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(number)) return undefined
  const seconds = Math.floor(Number(number))
  return seconds <= LATEST_SHOWN ? seconds : undefined
}
