/** Writers and watchers over HTTP that go on through faults, and the judge of what they were told. */

import { expect } from 'chai'
import { type OpenStream, openStream } from '../pipeline/events/stream-client.ts'
import { page, rulesPage } from '../support/content.ts'
import type { Received } from '../support/http.ts'
import type { Cluster as Database } from '../support/postgres.ts'
import type { Node } from './installation.ts'
import { watchTurns } from './turns.ts'

const LIST = '/list.html'
const KEPT = '/page.html'

/** What the site begins with. */
export const FILES = {
  [LIST]: page('<ul id="l"></ul>'),
  [KEPT]: page('<p>kept</p>'),
  '/rules.html': rulesPage(['*', 'GET|PUT|POST|DELETE', 'Allow', '/*']),
}

export const WRITERS = 16

/** Commits after which each of them has been under way, and has gone on. */
export const ENOUGH = 2 * WRITERS

export interface Writers {
  /** Writes that were answered with success. */
  readonly acknowledged: number
  /** Answers of refused writes. */
  readonly refused: readonly Received[]
  untilMore(count: number): Promise<void>
  /** Settles when every writer of these nodes was refused so often. */
  untilRefused(count: number, nodes?: readonly Node[]): Promise<void>
  /** Has every watcher go to another node, where it says what it saw last. */
  turnWatchers(): void
  end(): Promise<void>
  /** Ends them, and compares what they were told with what every node says. */
  judge(): Promise<void>
}

/** Writers that were started in this process: what each made before does not count for the next. */
let starts = 0

const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))
const soon = () => new Promise(resolve => setTimeout(resolve, 5))

/**
 * Every second one appends to one list, which begins empty, the others make documents; nobody repeats what was not
 * acknowledged.
 *
 * @param database of these nodes, if it answers the whole time
 */
export async function startWriters(nodes: readonly Node[], database?: Database): Promise<Writers> {
  const folder = `/${++starts}`
  expect((await nodes[0]?.http('PUT', LIST, {}, FILES[LIST]))?.status).to.equal(200)
  /** By path, or the text of an element of the list. */
  const acknowledged = new Set<string>()
  /** What may have been carried out, as far as its writer was told. */
  const doubtful = new Set<string>()
  const refused: Received[] = []
  const refusals = Array.from({ length: WRITERS }, () => 0)
  const watchers = nodes.map(node => watch(node, nodes))
  await Promise.all(watchers.map(({ ready }) => ready))
  const turns = watchTurns(nodes, database)
  /** When each node acknowledged something last: until then a writer has only waited for its turn. */
  const heard: number[] = []
  const late: unknown[] = []
  let isOver = false
  /** How many are waited for. */
  let wanted = 0

  async function write(writer: number): Promise<void> {
    for (let i = 0; !isOver; i++) {
      const { http } = nodeOf(writer)
      const text = writer % 2 === 0 ? `w${writer}-${i}.` : `${folder}/w${writer}/${i}.html`
      const begun = performance.now()
      const answer = await (writer % 2 === 0
        ? http('POST', LIST, { Range: 'selector=#l' }, `<li>${text}</li>`)
        : http('PUT', text, {}, page(text))
      ).catch(() => undefined)
      if (answer === undefined) doubtful.add(text)
      else if (answer.status === 206 || answer.status === 201) {
        acknowledged.add(text)
        turns.acknowledged(begun)
        heard[placeOf(writer)] = performance.now()
      } else {
        try {
          // A database that is full is not away: it is asked each time.
          if (answer.headers['retry-after'] !== '60')
            turns.requireSoon(Math.max(begun, heard[placeOf(writer)] ?? 0), answer.text)
        } catch (error) {
          late.push(error)
        }
        if (answer.text.includes('Nobody knows')) doubtful.add(text)
        refusals[writer] = (refusals[writer] ?? 0) + 1
        refused.push(answer)
      }
      // Sixteen are enough to have commits under way at any time; faster ones keep the processors from what is waited for. Where
      // that is something else than their commits, more of these prove nothing.
      const isRefused = answer === undefined || answer.status >= 500
      await pause(isRefused || acknowledged.size >= wanted ? 100 : 20)
    }
  }
  const placeOf = (writer: number) => (writer >> 1) % nodes.length
  function nodeOf(writer: number): Node {
    const node = nodes[placeOf(writer)]
    if (node === undefined) throw new Error('there are no nodes')
    return node
  }
  const running = Array.from({ length: WRITERS }, (_, writer) => write(writer))

  return {
    get acknowledged() {
      return acknowledged.size
    },
    refused,
    async untilMore(count) {
      wanted = acknowledged.size + count
      while (acknowledged.size < wanted && !isOver) await soon()
    },
    async untilRefused(count, of = nodes) {
      const before = [...refusals]
      const isTold = (_: number, writer: number) =>
        !of.includes(nodeOf(writer)) || (refusals[writer] ?? 0) >= (before[writer] ?? 0) + count
      while (!refusals.every(isTold) && !isOver) await soon()
    },
    turnWatchers() {
      for (const watcher of watchers) watcher.turn()
    },
    async end() {
      isOver = true
      await Promise.all(running)
      await turns.end()
      await Promise.all(watchers.map(({ close }) => close()))
    },
    async judge() {
      isOver = true
      await Promise.all(running)
      if (late.length > 0) throw late[0]
      for (const answer of refused) {
        expect([503, 507], answer.text).to.include(answer.status)
        expect(answer.headers['retry-after'], answer.text).to.match(/^\d+$/)
      }
      const lists = await Promise.all(nodes.map(elementsAt))
      let first: string[] | undefined
      for (const [i, node] of nodes.entries()) {
        const list = lists[i] ?? []
        expect(list).to.deep.equal(lists[0])
        expect(new Set(list).size, 'an element twice').to.equal(list.length)
        const stored = new Set(list)
        for (const path of [...acknowledged, ...doubtful].filter(text => text.startsWith('/'))) {
          const { status, text } = await node.http('GET', path)
          if (status !== 200) continue
          expect(text).to.equal(page(path))
          stored.add(path)
        }
        first ??= [...stored].sort()
        expect([...stored].sort(), 'the same on all nodes').to.deep.equal(first)
        const lost = [...acknowledged].filter(text => !stored.has(text))
        expect(lost, 'acknowledged, and gone').to.deep.equal([])
        const odd = [...stored].filter(text => !acknowledged.has(text) && !doubtful.has(text))
        expect(odd, 'refused, and there').to.deep.equal([])
      }
      for (const watcher of watchers) {
        expect(await watcher.told(lists[0]?.length ?? 0)).to.deep.equal(lists[0])
      }
    },
  }
}

async function elementsAt({ http }: Node): Promise<string[]> {
  const { text } = await http('GET', LIST)
  return [...text.matchAll(/<li>(w\d+-\d+\.)<\/li>/g)].map(([, element = '']) => element)
}

/** A client that comes back as browsers do, to whichever node there is, and says what it saw last. */
function watch(first: Node, nodes: readonly Node[]) {
  const told: string[] = []
  let last: string | undefined
  let stream: OpenStream | undefined
  let isOver = false
  let attempts = 0

  function take(): void {
    for (const { id, data } of stream?.mutations.slice(taken) ?? []) {
      taken++
      last = id
      const element = /<li>(w\d+-\d+\.)<\/li>/.exec(data)?.[1]
      if (element !== undefined) told.push(element)
    }
    expect(stream?.text ?? '').to.not.include('event: reset')
  }
  let taken = 0

  async function follow(): Promise<void> {
    while (!isOver) {
      const node = attempts++ === 0 ? first : nodes[attempts % nodes.length]
      const headers: Record<string, string> = last === undefined ? {} : { 'Last-Event-ID': last }
      stream = node && (await openStream(node.server, LIST, headers).catch(() => undefined))
      taken = 0
      if (stream?.status === 200) {
        await stream.until(() => stream?.events.length !== 0).catch(() => undefined)
        opened.resolve()
        await stream.ended
        take()
      } else stream?.close()
      await soon()
    }
  }
  const opened = Promise.withResolvers<void>()
  const running = follow()

  return {
    ready: opened.promise,
    turn: () => stream?.close(),
    /** Everything that it was told, when it has heard of so many elements. */
    async told(count: number): Promise<string[]> {
      for (take(); told.length < count; take()) await soon()
      return told
    },
    async close(): Promise<void> {
      isOver = true
      stream?.close()
      await running
    },
  }
}

/** Has nodes take into memory what is read on: after a fault, anything may have been forgotten. */
export async function readAgain(nodes: readonly Node[]): Promise<void> {
  for (const { http } of nodes) while ((await http('GET', KEPT)).status !== 200) await soon()
}

/** What is in memory is read on. */
export async function readsOn({ http }: Node): Promise<void> {
  const { status, text } = await http('GET', KEPT)
  expect(status, text).to.equal(200)
  expect(text).to.equal(FILES[KEPT])
}

export async function missingAt({ http }: Node): Promise<string[]> {
  const { text } = await http('GET', '/-platform/health/ready')
  return (JSON.parse(text) as { missing?: string[] }).missing ?? []
}
