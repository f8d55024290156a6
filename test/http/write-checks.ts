/** What tests of writes look at: failures as one line, the state of a file, and that a failed write left it alone. */

import { expect } from 'chai'
import type { StoredEvent } from '../../pipeline/store/events.ts'
import { NS, type Shelf } from '../support/content.ts'
import type { Received } from '../support/http.ts'

/** What is stored at a path. */
interface Stored {
  /** One character per byte; undefined where nothing is stored. */
  bytes: string | undefined
  type: string | undefined
  version: number | undefined
}

/** Everything a write could change about a path. */
export interface State extends Stored {
  events: number
}

async function storedAt({ site }: Pick<Shelf, 'site'>, path: string): Promise<Stored> {
  const resource = await site.store.find(path)
  const held = await site.find(path)
  return {
    bytes: held?.bytes && Buffer.from(held.bytes).toString('latin1'),
    type: resource?.type,
    version: resource?.version,
  }
}

export async function stateOf(shelf: Pick<Shelf, 'site'>, path: string): Promise<State> {
  return { ...(await storedAt(shelf, path)), events: (await shelf.site.store.events(path)).length }
}

/** The same for what must stay as it is: of events, which come at the end and go from the beginning, both ends tell. */
async function everythingOf(shelf: Pick<Shelf, 'site'>, path: string) {
  const { store } = shelf.site
  const [oldest] = await store.events(path, undefined, 1)
  return { ...(await storedAt(shelf, path)), oldest: oldest?.id, newest: await store.newestEvent(path) }
}

/** Text of a stored document. */
export async function textOf({ site }: Pick<Shelf, 'site'>, path: string): Promise<string> {
  const bytes = (await site.find(path))?.bytes
  if (!bytes) throw new Error(`${path} is not there`)
  return Buffer.from(bytes).toString('utf8')
}

/** Runs requests that must fail and makes sure that none of the paths is any different afterwards. */
export async function leavesAlone<T>(shelf: Pick<Shelf, 'site'>, paths: readonly string[], run: () => Promise<T>) {
  const before = await Promise.all(paths.map(path => everythingOf(shelf, path)))
  const result = await run()
  const after = await Promise.all(paths.map(path => everythingOf(shelf, path)))
  for (const [i, path] of paths.entries()) expect(after[i], path).to.deep.equal(before[i])
  return result
}

/**
 * A failure in one line, after its document was found to be of the form that HTTP-170 asks for.
 *
 * @returns `422 InvalidFragment`; `401 /plan.html` for refusals by rules, with the resource named; `413` alone
 */
export function failureOf(received: Received): string {
  const { status, headers, text } = received
  if (status < 400) return `no failure but ${status}`
  expect(headers['content-type']).to.equal('text/html; charset=utf-8')
  expect(headers['cache-control']).to.equal('no-store')
  expect(headers['x-content-type-options']).to.equal('nosniff')
  if (status !== 412) expect(headers).not.to.have.property('etag')
  expect(text).to.match(/^<!DOCTYPE html>/)
  expect(text).not.to.match(/node_modules|\.ts\b|\bat .*:\d+:\d+/)
  const refused = /itemprop="resource">([^<]*)</.exec(text)?.[1]
  if (refused !== undefined) {
    expect(text).to.include(`<body itemscope itemtype="${NS}/1.0/Error">`)
    expect(headers).not.to.have.property('last-modified')
    expect(headers).not.to.have.property('content-range')
    return `${status} ${refused}`
  }
  expect(text).to.include(`<article itemscope itemtype="${NS}/Error">`)
  expect(text).to.include(`<meta itemprop="status" content="${status}">`)
  expect(text).to.match(/<p itemprop="message">[^<]+</)
  if (status === 413) {
    expect(headers.connection).to.equal('close')
    return '413'
  }
  const kind = /<meta itemprop="kind" content="(\w+)">/.exec(text)?.[1] ?? 'without kind'
  expect(text).to.include(`itemtype="${NS}/error/${kind}"`)
  return `${status} ${kind}`
}

/** Events of a path that came after some other, oldest first. */
export async function eventsOf({ site }: Pick<Shelf, 'site'>, path: string, after?: string): Promise<StoredEvent[]> {
  return site.store.events(path, after)
}

/** `Range` of a selector. */
export function selecting(selector: string, placement?: string): { Range: string } {
  return { Range: `selector=${selector}${placement === undefined ? '' : `; placement=${placement}`}` }
}

/** Field lines of an element MOVE within a document. */
export function moving(path: string, source: string, anchor: string, placement: string) {
  return {
    ...selecting(source),
    Destination: path,
    'Destination-Range': `selector=${anchor}; placement=${placement}`,
  }
}
