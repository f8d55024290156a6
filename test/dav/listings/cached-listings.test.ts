/** Listings that are put together from what was written for earlier ones: they tell what a first one would tell (DAV-37). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put } from '../../support/content.ts'
import { type Authors, lockInfo, startMount } from '../locks/locking.ts'
import { propertyUpdate, propfindBody } from '../wire.ts'

const WINDOWS = '{urn:schemas-microsoft-com:}Win32FileAttributes'
const NAMES = [
  ...['getcontentlength', 'getetag', 'getlastmodified', 'displayname', 'lockdiscovery', 'current-user-privilege-set'],
  ...['{urn:x}color', WINDOWS, '{http://owncloud.org/ns}checksums'],
]

/** Enough for several leaves. */
const MEMBERS = 100
const STEPS = 30

describe('listings in pages', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
    for (let i = 0; i < MEMBERS; i++) await put(mount.server, `/docs/p/${String(i).padStart(3, '0')}.txt`, `${i}`)
  })
  after(() => mount.server.close())

  let asked = 0
  /** The answer to a question that nobody has asked before, in a form that does not show its novelty. */
  const first = (author: Authors['ann'], depth: string) =>
    author('PROPFIND', '/docs/p/', { Depth: depth, Brief: 't' }, propfindBody(...NAMES, `{urn:n}n${asked++}`))
  const again = (author: Authors['ann'], depth: string) =>
    author('PROPFIND', '/docs/p/', { Depth: depth, Brief: 't' }, propfindBody(...NAMES))
  /** Locks count their seconds. */
  const steady = (text: string) => text.replace(/Second-\d+/g, 'Second-n')

  async function compare(step: string): Promise<void> {
    for (const author of [mount.ann, mount.dora])
      for (const depth of ['1', '1,noroot']) {
        const [known, unknown] = [await again(author, depth), await first(author, depth)]
        expect(steady(known.text), step).to.equal(steady(unknown.text))
        expect(known.headers.etag, step).to.equal(unknown.headers.etag)
      }
  }

  it('DAV-37 tell what a first one would tell, whatever happens in between', async function () {
    this.timeout(300_000)
    let state = 4711
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
      return Math.floor((state / 0x80000000) * below)
    }
    const name = () => `/docs/p/${String(random(MEMBERS + 20)).padStart(3, '0')}.txt`
    const locks: [path: string, token: string][] = []
    const { ann } = mount
    const acts: (() => Promise<unknown>)[] = [
      () => ann('PUT', name(), {}, 'x'.repeat(random(9))),
      () => ann('DELETE', name()),
      () => ann('MOVE', name(), { Destination: name() }),
      () => ann('PROPPATCH', name(), {}, propertyUpdate([WINDOWS, '00000020'], ['{urn:x}color', `${random(9)}`])),
      () => ann('PROPPATCH', name(), {}, propertyUpdate([WINDOWS, undefined])),
      () => ann('PUT', `/docs/p/${random(3)}.html`, {}, ''),
      () => ann('PUT', `/docs/p/~$${random(3)}.docx`, {}, 'ann'),
      () => ann('PUT', `/docs/p/sub${random(3)}/x.txt`, {}, `${random(9)}`),
      () => ann('DELETE', `/docs/p/sub${random(3)}/`),
      async () => {
        const path = random(4) === 0 ? '/docs/p/' : name()
        const { headers } = await ann('LOCK', path, { Depth: random(2) === 0 ? '0' : 'infinity' }, lockInfo('shared'))
        if (headers['lock-token']) locks.push([path, headers['lock-token']])
      },
      async () => {
        for (const [path, token] of locks.splice(0)) await ann('UNLOCK', path, { 'Lock-Token': token })
      },
    ]
    for (let i = 0; i < STEPS; i++) {
      const act = random(acts.length)
      await acts[act]?.()
      await compare(`step ${i}, act ${act}`)
    }
    for (const [path, token] of locks) await ann('UNLOCK', path, { 'Lock-Token': token })
  })

  it('DAV-8 show a file that is renamed to and fro under exactly one of its names', async () => {
    const names = ['/docs/p/one.txt', '/docs/p/two.txt'] as const
    await mount.ann('PUT', names[0], {}, 'x')
    let running = true
    const moving = (async () => {
      try {
        for (let i = 0; i < 40; i++) {
          const [from = '', to = ''] = i % 2 === 0 ? names : names.toReversed()
          expect((await mount.ann('MOVE', from, { Destination: to })).status).to.equal(201)
        }
      } finally {
        running = false
      }
    })()
    do {
      const { text } = await again(mount.ann, '1')
      expect(names.filter(name => text.includes(`>${name}<`)).length).to.equal(1)
    } while (running)
    await moving
  })

  /** Members that are written anew when a listing is asked for again. */
  async function writtenAgain(): Promise<string[]> {
    const { store } = mount.server.site
    const { checksums } = store
    const written: string[] = []
    store.checksums = resource => {
      written.push(resource.path)
      return checksums.call(store, resource)
    }
    try {
      await again(mount.ann, '1')
    } finally {
      Object.assign(store, { checksums })
    }
    return written
  }

  it('DAV-37 a change of one member of many writes it again and no other', async () => {
    await again(mount.ann, '1')
    await mount.ann('PUT', '/docs/p/050.txt', {}, 'changed')
    expect(await writtenAgain()).to.deep.equal(['/docs/p/050.txt'])
  })

  it('DAV-37 a lock on one member of many writes it again each time, and no other', async () => {
    await again(mount.ann, '1')
    const { headers } = await mount.ann('LOCK', '/docs/p/060.txt', {}, lockInfo('exclusive'))
    expect(await writtenAgain()).to.deep.equal(['/docs/p/060.txt'])
    expect(await writtenAgain()).to.deep.equal(['/docs/p/060.txt'])
    await mount.ann('UNLOCK', '/docs/p/060.txt', { 'Lock-Token': headers['lock-token'] ?? '' })
    expect(await writtenAgain()).to.deep.equal(['/docs/p/060.txt'])
    expect(await writtenAgain()).to.deep.equal([])
  })

  it('DAV-37 a listing that is read anew writes only what is new', async () => {
    await again(mount.ann, '1')
    const { store } = mount.server.site
    const commit = { changes: [{ op: 'collection' as const, path: '/docs/p/behind/' }] }
    // Nobody is told of it but by the sum of the collection.
    await store.commit(commit)
    await mount.ann('PUT', '/docs/p/070.txt', {}, 'changed')
    expect(await writtenAgain()).to.deep.equal(['/docs/p/070.txt'])
  })
})
