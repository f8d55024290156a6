/** Host names as sites are found by them: one spelling for each, and nothing that is no host name. */

import { isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

const LONGEST = 253
const NAME = /^(?![.-])[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

/**
 * The host of a `Host` header or of an authority, in the one spelling that sites are found by: lower case, no port, no
 * dot at the end, IPv6 addresses in brackets and in their shortest form.
 *
 * @returns undefined for anything that is no host name (RFC 9110 §7.2 asks for 400)
 */
export function normalizeHost(authority: string): string | undefined {
  if (authority.length > LONGEST + 8) return undefined
  const bracketed = /^\[([0-9a-f:.]{2,45})\](?::[0-9]{0,5})?$/i.exec(authority)
  if (bracketed?.[1] !== undefined) {
    return isIPv6(bracketed[1]) ? new URL(`http://[${bracketed[1]}]`).hostname : undefined
  }
  const colon = authority.indexOf(':')
  if (colon !== -1 && !/^[0-9]{0,5}$/.test(authority.slice(colon + 1))) return undefined
  let name = (colon === -1 ? authority : authority.slice(0, colon)).toLowerCase()
  if (name.endsWith('.')) name = name.slice(0, -1)
  return name.length <= LONGEST && NAME.test(name) ? name : undefined
}

/**
 * A host of the settings: a name (international ones in any spelling), an address, or a pattern.
 *
 * @returns the normalized host or pattern, or undefined when it is neither
 */
export function readHost(written: string): string | undefined {
  if (isHostPattern(written)) {
    const pattern = written.toLowerCase().replace(/\*+/g, '*')
    return PATTERN.test(pattern) && pattern.split('*').length <= 4 && balanced(pattern) ? pattern : undefined
  }
  if (written.includes(':') && !written.startsWith('[')) return undefined
  if (written.startsWith('[')) return written.endsWith(']') ? normalizeHost(written) : undefined
  return normalizeHost(/[^\u0000-\u007f]/.test(written) ? domainToASCII(written) : written)
}

/** Host characters, wildcards, and braces around alternatives; never `..`, which braces would read as a range. */
const PATTERN = /^(?!.*\.\.)[a-z0-9_.*?{},-]{1,253}$/

function balanced(pattern: string): boolean {
  return !/[{}]/.test(pattern.replace(/\{[^{}]+\}/g, ''))
}

/** True when a host of the settings stands for many: it holds `*`, `?` or alternatives in braces. */
export function isHostPattern(written: string): boolean {
  return /[*?{}]/.test(written)
}
