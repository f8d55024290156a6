/** Writers that go on through faults, and the judge of what they were told. */

import { expect } from 'chai'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import type { SiteStore, Store } from '../../../../pipeline/store/store.ts'
import { put } from '../fixture.ts'

export const WRITERS = 16

export interface Writers {
  /** Texts of acknowledged commits. */
  acknowledged: Set<string>
  /** Reasons of refusals. */
  refused: string[]
  /** Settles when so many more were acknowledged. */
  untilMore(count: number): Promise<void>
  /** Settles when so many more were refused. */
  untilRefused(count: number): Promise<void>
  end(): Promise<void>
}

const soon = () => new Promise(resolve => setTimeout(resolve, 5))

/** Each writer adds documents of its own, an event with each, and never repeats what it was not told about. */
export function startWriters(stores: readonly Store[]): Writers {
  const acknowledged = new Set<string>()
  const refused: string[] = []
  let isOver = false
  async function write(writer: number): Promise<void> {
    const site = stores[writer % stores.length]?.site('faults')
    for (let i = 0; !isOver && site; i++) {
      const path = `/${writer}/${i}.html`
      try {
        const result = await site.commit({ changes: [put(path, path)], events: [{ path, payload: path }] })
        if (!result.ok) throw new Error(result.reason)
        acknowledged.add(path)
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        refused.push(error.reason)
        await soon()
      }
    }
  }
  const running = Array.from({ length: WRITERS }, (_, writer) => write(writer))
  return {
    acknowledged,
    refused,
    async untilMore(count) {
      for (const before = acknowledged.size; acknowledged.size < before + count; ) await soon()
    },
    async untilRefused(count) {
      for (const before = refused.length; refused.length < before + count; ) await soon()
    },
    async end() {
      isOver = true
      await Promise.all(running)
    },
  }
}

/** Everything acknowledged is there with its event, and nothing by halves. */
export async function judge(site: SiteStore, { acknowledged, refused }: Writers): Promise<void> {
  const found = new Set<string>()
  for await (const { path } of site.walk('/')) found.add(path)
  const told = new Set<string>()
  for (let after: string | undefined; ; ) {
    const events = await site.allEvents(after, 5000)
    if (events.length === 0) break
    for (const { path } of events) told.add(path)
    after = events.at(-1)?.id
  }
  expect([...acknowledged].filter(path => !found.has(path))).to.deep.equal([])
  expect([...found].filter(path => !told.has(path))).to.deep.equal([])
  expect([...told].filter(path => !found.has(path))).to.deep.equal([])
  // What was neither acknowledged nor surely refused is all that may be there besides.
  const doubtful = refused.filter(reason => reason === 'unknown').length
  expect(found.size - acknowledged.size).to.be.at.most(doubtful)
}
