/** `scriptorium user`: who may use the mounts, in the settings file. */

import { access, constants, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CannotEdit,
  placeOfSite,
  removeCredential,
  type WrittenCredential,
  writeCredential,
} from '../../config/edit.ts'
import { fileFromEnvironment } from '../../config/environment.ts'
import { nobodyMounts } from '../../config/load.ts'
import { createAccessKey, createPassword, hashPassword } from '../../config/passwords.ts'
import type { Credential } from '../../config/site-schema.ts'
import { siteTable } from '../../config/sites.ts'
import { isUserName, showingUnseen, USER_NAME } from '../../config/values.ts'
import { lockPassing } from '../../pipeline/store/sqlite/file-lock.ts'
import { type Call, type Command, UsageError } from './command.ts'
import { NoPassword, readPassword } from './password-input.ts'
import { knownSites, loadedFor, settingsOptions, siteOption, tellWarnings } from './settings-options.ts'
import { line } from './terminal.ts'

export const user: Command = {
  name: 'user',
  summary: 'Add, remove or list those who may use a mount',
  positionals: ['add|remove|list'],
  optional: ['NAME'],
  options: {
    config: settingsOptions.config,
    set: settingsOptions.set,
    ...siteOption,
    scope: { type: 'string', multiple: true, value: 'PATTERN', doc: 'Paths to open (/*); may be repeated' },
    'read-only': { type: 'boolean', doc: 'May read what it opens, and change nothing' },
    generate: { type: 'boolean', doc: 'Make a password and show it, instead of asking for one' },
    key: { type: 'boolean', doc: 'Make an access key for a program, and show it' },
  },
  details: [
    'Credentials stand in the settings file, which keeps everything else that is in it.',
    'The password is read like that of "scriptorium hash", and stored as a hash. Adding a',
    'name that is there already replaces its credential. A running server takes the',
    'change when it gets SIGHUP (systemctl reload scriptorium).',
  ],
  examples: [
    ['scriptorium user -c site.yaml add ada', 'Ask for a password for ada'],
    ['scriptorium user -c site.yaml add --generate --scope "/blog/*" bo', 'Make one, for a part of the site'],
    ['scriptorium user -c site.yaml add --key deploy', 'An access key for a program'],
    ['scriptorium user -c site.yaml list', 'Who there is'],
  ],
  async run(call) {
    const [action = '', name] = call.args.positionals
    try {
      if (action === 'list') return await list(call)
      if (action !== 'add' && action !== 'remove')
        throw new UsageError(`"${action}" is not add, remove or list`, 'user')
      if (name === undefined) throw new UsageError('NAME is missing', 'user')
      return await (action === 'add' ? add(call, name) : remove(call, name))
    } catch (error) {
      if (!(error instanceof CannotEdit || error instanceof NoPassword)) throw error
      line(call.terminal.errors, error.message)
      return 1
    }
  },
}

/**
 * The file, and the site that is meant.
 *
 * @param mends whether the command gives the site a credential: that it has none yet is then nothing to warn of
 */
async function placeOf(
  call: Call,
  mends = false,
): Promise<{ file: string; site: string; place: number; known: readonly Credential[] }> {
  const { args, terminal } = call
  const named = args.text('config') ?? fileFromEnvironment(terminal.env)
  if (named === undefined) throw new UsageError('credentials stand in a settings file; name it with --config', 'user')
  const { settings, warnings } = await loadedFor(call)
  const table = siteTable(settings)
  const [only, ...others] = table.named.map(({ host }) => host)
  const asked = args.text('site')
  if (asked === undefined && (only === undefined || others.length > 0))
    throw new UsageError(`choose a site with --site HOST (${(await knownSites(call, settings)).join(', ')})`, 'user')
  const site = asked === undefined ? only : table.siteFor(asked)?.host
  if (site === undefined) throw new UsageError(`no site is configured for the host ${asked}`, 'user')
  const place = placeOfSite(settings, site)
  tellWarnings(call, mends ? warnings.filter(warning => !warning.startsWith(nobodyMounts(place))) : warnings)
  if (place < 0)
    throw new CannotEdit(`${site} has no entry of its own in ${named}; write the credential to the one that it matches`)
  return { file: resolve(terminal.cwd, named), site, place, known: settings.sites[place]?.credentials ?? [] }
}

async function list(call: Call): Promise<number> {
  const { known } = await placeOf(call)
  for (const { user, scope, write, password, key } of known) {
    const by = [password === undefined ? [] : ['password'], key === undefined ? [] : ['key']].flat().join(' and ')
    line(call.terminal.output, `${user}  ${scope.join(' ')}  ${write ? 'reads and writes' : 'reads'}  by ${by}`)
  }
  return 0
}

async function add(call: Call, name: string): Promise<number> {
  const { args, terminal } = call
  const { file, site, place } = await placeOf(call, true)
  // Nobody should think of a password for a name that cannot be.
  if (name === '' || name.length > 128 || !isUserName(name))
    throw new UsageError(`"${showingUnseen(name)}" is not ${USER_NAME}`, 'user')
  const made = args.flag('key') ? createAccessKey() : undefined
  const password = made ? undefined : args.flag('generate') ? createPassword() : await readPassword(terminal)
  const credential: WrittenCredential = {
    user: name,
    ...(made && { key: made.stored }),
    ...(password !== undefined && { password: await hashPassword(password) }),
    ...(args.texts('scope').length > 0 && { scope: args.texts('scope') }),
    ...(args.flag('read-only') && { write: false }),
  }
  const isNew = await inTurn(file, () => writeCredential(file, place, credential))
  if (made) line(terminal.output, `key ${made.key}`)
  if (args.flag('generate') && password !== undefined) line(terminal.output, `password ${password}`)
  line(terminal.output, `${isNew ? 'added' : 'changed'} ${name} of ${site}; a running server takes it on SIGHUP`)
  return 0
}

/** Milliseconds to wait for others: they have the file for a moment, and never while somebody types a password. */
const PATIENCE = 30_000

/** Changes of one file come one after another, each made in what the one before has left. */
async function inTurn<Result>(file: string, change: () => Promise<Result>): Promise<Result> {
  const target = await realpath(file)
  const folder = dirname(target)
  await access(folder, constants.W_OK)
  const until = performance.now() + PATIENCE
  for (;;) {
    const lock = lockPassing(join(folder, `.lock-${basename(target)}`))
    if (lock) return change().finally(() => lock.release())
    if (performance.now() > until) throw new CannotEdit(`another command is changing ${file}; start this one again`)
    await pause(20)
  }
}

async function remove(call: Call, name: string): Promise<number> {
  const { file, site, place } = await placeOf(call)
  const isGone = await inTurn(file, () => removeCredential(file, place, name))
  if (!isGone) throw new CannotEdit(`${site} has no user ${name}`)
  line(call.terminal.output, `removed ${name} of ${site}; a running server takes it on SIGHUP`)
  return 0
}
