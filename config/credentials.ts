/** Finds the credential that a user name and password, or a bearer token, stand for (MNT-1, DAV-3). */

import { normalForm } from '../pipeline/tree/normal-form.ts'
import { isPlainPassword, keyDigest, storedKeyDigest, verifyPassword } from './passwords.ts'
import type { Credential } from './site-schema.ts'

export interface CredentialCheck {
  /** The credential with this name, if the password is right. */
  basic(user: string, password: string): Promise<Credential | undefined>
  /** The credential with this access key, or else with this password. */
  bearer(token: string): Promise<Credential | undefined>
}

/**
 * Prepares the check of one site's credentials. Names and keys that do not exist take the time of those that do; both
 * methods reject with `PasswordsBusy` when too many passwords are being checked.
 */
export function credentialCheck(credentials: readonly Credential[]): CredentialCheck {
  const byUser = new Map(credentials.map(credential => [normalForm(credential.user), credential]))
  // Found by digest: how long the search takes tells something of the digest, nothing of the key.
  const byKey = new Map<string, Credential>()
  for (const credential of credentials) {
    if (credential.key !== undefined) byKey.set(storedKeyDigest(credential.key), credential)
  }

  // What a name without hash is checked against, so that it costs as much as one with: its result never counts.
  const decoy = credentials.map(({ password }) => password).find(password => password && !isPlainPassword(password))

  const withKey = (token: string) => byKey.get(keyDigest(token))

  return {
    async basic(user, password) {
      const credential = byUser.get(normalForm(user))
      // Tools that know no bearer tokens send the key as the password.
      if (credential && withKey(password) === credential) return credential
      const stored = credential?.password
      if (decoy !== undefined && (stored === undefined || isPlainPassword(stored)))
        await verifyPassword(password, decoy)
      return stored !== undefined && (await verifyPassword(password, stored)) ? credential : undefined
    },

    async bearer(token) {
      const found = withKey(token)
      if (found) return found
      let match: Credential | undefined
      // All of them, also after a match: the time must not tell which one it was.
      for (const credential of credentials) {
        if (credential.password === undefined) continue
        if (await verifyPassword(token, credential.password)) match ??= credential
      }
      return match
    },
  }
}
