/** The lines of a backup's list: whoever restores one may have had it from anybody. */

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { Unusable } from '../errors.ts'
import { isStorable } from '../paths.ts'

/** Text of a field: what could end its line has no place in it. */
const field = z.string().regex(/^[^\0-\x1f\x7f]*$/)
const size = z.int().nonnegative()
const language = field.optional()
const path = z.string().refine(isStorable)
const property = z.strictObject({ namespace: z.string(), name: z.string().min(1), value: z.string() })
const properties = z.array(property).optional()

const beginning = z.object({ site: z.string().min(1) })

const collection = z.object({
  path: path.refine(each => each.endsWith('/')),
  kind: z.literal('collection'),
  language,
  properties,
})

const file = z.object({
  path: path.refine(each => !each.endsWith('/')),
  kind: z.enum(['document', 'blob']),
  /** SHA-256. */
  digest: z.string().regex(/^[\da-f]{64}$/),
  size,
  type: field,
  language,
  /** Unix seconds that the mount shows. */
  shown: z.int().optional(),
  properties,
})

export type SavedCollection = z.infer<typeof collection>
export type SavedFile = z.infer<typeof file>
export type SavedResource = SavedCollection | SavedFile

/** One line of the list: a site begins, or one resource of it. */
export type Line = z.infer<typeof beginning> | SavedResource

/** @returns undefined for what no backup has */
function lineFrom(value: unknown): Line | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const shape = 'site' in value ? beginning : 'kind' in value && value.kind === 'collection' ? collection : file
  return shape.safeParse(value).data
}

/**
 * The lines of a list.
 *
 * @param name of the list's file, for messages
 * @throws Unusable where one cannot be understood
 */
export async function* readLines(name: string): AsyncGenerator<Line> {
  let number = 0
  for await (const text of createInterface({ input: createReadStream(name), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw new Unusable(`line ${number} of ${name} is torn`, { cause: error })
    }
    const line = lineFrom(value)
    if (!line) throw new Unusable(`line ${number} of ${name} is none that a backup has`)
    yield line
  }
}
