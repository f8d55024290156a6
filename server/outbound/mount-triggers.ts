/** Triggers around writes of the mount, where a site wants them (REA-6, `mountReactions`). */

import { normalizeHost } from '../../config/hosts.ts'
import { checkWritable, scopeAuthority } from '../../dav/access/scope-authority.ts'
import type { MountTriggers } from '../../dav/app.ts'
import { header } from '../../edge/fields.ts'
import { scripts } from '../../pipeline/evaluation/scripts.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { KeptBody } from '../../pipeline/react/body.ts'
import { reactionsTo } from '../../pipeline/react/chain.ts'
import { mayReadBody } from '../../pipeline/react/context.ts'
import { codeOf } from '../../pipeline/react/declared/reactions.ts'
import { javascriptReactions } from '../../pipeline/react/javascript.ts'
import type { Entry } from '../../pipeline/react/outbound/entry.ts'
import { sesselReactions } from '../../pipeline/react/sessel.ts'
import { writingPlatform } from '../../pipeline/react/writes.ts'
import { RequestValue } from '../../pipeline/request-value.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import type { ReactionParts } from '../public/reactions.ts'

const METHODS: ReadonlySet<string> = new Set(['PUT', 'DELETE', 'MOVE', 'COPY'])

/** @returns runs the triggers of a request; undefined where none may run */
export function mountTriggers(parts: ReactionParts): MountTriggers {
  return async exchange => {
    const { mount, method, path, author, allowance, request, authorities } = exchange
    const { site, settings } = mount
    if (!settings.mountReactions || !METHODS.has(method) || path.endsWith('/')) return undefined
    const found = site.declarations('reactions').candidates(method, path)
    if (!found || found.triggers.length === 0) return undefined
    checkWritable(author.scope, path)
    const isBlob = kindOf(storedType(path, header(exchange, 'content-type'))) === 'blob'
    const candidates = { triggers: found.triggers, processors: [] }
    const isShown = isBlob && codeOf(candidates).some(({ source }) => mayReadBody(source, 'request'))
    const limits = { document: largestDocument(site.settings), body: settings.maxBody, isShown }
    const body = new KeptBody(exchange.body, limits, isBlob, parts.stage)
    const outbound = parts.outbound()
    const entries: Entry[] = []
    const [authority = settings.host] = authorities
    const about = {
      site: site.store.name,
      authority,
      brand: settings.brand,
      brandHeader: settings.brandHeader,
      depth: 0,
    }
    const writes = writingPlatform({
      site,
      authority: () => scopeAuthority(author.scope),
      allowance,
      count: { writes: 0 },
      own: method === 'PUT' ? { path, body, isFragment: header(exchange, 'range') !== undefined } : undefined,
      transitions: undefined,
      configure: author.scope.configure,
    })
    // The credential of the mount is nobody's business.
    const { authorization: _, ...headers } = request.headers
    const reactions = reactionsTo({
      site,
      candidates,
      path,
      selector: undefined,
      request: async () =>
        new RequestValue({
          method,
          path,
          host: normalizeHost(authority) ?? '',
          query: '',
          repeated: 'first',
          headers,
          sessionCookie: `${settings.brand}_session`,
          params: new Map(),
          body: '',
          identity: undefined,
        }),
      body,
      allowance,
      sessionCookie: `${settings.brand}_session`,
      languages: () => [
        sesselReactions({ site, allowance, more: [scripts(parts.javascript)], writes }),
        javascriptReactions({ site, allowance, path, javascript: parts.javascript }),
      ],
      queue: call => void entries.push(...outbound.entries([call], about)),
      toAnswer: failure => {
        throw failure
      },
      report: (message, details) => parts.report(site.store.name, message, { method, path, ...details }),
    })
    exchange.response.once('close', () => {
      outbound.dispatch(entries)
      void body.discard()
    })
    try {
      return await reactions.before({}, body)
    } finally {
      await outbound.record(entries)
    }
  }
}
