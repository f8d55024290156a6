/** A name is used once: by a file or a collection, whether the site keeps it or the mount keeps it for itself (DAV-60, DAV-70). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Client, Fields } from '../../support/http.ts'
import { changesNothing, inNewFolders, list, outcomeOf, shown, to, type Wire } from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

describe('names that are taken', () => {
  let wire: Wire
  let dav: Client
  let at = ''
  inNewFolders(async (folder, started) => {
    ;[at, wire, dav] = [folder, started, started.dav]
    await dav('PUT', `${at}draft.html`, {}, '')
    await dav('PUT', `${at}~$work`, {}, 'work')
    await dav('PUT', `${at}file.txt`, {}, 'file')
    await dav('MKCOL', `${at}~$dir/`)
    await dav('MKCOL', `${at}dir/`)
  })

  const REFUSED: [
    title: string,
    method: string,
    name: string,
    outcome: string,
    fields?: () => Fields,
    body?: string,
  ][] = [
    ['below a draft', 'PUT', 'draft.html/x.txt', '409 Conflict', undefined, 'x'],
    ['deep below a draft', 'PUT', 'draft.html/a/b/x.txt', '409 Conflict', undefined, 'x'],
    ['an empty page below a draft', 'PUT', 'draft.html/x.html', '409 Conflict', undefined, ''],
    ['a work file below a draft', 'PUT', 'draft.html/~$x', '409 Conflict', undefined, 'x'],
    ['below a work file', 'PUT', '~$work/x.txt', '409 Conflict', undefined, 'x'],
    ['below a file', 'PUT', 'file.txt/x.txt', '409 Conflict', undefined, 'x'],
    ['below a draft', 'MKCOL', 'draft.html/x/', '409 ParentDirectoryMissing'],
    ['below a work file', 'MKCOL', '~$work/x/', '409 ParentDirectoryMissing'],
    ['below a draft', 'LOCK', 'draft.html/x.txt', '409 ParentDirectoryMissing', undefined, LOCK],
    ['below a draft', 'COPY', 'file.txt', '409 ParentDirectoryMissing', () => to(`${at}draft.html/x.txt`)],
    ['in the place of a draft', 'MKCOL', 'draft.html/', '405 MethodNotAllowed'],
    ['in the place of a work file', 'MKCOL', '~$work/', '405 MethodNotAllowed'],
    // Work files are not the site's, so that one cannot take the place of what is, in one step.
    ['a file to a work name that a collection has', 'COPY', 'file.txt', '409 Conflict', () => to(`${at}~$dir`)],
    ['a file to a work name that a collection has', 'MOVE', 'file.txt', '409 Conflict', () => to(`${at}~$dir`)],
    ['a work file to a work name that a collection has', 'MOVE', '~$work', '409 Conflict', () => to(`${at}~$dir`)],
    ['a work file to the name of a collection', 'MOVE', '~$work', '409 Conflict', () => to(`${at}dir`)],
    ['a work file over a collection of such a name', 'PUT', '~$dir', '405 MethodNotAllowed', undefined, 'x'],
  ]
  for (const [title, method, name, outcome, fields, body] of REFUSED)
    it(`${outcome} for ${method}: ${title}`, () =>
      changesNothing(wire.server, async () => {
        expect(outcomeOf(await dav(method, at + name, fields?.(), body))).to.equal(outcome)
      }))

  it('DAV-72 what an editor has renamed away is in the way of no collection, whose public sight ends then', async () => {
    await dav('PUT', `${at}page.html`, {}, '<p>page')
    expect((await dav('MOVE', `${at}page.html`, to(`${at}page.html~`))).status).to.equal(201)
    expect(await shown(wire.visitor, `${at}page.html`), 'for some seconds').to.equal('<p>page')
    expect((await dav('PUT', `${at}page.html/x.txt`, {}, 'x')).status).to.equal(201)
    expect(await shown(wire.visitor, `${at}page.html/x.txt`)).to.equal('x')
    expect((await dav('GET', `${at}page.html~`)).text).to.equal('<p>page')
  })

  it('a collection takes the place of a draft and of a work file, and they are gone', async () => {
    await dav('PUT', `${at}dir/x.txt`, {}, 'x')
    for (const name of ['draft.html', '~$work']) {
      expect((await dav('COPY', `${at}dir/`, to(`${at}${name}/`))).status, name).to.equal(204)
      expect(await shown(wire.visitor, `${at}${name}/x.txt`)).to.equal('x')
    }
    expect([...(await list(dav, at)).keys()]).to.deep.equal(
      ['', 'dir/', 'draft.html/', 'file.txt', '~$dir/', '~$work/'].map(name => at + name),
    )
  })
})
