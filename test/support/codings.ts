/** Compressed copies are made in the background; tests that are about them wait until they are there. */

import { PATIENCE } from './eventually.ts'
import type { Client } from './http.ts'

/** Asks until an answer comes in a coding: until then answers are provisional. */
export async function untilCoded(http: Client, target: string, coding: 'br' | 'gzip'): Promise<void> {
  const begun = performance.now()
  while (performance.now() - begun < PATIENCE) {
    const { headers } = await http('GET', target, { 'Accept-Encoding': coding })
    if (headers['content-encoding'] === coding) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error(`${target} never came as ${coding}`)
}
