/** The `If` header holds when a request is carried out, not only when it came (RFC 4918 §10.4.1, DAV-44, DAV-89). */

import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { lockinfo } from '../../mount/replays/requests.ts'
import { page } from '../../support/content.ts'
import { connect, type Fields, requestBytes } from '../../support/http.ts'
import { basic, startWire, to, type Wire } from '../wire.ts'

const UPDATE = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="urn:x">1</x></D:prop></D:set></D:propertyupdate>`

describe('If, judged again', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
    expect((await wire.dav('MKCOL', '/docs/')).status).to.equal(201)
  })
  after(() => wire.server.close())

  const tagOf = async (path: string) => (await wire.dav('GET', path)).headers.etag ?? ''

  /** A request that names the tag of a file; the file is saved by somebody else before its body comes. */
  async function overtaken(method: string, path: string, more: Fields, body: string): Promise<number> {
    const { server, port } = wire
    const fields = {
      Authorization: basic(server.user, server.password),
      If: `(["x"]) ([${await tagOf(path)}])`,
      'Content-Length': String(Buffer.byteLength(body)),
      Expect: '100-continue',
      ...more,
    }
    const connection = await connect({ port })
    try {
      connection.send(requestBytes(method, path, fields, undefined, { port }))
      expect((await connection.receive()).status, 'the body is asked for').to.equal(100)
      expect((await wire.dav('PUT', path, {}, page('<p id="e">theirs</p>'))).status).to.equal(204)
      connection.send(body)
      return (await connection.receive()).status
    } finally {
      connection.close()
    }
  }

  const BODIES: [what: string, method: string, path: string, more: Fields, body: string][] = [
    ['PUT of a document', 'PUT', '/docs/a.html', {}, page('<p>mine</p>')],
    ['PUT of a blob', 'PUT', '/docs/b.txt', {}, 'mine'],
    [
      'an empty PUT',
      'PUT',
      '/docs/c.txt',
      { 'Transfer-Encoding': 'chunked', 'Content-Length': undefined },
      '0\r\n\r\n',
    ],
    ['PUT of an element', 'PUT', '/docs/d.html', { Range: 'selector=#e' }, '<p id="e">mine</p>'],
    ['PROPPATCH', 'PROPPATCH', '/docs/e.html', { 'Content-Type': 'application/xml' }, UPDATE],
    ['LOCK', 'LOCK', '/docs/f.html', { 'Content-Type': 'application/xml' }, lockinfo('me')],
  ]
  for (const [what, method, path, more, body] of BODIES)
    it(`DAV-89 412 for ${what} when another save came before its body`, async () => {
      const first = page('<p id="e">first</p>')
      await wire.dav('PUT', path, {}, first)
      expect(await overtaken(method, path, more, body)).to.equal(412)
      const { text } = await wire.dav('GET', path)
      expect(text).to.equal(page('<p id="e">theirs</p>'))
      const { text: found } = await wire.dav('PROPFIND', path, { Depth: '0' })
      expect(found).to.not.include('urn:x').and.not.include('activelock><')
      expect((await wire.dav('PUT', path, {}, first)).status, 'not locked').to.equal(204)
    })

  const QUEUED: [method: string, path: string, more: Fields][] = [
    ['DELETE', '/docs/g.html', {}],
    ['MOVE', '/docs/h.html', to('/docs/h2.html')],
    ['COPY', '/docs/i.html', to('/docs/i2.html')],
  ]
  for (const [method, path, more] of QUEUED)
    it(`DAV-89 412 for ${method} when a save before it had its turn first`, async () => {
      const { site } = wire.server
      await wire.dav('PUT', path, {}, page('first'))
      const tag = await tagOf(path)
      const answers: Promise<{ status: number }>[] = []
      await site.leases.hold(site.store.name, [path], async () => {
        answers.push(wire.dav('PUT', path, {}, page('theirs')))
        // Whatever has happened by then, the save comes first: it has been sent first, and both wait for this lease.
        await setTimeout(50)
        answers.push(wire.dav(method, path, { If: `([${tag}])`, ...more }))
        await setTimeout(50)
      })
      expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([204, 412])
      expect((await wire.dav('GET', path)).text).to.equal(page('theirs'))
    })
})
