/** New documents that a page makes of a request (COMP-106, COMP-107). */

import type { Authority, Authorizing } from '../authority.ts'
import { memoryBody } from '../body.ts'
import { compose } from '../compose/compose.ts'
import { compositionError } from '../compose/failure.ts'
import type { Reader } from '../compose/reader.ts'
import { Fault } from '../fault.ts'
import { canonicalPath, decodeTarget, encodePath, isReserved, reserved } from '../http/path.ts'
import { isLive } from '../model/meanings.ts'
import type { Operation } from '../operation.ts'
import { absent, noMarkup, refuseForbidden, refuseUnseen, refusingRequest, requireAllowed } from '../refusals.ts'
import { largestDocument, type Site } from '../site/site.ts'
import { notHtml, type StoredFile } from '../site/stored-file.ts'
import { asciiLower, isBlank, trimmed } from '../tree/ascii.ts'
import { encoding } from '../tree/document.ts'
import { attribute, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { bindPrefix, Prefixes, qualifiedName, Rereading, writtenName } from '../tree/prefixes.ts'
import { changesNames } from '../tree/rewritten.ts'
import { writingDocument } from '../tree/serialize.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { type DocumentPut, putTriggered, type RunTriggered } from './document.ts'

/** A POST to a document without a place in it. */
export interface TemplatePost extends Omit<DocumentPut, 'type'> {
  /** Hosts, with their ports, by which the client knows the site. */
  authorities: readonly string[]
  /** Refuses names that the server keeps for itself. @throws Fault */
  refuse: (path: string) => void
  /** The reader of the request with its body. @param type of a body that code has made in its place */
  reader: (body: Uint8Array, type: string | undefined) => Promise<Reader>
  triggered: RunTriggered
}

/**
 * Composes the document with the request, and stores the result at the address that its `base` names.
 *
 * @param write.path canonical path of the template
 * @returns answers 301 to the new document
 */
export function createFromTemplate(site: Site, write: TemplatePost, authority: Authorizing): Operation {
  const { path } = write
  const question = (template: StoredFile | undefined) =>
    ({ ask: 'post', path, exists: template !== undefined }) as const
  const decide = async () => {
    await authority.settle?.([path])
    return authority()
  }
  const find = async (decided: Authority) => {
    refuseUnseen(decided, { ask: 'post', path }, 'POST', path)
    return site.find(path)
  }
  return {
    async admit() {
      const decided = await decide()
      refuseForbidden(decided, question(await find(decided)), 'POST', path)
      return {}
    },
    async carryOut(body) {
      const decided = await decide()
      const template = await find(decided)
      requireAllowed(decided, question(template), 'POST', path)
      if (!template) throw absent()
      if (!template.isDocument) throw notHtml()
      if (template.kind !== 'html')
        throw new Fault(422, 'InvalidRange', 'Name the place to insert at: Range: selector=<css>.')
      const reader = await write.reader(await body.bytes(largestDocument(site.settings)), body.type)
      const { tree } = await compose(site, template, reader.viewer, reader.languages, undefined, { creating: true })
      const target = targetOf(tree, write)
      if (isReserved(target, site.settings.brand)) throw reserved()
      write.refuse(target)
      const isLiveName = (uri: string) => isLive(uri, site.model, 'html')
      await inTurns(unbinding(tree.root, isLiveName), Number.POSITIVE_INFINITY)
      const place = { isLive: isLiveName, frame: ['', ''] } as const
      if (await inTurns(changesNames(tree.root, place), Number.POSITIVE_INFINITY)) throw noMarkup()
      const bytes = await inTurns(writingBytes(tree), Number.POSITIVE_INFINITY)
      const check = async () => requireAllowed(await decide(), question(template), 'POST', path)
      const { type } = template.resource
      const put = { ...write, path: target, type, conditions: newOnly(write), check, checksNoBytes: true }
      const done = putTriggered(site, put, memoryBody(bytes), write.triggered, authority)
      const { answer, isStored } = await refusingRequest(done, () => authority().refusal('POST', path))
      if (!isStored) return answer
      return { status: 301, headers: { Location: encodePath(target), 'Cache-Control': 'no-store' }, body: '' }
    },
  }
}

/** Directives are consumed: what still has the name of one has come from elsewhere, as data, and stays that (COMP-107, COMP-145). */
function* unbinding(root: ParentNode, isLiveName: (uri: string) => boolean): Steps<void> {
  const again = new Rereading(root.childNodes.find(isElement))
  const open = [{ nodes: root.childNodes, outer: Prefixes.none }]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.nodes) {
      if (++seen % NODES_PER_STEP === 0) yield
      if (!isElement(node)) continue
      again.leave(node)
      let outer = next.outer.within(node)
      for (const name of [node.tagName, ...node.attrs.map(writtenName)]) {
        const written = qualifiedName(name)?.prefix
        const prefix = written && asciiLower(written)
        if (prefix === undefined) continue
        if (++seen % NODES_PER_STEP === 0) yield
        const uri = outer.namespace(prefix)
        const isData = written !== prefix || (uri !== undefined && isLiveName(uri))
        if (!isData && again.keeps(prefix, next.outer, uri)) continue
        bindPrefix(node, prefix, isData ? '' : (uri ?? ''), 'html')
        outer = next.outer.within(node)
      }
      open.push({ nodes: node.childNodes, outer })
      if (node.content) open.push({ nodes: node.content.childNodes, outer })
    }
  }
}

function* writingBytes(tree: TreeDocument): Steps<Uint8Array> {
  return yield* encoding(yield* writingDocument(tree), false)
}

/** `If-None-Match: *` keeps what is there already; other conditions are about the template. */
function newOnly({ conditions }: TemplatePost): DocumentPut['conditions'] {
  return conditions?.ifNoneMatch === '*' ? { ifNoneMatch: '*' } : undefined
}

/**
 * Takes the address out of the first `base` that has one.
 *
 * @returns canonical path
 * @throws Fault 422 where there is none that could be used
 */
function targetOf(tree: TreeDocument, { path, authorities }: TemplatePost): string {
  const base = firstBase(tree.root)
  if (!base) throw unusable('The template must contain a <base href> that names the new document.')
  const parent = base.parentNode
  if (parent) parent.childNodes = parent.childNodes.filter(node => node !== base)
  const origin = `http://${authorities[0] ?? 'localhost'}`
  const href = trimmed(attribute(base, 'href') ?? '')
  const url = URL.canParse(href, origin + encodePath(path)) ? new URL(href, origin + encodePath(path)) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw unusable('The <base href> of the template is no address.')
  if (
    !authorities.some(
      authority =>
        URL.canParse(`${url.protocol}//${authority}`) && new URL(`${url.protocol}//${authority}`).host === url.host,
    )
  )
    throw unusable('The <base href> of the template names another site.')
  if (url.pathname.endsWith('/')) throw unusable('The <base href> of the template names a directory.')
  return canonicalPath(decodeTarget(url.pathname, 'public', true).path)
}

function unusable(message: string): Fault {
  return compositionError(message, 422)
}

function firstBase(root: ParentNode): ElementNode | undefined {
  const open: ParentNode[] = [root]
  for (let parent = open.pop(); parent; parent = open.pop()) {
    if (isElement(parent) && parent.tagName === 'base' && !isBlank(attribute(parent, 'href') ?? '')) return parent
    for (const child of [...parent.childNodes].reverse()) if (isElement(child)) open.push(child)
  }
  return undefined
}
