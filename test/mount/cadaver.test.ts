/** cadaver against the mount: all commands of RFC 4918, and what visitors of the site see meanwhile. */

import { expect } from 'chai'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type CadaverSession, cadaver } from './cadaver.ts'

const PAGE = '<!doctype html>\n<title>Notes</title>\n<p>First.\n'
const LATER = '<!doctype html>\n<title>Notes</title>\n<p>Second.\n'

describe('cadaver', () => {
  let server: TestServer
  let session: CadaverSession
  let visitor: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    session = await cadaver(server, { 'page.html': PAGE, 'later.html': LATER })
    visitor = client(server.port)
  })
  after(async () => {
    await session.close()
    await server.close()
  })

  /** Commands of one session, each with what it must say. */
  async function converse(...rows: [command: string, said: RegExp][]): Promise<void> {
    const said = await session.run(...rows.map(([command]) => command))
    for (const [i, [command, expected]] of rows.entries()) expect(said[i], command).to.match(expected)
  }

  it('makes collections, uploads, reads, copies, moves and deletes', async () => {
    await converse(
      ['mkcol notes', /succeeded/],
      ['put page.html notes/page.html', /succeeded/],
      ['cat notes/page.html', /^<!doctype html>\n<title>Notes<\/title>\n<p>First\.$/],
      ['copy notes/page.html notes/copy.html', /succeeded/],
      ['move notes/copy.html notes/moved.html', /succeeded/],
      ['ls notes', /moved\.html +47 .*\n +page\.html +47 /],
      ['mkcol notes', /405/],
      ['mkcol no/where', /409/],
    )
    expect(await visitor('GET', '/notes/moved.html')).to.include({ status: 200, text: PAGE })
    expect((await visitor('GET', '/notes/copy.html')).status).to.equal(404)
    await converse(
      ['put later.html notes/page.html', /succeeded/],
      ['delete notes/moved.html', /succeeded/],
      ['delete notes/moved.html', /404/],
    )
    expect(await visitor('GET', '/notes/page.html')).to.include({ status: 200, text: LATER })
    expect((await visitor('GET', '/notes/moved.html')).status).to.equal(404)
    await converse(['rmcol notes', /succeeded/], ['ls', /empty|succeeded\.$/])
    expect((await visitor('GET', '/notes/page.html')).status).to.equal(404)
  })

  it('locks, finds locks, writes under them and unlocks', async () => {
    const token = /opaquelocktoken:[0-9a-f-]{36}/
    await converse(
      ['put page.html locked.html', /succeeded/],
      ['lock locked.html', /succeeded/],
      ['discover locked.html', token],
      ['discover locked.html', /Depth 0 on `http:\/\/[^']*\/locked\.html'/],
      ['discover locked.html', /Scope: exclusive {2}Type: write {2}Timeout: \d+ seconds/],
      ['put later.html locked.html', /succeeded/],
      ['propset locked.html mood calm', /succeeded/],
      ['unlock locked.html', /succeeded/],
      ['discover locked.html', /no locks found/],
    )
    expect(await visitor('GET', '/locked.html')).to.include({ status: 200, text: LATER })
  })

  it('is kept out by the lock of another session, until it takes the token over', async () => {
    await converse(['put page.html shared.html', /succeeded/], ['lock shared.html', /succeeded/])
    await converse(
      ['put later.html shared.html', /423/],
      ['delete shared.html', /423/],
      ['move shared.html away.html', /423/],
      ['propset shared.html mood bad', /423|failed/],
      ['lock shared.html', /423/],
      ['cat shared.html', /First/],
      ['copy shared.html copied.html', /succeeded/],
      ['steal shared.html', /opaquelocktoken/],
      ['put later.html shared.html', /succeeded/],
      ['unlock shared.html', /succeeded/],
      ['delete shared.html', /succeeded/],
    )
    expect(await visitor('GET', '/copied.html')).to.include({ status: 200, text: PAGE })
  })

  it('sets, reads and removes properties', async () => {
    await converse(
      ['put page.html props.html', /succeeded/],
      ['propset props.html mood "calm and quiet"', /succeeded/],
      ['propget props.html mood', /Value of mood is: calm and quiet$/],
      ['copy props.html twin.html', /succeeded/],
      ['propget twin.html mood', /calm and quiet$/],
      ['propdel props.html mood', /succeeded/],
      ['propget props.html mood', /404 Not Found$/],
      ['propnames props.html', /DAV: getetag/],
    )
    expect((await visitor('GET', '/props.html')).text).to.equal(PAGE)
  })

  it('uploads many files at once, with names that need encoding', async () => {
    await converse(
      ['mkcol "with space"', /succeeded/],
      ['cd "with space"', /^$/],
      ['mput page.html later.html', /succeeded[\s\S]*succeeded/],
      ['ls', /later\.html[\s\S]*page\.html/],
      ['cd ..', /^$/],
      ['delete "with space/later.html"', /succeeded/],
    )
    expect(await visitor('GET', '/with%20space/page.html')).to.include({ status: 200, text: PAGE })
    expect((await visitor('GET', '/with%20space/later.html')).status).to.equal(404)
  })
})
