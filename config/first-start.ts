/** The first start of a server that nobody has configured: a password for its one editor, made once and shown once. */

import { createPassword, hashPassword } from './passwords.ts'
import type { Settings } from './schema.ts'
import type { Credential } from './site-schema.ts'

/** The part of a store that keeps the hash. */
export interface KeptValues {
  setting(name: string): Promise<string | undefined>
  setSetting(name: string, value: string): Promise<void>
}

/** Name of the value in the store. */
export const FIRST_PASSWORD = 'editor-password'

export const FIRST_USER = 'editor'

export interface FirstCredential {
  credential: Credential
  /** Set when the password was made just now: the only moment at which it can be shown. */
  password?: string
}

/**
 * The credential of the demo site: user `editor` and a generated password, of which the store keeps a hash.
 *
 * @param options.renew makes a new password, for people who lost the first
 */
export async function firstCredential(kept: KeptValues, options: { renew?: boolean } = {}): Promise<FirstCredential> {
  const known = options.renew ? undefined : await kept.setting(FIRST_PASSWORD)
  if (known !== undefined) return { credential: editor(known) }
  const password = createPassword()
  const hash = await hashPassword(password)
  await kept.setSetting(FIRST_PASSWORD, hash)
  return { credential: editor(hash), password }
}

function editor(hash: string): Credential {
  return { user: FIRST_USER, password: hash, scope: ['/*'], write: true }
}

/** The settings with this credential for every site that has none. */
export function withCredential(settings: Settings, credential: Credential): Settings {
  const sites = settings.sites.map(site =>
    site.credentials.length > 0 ? site : { ...site, credentials: [credential] },
  )
  return { ...settings, sites }
}
