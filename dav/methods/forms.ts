/** Forms of the listing in a browser: each is carried out by the method of the mount that a client would use (DAV-40). */

import { Readable } from 'node:stream'
import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { type BodySource, memoryBody } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readingForm } from '../../pipeline/http/form.ts'
import { boundaryOf, contentBytes, eachPart } from '../../pipeline/http/form-parts.ts'
import { checkStorable, essence, kindOf, storedType } from '../../pipeline/http/media.ts'
import { ownOrigin } from '../../pipeline/http/origin.ts'
import { decodeTarget, encodePath, reserved } from '../../pipeline/http/path.ts'
import { absent } from '../../pipeline/refusals.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import { type StagedBlob, StagingError } from '../../pipeline/store/blobs.ts'
import { isFieldValue } from '../../pipeline/store/field-value.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import { checkWritable } from '../access/scope-authority.ts'
import { visible } from '../access/visibility.ts'
import type { Exchange } from '../exchange.ts'
import { isServerOwned } from '../locks/guard.ts'
import type { Mount } from '../mount.ts'
import { isCollection } from '../places/place.ts'
import { act, acting } from '../requests/acting.ts'
import { move } from './copy-move.ts'
import { remove } from './delete.ts'
import { mkcol } from './mkcol.ts'
import { admitPut, put } from './put.ts'

/** Bytes of a form that brings no files, and of each field of one that does. */
const LONGEST_FORM = 64 * 1024

/** Files that a refusal names. */
const NAMED = 20

/** Fields of a form that brings files. */
const FIELDS = new Set(['do', 'replace'])

const FORM_TYPES = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

export function isForm(exchange: Exchange): boolean {
  return FORM_TYPES.has(essence(header(exchange, 'content-type') ?? ''))
}

/**
 * Carries out one form and leads back to the listing.
 *
 * @throws Fault 403 for a form of another site, 422 for one that no listing has, 400 for a deletion without the tick that
 *   confirms it, and whatever the method answers
 */
export async function submitForm(exchange: Exchange): Promise<Answer> {
  checkOwnPage(exchange)
  const { mount } = exchange
  const node = visible(exchange, await mount.view.find(exchange.path))
  if (!node) throw absent()
  if (!isCollection(node)) throw new Fault(422, 'InvalidRange', 'POST needs Range: selector=<css> here.')
  const folder = node.resource.path
  const boundary = boundaryOf(header(exchange, 'content-type') ?? '')
  const deed = boundary === undefined ? await carryOut(exchange, folder) : await upload(exchange, folder, boundary)
  const headers = { Location: `${mount.prefix}${encodePath(folder)}?done=${deed}`, 'Cache-Control': 'no-store' }
  return { status: 303, headers, body: '' }
}

/** Forms that bring no files. @returns what was done */
async function carryOut(exchange: Exchange, folder: string): Promise<string> {
  const { mount } = exchange
  const bytes = await exchange.body.bytes(LONGEST_FORM)
  const fields = await inTurns(readingForm(header(exchange, 'content-type'), bytes), bytes.length)
  const field = (name: string) => fields?.get(name)?.[0] ?? ''
  const member = () => memberPath(exchange, folder, field('member'))
  const deed = field('do')
  switch (deed) {
    case 'folder':
      await act(mkcol, acting(exchange, 'MKCOL', memberPath(exchange, folder, `${field('name')}/`)))
      return deed
    case 'rename':
      await act(
        move,
        acting(exchange, 'MOVE', member(), {
          destination: encodePath(mount.prefix + memberPath(exchange, folder, field('name'))),
          overwrite: 'F',
        }),
      )
      return deed
    case 'delete': {
      const path = member()
      if (field('sure') !== 'yes')
        throw new Fault(400, 'BadRequest', 'Nothing was deleted: the tick that confirms it was missing.')
      await act(remove, acting(exchange, 'DELETE', path))
      return deed
    }
    default:
      throw new Fault(422, 'InvalidFragment', 'This is no form of a listing.')
  }
}

/** A browser sends the author's password with forms of any page; one of these two fields tells whose page it was. */
function checkOwnPage(exchange: Exchange): void {
  const origin = header(exchange, 'origin')
  const site = header(exchange, 'sec-fetch-site')
  const { protocol, host } = new URL(exchange.origin)
  const own = origin === undefined || origin === ownOrigin(protocol === 'https:', host)
  if (own && (site === undefined ? origin !== undefined : site === 'same-origin')) return
  throw new Fault(403, 'Forbidden', 'This form was not sent by the listing of this mount.')
}

/** @throws Fault 400 for a name that is none, 403 for a reserved path */
function memberPath(exchange: Exchange, folder: string, name: string): string {
  const bare = name.endsWith('/') ? name.slice(0, -1) : name
  if (bare === '' || bare.includes('/')) throw new Fault(400, 'InvalidPath', 'A name has no slash and is not empty.')
  const { path } = decodeTarget(encodePath(folder + name), 'mount', true)
  if (isServerOwned(exchange, path)) throw reserved()
  return path
}

/** A file that waits until the whole form is there. */
interface Waiting {
  name: string
  path: string
  type: string | undefined
  size: number
  body: BodySource
}

/**
 * The form that brings files. They go to the staging area while they arrive, documents to memory; all of them are looked
 * at before the first is stored.
 *
 * @returns what was done
 */
async function upload(exchange: Exchange, folder: string, boundary: string): Promise<string> {
  const { mount } = exchange
  await mount.site.usage?.require(Number(header(exchange, 'content-length') ?? 0))
  const staged: StagedBlob[] = []
  let over = false
  try {
    const { files, fields } = await exchange.pieces(mount.settings.maxBody, async (pieces, hold) => {
      const memory = memoryFor(exchange, hold)
      const files: Waiting[] = []
      const fields = new Map<string, string>()
      await eachPart(pieces, boundary, async ({ name, filename, type }, content) => {
        if (filename === undefined) {
          const value = await contentBytes(content, LONGEST_FORM, () => tooLong('A field of the form', LONGEST_FORM))
          if (FIELDS.has(name)) fields.set(name, value.toString('utf8'))
          return
        }
        if (filename === '') {
          await contentBytes(content, 0, () => new Fault(400, 'BadRequest', 'A file of the form has no name.'))
          return
        }
        const path = memberPath(exchange, folder, filename)
        const sent = typeOf(filename, type)
        if (kindOf(storedType(path, sent)) !== 'blob') {
          const bytes = await memory.read(content)
          files.push({ name: filename, path, type: sent, size: bytes.length, body: memoryBody(bytes) })
          return
        }
        const file = await stageFile(mount, content)
        staged.push(file)
        // The client may have been given up meanwhile.
        if (over) await file.discard()
        if (file.bytes) memory.count(file.size)
        files.push({ name: filename, path, type: sent, size: file.size, body: stagedBody(file) })
      })
      return { files, fields }
    })
    if (fields.get('do') !== 'upload') throw new Fault(422, 'InvalidFragment', 'This is no form of a listing.')
    await store(exchange, files, fields.get('replace') === 'yes')
    return 'upload'
  } finally {
    over = true
    for (const file of staged) await file.discard()
  }
}

/**
 * The type of a file as a PUT would have it, one character for each byte: it is sent in heads of answers.
 *
 * @returns undefined for what browsers say of files that they do not know
 * @throws Fault 400
 */
function typeOf(name: string, written: string | undefined): string | undefined {
  if (written === undefined || written === 'application/octet-stream') return undefined
  const type = Buffer.from(written).toString('latin1')
  if (!isFieldValue(type))
    throw new Fault(400, 'BadRequest', `The type of the file ${name} holds characters that no type can have.`)
  checkStorable(type, undefined)
  return type
}

async function stageFile({ stage, settings }: Mount, content: AsyncIterable<Uint8Array>): Promise<StagedBlob> {
  try {
    return await stage(Readable.from(content, { objectMode: false }), { limit: settings.maxBody })
  } catch (error) {
    if (error instanceof StagingError) throw new Fault(400, 'BadRequest', 'The form ends before its last part.')
    throw error
  }
}

function stagedBody(file: StagedBlob): BodySource {
  return {
    stage: async () => file,
    bytes: () => Promise.reject(new Error('A staged file is no body to be held in memory')),
  }
}

/** What a form may keep in memory: together as much as one document. */
function memoryFor({ mount }: Exchange, hold: (bytes: number) => void) {
  const cap = largestDocument(mount.settings)
  let left = cap
  const refusal = () => tooLong('The pages and small files of one upload, together,', cap)
  const count = (size: number) => {
    if (size > left) throw refusal()
    left -= size
    hold(size)
  }
  return {
    /** Counts bytes that are kept already. @throws Fault 413 */
    count,
    /** @throws Fault 413 */
    async read(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
      const bytes = await contentBytes(content, left, refusal)
      count(bytes.length)
      return bytes
    },
  }
}

/** Stores files one after the other, once nothing that can be said of them beforehand is against any of them. */
async function store(exchange: Exchange, files: readonly Waiting[], replace: boolean): Promise<void> {
  if (files.length === 0) throw new Fault(400, 'BadRequest', 'The form brings no file.')
  const paths = new Set<string>()
  for (const { name, path } of files) {
    if (paths.has(path)) throw new Fault(400, 'BadRequest', `The form brings ${name} twice; nothing was stored.`)
    paths.add(path)
    checkWritable(exchange.author.scope, path)
    if (!replace && (await exchange.mount.view.find(path)))
      throw new Fault(412, 'PreconditionFailed', `There is a file named ${name} already; nothing was stored.`)
  }
  const requests = files.map(({ path, type, size, body }) => {
    const fields: Record<string, string> = { 'content-length': String(size) }
    if (type !== undefined) fields['content-type'] = type
    if (!replace) fields['if-none-match'] = '*'
    return { ...acting(exchange, 'PUT', path, fields), body }
  })
  for (const request of requests) await admitPut(request, true)
  for (const [i, request] of requests.entries())
    try {
      await act(part => put(part, true), request)
    } catch (error) {
      throw error instanceof Fault && i > 0 ? afterOthers(error, files, i) : error
    }
}

/** Names what a form has stored before one of its files was refused: who sends it again needs to know. */
function afterOthers(fault: Fault, files: readonly Waiting[], refused: number): Fault {
  const names = files.slice(0, refused).map(({ name }) => name)
  const listed = names.length > NAMED ? [...names.slice(0, NAMED), `${names.length - NAMED} more`] : names
  const message = `${files[refused]?.name}: ${fault.message} Stored before it: ${listed.join(', ')}.`
  return new Fault(fault.status, fault.kind, message, fault.details)
}

function tooLong(what: string, cap: number): Fault {
  return new Fault(413, 'PayloadTooLarge', `${what} may have ${cap} bytes.`, { headers: { Connection: 'close' } })
}
