/** Groups that decide by scripts while others keep all workers of the site busy (GRP-5): whom rules refuse stays out. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { javascript, sessel, trigger } from '../pipeline/react/site.ts'
import { NS, page, putAll, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { withEmail } from '../support/visitors.ts'

const parameter = `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>`
const method = (name: string, code: string) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${parameter}${code}</div>`
const schema = (type: string, ...methods: string[]) =>
  `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${type}"><meta itemprop="parent" content="${NS}/Group">${methods.join('')}</div>`
const group = (type: string, name: string) =>
  `<div itemscope itemtype="${type}"><meta itemprop="name" content="${name}"></div>`

const PATHS = ['/script.html', '/calling.html']
const SCRIPT = javascript('implementation', 'export default email => email.endsWith("@banned.example")')

describe('groups that decide by scripts', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' }, settings: { javascript: { workers: 1 } } })
    await putAll(server, {
      '/schema.html': page(
        schema('urn:t:Script', method('includes', SCRIPT)) +
          schema(
            'urn:t:Calling',
            method('listed', SCRIPT),
            method('includes', sessel('implementation', 'self.listed(email)')),
          ),
      ),
      '/groups.html': page(group('urn:t:Script', 'script') + group('urn:t:Calling', 'calling')),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Allow', '/*'],
        ['script', 'GET', 'Deny', '/script.html'],
        ['calling', 'GET', 'Deny', '/calling.html'],
      ),
      '/slow.html': page('x'),
      '/script.html': page('x'),
      '/calling.html': page('x'),
      '/triggers.html': page(
        trigger({
          resource: '/slow.html',
          method: 'GET',
          action: javascript('action', 'export default () => { for (;;); }'),
        }),
      ),
    })
    http = client(server.port)
  })
  after(() => server.close())

  const as = (email: string) => withEmail(server, email)

  it('GRP-4 JS-16 decide about everybody', async () => {
    const [banned, other] = [await as('a@banned.example'), await as('a@other.example')]
    for (const path of PATHS) {
      // A worker that is slow to start lets in nobody.
      await eventually(async () => expect((await http('GET', path, other)).status).to.equal(200))
      expect((await http('GET', path, banned)).status, path).to.equal(403)
    }
  })

  it('GRP-5 DEC-5 refuse their members while visitors keep all workers busy', async () => {
    const banned = await as('a@banned.example')
    const busy = Array.from({ length: 3 }, (_, i) => http('GET', `/slow.html?${i}`))
    await new Promise(resolve => setTimeout(resolve, 300))
    for (const path of PATHS) expect((await http('GET', path, banned)).status, path).to.equal(403)
    await Promise.all(busy)
  })
})
