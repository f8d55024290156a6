/** What is read of several documents while another process, or this one, moves or removes all of them in one commit. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { compose } from '../../pipeline/compose/compose.ts'
import { pageLanguages } from '../../pipeline/compose/connected.ts'
import { createJavaScript } from '../../pipeline/language/javascript/javascript.ts'
import { serializeDocument } from '../../pipeline/tree/serialize.ts'
import { anonymousViewer, composed } from '../pipeline/compose/composing.ts'
import { page } from '../support/content.ts'
import { type Member, members } from './members.ts'

const DOCUMENTS = ['/d/a.html', '/d/b.html', '/d/c.html']
const languages = pageLanguages(createJavaScript())

/** How many of the documents a page shows. */
async function shown({ site }: Member): Promise<number> {
  const file = await site.find('/all.html')
  if (!file) throw new Error('not stored')
  const { tree } = await compose(site, file, anonymousViewer('/all.html'), languages)
  return serializeDocument(tree).split('class="of"').length - 1
}

describe('several documents that go in one commit', () => {
  const { two } = members()

  for (const writer of ['another process', 'the same process'] as const)
    for (const [change, left] of [
      ['removed', 0],
      ['moved', DOCUMENTS.length],
    ] as const)
      it(`COMP-4 a page shows all or what is left: ${change} by ${writer}`, async () => {
        const [reader, other] = await two()
        const author = writer === 'another process' ? other : reader
        for (const path of DOCUMENTS) await other.put(path, page('<i class="of">1</i>'))
        await other.put('/all.html', composed('<main r:x=".of"><p:stamp x/></main>'))
        await reader.coherence.inStep()
        expect(await shown(reader)).to.equal(DOCUMENTS.length)
        // One of them is in memory, the others not any more, as when other files have taken their place.
        for (const path of DOCUMENTS) await other.put(path, page('<i class="of">2</i>'))
        await reader.coherence.inStep()
        await reader.site.findParsed('/d/a.html')
        const { store } = reader.site
        const { find } = store
        let changed: Promise<void> | undefined
        store.find = async path => {
          if (path !== '/d/b.html' || changed) return find.call(store, path)
          changed = change === 'removed' ? author.remove('/d/') : author.move('/d/', '/e/')
          if (author === reader)
            // It can be seen in the store before the process knows of it.
            for (let seen: unknown = path; seen !== undefined; ) {
              await new Promise(setImmediate)
              seen = await find.call(store, path)
            }
          else await changed
          return find.call(store, path)
        }
        expect(await shown(reader)).to.equal(left)
        await changed
      })

  it('COMP-4 a page shows what is left where the index has seen first that one of them is gone', async () => {
    const [reader, other] = await two()
    for (const path of DOCUMENTS) await other.put(path, page('<i class="of">1</i>'))
    await other.put('/all.html', composed('<main r:x=".of"><p:stamp x/></main>'))
    await reader.coherence.inStep()
    expect(await shown(reader)).to.equal(DOCUMENTS.length)
    await other.put('/d/b.html', page('<i class="of">2</i>'))
    await reader.coherence.inStep()
    const { store } = reader.site
    const { derived } = store
    store.derived = async (path, kind) => {
      store.derived = derived
      await other.remove('/d/')
      return derived.call(store, path, kind)
    }
    expect(await shown(reader)).to.equal(0)
    expect(store.derived).to.equal(derived)
  })
})
