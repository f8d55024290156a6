/** `scriptorium check` on whichever store the settings name. */

import { databaseAddress } from '../pipeline/store/postgres/address.ts'
import { checkDatabase } from '../pipeline/store/postgres/check.ts'
import { checkFolder } from '../pipeline/store/sqlite/check/check.ts'
import type { Commands } from './cli/commands.ts'

/** Bytes, sums and rows of the store; what the documents of sites declare is not looked at. */
export const checkStore: Commands['check'] = async (settings, options) => {
  const address = settings.postgres === undefined ? undefined : databaseAddress(settings.postgres)
  return address ? checkDatabase(address, options) : checkFolder(settings.data, options)
}
