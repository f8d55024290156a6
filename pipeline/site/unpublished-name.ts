/** Names of the parts of a store that belong to mounts: what lies there is no site's. */

/** What the name of the part of the store that belongs to a mount ends in. No host name holds `#`, so no request names it. */
const SUFFIX = '#mount'

/** Name of the part of the store that belongs to a site's mount. */
export function unpublishedName(site: string): string {
  return site + SUFFIX
}

/** @returns the site whose mount a part of the store belongs to; undefined for a site itself */
export function siteOfUnpublished(name: string): string | undefined {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined
}
