/** Passwords and access keys at rest: hashes, their text forms, and comparison that tells nothing by its time. */

import {
  createHash,
  createHmac,
  randomBytes,
  randomInt,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { normalForm } from '../pipeline/tree/normal-form.ts'

/** Cost of a hash: about 150 ms and 32 MiB, as strong as OWASP asks. Raise N when machines get faster; old hashes keep their own figures. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Work that a stored hash may ask for; beyond it the text is no hash of ours but a mistake. */
const MOST_MEMORY = 256 * 1024 ** 2
const MOST_PARALLEL = 16

/** Hashes computed at the same time: the thread pool of four also serves files, which must not starve. */
const AT_ONCE = 2
/** Hashes that may wait: some seconds of work. */
const MOST_WAITING = 64

/** Too many passwords are being checked; the caller should answer 503 and let the client retry. */
export class PasswordsBusy extends Error {
  constructor() {
    super('Too many passwords are being checked.')
    this.name = 'PasswordsBusy'
  }
}

interface ScryptHash {
  N: number
  r: number
  p: number
  salt: Buffer
  hash: Buffer
}

/**
 * Hashes a password for the settings.
 *
 * @param cost scrypt's N, a power of two
 * @returns `scrypt$N$r$p$salt$hash`, salt and hash in base64url
 */
export async function hashPassword(password: string, cost = COST.N): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const { r, p } = COST
  const hash = await derive(password, { N: cost, r, p, salt, hash: Buffer.alloc(HASH_BYTES) })
  return ['scrypt', cost, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/**
 * Compares a password with a stored one, plain or hashed, in a time that depends on the stored form alone.
 *
 * @throws PasswordsBusy when too many comparisons wait
 */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  if (isPlainPassword(stored)) return equalTexts(normalForm(password), normalForm(stored))
  const parsed = parseHash(stored)
  if (parsed === undefined) return false
  return timingSafeEqual(await derive(password, parsed), parsed.hash)
}

const comparisonKey = randomBytes(32)

/** Compares two texts in a time that depends on their lengths alone. */
export function equalTexts(one: string, other: string): boolean {
  const digest = (text: string) => createHmac('sha256', comparisonKey).update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/**
 * True for a plain password, and for a hash that is whole. What begins like a hash and is none has lost its end, or what a
 * shell took for variables.
 */
export function isStoredPassword(stored: string): boolean {
  return isPlainPassword(stored) || parseHash(stored) !== undefined
}

/** True when a password stands in the settings in plain. */
export function isPlainPassword(stored: string): boolean {
  return !/^scrypt(\$|\d*$)/.test(stored)
}

function parseHash(stored: string): ScryptHash | undefined {
  const parts = /^scrypt\$([0-9]{1,8})\$([0-9]{1,3})\$([0-9]{1,3})\$([\w-]{8,128})\$([\w-]{22,128})$/.exec(stored)
  if (!parts) return undefined
  const [N = 0, r = 0, p = 0] = parts.slice(1, 4).map(Number)
  const isPowerOfTwo = N > 1 && (N & (N - 1)) === 0
  if (!isPowerOfTwo || r < 1 || p < 1 || p > MOST_PARALLEL || 128 * N * r > MOST_MEMORY) return undefined
  const [salt, hash] = [Buffer.from(parts[4] ?? '', 'base64url'), Buffer.from(parts[5] ?? '', 'base64url')]
  return hash.length < HASH_BYTES ? undefined : { N, r, p, salt, hash }
}

let running = 0
const waiting: (() => void)[] = []

async function derive(password: string, { N, r, p, salt, hash }: ScryptHash): Promise<Buffer> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING) throw new PasswordsBusy()
    await new Promise<void>(resolve => waiting.push(resolve))
  } else running++
  const options: ScryptOptions = { N, r, p, maxmem: 2 * MOST_MEMORY }
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      // People type the same password composed or decomposed, depending on their system.
      scrypt(normalForm(password), salt, hash.length, options, (error, key) => (error ? reject(error) : resolve(key)))
    })
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

/** Without characters that are easily taken for others. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A random password for people: 80 bits in four groups, such as `k3vd-9xqp-ha2m-tf7w`. */
export function createPassword(): string {
  const group = () => Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}

/** A random access key of 192 bits, and the form in which the settings keep it. */
export function createAccessKey(): { key: string; stored: string } {
  const key = randomBytes(24).toString('base64url')
  return { key, stored: `sha256$${keyDigest(key)}` }
}

/** SHA-256 of an access key, 64 hex digits: keys are random, so a fast hash will do. */
export function keyDigest(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The digest by which a stored access key, plain or hashed, is found. */
export function storedKeyDigest(stored: string): string {
  return stored.startsWith('sha256$') ? stored.slice(7).toLowerCase() : keyDigest(stored)
}

/** True for a hashed access key, and for a plain one of at least 128 bits. */
export function isStoredKey(stored: string): boolean {
  return /^sha256\$[0-9a-f]{64}$/i.test(stored) || /^[\w-]{22,512}$/.test(stored)
}
