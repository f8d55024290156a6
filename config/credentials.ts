/** Finds the credential that a user name and password, or a bearer token, stand for (MNT-1, DAV-3). */

import { createHmac, randomBytes } from 'node:crypto'
import { normalForm } from '../pipeline/tree/normal-form.ts'
import { isPlainPassword, keyDigest, PasswordsBusy, storedKeyDigest, verifyPassword } from './passwords.ts'
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

  const passwords = credentials.map(({ password }) => password).filter(password => password !== undefined)
  const hashes = passwords.filter(password => !isPlainPassword(password))
  const secret = randomBytes(32)

  /** One of these for a name, always the same. */
  function chosen(from: readonly string[], name: string): string | undefined {
    const digest = createHmac('sha256', secret).update(name).digest()
    return from[digest.readUInt32BE() % from.length]
  }

  const withKey = (token: string) => byKey.get(keyDigest(token))
  const inTurn = oneAfterAnother(credentials)

  return {
    async basic(user, password) {
      const name = normalForm(user)
      const credential = byUser.get(name)
      // Tools that know no bearer tokens send the key as the password.
      const keyed = withKey(password)
      if (credential && keyed === credential) return credential
      // Names without a password are checked against that of another one, and those without a hash against another hash,
      // so that they cost as much: the result never counts.
      const stored = credential?.password ?? chosen(passwords, name)
      const decoy = chosen(hashes, name)
      if (decoy !== undefined && (stored === undefined || isPlainPassword(stored)))
        await verifyPassword(password, decoy)
      const isRight = stored !== undefined && (await verifyPassword(password, stored))
      return isRight && credential?.password !== undefined ? credential : undefined
    },

    async bearer(token) {
      const found = withKey(token)
      if (found) return found
      return inTurn(async () => {
        let match: Credential | undefined
        // All of them, also after a match: the time must not tell which one it was.
        for (const credential of credentials) {
          if (credential.password === undefined) continue
          if (await verifyPassword(token, credential.password)) match ??= credential
        }
        return match
      })
    },
  }
}

/** Tokens that may wait to be compared with all passwords of a site. */
const MOST_WAITING = 8

type InTurn = (compare: () => Promise<Credential | undefined>) => Promise<Credential | undefined>

/** Sites of one entry of the settings have their credentials in common, however many hosts a visitor thinks of. */
const queues = new WeakMap<readonly Credential[], InTurn>()

/**
 * One token at a time: a wrong one takes as many hashes as there are passwords, beside which those who send their user names
 * shall not wait. Other credentials have their own: there a token may take one hash, or none.
 *
 * @returns does a piece of work when those before are done; rejects with `PasswordsBusy` when too many wait
 */
function oneAfterAnother(credentials: readonly Credential[]): InTurn {
  const known = queues.get(credentials)
  if (known) return known
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  const inTurn: InTurn = async compare => {
    if (waiting >= MOST_WAITING) throw new PasswordsBusy()
    waiting++
    const mine = last.then(compare)
    last = mine.catch(() => undefined)
    try {
      return await mine
    } finally {
      waiting--
    }
  }
  queues.set(credentials, inTurn)
  return inTurn
}
