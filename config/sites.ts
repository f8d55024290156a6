/** Which site a host belongs to: the first entry that matches, every host of a pattern a site of its own. */

import { FirstHost } from './first-host.ts'
import { isHostPattern, normalizeHost } from './hosts.ts'
import type { MountPlace, Settings } from './schema.ts'
import type { SiteEntry } from './site-schema.ts'

/** Settings of one site, with everything derived that depends on others. */
export interface SiteSettings extends Omit<SiteEntry, 'name' | 'host'> {
  /** The one host name that stands for the site, also in the store: its host, or what the entry's `name` says. */
  host: string
  /** What its entry is called, or the first host or pattern of it: sites of one entry have their credentials in common. */
  entry: string
  /** `brand` as header names spell it: `platform` is `Platform`, `my-site` is `My-Site`. */
  brandHeader: string
  errorNs: string
}

/** Hosts of patterns that are remembered. Beyond it the least recently used are forgotten, so that hostile `Host` headers cannot fill the memory. */
const REMEMBERED = 1000

export interface SiteTable {
  /**
   * The site of a `Host` header or `:authority`: any letter case, with or without port and final dot.
   *
   * @returns undefined when no entry matches, or when it is no host name at all
   */
  siteFor(host: string): SiteSettings | undefined
  /**
   * The site whose mount has this host, where mounts have hosts of their own (`mount: { host }`).
   *
   * @returns undefined when the host is not that of a mount
   */
  mountSiteFor(host: string): SiteSettings | undefined
  /** The host under which visitors reach the site whose mount has this host, where mounts have hosts of their own. */
  visitedHost(host: string): string | undefined
  /** Sites that are known without a request: those of names, not of patterns. */
  named: readonly SiteSettings[]
}

/** Compiles the site table of these settings. */
export function siteTable(settings: Pick<Settings, 'sites' | 'mount'>): SiteTable {
  const find = siteFinder(settings.sites)
  const mountHost = mountHostParser(settings.mount)
  const visitedHost = (host: string) => {
    const name = normalizeHost(host)
    return name === undefined ? undefined : mountHost(name)
  }
  return {
    siteFor: host => {
      const name = normalizeHost(host)
      return name === undefined ? undefined : find(name)
    },
    mountSiteFor: host => {
      const site = visitedHost(host)
      return site === undefined ? undefined : find(site)
    },
    visitedHost,
    named: knownSites(settings.sites, find),
  }
}

type Finder = (host: string) => SiteSettings | undefined

function siteFinder(entries: readonly SiteEntry[]): Finder {
  const byName = new Map<string, SiteSettings>()
  for (const entry of entries) if (entry.name !== undefined) byName.set(entry.name, settingsOf(entry, entry.name))
  const hosts = new FirstHost()
  for (const [place, { host }] of entries.entries()) for (const each of host) hosts.add(each, place)
  const remembered = new Map<string, SiteSettings | undefined>()

  const look: Finder = host => {
    // The name of a site is a host name of that site: otherwise the host of this name, found by another entry's pattern,
    // would be a second site with the same documents.
    const named = byName.get(host)
    if (named) return named
    const entry = entries[hosts.find(host) ?? -1]
    if (entry === undefined) return undefined
    return entry.name === undefined ? settingsOf(entry, host) : byName.get(entry.name)
  }

  return host => {
    const known = remembered.has(host)
    const site = known ? remembered.get(host) : look(host)
    remembered.delete(host)
    remembered.set(host, site)
    if (remembered.size > REMEMBERED) remembered.delete(remembered.keys().next().value ?? host)
    return site
  }
}

/** The settings of one site of an entry. */
function settingsOf(entry: SiteEntry, name: string): SiteSettings {
  const { host: _, name: __, ...settings } = entry
  return {
    ...settings,
    host: name,
    entry: entry.name ?? entry.host[0] ?? name,
    brandHeader: brandHeader(entry.brand),
    errorNs: entry.errorNs ?? `${entry.ns}/error`,
    publicUrl: entry.publicUrl?.replace('{host}', name),
  }
}

/** The brand word as header names spell it: each of its parts begins with a capital letter. */
export function brandHeader(brand: string): string {
  return brand.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())
}

function mountHostParser(mount: MountPlace): (host: string) => string | undefined {
  if (!('host' in mount)) return () => undefined
  const [before = '', after = ''] = mount.host.split('{host}')
  return host =>
    host.length > before.length + after.length && host.startsWith(before) && host.endsWith(after)
      ? host.slice(before.length, host.length - after.length)
      : undefined
}

function knownSites(entries: readonly SiteEntry[], find: Finder): SiteSettings[] {
  const hosts = entries.flatMap(entry =>
    entry.name === undefined ? entry.host.filter(h => !isHostPattern(h)) : entry.name,
  )
  const sites = new Map<string, SiteSettings>()
  for (const host of hosts) {
    const site = find(host)
    if (site) sites.set(site.host, site)
  }
  return [...sites.values()]
}

/** Entries that no request can reach, because an earlier one takes all their hosts; `[index, index of the earlier one]`. */
export function unreachableEntries(entries: readonly SiteEntry[]): [number, number][] {
  const found: [number, number][] = []
  const firstOf = new Map<string, number>()
  const patterns = new FirstHost()
  entries.forEach((entry, index) => {
    const earlier = entry.host.map(host => {
      const pattern = isHostPattern(host) ? undefined : patterns.find(host)
      const all = [firstOf.get(host), firstOf.get('*'), pattern]
      return Math.min(...all.map(place => place ?? Number.POSITIVE_INFINITY))
    })
    const last = earlier.reduce((one, other) => Math.max(one, other), -1)
    if (Number.isFinite(last)) found.push([index, last])
    for (const host of entry.host) {
      if (firstOf.has(host)) continue
      firstOf.set(host, index)
      if (isHostPattern(host)) patterns.add(host, index)
    }
  })
  return found
}
