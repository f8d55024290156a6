/** The place for everybody that the chapter on rules sets up, as it is written there. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse } from 'yaml'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openSession } from '../support/visitors.ts'

const chapter = readFileSync(new URL('../../docs/reference/access.md', import.meta.url), 'utf8')
const [, yaml = '', markup = ''] =
  /### A place for everybody.*?```yaml\n(.*?)```.*?```html\n(.*?)```/s.exec(chapter) ?? []

const order = (note: string, around = '') =>
  `<!doctype html><html${around}><head><title>t</title></head><body><article itemscope itemtype="https://shop.example/Order"><p itemprop="note">${note}</p></article></body></html>`
const PREFIXES = `xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS"`

describe('A place for everybody', () => {
  let server: TestServer
  let ada: Client
  let eve: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow', ...Object(parse(yaml)) } })
    await put(server, '/rules.html', page(markup.replaceAll('{ns}', NS)))
    ada = client(server.port, { Cookie: await openSession(server, { sub: 'ada' }) })
    eve = client(server.port, { Cookie: await openSession(server, { sub: 'eve' }) })
    expect((await ada('PUT', '/orders/ada/1.html', {}, order('secret'))).status).to.equal(201)
  })
  after(() => server.close())

  it('LOOK-1 is read and written by who it belongs to', async () => {
    expect((await ada('GET', '/orders/ada/1.html')).text).to.contain('secret')
    for (const [sender, status] of [
      [eve, 403],
      [client(server.port), 401],
    ] as const) {
      expect((await sender('GET', '/orders/ada/1.html')).status).to.equal(status)
      expect((await sender('PUT', '/orders/ada/1.html', {}, order('x'))).status).to.equal(status)
    }
  })

  const refused: [what: string, name: string, text: string][] = [
    ['a rule', '1.html', rulesPage(['eve', '*', 'Allow', '/*'])],
    ['a binding', '1.html', order('x', ` ${PREFIXES} r:o="article"`)],
    ['an include', '1.html', order(`<p:include ${PREFIXES} resource="/orders/ada/1.html" selector="p"/>`)],
    ['a template', '1.html', order('<i>{{ 1 }}</i>', ` ${PREFIXES} p:template="text/liquid"`)],
    ['a script', '1.html', order('<script>1</script>')],
    ['a file of another kind', '1.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ]
  for (const [what, name, text] of refused)
    it(`SEC-8 IDC-3 MOD-90 takes no ${what}`, async () => {
      expect((await eve('PUT', `/orders/eve/${name}`, {}, text)).status).to.equal(name === '1.html' ? 422 : 403)
    })

  it('SEC-10 makes no rules where the settings name another document', async () => {
    await put(server, '/elsewhere.html', rulesPage(['eve', '*', 'Allow', '/*']))
    expect((await eve('GET', '/orders/ada/1.html')).status).to.equal(403)
  })
})
