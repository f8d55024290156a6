/** A mount as one author uses it over the wire, and everything that a request could change. */

import { expect } from 'chai'
import { after, before, beforeEach } from 'mocha'
import { unpublishedName } from '../../pipeline/site/unpublished-name.ts'
import type { SiteStore } from '../../pipeline/store/store.ts'
import { type Client, client, type Fields, type Received } from '../support/http.ts'
import { type ReceivedProperties, readMultistatus } from '../support/multistatus.ts'
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts'

export interface Wire {
  server: TestServer
  /** The mount, with the credentials that open all of it. */
  dav: Client
  /** The mount, without credentials. */
  stranger: Client
  /** The public surface. */
  visitor: Client
  /** Of the mount. */
  port: number
}

/** What the mount does by itself some time after a request, it does not do while a test runs, however long that takes. */
export const UNHURRIED = { drafts: { settle: '2h' }, helperFiles: { keepPublished: '1h' } }

/** Visitors may read everything, unless the test says otherwise. */
export async function startWire(options: TestServerOptions = {}): Promise<Wire> {
  const server = await startServer({ ...options, site: { defaultGet: 'allow', ...UNHURRIED, ...options.site } })
  const port = Number(new URL(server.mountUrl).port)
  return {
    server,
    port,
    dav: client(port, { Authorization: basic(server.user, server.password) }),
    stranger: client(port),
    visitor: client(server.port),
  }
}

/** Starts a wire for the tests of a suite, and makes a new folder for each of them. @param begin is told both before a test */
export function inNewFolders(begin: (at: string, wire: Wire) => void | Promise<void>): void {
  let wire: Wire
  let count = 0
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    const at = `/t${++count}/`
    await wire.dav('MKCOL', at)
    await begin(at, wire)
  })
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

type CountEvents = (path: string) => number | Promise<number>

/**
 * Everything stored: files and collections of the site and beside it, with versions, tags and numbers of events.
 *
 * @param counting of the events of a store
 */
export async function everything(
  { site, running }: TestServer,
  counting: (store: SiteStore) => CountEvents | Promise<CountEvents> = store => async path =>
    (await store.events(path)).length,
): Promise<string[]> {
  const lines: string[] = []
  for (const name of [site.store.name, unpublishedName(site.store.name)]) {
    const store = running.store.site(name)
    const count = await counting(store)
    for await (const { path, version, type, digest, properties, members } of store.walk('/', { collections: true })) {
      const events = await count(path)
      lines.push([name, path, version, type, digest, properties, members, events].join(' '))
    }
  }
  return lines
}

/** More than any test makes. */
const ALL_EVENTS = 1_000_000

/** Where most events are of what is still there, they are read at once. */
async function countingAtOnce(store: SiteStore): Promise<CountEvents> {
  const counts = new Map<string, number>()
  for (const { path } of await store.allEvents(undefined, ALL_EVENTS)) counts.set(path, (counts.get(path) ?? 0) + 1)
  return path => counts.get(path) ?? 0
}

/** Runs requests and makes sure that nothing that is stored is any different afterwards. */
export async function changesNothing<T>(server: TestServer, run: () => Promise<T>): Promise<T> {
  const before = await everything(server, countingAtOnce)
  const result = await run()
  expect(await everything(server, countingAtOnce)).to.deep.equal(before)
  return result
}

/** Status and, where there is one, the kind of a failure: `423 Locked`. */
export function outcomeOf({ status, text }: Pick<Received, 'status' | 'text'>): string {
  const kind = /itemprop="kind" content="(\w+)"/.exec(text)?.[1]
  return kind === undefined ? String(status) : `${status} ${kind}`
}

/** A PROPFIND body for names of `DAV:`, and for others as `{namespace}name`. */
export function propfindBody(...names: string[]): string {
  return `<D:propfind xmlns:D="DAV:"><D:prop>${names.map(name => element(name)).join('')}</D:prop></D:propfind>`
}

/** A `propertyupdate` that sets values, which are XML, and removes what has none. */
export function propertyUpdate(...values: [name: string, value?: string][]): string {
  const actions = values.map(([name, value]) =>
    value === undefined
      ? `<D:remove><D:prop>${element(name)}</D:prop></D:remove>`
      : `<D:set><D:prop>${element(name, value)}</D:prop></D:set>`,
  )
  return `<D:propertyupdate xmlns:D="DAV:">${actions.join('')}</D:propertyupdate>`
}

function element(name: string, content = ''): string {
  const [, namespace, local] = /^\{(.*)\}(.*)$/.exec(name) ?? []
  if (local === undefined) return `<D:${name}>${content}</D:${name}>`
  return `<${local} xmlns="${namespace}">${content}</${local}>`
}

/** Sends a PROPFIND that must succeed. @returns properties by path */
export async function list(dav: Client, path: string, depth: '0' | '1' = '1', ...names: string[]) {
  const answer = await dav('PROPFIND', path, { Depth: depth }, names.length > 0 ? propfindBody(...names) : undefined)
  expect(answer.status, answer.text).to.equal(207)
  return readMultistatus(answer.text)
}

/** Properties of one resource. */
export async function propertiesOf(dav: Client, path: string, ...names: string[]): Promise<ReceivedProperties> {
  const [properties] = (await list(dav, path, '0', ...names)).values()
  if (!properties) throw new Error(`nothing is told of ${path}`)
  return properties
}

/** The value of one property, or the status that stands in its place: `404`. */
export async function property(dav: Client, path: string, name: string): Promise<string> {
  const [told] = (await propertiesOf(dav, path, name)).values()
  return told?.status === 200 ? told.value : String(told?.status)
}

/** The tag of a PROPFIND answer. */
export async function answerTag(dav: Client, path: string, depth: '0' | '1'): Promise<string> {
  const { headers } = await dav('PROPFIND', path, { Depth: depth })
  return headers.etag ?? 'no tag'
}

/** What visitors get at a path. */
export async function shown(visitor: Client, path: string): Promise<string> {
  const { status, text } = await visitor('GET', path)
  return status === 200 ? text : String(status)
}

/** `Destination` of a COPY or MOVE. */
export function to(path: string, more: Fields = {}): Fields {
  return { Destination: path, ...more }
}
