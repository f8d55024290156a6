/** Whichever write changes what documents declare, every process knows it afterwards (RULE-11, RULE-12, GRP-4). */

import { Readable } from 'node:stream'
import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { sameDeclarations } from '../../pipeline/access/extract.ts'
import { fullAuthority } from '../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../pipeline/body.ts'
import { checkDeclarations } from '../../pipeline/declarations/check.ts'
import { Fault } from '../../pipeline/fault.ts'
import { noCode } from '../../pipeline/model/code.ts'
import { sameModel } from '../../pipeline/model/declarations.ts'
import { perform } from '../../pipeline/operation.ts'
import type { Site } from '../../pipeline/site/site.ts'
import type { SiteStore, Store } from '../../pipeline/store/store.ts'
import type { Placement } from '../../pipeline/tree/edit/edit.ts'
import { makeCollection, removeTree, transferTree } from '../../pipeline/write/collection.ts'
import { deleteDocument, putDocument } from '../../pipeline/write/document.ts'
import { type ElementWrite, writeElement } from '../../pipeline/write/element.ts'
import { moveDocument } from '../../pipeline/write/move.ts'
import { ensureParents } from '../../pipeline/write/places.ts'
import { type HostedSite, openHosted } from '../pipeline/model/hosted.ts'
import { instance, meta, property, schema, shape } from '../pipeline/model/markup.ts'
import { listPage } from '../pipeline/model/shelf.ts'
import { type Opened, openTemporary } from '../pipeline/store/fixture.ts'
import { NS, ruleMarkup } from '../support/content.ts'
import { members } from './members.ts'

const PLACE = 'x:Place'
const OWN_RULE = 'x:Rule'
const RULES = `${NS}/AuthorizationRule`
const PLACES = ['/w/1', '/w/2']

/** Items of pages. Some are rules by what another page declares, and go when the place goes that they are about. */
const ITEMS = [
  '<li>plain</li>',
  `<li>${ruleMarkup(['*', 'PUT', 'Allow', '/w/*'])}</li>`,
  `<li>${ruleMarkup(['*', 'PUT', 'Deny', '/v/*'])}</li>`,
  `<li itemscope itemtype="${NS}/Group">${meta('name', 'crew')}${meta('member', 'a@b.example')}</li>`,
  schema(OWN_RULE, { parent: RULES }, property('resource', { references: `${PLACE}#name`, cascade: 'true' })),
  schema(OWN_RULE),
  schema(PLACE, {}, property('name', { unique: 'true' })),
  shape({ selector: 'ul', constraint: '*' }),
  ...PLACES.map(name => instance(PLACE, { name })),
  ...PLACES.map(resource => instance(OWN_RULE, { actor: '*', method: 'PUT', resource, action: 'Allow' })),
]

const item = fc.constantFrom(...ITEMS)
const items = fc.array(item, { maxLength: 4 })
/** A file without an extension is no document, until it gets a name that makes it one. */
const FILES = ['/a.html', '/d/a.html', '/d/b', '/d/e/a.html']
const file = fc.constantFrom(...FILES)
const collection = fc.constantFrom('/d/', '/d/e/', '/f/')
const ends = (path: fc.Arbitrary<string>) =>
  fc.record({ from: path, to: path }).filter(({ from, to }) => !to.startsWith(from) && !from.startsWith(to))

const write = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('put' as const), path: file, items }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('append' as const), path: file, item }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('cut' as const, 'delete' as const), path: file }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('swap' as const), path: file, item }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('rename' as const), ends: ends(file) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('make' as const, 'remove' as const), path: collection }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('move' as const, 'copy' as const),
      ends: fc.oneof(ends(file), ends(collection)),
      deep: fc.boolean(),
    }),
  },
)
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never

const authority = () => fullAuthority
const common = { conditions: undefined, cause: {} }

async function carryOut(site: Site, store: Store, asked: Write): Promise<void> {
  const element = (change: Pick<ElementWrite, 'op'> & { selector: string; item?: string; placement?: Placement }) => {
    const { op, selector, item: text = '', placement = 'append' } = change
    if (!('path' in asked) || op === 'move') throw new Error('not of one element')
    const range = { unit: 'selector', selector, wire: selector } as const
    const write = { op, path: asked.path, range, placement, ...common } as ElementWrite
    return perform(writeElement(site, write, authority), memoryBody(Buffer.from(text)))
  }
  switch (asked.op) {
    case 'put': {
      const bytes = Buffer.from(listPage(...asked.items))
      const body = {
        bytes: async () => bytes,
        stage: (limit: number) => store.stage(Readable.from([bytes]), { limit }),
      }
      return void (await perform(putDocument(site, { path: asked.path, type: undefined, ...common }, authority), body))
    }
    case 'append':
      return void (await element({ op: 'post', selector: '#list', item: asked.item }))
    case 'swap':
      return void (await element({ op: 'put', selector: '#list > :first-child', item: asked.item }))
    case 'cut':
      return void (await element({ op: 'delete', selector: '#list > :last-child' }))
    case 'delete':
      return void (await perform(deleteDocument(site, { path: asked.path, ...common }, authority), NO_BODY))
    case 'rename':
      return void (await perform(
        moveDocument(site, { path: asked.ends.from, to: asked.ends.to, overwrite: true, ...common }, authority),
        NO_BODY,
      ))
    case 'make':
      await ensureParents(site, asked.path)
      return void (await makeCollection(site, asked.path))
    case 'remove':
      return removeTree(site, { path: asked.path, cause: {} })
    default: {
      const { op, ends: places, deep } = asked
      await transferTree(site, { op, ...places, deep, overwrite: true, cause: {} })
    }
  }
}

/** Insists that a process knows what documents declare, as stored. */
async function knows<Raw>(
  known: { documentsUnder(path: string): string[]; document(path: string): Raw | undefined },
  store: SiteStore,
  kind: 'access' | 'model',
  same: (a: Raw | undefined, b: Raw | undefined) => boolean,
): Promise<void> {
  const paths: string[] = []
  for await (const { path, value } of store.allDerived(kind)) {
    // Stored data have no absence: a document that declares nothing any more says so.
    const raw = JSON.parse(value) as Raw | null
    if (raw === null) continue
    paths.push(path)
    expect(same(known.document(path), raw), `${kind} ${path}`).to.equal(true)
  }
  expect(known.documentsUnder('/').sort(), kind).to.deep.equal(paths.sort())
}

/** Insists that what is stored of declarations is what the documents say. */
async function expectSaid(store: SiteStore, { derivation }: Site): Promise<void> {
  const { wrong } = await checkDeclarations(store, derivation, false)
  expect(wrong.filter(({ declares }) => declares)).to.deep.equal([])
}

const RUNS = { numRuns: Number(process.env.FUZZ ?? 12), seed: Number(process.env.SEED ?? 20261121) }

describe('What documents declare, in two processes', () => {
  let opened: Opened
  let stores: [Store, Store]
  let sites = 0
  before(async () => {
    opened = await openTemporary({ shared: true })
    stores = [opened.store, await opened.another()]
  })
  after(() => opened.close())

  interface Process {
    hosted: HostedSite
    store: Store
  }

  /** A site of its own, in both processes. */
  async function openSite(): Promise<{ processes: [Process, Process]; shelf: SiteStore }> {
    const name = `s${sites++}.example`
    const open = async (store: Store) => ({ store, hosted: await openHosted(noCode, { store, name }) })
    return { processes: [await open(stores[0]), await open(stores[1])], shelf: stores[0].site(name) }
  }

  async function follow({ store, hosted: { site } }: Process): Promise<void> {
    const { commits = [] } = (await store.foreign?.read()) ?? {}
    await site.follow(commits.filter(commit => commit.site === site.store.name))
  }

  async function expectKnown(processes: readonly Process[], shelf: SiteStore): Promise<void> {
    const { access = 0, model = 0 } = await shelf.counters()
    for (const process of processes) {
      await follow(process)
      const { site } = process.hosted
      await knows(site.rules, shelf, 'access', sameDeclarations)
      await knows(site.model, shelf, 'model', sameModel)
      expect([site.accessVersion, site.modelVersion]).to.deep.equal([access, model])
    }
  }

  it('GRP-4 a document whose items are no rules any more declares nothing in the other one either', async () => {
    const { processes, shelf } = await openSite()
    const [{ hosted }] = processes
    await hosted.put('/rules.html', listPage(instance(OWN_RULE, { actor: '*', resource: '/w/*', action: 'Allow' })))
    for (const declaration of [schema(OWN_RULE, { parent: RULES }), schema(OWN_RULE)]) {
      await hosted.put('/model.html', listPage(declaration))
      await expectKnown(processes, shelf)
    }
  })

  it('RULE-11 is known to both after every write of either', async () => {
    const changing = new Set<string>()
    const writes = fc.array(fc.tuple(fc.nat(1), write), { minLength: 20, maxLength: 20 })
    const first = fc.tuple(...FILES.map(() => items))
    await fc.assert(
      fc.asyncProperty(first, writes, async (contents, following) => {
        const { processes, shelf } = await openSite()
        const puts = FILES.map((path, i) => [i % 2, { op: 'put' as const, path, items: contents[i] ?? [] }] as const)
        for (const [i, asked] of [...puts, ...following]) {
          const { hosted, store } = processes[i as 0 | 1]
          const { accessVersion } = hosted.site
          await carryOut(hosted.site, store, asked).catch(error => {
            // Nobody else writes: there is nobody to be waited for.
            if (!(error instanceof Fault) || error.status === 503) throw error
          })
          if (hosted.site.accessVersion !== accessVersion) changing.add(asked.op)
          await expectKnown(processes, shelf)
          await expectSaid(shelf, hosted.site)
        }
      }),
      RUNS,
    )
    const ops = ['append', 'copy', 'cut', 'delete', 'move', 'put', 'remove', 'rename', 'swap']
    expect([...changing].sort(), 'each of them has changed rules').to.deep.equal(ops)
  })
})

/** Rounds in which three processes write at once. */
const ROUNDS = Number(process.env.FUZZ ?? 12)
/** Writes of each of the six who write in a round. */
const WRITES = 3

describe('What documents declare that three processes write at once', () => {
  const { member } = members()

  it('RULE-11 RULE-12 GRP-4 is known to all when they have done, and is what the documents say', async () => {
    const opened = await openTemporary({ shared: true })
    const all = [await member(opened.store), await member(await opened.another()), await member(await opened.another())]
    const asked = fc.sample(write, { numRuns: ROUNDS * 2 * all.length * WRITES, seed: RUNS.seed }).values()
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(
        [...all, ...all].map(async ({ site, store, coherence }, lane) => {
          for (const each of asked.take(WRITES)) {
            if (lane % 3 === round % 3) await coherence.inStep()
            await carryOut(site, store, each).catch(error => {
              if (!(error instanceof Fault)) throw error
            })
          }
        }),
      )
      for (const { site, coherence } of all) {
        await coherence.inStep()
        const { access = 0, model = 0 } = await site.store.counters()
        await knows(site.rules, site.store, 'access', sameDeclarations)
        await knows(site.model, site.store, 'model', sameModel)
        expect([site.accessVersion, site.modelVersion]).to.deep.equal([access, model])
        for (const path of FILES)
          expect((await site.find(path))?.resource.version, path).to.equal((await site.store.find(path))?.version)
        expect(await checkDeclarations(site.store, site.derivation, false)).to.deep.equal({ wrong: [], unreadable: [] })
      }
    }
    await opened.close()
  })
})
