/** Groups that decide by programs while what they look at cannot be read (GRP-5, DEC-5): whom rules refuse stays out. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { StoreError } from '../../pipeline/store/errors.ts'
import { javascript, sessel } from '../pipeline/react/site.ts'
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
const group = (name: string) => `<div itemscope itemtype="urn:t:${name}"><meta itemprop="name" content="${name}"></div>`

// biome-ignore lint/suspicious/noTemplateCurlyInString: a selector of a program
const LISTED = '(${.banned} from "/list.html").any(each => each.text() == email)'
const asking = (code: string) => [
  method('listed', sessel('implementation', LISTED)),
  method('includes', javascript('implementation', `export default function (email) { ${code} }`)),
]
const NAMES = ['program', 'script', 'careful']

describe('groups that look at a page', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    await putAll(server, {
      '/schema.html': page(
        schema('urn:t:program', method('includes', sessel('implementation', LISTED))) +
          schema('urn:t:script', ...asking('return this.listed(email)')) +
          schema('urn:t:careful', ...asking('try { return this.listed(email) } catch { return false }')),
      ),
      '/groups.html': page(NAMES.map(group).join('')),
      '/list.html': page('<p class="banned">a@x.example</p>'),
      '/rules.html': rulesPage(
        ['users', 'GET', 'Allow', '/*'],
        ...NAMES.map(name => [name, 'GET', 'Deny', `/${name}.html`] as const),
      ),
      ...Object.fromEntries(NAMES.map(name => [`/${name}.html`, page('x')])),
    })
    http = client(server.port)
  })
  after(() => server.close())

  const as = (email: string) => withEmail(server, email)

  /** Has the page that they look at be neither in memory nor in reach. */
  function loseList(): () => void {
    const { site } = server
    const [inMemory, findParsed] = [site.inMemory.bind(site), site.findParsed.bind(site)]
    Object.assign(site, {
      inMemory: (path: string) => (path === '/list.html' ? undefined : inMemory(path)),
      findParsed: (path: string) =>
        path === '/list.html' ? Promise.reject(new StoreError('failed', 'lost')) : findParsed(path),
    })
    return () => Object.assign(site, { inMemory, findParsed })
  }

  for (const name of NAMES)
    it(`GRP-5 DEC-5 refuse their members where it cannot be read: ${name}`, async () => {
      const [banned, other] = [await as('a@x.example'), await as('b@x.example')]
      const status = async (fields: { Cookie: string }) => (await http('GET', `/${name}.html`, fields)).status
      // A worker that is slow to start lets in nobody.
      await eventually(async () => expect(await status(other)).to.equal(200))
      expect(await status(banned)).to.equal(403)
      const find = loseList()
      try {
        expect(await status(banned)).to.equal(403)
      } finally {
        find()
      }
      await eventually(async () => expect(await status(other)).to.equal(200))
      expect(await status(banned)).to.equal(403)
    })
})
