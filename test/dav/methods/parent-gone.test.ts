/**
 * A collection that somebody deletes or moves while something new is being stored in it: the writer has looked at it for
 * the last time, and its commit is on its way (RFC 4918 §9.7.1, DAV-14, DAV-44).
 */

import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { removeTree, transferTree } from '../../../pipeline/write/collection.ts'
import { page } from '../../support/content.ts'
import type { Fields, Received } from '../../support/http.ts'
import { lockInfo } from '../locks/locking.ts'
import { everything, outcomeOf, startWire, to, type Wire } from '../wire.ts'

const { commit } = Site.prototype

/** Has something happen before the next commit, of the site or of what is kept beside it. */
function beforeCommit(happen: () => Promise<void>): void {
  Site.prototype.commit = async function (...order) {
    Site.prototype.commit = commit
    await happen()
    return commit.apply(this, order)
  }
}

/** What stands in a folder of its own when a request comes. */
const FILES: [path: string, type: string, body: string][] = [
  ['blob.txt', 'text/plain', 'text'],
  ['draft.html', 'text/html', ''],
  ['d/member.txt', 'text/plain', 'text'],
  ['1A2B3C4D.tmp', 'application/octet-stream', 'saved'],
  ['c/there.txt', 'text/plain', 'text'],
]

interface Race {
  method: string
  path: string
  body?: string
  destination?: string
}

const FORM =
  '--X\r\nContent-Disposition: form-data; name="do"\r\n\r\nupload\r\n' +
  '--X\r\nContent-Disposition: form-data; name="file"; filename="new.txt"\r\nContent-Type: text/plain\r\n\r\nA\r\n--X--\r\n'

const ALWAYS: Race[] = [
  { method: 'LOCK', path: 'c/new.txt', body: lockInfo() },
  { method: 'LOCK', path: 'c/new.html', body: lockInfo() },
  { method: 'LOCK', path: 'c/~$new.docx', body: lockInfo() },
  { method: 'MKCOL', path: 'c/new/' },
  { method: 'COPY', path: 'blob.txt', destination: 'c/new.txt' },
  { method: 'COPY', path: 'd/', destination: 'c/new/' },
  { method: 'COPY', path: 'draft.html', destination: 'c/new.html' },
  { method: 'COPY', path: '1A2B3C4D.tmp', destination: 'c/new.txt' },
  { method: 'COPY', path: '1A2B3C4D.tmp', destination: 'c/1A2B3C4D.tmp' },
  { method: 'COPY', path: 'blob.txt', destination: 'c/~$new.txt' },
  { method: 'MOVE', path: 'blob.txt', destination: 'c/new.txt' },
  { method: 'MOVE', path: 'd/', destination: 'c/new/' },
  { method: 'MOVE', path: 'draft.html', destination: 'c/new.html' },
  { method: 'MOVE', path: '1A2B3C4D.tmp', destination: 'c/new.txt' },
  { method: 'MOVE', path: '1A2B3C4D.tmp', destination: 'c/5E6F7A8B.tmp' },
  { method: 'MOVE', path: 'blob.txt', destination: 'c/~$new.txt' },
  { method: 'POST', path: 'c/', body: FORM },
]

const STRICTLY: Race[] = [
  { method: 'PUT', path: 'c/new.txt', body: 'A' },
  { method: 'PUT', path: 'c/there.txt', body: 'A' },
  { method: 'PUT', path: 'c/new.html', body: page('<p>A</p>') },
  { method: 'PUT', path: 'c/new.html', body: '' },
  { method: 'PUT', path: 'c/~$new.docx', body: 'A' },
]

/** A lock that is being given stops others: this is one who looked for locks before, and was late. */
async function unasked(site: Site, at: string, how: string): Promise<void> {
  const [path, common] = [`${at}c/`, { cause: {} }]
  if (how === 'DELETE') await removeTree(site, { path, ...common })
  else await transferTree(site, { op: 'move', from: path, to: `${at}moved/`, deep: true, overwrite: false, ...common })
}

describe('collections that go while something new comes into them', () => {
  const wires: Wire[] = []
  let count = 0
  before(async () => {
    for (const mountStrictParents of [false, true]) wires.push(await startWire({ site: { mountStrictParents } }))
  })
  after(async () => {
    for (const { server } of wires) await server.close()
  })
  afterEach(() => {
    Site.prototype.commit = commit
  })

  /** Everything but collections that are kept beside the site, which nobody sees. */
  const stored = async ({ server }: Wire) => {
    const paths = (await everything(server)).map(line => line.split(' ').slice(0, 2).join(' '))
    return paths.filter(path => !/#mount .*\/$/.test(path))
  }

  function ask({ dav, server }: Wire, at: string, { method, path, body, destination }: Race): Promise<Received> {
    const form: Fields = { 'Content-Type': 'multipart/form-data; boundary=X', Origin: server.mountUrl }
    const fields = destination === undefined ? {} : to(encodeURI(at + destination))
    return dav(method, at + path, method === 'POST' ? form : fields, body)
  }

  /** @returns the answer, and what was stored before and after what happened meanwhile, and in the end */
  async function race(wire: Wire, asked: Race, how: string) {
    const at = `/r${++count}/`
    const { dav } = wire
    for (const path of ['', 'c/', 'd/']) await dav('MKCOL', at + path)
    for (const [path, type, body] of FILES) await dav('PUT', at + path, { 'Content-Type': type }, body)
    let meanwhile: string[] = []
    beforeCommit(async () => {
      if (asked.method === 'LOCK') await unasked(wire.server.site, at, how)
      else {
        const gone = await dav(how, `${at}c/`, how === 'MOVE' ? to(`${at}moved/`) : {})
        expect(gone.status, gone.text).to.be.within(201, 204)
      }
      meanwhile = await stored(wire)
    })
    const answer = await ask(wire, at, asked)
    return { at, answer, meanwhile, left: await stored(wire) }
  }

  for (const [strict, races] of [
    [0, ALWAYS],
    [1, STRICTLY],
  ] as const)
    for (const each of races)
      for (const how of ['DELETE', 'MOVE']) {
        const { method, path, body, destination } = each
        const what = `${method} ${path}${destination ? ` to ${destination}` : ''}${body === '' ? ' (empty)' : ''}`
        it(`DAV-44 ${what} is refused when ${how} takes its collection away before the commit`, async () => {
          const wire = wires[strict] as Wire
          const { at, answer, meanwhile, left } = await race(wire, each, how)
          expect(meanwhile).to.not.deep.equal([])
          expect(outcomeOf(answer)).to.equal('409 ParentDirectoryMissing')
          expect(left).to.deep.equal(meanwhile)
          // Nothing of the attempt is in the way, no lock either.
          expect((await wire.dav('MKCOL', `${at}c/`)).status).to.equal(201)
          expect((await ask(wire, at, each)).status).to.be.oneOf([201, 303])
        })
      }

  it('DAV-14 a PUT makes its collection again, except where RFC 4918 is wanted', async () => {
    const wire = wires[0] as Wire
    const { at, answer } = await race(wire, { method: 'PUT', path: 'c/new.txt', body: 'A' }, 'DELETE')
    expect(answer.status).to.equal(201)
    expect((await wire.dav('GET', `${at}c/new.txt`)).text).to.equal('A')
  })
})
