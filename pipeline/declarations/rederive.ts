/**
 * Brings derived data up to date when what it is derived by has changed: the vocabulary's base URI, or this release, which
 * may know a kind of declarations that the site was stored without.
 */

import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { OUTDATED } from '../store/derivation.ts'
import { Unusable } from '../store/errors.ts'
import type { Entry, Resource } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import { decodeInTurn, parsingDocument } from '../tree/document.ts'
import { CONFIGURATION_NAMES } from '../tree/microdata-value.ts'
import { inTurns } from '../tree/steps.ts'
import { NO_ITEMS, parseForStorage, readForStorage, storedForm } from './derive.ts'
import type { Derivation } from './kind.ts'
import { KIND_NAMES, KINDS, type KindName, subtypesOfKind } from './kinds.ts'
import { extractInTurns, holdersOf, rewrittenDeclarations } from './retype.ts'

/** What is stored of the declarations of a document is damaged. The document may be whole: it is derived again with the basis. */
export class UnreadableDeclarations extends Unusable {
  readonly path: string

  constructor(path: string, cause: Error) {
    super(`What is stored of the declarations of ${path} cannot be read; “check --repair” makes it anew`, { cause })
    this.path = path
  }
}

/** Where a site remembers by what its derived data was made. */
export interface Basis {
  read(): Promise<string | undefined>
  write(basis: string): Promise<void>
}

/** Rises whenever derived data that belong to no kind of declarations get another form or meaning. */
const FORM = 3
/** The kinds of stores that do not say by which kinds they were made. */
const FIRST_KINDS = ['model/1', 'access/1']

type Report = (message: string, details: object) => void

/** What has to be derived again before the declarations of a site can be put together. */
export interface Outdated {
  /** Everything; kinds of declarations by built-in types alone. */
  all: boolean
  /** Path behind which everything goes on that was interrupted. */
  after?: string
  /** The vocabulary that alone has changed since: only documents with its types or those of the new one are concerned. */
  before?: Vocabulary
  /** Kinds that have never been derived, or in another form. */
  kinds: ReadonlySet<KindName>
  /** The basis once all of it is done; undefined when nothing is to be done. */
  basis: string | undefined
}

/** @param stored as it was last written; undefined for a new site */
export function outdated(stored: string | undefined, { ns, schemaHost }: Vocabulary): Outdated {
  const common = `${FORM} ${ns} ${schemaHost}`
  const [form, storedNs, storedHost, ...listed] = stored?.split(' ') ?? []
  const isFormed = form === String(FORM) && storedNs !== undefined && storedHost !== undefined
  const known = isFormed && listed.length === 0 ? FIRST_KINDS : isFormed ? listed : []
  const missing = KIND_NAMES.filter(name => !known.includes(formOf(name)))
  const isSame = isFormed && storedNs === ns && storedHost === schemaHost
  if (isSame && missing.length === 0) return { all: false, kinds: new Set(), basis: undefined }
  // A newer release, which may share the store, knows kinds that this one does not.
  const others = known.filter(form => !KIND_NAMES.some(name => form.startsWith(`${name}/`)))
  const basis = [common, ...KIND_NAMES.map(formOf), ...others].join(' ')
  if (!isFormed) return { all: true, ...interrupted(stored, basis), kinds: new Set(), basis }
  const before = isSame ? {} : { before: { ns: storedNs, schemaHost: storedHost } }
  return { all: false, ...before, kinds: new Set(missing), basis }
}

/** What a site is told of work that is not done yet. No release takes it for a basis. */
interface Mark {
  after: string
  /** What it was to be. */
  basis: string
}

function interrupted(stored: string | undefined, basis: string): { after?: string } {
  if (!stored?.startsWith('{')) return {}
  const mark = JSON.parse(stored) as Mark
  return mark.basis === basis ? { after: mark.after } : {}
}

function formOf(name: KindName): string {
  return `${name}/${KINDS[name].form}`
}

/** Documents whose derived data are written at once, as they share transactions, and bytes of theirs at which it is fewer. */
const AT_ONCE = 64
const BYTES_AT_ONCE = 4 * 1024 * 1024

/** Documents after which the store is told how far this has come. */
const MARKED = 1024

/** Documents that are written at once: each is kept, with what was made of it, until it is. */
class Together {
  #ready: (() => Promise<unknown>)[] = []
  #bytes = 0

  async add({ size }: Resource, write: () => Promise<unknown>): Promise<void> {
    this.#ready.push(write)
    this.#bytes += size
    if (this.#ready.length === AT_ONCE || this.#bytes >= BYTES_AT_ONCE) await this.write()
  }

  async write(): Promise<void> {
    this.#bytes = 0
    await Promise.all(this.#ready.splice(0).map(each => each()))
  }
}

/** Milliseconds between lines of the log. */
const TOLD = 60_000

/** Tells the log how many documents were read, every minute. */
function telling(report: Report): (documents: number) => void {
  let told = Date.now()
  return documents => {
    if (Date.now() - told < TOLD) return
    told = Date.now()
    report('Reading documents again', { documents })
  }
}

/** How far everything has been derived again. */
export interface Progress {
  /** Path behind which it goes on; everything when missing. */
  after?: string | undefined
  /** Keeps what it has come to. */
  mark(after: string): Promise<void>
}

/**
 * Derives everything again; kinds of declarations by built-in types alone.
 *
 * @param report told at the beginning, every minute and at the end, for the log: all documents of the site are read
 */
export async function rederiveAll(
  store: SiteStore,
  vocabulary: Vocabulary,
  report: Report,
  { after, mark }: Progress,
): Promise<void> {
  const declaring = await declaringDocuments(store)
  const from = after === undefined ? undefined : Buffer.from(after)
  let documents = 0
  const tell = telling(report)
  const together = new Together()
  for await (const resource of store.walk('/')) {
    if (resource.kind !== 'document' || kindOf(resource.type) === 'blob') continue
    if (from && Buffer.compare(Buffer.from(resource.path), from) <= 0) continue
    if (documents++ === 0) report('Reading all documents again, to know what they hold and declare', { after })
    for (const write of await derivedAgain(store, resource, declaring, vocabulary, report))
      await together.add(resource, write)
    if (documents % MARKED === 0) {
      await together.write()
      await mark(resource.path)
    }
    tell(documents)
  }
  await together.write()
  if (documents > 0) report('All documents were read again', { documents })
}

/**
 * As `rederiveAll` for the documents that a change of the vocabulary concerns: those with items of the server's own types,
 * by the old names or the new ones, and those that declare something.
 */
export async function rederiveRenamed(
  store: SiteStore,
  before: Vocabulary,
  now: Vocabulary,
  report: Report,
): Promise<void> {
  const types = [before, now].flatMap(vocabulary => [
    ...KIND_NAMES.flatMap(name => KINDS[name].types(vocabulary)),
    ...[...CONFIGURATION_NAMES].map(name => `${vocabulary.ns}/${name}`),
  ])
  const declaring = await declaringDocuments(store)
  const holders = new Set([...(await holdersOf(store, new Set(types))), ...declaring])
  if (holders.size > 0)
    report('Reading documents again, because the vocabulary has changed', { documents: holders.size })
  for (const path of holders) {
    const resource = await store.find(path)
    if (resource) for (const write of await derivedAgain(store, resource, declaring, now, report)) await write()
  }
}

/** Documents that declare something by what is stored. */
async function declaringDocuments(store: SiteStore): Promise<Set<string>> {
  const paths = new Set<string>()
  for (const name of KIND_NAMES) for await (const { path } of store.allDerived(name)) paths.add(path)
  return paths
}

/**
 * What writes the derived data of a document that is read again; nothing where that cannot be.
 *
 * @param declaring loses what it declared and does not declare any more
 */
async function derivedAgain(
  store: SiteStore,
  resource: Resource,
  declaring: ReadonlySet<string>,
  vocabulary: Vocabulary,
  report: Report,
): Promise<(() => Promise<void>)[]> {
  const kind = kindOf(resource.type)
  const body = await store.body(resource)
  if (!body || !('bytes' in body) || kind === 'blob') return []
  const writes: (() => Promise<void>)[] = []
  await unlessOverLimit(resource.path, report, async () => {
    const { derived, entries } = storedForm((await readForStorage(body.bytes, kind, vocabulary)).derived)
    if (declaring.has(resource.path)) for (const name of KIND_NAMES) derived[name] ??= 'null'
    const items = await noItems(store, resource.path)
    writes.push(() => store.derive(resource, { ...items, ...derived }, entries))
  })
  return writes
}

/**
 * Derives one kind of declarations again, for the documents that may have some: those with items of its types, and those
 * that had some.
 *
 * @param name the kinds before it are up to date
 * @param what all of it, or only what is declared by the types that schemas make
 * @param report told of documents whose items cannot be read
 */
export async function rederiveKind(
  store: SiteStore,
  name: KindName,
  derivation: Derivation,
  what: 'all' | 'subtypes',
  report: Report,
): Promise<void> {
  const subtypes = subtypesOfKind(name, derivation, derivation.subtypes)
  const holders = await holdersOf(store, what === 'all' ? [...KINDS[name].types(derivation), ...subtypes] : subtypes)
  if (what === 'all') for await (const { path } of store.allDerived(name)) holders.add(path)
  for (const path of holders) {
    const resource = await store.find(path)
    const body = resource && (await store.body(resource))
    const kind = resource && kindOf(resource.type)
    if (!body || !('bytes' in body) || !kind || kind === 'blob') continue
    const { text } = await decodeInTurn(body.bytes)
    await unlessOverLimit(path, report, async () => {
      const tree = await inTurns(parsingDocument(kind, text), text.length)
      const declares = await extractInTurns(path, tree, [name], derivation)
      await store.derive(resource, rewrittenDeclarations(declares, [name]))
    })
  }
}

/**
 * Derives again what was written by another derivation than the tables of the store are made for: by servers of the release
 * before, while they are replaced one after the other. Counters rise where declarations come out of it.
 *
 * @param report told of many at the beginning, every minute, and of documents whose items cannot be read
 * @returns paths of the documents that were concerned
 */
export async function deriveOutdated(store: SiteStore, derivation: Derivation, report: Report): Promise<Set<string>> {
  const found = new Map<string, number>()
  for await (const { path, version } of store.allDerived(OUTDATED)) found.set(path, version)
  const documents = found.size
  if (documents >= AT_ONCE) report('Reading documents again that another release has stored', { documents })
  const together = new Together()
  const tell = telling(report)
  let read = 0
  for (const [path, version] of found) {
    tell(read++)
    const resource = await store.find(path)
    const body = resource && (await store.body(resource))
    if (resource?.version !== version || !body) continue
    const kind = kindOf(resource.type)
    const derived: Record<string, string> = { [OUTDATED]: 'null' }
    const raises: KindName[] = []
    let entries: readonly Entry[] | undefined
    if ('bytes' in body && kind !== 'blob')
      await unlessOverLimit(path, report, async () => {
        const parsed = await parseForStorage(body.bytes, kind, derivation)
        const form = storedForm(parsed.derived)
        Object.assign(derived, await noItems(store, path), form.derived)
        entries = form.entries
        for (const name of KIND_NAMES) {
          const before = await store.derived(path, name)
          if (before !== undefined) derived[name] ??= 'null'
          if (derived[name] !== before) raises.push(name)
        }
      })
    await together.add(resource, async () => {
      if (entries) await store.derive(resource, {}, entries)
      // Whoever has written it anew since has said so in a commit of theirs.
      await store.commit({ changes: [{ op: 'derive', path, expect: version, derived }], raises })
    })
  }
  await together.write()
  return new Set(found.keys())
}

/** What takes the place of items that a document may not have any more. */
async function noItems(store: SiteStore, path: string): Promise<{ items?: string }> {
  return (await store.derived(path, 'items')) === undefined ? {} : { items: NO_ITEMS }
}

async function unlessOverLimit(path: string, report: Report, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    report('A stored document breaks a limit', { path, reason: error.message })
  }
}
