/** How much HTML a piece of work reads. */

import { Tokenizer } from 'parse5'

/** @returns UTF-16 code units that tokenizers were given while the work was done; a text that is read twice counts twice */
export async function parsedDuring(work: () => unknown): Promise<number> {
  const { write } = Tokenizer.prototype
  let parsed = 0
  Tokenizer.prototype.write = function (chunk, isLast) {
    parsed += chunk.length
    write.call(this, chunk, isLast)
  }
  try {
    await work()
  } finally {
    Tokenizer.prototype.write = write
  }
  return parsed
}
