/** Options that every command with settings takes, and the settings they lead to. */

import { fileFromEnvironment, fromSet } from '../../config/environment.ts'
import { type LoadedSettings, loadSettings, SettingsError } from '../../config/load.ts'
import type { Path } from '../../config/outline.ts'
import type { Settings } from '../../config/schema.ts'
import { siteTable } from '../../config/sites.ts'
import type { Assignment } from '../../config/written.ts'
import { databaseAddress, databaseName } from '../../pipeline/store/postgres/address.ts'
import { type Call, type Option, UsageError } from './command.ts'
import { line } from './terminal.ts'

/** Options that name the store and the settings. */
export const settingsOptions = {
  config: {
    type: 'string',
    short: 'c',
    value: 'FILE',
    doc: 'Settings file (YAML or JSON); also SCRIPTORIUM_CONFIG',
  },
  data: { type: 'string', short: 'd', value: 'FOLDER', doc: 'Folder of the embedded store (./data)' },
  set: {
    type: 'string',
    multiple: true,
    value: 'KEY=VALUE',
    doc: 'Any setting, such as log.level=debug; may be repeated',
  },
} satisfies Record<string, Option>

/** Options that stand for a setting. */
const SHORTHANDS: readonly (readonly [string, Path])[] = [
  ['data', ['data']],
  ['host', ['listen', 'host']],
  ['port', ['listen', 'port']],
  ['mount-port', ['mount', 'port']],
]

/**
 * Loads the settings that the arguments ask for; warnings go to the terminal.
 *
 * @throws SettingsError
 */
export async function settingsOf(call: Call): Promise<LoadedSettings> {
  const loaded = await loadedFor(call)
  tellWarnings(call, loaded.warnings)
  return loaded
}

/** Tells warnings, unless the command is to be quiet. */
export function tellWarnings({ args, terminal }: Call, warnings: readonly string[]): void {
  if (!args.flag('quiet')) for (const warning of warnings) line(terminal.errors, `warning: ${warning}`)
}

/**
 * The same settings; telling their warnings is left to the caller.
 *
 * @throws SettingsError
 */
export async function loadedFor({ args, terminal }: Call): Promise<LoadedSettings> {
  const assignments: Assignment[] = []
  const problems: string[] = []
  for (const text of args.texts('set')) {
    const assignment = fromSet(text)
    if (typeof assignment === 'string') problems.push(assignment)
    else assignments.push(assignment)
  }
  for (const [option, path] of SHORTHANDS) {
    const value = args.text(option)
    if (value !== undefined) assignments.push({ path, value, origin: `--${option}` })
  }
  if (problems.length > 0) throw new SettingsError(problems)
  const file = args.text('config') ?? fileFromEnvironment(terminal.env)
  const loaded = await loadSettings({ file, env: terminal.env, assignments, cwd: terminal.cwd })
  if (args.text('data') !== undefined && loaded.settings.postgres !== undefined)
    throw new SettingsError([
      '--data names a folder, but documents are in the database of postgres: leave one of them out',
    ])
  return loaded
}

/** Where everything is stored, for people. */
export function placeNamed({ data, postgres }: Pick<Settings, 'data' | 'postgres'>): string {
  const address = postgres === undefined ? undefined : databaseAddress(postgres)
  return address === undefined ? data : `the database ${databaseName(address)}`
}

/** The option that chooses a site. */
export const siteOption = {
  site: { type: 'string', short: 's', value: 'HOST', doc: 'Host name of the site; needed when there are several' },
} satisfies Record<string, Option>

/**
 * The site that the arguments ask for: that of `--site`, or the only one.
 *
 * @param more what else could be written, such as ` or take --all`
 * @returns its name in the store
 * @throws UsageError when there is no such site, or none was chosen among several
 */
export async function chosenSite(
  call: Call,
  { settings }: LoadedSettings,
  command: string,
  more = '',
): Promise<string> {
  const table = siteTable(settings)
  const host = call.args.text('site')
  if (host === undefined) {
    const [only, ...others] = await knownSites(call, settings)
    if (only !== undefined && others.length === 0) return only
    const choices = only === undefined ? '' : ` (${[only, ...others].join(', ')})`
    throw new UsageError(`choose a site with --site HOST${choices}${more}`, command)
  }
  const site = table.siteFor(host)
  if (site === undefined) throw new UsageError(`no site is configured for the host ${host}`, command)
  return site.host
}

/** Names of the sites that are served and known without a request: those that the settings name, and those that are stored. */
export async function knownSites({ commands }: Call, settings: Settings): Promise<string[]> {
  const table = siteTable(settings)
  const served = (await commands.stored(settings)).filter(name => table.siteFor(name)?.host === name)
  return [...new Set([...table.named.map(({ host }) => host), ...served])]
}
