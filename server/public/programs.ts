/** QUERY with an expression on the public surface (HTTP-140, SES-230): what a visitor's program may reach (SES-126, SES-127). */

import { header } from '../../edge/request.ts'
import type { Authority, WholeQuestion } from '../../pipeline/authority.ts'
import { resolvePath } from '../../pipeline/compose/routes.ts'
import { answerProgram } from '../../pipeline/evaluation/query.ts'
import type { Bounds } from '../../pipeline/evaluation/reach.ts'
import { readableTree } from '../../pipeline/evaluation/readable.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { ACCEPT_QUERY, essence } from '../../pipeline/http/media.ts'
import { SesselError } from '../../pipeline/language/sessel/sessel.ts'
import type { Value } from '../../pipeline/language/values.ts'
import type { Operation } from '../../pipeline/operation.ts'
import { routeHeaders } from '../../pipeline/read/representation.ts'
import { byStandingRules } from '../../pipeline/read/standing-rules.ts'
import { absent, refuseForbidden, refuseUnseen, requireAllowed } from '../../pipeline/refusals.ts'
import type { TreeDocument } from '../../pipeline/tree/nodes.ts'
import { readAtOneMoment } from '../../pipeline/write/one-moment.ts'
import { type Exchange, requestValue } from './exchange.ts'

/** What stored code that a program calls learns of its request is not for the program to say (REA-43). */
class Context extends Map<string, Value> {
  /** @throws SesselError */
  override set(name: string, value: Value): this {
    if (name === 'request' && this.has(name)) throw new SesselError('TypeError', `“${name}” cannot be assigned`)
    return super.set(name, value)
  }
}

/** Whether a request is a QUERY with a program: every content type but that of selectors is one (HTTP-134). */
export function asksForProgram(exchange: Exchange): boolean {
  return exchange.method === 'QUERY' && typeOf(exchange) !== 'text/css-selector'
}

/** Without parameters. */
function typeOf(exchange: Exchange): string {
  return essence(header(exchange, 'content-type') ?? '')
}

/** A program to be run, which needs a grant of its own (METH-3). */
export function programOperation(exchange: Exchange): Operation {
  const type = typeOf(exchange)
  const { site, authority, allowance, target, request } = exchange
  const isDirectory = target.path.endsWith('/')
  // A directory is asked itself, not its index (SES-126).
  const path = isDirectory ? target.path : exchange.path
  // How long others take to change what is hidden tells nothing (SEC-6).
  const isSeen = (changed: string) => changed.endsWith('/') || authority().access.readable(changed)
  const atOneMoment = <T>(read: () => Promise<T>) => readAtOneMoment(site, path, isSeen, read)
  async function question() {
    refuseUnseen(authority(), { ask: 'evaluate', path }, 'QUERY', path)
    const served = isDirectory ? undefined : await resolvePath(site, path)
    const exists = isDirectory ? await atOneMoment(() => holdsDocuments(exchange, path)) : served !== undefined
    return { asked: { ask: 'evaluate' as const, path, exists }, served }
  }
  const requireThere = (decided: Authority, asked: WholeQuestion): void => {
    requireAllowed(decided, asked, 'QUERY', path)
    if (!asked.exists) throw absent()
  }
  return {
    async admit() {
      refuseForbidden(authority(), (await question()).asked, 'QUERY', path)
      return {}
    },
    async carryOut(body) {
      const first = authority()
      const { asked, served } = await question()
      requireThere(authority(), asked)
      if (type !== 'text/sessel')
        throw new Fault(400, 'BadRequest', `Send a selector or an expression with Content-Type: ${ACCEPT_QUERY}.`, {
          headers: { 'Accept-Query': ACCEPT_QUERY },
        })
      const params = served?.params ?? new Map<string, string>()
      const names = async () => {
        const requested = await requestValue(exchange, { params, body: null, repeated: 'list' })
        return new Map<string, Value>([
          ['request', requested],
          ['Context', new Context([['request', requested]])],
        ])
      }
      const range = header(exchange, 'range')
      const conditions = readConditions(request.headers)
      // A route is asked as its template is stored (COMP-102, SES-235).
      const scope = served?.file.resource.path ?? path
      const bounds = () => boundsOf(exchange, path, scope)
      // Rules may have changed while the program was on its way, and while it runs.
      const byRules = <T>(read: () => Promise<T>) =>
        byStandingRules(site, authority, [path], async decided => {
          requireThere(decided, decided === first ? asked : (await question()).asked)
          return atOneMoment(read)
        })
      const asking = { site, allowance: allowance(), path: scope, bounds, names, range, conditions }
      const answer = await answerProgram({ ...asking, atOneMoment: byRules }, body)
      return { ...answer, headers: { ...answer.headers, ...routeHeaders(served?.params) } }
    },
  }
}

/** Steps that it costs to ask whether a document may be read. */
const STEPS_PER_DOCUMENT = 10

/**
 * Whether the requester may read a document below a directory: of others nobody learns that they are there (SEC-6), so that
 * the program has as many steps whatever was asked. Where there are so many of those that the request may not ask about
 * more, it ends (HTTP-172).
 */
async function holdsDocuments(exchange: Exchange, directory: string): Promise<boolean> {
  const { covers } = boundsOf(exchange, directory)
  const whole = exchange.allowance()
  const allowance = whole.part()
  for await (const { kind, path } of exchange.site.store.walk(directory)) {
    whole.look()
    allowance.step(STEPS_PER_DOCUMENT)
    if (kind === 'document' && (await covers?.(path))) return true
  }
  return false
}

/** SES-126: one document, or what may be read as a whole below a directory; SES-127: without what rules hide. */
function boundsOf({ authority, allowance }: Exchange, path: string, scope = path): Bounds {
  const { access } = authority()
  const seenAt = (at: string, document: TreeDocument) =>
    readableTree(access, at, document, steps => allowance().step(steps))
  // On a route the path that was asked counts (PATH-5).
  if (!path.endsWith('/')) return { scope, seen: (_, document) => seenAt(path, document) }
  return {
    scope: path,
    within: path,
    async covers(at) {
      if (!at.startsWith(path)) return false
      await access.resolveGroups([at])
      return access.readable(at)
    },
    seen: seenAt,
  }
}
