import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { checkDeclarations } from '../../../pipeline/declarations/check.ts'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { instance, property, schema } from '../model/markup.ts'

const OWN = 'https://own.example/Rule'
const RULE = `${NS}/AuthorizationRule`
const own = schema(
  OWN,
  { parent: RULE },
  property('actor'),
  property('method'),
  property('resource'),
  property('action'),
)
const deny = instance(OWN, { actor: '*', method: 'PUT', resource: '/w/*', action: 'Deny' })
const open = rulesPage(['*', 'PUT', 'Allow', '/w/*'])

/** Files, a move or copy on the mount, and whether a visitor may PUT below `/w/` afterwards. */
const CASES: [
  what: string,
  files: Record<string, string>,
  method: 'MOVE' | 'COPY',
  from: string,
  to: string,
  status: number,
][] = [
  [
    'a document of rules of an own type over its schema',
    { '/s.html': page(own), '/r.html': page(deny) },
    'MOVE',
    '/r.html',
    '/s.html',
    201,
  ],
  ['a copy of it over its schema', { '/s.html': page(own), '/r.html': page(deny) }, 'COPY', '/r.html', '/s.html', 201],
  [
    'a schema with its rules to where they count',
    { '/drafts/r.html': page(own + deny) },
    'MOVE',
    '/drafts/r.html',
    '/conf/r.html',
    401,
  ],
  [
    'a copy of it to where they count',
    { '/drafts/r.html': page(own + deny) },
    'COPY',
    '/drafts/r.html',
    '/conf/r.html',
    401,
  ],
  [
    'a folder of schema and rules to where they count',
    { '/drafts/a/s.html': page(own), '/drafts/a/r.html': page(deny) },
    'MOVE',
    '/drafts/a/',
    '/conf/a/',
    401,
  ],
  [
    'a copy of the folder to where they count',
    { '/drafts/a/s.html': page(own), '/drafts/a/r.html': page(deny) },
    'COPY',
    '/drafts/a/',
    '/conf/a/',
    401,
  ],
  [
    'a folder of rules over that of the schema',
    { '/conf/s/s.html': page(own), '/conf/r/r.html': page(deny) },
    'MOVE',
    '/conf/r/',
    '/conf/s/',
    201,
  ],
  [
    'a folder of schema and rules to where they do not count',
    { '/conf/a/s.html': page(own), '/conf/a/r.html': page(deny) },
    'MOVE',
    '/conf/a/',
    '/drafts/a/',
    201,
  ],
  [
    'a folder of schema and rules within where they count',
    { '/conf/a/s.html': page(own), '/conf/a/r.html': page(deny) },
    'MOVE',
    '/conf/a/',
    '/conf/b/',
    401,
  ],
]

describe('What documents declare by types that others define', () => {
  let server: TestServer
  afterEach(() => server.close())

  it('RULE-12, GRP-4 a document that is stored while a schema makes rules of its items declares them', async () => {
    server = await startServer()
    await putAll(server, { '/rules.html': open, '/w/old.html': page('') })
    const { store } = server.site
    const { lookup } = store
    store.lookup = async (...asked) => {
      const found = await lookup.call(store, ...asked)
      store.lookup = lookup
      await put(server, '/late.html', page(deny))
      return found
    }
    await put(server, '/s.html', page(own))
    expect((await client(server)('PUT', '/w/new.html', {}, page('x'))).status).to.equal(401)
    expect(await checkDeclarations(store, server.site.derivation, false)).to.deep.equal({ wrong: [], unreadable: [] })
  })

  for (const [what, files, method, from, to, status] of CASES)
    it(`RULE-12, GRP-4 ${method}: ${what}`, async () => {
      const limited = Object.keys(files).some(path => path.startsWith('/conf') || to.startsWith('/conf'))
      server = await startServer({ site: limited ? { declarationsIn: ['/conf/*', '/rules.html'] } : {} })
      await putAll(server, { '/rules.html': open, '/w/old.html': page(''), ...files })
      const { port } = new URL(server.mountUrl)
      const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
      const mount = client(Number(port), { Authorization: authorization })
      if (to.startsWith('/conf')) await mount('MKCOL', '/conf/')
      if (to.startsWith('/drafts')) await mount('MKCOL', '/drafts/')
      const moved = await mount(method, from, { Destination: to })
      expect(moved.status, moved.text).to.be.oneOf([201, 204])
      expect((await client(server)('PUT', '/w/new.html', {}, page('x'))).status).to.equal(status)
      expect(await checkDeclarations(server.site.store, server.site.derivation, false)).to.deep.equal({
        wrong: [],
        unreadable: [],
      })
    })
})
