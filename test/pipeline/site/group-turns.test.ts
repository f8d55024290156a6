/** Groups that decide by a program, asked for several sites and people at once (GRP-5). */

import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Group } from '../../../pipeline/access/rules.ts'
import { Allowance, AllowanceSpent } from '../../../pipeline/language/allowance.ts'
import { compileInTurns, evaluate, type SesselHost } from '../../../pipeline/language/sessel/sessel.ts'
import { type CodeHost, noCode } from '../../../pipeline/model/code.ts'
import { schemaGroups } from '../../../pipeline/site/schema-groups.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import { NS, page, put, putAll, type Shelf } from '../../support/content.ts'
import { holdCommits } from '../../support/held-commits.ts'
import { startServer } from '../../support/server.ts'
import { sessel } from '../react/site.ts'

const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:t:Club"><meta itemprop="parent" content="${NS}/Group"><div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">${sessel('implementation', 'true')}</div></div>`,
)
const club = (name: string) => `<div itemscope itemtype="urn:t:Club"><meta itemprop="name" content="${name}"></div>`
const GROUPS = page(club('club'))

describe('groups that decide by a program', () => {
  async function withSites(work: (...sites: Site[]) => Promise<void>): Promise<void> {
    const servers = await Promise.all([startServer(), startServer()])
    try {
      for (const server of servers) await putAll(server, { '/schema.html': SCHEMA, '/groups.html': GROUPS })
      await work(...servers.map(({ site }) => site))
    } finally {
      await Promise.all(servers.map(server => server.close()))
    }
  }

  const clubOf = (site: Site): Group => {
    const [group] = site.rules.groupsNamed('club')
    if (!group) throw new Error('no group')
    return group
  }
  /** Has all groups of a site answer so. */
  const answering = (site: Site, includes: CodeHost['includes']) =>
    Object.defineProperty(site, 'code', { value: () => ({ ...noCode, includes }) })
  const asks = (site: Site, email: string) => schemaGroups(site).includes(clubOf(site), email, {})

  it('GRP-5 of one site do not wait for those of another', () =>
    withSites(async (slow, other) => {
      if (!slow || !other) throw new Error('no sites')
      const { promise, resolve } = Promise.withResolvers<void>()
      answering(slow, () => promise.then(() => ({ value: true })))
      const held = asks(slow, 'a@x.example')
      expect(await asks(other, 'a@x.example')).to.equal(true)
      resolve()
      expect(await held).to.equal(true)
    }))

  it('GRP-5 of one site go one after another, people in turns', () =>
    withSites(async site => {
      if (!site) throw new Error('no site')
      const asked: string[] = []
      let at = 0
      answering(site, async (_method, _at, email) => {
        expect(++at, 'programs at once').to.equal(1)
        asked.push(email)
        await new Promise(setImmediate)
        at--
        return { value: true }
      })
      await Promise.all(['a', 'a', 'a', 'a', 'b'].map(email => asks(site, email)))
      expect(asked.indexOf('b')).to.be.below(3)
    }))

  it('GRP-5 that had to wait in vain count as not asked, not as without members', () =>
    withSites(async site => {
      if (!site) throw new Error('no site')
      const failure = { language: '', variant: 'timeout' as const, message: '' }
      answering(site, async () => ({ failure }))
      expect(await asks(site, 'a@x.example')).to.equal(undefined)
    }))

  it('GRP-5 are asked in the document that the rules are of, not in one that has just come to the store', () =>
    withSites(async site => {
      if (!site) throw new Error('no site')
      const asked: unknown[] = []
      answering(site, async (_method, { element }) => {
        asked.push(element)
        return { value: true }
      })
      const { isStored, letKnow } = holdCommits(site.store)
      const saved = put({ site } as Shelf, '/groups.html', page(club('others') + club('club')))
      await isStored
      // Out of memory, as when others have needed the room.
      await site.follow([{ version: 0, paths: ['/groups.html'], raised: [] }])
      const answer = asks(site, 'a@x.example')
      await setTimeout(100)
      letKnow()
      await saved
      expect([await answer, asked]).to.deep.equal([undefined, []])
    }))

  it('SES-213 an allowance stays spent whoever has told that it is', async () => {
    const host: SesselHost = {
      ns: NS,
      self: undefined,
      prior: undefined,
      names: new Map(),
      reach: undefined,
      base: undefined,
      schemas: undefined,
      selectors: undefined,
      platform: { get: () => Promise.reject(new AllowanceSpent('turns')) },
    } as never
    const allowance = new Allowance()
    const program = await compileInTurns('@schema L url("https://platform.example/ns/1.0"); L.GET("/x")')
    const failed = await (async () => evaluate(program, host, allowance))().catch(error => error)
    expect(failed).to.be.instanceOf(AllowanceSpent)
    expect(allowance.spent).to.equal('turns')
  })
})
