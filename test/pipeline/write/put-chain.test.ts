/** Files that are saved again while they are being saved: whatever fails, it is as if one had come after the other. */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import type { Answer } from '../../../pipeline/answer.ts'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../../pipeline/body.ts'
import { LeaseTimeout } from '../../../pipeline/coordination/leases.ts'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { readConditions } from '../../../pipeline/http/conditions.ts'
import { perform } from '../../../pipeline/operation.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { deleteDocument, putDocument } from '../../../pipeline/write/document.ts'
import { page } from '../../support/content.ts'
import { type OpenedFolder, openTemporary } from '../store/fixture.ts'
import { type Fate, fateful, openSite } from './fateful.ts'

const PATH = '/saved'

/** `same` brings the bytes that are there at the beginning, `first` wants them to be there still. */
type Work = 'text' | 'same' | 'page' | 'items' | 'malformed' | 'first' | 'delete'

const works = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Work>('text', 'page', 'same') },
    { weight: 2, arbitrary: fc.constantFrom<Work>('items', 'malformed', 'first', 'delete') },
  ),
  { minLength: 2, maxLength: 12 },
)
const fates = fc.array(
  fc.constantFrom<Fate>('stored', 'stored', 'stored', 'late', 'late', 'failed', 'lost', 'overtaken'),
  { maxLength: 8 },
)

const CONTENT: Readonly<Record<Exclude<Work, 'delete'>, (n: number) => [type: string, text: string]>> = {
  text: n => ['text/plain', `text ${n}`],
  same: () => ['text/plain', 'begun'],
  first: n => ['text/plain', `first ${n}`],
  page: n => ['text/html', page(`<p>${n}</p>`)],
  items: n => ['text/html', page(`<p itemscope itemtype="urn:example:T"><b itemprop="n">${n}</b></p>`)],
  malformed: () => ['application/xhtml+xml', '<p'],
}

const authority = () => fullAuthority
let startTag = ''

/** @param n names the write in its event */
async function run(site: Site, work: Work, n: number): Promise<Answer | Error> {
  const common = { path: PATH, conditions: undefined, cause: { session: `s${n}` } }
  try {
    if (work === 'delete') return await perform(deleteDocument(site, common, authority), NO_BODY)
    const [type, text] = CONTENT[work](n)
    const conditions = work === 'first' ? readConditions({ 'if-match': startTag }) : undefined
    const { headers, ...answer } = await perform(
      putDocument(site, { ...common, conditions, type }, authority),
      memoryBody(Buffer.from(text)),
    )
    const { 'Last-Modified': _, ...steady } = headers
    return { ...answer, headers: steady }
  } catch (error) {
    return error as Error
  }
}

describe('savers of one file', () => {
  let opened: OpenedFolder
  let count = 0

  before(async () => {
    opened = await openTemporary()
  })
  after(() => opened.close())

  async function begin(plan: readonly Fate[]): Promise<{ site: Site; store: SiteStore }> {
    const store = opened.store.site(`saved${++count}`)
    const begun: Fate[] = []
    const site = await openSite(fateful(store, PATH, begun))
    const write = { path: PATH, type: 'text/plain', conditions: undefined, cause: {} }
    await perform(putDocument(site, write, authority), memoryBody(Buffer.from('begun')))
    startTag = (await site.find(PATH))?.tag ?? ''
    begun.push(...plan)
    return { site, store }
  }

  const sessionsOf = async (store: SiteStore) =>
    (await store.events(PATH)).flatMap(({ session }) => (session === undefined ? [] : [Number(session.slice(1))]))

  async function judge(list: readonly Work[], plan: readonly Fate[]): Promise<void> {
    const { site, store } = await begin(plan)
    const outcomes = await Promise.all(list.map((work, n) => run(site, work, n)))
    const order = await sessionsOf(store)
    expect(new Set(order).size).to.equal(order.length)
    const other = await begin([])
    for (const n of order) {
      const alone = await run(other.site, list[n] ?? expect.fail('an event of nobody'), n)
      const together = outcomes[n]
      if (!(together instanceof Error)) expect(together, `write ${n}`).to.deep.equal(alone)
      // What the store could not tell of is stored.
      else expect([together.message, alone instanceof Error]).to.deep.equal(['nobody knows', false])
    }
    for (const [n, outcome] of outcomes.entries()) {
      if (!(outcome instanceof Error)) expect(order).to.include(n)
      else if (outcome instanceof Fault) expectRefusal(list, order, n, outcome)
      else expect(outcome.message).to.be.oneOf(['nobody knows', 'no room'])
    }
    const stored = await store.find(PATH)
    expect((await site.find(PATH))?.resource).to.deep.equal(stored)
    expect(stored?.digest).to.equal((await other.site.find(PATH))?.resource.digest)
    expect(await store.derived(PATH, 'profile')).to.equal(await other.store.derived(PATH, 'profile'))
  }

  /** What was refused had a reason for it in what is stored. */
  function expectRefusal(list: readonly Work[], order: readonly number[], n: number, { status }: Fault): void {
    const work = list[n]
    if (work === 'malformed') expect(status).to.equal(422)
    else if (work === 'first') expect([status, order.length > 0]).to.deep.equal([412, true])
    else expect([work, status, order.some(each => list[each] === 'delete')]).to.deep.equal(['delete', 404, true])
  }

  it('HTTP-4 whatever comes together and fails, it is as if each had come alone', async () => {
    await fc.assert(fc.asyncProperty(works, fates, judge), { numRuns: Number(process.env.FUZZ ?? 25) })
  })

  const CASES: [string, Work[], Fate[]][] = [
    ['one after another', ['text', 'page', 'text', 'same'], []],
    ['the store tells of the first after the second', ['text', 'text', 'page', 'text'], ['late', 'stored', 'late']],
    ['the first fails', ['text', 'text', 'text'], ['failed']],
    ['nobody knows of the first', ['text', 'text', 'text'], ['lost']],
    ['somebody else comes before the first', ['text', 'text', 'text'], ['overtaken']],
    ['one that is removed between', ['text', 'delete', 'text'], []],
    ['one that declares something between', ['text', 'items', 'text'], []],
  ]
  for (const [title, list, plan] of CASES) it(`HTTP-4 ${title}`, () => judge(list, plan))

  it('HTTP-4 a save whose time is over while it waits is refused, and not stored', async () => {
    const { site, store } = await begin([])
    const impatient = localLeases({ patience: 1 })
    Object.assign(site, { leases: impatient })
    const release = Promise.withResolvers<void>()
    const holding = impatient.hold(site.store.name, [PATH], () => release.promise)
    const outcomes = await Promise.all([run(site, 'text', 0), run(site, 'page', 1)])
    for (const outcome of outcomes) expect(outcome).to.be.instanceOf(LeaseTimeout)
    release.resolve()
    await holding
    expect(await sessionsOf(store)).to.deep.equal([])
    expect(await run(site, 'text', 2)).to.have.property('status', 200)
  })

  it('HTTP-4 a save does not wait for the one before it to be on disk, and locks wait for both', async () => {
    const { site } = await begin([])
    const { commit } = site.store
    const gate = Promise.withResolvers<void>()
    const both = Promise.withResolvers<void>()
    let begun = 0
    site.store.commit = async asked => {
      const result = commit(asked)
      if (++begun === 2) both.resolve()
      await gate.promise
      return result
    }
    const saves = [run(site, 'text', 0), run(site, 'text', 1)]
    await both.promise
    let isOver = false
    const outlasting = site.leases.outlast(site.store.name, PATH).then(() => {
      isOver = true
    })
    await Promise.resolve()
    expect(isOver).to.equal(false)
    gate.resolve()
    for (const answer of await Promise.all(saves)) expect(answer).to.have.property('status', 200)
    await outlasting
  })
})
