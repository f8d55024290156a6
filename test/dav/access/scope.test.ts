/** What a credential opens (DAV-3): the patterns by themselves, and whole trees over the wire. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createScope } from '../../../dav/access/scope.ts'
import { type Client, client } from '../../support/http.ts'
import { basic, changesNothing, outcomeOf, startWire, to, type Wire } from '../wire.ts'

describe('scopes of credentials', () => {
  const COVERS: [patterns: string[], open: string[], closed: string[]][] = [
    [['/*'], ['/', '/a', '/a/', '/a/b/c.html'], []],
    [['/**'], ['/', '/a', '/a/b/c.html'], []],
    [[], [], ['/', '/a', '/a/b']],
    [['/blog/*'], ['/blog', '/blog/', '/blog/a.html', '/blog/x/y'], ['/', '/blogs', '/blog.html', '/Blog/a']],
    [['/blog'], ['/blog', '/blog/'], ['/blog/a', '/']],
    [['/*.html'], ['/a.html', '/x/y.html', '/x.html/'], ['/a.txt', '/html']],
    [
      ['/a/*', '/b.txt'],
      ['/a/x', '/b.txt'],
      ['/b', '/c'],
    ],
    [['/{a,b}/*'], ['/a/x', '/b/x'], ['/c/x']],
    [['/[a-c]?/*'], ['/az/x', '/c1/'], ['/d1/x', '/a/x']],
    [['/caf\u00e9/*'], ['/caf\u00e9/x'], ['/cafe/x', '/cafe\u0301/x']],
    [['/a\\*/*'], ['/a*/x'], ['/ab/x']],
  ]
  for (const [patterns, open, closed] of COVERS)
    it(`DAV-3 ${patterns.join(' ') || 'nothing'} covers ${open.join(' ')}, not ${closed.join(' ')}`, () => {
      const scope = createScope(patterns, true)
      for (const path of open) expect(scope.covers(path), path).to.equal(true)
      for (const path of closed) expect(scope.covers(path), path).to.equal(false)
      expect(scope.whole).to.equal(patterns.some(pattern => pattern === '/*' || pattern === '/**'))
    })

  const LEADS: [patterns: string[], collections: string[], others: string[]][] = [
    [
      ['/shop/a/*', '/notes.txt'],
      ['/', '/shop/', '/shop/a/', '/shop/a/deep/'],
      ['/blog/', '/shop/b/', '/sh/'],
    ],
    [['/*.html'], ['/', '/x/', '/x/y/'], []],
    [['/{a,b}/c/*'], ['/', '/a/', '/b/', '/a/c/'], ['/c/', '/a/d/']],
    [['/only.txt'], ['/'], ['/only.txt/', '/x/']],
    [[], [], ['/', '/a/']],
    [['/*'], ['/', '/a/'], []],
  ]
  for (const [patterns, collections, others] of LEADS)
    it(`DAV-3 ${patterns.join(' ') || 'nothing'} leads through ${collections.join(' ')}, not ${others.join(' ')}`, () => {
      const scope = createScope(patterns, false)
      for (const path of collections) expect(scope.leads(path), path).to.equal(true)
      for (const path of others) expect(scope.leads(path), path).to.equal(false)
      expect(scope.write).to.equal(false)
    })

  const BELOW: [patterns: string[], collections: string[], others: string[]][] = [
    [['/*'], ['/', '/a/'], []],
    [['/blog/*'], ['/blog/', '/blog/x/'], ['/', '/blogs/']],
    [['/blog/**', '/x'], ['/blog/'], ['/x/']],
    [['/bl*'], ['/blog/', '/bl/'], ['/', '/b/']],
    // What more is open cannot be told from the text alone.
    [['/*.html', '/{a,b}/*', '/[ab]/*', '/?/*', '/a\\*/*', '/a'], [], ['/', '/a/', '/a*/', '/x.html/']],
    [[], [], ['/']],
  ]
  for (const [patterns, collections, others] of BELOW)
    it(`DAV-3 ${patterns.join(' ') || 'nothing'} opens everything below ${collections.join(' ') || 'nothing'}`, () => {
      const scope = createScope(patterns, true)
      for (const path of collections) expect(scope.coversBelow(path), path).to.equal(true)
      for (const path of others) expect(scope.coversBelow(path), path).to.equal(false)
      for (const path of collections) expect(scope.covers(`${path}x/\u{1f600}`), path).to.equal(true)
    })

  describe('DAV-3, DAV-8 and whole collections', () => {
    let wire: Wire
    let partly: Client
    before(async () => {
      const credentials = [
        { user: 'chief', password: 'c', scope: ['/*'], write: true },
        { user: 'partly', password: 'p', scope: ['/mix/open/*', '/mine/*', '/parts/', '/parts/*.txt'], write: true },
      ]
      wire = await startWire({ site: { credentials } })
      const chief = client(wire.port, { Authorization: basic('chief', 'c') })
      partly = client(wire.port, { Authorization: basic('partly', 'p') })
      for (const path of [
        '/mix/secret.txt',
        '/mix/open/x.txt',
        '/mine/a.txt',
        '/parts/a.txt',
        '/parts/sub/b.bin',
        '/mine/bin/x',
      ])
        expect((await chief('PUT', path, {}, path)).status).to.equal(201)
      expect((await chief('MKCOL', '/mine/dir/')).status).to.equal(201)
    })
    after(() => wire.server.close())

    const REFUSED: [title: string, method: string, path: string, destination?: string][] = [
      ['that only leads to what is open', 'COPY', '/mix/', '/mine/got/'],
      ['with a closed member', 'COPY', '/parts/', '/mine/got/'],
      ['with a closed member, out of its place', 'MOVE', '/parts/', '/mine/got/'],
      ['with a closed member', 'DELETE', '/parts/'],
      ['over one with a closed member', 'COPY', '/mine/dir/', '/parts/'],
      ['over one with a closed member', 'MOVE', '/mine/dir/', '/parts/'],
      ['to where its members are closed', 'COPY', '/mine/bin/', '/parts/more.txt/'],
    ]
    for (const [title, method, path, destination] of REFUSED)
      it(`403 for ${method} of a collection ${title}, and nothing is told of it`, () =>
        changesNothing(wire.server, async () => {
          const answer = await partly(method, path, destination === undefined ? {} : to(destination))
          expect(outcomeOf(answer)).to.equal('403 Forbidden')
          expect(answer.text).not.to.match(/secret|b\.bin/)
        }))

    it('collections that are open as a whole are copied, moved and removed', async () => {
      expect((await partly('COPY', '/mix/open/', to('/mine/copy/'))).status).to.equal(201)
      expect((await partly('COPY', '/parts/', to('/mine/parts/', { Depth: '0' }))).status).to.equal(201)
      expect((await partly('MOVE', '/mine/copy/', to('/mine/moved/'))).status).to.equal(201)
      expect((await partly('GET', '/mine/moved/x.txt')).text).to.equal('/mix/open/x.txt')
      expect((await partly('DELETE', '/mine/moved/')).status).to.equal(204)
    })
  })
})
