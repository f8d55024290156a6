/**
 * What a reader sees at a path. Reads, queries and the search for the target of a write all ask here, so that they agree on
 * what stands there, which tags it has and where each of its elements comes from.
 */

import { hash } from 'node:crypto'
import type { Authority, ReadableView } from '../authority.ts'
import { type Composition, mayBeginAnew } from '../compose/compose.ts'
import { checkLinks, checkPaginators } from '../compose/paginate.ts'
import { composedFor, type Reader } from '../compose/reader.ts'
import { type Resolved, resolvePath, routeParameters } from '../compose/routes.ts'
import { composedType, servedType } from '../http/media.ts'
import { isLive } from '../model/meanings.ts'
import { hasResolvers } from '../model/read-chains.ts'
import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { untilFirst } from '../tree/precedence.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { begin, inTurns, type Steps, unnoticed } from '../tree/steps.ts'
import { type Dependencies, onDocument } from './dependencies.ts'

/** Document parts of stored versions: no other request makes them again. */
const documentParts = new WeakMap<StoredFile, string>()

/** What `isPlain` has found. */
const known = new WeakMap<StoredFile, { model: Registry; plain: boolean }>()

/** Where an element is stored. */
export interface Origin {
  /** The document and its version. */
  file: StoredFile
  /** A tree of it, in which the element is. */
  tree: TreeDocument
  element: ElementNode
}

/** One document as one reader sees it. Nothing of it changes while it is looked at. */
export interface Representation {
  /** What is stored at the path. */
  readonly file: StoredFile
  /** What selectors are matched in. */
  readonly tree: TreeDocument
  /** Document part of the tags of its fragments (HTTP-32). */
  documentPart(): string
  /** It was put together for the reader, and is not what is stored. */
  readonly composed: boolean
  /** The path is served by a route: nothing of the template itself is written through it (COMP-101). */
  readonly routed: boolean
  /** Fields that every answer made of it carries. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether it is the same for every reader who may read it (COMP-124). */
  readonly shared: boolean
  /** What it was made of; undefined where the next reader may see something else in any case. */
  readonly dependencies: Dependencies | undefined
  /** The same once a document that went into it has another digest. */
  documentPartWith(path: string, digest: string, copies?: Composition['copies']): string
  /** Whether it is what would be seen now. */
  holds(): boolean
  /** Undefined for an element that is stored nowhere. */
  originOf(element: ElementNode): Origin | undefined
  /** The outermost element around an element, or itself, that each visitor has a version of (COMP-74). */
  transientAround(element: ElementNode): ElementNode | undefined
  /** The page that was put together; undefined for what is stored. */
  readonly composition: Composition | undefined
}

/** `Content-Type` of what is written of a view: all of it, or an element. */
export function typeOf({ composed, file }: Pick<Representation, 'composed' | 'file'>): string {
  const { type } = file.resource
  return composed ? composedType(type) : servedType(type, file.profile?.utf8 ?? false)
}

/** What is found at a path; a blob has no view. */
export interface Seen {
  file: StoredFile
  view: Representation | undefined
}

/** A stored document as it is. */
export function storedDocument(site: Site, file: StoredFile, tree: TreeDocument, params?: Params): Representation {
  return {
    file,
    tree,
    documentPart: () => storedPart(site, file),
    documentPartWith: (path, digest) => site.documentPart({ path, digest }),
    composed: false,
    routed: params !== undefined,
    headers: routeHeaders(params),
    shared: true,
    dependencies: params ? undefined : onDocument(file),
    holds: () => site.isInMemory(file),
    originOf: element => ({ file, tree, element }),
    transientAround: () => undefined,
    composition: undefined,
  }
}

/**
 * The same, in steps, of which the elements end where composition ends them (COMP-6, DAV-45): what is read is what a write
 * changes.
 *
 * @param tree as the standard reads it; nobody may change it meanwhile
 */
export function* viewingStored(
  site: Site,
  file: StoredFile,
  tree: TreeDocument,
  params?: Params,
): Steps<Representation> {
  return storedDocument(site, file, isReadAsWritten(site, file) ? yield* readingAsWritten(tree) : tree, params)
}

/** Whether elements of a document end where composition ends them. */
export function isReadAsWritten(site: Pick<Site, 'model' | 'settings'>, file: StoredFile): boolean {
  return file.kind === 'html' && !isPlain(site, file)
}

/** Document part of the tags of a stored document as it is (HTTP-32). */
export function storedPart(site: Site, file: StoredFile): string {
  const known = documentParts.get(file)
  if (known !== undefined) return known
  const part = site.documentPart(file.resource)
  documentParts.set(file, part)
  return part
}

/** A page that was put together. */
function composedDocument(site: Site, { file, params }: Resolved, composition: Composition): Representation {
  const { tree, reads, links, originOf, transientAround } = composition
  const documentPartWith = (path: string, digest: string, copies = composition.copies) => {
    const lines = [...reads.projected].map(each => `${each.path === path ? digest : each.digest} ${each.path}`)
    const own = file.resource.path === path ? { path, digest } : file.resource
    return site.documentPart(own, [...lines.sort(), ...copyLines(composition, copies)])
  }
  let part: string | undefined
  return {
    file,
    tree,
    // Each part of an answer asks for it, and many documents may have gone into a page.
    documentPart: () => (part ??= documentPartWith(file.resource.path, file.resource.digest)),
    documentPartWith,
    composed: true,
    routed: params !== undefined,
    headers: { ...linkHeader(links), ...routeHeaders(params) },
    shared: !reads.personal,
    dependencies: reads.personal || reads.fleeting ? undefined : reads,
    holds: () => reads.hold(site),
    originOf,
    transientAround,
    composition,
  }
}

function linkHeader(links: Composition['links']): Record<string, string> {
  return links.length === 0 ? {} : { Link: links.map(({ field }) => field).join(', ') }
}

/** The same without links between the pages of lists that a reader may not see: they tell how long those are (SEC-6). */
export function linkingReadable(view: Representation, isReadable: (element: ElementNode) => boolean): Representation {
  const links = view.composition?.links ?? []
  const shown = links.filter(({ paginator }) => isReadable(paginator))
  checkLinks(shown)
  if (shown.length === links.length) return view
  const { Link: _, ...others } = view.headers
  return { ...view, headers: { ...linkHeader(shown), ...others } }
}

/**
 * Makes sure that all of a page which its reader may see could be put together (COMP-131); of the rest nobody learns it.
 *
 * @throws Fault of the first part that could not
 */
export function requireSound(
  { composition }: Representation,
  isReadable: (element: ElementNode) => boolean = () => true,
): void {
  for (const { element, fault } of composition?.failures ?? []) if (isReadable(element)) throw fault
  checkPaginators((composition?.paginators ?? []).filter(({ element }) => isReadable(element)))
}

/** What the selectors of a requester are matched against (SEC-6), in steps. @throws Fault as requireSound does */
export function* viewingOf(authority: Authority, path: string, view: Representation): Steps<ReadableView> {
  const readable = yield* authority.viewing(path, view.tree)
  requireSound(view, readable.isReadable)
  return readable
}

/** The session's copies belong to what a fragment tag covers (COMP-79). */
function copyLines({ transients }: Composition, copies: Composition['copies']): string[] {
  const lines: string[] = []
  for (const { prefix, name } of transients.values()) {
    const markup = copies.get(prefix)?.get(name)
    if (markup !== undefined) lines.push(`${hash('sha256', markup)} ${name}`)
  }
  return lines.sort()
}

type Params = Resolved['params']

/** COMP-100. */
export function routeHeaders(params: Params): Record<string, string> {
  return params ? { 'route-parameters': routeParameters(params) } : {}
}

/**
 * What serves a path for a reader; those without one see what is stored, and no routes (COMP-3).
 *
 * @param path canonical
 * @param unseen what is stored at the path itself does not count
 */
export async function findFor(
  site: Site,
  path: string,
  reader: Reader | undefined,
  unseen = false,
): Promise<Resolved | undefined> {
  if (reader) return resolvePath(site, path, unseen)
  if (unseen) return undefined
  const file = await site.find(path)
  return file && { file, params: undefined }
}

/** Whether what is stored at a path is put together for a reader (COMP-2, COMP-3). */
export function isComposed(site: Site, file: StoredFile, reader: Reader | undefined): reader is Reader {
  return reader !== undefined && !isPlain(site, file)
}

/**
 * Looks at the newest version of a file. What takes long is done in turns with other work; meanwhile nothing that is looked
 * at changes, whatever is committed.
 *
 * @param reader for whom a page is put together; without one everybody sees what is stored
 * @param unseen what is stored at the path itself does not count
 * @returns undefined when nothing is stored there
 * @throws what looking throws; Fault 422 for a document that cannot be parsed, and of a composition
 */
export async function lookAt<T>(
  site: Site,
  path: string,
  look: (seen: Seen) => Steps<T>,
  reader?: Reader,
  unseen = false,
): Promise<T | undefined> {
  const found = await findFor(site, path, reader, unseen)
  if (found && isComposed(site, found.file, reader)) {
    const seen = await lookAtComposed(site, found, path, look, reader)
    if (seen) return seen.value
    await untilFirst()
    return lookAt(site, path, look, reader, unseen)
  }
  // A large document is parsed in turns; meanwhile there may be a newer one.
  const file = found && (await site.findParsed(found.file.resource.path))
  if (!file) return undefined
  // That may have to be put together: nobody reads the source of a page.
  if (isComposed(site, file, reader)) return lookAt(site, path, look, reader, unseen)
  const tree = file.isDocument ? site.tree(file) : undefined
  const looking = function* (): Steps<T> {
    const view = tree && (yield* viewingStored(site, file, tree, found.params))
    return yield* look({ file, view })
  }
  const work = looking()
  const soon = begin(work, unnoticed())
  if (soon) return soon.value
  const release = tree && pinTree(tree)
  try {
    return await inTurns(work, LONG)
  } finally {
    release?.()
  }
}

/** @returns undefined where it was broken off for those that came first: it holds nothing any more, and may begin anew */
async function lookAtComposed<T>(
  site: Site,
  found: Resolved,
  path: string,
  look: (seen: Seen) => Steps<T>,
  reader: Reader,
): Promise<{ value: T } | undefined> {
  const { file } = found
  const view = composedDocument(site, found, await composedFor(site, found, path, reader))
  try {
    const work = look({ file, view })
    return begin(work, unnoticed()) ?? { value: await inTurns(work, LONG) }
  } catch (error) {
    if (!mayBeginAnew(error, reader.viewer)) throw error
    delete reader.composed
    return undefined
  }
}

/**
 * `lookAt` for who may not know that a file is there: one of which nothing may be seen is as if it were not there, and in its
 * place stands what would be shown without it (SEC-6, ABS-1).
 *
 * @param look undefined where nothing may be seen
 * @returns undefined where nothing may be seen that is stored at the path, nor what is shown without it
 */
export async function lookAtSeen<T>(
  site: Site,
  path: string,
  look: (seen: Seen) => Steps<T | undefined>,
  reader?: Reader,
): Promise<T | undefined> {
  let isStored = false
  const noting = (seen: Seen) => {
    isStored = seen.view?.routed !== true
    return look(seen)
  }
  const found = await lookAt(site, path, noting, reader)
  return found !== undefined || !isStored ? found : lookAt(site, path, look, reader, true)
}

/** For work that has shown not to be short, whatever the length of its text. */
const LONG = 128 * 1024

/** Whether nothing in a document is a directive or the value of a read resolver: a whole read answers the stored bytes (COMP-2). */
export function isPlain({ model }: Pick<Site, 'model'>, file: StoredFile): boolean {
  const { kind, profile } = file
  if (kind === 'blob' || !profile || (profile.namespaces.length === 0 && profile.types.length === 0)) return true
  const before = known.get(file)
  if (before?.model === model) return before.plain
  const plain =
    !profile.namespaces.some(uri => isLive(uri, model, kind)) && !profile.types.some(type => hasResolvers(model, type))
  known.set(file, { model, plain })
  return plain
}
