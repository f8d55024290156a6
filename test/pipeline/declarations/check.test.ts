import { hash } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { checkDeclarations } from '../../../pipeline/declarations/check.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { page, put, remove, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('The check of what documents are found by', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/*']))
  })
  after(() => server.close())

  const wrong = () => checkDeclarations(server.site.store, server.site.derivation, false).then(found => found.wrong)

  const pages: [what: string, markup: string][] = [
    ['a second class of one element', '<b class="k" class="l">1</b>'],
    ['a second id', '<b id="k" id="l">1</b>'],
    ['a frame outside of framesets', '<frame name="n">'],
    ['a line of a table outside of tables', '<thead title="t">1</thead>'],
  ]
  for (const [what, markup] of pages)
    it(`takes ${what} for no damage, before and behind an edit`, async () => {
      await put(server, '/page.html', page(`${markup}<p id="p">2</p>`))
      expect(await wrong()).to.deep.equal([])
      const { status } = await client(server)('POST', '/page.html', { Range: 'selector=#p' }, '<i>3</i>')
      expect(status).to.equal(206)
      expect(await wrong()).to.deep.equal([])
    })

  it('says nothing of a document that is written, moved or removed while it is looked at', async () => {
    const path = '/page.html'
    const { store, derivation } = server.site
    const meanwhile: [what: string, change: () => Promise<void>][] = [
      ['written', () => put(server, path, rulesPage(['*', 'PUT', 'Allow', '/x']))],
      ['written again', () => put(server, path, page('<b class="m">1</b>'))],
      ['removed', () => remove(server, path)],
    ]
    for (const [what, change] of meanwhile) {
      let isDone = false
      const busy: SiteStore = Object.assign(Object.create(store), {
        async body(resource: Resource) {
          const body = await store.body(resource)
          if (resource.path === path && !isDone) {
            isDone = true
            await change()
          }
          return body
        },
      })
      for (const repair of [false, true])
        expect(await checkDeclarations(busy, derivation, repair), what).to.deep.equal({ wrong: [], unreadable: [] })
      expect(isDone).to.equal(true)
    }
  })

  it('finds what is told of other documents', async () => {
    const path = '/other.html'
    await put(server, path, page('<b class="k">1</b>'))
    const resource = await server.site.store.find(path)
    if (!resource) throw new Error('it is not there')
    await server.site.store.derive(resource, { tokens: '["b",".l"]' }, [])
    expect(await wrong()).to.deep.equal([{ path, declares: false }])
    await remove(server, path)
  })

  it('names a document that an earlier release has stored and nobody can read', async () => {
    const { store, derivation } = server.site
    const bytes = Buffer.from('<feed xmlns:p="/p"><p:1/></feed>')
    const content = { bytes, digest: hash('sha256', bytes) }
    await store.commit({
      changes: [{ op: 'put', path: '/feed.xml', kind: 'document', type: 'application/xml', content }],
    })
    for (const repair of [false, true]) {
      const { wrong, unreadable } = await checkDeclarations(store, derivation, repair)
      expect(wrong).to.deep.equal([])
      expect(unreadable.map(({ path }) => path)).to.deep.equal(['/feed.xml'])
      expect(unreadable[0]?.reason).to.match(/^A name does not begin with a letter/)
    }
  })
})
