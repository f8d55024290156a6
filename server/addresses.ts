/** Addresses of sites and their mounts as people type them. */

import { request as secure } from 'node:https'
import type { MountPlace, Settings } from '../config/schema.ts'
import { siteTable } from '../config/sites.ts'
import { request as plain } from '../pipeline/http/node-http.ts'

export interface SiteAddresses {
  /** Name of the site. */
  name: string
  /** Both end in `/`. */
  site: string
  mount: string
  brand: string
}

/**
 * The address of a site's mount.
 *
 * @param origin of the site, as its visitors know it
 * @param mountPort where mounts have a port of their own
 */
export function mountAddress(place: MountPlace, origin: string, mountPort: string | undefined): string {
  if ('path' in place) return `${origin}${place.path}/`
  const { protocol, hostname, port } = new URL(origin)
  if ('host' in place) return `${protocol}//${place.host.replace('{host}', hostname)}${port === '' ? '' : `:${port}`}/`
  return `${protocol}//${hostname}${mountPort === undefined || mountPort === '' ? '' : `:${mountPort}`}/`
}

/**
 * The addresses of all sites that are known without a request: `publicUrl` where the settings name one, else the host and
 * the port that the server listens on.
 *
 * @param listening origins as the server listens, such as `http://localhost:8080`
 */
export function addressesOf(
  settings: Settings,
  listening: { publicOrigin: string; mountOrigin?: string },
): SiteAddresses[] {
  const { protocol, port } = new URL(listening.publicOrigin)
  const mount = listening.mountOrigin === undefined ? undefined : new URL(listening.mountOrigin)
  return siteTable(settings).named.map(({ host: name, publicUrl, brand }) => {
    const own = `${protocol}//${name.includes(':') ? `[${name}]` : name}${port === '' ? '' : `:${port}`}`
    const origin = publicUrl ?? own
    // What stands in front of the public surface need not stand in front of a port of its own.
    const address =
      mount && 'port' in settings.mount
        ? `${mount.protocol}//${new URL(own).hostname}${mount.port === '' ? '' : `:${mount.port}`}/`
        : mountAddress(settings.mount, origin, undefined)
    return { name, site: `${origin}/`, mount: address, brand }
  })
}

/** Milliseconds to wait for an answer. */
const PATIENCE = 1500

const UNTRUSTED = 'its certificate is not trusted here'

/** What codes of the system mean, in a few words. */
const SAID: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host here',
  EAI_AGAIN: 'no such host here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
}

/**
 * Asks at an address whether this server is there.
 *
 * @param health strangers may ask for it
 * @returns why not, in a few words; undefined when it is
 */
export async function tryAddress({ site, brand }: SiteAddresses, health: boolean): Promise<string | undefined> {
  const signal = AbortSignal.timeout(PATIENCE)
  try {
    const status = await statusOf(`${site}-${brand}/health/live`, signal)
    return status === 200 || (status === 404 && !health) ? undefined : `answers ${status}`
  } catch (error) {
    const { code } = error as { code?: string }
    if (signal.aborted || code === undefined) return 'no answer'
    return SAID[code] ?? code
  }
}

function statusOf(address: string, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = (address.startsWith('https:') ? secure : plain)(address, { signal, agent: false }, answer => {
      resolve(answer.statusCode)
      answer.destroy()
    })
    asking.on('error', reject)
    asking.end()
  })
}
