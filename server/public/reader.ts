/** The reader of a request, as pages see it (COMP-22): nothing is looked up before a page asks for it. */

import { type Identity, identityOf } from '../../pipeline/access/identity.ts'
import type { Reader } from '../../pipeline/compose/reader.ts'
import type { VisitorSession } from '../../pipeline/compose/session-copies.ts'
import type { RequestBody } from '../../pipeline/compose/viewer.ts'
import { shownFields } from '../../pipeline/request-value.ts'
import type { Exchange } from './exchange.ts'

/**
 * @param method that pages see: `GET` unless the request makes a new document
 * @param body of a request that does
 */
export function pageReader(exchange: Exchange, method = 'GET', body?: RequestBody): Reader {
  const { site, target, session, hosted, authority } = exchange
  const { principal } = session
  let known: { by: unknown; identity: Identity } | undefined
  const identify = async () => {
    const by = authority()
    if (known?.by !== by) known = { by, identity: await identityOf(site.rules, principal, by.access.membership) }
  }
  return {
    languages: hosted.pages,
    membership: principal && authority,
    seesParts: path => !authority().access.readable(path),
    viewer: {
      path: target.path,
      method,
      query: target.query,
      headers: () => shownFields(exchange.request.headers, `${hosted.settings.brand}_session`),
      principal,
      identify: principal && identify,
      roles: () => known?.identity.roles ?? [],
      body,
      session: visitorSession(exchange),
      get allowance() {
        return exchange.allowance()
      },
    },
  }
}

function visitorSession({ hosted, session, brakeContent }: Exchange): VisitorSession | undefined {
  const { siteSessions } = hosted
  if (session.missing) return undefined
  return {
    id: session.id,
    isNew: session.issue !== undefined,
    values: prefix => siteSessions.values(session, prefix),
    async keep(name, value, expires) {
      await brakeContent(value.length)
      return siteSessions.keep(session, { name, value, expires })
    },
    take: name => siteSessions.take(session, name),
  }
}
