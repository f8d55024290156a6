import { AssertionError, expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { entriesOf, typeKey } from '../../../pipeline/model/entries.ts'
import { itemElements } from '../../../pipeline/model/items.ts'
import { openSqliteStore } from '../../../pipeline/store/sqlite/store.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { expectIntegrity, PAGES, race, seeded, stationModel } from '../../pipeline/model/writers.ts'
import { NS, page, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import type { ServerProcess } from '../../support/process.ts'
import { type Installation, install } from '../write/crash-installation.ts'

const WRITERS = 16

describe('Data model, kill -9 under concurrent writers', () => {
  let installation: Installation
  let server: ServerProcess
  before(async function () {
    this.timeout(300_000)
    const model = { '/model.html': page(stationModel('true')), '/rules.html': rulesPage(['*', '*', 'Allow', '/*']) }
    installation = await install({ ...PAGES, ...model })
    server = await installation.start()
  })
  after(async () => {
    await server.stop()
    await installation.remove()
  })

  /** Writes until the server has been killed in the middle of it. */
  async function writeAndKill(seed: number): Promise<void> {
    const random = seeded(seed)
    let asked = 0
    let stopped: Promise<unknown> | undefined
    const killing = (below: number) => {
      if (++asked === 600 + 37 * seed) stopped = server.stop('SIGKILL')
      return random(below)
    }
    // Of what was under way when the server went, the connections broke.
    const racing = race([client(server.port)], WRITERS, 1_000, killing).catch((error: unknown) => {
      if (error instanceof AssertionError) throw error
    })
    await racing
    expect(stopped, 'killed while writing').not.to.equal(undefined)
    await stopped
  }

  /** MOD-40, MOD-51: what the index knows of each document is what its text says. */
  async function expectIndex(): Promise<void> {
    const store = await openSqliteStore({ folder: installation.data })
    try {
      const site = store.site('localhost')
      for (const path of Object.keys(PAGES)) {
        const resource = await site.find(path)
        const body = resource && (await site.body(resource))
        const text = body && 'bytes' in body ? Buffer.from(body.bytes).toString('utf8') : ''
        const entries = entriesOf(itemElements(parseDocument('html', text).root), NS)
        for (const { item, keys } of entries) {
          for (const key of keys) {
            const held = (await site.lookup([key])).filter(entry => entry.path === path)
            expect(
              held.map(entry => entry.item),
              `${path} ${key}`,
            ).to.include(item)
          }
        }
        for (const type of ['https://tides.example/Station', 'https://tides.example/Reading'].map(typeKey)) {
          const held = (await site.lookup([type])).filter(entry => entry.path === path)
          const said = entries.filter(({ keys }) => keys.includes(type))
          expect(held.map(({ item }) => item).sort(), `${path} ${type}`).to.deep.equal(
            said.map(({ item }) => item).sort(),
          )
        }
      }
    } finally {
      await store.close()
    }
  }

  for (const round of [1, 2, 3])
    it(`MOD-42, MOD-113 round ${round}: values are unique, references whole, and the index is that of the documents`, async function () {
      this.timeout(300_000)
      await writeAndKill(round)
      await expectIndex()
      server = await installation.start()
      await expectIntegrity(client(server.port))
    })
})
