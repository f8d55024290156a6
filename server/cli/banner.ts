/** What the server says when all its listeners are ready: how to look at the site, how to mount it, and one `ready` line. */

import type { Settings } from '../../config/schema.ts'
import { davfsCommands } from '../../edge/mount-recipes.ts'
import { placeNamed } from './settings-options.ts'

export interface Listening {
  settings: Settings
  /** Origin of the public surface as it really listens, such as `http://localhost:8080`. */
  publicOrigin: string
  /** Origin of the mount when it has a port of its own. */
  mountOrigin?: string
  /** The generated password, when it was made just now. */
  firstPassword?: { user: string; password: string }
  /** The demo site is served, because no site is configured. */
  firstStart: boolean
  /** The sites that the settings name. */
  sites?: readonly ListedSite[]
}

export interface ListedSite {
  site: string
  mount: string
  /** Why the site could not be reached at its address, when it was tried. */
  missing?: string | undefined
}

/** Sites that are listed one by one. */
const MOST_LISTED = 20

/**
 * The lines to print. Exactly one begins with `ready`; it is the last, and for programs: it tells where the server listens.
 */
export function banner(listening: Listening): string[] {
  const { settings, publicOrigin, firstPassword, firstStart, sites = [] } = listening
  const [only, ...others] = sites
  const own = mountUrl(listening)
  const mount = only?.mount ?? own
  return [
    '',
    ...(only && others.length > 0 ? several(sites) : one(only ?? { site: `${publicOrigin}/`, mount: own })),
    `  Data    ${placeNamed(settings)}`,
    ...(firstPassword
      ? [
          '',
          `  User ${firstPassword.user}, password ${firstPassword.password}`,
          '  The password is shown only this once. Lost it? Start again with --new-password.',
        ]
      : []),
    ...(firstStart && !firstPassword
      ? ['', '  User editor; the password was shown at the first start. Lost it? Start again with --new-password.']
      : []),
    '',
    '  To edit the site as a drive:',
    `    Finder     Go > Connect to Server: ${mount}`,
    ...explorer(mount),
    ...davfs(mount),
    '',
    `ready: site ${publicOrigin}/ mount ${own}`,
  ]
}

function one({ site, mount, missing }: Pick<ListedSite, 'site' | 'mount' | 'missing'>): string[] {
  return [`  Site    ${site}${note(missing)}`, `  Mount   ${mount}`]
}

function several(sites: readonly ListedSite[]): string[] {
  const width = Math.max(...sites.map(({ site }) => site.length))
  const lines = sites
    .slice(0, MOST_LISTED)
    .map(({ site, mount, missing }) => `  Site    ${site.padEnd(width)}  Mount  ${mount}${note(missing)}`)
  const more = sites.length - lines.length
  return more > 0 ? [...lines, `          and ${more} more: scriptorium sites`] : lines
}

function note(missing: string | undefined): string {
  return missing === undefined ? '' : `  (tried, ${missing})`
}

function explorer(mount: string): string[] {
  const lines = [`    Explorer   This PC > Map network drive: ${mount}`]
  // WebClient sends passwords over HTTPS only, unless BasicAuthLevel is 2.
  if (mount.startsWith('http:')) lines.push('               (Windows wants HTTPS for this: put a TLS proxy in front)')
  return lines
}

function davfs(mount: string): string[] {
  return [
    `    Linux      gio mount ${mount.replace(/^http/, 'dav')}`,
    ...davfsCommands(mount).map(command => `               ${command}`),
  ]
}

function mountUrl({ settings, publicOrigin, mountOrigin }: Listening): string {
  const { mount } = settings
  if ('path' in mount) return `${publicOrigin}${mount.path}/`
  if ('port' in mount) return `${mountOrigin ?? publicOrigin}/`
  const { protocol, hostname, port } = new URL(publicOrigin)
  return `${protocol}//${mount.host.replace('{host}', hostname)}${port === '' ? '' : `:${port}`}/`
}
