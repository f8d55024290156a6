/** The demo site of a first start. */

import { fileURLToPath } from 'node:url'
import type { Site } from '../../pipeline/site/site.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Imported, importFolder } from '../../pipeline/write/import.ts'

/** Folder of its files. */
const DEMO = fileURLToPath(new URL('site', import.meta.url))

/** Name of the installation's value that says that the demo site is being imported; empty when that has ended. */
const IMPORTING = 'importing-demo'

/**
 * Imports the demo site where nothing is stored yet, or where a server was killed while it did, or could not go on. What somebody stores meanwhile
 * stays: this server, or another one on the same store, may listen already.
 */
export async function importDemo(site: Site, store: Store): Promise<Imported | undefined> {
  const isBegun = Boolean(await store.setting(IMPORTING))
  if (!isBegun && (await store.sites()).includes(site.store.name)) return undefined
  await store.setSetting(IMPORTING, 'begun')
  const imported = await importFolder(site, store, DEMO, { onlyNew: true })
  await store.setSetting(IMPORTING, '')
  return imported
}
