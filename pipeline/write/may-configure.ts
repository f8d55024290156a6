/** Keeps those who may write files, but not configure the site, from doing so by the files that they write (SEC-10). */

import { KIND_NAMES, KINDS } from '../declarations/kinds.ts'
import { holdersOf } from '../declarations/retype.ts'
import { isSessel } from '../evaluation/schemas.ts'
import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import { namesRelatively } from '../language/sessel/sessel.ts'
import type { RawCode } from '../model/declarations.ts'
import type { Site, WrittenDocument } from '../site/site.ts'
import type { Change } from '../store/commit.ts'
import { parentOf } from '../store/paths.ts'
import { decodeInTurn, parsingDocument } from '../tree/document.ts'
import { typesOf } from '../tree/microdata.ts'
import { type ChildNode, isElement, type TreeDocument } from '../tree/nodes.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { inTurns, NODES_PER_STEP, type Steps, TurnsBetween } from '../tree/steps.ts'
import { configurationTypes, configures } from './configuration.ts'
import type { Consequences } from './consequences.ts'

/** Configuration items of a document that stand in no other one: their types and their markup. */
type Items = readonly { type: string; markup: string }[]

/** Where a document comes to stand, and the type that it is stored with. */
interface WrittenPlace {
  path: string
  type: string | undefined
}

/** Changes, and the documents that they put. */
interface Changing {
  changes: readonly Change[]
  written: readonly WrittenDocument[]
}

/** The documents that are put, by path: a write with what follows from it may put thousands. */
type Written = ReadonlyMap<string, WrittenDocument>

/**
 * @param own what a write changes by itself
 * @param follows what changes with it elsewhere, by references of the data model
 * @throws Fault 403 where a configuration item would come, go or change; it names the item
 */
export async function refuseConfiguring(site: Site, own: Changing, follows?: Changing): Promise<void> {
  await refuseTouching(site, own)
  if (!follows || follows.changes.length === 0) return
  try {
    await refuseTouching(site, follows)
  } catch (error) {
    // The path may be one that the credential does not open.
    if (error instanceof Touching) throw new Touching(error.what, 'a document that refers to what it changes')
    throw error
  }
}

/**
 * The same for what follows from a write that rules decide: nobody changes by reference what they may not PUT (SEC-8).
 *
 * @param own what the write changes by itself; what follows may change that further
 * @param mayPut whether a document may be PUT as a whole
 * @throws Fault 409
 */
export async function refuseFollowing(
  site: Site,
  own: Changing,
  follows: Pick<Consequences, 'changes' | 'written' | 'own'>,
  mayPut: (path: string) => boolean,
): Promise<void> {
  const further = own.changes.filter(change => change.op === 'put' && follows.own.has(change.path))
  const changes: Change[] = []
  const turns = new TurnsBetween()
  for (const change of [...further, ...follows.changes]) {
    await turns.next()
    if (!('path' in change && mayPut(change.path))) changes.push(change)
  }
  if (changes.length === 0) return
  try {
    await refuseTouching(site, { changes, written: [...own.written, ...follows.written] })
  } catch (error) {
    if (error instanceof Touching)
      throw new Fault(
        409,
        'Conflict',
        `This write changes what configuration of the site refers to (${error.what}); that needs the right to PUT that as well.`,
      )
    throw error
  }
}

async function refuseTouching(site: Site, { changes, written: documents }: Changing): Promise<void> {
  // Of two with one path the first is the one that counts.
  const written = new Map(documents.toReversed().map(document => [document.path, document]))
  const turns = new TurnsBetween()
  for (const change of changes) {
    await turns.next()
    if (change.op === 'put') await refuseReplaced(site, change, written)
    else if (change.op === 'delete') await refuseLost(site, change.path)
    else if (change.op === 'move' || change.op === 'copy') {
      const { op, from, to, type } = change
      await refuseLost(site, to)
      if (op === 'copy') await refuseBrought(site, { path: to, type }, written)
      else if (!from.endsWith('/')) await refuseChanged(site, from, { path: to, type }, written)
      if (op === 'move' || change.deep || !from.endsWith('/')) await refuseCarried(site, change)
      if (op === 'move') {
        const preferred = await inTurns(findingPreferred(site, change), 0)
        if (preferred !== undefined) throw new Touching('model', preferred)
        refuseReordered(site, change)
        await refuseElsewhere(site, change)
      }
    }
  }
}

/** What is put in the place of a document and is none holds nothing of what that held. */
async function refuseReplaced(site: Site, place: WrittenPlace, written: Written): Promise<void> {
  const { path } = place
  if (written.has(path)) await refuseChanged(site, path, place, written)
  else await refuseLost(site, path)
}

/** A new version of a document must hold the same items, and declare the same by them. */
async function refuseChanged(
  site: Site,
  from: string,
  { path: to, type }: WrittenPlace,
  written: Written,
): Promise<void> {
  const after = written.get(to)
  if (!after || (!site.counts(from) && !site.counts(to))) return
  const before = await itemsAt(site, from)
  const now =
    site.counts(to) && configures(site, after.profile?.types ?? [])
      ? await itemsOf(site, await parsed(type, after))
      : []
  const changed = now.find(({ markup }, at) => markup !== before[at]?.markup) ?? before[now.length]
  if (changed) throw new Touching(changed.type, to)
  for (const name of KIND_NAMES) {
    const same = KINDS[name].sameAsWritten(after.declares[name], site.declarations(name).document(from))
    if (!same) throw new Touching(name, to)
  }
}

/** A file that becomes a document by its copy's name must hold no items (SEC-9). */
async function refuseBrought(site: Site, { path: to, type }: WrittenPlace, written: Written): Promise<void> {
  const after = written.get(to)
  if (!after || !site.counts(to) || !configures(site, after.profile?.types ?? [])) return
  const [item] = await itemsOf(site, await parsed(type, after))
  if (item) throw new Touching(item.type, to)
}

/** What is copied counts twice, and what is moved to where nothing counts, or from there, counts no more, or now. */
async function refuseCarried(site: Site, { op, from, to }: Extract<Change, { op: 'move' | 'copy' }>): Promise<void> {
  for (const [path, type] of await holders(site, from)) {
    const counts = site.counts(to + path.slice(from.length))
    if (op === 'copy' ? counts : counts !== site.counts(path)) throw new Touching(type, path)
  }
}

/**
 * Of several schemas of one type the first by path counts (MOD-6), so that another path may make another one count.
 *
 * @returns the path of one that is concerned
 */
function* findingPreferred(site: Site, { from, to }: Extract<Change, { op: 'move' }>): Steps<string | undefined> {
  const before = site.declarations('model')
  const moved = before.documentsUnder(from).flatMap(path => {
    const raw = before.document(path)
    return raw ? { path, raw } : []
  })
  let after = before
  for (const { path } of moved) after = yield* after.exchanging(path, undefined)
  for (const { path, raw } of moved) after = yield* after.exchanging(to + path.slice(from.length), raw)
  for (const { path, raw } of moved) {
    yield
    const now = after.standingFor(raw)
    if (before.standingFor(raw).some((each, at) => each !== now[at])) return path
  }
  return undefined
}

/** Reactions run by path (REA-11), and who answers first keeps the others from running. */
function refuseReordered(site: Site, { from, to }: Extract<Change, { op: 'move' }>): void {
  const reactions = site.declarations('reactions')
  const moved = new Set(reactions.documentsUnder(from))
  if (moved.size === 0) return
  const places = reactions
    .documentsUnder('/')
    .map(path => ({ path, bytes: Buffer.from(path), after: moved.has(path) ? to + path.slice(from.length) : path }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  places.reduce((one, other) => {
    if (Buffer.compare(Buffer.from(one.after), Buffer.from(other.after)) < 0) return other
    throw new Touching('reactions', moved.has(one.path) ? one.path : other.path)
  })
}

/** What code of one request shares. */
const CONTEXT = 'Context'

/** Code looks beside its document for what it names relatively (SES-125), so that in another folder it may find something else. */
async function refuseElsewhere(site: Site, { from, to }: Extract<Change, { op: 'move' }>): Promise<void> {
  if (!from.endsWith('/') && parentOf(from) === parentOf(to)) return
  const { ns } = site.settings
  const isRelative = async ({ type, source }: RawCode) =>
    isSessel(type, ns) && (await inTurns(namesRelatively(source, ns), source.length))
  let known: Promise<boolean> | undefined
  // Code of schemas looks beside the document of whatever calls it.
  const mayCall = () => (known ??= some(codeToCall(site), isRelative))
  let left: Promise<boolean> | undefined
  // So does what other code of the request has left in `Context` (REA-43).
  const mayFind = async () => (await mayCall()) || (left ??= some(codeToLeave(site), isRelative))
  const looks = async (code: RawCode) => {
    if (await isRelative(code)) return true
    if (!isSessel(code.type, ns)) return false
    return code.source.includes(CONTEXT) ? mayFind() : code.source.includes('@') && mayCall()
  }
  const reactions = site.declarations('reactions')
  for (const path of reactions.documentsUnder(from))
    if (await some(reactions.codeIn(path), looks)) throw new Touching('reactions', path)
  const access = site.declarations('access')
  // Those that decide by themselves do it by code of their schemas, and of what these read, where they stand (GRP-4).
  const decides = async (type: string) => (site.model.schema(type)?.methods.length ?? 0) > 0 && mayCall()
  for (const path of access.documentsUnder(from)) {
    const types = access.document(path)?.groups.flatMap(({ subtypes }) => subtypes) ?? []
    if (await some(types, decides)) throw new Touching('access', path)
  }
}

/** Whether one of a list is found, each in turn with other work. */
async function some<Each>(list: readonly Each[], isFound: (each: Each) => Promise<boolean>): Promise<boolean> {
  const turns = new TurnsBetween()
  for (const each of list) {
    await turns.next()
    if (await isFound(each)) return true
  }
  return false
}

/** Code of schemas that programs run: of methods, and of properties that they read or make. */
function codeToCall(site: Site): RawCode[] {
  const model = site.declarations('model')
  const schemas = model.documentsUnder('/').flatMap(path => model.document(path)?.schemas ?? [])
  return schemas.flatMap(({ methods, properties }) => [
    ...methods.map(({ implementation }) => implementation),
    ...properties.flatMap(({ computed = [], read = [], default: given }) =>
      [computed, read, given && 'source' in given ? given : []].flat(),
    ),
  ])
}

/** Code of reactions that may leave a function to what runs later: it looks from where that stands. */
function codeToLeave(site: Site): RawCode[] {
  const reactions = site.declarations('reactions')
  const all = reactions.documentsUnder('/').flatMap(path => reactions.codeIn(path))
  return all.filter(({ source }) => source.includes(CONTEXT) && source.includes('=>'))
}

async function refuseLost(site: Site, path: string): Promise<void> {
  for (const name of KIND_NAMES) {
    const [document] = site.declarations(name).documentsUnder(path)
    if (document !== undefined) throw new Touching(name, document)
  }
  for (const [document, type] of await holders(site, path))
    if (site.counts(document)) throw new Touching(type, document)
}

/** Documents with configuration items at a path or, for a collection, below it, each with the type of one. */
async function holders(site: Site, path: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  if (!path.endsWith('/')) {
    const file = await site.find(path)
    const type = file?.isDocument && file.profile?.types.find(each => configures(site, [each]))
    return type ? found.set(path, type) : found
  }
  for (const type of configurationTypes(site))
    for (const document of await holdersOf(site.store, [type])) if (document.startsWith(path)) found.set(document, type)
  return found
}

async function itemsAt(site: Site, path: string): Promise<Items> {
  if (!site.counts(path)) return []
  const file = await site.find(path)
  if (!file?.isDocument || !configures(site, file.profile?.types ?? [])) return []
  return itemsOf(site, await site.parsed(file))
}

function itemsOf(site: Site, document: TreeDocument): Promise<Items> {
  return inTurns(finding(site, document), document.source.length)
}

function* finding(site: Site, { root, kind }: TreeDocument): Steps<Items> {
  const found: { type: string; markup: string }[] = []
  const open: ChildNode[] = [...root.childNodes].reverse()
  let seen = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (!isElement(node)) continue
    const types = typesOf(node)
    // It may have thousands.
    seen += 1 + types.length
    if (seen >= NODES_PER_STEP) {
      seen = 0
      yield
    }
    const type = types.find(each => configures(site, [each]))
    if (type !== undefined) found.push({ type, markup: yield* writingMarkup(node, kind) })
    else for (let at = node.childNodes.length - 1; at >= 0; at--) open.push(node.childNodes[at] as ChildNode)
  }
  return found
}

/** As the kind of document that it is stored as: what else it looks like does not matter. */
async function parsed(type: string | undefined, { body }: WrittenDocument): Promise<TreeDocument> {
  const { text } = await decodeInTurn(body.bytes)
  return inTurns(parsingDocument(kindOf(type ?? '') === 'xml' ? 'xml' : 'html', text), text.length)
}

class Touching extends Fault {
  readonly what: string

  /** @param where a path, or what the document is */
  constructor(what: string, where: string) {
    super(
      403,
      'Forbidden',
      `Your credentials may write here but not configure the site, and this write touches ${what} in ${where}.`,
    )
    this.what = what
  }
}
