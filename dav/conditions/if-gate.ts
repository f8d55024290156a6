/** The gate of the `If` header: judged on every method, before all other conditions (DAV-44, DAV-89). */

import type { IncomingMessage } from 'node:http'
import { Fault } from '../../pipeline/fault.ts'
import { parseDestination } from '../../pipeline/http/destination.ts'
import { asSeen, visible } from '../access/visibility.ts'
import type { Exchange } from '../exchange.ts'
import { withoutPrefix } from '../requests/destination.ts'
import { memberTag } from './answer-tags.ts'
import { evaluateIf, parseIf } from './if-header.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * @param target decoded path relative to the mount
 * @param authorities by which the client may call this mount
 * @returns the lock tokens that the header submits
 * @throws Fault 400 for a header that cannot be read, 412 for one that does not hold
 */
export async function judgeIf(
  { headers, method }: IncomingMessage,
  { mount, author }: Pick<Exchange, 'mount' | 'author'>,
  target: string,
  authorities: readonly string[],
): Promise<ReadonlySet<string>> {
  const field = headers.if
  if (field === undefined) return NONE
  const header = parseIf(Array.isArray(field) ? field.join(', ') : field)
  const { view, locks, site, prefix } = mount
  const holds = await evaluateIf(header, {
    target,
    decode: uri => withoutPrefix(parseDestination(uri, 'mount', authorities, author.user), prefix),
    tagOf: async path => {
      const node = visible({ author }, await view.find(path))
      return node && memberTag((await asSeen({ mount, author }, node)).resource)
    },
    locksOn: path => locks.on(site.store.name, path),
  })
  if (holds) return header.submitted
  const refreshes =
    method === 'LOCK' && headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)
  throw new Fault(412, 'PreconditionFailed', 'The If header does not hold.', {
    ...(refreshes && { precondition: { code: 'lock-token-matches-request-uri' as const } }),
  })
}
