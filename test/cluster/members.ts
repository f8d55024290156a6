/** Processes as far as their memory goes: each with a site of its own on one store. */

import { expect } from 'chai'
import { afterEach } from 'mocha'
import { fullAuthority } from '../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../pipeline/body.ts'
import type { Leases } from '../../pipeline/coordination/leases.ts'
import { localLeases } from '../../pipeline/coordination/local/leases.ts'
import { perform } from '../../pipeline/operation.ts'
import { documentCache } from '../../pipeline/site/cache.ts'
import { Coherence, leasesInStep } from '../../pipeline/site/coherence.ts'
import { Site } from '../../pipeline/site/site.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { removeTree, transferTree } from '../../pipeline/write/collection.ts'
import { deleteDocument, putDocument } from '../../pipeline/write/document.ts'
import { writeElement } from '../../pipeline/write/element.ts'
import { type Opened, openTemporary } from '../pipeline/store/fixture.ts'
import { dump } from '../pipeline/tree/edit/judge.ts'

/** Name of their site. */
const NAME = 'a.example'

const SETTINGS = {
  host: NAME,
  brand: 'platform',
  ns: 'https://platform.example/ns',
  errorNs: 'https://platform.example/ns/error',
  schemaHost: 'https://schema.org',
  defaultGet: 'allow' as const,
  maxBody: 1 << 20,
  maxDocument: 1 << 20,
  sessionContentMax: 1 << 18,
}

/** A process as far as its memory goes. */
export interface Member {
  site: Site
  store: Store
  coherence: Coherence
  put(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  move(from: string, to: string): Promise<void>
  /** Adds an item to a list in a document. */
  append(path: string, text: string): Promise<void>
}

/** Makes processes for the tests of a suite, which end with each test. */
export function members() {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  async function member(store: Store, leases = localLeases()): Promise<Member> {
    if (!store.foreign) throw new Error('the store is not shared')
    const coherence = new Coherence({ foreign: store.foreign, every: 60_000 })
    ends.push(() => coherence.close())
    const site = await coherence.open(NAME, () =>
      Site.open({
        settings: SETTINGS,
        store: store.site(NAME),
        leases: leasesInStep(leases, coherence, store),
        cache: documentCache(),
        basis: { read: async () => '', write: async () => undefined },
        report: () => undefined,
        coherence,
      }),
    )
    const common = { conditions: undefined, cause: {} }
    return {
      site,
      store,
      coherence,
      async put(path, text) {
        const operation = putDocument(site, { path, type: undefined, ...common }, () => fullAuthority)
        await perform(operation, memoryBody(Buffer.from(text)))
      },
      async remove(path) {
        if (path.endsWith('/')) await removeTree(site, { path, cause: {} })
        else {
          const operation = deleteDocument(site, { path, ...common }, () => fullAuthority)
          await perform(operation, NO_BODY)
        }
      },
      async move(from, to) {
        await transferTree(site, { op: 'move', from, to, deep: true, overwrite: true, cause: {} })
      },
      async append(path, text) {
        const range = { unit: 'selector', selector: '#l', wire: '#l' } as const
        const write = { op: 'post', path, range, placement: 'append', ...common } as const
        const operation = writeElement(site, write, () => fullAuthority)
        await perform(operation, memoryBody(Buffer.from(`<li>${text}</li>`)))
      },
    }
  }

  /** @param leases in common; without them each has its own */
  async function two(leases?: Leases): Promise<[Member, Member, Opened]> {
    const opened = await openTemporary({ shared: true })
    ends.push(opened.close)
    return [await member(opened.store, leases), await member(await opened.another(), leases), opened]
  }

  async function textOf({ site }: Member, path: string): Promise<string | undefined> {
    const bytes = (await site.find(path))?.bytes
    return bytes && Buffer.from(bytes).toString()
  }

  /** Whether memory says what is stored. */
  async function isTrue(of: Member, paths: readonly string[]): Promise<void> {
    await of.coherence.inStep()
    const { site, store } = of
    for (const path of paths) {
      const stored = await store.site(NAME).find(path)
      expect(site.inMemory(path)?.resource.version ?? stored?.version, path).to.equal(stored?.version)
      const derived = await store.site(NAME).derived(path, 'access')
      expect(site.rules.document(path) !== undefined, path).to.equal(derived !== undefined)
      if (derived !== undefined) expect(site.rules.document(path), path).to.deep.equal(JSON.parse(derived))
      const held = await site.findParsed(path)
      if (!held?.bytes) continue
      const fresh = parseDocument('html', new TextDecoder().decode(held.bytes))
      expect(dump(held.tree.root, true), path).to.equal(dump(fresh.root, true))
    }
    const counters = await store.site(NAME).counters()
    expect(site.accessVersion).to.equal(counters.access ?? 0)
    expect(site.modelVersion).to.equal(counters.model ?? 0)
  }

  return { member, two, textOf, isTrue }
}
