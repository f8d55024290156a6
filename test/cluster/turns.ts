/**
 * How long everything takes on this machine at the moment: servers are asked for what needs neither database nor Redis the
 * whole time, so that a wait can be told from a machine that others keep busy, and from a disk that others wait for by what
 * writes took that came before.
 */

import { expect } from 'chai'
import { connect } from '../support/http.ts'
import type { Cluster as Database } from '../support/postgres.ts'
import type { Node } from './installation.ts'

/** Milliseconds after which a write is refused at the latest while a database or Redis is away. */
const REFUSED_IN = 2000

/** Turns of a server and of this process that a refusal takes besides: questions that fail, attempts, its answer. */
const TURNS = 10

/** Connections that a database which answers makes for a refusal: of what was under way, of the write, of its next attempt. */
const CONNECTIONS = 3

export interface Turns {
  /** A write was acknowledged just now. @param begun by the clock of this process */
  acknowledged(begun: number): void
  /** @param since when somebody waited for the refusal that came just now, by the clock of this process */
  requireSoon(since: number, what: string): void
  end(): Promise<void>
}

interface Turn {
  begun: number
  ended: number
}

/**
 * @param nodes may be exchanged meanwhile
 * @param database of those nodes, if it answers the whole time
 */
export function watchTurns(nodes: readonly Node[], database?: Database): Turns {
  const turns: Turn[] = []
  const writes: Turn[] = []
  let isOver = false

  async function ask(i: number): Promise<void> {
    while (!isOver) {
      const begun = performance.now()
      // No server looks up anything for a request that is none.
      await refusalOf(nodes[i]?.server.port).catch(() => undefined)
      turns.push({ begun, ended: performance.now() })
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
  const connections: Turn[] = []
  async function askDatabase(): Promise<void> {
    while (database !== undefined && !isOver) {
      const begun = performance.now()
      await database.run('SELECT 1').catch(() => undefined)
      connections.push({ begun, ended: performance.now() })
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  }
  const running = [...nodes.map((_, i) => ask(i)), askDatabase()]
  return {
    acknowledged(begun) {
      writes.push({ begun, ended: performance.now() })
    },
    requireSoon(since, what) {
      const now = performance.now()
      const took = Math.round(now - since)
      // One that came before the failure may have waited for the disk first.
      const before = longest(writes, since - REFUSED_IN)
      const most = REFUSED_IN + TURNS * longest(turns, since) + CONNECTIONS * longest(connections, since) + before
      expect(took, `milliseconds: ${what}`).to.be.below(most)
    },
    async end() {
      isOver = true
      await Promise.all(running)
    },
  }
}

/** @returns how long the longest took of those that ended since */
function longest(turns: readonly Turn[], since: number): number {
  return turns.reduce((most, { begun, ended }) => (ended > since ? Math.max(most, ended - begun) : most), 0)
}

async function refusalOf(port = 0): Promise<void> {
  const raw = await connect(port)
  try {
    raw.send('no request\r\n\r\n')
    await raw.receive()
  } finally {
    raw.close()
  }
}
