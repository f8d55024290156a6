/** What one listing may hold, however many members and properties there are (HTTP-172). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put } from '../../support/content.ts'
import { list, startWire, type Wire } from '../wire.ts'

const MEMBERS = 10
const VALUE = 'a long value'

describe('bounds of listings', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
    const note = { namespace: 'urn:x', name: 'note', value: VALUE }
    for (let i = 0; i < MEMBERS; i++) {
      await put(wire.server, `/many/${i}.txt`, 'x')
      const describing = { op: 'describe' as const, path: `/many/${i}.txt`, set: [note], remove: [] }
      await wire.server.site.commit({ changes: [describing] })
    }
  })
  after(() => wire.server.close())

  const prop = (names: string) => `<D:prop xmlns:D="DAV:">${names}</D:prop>`
  const sync = (asked: string) =>
    `<sync-collection xmlns="DAV:"><sync-token/><sync-level>1</sync-level>${asked}</sync-collection>`
  const find = (asked: string) => `<propfind xmlns="DAV:">${asked}</propfind>`

  const QUESTIONS: [method: string, body: (asked: string) => string][] = [
    ['PROPFIND', find],
    ['REPORT', sync],
  ]
  for (const [method, body] of QUESTIONS) {
    it(`DAV-37 HTTP-172 ${method} of too many properties of too many members is 507`, async () => {
      const names = (count: number) => Array.from({ length: count }, (_, i) => `<D:p${i}/>`).join('')
      const ask = (asked: string) => wire.dav(method, '/many/', { Depth: '1' }, body(asked))
      expect((await ask(prop(names(500_001 / MEMBERS + 1)))).status).to.equal(507)
      expect(
        (await ask(`<allprop/><include>${names(500_001 / MEMBERS + 1).replaceAll('D:', '')}</include>`)).status,
      ).to.equal(507)
      expect((await ask(prop(names(65)))).status).to.equal(207)
    })

    it(`SEC-12 DAV-37 ${method} of names in a long namespace is 507 where each response would repeat it too often`, async () => {
      const ask = async (depth: string, count: number, form = 'prop') => {
        const names = Array.from({ length: count }, (_, i) => `<n:p${i}/>`).join('')
        const asked = form === 'prop' ? `<prop>${names}</prop>` : `<allprop/><include>${names}</include>`
        const namespaced = body(asked).replace('>', ` xmlns:n="urn:${'&amp;'.repeat(1_600)}">`)
        return (await wire.dav(method, '/many/', { Depth: depth }, namespaced)).status
      }
      expect(await ask('1', 5)).to.equal(207)
      for (const form of ['prop', 'include']) expect(await ask('1', 450, form), form).to.equal(507)
      for (const form of ['prop', 'include']) expect(await ask('0', 600, form), form).to.equal(507)
    })

    it(`DAV-37 HTTP-172 ${method} reads values that are asked for, as far as an answer can hold them`, async () => {
      const { store } = wire.server.site
      const { propertiesBetween } = store
      const read: string[] = []
      let isTooMuch = false
      store.propertiesBetween = async (first, last, wanted) => {
        const found = await propertiesBetween.call(store, first, last, { ...wanted, ...(isTooMuch && { most: 10 }) })
        read.push([...(found?.values() ?? [])].map(properties => properties.map(({ value }) => value)).join())
        return found
      }
      try {
        const ask = async (asked: string) => (await wire.dav(method, '/many/', { Depth: '1' }, body(asked))).status
        const none = Array(MEMBERS).fill('').join()
        const all = Array(MEMBERS).fill(VALUE).join()
        for (const [asked, values] of [
          [prop('<D:getetag/>'), none],
          ['<propname/>', none],
          [prop('<x:note xmlns:x="urn:x"/>'), all],
          ['<allprop/>', all],
        ] as const) {
          expect(await ask(asked), asked).to.equal(207)
          expect(read.splice(0), asked).to.deep.equal([values])
        }
        isTooMuch = true
        // Nothing is known of answers to these yet.
        expect(await ask(prop('<x:note xmlns:x="urn:x"/><D:owner/>'))).to.equal(507)
        expect(await ask('<allprop/><include><owner/></include>')).to.equal(507)
      } finally {
        store.propertiesBetween = propertiesBetween
      }
      const told = await list(wire.dav, '/many/')
      expect(told.get('/many/3.txt')?.get('{urn:x}note')?.value).to.equal(VALUE)
    })
  }

  it('SEC-12 DAV-37 others have their turn while many properties of members are told', async () => {
    const { store } = wire.server.site
    const { propertiesBetween } = store
    const paths = Array.from({ length: 300 }, (_, i) => `/told/${i}.txt`)
    await put(wire.server, '/told/0.txt', 'x')
    const set = [{ namespace: '', name: 'p', value: '' }]
    await wire.server.site.commit({ changes: [{ op: 'describe', path: '/told/0.txt', set, remove: [] }] })
    const copies = paths.slice(1).map(to => ({ op: 'copy' as const, from: '/told/0.txt', to, deep: false }))
    await wire.server.site.commit({ changes: copies })
    let [looks, most] = [0, 0]
    const properties = Array.from({ length: 256 }, (_, i) => ({
      namespace: '',
      value: '',
      get name() {
        looks++
        return `p${i}`
      },
    }))
    store.propertiesBetween = async () => new Map(paths.map(path => [path, properties]))
    let next = setImmediate(function count() {
      ;[looks, most] = [0, Math.max(most, looks)]
      next = setImmediate(count)
    })
    try {
      for (const asked of ['<propname/>', '<allprop/>'])
        expect((await wire.dav('PROPFIND', '/told/', { Depth: '1' }, find(asked))).status).to.equal(207)
    } finally {
      clearImmediate(next)
      store.propertiesBetween = propertiesBetween
    }
    expect(most).to.be.within(paths.length * properties.length, 3 * paths.length * properties.length)
  })
})
