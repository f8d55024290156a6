/** Random authors and visitors on a site with a quota: what is counted is what is stored, and what does not fit stays out. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { random } from '../../http/hostile/fuzz-requests.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { connect, type Fields, requestBytes } from '../../support/http.ts'
import { sharedCluster } from '../../support/postgres.ts'
import { basic, propertyUpdate, startWire, to, type Wire } from '../wire.ts'

const QUOTA = 12_000
/** Files and folders that such a site may hold. */
const MOST = 256
/** Of those, files that are always there. */
const STANDING = Object.fromEntries(Array.from({ length: MOST - 10 }, (_, i) => [`/standing/${i}`, '']))
const STEPS = 12
const AT_ONCE = 4

/** Bytes of all files and dead properties with their names, and how many files and folders there are, in the plainest way. */
async function stored(site: SiteStore): Promise<{ bytes: number; entries: number }> {
  let bytes = 0
  const own = await site.find('/')
  const all = own ? [own] : []
  for await (const each of site.walk('/', { collections: true })) all.push(each)
  for (const { path, kind, size } of all) {
    if (kind !== 'collection') bytes += size
    if (path in STANDING) continue
    for (const { namespace, name, value } of await site.properties(path))
      bytes += Buffer.byteLength(namespace + name + value)
  }
  return { bytes, entries: all.filter(({ path }) => path !== '/').length }
}

const FILES = ['/a.bin', '/b.html', '/d/a.html', '/d/e/c.bin', '/._a.bin', '/d', '/5A2B3C01', '/f/g.html']
const TREES = ['/d/', '/d/e/', '/f/', '/a.bin/']
const DEPTHS: Fields[] = [{ Depth: '0' }, { Depth: 'infinity' }]

/** One request, drawn by chance. */
function drawn(wire: Wire, chance: () => number): [what: string, send: () => Promise<unknown>] {
  const one = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)] as T
  const size = () => Math.floor(one([0, 10, 500, 2000, 5000, 20_000]) * chance())
  const path = one(FILES)
  const any = one([...FILES, ...TREES])
  const other = one([...FILES, ...TREES])
  const depth = one(DEPTHS)
  const bytes = size()
  const body = path.endsWith('.html') && bytes > 0 ? page('x'.repeat(bytes)) : 'x'.repeat(bytes)
  const element = `<li>${'e'.repeat(bytes)}</li>`
  const { dav, visitor } = wire
  const list = { Range: 'selector=ul' }
  const moves: [string, () => Promise<unknown>][] = [
    [`PUT ${path} ${body.length}`, () => dav('PUT', path, {}, body)],
    [`PUT ${path} ${body.length} by a visitor`, () => visitor('PUT', path, {}, body)],
    [`PUT ${path} ${body.length} broken off`, () => brokenOff(wire, path, body)],
    [`COPY ${any} ${other} ${depth.Depth}`, () => dav('COPY', any, to(other, depth))],
    [`COPY ${any} ${other} ${depth.Depth} by a visitor`, () => visitor('COPY', any, to(other, depth))],
    [`MOVE ${any} ${other}`, () => dav('MOVE', any, to(other))],
    [`PROPPATCH ${any} ${bytes}`, () => dav('PROPPATCH', any, {}, propertyUpdate(['{u:}n', 'v'.repeat(bytes)]))],
    [`PROPPATCH ${any} none`, () => dav('PROPPATCH', any, {}, propertyUpdate(['{u:}n']))],
    [`MKCOL ${any}`, () => dav('MKCOL', any)],
    [`DELETE ${any}`, () => dav('DELETE', any)],
    [`POST /list.html ${bytes}`, () => visitor('POST', '/list.html', list, element)],
    [`PUT an item ${bytes}`, () => visitor('PUT', '/list.html', { Range: 'selector=li:last-child' }, element)],
    ['DELETE an item', () => visitor('DELETE', '/list.html', { Range: 'selector=li' })],
  ]
  return one(moves)
}

/** Sends half of a body and leaves. */
async function brokenOff({ port, server }: Wire, path: string, body: string): Promise<void> {
  const connection = await connect(port)
  const fields = { Authorization: basic(server.user, server.password), 'Content-Length': String(body.length + 100) }
  connection.send(requestBytes('PUT', path, fields, body))
  connection.close()
  await connection.ended
}

describe('quota, at random', () => {
  for (const [store, runs] of [
    ['SQLite', 40],
    ['PostgreSQL', 10],
  ] as const)
    it(`DAV-33 DAV-101 what is counted is what is stored, and no more than fits: ${store}`, async () => {
      const settings = store === 'PostgreSQL' && {
        postgres: `${(await sharedCluster()).url}?search_path=quota_random`,
      }
      const wire = await startWire({ site: { quota: QUOTA }, ...(settings && { settings }) })
      try {
        const { site } = wire.server
        await putAll(wire.server, {
          '/rules.html': rulesPage(['*', '*', 'Allow', '/*']),
          '/list.html': page('<ul></ul>'),
          ...STANDING,
        })
        let before = await stored(site.store)
        for (let seed = 0; seed < runs; seed++) {
          const chance = random(seed)
          const history: string[] = []
          for (let step = 0; step < STEPS; step++) {
            const requests = Array.from({ length: seed % 2 === 0 ? 1 : AT_ONCE }, () => drawn(wire, chance))
            const answers = await Promise.all(requests.map(([, send]) => send()))
            history.push(
              ...requests.map(([what], i) => `${what} ${(answers[i] as { status?: number } | undefined)?.status}`),
            )
            const after = await stored(site.store)
            expect(await site.usage?.used(), history.join('\n')).to.equal(after.bytes)
            expect(after.bytes, history.join('\n')).to.be.at.most(Math.max(QUOTA, before.bytes))
            const left = after.entries < MOST ? Math.max(QUOTA - after.bytes, 0) : 0
            expect(await site.usage?.left(), history.join('\n')).to.equal(left)
            expect(after.entries, history.join('\n')).to.be.at.most(Math.max(MOST, before.entries))
            before = after
          }
          // Nothing is kept for a request that is over.
          const room = QUOTA - (await stored(site.store)).bytes
          if (room > 0) await site.usage?.require(room)
        }
      } finally {
        await wire.server.close()
      }
    })
})
