/** Writers of one document who come together: whatever fails on the way, it is as if they had come one after another. */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import type { Answer } from '../../../pipeline/answer.ts'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../../pipeline/body.ts'
import type { Leases } from '../../../pipeline/coordination/leases.ts'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { readConditions } from '../../../pipeline/http/conditions.ts'
import { perform } from '../../../pipeline/operation.ts'
import { Coherence, leasesInStep } from '../../../pipeline/site/coherence.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { SiteStore, Store } from '../../../pipeline/store/store.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { deleteDocument, putDocument } from '../../../pipeline/write/document.ts'
import { type ElementWrite, writeElement } from '../../../pipeline/write/element.ts'
import { page } from '../../support/content.ts'
import { type OpenedFolder, openTemporary } from '../store/fixture.ts'
import { type Fate, fateful, openSite } from './fateful.ts'

const PATH = '/list.html'
const ITEMS = [0, 1, 2, 3]
const START = page(`<ul id="l">${ITEMS.map(i => `<li id="i${i}">${i}</li>`).join('')}</ul><p id="p">text</p>`)

/** One write; `item` is one of those that the document begins with. */
type Work =
  | { op: 'append' | 'prepend' | 'malformed' | 'nowhere' | 'first' | 'microdata' }
  | { op: 'put' | 'delete' | 'move' | 'before'; item: number }
  | { op: 'whole' }

/** Who has the document: one process, two that have their leases in common, or two that know nothing of each other's. */
type How = 'alone' | 'shared' | 'rivals'

const authority = () => fullAuthority
const fates = fc.array(fc.constantFrom<Fate>('stored', 'stored', 'stored', 'failed', 'lost', 'overtaken'), {
  maxLength: 8,
})
/** Of what nobody knows the store itself tells later, where it is shared. */
const sharedFates = fc.array(fc.constantFrom<Fate>('stored', 'stored', 'stored', 'failed', 'overtaken'), {
  maxLength: 8,
})
const works = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ op: fc.constantFrom('append' as const, 'prepend' as const) }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('malformed', 'nowhere', 'first', 'microdata') }) },
    {
      weight: 4,
      arbitrary: fc.record({
        op: fc.constantFrom('put', 'delete', 'move', 'before'),
        item: fc.constantFrom(...ITEMS),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('whole' as const) }) },
  ),
  { minLength: 2, maxLength: 12 },
) as fc.Arbitrary<Work[]>

/** @param n names the write in its event */
async function run(site: Site, work: Work, n: number): Promise<Answer | Error> {
  const cause = { session: `s${n}` }
  const common = { path: PATH, conditions: undefined, cause }
  const range = (selector: string) => ({ unit: 'selector' as const, selector, wire: selector })
  const element = (write: Partial<ElementWrite>, text = '') =>
    perform(
      writeElement(site, { ...common, ...write } as ElementWrite, authority),
      text === '' ? NO_BODY : memoryBody(Buffer.from(text)),
    )
  const item = `<li id="n${n}">ünö ${n}</li>`
  const post = (selector: string, placement: string, text = item) =>
    element({ op: 'post', range: range(selector), placement } as Partial<ElementWrite>, text)
  const tag = `"${'0'.repeat(64)}"`
  try {
    switch (work.op) {
      case 'append':
      case 'prepend':
        return await post('#l', work.op)
      case 'before':
        return await post(`#i${work.item}`, 'before')
      case 'malformed':
        return await post('#l', 'append', '   ')
      case 'nowhere':
        return await post('#none', 'append')
      case 'microdata':
        return await post('#l', 'append', `<li itemscope itemtype="urn:example:T"><b itemprop="n">${n}</b></li>`)
      case 'first':
        return await element(
          {
            op: 'put',
            range: range('#p'),
            conditions: readConditions({ 'if-match': startTag, ...(n % 2 === 0 && { 'if-none-match': tag }) }),
          } as Partial<ElementWrite>,
          `<p id="p">by ${n}</p>`,
        )
      case 'put':
        return await element({ op: 'put', range: range(`#i${work.item}`) }, `<li id="i${work.item}">by ${n}</li>`)
      case 'delete':
        return await element({ op: 'delete', range: range(`#i${work.item}`) })
      case 'move':
        return await element({
          op: 'move',
          range: range(`#i${work.item}`),
          destination: { selector: '#l', wire: '#l', placement: 'append' },
        })
      case 'whole': {
        const write = { ...common, type: 'text/html' }
        const text = START.replace('>text<', `>whole ${n}<`)
        return await perform(putDocument(site, write, authority), memoryBody(Buffer.from(text)))
      }
    }
  } catch (error) {
    return error as Error
  }
}

let startTag = ''

describe('writers of one document', () => {
  let opened: OpenedFolder
  let shared: OpenedFolder
  const processes: { store: Store; coherence: Coherence }[] = []
  let count = 0

  before(async () => {
    opened = await openTemporary()
    shared = await openTemporary({ shared: true })
    for (const store of [shared.store, await shared.another()])
      processes.push({ store, coherence: new Coherence({ foreign: store.foreign ?? expect.fail(), every: 60_000 }) })
  })
  after(async () => {
    for (const { coherence } of processes) await coherence.close()
    for (const { close } of [opened, shared]) await close()
  })

  /** Sites as several processes have them that share a store. */
  function openTogether(name: string, plan: Fate[], common: Leases | undefined): Promise<Site[]> {
    return Promise.all(
      processes.map(({ store, coherence }) => {
        const leases = leasesInStep(common ?? localLeases(), coherence, store)
        return coherence.open(name, () => openSite(fateful(store.site(name), PATH, plan), { coherence, leases }))
      }),
    )
  }

  /** @param how with leases: shared by two processes that have these */
  async function begin(plan: Fate[], how: How | Leases = 'alone') {
    const name = `site${++count}`
    const store = (how === 'alone' ? opened : shared).store.site(name)
    const begun: Fate[] = []
    const sites =
      how === 'alone'
        ? [await openSite(fateful(store, PATH, begun))]
        : await openTogether(name, begun, typeof how === 'object' ? how : how === 'shared' ? localLeases() : undefined)
    const [site] = sites
    if (!site) throw new Error('there is no site')
    const write = { path: PATH, type: 'text/html', conditions: undefined, cause: {} }
    await perform(putDocument(site, write, authority), memoryBody(Buffer.from(START)))
    startTag = (await site.find(PATH))?.tag ?? ''
    begun.push(...plan)
    return { site, sites, store, begun }
  }

  const sessionsOf = async (store: SiteStore) =>
    (await store.events(PATH)).flatMap(({ session }) => (session === undefined ? [] : [Number(session.slice(1))]))

  async function judge(list: readonly Work[], plan: readonly Fate[], how?: How): Promise<void> {
    const { sites, store } = await begin([...plan], how)
    const siteOf = (n: number) => sites[n % sites.length] ?? expect.fail('there is no site')
    // Some read its elements meanwhile.
    const reads = list.map(async (_, n) => siteOf(n).parsed((await siteOf(n).findParsed(PATH)) ?? expect.fail('gone')))
    const outcomes = await Promise.all(list.map((work, n) => run(siteOf(n), work, n)))
    await Promise.all(reads)
    const order = await sessionsOf(store)
    expect(new Set(order).size).to.equal(order.length)
    const other = await begin([])
    for (const n of order) {
      const alone = await run(other.site, list[n] ?? expect.fail('an event of nobody'), n)
      const together = outcomes[n]
      if (!(together instanceof Error)) expect(together).to.deep.equal(alone)
      // What the store could not tell of is stored.
      else expect([together.message, alone instanceof Error]).to.deep.equal(['nobody knows', false])
    }
    for (const [n, outcome] of outcomes.entries()) {
      if (!(outcome instanceof Error)) expect(order).to.include(n)
      else if (outcome instanceof Fault) expectRefusal(list, order, n, outcome)
      else expect(['nobody knows', 'no room']).to.include(outcome.message)
    }
    for (const site of sites) {
      await site.inStep()
      await expectSame(site, other.site, store)
    }
  }

  /** What was refused had a reason for it in what is stored. */
  function expectRefusal(list: readonly Work[], order: readonly number[], n: number, { status }: Fault): void {
    const work = list[n]
    const others = order.map(each => list[each])
    if (work?.op === 'malformed') expect(status).to.be.oneOf([400, 422])
    else if (work?.op === 'nowhere') expect(status).to.equal(416)
    else if (work?.op === 'first') expect([status, others.length > 0]).to.deep.equal([412, true])
    else if (work && 'item' in work) {
      expect(status).to.equal(416)
      expect(others.some(other => other?.op === 'delete' && other.item === work.item)).to.equal(true)
    } else expect.fail(`${work?.op} was refused: ${status}`)
  }

  /** Memory holds what the store holds, tree and all; so does whoever opens the site anew. */
  async function expectSame(site: Site, alone: Site, store: SiteStore): Promise<void> {
    const file = await site.findParsed(PATH)
    const stored = await store.find(PATH)
    expect(file?.resource).to.deep.equal(stored)
    expect(stored?.digest).to.equal((await alone.find(PATH))?.resource.digest)
    if (!file) return
    const text = Buffer.from(file.bytes ?? []).toString()
    expect(plain(site.tree(file).root)).to.deep.equal(plain(parseDocument('html', text).root))
    const body = stored && (await store.body(stored))
    expect(body && 'bytes' in body && Buffer.from(body.bytes).toString()).to.equal(text)
    expect(await store.derived(PATH, 'profile')).to.equal(await alone.store.derived(PATH, 'profile'))
  }

  /** A tree without the way up. */
  const plain = (node: object) =>
    JSON.parse(JSON.stringify(node, (key, value) => (key === 'parentNode' ? null : value)))

  it('HTTP-4, HTTP-96 whatever comes together and fails, it is as if each had come alone', async () => {
    await fc.assert(
      fc.asyncProperty(works, fates, (list, plan) => judge(list, plan)),
      { numRuns: Number(process.env.FUZZ ?? 12) },
    )
  })

  for (const how of ['shared', 'rivals'] as const)
    it(`HTTP-4, RULE-11 the same by way of several processes: ${how}`, async () => {
      await fc.assert(
        fc.asyncProperty(works, sharedFates, (list, plan) => judge(list, plan, how)),
        { numRuns: Number(process.env.FUZZ ?? 12) },
      )
    })

  const appends = (number: number): Work[] => Array.from({ length: number }, () => ({ op: 'append' as const }))
  const CASES: [string, Work[], Fate[]][] = [
    ['one after another', appends(12), []],
    ['the first of those that go together fails', appends(5), ['stored', 'failed']],
    ['one in the middle fails', appends(6), ['stored', 'stored', 'stored', 'failed']],
    ['nobody knows of one in the middle', appends(6), ['stored', 'stored', 'lost']],
    [
      'one is refused by what another one left, which fails',
      [...appends(1), { op: 'put', item: 0 }, { op: 'first' }],
      ['failed', 'failed'],
    ],
  ]
  for (const [title, list, plan] of CASES) it(`HTTP-4 ${title}`, () => judge(list, plan))

  for (const how of ['alone', 'shared'] as const)
    it(`HTTP-4 writers who come together are committed together: ${how}`, () => together(how))

  async function together(how: How): Promise<void> {
    const { site, store } = await begin([], how)
    let underWay = 0
    let most = 0
    const { commit } = site.store
    site.store.commit = async asked => {
      most = Math.max(most, ++underWay)
      const result = await commit(asked)
      underWay--
      return result
    }
    // On a machine that is busy with something else an edit may not be made in time to go with others.
    for (let done = 0; most < 2; done += 9) {
      await Promise.all(appends(9).map((work, n) => run(site, work, n)))
      expect(await sessionsOf(store)).to.have.length(done + 9)
    }
  }

  it('DAV-8 writers who lose their lease while they are committed together are refused, and nothing of theirs is stored', async () => {
    let [asked, held] = [0, Number.POSITIVE_INFINITY]
    const leases: Leases = { ...localLeases(), confirm: () => ++asked <= held }
    const { site, store } = await begin([], leases)
    const list = appends(9)
    for (let begun = 0; ; begun += list.length) {
      // The first has the document to itself, so that two of those behind it are stored.
      held = asked + 3
      const outcomes = await Promise.all(list.map((work, n) => run(site, work, begun + n)))
      const answered = outcomes.flatMap((outcome, n) => (outcome instanceof Error ? [] : [begun + n]))
      for (const outcome of outcomes) if (outcome instanceof Error) expect((outcome as Fault).status).to.equal(503)
      expect(answered).to.have.length(3)
      expect((await sessionsOf(store)).slice(-3)).to.have.members(answered)
      expect((await site.find(PATH))?.resource).to.deep.equal(await store.find(PATH))
      if (begun > 20) break
    }
  })

  it('HTTP-4 a document that goes while others wait is gone for them', async () => {
    const { site } = await begin([])
    const first = run(site, { op: 'append' }, 0)
    const gone = perform(deleteDocument(site, { path: PATH, conditions: undefined, cause: {} }, authority), NO_BODY)
    const rest = appends(4).map((work, n) => run(site, work, n + 1))
    await gone
    for (const outcome of await Promise.all([first, ...rest]))
      if (outcome instanceof Error) expect((outcome as Fault).status).to.equal(404)
    expect(await site.find(PATH)).to.equal(undefined)
  })
})
