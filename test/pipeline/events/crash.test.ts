import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startCluster, workersOf } from '../../cluster/installation.ts'
import { install } from '../../http/write/crash-installation.ts'
import { page, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { Copy, itemsOf } from './crash-copy.ts'
import { listen, type OpenStream } from './stream-client.ts'

const PATH = '/list.html'
const ROUNDS = 3
const WRITERS = 8
/** Events that a watcher hears before everything is killed. */
const ENOUGH = 150

const FILES = {
  'rules.html': rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*']),
  'list.html': page('<ul id="l"><li id="first">first</li></ul>'),
}

/** An installation that can be killed with everything that belongs to it, and started again. */
interface Killable {
  start(): Promise<{ port: number; kill(): Promise<unknown> }>
  remove(): Promise<void>
}

async function oneProcess(): Promise<Killable> {
  const installation = await install(FILES)
  return {
    async start() {
      const server = await installation.start()
      return { port: server.port, kill: () => server.stop('SIGKILL') }
    },
    remove: installation.remove,
  }
}

/** Two workers; Redis dies with them, as on a machine that loses its power. */
async function twoWorkers(): Promise<Killable> {
  const cluster = await startCluster({ count: 0, files: FILES })
  let isFirst = true
  return {
    async start() {
      if (!isFirst) await cluster.redis.start()
      isFirst = false
      const node = await cluster.start({ workers: 2 })
      return {
        port: node.server.port,
        async kill() {
          // Held first, so that it neither replaces a worker nor lets them end by themselves.
          node.server.child.kill('SIGSTOP')
          for (const pid of await workersOf(node)) process.kill(pid, 'SIGKILL')
          await cluster.redis.kill()
          await node.server.stop('SIGKILL')
        },
      }
    },
    remove: cluster.close,
  }
}

for (const [title, open] of Object.entries({ 'one process': oneProcess, 'two workers and Redis': twoWorkers }))
  describe(`kill -9 of ${title} under writers, with a watcher`, () => {
    let installation: Killable
    let running: Awaited<ReturnType<Killable['start']>> | undefined
    before(async () => {
      installation = await open()
    })
    after(async () => {
      await running?.kill()
      await installation?.remove()
    })

    it('EVT-35 EVT-47 EVT-82 what streams and replays tell is what is stored, and every acknowledged write is in it', async function () {
      // Up to nine processes are started, one after another, which takes long on a part of a processor.
      this.timeout(300_000)
      const copy = new Copy([{ id: 'first', text: 'first' }])
      const acknowledged: string[] = []
      for (let round = 0; round < ROUNDS; round++) {
        running = await installation.start()
        const { port } = running
        const http = client(port)
        const stream = await listen({ port }, PATH, { 'Last-Event-ID': copy.lastEventId })
        const marker = `marker-${round}`
        const marked = await http('POST', PATH, { Range: 'selector=#l' }, `<li id="${marker}">${marker}</li>`)
        expect(marked.status).to.equal(206)
        await stream.until(() => stream.text.includes(`id="${marker}"`))
        take(copy, stream)
        const stored = await http('GET', PATH, { Range: 'selector=#l' })
        expect(copy.items, `round ${round}`).to.deep.equal(itemsOf(stored.text))
        expect(
          acknowledged.filter(write => !copy.told.has(write)),
          'acknowledged writes of which no event tells',
        ).to.deep.equal([])

        const enough = stream.mutations.length + ENOUGH
        const writing = Array.from({ length: WRITERS }, (_, i) => write(port, `${round}-${i}`, acknowledged))
        await stream.until(() => stream.mutations.length >= enough)
        await running.kill()
        running = undefined
        await Promise.all(writing)
        await stream.ended
        take(copy, stream)
      }
      expect(acknowledged.length).to.be.above(ROUNDS * 100)
      expect(new Set(copy.ids).size).to.equal(copy.ids.length)
    })
  })

/** Events of a stream that the copy has not seen. */
function take(copy: Copy, { mutations, events }: OpenStream): void {
  expect(events.some(({ event }) => event === 'reset')).to.equal(false)
  const seen = mutations.findIndex(({ id }) => id === copy.lastEventId)
  for (const mutation of mutations.slice(seen + 1)) copy.apply(mutation)
}

/** Adds items, changes them, moves some to the top and removes some, until the server is gone. */
async function write(port: number, name: string, acknowledged: string[]): Promise<void> {
  const http = client(port)
  const send = async (told: string, ...request: Parameters<typeof http>) => {
    const { status } = await http(...request)
    if (status < 300) acknowledged.push(told)
  }
  try {
    for (let n = 0; ; n++) {
      const id = `item-${name}-${n}`
      const at = { Range: `selector=#${id}` }
      await send(`POST ${id}=new`, 'POST', PATH, { Range: 'selector=#l' }, `<li id="${id}">new</li>`)
      if (n % 2 === 0) await send(`PUT ${id}=${n}`, 'PUT', PATH, at, `<li id="${id}">${n}</li>`)
      const top = { Destination: PATH, 'Destination-Range': 'selector=#first; placement=before' }
      if (n % 3 === 0) await send(`MOVE ${id}`, 'MOVE', PATH, { ...at, ...top })
      if (n % 4 === 0) await send(`DELETE ${id}`, 'DELETE', PATH, at)
    }
  } catch {
    // The server is gone.
  }
}
