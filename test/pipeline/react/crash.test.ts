/** Processes that are killed between the commit and the delivery lose nothing (REA-86). */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { eventually } from '../../support/eventually.ts'
import { startCrashProcess } from './crash-process.ts'
import { receiver } from './receiver.ts'
import { ask } from './site.ts'

describe('Killed between commit and delivery', () => {
  it('REA-86 every write that was acknowledged is delivered, however often the process is killed', async function () {
    this.timeout(180_000 * Math.max(1, Number(process.env.KILLS ?? 2) / 12))
    const data = await mkdtemp(join(tmpdir(), 'scriptorium-crash-'))
    let hold = true
    const confirmed = new Set<string>()
    const to = await receiver((_, response, { url: target }) => {
      // What is under way when the process is killed was not confirmed.
      if (hold) return
      confirmed.add(target.replace('/hook', ''))
      response.writeHead(204).end()
    })
    const url = `${to.url}/hook`
    const acknowledged: string[] = []
    const rounds = Number(process.env.KILLS ?? 2)
    try {
      for (let round = 0; round < rounds; round++) {
        const running = await startCrashProcess(data, url)
        const writes = Array.from({ length: 8 }, async (_, i) => {
          const path = `/d/${round}-${i}.html`
          const reply = await ask(running.origin, 'PUT', path, { body: `<p>${i}` }).catch(() => undefined)
          if (reply?.status === 201) acknowledged.push(path)
        })
        // Some are answered, some are not.
        await Promise.race(writes)
        if (round % 2 === 0) await Promise.all(writes)
        await running.kill()
        await Promise.allSettled(writes)
      }
      hold = false
      const last = await startCrashProcess(data, '')
      await eventually(() => {
        expect(acknowledged.filter(path => !confirmed.has(path))).to.deep.equal([])
      })
      await last.kill()
      expect(acknowledged.length).to.be.at.least(rounds)
      if (process.env.KILLS !== undefined)
        console.log(`      ${acknowledged.length} writes, ${rounds} kills, none lost`)
    } finally {
      await to.close()
      await rm(data, { recursive: true, force: true })
    }
  })
})
