/**
 * Collections of garbage when a test asks for them. They take as long as all that its process holds: files that import this
 * share one of their own (`COLLECTING`).
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** Collects what nobody holds: all of it, or what is young. */
export const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
setFlagsFromString('--no-expose-gc')
