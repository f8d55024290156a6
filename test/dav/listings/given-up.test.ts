/** Reads of many resources whose client has gone: they end at their next turn (SEC-12). */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { page, putAll } from '../../support/content.ts'
import { startWire, type Wire } from '../wire.ts'

const STARTS = 'http.server.request.start'

/** As many names as are written in one turn for one member and a half. */
const NAMES = Array.from({ length: 6000 }, (_, i) => `<n${i}/>`).join('')
const ASKED = `<D:prop xmlns="urn:n" xmlns:O="http://owncloud.org/ns"><O:checksums/>${NAMES}</D:prop>`

describe('reads whose client has gone', () => {
  let wire: Wire
  let newest: ServerResponse | undefined
  const note = (message: unknown) => {
    newest = (message as { response: ServerResponse }).response
  }
  before(async () => {
    wire = await startWire()
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    await putAll(wire.server, Object.fromEntries(names.map(name => [`/many/${name}.html`, page('<h2>T</h2>')])))
  })
  after(() => wire.server.close())
  beforeEach(() => subscribe(STARTS, note))
  afterEach(() => unsubscribe(STARTS, note))

  /** With looks at each of eight members. */
  const READS: [method: string, each: number, type: string, body: string][] = [
    ['PROPFIND', 1, 'application/xml', `<D:propfind xmlns:D="DAV:">${ASKED}</D:propfind>`],
    [
      'REPORT',
      1,
      'application/xml',
      `<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level>${ASKED}</D:sync-collection>`,
    ],
    ['QUERY', 2, 'text/css-selector', 'h2'],
  ]
  for (const [method, each, type, body] of READS)
    it(`SEC-12 ${method} looks at nothing more`, async () => {
      const { site } = wire.server
      const { findParsed, store } = site
      const { checksums } = store
      let [looks, isGone] = [0, false]
      const look = () => {
        looks++
        if (!isGone) newest?.destroy()
        isGone = true
      }
      store.checksums = resource => {
        look()
        return checksums.call(store, resource)
      }
      site.findParsed = path => {
        look()
        return findParsed.call(site, path)
      }
      try {
        const ask = () => wire.dav(method, '/many/', { Depth: '1', 'Content-Type': type }, body)
        expect(await ask().catch(() => 'gone')).to.equal('gone')
        // What the first would still do, it would do while this one does the same.
        const { status } = await ask()
        expect([status, looks]).to.deep.equal([method === 'QUERY' ? 201 : 207, each + 8 * each])
      } finally {
        Object.assign(site, { findParsed })
        Object.assign(store, { checksums })
      }
    })
})
