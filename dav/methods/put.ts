/** PUT: a whole file, or an element of a document by selector (DAV-42, DAV-43, DAV-45). */

import { checkBodyFields, header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { memoryBody } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { formatHttpDate, readConditions } from '../../pipeline/http/conditions.ts'
import { checkStorable, kindOf, storedType } from '../../pipeline/http/media.ts'
import { perform } from '../../pipeline/operation.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import type { Property, Resource } from '../../pipeline/store/resource.ts'
import { contentTag, shownSeconds } from '../../pipeline/store/tags.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import { checkWritable, scopeAuthority } from '../access/scope-authority.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import { checkLocks, requireParent } from '../locks/guard.ts'
import { endCover, storeDraft, storeHelper } from '../places/drafts.ts'
import { clearWay, topmostMissing } from '../places/missing-parents.ts'
import { parentOf } from '../places/overlay.ts'
import { isCollection, type Node } from '../places/place.ts'
import { readUnixSeconds } from '../properties/unix-seconds.ts'
import { checkedBody } from '../requests/body-checks.ts'
import { writeElements } from './elements.ts'

/** What the request says of the file beside its bytes. */
interface Upload {
  path: string
  /** `Content-Type` of the request. */
  sent: string | undefined
  /** Stored type (HTTP-20). */
  type: string
  language?: string
  /** `X-OC-Mtime`, unix seconds. */
  shown?: number
  /** A new file needs its collection; otherwise missing ones are made. */
  needsParent: boolean
}

/** @param needsParent whether a new file needs its collection (DAV-14) */
export async function put(
  exchange: Exchange,
  needsParent = exchange.mount.settings.mountStrictParents,
): Promise<Answer> {
  const { path, mount, author } = exchange
  checkWritable(author.scope, path)
  checkBodyFields(exchange)
  if (header(exchange, 'range') !== undefined) return writeElements(exchange, 'put')
  const node = await admitPut(exchange, needsParent)
  const upload = readUpload(exchange, needsParent)
  if (!node) await clearWay(mount, path)
  if (node?.place.isHelper || (!node && (await mount.view.isHelper(path)))) return putHelper(exchange, upload)
  return putOrdinary(exchange, upload, node)
}

/**
 * What can be said of a file before its bytes are looked at; nothing changes.
 *
 * @returns what stands there
 */
export async function admitPut(exchange: Exchange, needsParent: boolean): Promise<Node | undefined> {
  const { path, mount } = exchange
  if (path.endsWith('/')) throw new Fault(400, 'InvalidPath', 'A file has no slash at the end of its name.')
  const node = await mount.view.find(path)
  await checkConditions(exchange, node)
  await checkPutLocks(exchange, node)
  if (node && isCollection(node))
    throw new Fault(405, 'MethodNotAllowed', 'There is a collection of this name; it cannot be written like a file.')
  if (needsParent && !node) await requireParent(exchange, path)
  return node
}

/**
 * Conditions and locks once more, on what stands there now: while a body is on its way, somebody else may save the file,
 * make it, or lock it.
 *
 * @returns what stands there now
 */
async function checkAgain(exchange: Exchange): Promise<Node | undefined> {
  await exchange.lookAgain()
  const node = await exchange.mount.view.find(exchange.path)
  await checkConditions(exchange, node)
  await checkPutLocks(exchange, node)
  return node
}

async function checkPutLocks(exchange: Exchange, node: Node | undefined): Promise<void> {
  const { path, mount } = exchange
  if (node) await checkLocks(exchange, path, 'content')
  else await checkLocks(exchange, await topmostMissing(mount.view, path), 'membership')
}

function readUpload(exchange: Exchange, needsParent: boolean): Upload {
  const { path } = exchange
  const sent = exchange.body.type ?? header(exchange, 'content-type')
  const language = header(exchange, 'content-language')
  const shown = readUnixSeconds(header(exchange, 'x-oc-mtime') ?? '')
  const type = storedType(path, sent)
  checkStorable(type, language)
  return {
    path,
    sent,
    type,
    needsParent,
    ...(language !== undefined && language !== '' && { language }),
    ...(shown !== undefined && { shown }),
  }
}

async function putHelper(exchange: Exchange, upload: Upload): Promise<Answer> {
  const { mount } = exchange
  const { leases, store } = mount.site
  const { path, type, language, shown, needsParent } = upload
  if (mount.names.of(path)?.inCollection && mount.names.of(parentOf(path))) await requireParent(exchange, path)
  const staged = await checkedBody(exchange).stage(mount.settings.maxBody)
  try {
    const file = {
      path,
      content: staged,
      type,
      ...(language !== undefined && { language }),
      ...(shown !== undefined && { shown }),
    }
    return await leases.hold(store.name, [path], async () => {
      const replaced = await checkAgain(exchange)
      return answer(upload, await storeHelper(mount, file, needsParent), replaced !== undefined)
    })
  } finally {
    await staged.discard()
  }
}

async function putOrdinary(exchange: Exchange, upload: Upload, node: Node | undefined): Promise<Answer> {
  const { mount, author } = exchange
  const { path, type, sent, language, shown, needsParent } = upload
  const replacedSize = (node?.published ?? node?.resource)?.size ?? 0
  await mount.site.usage?.require(declaredLength(exchange) - replacedSize)
  let body = checkedBody(exchange)
  if (kindOf(type) !== 'blob') {
    const bytes = await body.bytes(largestDocument(mount.settings))
    if (bytes.length === 0) {
      const { leases, store } = mount.site
      return leases.hold(store.name, [path], async () => {
        const replaced = await checkAgain(exchange)
        const draft = await storeDraft(exchange, path, { type, language, shown }, needsParent)
        return answer(upload, draft, replaced !== undefined)
      })
    }
    body = memoryBody(bytes)
  }
  const authority = scopeAuthority(author.scope)
  let replaced = node
  let stored: Resource | undefined
  // Properties of a draft over nothing were set on the draft; they come along, as they are when nobody sets any more.
  let properties: readonly Property[] = []
  const operation = putDocument(
    mount.site,
    {
      path,
      type: sent,
      conditions: undefined,
      check: async () => {
        replaced = await checkAgain(exchange)
        properties = replaced?.place.isNew ? await mount.view.properties(replaced) : []
      },
      checksNoBytes: readConditions(exchange.request.headers) === undefined && header(exchange, 'if') === undefined,
      stored: resource => {
        stored = resource
      },
      cause: {},
      raw: exchange.raw,
      configure: exchange.configure,
      allowance: exchange.allowance,
      alongside: exchange.alongside,
      properties: () => properties,
      needsParent,
      ...(language !== undefined && { language }),
      ...(shown !== undefined && { shown }),
    },
    () => authority,
  )
  await perform(operation, body)
  const cover = mount.unpublished.coverAt(path)
  // Left over it does no harm: the document is newer.
  if (cover) await afterCommit(mount, () => endCover(mount, cover))
  return answer(upload, stored, replaced !== undefined)
}

/** 0 for a body that is sent in chunks: its length turns out in the end. */
function declaredLength(exchange: Exchange): number {
  return Number(header(exchange, 'content-length') ?? 0)
}

function answer(upload: Upload, resource: Resource | undefined, existed: boolean): Answer {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' }
  if (resource) {
    headers.ETag = contentTag(resource.digest)
    headers['Last-Modified'] = formatHttpDate(shownSeconds(resource) * 1000)
  }
  if (upload.shown !== undefined) headers['X-OC-Mtime'] = 'accepted'
  return existed ? { status: 204, headers } : { status: 201, headers, body: '' }
}
