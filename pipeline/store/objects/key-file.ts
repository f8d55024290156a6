/** An access key in a file, which somebody may replace while the server runs. */

import { readFile } from 'node:fs/promises'
import { isWrongKey } from './failures.ts'

/** Milliseconds that a key is used before its file is read again. */
const LASTS = 60_000

export interface Key {
  accessKeyId: string
  secretAccessKey: string
  /** Over already: the client asks for each request. */
  expiration: Date
}

export interface KeyFile {
  /** The key, of the file as it was a minute ago or later; the one before while the file holds none. @throws Error */
  give(): Promise<Key>
  /** Which key is used: another number for each that the file held. */
  readonly number: number
  /**
   * Looks whether a key that failed has been replaced.
   *
   * @param used number of that key
   * @param failure what it failed with
   * @returns undefined when there is another one now, else the failure that is to be told
   */
  renewed(used: number, failure: unknown): Promise<unknown>
}

export function openKeyFile(file: string): KeyFile {
  let key: Key | undefined
  let readAt = 0
  let number = 0

  async function read(): Promise<Key> {
    const [accessKeyId = '', secretAccessKey = ''] = (await readFile(file, 'utf8')).split('\n').map(line => line.trim())
    if (accessKeyId === '' || secretAccessKey === '')
      throw new Error(`${file} needs two lines: the id of an access key, and its secret`)
    readAt = performance.now()
    if (key?.accessKeyId !== accessKeyId || key.secretAccessKey !== secretAccessKey) number++
    key = { accessKeyId, secretAccessKey, expiration: new Date(0) }
    return key
  }

  return {
    async give() {
      if (key !== undefined && performance.now() - readAt < LASTS) return key
      const held = key
      return read().catch(error => {
        if (held === undefined) throw error
        return held
      })
    },
    get number() {
      return number
    },
    async renewed(used, failure) {
      if (!isWrongKey(failure)) return failure
      return read().then(
        () => (number === used ? failure : undefined),
        (error: unknown) => error,
      )
    },
  }
}
