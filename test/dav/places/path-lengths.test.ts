/** Collections whose members would come to paths that no request can name, and what it costs to find out (DAV-10). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Change } from '../../../pipeline/store/commit.ts'
import { done, putBlob } from '../../pipeline/store/fixture.ts'
import type { Client } from '../../support/http.ts'
import { changesNothing, list, outcomeOf, startWire, to, type Wire } from '../wire.ts'

const LONGEST = 1024
/** Editors keep in collections of such names what they are about to save. */
const work = (name: string) => `${name}.sb-0a1b2c3d-Xy12Zz`

describe('lengths of paths over the wire', () => {
  let wire: Wire
  let dav: Client
  before(async () => {
    wire = await startWire()
    dav = wire.dav
  })
  after(() => wire.server.close())

  /** Stores a file below a collection, at a path of a number of bytes; its name is of two bytes a letter. */
  async function fill(collection: string, bytes: number): Promise<string> {
    const left = () => bytes - Buffer.byteLength(path)
    let path = ''
    for (let next = collection; path !== next; next = left() > 200 ? `${path}${'d'.repeat(99)}/` : path) {
      path = next
      expect((await dav('MKCOL', encodeURI(path))).status).to.equal(201)
    }
    path += 'é'.repeat(left() >> 1) + 'x'.repeat(left() % 2)
    expect(Buffer.byteLength(path)).to.equal(bytes)
    expect((await dav('PUT', encodeURI(path), {}, 'content')).status).to.equal(201)
    return path
  }

  const PLACES: [name: string, from: (own: string) => string, to: (own: string) => string][] = [
    ['on the site', own => `/${own}`, own => `/${own}é`],
    ['among work files', own => `/${work(own)}`, own => `/${work(`${own}é`)}`],
    ['from work files to the site', own => `/${work(own)}`, own => `/${own}${'é'.repeat(20)}`],
    ['from the site to work files', own => `/${own}`, own => `/${work(own)}`],
  ]
  for (const [i, [name, from, destination]] of PLACES.entries())
    for (const method of ['COPY', 'MOVE'])
      it(`DAV-10 ${method} ${name} refuses the whole for one member that would not fit, and takes what just fits`, async () => {
        const [fits, over] = [`f${method}${i}`, `o${method}${i}`]
        const gain = Buffer.byteLength(destination(fits)) - Buffer.byteLength(from(fits))
        await fill(`${from(over)}/`, LONGEST - gain + 1)
        const path = await fill(`${from(fits)}/`, LONGEST - gain)
        const send = (own: string) => dav(method, encodeURI(`${from(own)}/`), to(encodeURI(`${destination(own)}/`)))
        const refused = await changesNothing(wire.server, () => send(over))
        expect(outcomeOf(refused)).to.equal('414 UriTooLong')
        expect(refused.text).to.include(`${from(over)}/ddd`)
        expect((await send(fits)).status).to.equal(201)
        const there = destination(fits) + path.slice(from(fits).length)
        expect((await dav('GET', encodeURI(there))).text).to.equal('content')
      })

  it('DAV-10 a collection that goes without its members goes anywhere', async () => {
    await fill('/bare/', LONGEST)
    const answer = await dav('COPY', '/bare/', to('/bare-and-longer/', { Depth: '0' }))
    expect(answer.status, answer.text).to.equal(201)
    expect([...(await list(dav, '/bare-and-longer/')).keys()]).to.deep.equal(['/bare-and-longer/'])
  })

  it('DAV-10 what stands at the destination stays where it is refused', async () => {
    await fill('/onto/', LONGEST)
    expect((await dav('PUT', '/over/longer/x.txt', {}, 'x')).status).to.equal(201)
    const answer = await changesNothing(wire.server, () => dav('MOVE', '/onto/', to('/over/longer/')))
    expect(outcomeOf(answer)).to.equal('414 UriTooLong')
  })

  it('DAV-10 a collection of 10,000 members goes to a longer path without anybody reading them one by one', async () => {
    const { site } = wire.server
    const changes = Array.from({ length: 10_000 }, (_, i): Change => putBlob(`/many/${i % 100}/${i}`, Buffer.from('x')))
    await done(site.store, changes)
    const { walk } = site.store
    const walked: string[] = []
    site.store.walk = (prefix, options) => {
      walked.push(prefix)
      return walk(prefix, options)
    }
    try {
      for (const [method, from, longer] of [
        ['MOVE', '/many/', '/many-more/'],
        ['COPY', '/many-more/', '/many-and-more/'],
      ] as const)
        expect((await dav(method, from, to(longer))).status, method).to.equal(201)
    } finally {
      site.store.walk = walk
    }
    expect(walked).to.deep.equal([])
    expect((await dav('GET', '/many-and-more/99/9999')).text).to.equal('x')
    expect((await dav('GET', '/many/99/9999')).status).to.equal(404)
  })
})
