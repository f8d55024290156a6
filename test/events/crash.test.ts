import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Installation, install } from '../http/crash-installation.ts'
import { page, rulesPage } from '../support/content.ts'
import { client } from '../support/http.ts'
import type { ServerProcess } from '../support/process.ts'
import { bodyOf, property, type ReceivedEvent } from './event-source.ts'
import { listen, type OpenStream } from './stream-client.ts'

const PATH = '/list.html'
const ROUNDS = 4
const WRITERS = 8

/** Ids of the items in a piece of markup, in order. */
const itemsOf = (markup: string) => [...markup.matchAll(/<li id="([^"]+)">/g)].map(([, id]) => id ?? '')

/** A copy of the list that knows nothing but what the stream told. */
class Copy {
  items = ['first']
  lastEventId = ''
  readonly ids: string[] = []

  apply({ id = '', data }: ReceivedEvent): void {
    const method = property(data, 'method')
    const selector = property(data, 'selector') ?? ''
    this.lastEventId = id
    this.ids.push(id)
    if (method === 'POST') this.items.push(...itemsOf(bodyOf(data)))
    else if (method === 'DELETE') {
      const place = this.items.indexOf(selector.slice(1))
      if (place < 0) throw new Error(`${selector} is not there to be removed`)
      this.items.splice(place, 1)
    } else throw new Error(`nobody sends ${method}`)
  }
}

describe('kill -9 under writers, with a watcher', () => {
  let installation: Installation
  let server: ServerProcess | undefined

  before(async function () {
    this.timeout(60_000)
    installation = await install({
      'rules.html': rulesPage(['*', 'GET|PUT|POST|DELETE', 'Allow', '/*']),
      'list.html': page('<ul id="l"><li id="first"></li></ul>'),
    })
  })
  after(async () => {
    await server?.stop('SIGKILL')
    await installation?.remove()
  })

  it('EVT-35 EVT-47 EVT-82 what streams and replays tell is what is stored, to the item', async function () {
    this.timeout(120_000)
    const copy = new Copy()
    let written = 0
    for (let round = 0; round < ROUNDS; round++) {
      server = await installation.start()
      const { port } = server
      const stream = await listen({ port }, PATH, { 'Last-Event-ID': copy.lastEventId })
      const marker = `marker-${round}`
      expect(await append(port, marker)).to.equal(206)
      await stream.until(() => stream.text.includes(`id="${marker}"`))
      take(copy, stream)
      const stored = await client(port)('GET', PATH, { Range: 'selector=#l' })
      expect(copy.items, `round ${round}`).to.deep.equal(itemsOf(stored.text))

      const enough = stream.mutations.length + 150
      const writing = Array.from({ length: WRITERS }, (_, writer) => write(port, `${round}-${writer}`))
      await stream.until(() => stream.mutations.length >= enough)
      await server.stop('SIGKILL')
      written += (await Promise.all(writing)).reduce((sum, count) => sum + count, 0)
      await stream.ended
      take(copy, stream)
    }
    expect(written, 'acknowledged writes').to.be.above(ROUNDS * 100)
    expect(new Set(copy.ids).size).to.equal(copy.ids.length)
  })

  /** Events of a stream that the copy has not seen. */
  function take(copy: Copy, { mutations, events }: OpenStream): void {
    expect(events.some(({ event }) => event === 'reset')).to.equal(false)
    const seen = mutations.findIndex(({ id }) => id === copy.lastEventId)
    for (const mutation of mutations.slice(seen + 1)) copy.apply(mutation)
  }

  async function append(port: number, id: string): Promise<number> {
    return (await client(port)('POST', PATH, { Range: 'selector=#l' }, `<li id="${id}"></li>`)).status
  }

  /** Appends items, and removes every third, until the server is gone. @returns how many writes were acknowledged */
  async function write(port: number, name: string): Promise<number> {
    const http = client(port)
    let acknowledged = 0
    try {
      for (let n = 0; ; n++) {
        const id = `item-${name}-${n}`
        await append(port, id)
        acknowledged++
        if (n % 3 > 0) continue
        await http('DELETE', PATH, { Range: `selector=#${id}` })
        acknowledged++
      }
    } catch {
      return acknowledged
    }
  }
})
