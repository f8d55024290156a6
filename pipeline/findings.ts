/** What the declarations of a site do not say although they seem to: told to whoever stores them, and to those who ask. */

import { foldersAlone } from './access/folder-alone.ts'
import type { RuleFinding } from './access/rules.ts'
import { type Profile, readForStorage, slipsIn } from './declarations/derive.ts'
import type { Slips } from './declarations/fields.ts'
import { KIND_NAMES, mayDeclare } from './declarations/kinds.ts'
import { LEFT_OUT } from './declarations/limited.ts'
import { isMeant, misspelt, toldSlips } from './declarations/misspelt.ts'
import { toldUnsigned } from './declarations/unsigned.ts'
import { Fault } from './fault.ts'
import { Allowance } from './language/allowance.ts'
import { isSpent } from './model/code.ts'
import type { RawCode, RawDeclarations } from './model/declarations.ts'
import { shown } from './model/violations.ts'
import type { RawAction, RawReactions, RawValue } from './react/declared/extract.ts'
import type { Site } from './site/site.ts'
import type { StoredFile } from './site/stored-file.ts'
import { TurnsBetween } from './tree/steps.ts'

/** Findings of one sort that an answer tells of. */
const MOST_TOLD = 10

/** Pieces of code of one document that are looked at. */
const MOST_CODE = 200

/**
 * Everything that the author of a document should know about its declarations; what memory has of it is asked alone.
 *
 * @param readsAll whether what the other documents of the site hold may be told
 */
export async function findingsAt(site: Site, path: string, readsAll: boolean): Promise<unknown[]> {
  const { profile } = site.inMemory(path) ?? {}
  const slips = slipsIn(profile)
  return [
    ...KIND_NAMES.flatMap((name): readonly unknown[] => site.declarations(name).findings(path)),
    ...misspelt(site, path, profile?.types ?? []),
    ...(slips ? toldSlips(site, path, slips) : []),
    ...(await brokenCode(site, path)),
    ...(readsAll ? await besideDocuments(site, path) : []),
  ]
}

/** What depends on the documents that a site has. */
async function besideDocuments(site: Site, path: string): Promise<string[]> {
  const access = site.rules.document(path)
  const declared = {
    access,
    model: site.model.document(path),
    reactions: site.declarations('reactions').document(path),
  }
  try {
    return [
      ...(await toldUnsigned(declared, site.selectors, needs => site.documentsWith(needs))),
      ...(access ? await foldersAlone(access, folder => hasPageAlone(site, folder)) : []),
    ]
  } catch {
    // That cannot be found out: the document is stored all the same.
    return []
  }
}

async function hasPageAlone({ store }: Site, folder: string): Promise<boolean> {
  let isThere = false
  for await (const { path } of store.walk(folder)) {
    if (path !== `${folder}index.html`) return false
    isThere = true
  }
  return isThere
}

/** Milliseconds for which the code of one document is looked at: whoever has stored it waits for the answer. */
const LONGEST_LOOK = 1000

/** What was found out about the code of a document, by what it declares. */
const looked = new WeakMap<object, readonly string[]>()

/** Code of the declarations of a document that cannot run: without a source, or not to be compiled (MOD-7, REA-1). */
async function brokenCode(site: Site, path: string): Promise<readonly string[]> {
  const found: string[] = []
  const model = site.model.document(path)
  const reactions = site.declarations('reactions').document(path)
  if (model) found.push(...(await lookedAt(site, model, codeOfModel(model))))
  if (reactions) found.push(...(await lookedAt(site, reactions, codeOfReactions(reactions))))
  return found
}

async function lookedAt(
  site: Site,
  raw: object,
  code: Iterable<readonly [place: string, code: RawCode]>,
): Promise<readonly string[]> {
  const before = looked.get(raw)
  if (before) return before
  const found: string[] = []
  const host = site.code(new Allowance({ time: LONGEST_LOOK }, site))
  const whyBroken = async (code: RawCode): Promise<string | undefined> => {
    if (code.source.trim() === '') return 'has no source: nothing runs'
    try {
      const failure = await host.uncompiled(code)
      if (failure && isSpent(failure)) return 'unknown'
      if (failure) return `does not parse: ${failure.message}`
      // Nothing else can name it: what has the word may still have none.
      const mayRun = code.type !== `${site.settings.ns}/JavaScript/Module` || /\bdefault\b/.test(code.source)
      return mayRun ? undefined : 'has no default export: nothing runs'
    } catch {
      // The document is stored, whatever becomes of a look at it.
      return 'unknown'
    }
  }
  let count = 0
  for (const [place, each] of code) {
    if (count++ === MOST_CODE) break
    const reason = isLanguage(site, each) ? await whyBroken(each) : `is of the type ${shown(each.type)}, which is none`
    // What time does not suffice for is not looked at again and again.
    if (reason === 'unknown') break
    if (reason !== undefined) found.push(`the code of ${place} ${reason}`)
  }
  looked.set(raw, found)
  return found
}

/** Whether somebody runs code of a type; a bare script has none. */
function isLanguage({ settings: { ns } }: Site, { type }: RawCode): boolean {
  return ['', `${ns}/Sessel`, `${ns}/Sessel/Lambda`, `${ns}/JavaScript/Module`].includes(type)
}

type Placed = readonly [place: string, code: RawCode]

function* codeOfModel({ schemas }: RawDeclarations): Generator<Placed> {
  for (const { type, validate, properties, methods } of schemas) {
    const within = (slot: string, name: string) => `${slot} of ${shown(name)} in the schema of ${shown(type)}`
    if (validate) yield [`@validate in the schema of ${shown(type)}`, validate]
    for (const property of properties) {
      const { name, default: given, write, read, computed } = property
      if (given && 'source' in given) yield [within('default', name), given]
      if (property.validate) yield [within('@validate', name), property.validate]
      if (write) yield [within('@write', name), write]
      if (read) yield [within('@read', name), read]
      if (computed) yield [within('@computed', name), computed]
    }
    for (const { name, implementation } of methods) yield [within('the method', name), implementation]
  }
}

function* codeOfReactions({ reactions, handlers }: RawReactions): Generator<Placed> {
  for (const [i, { kind, when, action, otherwise }] of reactions.entries()) {
    const within = (slot: string) => `"${slot}" of reaction ${i + 1}, a ${kind}`
    for (const code of when) yield [within('when'), code]
    for (const each of action) yield* codeOfAction(each, within('action'))
    for (const each of otherwise) yield* codeOfAction(each, within('otherwise'))
  }
  for (const { property, when } of handlers)
    for (const code of when) yield [`"when" of a transition handler of ${shown(property)}`, code]
}

function* codeOfAction(action: RawAction, place: string): Generator<Placed> {
  if (!('properties' in action)) return yield [place, action]
  for (const [name, value] of action.properties) {
    const values: readonly RawValue[] =
      name !== 'header' ? [value] : 'line' in value ? [value.line] : value.pair.map(([, part]) => part)
    for (const each of values) if (typeof each !== 'string') yield [`${name} in ${place}`, each]
  }
}

/** SEC-10. */
function leftOutFindings(site: Site): string[] {
  return firstOf([...site.leftOut()].sort(), path => `${path}: ${LEFT_OUT}`, ' such documents')
}

/** What of the site's schemas means nothing, or something else than it seems to. */
function modelFindings(site: Site): string[] {
  return firstOf(site.model.allFindings(), ({ path, reason }) => `${path}: ${reason}`, ' in schemas')
}

function reactionFindings(site: Site): string[] {
  const findings = site.declarations('reactions').allFindings()
  return firstOf(findings, ({ path, reason }) => `${path}: ${reason}`, ' in reactions')
}

/** What was found out about documents that this process has not written. */
const reread = new WeakMap<StoredFile, Slips>()

/**
 * Item types and fields that may be meant as others, and code that cannot run.
 *
 * @param most documents that are looked at, and a tenth of them read; all if not given
 */
async function writtenFindings(site: Site, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const findings: string[] = []
  const turns = new TurnsBetween()
  const bare = await bareTypes(site, most)
  let looked = 0
  let read = 0
  for await (const { path, value } of site.store.allDerived('profile')) {
    if (looked++ === most) break
    await turns.next()
    const types = typesIn(value)
    const told = misspelt(site, path, types)
    const known = new Set(types)
    const mayHold = bare.get(path)?.some(type => !known.has(type)) === true
    if ((mayHold || KIND_NAMES.some(name => mayDeclare(name, known, site.derivation))) && read++ < most / 10) {
      const slips = await slipsOf(site, path)
      if (slips) told.push(...toldSlips(site, path, slips))
      told.push(...(await brokenCode(site, path)), ...(await besideDocuments(site, path)))
    }
    findings.push(...told.map(reason => `${path}: ${reason}`))
  }
  return firstOf(findings, told => told, ' item types, fields, selectors, folders and pieces of code')
}

/** Types that documents name, and that would declare something if they stood where items are. */
async function bareTypes(site: Site, most: number): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const turns = new TurnsBetween()
  let looked = 0
  for await (const { path, value } of site.store.allDerived('tokens')) {
    if (looked++ === most) break
    await turns.next()
    if (!value.includes('"type:')) continue
    const types = tokensIn(value).flatMap(token => (token.startsWith('type:') ? [token.slice('type:'.length)] : []))
    const meant = types.filter(type => isMeant(type, site.settings))
    if (meant.length > 0) found.set(path, meant)
  }
  return found
}

/** @returns undefined for what is gone, or cannot be read */
async function slipsOf(site: Site, path: string): Promise<Slips | undefined> {
  const file = await site.find(path)
  if (!file || file.kind === 'blob' || !file.bytes) return undefined
  const { subtypes } = site.derivation
  const known = [reread.get(file), slipsIn(file.profile)].find(slips => slips?.subtypes === subtypes)
  if (known) return known
  try {
    const { derived } = await readForStorage(file.bytes, file.kind, site.derivation)
    const slips = slipsIn(derived.profile) ?? { fields: [], bare: [], subtypes }
    reread.set(file, slips)
    return slips
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

function tokensIn(value: string): readonly string[] {
  try {
    return JSON.parse(value) as string[]
  } catch {
    return []
  }
}

/** What is damaged says nothing; the check tells of it. */
function typesIn(profile: string): readonly string[] {
  try {
    return (JSON.parse(profile) as Profile).types
  } catch {
    return []
  }
}

/**
 * Everything about the declarations of a site that its authors should know.
 *
 * @param most as of `writtenFindings`
 */
export async function siteFindings(site: Site, most?: number): Promise<string[]> {
  return [
    ...(await writtenFindings(site, most)),
    ...leftOutFindings(site),
    ...toldFindings(await ruleFindings(site)),
    ...modelFindings(site),
    ...reactionFindings(site),
  ]
}

async function ruleFindings({ rules }: Site): Promise<RuleFinding[]> {
  const found: RuleFinding[] = []
  const turns = new TurnsBetween()
  for (const path of rules.documentsUnder('/')) {
    await turns.next()
    found.push(...rules.findings(path))
  }
  return found
}

function toldFindings(findings: readonly RuleFinding[]): string[] {
  const name = (order: number | undefined) => (order === undefined ? 'A group' : `Rule ${order + 1}`)
  return firstOf(findings, ({ document, order, reason }) => `${name(order)} of ${document}: ${reason}`, '')
}

/** The first findings of one sort, and how many more there are. @param what they are, behind their number */
function firstOf<T>(findings: readonly T[], tell: (finding: T) => string, what: string): string[] {
  const told = findings.slice(0, MOST_TOLD).map(tell)
  const more = findings.length - told.length
  return more > 0 ? [...told, `And ${more} more${what}.`] : told
}
