/** QUERY over one document or everything below a path, on stored markup (HTTP-133, SES-126, DAV-49). */

import { setImmediate } from 'node:timers/promises'
import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { LARGEST_QUERY } from '../../pipeline/body.ts'
import { answerProgram } from '../../pipeline/evaluation/query.ts'
import { Fault } from '../../pipeline/fault.ts'
import { excludes } from '../../pipeline/http/accept.ts'
import { evaluateRead, formatHttpDate, preconditionFailed, readConditions } from '../../pipeline/http/conditions.ts'
import { ACCEPT_QUERY, essence } from '../../pipeline/http/media.ts'
import { type Part, writingMultipart } from '../../pipeline/http/multipart.ts'
import { type Match, taggingMatches } from '../../pipeline/http/tags.ts'
import { elementParts, PartsRoom } from '../../pipeline/read/elements.ts'
import { lookAt } from '../../pipeline/read/representation.ts'
import { absent, toSelector } from '../../pipeline/refusals.ts'
import { RequestValue } from '../../pipeline/request-value.ts'
import { notHtml, type StoredFile } from '../../pipeline/site/stored-file.ts'
import { trimmed } from '../../pipeline/tree/ascii.ts'
import { type Selector, selectingAll } from '../../pipeline/tree/selector/selector.ts'
import { inTurns, type Steps } from '../../pipeline/tree/steps.ts'
import { readAtOneMoment } from '../../pipeline/write/one-moment.ts'
import { isSeenAt } from '../access/visibility.ts'
import { checkAwaited, type Exchange } from '../exchange.ts'
import { isServerOwned } from '../locks/guard.ts'

/** UTF-16 code units of elements that one answer tells, of however many documents: they are in memory together. */
const MOST_MARKUP = 64 * 1024 * 1024

export async function query(exchange: Exchange): Promise<Answer> {
  const type = essence(header(exchange, 'content-type') ?? '')
  if (type === 'text/sessel') return queryProgram(exchange)
  if (type !== 'text/css-selector')
    throw new Fault(415, 'UnsupportedMediaType', `The body of QUERY must be one of ${ACCEPT_QUERY}.`, {
      headers: { 'Accept-Query': ACCEPT_QUERY },
    })
  if (excludes(header(exchange, 'accept'), 'multipart/mixed'))
    throw new Fault(406, 'NotAcceptable', 'A query is answered as multipart/mixed only.')
  await requireStored(exchange)
  const text = await selectorText(exchange)
  const selector = toSelector(text, exchange.mount.site)
  const found = await atOneMoment(exchange, () => matchesBelow(exchange, selector))
  if (!found) throw absent()
  const length = found.parts.reduce((sum, { content = '' }) => sum + content.length, 0)
  return inTurns(answering(exchange, text, found), length)
}

/** @throws Fault 404 where a query is about nothing */
async function requireStored(exchange: Exchange): Promise<void> {
  const { done } = await atOneMoment(exchange, () => documentsAt(exchange).next())
  if (done) throw absent()
}

/** How long others take to change what is hidden tells nothing. */
function atOneMoment<T>({ mount, path, author }: Exchange, read: () => Promise<T>): Promise<T> {
  return readAtOneMoment(mount.site, path, changed => isSeenAt(author.scope, changed), read)
}

/** @returns undefined where nothing is stored */
async function matchesBelow(exchange: Exchange, selector: Selector): Promise<Found | undefined> {
  const room = new PartsRoom(MOST_MARKUP)
  const found: { parts: Part[]; places: Match[] } = { parts: [], places: [] }
  let isThere = false
  for await (const file of documentsAt(exchange)) {
    isThere = true
    if (!file) continue
    const more = await matchesIn(exchange, selector, file, room)
    // There can be more than a call takes arguments.
    for (const part of more.parts) found.parts.push(part)
    for (const place of more.places) found.places.push(place)
  }
  return isThere ? found : undefined
}

/**
 * The documents a query is about, in ascending path order; undefined stands for something that has no elements, so that
 * the caller sees that something is stored.
 *
 * @throws Fault 422 for a single resource that is no document, 400 where nobody waits for the answer any more
 */
async function* documentsAt(exchange: Exchange): AsyncGenerator<StoredFile | undefined, undefined> {
  const { mount, path, author } = exchange
  const { site } = mount
  const { scope } = author
  if (!path.endsWith('/')) {
    const node = scope.covers(path) ? await mount.view.find(path) : undefined
    if (!node || node.resource.path !== path) return
    const file = await site.findParsed(path)
    // Drafts and helper files are not seen, but what is published at the path of a draft.
    if (!file && !node.place.isPublished) return
    if (!file?.isDocument) throw notHtml()
    yield file
    return
  }
  let seen = 0
  for await (const resource of site.store.walk(path)) {
    if (!scope.covers(resource.path) || isServerOwned({ mount }, resource.path) || mount.unpublished.isGone(resource))
      continue
    checkAwaited(exchange)
    yield resource.kind === 'document' ? await site.findParsed(resource.path) : undefined
    // Every document may have to be parsed.
    if (++seen % 4 === 0) await setImmediate()
  }
}

/** An expression (SES-230): the author may read everything below the scope of the credential (SES-126). */
async function queryProgram(exchange: Exchange): Promise<Answer> {
  const { path, mount, author, allowance, request, body } = exchange
  const { site } = mount
  await requireStored(exchange)
  const requested = new RequestValue({
    method: 'QUERY',
    path,
    host: site.settings.host,
    query: '',
    repeated: 'list',
    headers: request.headers,
    sessionCookie: `${site.settings.brand}_session`,
    params: new Map(),
    body: null,
    identity: undefined,
  })
  return answerProgram(
    {
      site,
      allowance: allowance(),
      path,
      bounds: () => ({ scope: path, covers: at => author.scope.covers(at) && !isServerOwned({ mount }, at) }),
      names: async () => new Map([['request', requested]]),
      range: header(exchange, 'range'),
      conditions: readConditions(request.headers),
      atOneMoment: read => atOneMoment(exchange, read),
    },
    body,
  )
}

async function selectorText({ body }: Exchange): Promise<string> {
  const bytes = await body.bytes(LARGEST_QUERY)
  const text = trimmed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  if (text === '') throw new Fault(422, 'EmptyBody', 'The body must hold a CSS selector.')
  return text
}

interface Found {
  parts: readonly Part[]
  places: readonly Match[]
}

const NOTHING: Found = { parts: [], places: [] }

async function matchesIn(
  { mount: { site } }: Exchange,
  selector: Selector,
  { resource }: StoredFile,
  room: PartsRoom,
): Promise<Found> {
  const found = await lookAt(site, resource.path, function* ({ file, view }) {
    if (!view) return NOTHING
    const elements = yield* selectingAll(selector, view.tree)
    if (elements.length === 0) return NOTHING
    const lastModified = formatHttpDate(file.resource.modified)
    return yield* elementParts(view, elements, { lastModified, room })
  })
  return found ?? NOTHING
}

/** 201 for a match and 200 for none, as the contract records it; in steps. */
function* answering(exchange: Exchange, text: string, { parts, places }: Found): Steps<Answer> {
  const tag = yield* taggingMatches(text, places)
  const headers: Record<string, string> = { ETag: tag, 'Cache-Control': 'private, no-cache, no-transform' }
  const conditions = readConditions(exchange.request.headers)
  const verdict = conditions && evaluateRead(conditions, { tag }, false)
  if (verdict === 412) throw preconditionFailed(tag)
  if (verdict && verdict !== 'proceed') return { status: 304, headers: { ...headers, ETag: verdict.tag } }
  const { contentType, body } = yield* writingMultipart(parts)
  return { status: parts.length > 0 ? 201 : 200, headers: { ...headers, 'Content-Type': contentType }, body }
}
