/** The thread of `patterns.ts`. */

import { parentPort } from 'node:worker_threads'
import { lazyPackage } from '../../lazy-package.ts'
import { replyOf } from '../aside.ts'

export interface PatternQuestion {
  text: string
  pattern: string
}

const re2js = lazyPackage<typeof import('re2js')>('re2js')

parentPort?.on('message', ({ text, pattern }: PatternQuestion) => {
  parentPort?.postMessage(replyOf(() => re2js().RE2JS.compile(pattern).matcher(text).find()))
})
