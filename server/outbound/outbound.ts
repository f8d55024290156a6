/** Outbound requests of all sites: to other servers over the network, to sites of this one inside the process. */

import type { RequestListener } from 'node:http'
import { normalizeHost } from '../../config/hosts.ts'
import type { SiteSettings, SiteTable } from '../../config/sites.ts'
import type { Leases } from '../../pipeline/coordination/leases.ts'
import { isHere } from '../../pipeline/http/network.ts'
import type { Field } from '../../pipeline/react/header-fields.ts'
import { type Attempted, attempt } from '../../pipeline/react/outbound/attempt.ts'
import type { Entry } from '../../pipeline/react/outbound/entry.ts'
import { byTheSystem, type Resolve } from '../../pipeline/react/outbound/names.ts'
import { createOutbound, type Outbound } from '../../pipeline/react/outbound/queue.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Log } from '../log.ts'
import { DEEPEST, insideCaller } from './inside.ts'

/** Where an outbound request goes inside of this process. */
interface Inside {
  authority: string
  secure: boolean
  target: string
}

/** A host that nobody can own: whoever has a site for it has one for every host. */
const NOBODYS = 'nobody.invalid'

/**
 * @param parts.handler of the public surface
 * @param parts.publicPort port of the public surface, once it listens
 * @param parts.resolve finds the addresses of a host; the system does by default
 */
export function serverOutbound(parts: {
  table: SiteTable
  store: Store
  leases: Leases
  shared: boolean
  handler: RequestListener
  publicPort: () => number | undefined
  log: Log
  resolve?: Resolve | undefined
}): Outbound {
  const { table, store, leases, shared, publicPort, log, resolve = byTheSystem } = parts
  const call = insideCaller(parts.handler)
  const takesEveryHost = table.siteFor(NOBODYS) !== undefined

  /**
   * The own site that a URL names; undefined where it leads out of the process. The host by which a visitor has called the
   * site says nothing of that: whoever calls a site for every host by the name of a receiver would keep calls from it.
   */
  function insideOf(entry: Entry): Inside | undefined {
    const { url, authority } = entry
    if (url.startsWith('/')) return { authority, secure: false, target: url.replace(/#.*/s, '') }
    const { host, hostname, port, protocol, pathname, search } = new URL(url)
    const inside = { authority: host, secure: protocol === 'https:', target: pathname + search }
    if (isPublicUrl(settingsOf(entry), host)) return { ...inside, authority }
    const site = table.siteFor(hostname)
    if (isPublicUrl(site, host)) return inside
    const ownPort = String(publicPort() ?? '')
    const isOwnPort = port === ownPort || (port === '' && ownPort === (protocol === 'https:' ? '443' : '80'))
    if (site && takesEveryHost && !isNamed(hostname)) return isOwnPort && isHere(hostname) ? inside : undefined
    return site && (port === '' || isOwnPort) ? inside : undefined
  }

  function isNamed(hostname: string): boolean {
    return table.named.some(({ host }) => host === normalizeHost(hostname))
  }

  function settingsOf({ authority }: Entry): SiteSettings | undefined {
    return table.siteFor(authority)
  }

  async function send(entry: Entry): Promise<Attempted> {
    const { method, body, depth } = entry
    const inside = insideOf(entry)
    const fields = allFields(entry)
    if (!inside) {
      const allowLocal = settingsOf(entry)?.allowOutbound === true
      const forSite: Resolve = (host, until) => resolve(host, until, entry.site)
      return attempt({ url: entry.url, method, fields, body, allowLocal }, forSite)
    }
    if (depth >= DEEPEST) return { ok: false, error: 'too many calls have led here', final: true }
    try {
      const status = await call({ ...inside, method, fields, body, depth: depth + 1 })
      return status >= 200 && status < 300 ? { ok: true, status } : { ok: false, status }
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : 'failure' }
    }
  }

  return createOutbound({
    notes: store,
    leases,
    shared,
    send,
    log: (level, message, details) => log[level](details, message),
    ...(store.now && { clock: store.now }),
  })
}

function isPublicUrl(settings: SiteSettings | undefined, host: string): boolean {
  return settings?.publicUrl !== undefined && new URL(settings.publicUrl).host === host
}

/** REA-82: what the server adds takes the place of what an author wrote by the same name. */
function allFields({ fields, brand, brandHeader, delivery }: Entry): Field[] {
  const name = `${brandHeader}-Delivery`
  const written = fields.filter(([each]) => each.toLowerCase() !== name.toLowerCase())
  const hasAgent = written.some(([each]) => each.toLowerCase() === 'user-agent')
  return [...written, ...(hasAgent ? [] : [['User-Agent', brand] as const]), [name, delivery]]
}
