/** Memory for what is on its way into an object store: so many blocks for all uploads of a process together. */

import { StoreError } from '../errors.ts'

/** Bytes of a block. */
export const BLOCK = 256 * 1024

/** Blocks kept for the next upload. */
const SPARE = 64

export interface Blocks {
  /** A block, as soon as there is one. @throws StoreError of reason `busy` when that takes too long */
  take(): Promise<Buffer>
  give(blocks: readonly Buffer[]): void
  /** Gives back what no upload uses. */
  relax(): void
  /** Blocks that uploads have now. */
  readonly inUse: number
}

/**
 * @param most blocks at a time
 * @param patience milliseconds that somebody waits for one
 */
export function createBlocks(most: number, patience: number): Blocks {
  const spare: Buffer[] = []
  const waiting: ((block: Buffer) => void)[] = []
  let inUse = 0
  const fresh = () => spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK)
  return {
    get inUse() {
      return inUse
    },
    take() {
      if (inUse < most) {
        inUse++
        return Promise.resolve(fresh())
      }
      return new Promise((resolve, reject) => {
        const got = (block: Buffer) => {
          clearTimeout(timer)
          resolve(block)
        }
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(got), 1)
          reject(new StoreError('busy', 'Too many uploads at once'))
        }, patience)
        waiting.push(got)
      })
    },
    give(blocks) {
      for (const block of blocks) {
        const next = waiting.shift()
        if (next !== undefined) {
          next(block)
          continue
        }
        inUse--
        if (spare.length < SPARE) spare.push(block)
      }
    },
    relax() {
      spare.length = 0
    },
  }
}
