/** The thread of `bcrypt.ts`. */

import { parentPort } from 'node:worker_threads'
import { lazyPackage } from '../lazy-package.ts'
import { replyOf } from './aside.ts'

export interface BcryptQuestion {
  text: string
  cost: number
}

const bcryptjs = lazyPackage<typeof import('bcryptjs')>('bcryptjs')

parentPort?.on('message', ({ text, cost }: BcryptQuestion) => {
  parentPort?.postMessage(replyOf(() => bcryptjs().hashSync(text, cost)))
})
