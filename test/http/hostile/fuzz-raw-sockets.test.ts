import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, rulesPage } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Client, client } from '../../support/http.ts'
import type { ServerProcess } from '../../support/process.ts'
import { type Installation, install } from '../write/crash-installation.ts'
import { selecting } from '../write-checks.ts'
import { broken, random, type Step } from './fuzz-requests.ts'

/** Counted, so that a busy machine looks at as much as a quiet one; `FUZZ_SECONDS` looks on for so long. */
const CONNECTIONS = 1_000
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 0)
const SEED = process.env.FUZZ ? Date.now() % 2 ** 31 : 20261120
const SOCKETS = 8
/** Milliseconds to wait for an answer that may never come. */
const PATIENCE = 200

const LIST = page('<ul id="l"><li>1</li></ul>')

describe('raw sockets', () => {
  let installation: Installation
  let server: ServerProcess
  let http: Client
  const statuses = new Map<number, number>()

  before(async () => {
    installation = await install({
      '/rules.html': rulesPage(['*', 'PUT|POST|DELETE|MOVE|PATCH', 'Allow', '/fuzz/*']),
      '/fuzz/a.html': LIST,
      '/kept.html': LIST,
    })
    server = await installation.start()
    http = client(server.port)
  })
  after(async () => {
    await server.stop('SIGKILL')
    await installation.remove()
  })

  /** Carries out the steps on a connection and counts the answers. */
  function drive(steps: Step[]): Promise<void> {
    return new Promise(resolve => {
      const socket = connect({ port: server.port, host: '127.0.0.1' })
      const chunks: Buffer[] = []
      const timer = setTimeout(() => socket.destroy(), PATIENCE)
      socket.on('data', chunk => chunks.push(chunk))
      socket.on('error', () => {})
      socket.on('close', () => {
        clearTimeout(timer)
        for (const [, status] of Buffer.concat(chunks)
          .toString('latin1')
          .matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) {
          statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1)
        }
        resolve()
      })
      socket.on('connect', async () => {
        for (const step of steps) {
          if ('send' in step) socket.write(step.send)
          else if ('pause' in step) await new Promise(resume => setImmediate(resume))
          else if (step.end === 'half') socket.end()
          else if (step.end === 'reset') socket.resetAndDestroy()
          else socket.destroySoon()
        }
      })
    })
  }

  async function openHandles(): Promise<number | undefined> {
    if (process.platform !== 'linux') return undefined
    return (await readdir(`/proc/${server.child.pid}/fd`)).length
  }

  /** Megabytes. */
  async function memory(): Promise<number> {
    if (process.platform !== 'linux') return 0
    return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024
  }

  it(`HTTP-11 ${CONNECTIONS} broken requests on ${SOCKETS} sockets leave the server as it was`, async function () {
    this.timeout((SECONDS + 120) * 1_000)
    const handles = await openHandles()
    const end = performance.now() + SECONDS * 1_000
    let connections = 0
    await Promise.all(
      Array.from({ length: SOCKETS }, async (_, i) => {
        const next = random(SEED + i)
        while (connections < CONNECTIONS || performance.now() < end) {
          await drive(broken(next))
          connections++
        }
      }),
    )
    const seen = JSON.stringify(Object.fromEntries(statuses))
    // It got through to every part: parser, gates, reads and writes.
    for (const status of [200, 206, 400, 401, 404, 405, 416, 422]) {
      expect(statuses.get(status) ?? 0, `${status} of ${seen}`).to.be.above(0)
    }
    expect(statuses.get(500), `seed ${SEED}: ${server.everything()}`).to.equal(undefined)
    expect(server.everything(), `seed ${SEED}`).not.to.include('unexpected failure')
    expect(server.everything(), `seed ${SEED}`).not.to.match(/^\(node:\d+\)/m)

    expect((await http('GET', '/-platform/health')).status).to.equal(200)
    expect((await http('PUT', '/fuzz/after.html', {}, LIST)).status).to.be.oneOf([200, 201])
    expect((await http('POST', '/fuzz/after.html', selecting('#l'), '<li>2</li>')).status).to.equal(206)
    expect((await http('GET', '/kept.html')).text).to.equal(LIST)
    if (handles !== undefined) await eventually(async () => expect(await openHandles()).to.be.at.most(handles + 3))
    expect(await memory()).to.be.below(600)
  })

  it('afterwards the server ends on request, and the store is sound', async () => {
    expect(await server.stop()).to.equal(0)
    const check = await installation.run('check')
    expect(check.output).to.match(/ 0 problems$/m)
  })
})
