/** Changes to the credentials of a settings file that keep everything else in it, comments included. */

import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { syncFolder } from '../pipeline/store/synced-names.ts'
import { loadSettings, SettingsError } from './load.ts'
import type { Settings } from './schema.ts'
import type { Credential } from './site-schema.ts'
import { yaml } from './yaml.ts'

/** A credential as a settings file has it; what is as usual is left out. */
export type WrittenCredential = Pick<Credential, 'user'> & Partial<Omit<Credential, 'user'>>

/** Why a change was not made, in a sentence. */
export class CannotEdit extends Error {}

/**
 * Adds a credential to a site, or changes the one with this name.
 *
 * @param file of the settings
 * @param site place of the site in the settings
 * @returns whether it is new
 * @throws CannotEdit, SettingsError; then the file is as it was
 */
export async function writeCredential(file: string, site: number, credential: WrittenCredential): Promise<boolean> {
  return edit(file, site, (list, find) => {
    const known = find(credential.user)
    if (known === undefined) list.add(credential)
    else list.set(known, credential)
    return known === undefined
  })
}

/**
 * Removes a credential.
 *
 * @returns whether there was one
 * @throws CannotEdit, SettingsError; then the file is as it was
 */
export async function removeCredential(file: string, site: number, user: string): Promise<boolean> {
  return edit(file, site, (list, find) => {
    const known = find(user)
    if (known !== undefined) list.delete(known)
    return known !== undefined
  })
}

interface Credentials {
  add(credential: WrittenCredential): void
  set(place: number, credential: WrittenCredential): void
  delete(place: number): void
}

type ListChange = (list: Credentials, find: (user: string) => number | undefined) => boolean

async function edit(file: string, site: number, change: ListChange): Promise<boolean> {
  const text = await readFile(file, 'utf8')
  const { isMap, isSeq, parseDocument } = yaml()
  const document = parseDocument(text)
  const entry = document.getIn(['sites', site])
  if (!isMap(entry)) throw new CannotEdit(`${file} does not hold the site; write the credential where the site is`)
  if (!isSeq(entry.get('credentials'))) {
    const inherited = (await loadSettings({ file })).settings.sites[site]?.credentials ?? []
    if (inherited.length > 0)
      throw new CannotEdit(`the credentials of this site stand under "defaults" in ${file}; edit them there`)
    entry.set('credentials', document.createNode([]))
  }
  const list = entry.get('credentials')
  if (!isSeq(list)) throw new CannotEdit(`the credentials of this site in ${file} are no list`)
  const find = (user: string) => {
    const place = list.items.findIndex(item => isMap(item) && item.get('user') === user)
    return place < 0 ? undefined : place
  }
  const node = (credential: WrittenCredential) => document.createNode(credential, { flow: true })
  const changed = change(
    {
      add: credential => list.add(node(credential)),
      set: (place, credential) => list.set(place, node(credential)),
      delete: place => void list.delete(place),
    },
    find,
  )
  const isJson = extname(file).toLowerCase() === '.json'
  await replace(file, isJson ? `${JSON.stringify(document.toJS(), null, 2)}\n` : document.toString({ lineWidth: 0 }))
  return changed
}

/**
 * Replaces the file as a whole, once what is to stand in it proves to be settings: the one that a link leads to, which stays
 * its owner's, and is on disk under its name when this is over.
 */
async function replace(file: string, text: string): Promise<void> {
  const target = await realpath(file)
  const fresh = join(dirname(target), `.new-${process.pid}${extname(file)}`)
  try {
    const { mode, uid, gid } = await stat(target)
    const handle = await open(fresh, 'w', 0o600)
    try {
      await handle.writeFile(text)
      // Whoever may not give it away keeps it.
      await handle.chown(uid, gid).catch(() => undefined)
      await handle.chmod(mode & 0o777)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await loadSettings({ file: fresh })
    await rename(fresh, target)
    syncFolder(dirname(target))
  } catch (error) {
    await rm(fresh, { force: true })
    if (!(error instanceof SettingsError)) throw error
    throw new SettingsError(error.problems.map(problem => problem.replaceAll(fresh, file)))
  }
}

/** Place of a site in the settings. @param name of the site, as the site table has it */
export function placeOfSite({ sites }: Pick<Settings, 'sites'>, name: string): number {
  return sites.findIndex(site => site.name === name || (site.name === undefined && site.host.includes(name)))
}
