/** What the command line does to one site without serving it: export, import, explain, query. */

import type { Settings } from '../config/schema.ts'
import { type SiteSettings, siteTable } from '../config/sites.ts'
import { helperNames } from '../dav/places/helper-names.ts'
import { memoryBody } from '../pipeline/body.ts'
import { localLeases } from '../pipeline/coordination/local/leases.ts'
import { checkDeclarations } from '../pipeline/declarations/check.ts'
import { UnreadableDeclarations } from '../pipeline/declarations/rederive.ts'
import { codeHostOf } from '../pipeline/evaluation/languages.ts'
import { answerProgram } from '../pipeline/evaluation/query.ts'
import { scripts } from '../pipeline/evaluation/scripts.ts'
import { explainRequest } from '../pipeline/explain-request.ts'
import { asFault } from '../pipeline/failures.ts'
import { siteFindings } from '../pipeline/findings.ts'
import { Allowance } from '../pipeline/language/allowance.ts'
import { createJavaScript } from '../pipeline/language/javascript/javascript.ts'
import { explainReactions } from '../pipeline/react/explain.ts'
import { entriesOf, FAILED_PREFIX, hostOf, sendAgain, WAITING_PREFIX } from '../pipeline/react/outbound/entry.ts'
import { documentCacheIn } from '../pipeline/site/cache.ts'
import { Site } from '../pipeline/site/site.ts'
import { Unusable } from '../pipeline/store/errors.ts'
import { databaseAddress } from '../pipeline/store/postgres/address.ts'
import { checkDatabase } from '../pipeline/store/postgres/check.ts'
import type { Use } from '../pipeline/store/postgres/claim.ts'
import { checkFolder } from '../pipeline/store/sqlite/check/check.ts'
import type { Store } from '../pipeline/store/store.ts'
import { exportSite } from '../pipeline/store/transfer.ts'
import { watchHeap } from '../pipeline/tree/heap.ts'
import { importFolder } from '../pipeline/write/import.ts'
import type { Commands } from './cli/commands.ts'
import { importDemo } from './demo/import.ts'
import { basisOf, pipelineSettings } from './hosting.ts'
import { createLog } from './log.ts'
import { memoryOf, objectsOf, openStore, requireWhole, useOf } from './open-store.ts'
import { watchOwnHeap } from './rest.ts'

import { half, lockStore, requireOutside, requireStore, stored } from './store-commands.ts'

/** Opens one site for the time of some work. */
async function withSite<T>(
  settings: Settings,
  name: string,
  work: (site: Site, store: Store, settings: SiteSettings) => Promise<T>,
  use?: Use,
): Promise<T> {
  const log = createLog(settings.log, 2)
  const store = await openStore(settings, log, { use })
  const memory = memoryOf(settings)
  watchOwnHeap(memory)
  // No thread is begun before a script runs.
  const javascript = createJavaScript({ workers: 1 })
  try {
    const found = siteTable(settings).siteFor(name)
    if (!found) throw new Error(`No site of the settings answers for ${name}.`)
    const site: Site = await Site.open({
      code: allowance => codeHostOf(() => site, allowance, [scripts(javascript)]),
      settings: pipelineSettings(found),
      store: store.site(found.host),
      leases: localLeases(),
      cache: documentCacheIn(memory),
      basis: basisOf(store, found.host),
      report: () => undefined,
    })
    return await work(site, store, found)
  } finally {
    watchHeap(undefined)
    await javascript.close()
    await store.close()
  }
}

export const exportCommand: Commands['export'] = async (settings, { site: name, directory, progress }) => {
  requireStore(settings)
  await requireOutside(settings, directory)
  const isNamed = siteTable(settings).named.some(({ host }) => host === name)
  // Of hosts that match a pattern each is a site, a mistyped one as well.
  if (!isNamed && !(await stored(settings)).includes(name)) throw new Unusable(`nothing is stored of a site ${name}`)
  return withSite(settings, name, async (site, store) => {
    await requireWhole(settings, store)
    return exportSite(site.store, directory, { progress })
  })
}

export const importCommand: Commands['import'] = async (settings, { site: name, directory, progress }) => {
  const lock = lockStore(settings, 'import')
  try {
    return await withSite(
      settings,
      name,
      async (site, store, { helperFiles }) => {
        await requireWhole(settings, store)
        const report = (done: { files: number }) => progress({ step: 'importing', done: done.files })
        const data = settings.postgres === undefined ? settings.data : undefined
        const helpers = helperNames(helperFiles)
        const isHelper = (path: string) => helpers.of(path) !== undefined
        return importFolder(site, store, directory, { progress: report, data, isHelper })
      },
      useOf(settings),
    )
  } finally {
    lock.release()
  }
}

export const importDemoFiles = (settings: Settings) => withSite(settings, 'localhost', importDemo)

const UNLIKE = 'The rules or models that it declares are not those that were stored of it'

const UNREADABLE = 'What is stored of the rules or models that it declares cannot be read'

const UNFOUND = 'What it is found by is not what it holds'

const UNPARSED = 'Its elements cannot be read any more, and pages that take some of it fail'

/** What is repaired must not be in anybody's memory who does not learn of it. */
export const check: Commands['check'] = async (settings, options) => {
  requireStore(settings)
  if (!options.repair) return checkAll(settings, options)
  const lock = lockStore(settings, 'check --repair')
  try {
    return await checkAll(settings, options, useOf(settings))
  } finally {
    lock.release()
  }
}

/** Has what documents declare and are found by be made anew when their site is opened the next time. */
async function forgetDerived(settings: Settings, name: string, use: Use | undefined): Promise<void> {
  const store = await openStore(settings, createLog(settings.log, 2), { use })
  try {
    await basisOf(store, name).write('')
  } finally {
    await store.close()
  }
}

/** The store first: what documents declare can be told only of one that is sound. */
async function checkAll(settings: Settings, options: Parameters<Commands['check']>[1], use?: Use) {
  const outcome = await checkStore(settings, options, use)
  const { checked, problems, notes } = outcome
  let { repaired } = outcome
  if (problems.length > repaired) return { checked, problems, repaired, notes }
  const unfinished = await half(settings)
  if (unfinished !== undefined) return { checked, problems: [...problems, unfinished], repaired, notes }
  const table = siteTable(settings)
  for (const name of await stored(settings)) {
    if (table.siteFor(name)?.host !== name) continue
    const { repair } = options
    const look = () => withSite(settings, name, site => checkDeclarations(site.store, site.derivation, repair), use)
    const looked = await look().catch(async (error: unknown) => {
      if (!(error instanceof UnreadableDeclarations)) throw error
      problems.push(`${name}${error.path}: ${UNREADABLE}${repair ? ' (repaired)' : ''}`)
      if (!repair) return undefined
      await forgetDerived(settings, name, use)
      repaired++
      return look()
    })
    if (!looked) continue
    const { wrong, unreadable } = looked
    for (const { path, declares } of wrong)
      problems.push(`${name}${path}: ${declares ? UNLIKE : UNFOUND}${repair ? ' (repaired)' : ''}`)
    if (repair) repaired += wrong.length
    const found = await withSite(settings, name, site => siteFindings(site))
    notes.push(...unreadable.map(({ path, reason }) => `${name}: ${path}: ${UNPARSED}. ${reason}`))
    notes.push(...found.map(finding => `${name}: ${finding}`))
  }
  return { checked, problems, repaired, notes }
}

export const explain: Commands['explain'] = async (settings, question) => {
  requireStore(settings)
  return withSite(settings, question.site, site => explainRequest(site, question))
}

export const reactions: Commands['reactions'] = async (settings, { site: name, method, path }) => {
  requireStore(settings)
  return withSite(settings, name, async site => explainReactions(site, method, path))
}

export const outbound: Commands['outbound'] = async (settings, { resend }) => {
  requireStore(settings)
  const store = await openStore(settings, createLog(settings.log, 2))
  try {
    const again = new Set<string>()
    for await (const [key, entry] of entriesOf(store, FAILED_PREFIX)) {
      if (!resend.includes(entry.delivery)) continue
      await store.changeNotes(sendAgain(key, entry, Date.now()))
      again.add(entry.delivery)
    }
    const calls = []
    for (const [prefix, state] of [
      [WAITING_PREFIX, 'waiting'],
      [FAILED_PREFIX, 'failed'],
    ] as const)
      for await (const [, { delivery, site, method, attempts, failure, ...entry }] of entriesOf(store, prefix))
        calls.push({
          delivery,
          site,
          method,
          host: hostOf(entry),
          state,
          attempts,
          ...(failure !== undefined && { failure }),
        })
    return { calls, unknown: resend.filter(id => !again.has(id)) }
  } finally {
    await store.close()
  }
}

export const query: Commands['query'] = async (settings, { site: name, path, program }) => {
  requireStore(settings)
  return withSite(settings, name, async site => {
    const asked = {
      site,
      allowance: new Allowance(),
      path,
      bounds: () => ({ scope: path, covers: () => true }),
      names: async () => new Map(),
      range: undefined,
      conditions: undefined,
      atOneMoment: <T>(read: () => Promise<T>) => read(),
    }
    const { headers, body } = await answerProgram(asked, memoryBody(Buffer.from(program))).catch(error => {
      throw asFault(error)
    })
    return {
      text: typeof body === 'string' ? body : '',
      isMarkup: headers['Content-Type']?.startsWith('text/html') === true,
    }
  })
}

/** `scriptorium check` of bytes, sums and rows of whichever store the settings name; what the documents of sites declare is not looked at. */
async function checkStore(settings: Settings, options: Parameters<Commands['check']>[1], use: Use | undefined) {
  const address = settings.postgres === undefined ? undefined : databaseAddress(settings.postgres)
  if (!address) {
    const { checked, findings, problems, repaired } = await checkFolder(settings.data, options)
    const isNote = (_problem: string, i: number) => findings[i]?.isLeft === true && !findings[i].repaired
    const notes = problems.filter(isNote).map(note => `${note}; the next server removes it`)
    return { checked, problems: problems.filter((problem, i) => !isNote(problem, i)), repaired, notes }
  }
  const objects = await objectsOf(settings)
  try {
    const notes: string[] = []
    return { ...(await checkDatabase(address, { ...options, objects, ...(use && { use }) })), notes }
  } finally {
    objects?.close()
  }
}
