import { expect } from 'chai'
import { type Client, connect, type Fields, requestBytes } from '../../support/http.ts'
import { type Authors, basic, codeOf, lockInfo, outcomeOf, startMount, take } from './locking.ts'

const SET = '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="urn:x">1</x></D:prop></D:set></D:propertyupdate>'

describe('what locks keep off', () => {
  let mount: Authors
  let count = 0
  before(async () => {
    mount = await startMount()
  })
  after(() => mount.server.close())

  /** A collection of its own for a test, holding `f.txt`, `g.txt` and `sub/deep.txt`. */
  async function folder(): Promise<string> {
    const path = `/t${++count}/`
    await mount.ann('MKCOL', path)
    await mount.ann('MKCOL', `${path}sub/`)
    for (const name of ['f.txt', 'g.txt', 'sub/deep.txt']) await mount.ann('PUT', path + name, {}, name)
    return path
  }

  type Request = (author: Client, at: string, fields: Fields) => ReturnType<Client>
  const requests: Record<string, Request> = {
    'PUT f.txt': (author, at, fields) => author('PUT', `${at}f.txt`, fields, 'new'),
    'PUT new.txt': (author, at, fields) => author('PUT', `${at}new.txt`, fields, 'new'),
    'PUT new/x.txt': (author, at, fields) => author('PUT', `${at}new/x.txt`, fields, 'new'),
    'PUT sub/deep.txt': (author, at, fields) => author('PUT', `${at}sub/deep.txt`, fields, 'new'),
    'PUT sub/new.txt': (author, at, fields) => author('PUT', `${at}sub/new.txt`, fields, 'new'),
    'PROPPATCH f.txt': (author, at, fields) => author('PROPPATCH', `${at}f.txt`, fields, SET),
    'PROPPATCH the collection': (author, at, fields) => author('PROPPATCH', at, fields, SET),
    'DELETE f.txt': (author, at, fields) => author('DELETE', `${at}f.txt`, fields),
    'DELETE sub/': (author, at, fields) => author('DELETE', `${at}sub/`, fields),
    'DELETE the collection': (author, at, fields) => author('DELETE', at, fields),
    'MKCOL new/': (author, at, fields) => author('MKCOL', `${at}new/`, fields),
    'MOVE f.txt elsewhere': (author, at, fields) =>
      author('MOVE', `${at}f.txt`, { Destination: `/from${at.slice(1, -1)}`, ...fields }),
    'MOVE g.txt onto f.txt': (author, at, fields) =>
      author('MOVE', `${at}g.txt`, { Destination: `${at}f.txt`, ...fields }),
    'MOVE the collection': (author, at, fields) =>
      author('MOVE', at, { Destination: `/moved${at.slice(1, -1)}/`, ...fields }),
    'COPY g.txt onto f.txt': (author, at, fields) =>
      author('COPY', `${at}g.txt`, { Destination: `${at}f.txt`, ...fields }),
    'COPY f.txt to new.txt': (author, at, fields) =>
      author('COPY', `${at}f.txt`, { Destination: `${at}new.txt`, ...fields }),
    'COPY f.txt elsewhere': (author, at, fields) =>
      author('COPY', `${at}f.txt`, { Destination: `/copy${at.slice(1, -1)}`, ...fields }),
    'GET f.txt': (author, at, fields) => author('GET', `${at}f.txt`, fields),
    'HEAD f.txt': (author, at, fields) => author('HEAD', `${at}f.txt`, fields),
    PROPFIND: (author, at, fields) => author('PROPFIND', at, fields),
  }
  const never = ['COPY f.txt elsewhere', 'GET f.txt', 'HEAD f.txt', 'PROPFIND']
  const ofFile = [
    'PUT f.txt',
    'PROPPATCH f.txt',
    'DELETE f.txt',
    'DELETE the collection',
    'MOVE f.txt elsewhere',
    'MOVE g.txt onto f.txt',
    'MOVE the collection',
    'COPY g.txt onto f.txt',
  ]
  const ofMembership = [
    'PUT new.txt',
    'PUT new/x.txt',
    'PROPPATCH the collection',
    'DELETE f.txt',
    'DELETE sub/',
    'DELETE the collection',
    'MKCOL new/',
    'MOVE f.txt elsewhere',
    'MOVE g.txt onto f.txt',
    'MOVE the collection',
    'COPY f.txt to new.txt',
  ]
  const locked: [name: string, target: string, depth: '0' | 'infinity', blocked: readonly string[]][] = [
    ['a file', 'f.txt', '0', ofFile],
    ['a collection', '', '0', ofMembership],
    ['a collection with all in it', '', 'infinity', Object.keys(requests).filter(name => !never.includes(name))],
  ]

  for (const [name, target, depth, blocked] of locked) {
    for (const [title, request] of Object.entries(requests)) {
      const isBlocked = blocked.includes(title)
      it(`DAV-86 ${title} ${isBlocked ? 'needs the token of' : 'does not mind a lock on'} ${name}`, async () => {
        const { ann, bob } = mount
        const at = await folder()
        const token = await take(ann, at + target, { Depth: depth })
        const If = `<${at}${target}> (<${token}>)`
        if (isBlocked) {
          for (const [author, fields] of [
            [ann, {}],
            [bob, {}],
            [bob, { If }],
            [ann, { If: '(Not <DAV:no-lock>)' }],
          ] as const) {
            const response = await request(author, at, fields)
            expect(outcomeOf(response)).to.equal('423 Locked')
            expect(codeOf(response)).to.equal(`lock-token-submitted ${at}${target}`)
          }
          expect((await request(ann, at, { If })).status).to.be.within(200, 207)
        } else expect((await request(bob, at, {})).status).to.be.within(200, 207)
      })
    }
  }

  it('DAV-86 deleting a collection needs the tokens of all locks inside', async () => {
    const { ann } = mount
    const at = await folder()
    const tokens = [await take(ann, `${at}f.txt`), await take(ann, `${at}sub/deep.txt`)]
    const one = await ann('DELETE', at, { If: `<${at}f.txt> (<${tokens[0]}>)` })
    expect(codeOf(one)).to.equal(`lock-token-submitted ${at}sub/deep.txt`)
    const all = await ann('DELETE', at, { If: `<${at}f.txt> (<${tokens[0]}>) <${at}sub/deep.txt> (<${tokens[1]}>)` })
    expect(all.status).to.equal(204)
  })

  it('DAV-86 one token is enough where several shared locks are', async () => {
    const { ann, bob } = mount
    const at = await folder()
    const token = await take(ann, `${at}f.txt`, {}, 'shared')
    await take(bob, `${at}f.txt`, {}, 'shared')
    expect((await ann('PUT', `${at}f.txt`, { If: `(<${token}>)` }, 'x')).status).to.equal(204)
    expect((await bob('PUT', `${at}f.txt`, { If: `(<${token}>)` }, 'x')).status).to.equal(423)
  })

  for (const [name, content, kind] of [
    ['a blob', 'x', 'f.txt'],
    ['a document', '<p>x</p>', 'page.html'],
    ['a helper file', 'x', '~$f.docx'],
  ] as const) {
    it(`DAV-86 a lock that is taken while ${name} is on its way keeps it off`, async () => {
      const { ann, bob, server } = mount
      const path = `${await folder()}${kind}`
      await ann('PUT', path, {}, '<p>old</p>')
      const port = Number(new URL(server.running.mountOrigin ?? '').port)
      const connection = await connect(port)
      try {
        const fields = { Authorization: basic('ann'), 'Content-Length': `${content.length}`, Expect: '100-continue' }
        connection.send(requestBytes('PUT', path, fields, undefined, { port }))
        expect((await connection.receive()).status).to.equal(100)
        await take(bob, path)
        connection.send(content)
        expect(outcomeOf(await connection.receive())).to.equal('423 Locked')
        expect((await ann('GET', path)).text).to.equal('<p>old</p>')
      } finally {
        connection.close()
      }
    })
  }

  it('DAV-87 what is deleted or moved loses its locks, and they do not travel', async () => {
    const { ann, bob } = mount
    const at = await folder()
    const token = await take(ann, `${at}f.txt`)
    const If = `(<${token}>)`
    expect((await ann('MOVE', `${at}f.txt`, { If, Destination: `${at}h.txt` })).status).to.equal(201)
    expect((await bob('PUT', `${at}h.txt`, {}, 'x')).status).to.equal(204)
    expect((await bob('PUT', `${at}f.txt`, {}, 'x')).status).to.equal(201)
    const again = await take(ann, `${at}f.txt`)
    expect((await ann('DELETE', `${at}f.txt`, { If: `(<${again}>)` })).status).to.equal(204)
    expect((await bob('PUT', `${at}f.txt`, {}, 'x')).status).to.equal(201)
  })

  it('DAV-87 a lock on the destination stays where it is', async () => {
    const { ann, bob } = mount
    const at = await folder()
    const token = await take(ann, `${at}f.txt`)
    const If = `<${at}f.txt> (<${token}>)`
    expect((await ann('MOVE', `${at}g.txt`, { If, Destination: `${at}f.txt` })).status).to.equal(204)
    expect((await bob('PUT', `${at}f.txt`, {}, 'x')).status).to.equal(423)
    expect((await ann('PUT', `${at}f.txt`, { If }, 'x')).status).to.equal(204)
  })

  it('DAV-35 Windows times need no token from the credential that holds the lock', async () => {
    const { ann, bob } = mount
    const at = await folder()
    await take(ann, `${at}f.txt`)
    const times =
      '<D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>' +
      '<Z:Win32LastModifiedTime>Sat, 14 Mar 2026 09:26:53 GMT</Z:Win32LastModifiedTime></D:prop></D:set></D:propertyupdate>'
    expect((await ann('PROPPATCH', `${at}f.txt`, {}, times)).status).to.equal(207)
    expect((await bob('PROPPATCH', `${at}f.txt`, {}, times)).status).to.equal(423)
  })

  it('DAV-80 public writes do not look at locks', async () => {
    const { ann, visitor } = mount
    const at = await folder()
    await take(ann, `${at}f.txt`)
    // Nobody may write here as a visitor: what matters is that it is rules that say so.
    expect((await visitor('PUT', `${at}f.txt`, {}, 'x')).status).not.to.equal(423)
  })

  describe('the If header', () => {
    it('DAV-89 is judged with the locks and tags of the mount', async () => {
      const { ann } = mount
      const at = await folder()
      const path = `${at}f.txt`
      const token = await take(ann, path)
      const tag = (await ann('HEAD', path)).headers.etag ?? ''
      const etag = tag.replaceAll('"', '&quot;').length > 0 ? tag : 'no tag'
      const cases: [header: string, status: number][] = [
        [`(<${token}>)`, 204],
        [`(<${token}> ["wrong"])`, 412],
        ['(<opaquelocktoken:wrong>) (Not <DAV:no-lock>)', 423],
        [`(<DAV:no-lock> [${etag}])`, 412],
        [`(<opaquelocktoken:wrong>) (Not <DAV:no-lock>) (<${token}>)`, 204],
        [`<${at}g.txt> (Not <${token}>)`, 204],
        [`<http://elsewhere.example${path}> (<${token}>)`, 412],
        [`<http://localhost:${mount.server.running.mountOrigin?.split(':').at(-1)}${path}> (<${token}>)`, 204],
        [`<https://localhost:${mount.server.running.mountOrigin?.split(':').at(-1)}${path}> (<${token}>)`, 204],
        [`(<${token}`, 400],
        ['()', 400],
      ]
      for (const [header, status] of cases) {
        expect((await ann('PUT', path, { If: header }, 'x')).status, header).to.equal(status)
      }
    })

    it('DAV-89 fields sent twice count together', async () => {
      const { ann } = mount
      const at = await folder()
      const token = await take(ann, `${at}f.txt`)
      expect((await ann('PUT', `${at}f.txt`, { If: ['(<urn:wrong>)', `(<${token}>)`] }, 'x')).status).to.equal(204)
    })

    it('DAV-89 is judged on every method', async () => {
      const { ann } = mount
      const at = await folder()
      for (const method of ['GET', 'HEAD', 'PROPFIND', 'DELETE', 'MKCOL', 'OPTIONS', 'UNLOCK']) {
        expect((await ann(method, `${at}f.txt`, { If: '(<urn:wrong>)' })).status, method).to.equal(412)
      }
    })
  })

  it('section 9: Windows saves through a temporary file', async () => {
    const { ann } = mount
    const at = await folder()
    await ann('PUT', `${at}plan.xlsx`, {}, 'old')
    const lock = async (name: string) => {
      const response = await ann('LOCK', at + name, { Timeout: 'Second-3600' }, lockInfo())
      expect(response.status).to.equal(200)
      return (response.headers['lock-token'] ?? '').slice(1, -1)
    }
    const expectStatus = async (status: number, ...request: Parameters<Client>) =>
      expect((await ann(...request)).status, request.join(' ')).to.equal(status)

    const t1 = await lock('plan.xlsx')
    await expectStatus(201, 'PUT', `${at}5A2B3C01`, { 'Content-Length': '0' })
    const t2 = await lock('5A2B3C01')
    await expectStatus(204, 'PUT', `${at}5A2B3C01`, { If: `(<${t2}>)` }, 'new')
    await expectStatus(204, 'UNLOCK', `${at}plan.xlsx`, { 'Lock-Token': `<${t1}>` })
    await expectStatus(204, 'UNLOCK', `${at}5A2B3C01`, { 'Lock-Token': `<${t2}>` })
    const t3 = await lock('5A2B3C01')
    const destination = `http://localhost${at}plan.xlsx`.replace(
      'localhost',
      new URL(mount.server.running.mountOrigin ?? '').host,
    )
    await expectStatus(204, 'MOVE', `${at}5A2B3C01`, { Destination: destination, Overwrite: 'T', If: `(<${t3}>)` })
    expect((await ann('GET', `${at}plan.xlsx`)).text).to.equal('new')
    expect((await ann('GET', `${at}5A2B3C01`)).status).to.equal(404)
  })

  it('DAV-88 PROPFIND shows locks, inherited ones included', async () => {
    const { ann, rita } = mount
    const at = await folder()
    const above = await take(ann, at, { Depth: 'infinity' }, 'shared')
    const own = await take(ann, `${at}f.txt`, {}, 'shared')
    const file = await rita('PROPFIND', `${at}f.txt`, { Depth: '0' })
    expect(file.text.match(/opaquelocktoken:[^<]*/g)).to.deep.equal([above, own])
    expect(file.text).to.contain(`<D:lockroot><D:href>${at}</D:href></D:lockroot>`)
    const listing = await rita('PROPFIND', at, { Depth: '1' })
    expect(listing.text.match(/opaquelocktoken:[^<]*/g)).to.deep.equal([above, above, own, above, above])
  })
})
