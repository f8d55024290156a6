/** The lines of a backup's list: whoever restores one may have had it from anybody. */

import { z } from 'zod'
import { Unusable } from '../errors.ts'
import { isFieldValue } from '../field-value.ts'
import { isStorable } from '../paths.ts'
import { openPlainFile } from '../plain-file.ts'
import type { Property } from '../resource.ts'
import { LATEST_SHOWN } from '../tags.ts'

/** Bytes of a line: the longest has all properties that a resource may have, in JSON. */
const LONGEST_LINE = 128 * 1024 * 1024

/** Host name of a site, or the name of a part beside it: never what a terminal would act on. */
export const siteName = z.string().regex(/^[^\0-\x1f\x7f]{1,1024}$/)

const field = z.string().refine(isFieldValue)
/** Characters: more than a request can ask for. */
const LONGEST_PATH = 8192

const size = z.int().nonnegative()
/** One that no field can tell, as PROPPATCH once took any text, is not worth the rest of the backup. */
const language = field.optional().catch(undefined)
/** Requests ask for names in NFC: in another form nobody would ever reach them, and two could look like one. */
const path = z
  .string()
  .refine(each => each.length <= LONGEST_PATH && isStorable(each) && each === each.normalize('NFC'))

/** Text that XML can hold, as listings have to. */
const xmlText = z
  .string()
  .regex(/^[^\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]*$/)
  .refine(each => each.isWellFormed())
/** White space is that of XML: its fifth edition, whose names servers once took, has U+1680 and U+FEFF in them. */
const xmlName = xmlText.regex(/^[^ \t\n\r:<>&"'=/]+$/)
const property = z.strictObject({ namespace: xmlText, name: xmlName, value: xmlText })
const properties = z.array(property).optional()

/** Unix seconds that the mount shows. */
const shown = z.int().nonnegative().max(LATEST_SHOWN).optional()

const beginning = z.object({ site: siteName })

const collection = z.object({
  path: path.refine(each => each.endsWith('/')),
  kind: z.literal('collection'),
  /** Only where a client has set it. */
  shown,
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
  shown,
  properties,
  /** Of blobs alone: those of documents are made from their bytes. */
  derived: z.record(z.string(), z.string()).optional(),
})

export type SavedCollection = z.infer<typeof collection>
export type SavedFile = z.infer<typeof file>
export type SavedResource = SavedCollection | SavedFile

/**
 * Derived data that no bytes tell, and so belong to what is stored: those of files of mounts, by name, and whether a value is
 * one that a server may have stored.
 */
export type Kept = Readonly<Record<string, (value: string) => boolean>>

/** What is stored of a resource beside its bytes, as far as a backup may bring it along. */
export interface Accepted {
  /** Whether a property may be stored: listings hold its value as it is. */
  accepts: (property: Property) => boolean
  /** Derived data that blobs may have. */
  kept?: Kept
}

/** One line of the list: a site begins, or one resource of it. */
export type Line = z.infer<typeof beginning> | SavedResource

/** @returns undefined for what no backup has */
function lineFrom(value: unknown): Line | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const shape = 'site' in value ? beginning : 'kind' in value && value.kind === 'collection' ? collection : file
  return shape.safeParse(value).data
}

function isKept(line: SavedResource, kept: Kept = {}): boolean {
  if (line.kind === 'collection' || line.derived === undefined) return true
  const data = Object.entries(line.derived)
  return line.kind === 'blob' && data.every(([name, value]) => Object.hasOwn(kept, name) && kept[name]?.(value))
}

/** What ends each line of a file. */
const LINE_FEED = 0x0a

/** @throws Unusable for lines that no backup has */
async function* textLines(name: string): AsyncGenerator<string> {
  const handle = await openPlainFile(name, 'followed')
  let begun: Uint8Array[] = []
  let length = 0
  for await (const piece of handle.createReadStream() as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, piece.subarray(from, end)]).toString()
      begun = []
      length = 0
      from = end + 1
    }
    begun.push(piece.subarray(from))
    length += piece.length - from
    if (length > LONGEST_LINE) throw new Unusable(`a line of ${name} is longer than any that a backup has`)
  }
  if (length > 0) yield Buffer.concat(begun).toString()
}

/**
 * The lines of a list.
 *
 * @param name of the list's file
 * @param sites names of those that it may hold
 * @param accepted what may be stored
 * @throws Unusable where one cannot be understood
 */
export async function* readLines(
  name: string,
  sites: ReadonlySet<string>,
  { accepts, kept }: Accepted,
): AsyncGenerator<Line> {
  let number = 0
  for await (const text of textLines(name)) {
    number++
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw new Unusable(`line ${number} of ${name} is torn`, { cause: error })
    }
    const line = lineFrom(value)
    if (!line) throw new Unusable(`line ${number} of ${name} is none that a backup has`)
    if ('site' in line && !sites.has(line.site))
      throw new Unusable(`line ${number} of ${name} begins a site that the backup does not name`)
    if ('path' in line && line.properties?.every(accepts) === false)
      throw new Unusable(`line ${number} of ${name} has a property whose value nobody could have set`)
    if ('path' in line && !isKept(line, kept))
      throw new Unusable(`line ${number} of ${name} has derived data that no server could have stored`)
    yield line
  }
}
