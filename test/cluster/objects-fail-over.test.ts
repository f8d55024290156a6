import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { newObjectServer, type ObjectServer } from '../support/swift.ts'
import { faults, HANGS } from './faults.ts'
import type { Node } from './installation.ts'
import { ENOUGH } from './writers.ts'

const PREFIX = 'www/'

/** More than a database keeps by itself; no two alike. */
const bytesOf = (path: string) => Buffer.alloc(300_000, `${path}, `)

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('a database that fails over, with large files in a bucket', function () {
  this.timeout(HANGS)
  const { atEnd, startPair, install, begin } = faults()
  let objects: ObjectServer
  before(async () => {
    objects = await newObjectServer()
  })

  /** Writers of large files: each puts its own anew and removes every third. */
  function startFiles(nodes: readonly Node[]) {
    /** What each path holds by the last answer: nothing known once an answer was no success. */
    const known = new Map<string, string | undefined>()
    const doubtful = new Set<string>()
    let acknowledged = 0
    let isOver = false
    /** How many are waited for. */
    let wanted = 0
    const running = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; !isOver; i++) {
        const node = nodes[writer % nodes.length]
        const path = `/f${writer}-${i % 5}.bin`
        const bytes = bytesOf(`${path} ${i}`)
        const isRemoval = i % 3 === 2
        const answer = await (isRemoval
          ? node?.dav('DELETE', path)
          : node?.dav('PUT', path, { 'Content-Type': 'application/octet-stream' }, bytes)
        )?.catch(() => undefined)
        if (answer !== undefined && (answer.status < 300 || answer.status === 404)) {
          known.set(path, isRemoval ? undefined : digest(bytes))
          doubtful.delete(path)
          acknowledged++
        } else doubtful.add(path)
        // More of these prove nothing where nobody waits for them: they go on, and leave the processors to what is waited for.
        const isRefused = answer === undefined || answer.status >= 500
        await new Promise(resolve => setTimeout(resolve, isRefused || acknowledged >= wanted ? 100 : 20))
      }
    })
    return {
      known,
      doubtful,
      async untilMore(count: number) {
        wanted = acknowledged + count
        while (acknowledged < wanted) await new Promise(resolve => setTimeout(resolve, 10))
      },
      async end() {
        isOver = true
        await Promise.all(running)
      },
    }
  }

  it('HTTP-4 no acknowledged write is lost, and no file is without its bytes', async () => {
    await objects.start()
    atEnd(() => objects.remove())
    const { primary, replica, url } = await startPair()
    const { nodes } = await install({
      postgres: url,
      blobs: objects.url(PREFIX),
    })
    const writers = await begin(nodes)
    const files = startFiles(nodes)
    atEnd(() => files.end())
    await files.untilMore(20)
    await primary.stop('immediate')
    await writers.untilRefused(1)
    await replica.run('SELECT pg_promote(true)')
    await writers.untilMore(ENOUGH)
    await files.untilMore(20)
    await files.end()
    await writers.judge()
    const kept = new Set<string>()
    for (const node of nodes)
      for (const [path, wanted] of files.known) {
        const { status, body } = await node.http('GET', path)
        expect(status, path).to.be.oneOf([200, 404])
        if (status === 200) {
          kept.add(path)
          // Whatever it is, it is whole.
          expect(body, path).to.have.length(300_000)
        }
        if (!files.doubtful.has(path)) expect(status === 200 ? digest(body) : undefined, path).to.equal(wanted)
      }
    expect(kept.size).to.be.at.least(1)
    const stored = (await objects.names(PREFIX)).filter(name => !name.startsWith(`${PREFIX}owner/`))
    expect(stored.length).to.be.at.least(kept.size)
  })
})
