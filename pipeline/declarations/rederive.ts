/**
 * Brings derived data up to date when what it is derived by has changed: the vocabulary's base URI, or this release, which
 * may know a kind of declarations that the site was stored without.
 */

import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { OUTDATED } from '../store/derivation.ts'
import type { SiteStore } from '../store/store.ts'
import { decode, parsingDocument } from '../tree/document.ts'
import { inTurns } from '../tree/steps.ts'
import { parseForStorage, storedForm } from './derive.ts'
import type { Derivation } from './kind.ts'
import { KIND_NAMES, KINDS, type KindName, subtypesOfKind } from './kinds.ts'
import { extractInTurns, holdersOf, rewrittenDeclarations } from './retype.ts'

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
  /** Kinds that have never been derived, or in another form. */
  kinds: ReadonlySet<KindName>
  /** The basis once all of it is done; undefined when nothing is to be done. */
  basis: string | undefined
}

/** @param stored as it was last written; undefined for a new site */
export function outdated(stored: string | undefined, { ns, schemaHost }: Vocabulary): Outdated {
  const common = `${FORM} ${ns} ${schemaHost}`
  const isSame = stored === common || stored?.startsWith(`${common} `) === true
  const listed = isSame ? stored.slice(common.length).split(' ').filter(Boolean) : []
  const known = isSame && listed.length === 0 ? FIRST_KINDS : listed
  const missing = KIND_NAMES.filter(name => !known.includes(formOf(name)))
  if (isSame && missing.length === 0) return { all: false, kinds: new Set(), basis: undefined }
  // A newer release, which may share the store, knows kinds that this one does not.
  const others = known.filter(form => !KIND_NAMES.some(name => form.startsWith(`${name}/`)))
  const basis = [common, ...KIND_NAMES.map(formOf), ...others].join(' ')
  return { all: !isSame, kinds: new Set(isSame ? missing : []), basis }
}

function formOf(name: KindName): string {
  return `${name}/${KINDS[name].form}`
}

/**
 * Derives everything again; kinds of declarations by built-in types alone.
 *
 * @param report told at the beginning and now and then, for the log: all documents of the site are parsed
 */
export async function rederiveAll(store: SiteStore, vocabulary: Vocabulary, report: Report): Promise<void> {
  let documents = 0
  for await (const resource of store.walk('/')) {
    const kind = kindOf(resource.type)
    if (resource.kind !== 'document' || kind === 'blob') continue
    if (documents++ % 1000 === 0)
      report('Reading all documents again, because the vocabulary has changed', { documents })
    const body = await store.body(resource)
    if (!body || !('bytes' in body)) continue
    await unlessOverLimit(resource.path, report, async () => {
      const { derived, entries } = storedForm((await parseForStorage(body.bytes, kind, vocabulary)).derived)
      await store.derive(resource, derived, entries)
    })
  }
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
    const { text } = decode(body.bytes)
    await unlessOverLimit(path, report, async () => {
      const tree = await inTurns(parsingDocument(kind, text), text.length)
      const declares = await extractInTurns(path, tree, name, derivation)
      await store.derive(resource, rewrittenDeclarations(declares, [name]))
    })
  }
}

/**
 * Derives again what was written by another derivation than the tables of the store are made for: by servers of the release
 * before, while they are replaced one after the other. Counters rise where declarations come out of it.
 *
 * @param report told of documents whose items cannot be read
 * @returns paths of the documents that were concerned
 */
export async function deriveOutdated(store: SiteStore, derivation: Derivation, report: Report): Promise<Set<string>> {
  const found = new Map<string, number>()
  for await (const { path, version } of store.allDerived(OUTDATED)) found.set(path, version)
  for (const [path, version] of found) {
    const resource = await store.find(path)
    const body = resource && (await store.body(resource))
    if (resource?.version !== version || !body) continue
    const kind = kindOf(resource.type)
    const derived: Record<string, string> = { [OUTDATED]: 'null' }
    const raises: KindName[] = []
    if ('bytes' in body && kind !== 'blob')
      await unlessOverLimit(path, report, async () => {
        const parsed = await parseForStorage(body.bytes, kind, derivation)
        Object.assign(derived, storedForm(parsed.derived).derived)
        for (const name of KIND_NAMES) {
          const before = await store.derived(path, name)
          if (before !== undefined) derived[name] ??= 'null'
          if (derived[name] !== before) raises.push(name)
        }
      })
    // Whoever has written it anew since has said so in a commit of theirs.
    await store.commit({ changes: [{ op: 'derive', path, expect: version, derived }], raises })
  }
  return new Set(found.keys())
}

async function unlessOverLimit(path: string, report: Report, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    report('A stored document breaks a limit', { path, reason: error.message })
  }
}
