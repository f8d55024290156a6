/** Writes past the data model, for restoring a site in any order and repairing what no write would pass (DAV-7). */

import { header } from '../../edge/fields.ts'
import { Fault } from '../../pipeline/fault.ts'
import type { Exchange } from '../exchange.ts'

/**
 * Whether the request says `{Brand}-Write: raw`.
 *
 * @throws Fault 403 for credentials that do not open the whole site for writing
 */
export function isRawWrite(exchange: Pick<Exchange, 'request' | 'mount' | 'author'>): boolean {
  const field = header(exchange, `${exchange.mount.settings.brand.toLowerCase()}-write`)
  if (field?.trim().toLowerCase() !== 'raw') return false
  const { whole, write } = exchange.author.scope
  if (!whole || !write) throw new Fault(403, 'Forbidden', 'Only credentials for the whole site write past its rules.')
  return true
}
