/** Settings from command line, environment, file and defaults, in this order of precedence, checked as a whole. */

import { resolve } from 'node:path'
import type { z } from 'zod'
import { TurnsBetween } from '../pipeline/tree/steps.ts'
import { fromEnvironment } from './environment.ts'
import { FileProblem, readSettingsFile } from './file.ts'
import { type Group, holdsSecret, type Outline, outline, outlineAt, type Path, pathText } from './outline.ts'
import { isPlainPassword } from './passwords.ts'
import { hideUrlPasswords } from './redact.ts'
import { type Settings, settingsSchema } from './schema.ts'
import { unreachableEntries } from './sites.ts'
import { nearest } from './suggest.ts'
import { showingUnseen } from './values.ts'
import { type Assignment, assignAll, isMapping, originOf, overlay, type Written, withoutNulls } from './written.ts'

/** Everything that is wrong with the settings, one sentence each: key, value, what was expected and where it stands. */
export class SettingsError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'SettingsError'
    this.problems = problems
  }
}

export interface LoadOptions {
  /** Settings file; none: defaults. */
  file?: string
  /** Environment to take `SCRIPTORIUM_…` from. */
  env?: Record<string, string | undefined>
  /** From the command line; these win over everything. */
  assignments?: readonly Assignment[]
  /** Folder at which relative paths start. */
  cwd?: string
}

export interface LoadedSettings {
  settings: Settings
  /** Sentences for the operator about settings that are allowed, but hardly meant. */
  warnings: string[]
  /** Sentences about what works and could be safer; for whoever starts the server. */
  advice: string[]
  /** No site is configured: `settings.sites` holds the demo site, which answers for every host. */
  firstStart: boolean
}

/** The site of a server that has none configured: one for all hosts, so that it works under any name. */
const DEMO_SITE = { host: '*', name: 'localhost', reference: true }

/** Whoever tries the server saves style sheets and wants to see them; `defaults` may say otherwise (HTTP-150). */
const DEMO_DEFAULTS = { assetMaxAge: '0s' }

/**
 * Loads and checks the settings.
 *
 * @throws SettingsError naming everything that is wrong at once
 */
export async function loadSettings(options: LoadOptions = {}): Promise<LoadedSettings> {
  const turns = new TurnsBetween()
  const { assignments, warnings } = fromEnvironment(options.env ?? {})
  const written = await readFileOrNothing(options.file)
  const wrongPlaces = [assignments, options.assignments ?? []].flatMap(source => assignAll(written, source))
  if (wrongPlaces.length > 0) throw new SettingsError(wrongPlaces)

  const { sites } = written.tree
  const firstStart = sites === undefined || sites === null || (Array.isArray(sites) && sites.length === 0)
  if (firstStart) {
    const { defaults } = written.tree
    const says = isMapping(defaults) && 'assetMaxAge' in defaults
    written.tree.sites = [{ ...DEMO_SITE, ...(says ? {} : DEMO_DEFAULTS) }]
  }

  await turns.next()
  const result = settingsSchema.safeParse(withoutNulls(withDefaults(written.tree)))
  if (!result.success) throw new SettingsError(problemsOf(result.error.issues, written))

  await turns.next()
  const settings = withAbsolutePaths(result.data, options.cwd ?? '.')
  return {
    settings,
    warnings: [...warnings, ...doubts(settings, written, firstStart)],
    advice: plainPasswords(settings, written),
    firstStart,
  }
}

async function readFileOrNothing(file: string | undefined): Promise<Written> {
  if (file === undefined) return { tree: {}, origins: new Map() }
  try {
    return await readSettingsFile(file)
  } catch (error) {
    if (error instanceof FileProblem) throw new SettingsError([error.message])
    throw error
  }
}

/** The tree with `defaults` under each of `sites`. */
function withDefaults(tree: Record<string, unknown>): Record<string, unknown> {
  const { defaults, sites } = tree
  const entry = outlineAt(['sites', 0])
  if (!isMapping(defaults) || !Array.isArray(sites) || entry?.kind !== 'group') return tree
  // Unknown keys are reported once, where they stand.
  const inherited = Object.fromEntries(Object.entries(defaults).filter(([key]) => entry.keys.has(key)))
  return { ...tree, sites: sites.map(site => (isMapping(site) ? overlay(entry, inherited, site) : site)) }
}

function withAbsolutePaths(settings: Settings, cwd: string): Settings {
  const { data, tls, log } = settings
  return {
    ...settings,
    data: resolve(cwd, data),
    log: log.audit === undefined || log.audit === 'log' ? log : { ...log, audit: resolve(cwd, log.audit) },
    tls: tls && { cert: resolve(cwd, tls.cert), key: resolve(cwd, tls.key) },
  }
}

function problemsOf(issues: readonly z.core.$ZodIssue[], written: Written): string[] {
  const problems = issues.flatMap(issue => {
    const path = ownPath(
      issue.path.map(step => (typeof step === 'symbol' ? String(step) : step)),
      written,
    )
    if (issue.code === 'unrecognized_keys') return issue.keys.map(key => unknownKey([...path, key], written))
    return problem(path, issue, written)
  })
  return [...new Set(problems)]
}

/** Where the value of an entry of `sites` really stands: in the entry, or under `defaults`. */
function ownPath(path: Path, written: Written): Path {
  if (path[0] !== 'sites' || path.length < 3 || written.origins.has(pathText(path))) return path
  const inherited = ['defaults', ...path.slice(2)]
  return valueAt(written, path) === undefined && valueAt(written, inherited) !== undefined ? inherited : path
}

function valueAt(written: Written, path: Path): unknown {
  let place: unknown = written.tree
  for (const step of path) {
    if (Array.isArray(place) && typeof step === 'number') place = place[step]
    else if (isMapping(place) && Object.hasOwn(place, step)) place = place[step]
    else return undefined
  }
  return place
}

function unknownKey(path: Path, written: Written): string {
  const group = outlineAt(path.slice(0, -1))
  const key = String(path.at(-1))
  const here = group?.kind === 'group' ? nearest(key, group.keys.keys()) : undefined
  const elsewhere = here === undefined ? placesOf(key) : []
  const meant = here !== undefined ? [here] : elsewhere
  const advice = meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : ''
  return `${showingUnseen(pathText(path))} is not a known key${from(written, path)}${advice}`
}

/** Settings of exactly this name anywhere. */
function placesOf(key: string): string[] {
  const found: string[] = []
  const search = (node: Outline, path: string) => {
    if (node.kind === 'list') return search(node.item, `${path}[]`)
    if (node.kind !== 'group') return
    for (const [name, below] of node.keys) {
      const place = path === '' ? name : `${path}.${name}`
      if (name === key) found.push(place)
      search(below, place)
    }
  }
  search(outline, '')
  return found.slice(0, 3)
}

function problem(itemPath: Path, issue: z.core.$ZodIssue, written: Written): string {
  const path = asWritten(itemPath, written)
  const node = outlineAt(path)
  const value = valueAt(written, path)
  const where = from(written, path)
  const expected = issue.code === 'invalid_type' ? expectedOf(node) : issue.message
  if (issue.code === 'custom' && expected.startsWith('needs ')) return `${pathText(path)} ${expected}${where}`
  if (value === undefined || value === null) return `${pathText(path)} is missing; expected ${expected}${where}`
  return `${pathText(path)}: ${shown(value, node)} is not ${expected}${where}`
}

/** The place that an operator wrote: a single value stands for a list of one. */
function asWritten(path: Path, written: Written): Path {
  const list = path.slice(0, -1)
  const isItem = typeof path.at(-1) === 'number'
  return isItem && valueAt(written, list) !== undefined && !Array.isArray(valueAt(written, list)) ? list : path
}

function expectedOf(node: Outline | undefined): string {
  if (node?.kind === 'value') return node.expected
  if (node?.kind === 'group') return `a group of keys (${keysOf(node)})`
  if (node?.item.kind === 'group') return `a list of groups of keys (${keysOf(node.item)})`
  return node?.item.kind === 'value' ? `a list, or ${node.item.expected}` : 'a list'
}

function keysOf({ keys }: Group): string {
  const names = [...keys.keys()]
  return names.slice(0, 4).join(', ') + (names.length > 4 ? ' …' : '')
}

function from(written: Written, path: Path): string {
  const origin = originOf(written, path)
  return origin === undefined ? '' : ` (${origin})`
}

function shown(value: unknown, node: Outline | undefined): string {
  if (node === undefined || holdsSecret(node)) return 'the given value (not shown)'
  const text = hideUrlPasswords(JSON.stringify(value) ?? String(value))
  return showingUnseen(text.length > 80 ? `${text.slice(0, 79)}…` : text)
}

/** @returns how the warning begins that a site has no credentials; the first that is added makes it needless */
export function nobodyMounts(index: number): string {
  return `sites[${index}] has no credentials: nobody can use its mount; "scriptorium user add NAME" adds some`
}

function doubts(settings: Settings, written: Written, firstStart: boolean): string[] {
  const warnings = unreachableEntries(settings.sites).map(
    ([entry, earlier]) =>
      `sites[${entry}] is never reached: sites[${earlier}] has the same hosts and comes first${from(written, ['sites', entry])}`,
  )
  settings.sites.forEach((site, index) => {
    const { oidc } = site
    if (!firstStart && site.credentials.length === 0) {
      warnings.push(`${nobodyMounts(index)}${from(written, ['sites', index])}`)
    }
    if (oidc && (oidc.issuer === undefined || oidc.clientId === undefined)) {
      warnings.push(`sites[${index}].oidc needs issuer and clientId: signing in answers 503 until then`)
    }
  })
  return warnings
}

/** Passwords that anybody who reads the settings can use. */
function plainPasswords({ sites }: Settings, written: Written): string[] {
  return sites.flatMap(({ credentials }, index) =>
    credentials.flatMap(({ password }, place) => {
      if (password === undefined || !isPlainPassword(password)) return []
      const path = ['sites', index, 'credentials', place, 'password']
      return `${pathText(path)} stands in plain text: put what "scriptorium hash" prints there${from(written, path)}`
    }),
  )
}
