/** Tags of PROPFIND answers: what changes them, what does not, and the worked example (DAV-50 to DAV-52). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put, rulesPage } from '../../support/content.ts'
import type { Client, Fields } from '../../support/http.ts'
import { readMultistatus } from '../../support/multistatus.ts'
import {
  answerTag,
  changesNothing,
  list,
  property,
  propertyUpdate,
  propfindBody,
  startWire,
  to,
  type Wire,
} from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

describe('tags over the wire', () => {
  let wire: Wire
  let dav: Client
  let count = 0
  before(async () => {
    wire = await startWire()
    dav = wire.dav
  })
  after(() => wire.server.close())

  /** A collection of its own: `a.html`, `b.txt`, and `sub/deep/c.txt`. */
  async function folder(): Promise<string> {
    const at = `/t${++count}/`
    await dav('MKCOL', at)
    await dav('MKCOL', `${at}sub/`)
    await dav('MKCOL', `${at}sub/deep/`)
    await dav('PUT', `${at}a.html`, {}, '<p>a</p>\n')
    await dav('PUT', `${at}b.txt`, {}, 'b')
    await dav('PUT', `${at}sub/deep/c.txt`, {}, 'c')
    return at
  }

  it('DAV-52 the worked example comes out over the wire', async () => {
    await dav('MKCOL', '/docs/')
    await dav('PUT', '/docs/a.html', { 'X-OC-Mtime': '1773480413' }, '<p>A</p>\n')
    await dav('PUT', '/docs/b.css', { 'X-OC-Mtime': '1773480414' }, 'h1{color:red}\n')
    await dav('MKCOL', '/docs/img/')
    const tags = {
      content: (await dav('GET', '/docs/a.html')).headers.etag,
      p: await answerTag(dav, '/docs/a.html', '0'),
      d0: await answerTag(dav, '/docs/', '0'),
      d1: await answerTag(dav, '/docs/', '1'),
      empty0: await answerTag(dav, '/docs/img/', '0'),
      empty1: await answerTag(dav, '/docs/img/', '1'),
    }
    expect(tags).to.deep.equal({
      content: '"8206af590130802332e4b8b4b2dc23151d78c0513d800ccd"',
      p: '"p-51eb5e674510dcc535d197bde9dd4b4d079ef8ed4f94707f4a50492d35133aeb"',
      d0: '"d0-499778bf7e57bfc1c6bad9b532c2e964988a5f7afe32e1f2825dae94ed71b15d"',
      d1: '"d1-db09e76c59f1915e21d1fc960ca60f46899ec9b5455477efeb9a7eae60fb5363"',
      empty0: '"d0-1e3ca84315ae5cd20d0f0c67a28a30686d95aa625ef8d318f98beac1b82bfa84"',
      empty1: '"d1-7009c189712fb5cd7eba5aa60cd298a21a2a71b7acee055a6f16059153d4bfd4"',
    })
    expect((await wire.visitor('GET', '/docs/a.html')).headers.etag, 'the public tag is the same').to.equal(
      tags.content,
    )
  })

  it('DAV-50 header and own getetag agree at each depth; members have their stat tag', async () => {
    const at = await folder()
    for (const depth of ['0', '1'] as const) {
      const answer = await dav('PROPFIND', at, { Depth: depth })
      const told = readMultistatus(answer.text)
      expect(told.get(at)?.get('getetag')?.value).to.equal(answer.headers.etag)
    }
    const told = await list(dav, at)
    expect(told.get(`${at}sub/`)?.get('getetag')?.value).to.equal(await answerTag(dav, `${at}sub/`, '0'))
    expect(told.get(`${at}b.txt`)?.get('getetag')?.value).to.equal((await dav('GET', `${at}b.txt`)).headers.etag)
  })

  it('DAV-50 the tag does not depend on what was asked for, nor on how', async () => {
    const at = await folder()
    const tags = new Set<string | undefined>()
    for (const body of [
      undefined,
      propfindBody('getetag'),
      propfindBody('x'),
      '<propfind xmlns="DAV:"><propname/></propfind>',
    ])
      for (const path of [at, at.slice(0, -1)])
        tags.add((await dav('PROPFIND', path, { Depth: '1' }, body)).headers.etag)
    expect(tags.size).to.equal(1)
  })

  describe('DAV-50 conditions', () => {
    const CASES: [
      name: string,
      fields: (tags: Record<'d0' | 'd1' | 'p' | 'content', string>) => Fields,
      status: number,
    ][] = [
      ['the current tag', ({ d1 }) => ({ 'If-None-Match': d1 }), 304],
      ['the current tag, weak', ({ d1 }) => ({ 'If-None-Match': `W/${d1}` }), 304],
      ['the current tag among others', ({ d1 }) => ({ 'If-None-Match': `"x", ${d1}` }), 304],
      ['the tag of the other depth', ({ d0 }) => ({ 'If-None-Match': d0 }), 207],
      ['a content tag', ({ content }) => ({ 'If-None-Match': content }), 207],
      ['any tag', () => ({ 'If-None-Match': '*' }), 207],
      ['If-Match with the current tag', ({ d1 }) => ({ 'If-Match': d1 }), 207],
      ['If-Match with the current tag, weak', ({ d1 }) => ({ 'If-Match': `W/${d1}` }), 412],
      ['If-Match with the tag of the other depth', ({ d0 }) => ({ 'If-Match': d0 }), 412],
      ['If-Match with anything', () => ({ 'If-Match': '*' }), 207],
    ]
    for (const [name, fields, status] of CASES)
      it(`${name}: ${status}`, async () => {
        const at = await folder()
        const d1 = await answerTag(dav, at, '1')
        const tags = {
          d1,
          d0: await answerTag(dav, at, '0'),
          p: await answerTag(dav, `${at}b.txt`, '0'),
          content: (await dav('GET', `${at}b.txt`)).headers.etag ?? '',
        }
        const answer = await dav('PROPFIND', at, { Depth: '1', ...fields(tags) })
        expect(answer.status).to.equal(status)
        if (status !== 304) return
        expect(answer.headers).to.include({ etag: d1, vary: 'Depth' })
        expect(answer.headers).not.to.have.property('content-type')
        expect(answer.body.length).to.equal(0)
      })

    it('DAV-51 a file has a tag of its own, which its content tag is not', async () => {
      const at = await folder()
      const answer = await dav('PROPFIND', `${at}b.txt`, { Depth: '0' })
      const { etag = '' } = answer.headers
      expect(etag).to.match(/^"p-[0-9a-f]{64}"$/)
      const content = readMultistatus(answer.text).get(`${at}b.txt`)?.get('getetag')?.value ?? ''
      expect(content).to.match(/^"[0-9a-f]{48}"$/)
      expect((await dav('PROPFIND', `${at}b.txt`, { 'If-None-Match': etag })).status).to.equal(304)
      expect((await dav('PROPFIND', `${at}b.txt`, { 'If-None-Match': content })).status).to.equal(207)
      await changesNothing(wire.server, async () => {
        expect((await dav('PUT', `${at}b.txt`, { 'If-Match': etag }, 'x')).status, 'no write').to.equal(412)
      })
      expect((await dav('PUT', `${at}b.txt`, { 'If-Match': content }, 'x')).status).to.equal(204)
    })
  })

  describe('DAV-89 writes to a collection go by the tag that listings have of it', () => {
    const WRITES: [name: string, run: (path: string, fields: Fields) => ReturnType<Client>][] = [
      ['DELETE', (path, fields) => dav('DELETE', path, fields)],
      ['MOVE', (path, fields) => dav('MOVE', path, { ...to(`${path.slice(0, -1)}-moved/`), ...fields })],
      ['COPY', (path, fields) => dav('COPY', path, { ...to(`${path.slice(0, -1)}-copy/`), ...fields })],
      ['PROPPATCH', (path, fields) => dav('PROPPATCH', path, fields, propertyUpdate(['{urn:x}color', 'red']))],
      ['LOCK', (path, fields) => dav('LOCK', path, fields, LOCK)],
    ]
    for (const [name, run] of WRITES)
      it(`${name} with the tag in If-Match, and with one from before a change below`, async () => {
        const at = await folder()
        const tag = async () => (await list(dav, at)).get(`${at}sub/`)?.get('getetag')?.value ?? ''
        const early = await tag()
        await dav('PUT', `${at}sub/deep/new.txt`, {}, 'new')
        const late = await tag()
        await changesNothing(wire.server, async () => {
          const refused = await run(`${at}sub/`, { 'If-Match': early })
          expect(refused.status).to.equal(412)
          expect(refused.headers.etag).to.equal(late)
          expect((await run(`${at}sub/`, { 'If-None-Match': late })).status).to.equal(412)
        })
        expect((await run(`${at}sub/`, { 'If-Match': late })).status).to.be.within(200, 207)
      })
  })

  /** Tags that a change touches: of the collection at both depths, of `sub/`, of the root, and of `a.html`. */
  const NAMES = ['d0', 'd1', 'sub0', 'sub1', 'root0', 'a'] as const
  async function tagsOf(at: string): Promise<Record<(typeof NAMES)[number], string>> {
    return {
      d0: await answerTag(dav, at, '0'),
      d1: await answerTag(dav, at, '1'),
      sub0: await answerTag(dav, `${at}sub/`, '0'),
      sub1: await answerTag(dav, `${at}sub/`, '1'),
      root0: await answerTag(dav, '/', '0'),
      a: await answerTag(dav, `${at}a.html`, '0'),
    }
  }
  const set = propertyUpdate(['{urn:x}color', 'red'])
  const CHANGES: [name: string, run: (at: string) => Promise<unknown>, changed: string][] = [
    ['a new member', at => dav('PUT', `${at}new.txt`, {}, 'n'), 'd0 d1 root0'],
    ['a member edited', at => dav('PUT', `${at}b.txt`, {}, 'other'), 'd0 d1 root0'],
    ['a member gone', at => dav('DELETE', `${at}b.txt`), 'd0 d1 root0'],
    ['a member renamed', at => dav('MOVE', `${at}b.txt`, to(`${at}c.txt`)), 'd0 d1 root0'],
    ['a new member collection', at => dav('MKCOL', `${at}more/`), 'd0 d1 root0'],
    ['a change deep down', at => dav('PUT', `${at}sub/deep/c.txt`, {}, 'other'), 'd0 d1 sub0 sub1 root0'],
    ['something new deep down', at => dav('PUT', `${at}sub/deep/d.txt`, {}, 'd'), 'd0 d1 sub0 sub1 root0'],
    ['something gone deep down', at => dav('DELETE', `${at}sub/deep/`), 'd0 d1 sub0 sub1 root0'],
    ['a document edited', at => dav('PUT', `${at}a.html`, {}, '<p>other</p>'), 'd0 d1 root0 a'],
    ['an element edited', at => dav('PUT', `${at}a.html`, { Range: 'selector=p' }, '<p>z</p>'), 'd0 d1 root0 a'],
    ['another type', at => dav('PUT', `${at}b.txt`, { 'Content-Type': 'text/x-other' }, 'b'), 'd0 d1 root0'],
    [
      'another time',
      at => dav('PROPPATCH', `${at}a.html`, {}, propertyUpdate(['lastmodified', '1773480413'])),
      'd0 d1 root0 a',
    ],
    ['a property of a file', at => dav('PROPPATCH', `${at}a.html`, {}, set), 'd0 d1 root0 a'],
    ['a property of a member collection', at => dav('PROPPATCH', `${at}sub/`, {}, set), 'd0 d1 sub0 sub1 root0'],
    ['a property of the collection', at => dav('PROPPATCH', at, {}, set), 'd0 d1 root0'],
    ['a work file', at => dav('PUT', `${at}~$plan.docx`, {}, 'w'), 'd0 d1 root0'],
    ['a draft', at => dav('PUT', `${at}draft.html`, {}, ''), 'd0 d1 root0'],
    ['a metadata file', at => dav('PUT', `${at}._b.txt`, {}, 'm'), ''],
    ['a change beside it', () => dav('PUT', `/beside-${count}.txt`, {}, 'x'), 'root0'],
    ['reading', at => dav('GET', `${at}a.html`), ''],
    ['a refused write', at => dav('PUT', `${at}a.html`, { 'If-Match': '"x"' }, 'x'), ''],
    ['a lock on a file', at => dav('LOCK', `${at}a.html`, { Depth: '0' }, LOCK), 'd1 a'],
    ['a lock on a member collection', at => dav('LOCK', `${at}sub/`, { Depth: '0' }, LOCK), 'd1 sub0 sub1'],
    ['a lock on the collection', at => dav('LOCK', at, { Depth: '0' }, LOCK), 'd0 d1'],
    ['a lock on all of it', at => dav('LOCK', at, { Depth: 'infinity' }, LOCK), 'd0 d1 sub0 sub1 a'],
    ['a lock deeper down', at => dav('LOCK', `${at}sub/deep/c.txt`, { Depth: '0' }, LOCK), ''],
  ]
  for (const [name, run, expected] of CHANGES)
    it(`DAV-50 DAV-51 ${name} changes ${expected || 'nothing'}`, async () => {
      const at = await folder()
      const before = await tagsOf(at)
      await run(at)
      const after = await tagsOf(at)
      expect(NAMES.filter(tag => after[tag] !== before[tag]).join(' ')).to.equal(expected)
    })

  it('DAV-50 what is undone brings the tag back', async () => {
    const at = await folder()
    const before = await answerTag(dav, at, '1')
    const { headers } = await dav('LOCK', `${at}a.html`, {}, LOCK)
    expect(await answerTag(dav, at, '1')).to.match(/^"d1-[0-9a-f]{64}-l[0-9a-f]{16}"$/)
    await dav('UNLOCK', `${at}a.html`, { 'Lock-Token': headers['lock-token'] })
    await dav('PUT', `${at}~$w.doc`, {}, 'w')
    await dav('DELETE', `${at}~$w.doc`)
    await dav('PUT', `${at}n.html`, {}, '')
    await dav('DELETE', `${at}n.html`)
    expect(await answerTag(dav, at, '1')).to.equal(before)
  })

  it('DAV-50 a visitor who writes changes them, too', async () => {
    const at = await folder()
    await put(wire.server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', `${at}*`]))
    const before = await answerTag(dav, at, '0')
    expect((await wire.visitor('PUT', `${at}b.txt`, {}, 'by a visitor')).status).to.be.oneOf([200, 204])
    expect(await answerTag(dav, at, '0')).not.to.equal(before)
  })

  it('DAV-48 content tags survive MOVE and COPY', async () => {
    const at = await folder()
    const tag = await property(dav, `${at}b.txt`, 'getetag')
    await dav('COPY', `${at}b.txt`, to(`${at}copy.txt`))
    await dav('MOVE', `${at}b.txt`, to(`${at}moved.txt`))
    expect(await property(dav, `${at}copy.txt`, 'getetag')).to.equal(tag)
    expect(await property(dav, `${at}moved.txt`, 'getetag')).to.equal(tag)
  })
})
