/** Forms of the listing in a browser: each is carried out by the method of the mount that a client would use (DAV-40). */

import { header } from '../../edge/fields.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { memoryBody, NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { type FormFile, formFields, formFiles } from '../../pipeline/http/form.ts'
import { essence } from '../../pipeline/http/media.ts'
import { ownOrigin } from '../../pipeline/http/origin.ts'
import { decodeTarget, encodePath, reserved } from '../../pipeline/http/path.ts'
import { absent } from '../../pipeline/refusals.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import { visible } from '../access/visibility.ts'
import type { Exchange } from '../exchange.ts'
import { isServerOwned } from '../locks/guard.ts'
import { isCollection } from '../places/place.ts'
import { move } from './copy-move.ts'
import { remove } from './delete.ts'
import { mkcol } from './mkcol.ts'
import { put } from './put.ts'

const FORM_TYPES = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

export function isForm(exchange: Exchange): boolean {
  return FORM_TYPES.has(essence(header(exchange, 'content-type') ?? ''))
}

/**
 * Carries out one form and leads back to the listing. Files are held in memory, so together they may be as large as a
 * document; larger ones come by PUT.
 *
 * @throws Fault 403 for a form of another site, 422 for one that no listing has, and whatever the method answers
 */
export async function submitForm(exchange: Exchange): Promise<Answer> {
  checkOwnPage(exchange)
  const { mount } = exchange
  const node = visible(exchange, await mount.view.find(exchange.path))
  if (!node) throw absent()
  if (!isCollection(node)) throw new Fault(422, 'InvalidRange', 'POST needs Range: selector=<css> here.')
  const folder = node.resource.path
  const type = header(exchange, 'content-type')
  const bytes = await exchange.body.bytes(largestDocument(mount.settings))
  const fields = formFields(type, bytes)
  const field = (name: string) => fields?.get(name)?.[0] ?? ''
  const member = () => memberPath(exchange, folder, field('member'))
  const deed = field('do')
  switch (deed) {
    case 'upload':
      await upload(exchange, folder, formFiles(type, bytes), field('replace') !== '')
      break
    case 'folder':
      await mkcol(acting(exchange, 'MKCOL', memberPath(exchange, folder, `${field('name')}/`)))
      break
    case 'rename':
      await move(
        acting(exchange, 'MOVE', member(), {
          destination: encodePath(mount.prefix + memberPath(exchange, folder, field('name'))),
          overwrite: 'F',
        }),
      )
      break
    case 'delete':
      await remove(acting(exchange, 'DELETE', member()))
      break
    default:
      throw new Fault(422, 'InvalidFragment', 'This is no form of a listing.')
  }
  const headers = { Location: `${mount.prefix}${encodePath(folder)}?done=${deed}`, 'Cache-Control': 'no-store' }
  return { status: 303, headers, body: '' }
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

/** All names are looked at before the first file is stored. */
async function upload(exchange: Exchange, folder: string, files: readonly FormFile[], replace: boolean): Promise<void> {
  if (files.length === 0) throw new Fault(400, 'BadRequest', 'The form brings no file.')
  const named = files.map(file => ({ file, path: memberPath(exchange, folder, file.name) }))
  if (!replace)
    for (const { file, path } of named)
      if (await exchange.mount.view.find(path))
        throw new Fault(412, 'PreconditionFailed', `There is a file named ${file.name} already; nothing was stored.`)
  for (const { file, path } of named) {
    const fields: Record<string, string> = { 'content-length': String(file.bytes.length) }
    if (file.type !== undefined && file.type !== 'application/octet-stream') fields['content-type'] = file.type
    if (!replace) fields['if-none-match'] = '*'
    await put({ ...acting(exchange, 'PUT', path, fields), body: memoryBody(file.bytes) })
  }
}

/** The request that a client would send: with these fields and no other. */
function acting(exchange: Exchange, method: string, path: string, fields: Record<string, string> = {}): Exchange {
  const headers = { host: exchange.request.headers.host, ...fields }
  const headersDistinct = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, [value]]))
  const request = Object.create(exchange.request, {
    headers: { value: headers },
    headersDistinct: { value: headersDistinct },
  })
  return { ...exchange, request, method, path, raw: false, body: NO_BODY }
}
