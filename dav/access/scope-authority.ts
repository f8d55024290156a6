/** The scope of a credential as the authority over a request: on the mount it stands in place of rules (MNT-2). */

import { header } from '../../edge/request.ts'
import type { Question } from '../../pipeline/access/admission.ts'
import { type Authority, fullAuthority } from '../../pipeline/authority.ts'
import { Fault } from '../../pipeline/fault.ts'
import { trimField } from '../../pipeline/http/field-text.ts'
import type { Exchange } from '../exchange.ts'
import type { Scope } from './scope.ts'

const READS: ReadonlySet<Question['ask']> = new Set(['read', 'read-elements', 'evaluate', 'subscribe'])

/** Reads outside of the scope find nothing, writes there are refused. */
export function scopeAuthority(scope: Scope): Authority {
  return {
    ...fullAuthority,
    admit(question) {
      if (READS.has(question.ask)) return scope.covers(question.path) ? fullAuthority.admit(question) : 'not-found'
      const open = scope.covers(question.path) && (question.ask !== 'move' || scope.covers(question.destination))
      return scope.write && open ? fullAuthority.admit(question) : 'refuse'
    },
    refusal: () => refused(scope),
  }
}

/**
 * What a write on these paths is answered where the scope does not allow it.
 *
 * @throws Fault 403 `Forbidden`
 */
export function checkWritable(scope: Scope, ...paths: string[]): void {
  if (!scope.write || !paths.every(path => scope.covers(path))) throw refused(scope)
}

function refused(scope: Scope): Fault {
  const message = scope.write
    ? 'Your credentials do not open this path.'
    : 'Your credentials open this for reading only.'
  return new Fault(403, 'Forbidden', message)
}

/**
 * Whether the request says `{Brand}-Write: raw`: it writes past the data model, for restoring a site in any order and
 * repairing what no write would pass (DAV-7).
 *
 * @throws Fault 403 for credentials that do not open the whole site for writing
 */
export function isRawWrite(exchange: Pick<Exchange, 'request' | 'mount' | 'author'>): boolean {
  const field = header(exchange, `${exchange.mount.settings.brand.toLowerCase()}-write`)
  if (field === undefined || trimField(field).toLowerCase() !== 'raw') return false
  const { whole, write } = exchange.author.scope
  if (!whole || !write) throw new Fault(403, 'Forbidden', 'Only credentials for the whole site write past its rules.')
  return true
}
