/** Collections that change sides: from the site to a helper name, such as the trash of macOS, and back (DAV-34, DAV-72, DAV-73). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Client } from '../../support/http.ts'
import { inNewFolders, list, property, propertyUpdate, to } from '../wire.ts'

const MOOD = '{urn:x}mood'
const FILES = { 'c/page.html': '<p>page', 'c/draft.html': '', 'c/sub/~$w': 'work', 'c/._m': 'metadata' }

describe('collections between the site and helper names', () => {
  let dav: Client
  let at = ''
  inNewFolders(async (folder, started) => {
    ;[at, dav] = [folder, started.dav]
    for (const name of ['c/', 'c/sub/', '.Trashes/']) await dav('MKCOL', at + name)
    for (const [name, content] of Object.entries(FILES)) await dav('PUT', at + name, {}, content)
    for (const name of ['c/', 'c/sub/', 'c/draft.html', 'c/sub/~$w'])
      await dav('PROPPATCH', at + name, {}, propertyUpdate([MOOD, name]))
  })

  const texts = (folder: string) =>
    Promise.all(
      Object.keys(FILES).map(async name => {
        const { status, text } = await dav('GET', at + folder + name.slice(2))
        return status === 200 ? text : status
      }),
    )
  const moods = (folder: string) =>
    Promise.all(
      ['', 'sub/', 'draft.html', 'sub/~$w'].map(async name =>
        (await property(dav, at + folder + name, MOOD).catch(String)).slice(2),
      ),
    )
  const CONTENTS = Object.values(FILES)
  const MOODS = ['', 'sub/', 'draft.html', 'sub/~$w']

  for (const method of ['MOVE', 'COPY'])
    it(`${method} takes properties, drafts and helper files along, there and back`, async () => {
      expect((await dav(method, `${at}c/`, to(`${at}.Trashes/c/`, { Overwrite: 'F' }))).status).to.equal(201)
      expect(await texts('.Trashes/c/')).to.deep.equal(CONTENTS)
      expect(await moods('.Trashes/c/')).to.deep.equal(MOODS)
      expect((await dav('GET', `${at}c/`)).status).to.equal(method === 'MOVE' ? 404 : 200)
      expect((await dav(method, `${at}.Trashes/c/`, to(`${at}back/`, { Overwrite: 'F' }))).status).to.equal(201)
      expect(await texts('back/')).to.deep.equal(CONTENTS)
      expect(await moods('back/')).to.deep.equal(MOODS)
      expect((await dav('GET', `${at}.Trashes/c/`)).status).to.equal(method === 'MOVE' ? 404 : 200)
    })

  it('COPY with Depth: 0 from a helper name makes the collection alone', async () => {
    await dav('MOVE', `${at}c/`, to(`${at}.Trashes/c/`))
    expect((await dav('COPY', `${at}.Trashes/c/`, to(`${at}back/`, { Depth: '0' }))).status).to.equal(201)
    expect([...(await list(dav, `${at}back/`)).keys()]).to.deep.equal([`${at}back/`])
    expect(await property(dav, `${at}back/`, MOOD)).to.equal('c/')
  })

  it('what is gone from the mount stays gone', async () => {
    await dav('MOVE', `${at}c/page.html`, to(`${at}c/page.html~`))
    expect((await dav('COPY', `${at}c/`, to(`${at}.Trashes/c/`))).status).to.equal(201)
    expect((await dav('GET', `${at}.Trashes/c/page.html`)).status).to.equal(404)
    expect((await dav('GET', `${at}.Trashes/c/page.html~`)).text).to.equal('<p>page')
  })
})
