/** A store that can take nothing now: writers are told whether to come again, and nothing is changed (DAV-102). */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { run, succeed } from '../../support/program.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { basic, changesNothing, outcomeOf, startWire, to, type Wire } from '../wire.ts'

const PATCH =
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="urn:x">1</x></D:prop></D:set></D:propertyupdate>'

/** Every request that ends in a commit. */
const WRITES: [method: string, path: string, fields?: Fields, body?: string][] = [
  ['PUT', '/a.txt', {}, 'new'],
  ['PUT', '/new.html', {}, page('<p>new</p>')],
  ['PUT', '/a.html', { Range: 'selector=p' }, '<p>new</p>'],
  ['PUT', '/._a.html', {}, 'helper'],
  ['PUT', '/empty.html', {}, ''],
  ['MKCOL', '/new/'],
  ['COPY', '/a.txt', to('/copy.txt')],
  ['MOVE', '/d/', to('/moved/')],
  ['PROPPATCH', '/a.txt', {}, PATCH],
  ['DELETE', '/d/'],
  ['DELETE', '/a.txt'],
]

const OUTCOMES = [
  ['busy', '503 Unavailable', '503 Unavailable'],
  ['closed', '503 Unavailable', '503 Unavailable'],
  ['full', '507 AllowanceExhausted', '503 Unavailable'],
  ['failed', '500 Internal', '500 Internal'],
] as const

describe('a store that takes nothing', () => {
  let wire: Wire
  let restore = () => {}
  before(async () => {
    wire = await startWire()
    await putAll(wire.server, {
      '/a.txt': 'a',
      '/a.html': page('<p>a</p>'),
      '/d/x.txt': 'x',
      '/rules.html': rulesPage(['*', '*', 'Allow', '/*']),
    })
  })
  after(() => wire.server.close())
  afterEach(() => restore())

  /** Every commit fails, on the site and beside it. */
  function breakStore(reason: StoreError['reason']): void {
    const { commit } = Site.prototype
    Site.prototype.commit = () => Promise.reject(new StoreError(reason, 'at /secret/place'))
    restore = () => {
      Site.prototype.commit = commit
    }
  }

  for (const [reason, onMount, inPublic] of OUTCOMES) {
    for (const [method, path, fields, body] of WRITES)
      it(`DAV-102 ${onMount} when it is ${reason}: ${method} ${path}`, () =>
        changesNothing(wire.server, async () => {
          breakStore(reason)
          const answer = await wire.dav(method, path, fields, body)
          restore()
          expect(outcomeOf(answer)).to.equal(onMount)
          expect(answer.text).not.to.include('secret')
          expect(answer.headers['retry-after']).to.match(onMount.startsWith('503') ? /^\d+$/ : /^undefined$/)
        }))

    it(`HTTP-171 ${inPublic} when it is ${reason}, for visitors`, () =>
      changesNothing(wire.server, async () => {
        breakStore(reason)
        for (const [method, path, fields, body] of [
          ['PUT', '/a.txt', {}, 'new'],
          ['PUT', '/a.html', { Range: 'selector=p' }, '<p>new</p>'],
          ['DELETE', '/a.txt', {}, undefined],
        ] as const) {
          const answer = await wire.visitor(method, path, fields, body)
          expect(outcomeOf(answer), method).to.equal(inPublic)
          expect(answer.headers['retry-after'], method).to.match(inPublic.startsWith('503') ? /^\d+$/ : /^undefined$/)
        }
        expect((await wire.visitor('GET', '/a.txt')).text, 'reads go on').to.equal('a')
      }))
  }
})

const obstacle = process.getuid?.() === 0 ? undefined : 'only root may make one'

describe('a disk that is full', () => {
  if (obstacle !== undefined) {
    it(`cannot be tried here: ${obstacle}`, () => {
      expect(process.getuid?.()).not.to.equal(0)
    })
    return
  }

  let disk: string
  let server: TestServer | undefined
  let dav: Client
  before(async () => {
    disk = await mkdtemp(join(tmpdir(), 'full-disk-'))
    const { code } = await run('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk])
    if (code !== 0) return
    server = await startServer({ data: disk, site: { defaultGet: 'allow' } })
    dav = client(Number(new URL(server.mountUrl).port), { Authorization: basic(server.user, server.password) })
  })
  after(async () => {
    if (server) {
      await server.stop()
      await succeed('umount', [disk])
    }
    await rm(disk, { recursive: true, force: true })
  })

  it('DAV-102 507 for what does not fit, everything else stays, and goes on when there is room again', async () => {
    if (!server) {
      expect((await run('mount', ['-t', 'tmpfs', 'tmpfs', disk])).code, 'a container without the right').not.to.equal(0)
      return
    }
    expect((await dav('PUT', '/kept.html', {}, page('<p>kept</p>'))).status).to.equal(201)
    expect((await dav('PUT', '/kept.bin', {}, 'kept')).status).to.equal(201)
    // A large file, which does not fit from the beginning, and then small ones until nothing fits.
    const large = await changesNothing(server, () => dav('PUT', '/large.bin', {}, Buffer.alloc(30 << 20, 1)))
    expect(outcomeOf(large)).to.equal('507 AllowanceExhausted')
    await writeFile(join(disk, 'ballast'), Buffer.alloc(30 << 20)).catch(() => undefined)
    const statuses = new Set<string>()
    for (let i = 0; i < 40; i++)
      statuses.add(outcomeOf(await dav('PUT', `/small-${i}.html`, {}, page(`<p>${'x'.repeat(100_000)}</p>`))))
    expect([...statuses].filter(outcome => outcome !== '201')).to.deep.equal(['507 AllowanceExhausted'])
    const full = await changesNothing(server, () => dav('PUT', '/kept.html', {}, page('x'.repeat(100_000))))
    expect(outcomeOf(full)).to.equal('507 AllowanceExhausted')
    expect((await dav('GET', '/kept.html')).text).to.equal(page('<p>kept</p>'))
    expect((await client(server.port)('GET', '/kept.bin')).text).to.equal('kept')
    await rm(join(disk, 'ballast'))
    expect((await dav('PUT', '/kept.html', {}, page('<p>again</p>'))).status).to.equal(204)
    expect((await dav('GET', '/kept.html')).text).to.equal(page('<p>again</p>'))
  })
})
