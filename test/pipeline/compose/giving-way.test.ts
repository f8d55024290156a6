/** What is done with a page once it is put together gives way to others as putting it together does (HTTP-183). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { pageLanguages } from '../../../pipeline/compose/connected.ts'
import { createJavaScript } from '../../../pipeline/language/javascript/javascript.ts'
import { lookAt, type Seen } from '../../../pipeline/read/representation.ts'
import { HeapError } from '../../../pipeline/tree/heap.ts'
import type { Steps } from '../../../pipeline/tree/steps.ts'
import { put } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { anonymousViewer, composed } from './composing.ts'

describe('A look at a page that was put together', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    await put(server, '/page.html', composed('<p e:x="1"><p:stamp x/></p>'))
  })
  after(() => server.close())

  /** Looks at a page of which the first takes long. @returns what it says at last, how often it was begun, and the pages seen */
  async function look(reason: 'outrun' | 'busy') {
    const { site } = server
    const pages = new Set<unknown>()
    let begun = 0
    const looking = function* ({ view }: Seen): Steps<string> {
      pages.add(view)
      begun++
      if (begun > 1) return 'seen'
      let isLong = false
      setImmediate(() => {
        isLong = true
      })
      while (!isLong) yield
      throw new HeapError(reason)
    }
    const reader = { viewer: anonymousViewer('/page.html'), languages: pageLanguages(createJavaScript()) }
    const said = await lookAt(site, '/page.html', looking, reader).catch((error: unknown) => error)
    return { said, begun, pages: pages.size }
  }

  it('HTTP-183 begins anew with the page where it is broken off for those that came first', async () => {
    expect(await look('outrun')).to.deep.equal({ said: 'seen', begun: 2, pages: 2 })
  })

  it('HTTP-183 ends where there is no room for it alone', async () => {
    const { said, begun, pages } = await look('busy')
    expect([said instanceof HeapError, begun, pages]).to.deep.equal([true, 1, 1])
  })
})
