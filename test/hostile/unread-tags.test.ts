/** Markup of which browsers make other elements than the server: no closed shape lets it in (MOD-94). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { shape } from '../pipeline/model/markup.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PERMIT = ['option', 'select', 'b[title]', 'x\\:y[xmlns\\:x]']
const EMPTY = page('<main></main>')

/** What the parser passes over in a `select`, and browsers make elements of. */
const TAGS = [
  '<select><img src=x onerror=alert(1)></select>',
  '<select><option><img src=x onerror=alert(1)></select>',
  '<select><option>x</option></p></select>',
  '<select><xmp></select><b title="</xmp><img src=x onerror=alert(1)>"></b>',
  '<select><x:y onfocus=alert(1) tabindex=0>a</x:y></select>',
  '<select><option><x:y onfocus=alert(1) tabindex=0></x:y></option></select>',
  '<select><x:y xmlns:x=u></x:y><z:y onfocus=alert(1) tabindex=0></z:y></select>',
  '<select><img src=x onerror=alert(1)><x:y xmlns:x=u></x:y></select>',
]
const KEPT = [
  '<select><option>x<option>y</option></select>',
  '<select><x:y xmlns:x=u></x:y></select>',
  '<b title="<img>">',
]

describe('MOD-94 nothing that browsers alone make elements of gets through a closed shape', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    const shapes = shape({ resource: '/n/*', selector: 'main', permit: PERMIT })
    const rules = rulesPage(['*', 'PUT|MOVE', 'Allow', '/n/*|/free*'], ['*', 'POST', 'Allow', '/part/*', 'main'])
    await put(server, '/rules.html', rules.replace('</body>', `${shapes}</body>`))
    const own = shape({ resource: '/part/*', selector: 'main', permit: PERMIT })
    await put(server, '/own.html', page(own))
  })
  after(() => server.close())

  const stored = async (path: string) => (await http('GET', path, { Accept: 'text/html' })).text
  const putting = (path: string, content: string) => http('PUT', path, {}, content)

  for (const tags of TAGS)
    it(`${tags} in a whole document, a MOVE and an edit`, async () => {
      const whole = page(`<main>${tags}</main>`)
      expect((await putting('/n/a.html', whole)).status).to.equal(422)
      expect((await putting('/free.html', whole)).status).to.be.oneOf([200, 201])
      expect((await http('MOVE', '/free.html', { Destination: '/n/a.html' })).status).to.equal(422)
      for (const [path, content] of [
        ['/n/b.html', tags],
        ['/part/b.html', tags],
      ] as const) {
        await put(server, path, EMPTY)
        const { status } = await http('POST', path, { Range: 'selector=main' }, content)
        if (status !== 422) expect(await stored(path)).to.not.include(tags)
      }
    })

  it('what all read alike is stored', async () => {
    for (const tags of KEPT) expect((await putting('/n/a.html', page(`<main>${tags}</main>`))).status).to.be.below(300)
  })
})
