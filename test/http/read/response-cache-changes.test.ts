import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { NO_BODY } from '../../../pipeline/body.ts'
import { perform } from '../../../pipeline/operation.ts'
import { moveDocument } from '../../../pipeline/write/move.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { schema } from '../../pipeline/model/markup.ts'
import { answering, trigger } from '../../pipeline/react/site.ts'
import { untilCoded } from '../../support/codings.ts'
import { NS, page, put, remove, ruleMarkup, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const UNDER_TEST = 3

describe('kept answers after changes', () => {
  let server: TestServer
  let http: Client
  let returning: Fields

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/live/*']))
    await put(server, '/index.html', page('x'))
    returning = { Cookie: /^[^;]+/.exec((await http('GET', '/')).headers['set-cookie'] ?? '')?.[0] }
  })
  after(() => server.close())

  const textOf = async (target: string, fields: Fields = {}) =>
    (await http('GET', target, { ...returning, ...fields })).text
  const warm = async (target: string, fields: Fields = {}) => {
    for (let i = 0; i < UNDER_TEST; i++) {
      await http('GET', target, { ...returning, ...fields })
      await http('GET', target, fields)
    }
  }

  it('after a whole PUT', async () => {
    await put(server, '/live/a.html', page('one'))
    await warm('/live/a.html')
    const head = () => http('HEAD', '/live/a.html', returning)
    const before = [await head(), await head()].map(tagOf)
    expect((await http('PUT', '/live/a.html', {}, page('two'))).status).to.equal(200)
    expect(before).not.to.include(tagOf(await head()))
    expect(await textOf('/live/a.html')).to.include('two')
    expect((await http('GET', '/live/a.html')).text).to.include('two')
  })

  it('after a PUT of a blob, in every coding', async () => {
    await put(server, '/live/a.css', 'one '.repeat(500))
    await untilCoded(http, '/live/a.css', 'br')
    await warm('/live/a.css', { 'Accept-Encoding': 'br' })
    const before = await http('GET', '/live/a.css', { 'Accept-Encoding': 'br' })
    await http('PUT', '/live/a.css', {}, 'two '.repeat(500))
    const now = await http('GET', '/live/a.css', { 'Accept-Encoding': 'br' })
    expect(tagOf(now)).not.to.equal(tagOf(before))
    expect(now.headers['content-encoding'] ?? 'identity').to.be.oneOf(['br', 'identity'])
    expect(await textOf('/live/a.css')).to.match(/^two /)
  })

  it('after a selector write, also by other spellings and selectors', async () => {
    await put(server, '/live/index.html', page('<ul id="l"><li>one</li></ul>'))
    const spellings = ['/live/', '/live/index.html', '/%6cive/', '/live/?q', 'http://localhost/live/']
    for (const target of spellings) {
      await warm(target)
      await warm(target, { Range: 'selector=li' })
      await warm(target, { Range: 'selector=li', Accept: 'multipart/mixed' })
    }
    await http('PUT', '/live/', { Range: 'selector=li' }, '<li>two</li>')
    for (const target of spellings) {
      expect(await textOf(target), target).to.include('two')
      expect(await textOf(target, { Range: 'selector=li' }), target).to.equal('<li>two</li>')
      expect(await textOf(target, { Range: 'selector=li', Accept: 'multipart/mixed' }), target).to.include('two')
    }
  })

  it('after DELETE, and after the same bytes came back', async () => {
    await put(server, '/live/b.html', page('b'))
    await warm('/live/b.html')
    await http('DELETE', '/live/b.html')
    expect((await http('GET', '/live/b.html', returning)).status).to.equal(404)
    expect((await http('GET', '/live/b.html')).status).to.equal(404)
    await put(server, '/live/b.html', page('b'))
    expect((await http('GET', '/live/b.html', returning)).status).to.equal(200)
  })

  it('after MOVE, at both ends', async () => {
    await put(server, '/live/from.html', page('mover'))
    await put(server, '/live/to.html', page('old'))
    await warm('/live/from.html')
    await warm('/live/to.html')
    await http('MOVE', '/live/from.html', { Destination: '/live/to.html' })
    expect((await http('GET', '/live/from.html', returning)).status).to.equal(404)
    expect(await textOf('/live/to.html')).to.include('mover')
  })

  it('after the operator moved it', async () => {
    await put(server, '/live/x.html', page('x'))
    await warm('/live/x.html')
    const move = { path: '/live/x.html', to: '/live/y.html', overwrite: true, conditions: undefined, cause: {} }
    await perform(
      moveDocument(server.site, move, () => fullAuthority),
      NO_BODY,
    )
    expect((await http('GET', '/live/x.html', returning)).status).to.equal(404)
  })

  it('a new page where there was none', async () => {
    await warm('/live/new.html')
    await put(server, '/live/new.html', page('new'))
    expect(await textOf('/live/new.html')).to.include('new')
  })

  it('PRIV-3 RULE-11 after a rule came, went and came differently', async () => {
    await put(server, '/guarded.html', page('<p>guarded</p>'))
    const everywhere: Fields[] = [{}, { Range: 'selector=p' }, { Range: 'selector=p', Accept: 'multipart/mixed' }]
    const tag = tagOf(await http('GET', '/guarded.html', returning))
    for (const fields of everywhere) await warm('/guarded.html', fields)
    await put(server, '/guard.html', rulesPage(['*', 'GET', 'Deny', '/guarded.html']))
    for (const fields of everywhere) {
      expect((await http('GET', '/guarded.html', { ...returning, ...fields })).status).to.equal(401)
      expect((await http('GET', '/guarded.html', fields)).status).to.equal(401)
    }
    expect((await http('GET', '/guarded.html', { ...returning, 'If-None-Match': tag })).status).to.equal(401)
    await put(server, '/guard.html', rulesPage(['*', 'GET', 'Deny', '/guarded.html', 'p']))
    for (let i = 0; i < UNDER_TEST; i++) {
      expect((await http('GET', '/guarded.html', returning)).status).to.equal(200)
      expect((await http('GET', '/guarded.html', { ...returning, Range: 'selector=p' })).status).to.equal(401)
      expect((await http('GET', '/guarded.html', { ...returning, Range: 'selector=body' })).status).to.equal(206)
    }
    await remove(server, '/guard.html')
    for (const fields of everywhere) expect((await http('GET', '/guarded.html', fields)).status).to.be.below(300)
  })

  it('RULE-11 after a rule came by a selector write', async () => {
    await put(server, '/written.html', page('<p>written</p>'))
    await put(server, '/live/rules.html', page('<div id="rules"></div>'))
    await warm('/written.html')
    const rule = ruleMarkup(['*', 'GET', 'Deny', '/written.html'])
    expect((await http('POST', '/live/rules.html', { Range: 'selector=#rules' }, rule)).status).to.equal(206)
    expect((await http('GET', '/written.html', returning)).status).to.equal(401)
  })

  /** Has a read wait for one document, which comes slowly from the disk, while something else is done. */
  async function whileLoading(
    slow: string,
    read: () => ReturnType<Client>,
    work: () => Promise<void>,
  ): ReturnType<Client> {
    const { site } = server
    const { find, inMemory } = site
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: asked } = Promise.withResolvers<void>()
    site.inMemory = path => (path === slow ? undefined : inMemory.call(site, path))
    site.find = async path => {
      if (path !== slow) return find.call(site, path)
      asked()
      await held
      return find.call(site, path)
    }
    try {
      const early = read()
      await arrived
      await work()
      release()
      return await early
    } finally {
      release()
      Object.assign(site, { find, inMemory })
    }
  }

  it('RULE-11 an answer decided before a rule came is decided anew, and not kept', async () => {
    await put(server, '/raced.html', page('<p>raced</p>'))
    const early = await whileLoading(
      '/raced.html',
      () => http('GET', '/raced.html', returning),
      () => put(server, '/raced-rules.html', rulesPage(['*', 'GET', 'Deny', '/raced.html'])),
    )
    // What comes from the disk may have been written behind the rule, so that it is decided anew.
    expect(early.status).to.equal(401)
    for (let i = 0; i < UNDER_TEST; i++) expect((await http('GET', '/raced.html', returning)).status).to.equal(401)
  })

  it('REA-5 SEC-1 an answer of a request that began before a trigger came is not kept', async () => {
    await put(server, '/watched.html', page('<p>watched</p>'))
    const guard = page(trigger({ resource: '/watched.html', action: answering(418, 'caught') }))
    const early = await whileLoading(
      '/watched.html',
      () => http('GET', '/watched.html', returning),
      () => put(server, '/watcher.html', guard),
    )
    expect(early.status).to.equal(200)
    for (let i = 0; i < UNDER_TEST; i++) expect((await http('GET', '/watched.html', returning)).status).to.equal(418)
  })

  const LEAVING: [what: string, leave: (path: string) => Promise<unknown>][] = [
    ['removed', path => remove(server, path)],
    ['moved', path => http('MOVE', path, { Destination: '/live/elsewhere.html' })],
  ]
  for (const [what, leave] of LEAVING)
    it(`COMP-4 HTTP-15 a page that was ${what} while it was put together is gone from then on`, async () => {
      const path = `/live/${what}.html`
      await put(server, '/slow.html', page('<i id="slow">slow</i>'))
      await put(server, path, composed('<p:include selector="#slow" resource="/slow.html"/>'))
      await whileLoading(
        '/slow.html',
        () => http('GET', path, returning),
        async () => void (await leave(path)),
      )
      for (let i = 0; i < UNDER_TEST; i++) expect((await http('GET', path, returning)).status).to.equal(404)
    })

  it('MOD-1 COMP-4 a page that was put together while a schema changed is one of the new schema', async () => {
    const says = (text: string) =>
      page(
        schema(
          'urn:t:Say',
          {},
          `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="say"><div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">"${text}"</script></div></div>`,
        ),
      )
    await put(server, '/says.html', says('before'))
    await put(server, '/slow.html', page('<i id="slow">slow</i>'))
    const saying = composed(
      '<main xmlns:t="urn:t:Say"><t:say/><p:include selector="#slow" resource="/slow.html"/></main>',
    )
    await put(server, '/saying.html', saying)
    const early = await whileLoading(
      '/slow.html',
      () => http('GET', '/saying.html', returning),
      () => put(server, '/says.html', says('later')),
    )
    expect(early.text).to.include('slow').and.include('later')
    for (let i = 0; i < UNDER_TEST; i++) expect(await textOf('/saying.html')).to.include('later')
  })
})
