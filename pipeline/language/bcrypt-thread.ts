/** The thread of `bcrypt.ts`. */

import { parentPort } from 'node:worker_threads'
import { lazyPackage } from '../lazy-package.ts'

export interface BcryptQuestion {
  text: string
  cost: number
}

export type BcryptReply = { hash: string } | { error: string }

const bcryptjs = lazyPackage<typeof import('bcryptjs')>('bcryptjs')

parentPort?.on('message', ({ text, cost }: BcryptQuestion) => {
  let reply: BcryptReply
  try {
    reply = { hash: bcryptjs().hashSync(text, cost) }
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(reply)
})
