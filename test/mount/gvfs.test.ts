/** GNOME Files' way to a mount: `gio` with credentials, on a session bus of its own. */

import { expect } from 'chai'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { withGvfs } from './gvfs.ts'

describe('gvfs', () => {
  let server: TestServer
  let visitor: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    visitor = client(server.port)
  })
  after(() => server.close())

  it('mounts with credentials, copies in and out, and lists', async () => {
    const said = await withGvfs(
      server,
      `echo '<!doctype html><title>GNOME</title>' > page.html
       gio copy page.html "$D/page.html"
       gio mkdir "$D/docs"
       gio copy page.html "$D/docs/a b (1) é.html"
       gio list "$D/"
       gio list "$D/docs"
       gio copy "$D/page.html" back.html
       cmp page.html back.html
       gio info -a standard::size,standard::content-type,time::modified "$D/page.html"`,
    )
    expect(said).to.match(/^docs\npage\.html$/m)
    expect(said).to.match(/^a b \(1\) é\.html$/m)
    expect(said).to.match(/standard::size: 36/)
    const text = '<!doctype html><title>GNOME</title>\n'
    expect(await visitor('GET', '/page.html')).to.include({ status: 200, text })
    expect(await visitor('GET', '/docs/a%20b%20(1)%20%C3%A9.html')).to.include({ status: 200, text })
  })

  it('saves over a file, renames, moves and removes', async () => {
    await withGvfs(
      server,
      `echo first > a.txt
       gio copy a.txt "$D/a.txt"
       printf 'second\\n' | gio save "$D/a.txt"
       gio rename "$D/a.txt" b.txt
       gio mkdir "$D/old"
       gio move "$D/b.txt" "$D/old/c.txt"
       gio rename "$D/old" new
       test "$(gio cat "$D/new/c.txt")" = second`,
    )
    expect(await visitor('GET', '/new/c.txt')).to.include({ status: 200, text: 'second\n' })
    for (const gone of ['/a.txt', '/b.txt', '/old/c.txt']) expect((await visitor('GET', gone)).status).to.equal(404)
    await withGvfs(server, 'gio remove "$D/new/c.txt"; gio remove "$D/new"; test "$(gio list "$D/" | grep -c new)" = 0')
    expect((await visitor('GET', '/new/c.txt')).status).to.equal(404)
  })

  it('makes empty files, and is refused where something stands', async () => {
    const said = await withGvfs(
      server,
      `printf '' | gio save "$D/empty.txt"
       gio mkdir "$D/taken"
       gio mkdir "$D/taken" && exit 1
       gio info "$D/empty.txt" | grep standard::size`,
    )
    expect(said).to.match(/standard::size: 0/)
    expect(await visitor('GET', '/empty.txt')).to.include({ status: 200, text: '' })
  })

  it('is asked for the right password', async () => {
    const wrong = await withGvfs({ ...server, password: 'wrong' }, 'true').then(
      () => 'mounted',
      error => String(error),
    )
    expect(wrong).not.to.equal('mounted')
  })
})
