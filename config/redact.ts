/** Settings as they may be shown: in the units operators write, with nothing secret in them. */

import { type Outline, outline } from './outline.ts'
import type { Settings } from './schema.ts'
import { isMapping } from './written.ts'

const HIDDEN = '(hidden)'

/**
 * The settings in force as plain data that a settings file may hold: sizes and times with units, passwords, keys and
 * client secrets replaced, passwords inside URLs too.
 */
export function shownSettings(settings: Settings): Record<string, unknown> {
  const shown = show(settings, outline)
  return isMapping(shown) ? shown : {}
}

function show(value: unknown, node: Outline): unknown {
  if (value === undefined) return undefined
  if (node.about?.secret === 'value') return HIDDEN
  if (node.about?.secret === 'url') return hideUrlPassword(String(value))
  if (node.kind === 'group' && isMapping(value)) {
    const entries = [...node.keys].map(([key, below]): [string, unknown] => [key, show(value[key], below)])
    return Object.fromEntries(entries.filter(([, shown]) => shown !== undefined))
  }
  if (node.kind === 'list' && Array.isArray(value)) return value.map(item => show(item, node.item))
  return node.kind === 'value' ? node.write(value) : HIDDEN
}

/** A URL without its password, also one in a query parameter (as PostgreSQL allows). */
export function hideUrlPassword(written: string): string {
  if (!URL.canParse(written)) return hideInList(written)
  const url = new URL(written)
  if (url.password !== '') url.password = 'hidden'
  for (const name of url.searchParams.keys()) {
    if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, 'hidden')
  }
  return url.href
}

/** A text in which somebody may have written a URL where none belongs, without passwords in it. */
export function hideUrlPasswords(text: string): string {
  return text.replace(/(:\/\/[^:@/?#]*:)[^@]*@(?:[^\s/?#"]*@)?/g, '$1hidden@').replace(SECRET_PARAMETER, '$1hidden')
}

/** The password before several hosts, and in the parameters behind them. */
const LISTED_PASSWORD = /^([a-z0-9+]+:\/\/[^:@/?#]*:)([^@/?#]*)@/
const SECRET_PARAMETER = /([?&][^=&#]*(?:pass|secret|token|key)[^=&#]*=)([^&#]*)/gi

/** The same for an address with several hosts, which is no URL to others. */
function hideInList(written: string): string {
  if (!/^[a-z0-9+]+:\/\//.test(written)) return HIDDEN
  return written.replace(LISTED_PASSWORD, '$1hidden@').replace(SECRET_PARAMETER, '$1hidden')
}

/**
 * Every secret in these settings, for a log that must not contain them whatever a library puts into its messages.
 * Texts of fewer than 4 characters are left out: masking them would make a log unreadable.
 */
export function secretsOf(settings: Settings): string[] {
  const found = new Set<string>()
  const search = (value: unknown, node: Outline) => {
    if (value === undefined) return
    if (node.about?.secret === 'value') found.add(String(value))
    else if (node.about?.secret === 'url') addUrlSecrets(String(value), found)
    else if (node.kind === 'group' && isMapping(value)) {
      for (const [key, below] of node.keys) search(value[key], below)
    } else if (node.kind === 'list' && Array.isArray(value)) for (const item of value) search(item, node.item)
  }
  search(settings, outline)
  return [...found].filter(secret => secret.length >= 4).sort((one, other) => other.length - one.length)
}

function addUrlSecrets(written: string, found: Set<string>): void {
  const parameters = [...written.matchAll(SECRET_PARAMETER)].map(([, , secret = '']) => secret)
  for (const secret of [LISTED_PASSWORD.exec(written)?.[2] ?? '', ...parameters]) {
    if (secret === '') continue
    found.add(secret)
    try {
      found.add(decodeURIComponent(secret))
    } catch {
      // Not percent-encoded, so it appears as it is.
    }
  }
}

/** A text with every secret replaced. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, HIDDEN), text)
}
