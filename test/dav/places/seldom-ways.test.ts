/** Ways that saves seldom take, and those that are refused half way (DAV-61, DAV-72, DAV-73, DAV-81). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Client } from '../../support/http.ts'
import { changesNothing, everything, inNewFolders, outcomeOf, shown, to, type Wire } from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

describe('seldom ways of a save', () => {
  let wire: Wire
  let dav: Client
  let at = ''
  inNewFolders((folder, started) => {
    ;[at, wire, dav] = [folder, started, started.dav]
  })
  /** Of all that is stored. */
  const pathsOf = async () => (await everything(wire.server)).map(line => line.split(' ').slice(0, 2).join(' '))
  const statusOf = async (name: string) => (await dav('GET', at + name)).status

  for (const op of ['COPY', 'MOVE'])
    it(`DAV-73 ${op}: where one file of a work folder is refused, nothing of it stays, whatever else is in it`, async () => {
      const work = `${at}x.sb-12345678-abcdef/`
      for (const folder of ['', 'sub/', 'sub/y.sb-12345678-abcdef/']) await dav('MKCOL', work + folder)
      for (const [name, content] of Object.entries({
        'page.html': '<p>page',
        'file.txt': 'file',
        'sub/draft.html': '',
        'sub/._meta': 'meta',
        'sub/~$work': 'work',
        'sub/y.sb-12345678-abcdef/own.txt': 'own',
        'z.xml': '<broken',
      }))
        expect((await dav('PUT', work + name, {}, content)).status).to.equal(201)
      const before = await pathsOf()
      expect((await dav(op, work, to(`${at}real/`))).status).to.equal(422)
      expect(await pathsOf()).to.deep.equal(before)
      await dav('DELETE', `${work}z.xml`)
      expect(outcomeOf(await dav(op, work, to(`${at}real/`)))).to.equal('201')
      expect(await statusOf('real/sub/y.sb-12345678-abcdef/own.txt')).to.equal(200)
      expect(await statusOf('x.sb-12345678-abcdef/')).to.equal(op === 'COPY' ? 200 : 404)
    })

  for (const op of ['COPY', 'MOVE'])
    it(`DAV-61 DAV-72 ${op} of an empty page that was never published to a work name, and back`, async () => {
      await dav('PUT', `${at}new.html`, {}, '')
      expect((await dav(op, `${at}new.html`, to(`${at}new.html~`))).status).to.equal(201)
      expect(await statusOf('new.html')).to.equal(op === 'COPY' ? 200 : 404)
      expect((await dav('MOVE', `${at}new.html~`, to(`${at}new.html`))).status).to.equal(op === 'COPY' ? 204 : 201)
      expect([await statusOf('new.html'), await statusOf('new.html~')]).to.deep.equal([200, 404])
      expect((await wire.visitor('GET', `${at}new.html`)).status).to.equal(404)
    })

  it('DAV-61 an empty page that was never published takes the place of a collection', async () => {
    await dav('PUT', `${at}new.html`, {}, '')
    await dav('MKCOL', `${at}dir/`)
    await dav('PUT', `${at}dir/file.txt`, {}, 'file')
    await changesNothing(wire.server, async () => {
      expect((await dav('MOVE', `${at}new.html`, { ...to(`${at}dir`), Overwrite: 'F' })).status).to.equal(412)
    })
    expect((await dav('MOVE', `${at}new.html`, to(`${at}dir`))).status).to.equal(204)
    const states = await Promise.all(['dir', 'dir/', 'dir/file.txt', 'new.html'].map(statusOf))
    expect(states).to.deep.equal([200, 404, 404, 404])
  })

  it('DAV-81 LOCK of the name of a file that an editor has renamed away: it is gone for visitors from then on', async () => {
    await dav('PUT', `${at}file.png`, {}, 'bytes')
    await dav('MOVE', `${at}file.png`, to(`${at}file.png~`))
    expect(await shown(wire.visitor, `${at}file.png`), 'for some seconds').to.equal('bytes')
    const { status, headers } = await dav('LOCK', `${at}file.png`, {}, LOCK)
    expect(status).to.equal(201)
    expect(await shown(wire.visitor, `${at}file.png`)).to.equal('')
    const token = String(headers['lock-token'])
    expect((await dav('PUT', `${at}file.png`, { If: `(${token})` }, 'new')).status).to.equal(204)
    expect(await shown(wire.visitor, `${at}file.png`)).to.equal('new')
    expect(await shown(dav, `${at}file.png~`)).to.equal('bytes')
  })
})
