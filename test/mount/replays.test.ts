/** What shipped clients send, replayed against mounts at every kind of address. */

import { expect } from 'chai'
import type { TestServer } from '../support/server.ts'
import { ADDRESSES, type AddressedMount } from './addresses.ts'
import { play, type Stage } from './replay.ts'
import { REPLAYS } from './replays/all.ts'

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const credentials = [
  { user: 'ada', password: 'pass:word', scope: ['/*'], write: true },
  { user: 'bob', password: 'another one', scope: ['/*'], write: true },
]

for (const { title, start } of ADDRESSES) {
  describe(`Clients of a mount ${title}`, () => {
    let mount: AddressedMount
    let server: TestServer
    let stage: Stage
    before(async () => {
      mount = await start({ site: { defaultGet: 'allow', credentials } })
      server = mount.server
      stage = {
        mount: mount.place,
        prefix: mount.prefix,
        authorization: basic('ada', 'pass:word'),
        secondAuthorization: basic('bob', 'another one'),
        visitors: { port: server.port },
        strict: true,
      }
    })
    after(() => mount.close())

    for (const [i, replay] of REPLAYS.entries()) {
      it(`${replay.client} ${replay.task}`, async () => {
        const collection = `replay-${i}`
        const paths = Object.keys(replay.events ?? {})
        const countOf = async (path: string) => (await server.site.store.events(`/${collection}${path}`)).length
        const before = new Map<string, number>()
        const played = await play(replay, stage, collection, async () => {
          for (const path of paths) before.set(path, await countOf(path))
        })
        const problems = played.flatMap(({ request, problems }) => problems.map(problem => `${request}: ${problem}`))
        expect(problems, problems.join('\n')).to.deep.equal([])
        expect(played.length).to.be.at.least(replay.steps.length)
        for (const path of paths) {
          const events = (await server.site.store.events(`/${collection}${path}`)).slice(before.get(path))
          const methods = events.map(({ payload }) => /itemprop="method">(\w+)</.exec(payload)?.[1])
          expect(methods, `events of ${path}`).to.deep.equal(replay.events?.[path])
        }
      })
    }
  })
}
