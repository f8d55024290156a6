/** Temporary stores in PostgreSQL whose blobs are objects. */

import { objectAddress } from '../../../../pipeline/store/objects/address.ts'
import { type Objects, type ObjectsOptions, openObjects } from '../../../../pipeline/store/objects/objects.ts'
import type { PostgresOptions } from '../../../../pipeline/store/postgres/store.ts'
import { type ObjectServer, sharedObjects } from '../../../support/swift.ts'
import type { Open } from '../fixture.ts'
import { type OpenedSchema, openSchemaWith } from '../postgres/fixture.ts'

/** However busy this machine is. */
const LONG = { quiet: 60_000, total: 120_000 }
const STEADFAST = { ...LONG, steadfast: true as const }
const SLOW = { start: STEADFAST, doubt: 60_000, probe: 60_000 }
export const PATIENT: ObjectsOptions = {
  waits: { answer: LONG, more: STEADFAST, first: LONG, later: STEADFAST, ...SLOW },
}

export interface OpenedObjects extends OpenedSchema {
  server: ObjectServer
  /** What the names of its objects begin with. */
  prefix: string
  /** Names of its objects, without marks. */
  names: () => Promise<string[]>
  /** Opens the objects once more. */
  objects: () => Objects
}

let number = 0

/** The objects of an address, as a server opens them. */
export function objectsAt(url: string, options = PATIENT): Objects {
  const address = objectAddress(url)
  if (address === undefined) throw new Error(`No address: ${url}`)
  return openObjects(address, options)
}

/** Opens a store in a new schema, with objects below a new prefix. */
export const openWithObjects: Open<PostgresOptions, OpenedObjects> = async (options = {}) => {
  const server = await sharedObjects()
  const prefix = `test-${process.pid}-${++number}/`
  const objects = () => objectsAt(server.url(prefix))
  const opened = await openSchemaWith(() => ({ use: 'together', ...options, objects: objects() }))
  const names = async () => (await server.names(prefix)).filter(name => !name.startsWith(`${prefix}owner/`))
  return Object.assign(opened, { server, prefix, objects, names })
}
