// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** Parameterized routes through a real server. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { compose } from '../../../pipeline/compose/compose.ts'
import { pageLanguages } from '../../../pipeline/compose/connected.ts'
import { resolvePath } from '../../../pipeline/compose/routes.ts'
import { createJavaScript } from '../../../pipeline/language/javascript/javascript.ts'
import { selecting } from '../../http/write-checks.ts'
import { page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { anonymousViewer, PREFIXES } from './composing.ts'

const show = (name: string) =>
  `<!doctype html><html ${PREFIXES}><head><title>t</title></head><body><h1 p:template="text/liquid">${name}:{% for p in request.params %}{{ p[0] }}={{ p[1] }};{% endfor %}{{ request.path }}</h1></body></html>`

const languages = pageLanguages(createJavaScript())

describe('Routes', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await putAll(server, {
      '/posts/:slug.html': show('post'),
      '/posts/fixed.html': show('fixed'),
      '/posts/new.txt': 'a blob',
      '/roles/:name/index.html': show('role'),
      '/roles/:name/members.html': show('members'),
      '/roles/admin/:file.html': show('admin'),
      '/:a/:b.html': show('any'),
      '/plain/:x.html': page('<p id="p">plain</p>'),
      '/data/:id.json': '{}',
      '/long/:name.en.html': show('long'),
    })
  })
  after(() => server.close())

  const h1 = (text: string) => /<h1>(.*?)<\/h1>/.exec(text)?.[1]

  const served: [rule: string, path: string, expected: string, parameters: string | undefined][] = [
    [
      'COMP-96 a file segment',
      '/posts/hello%20world.html',
      'post:slug=hello world;/posts/hello world.html',
      'slug=hello%20world',
    ],
    ['COMP-97 what is stored wins', '/posts/fixed.html', 'fixed:/posts/fixed.html', undefined],
    [
      'COMP-103 the template by its own path has no parameters',
      '/posts/:slug.html',
      'post:/posts/:slug.html',
      undefined,
    ],
    ['COMP-98 a directory resolves as its index', '/roles/x/', 'role:name=x;/roles/x/', 'name=x'],
    ['COMP-96 a directory segment', '/roles/x/members.html', 'members:name=x;/roles/x/members.html', 'name=x'],
    [
      'COMP-97 ties go to the smaller path',
      '/roles/admin/members.html',
      'members:name=admin;/roles/admin/members.html',
      'name=admin',
    ],
    [
      'COMP-97 the most literal segments win',
      '/roles/admin/other.html',
      'admin:file=other;/roles/admin/other.html',
      'file=other',
    ],
    ['COMP-100 several in path order', '/q/%C3%A4%2Cb.html', 'any:a=q;b=ä,b;/q/ä,b.html', 'a=q, b=%C3%A4%2Cb'],
    ['COMP-96 the name runs up to the first dot', '/long/a.en.html', 'long:name=a;/long/a.en.html', 'name=a'],
  ]
  for (const [rule, path, expected, parameters] of served)
    it(`${rule}: ${path}`, async () => {
      const answer = await send('GET', path)
      expect(answer.status).to.equal(200)
      expect(h1(answer.text)).to.equal(expected)
      expect(answer.headers['route-parameters']).to.equal(parameters)
    })

  for (const path of ['/posts/.html', '/a/b/c/d.html', '/roles/x/none.txt', '/data/7.json', '/posts/x.txt'])
    it(`COMP-96 COMP-97 nothing matches ${path}`, async () => expect((await send('GET', path)).status).to.equal(404))

  it('COMP-97 a stored blob is no route', async () =>
    expect((await send('GET', '/posts/new.txt')).text).to.equal('a blob'))

  it('COMP-98 a directory without slash redirects', async () => {
    const answer = await send('GET', '/roles/x?y=1')
    expect(answer.status).to.equal(301)
    expect(answer.headers.location).to.equal('/roles/x/?y=1')
  })

  it('COMP-100 a template without directives is served with its parameters', async () => {
    const answer = await send('GET', '/plain/7.html')
    expect(answer.text).to.equal(page('<p id="p">plain</p>'))
    expect(answer.headers['route-parameters']).to.equal('x=7')
    expect((await send('GET', '/plain/7.html', selecting('#p'))).headers['route-parameters']).to.equal('x=7')
  })

  it('COMP-102 selector reads and QUERY resolve the route', async () => {
    const one = await send('GET', '/posts/a.html', selecting('h1'))
    expect(one.status).to.equal(206)
    expect(one.text).to.equal('<h1>post:slug=a;/posts/a.html</h1>')
    expect(one.headers['route-parameters']).to.equal('slug=a')
    const query = await send('QUERY', '/posts/a.html', { 'Content-Type': 'text/css-selector' }, 'h1')
    expect(query.text).to.contain('slug=a')
  })

  const kinds: [name: string, path: string, program: string, expected: string][] = [
    ['the template as it is stored', '/posts/a.html', '(${h1} from self).first().getHTML().contains("{%")', '200 true'],
    ['one element', '/plain/7.html', '${p}.first()', '206 <p id="p">plain</p>'],
    ['what was captured', '/posts/a%20b.html', '[request.path, request.params.slug]', '200 ["/posts/a b.html","a b"]'],
    ['what is stored wins', '/posts/fixed.html', '[request.params.slug, ${h1}.count()]', '200 [null,1]'],
    ['no other document', '/plain/7.html', '(${h1} from "/posts/fixed.html").count()', '200 0'],
    ['rules of the concrete path', '/plain/shut.html', '${p}.count()', '200 0'],
    ['no route', '/nowhere.html', '1', '404 '],
    ['no rule', '/roles/admin/a.html', '1', '401 '],
  ]
  for (const [name, path, program, expected] of kinds)
    it(`COMP-102 SES-126 an expression on a route: ${name}`, async () => {
      const rules = rulesPage(
        ['*', 'QUERY', 'Allow', '/posts/*|/plain/*|/nowhere.html'],
        ['*', 'GET', 'Deny', '/plain/shut.html', '#p'],
      )
      await put(server, '/rules.html', rules)
      const { status, text } = await send('QUERY', path, { 'Content-Type': 'text/sessel' }, program)
      expect(`${status} ${status < 400 ? text : ''}`).to.equal(expected)
      await remove(server, '/rules.html')
    })

  it('COMP-99 rules go by the concrete path', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/posts/secret.html']))
    expect((await send('GET', '/posts/secret.html')).status).to.equal(401)
    expect((await send('GET', '/posts/other.html')).status).to.equal(200)
  })

  it('COMP-101 whole writes are literal, and win from then on', async () => {
    await put(server, '/posts/own.html', page('<h1>own</h1>'))
    expect((await send('GET', '/posts/own.html')).text).to.contain('<h1>own</h1>')
    await remove(server, '/posts/own.html')
    expect(h1((await send('GET', '/posts/own.html')).text)).to.equal('post:slug=own;/posts/own.html')
    await put(server, '/fresh/:z.html', show('fresh'))
    expect(h1((await send('GET', '/fresh/1.html')).text)).to.equal('fresh:z=1;/fresh/1.html')
    await remove(server, '/fresh/:z.html')
    expect(h1((await send('GET', '/fresh/1.html')).text)).to.equal('any:a=fresh;b=1;/fresh/1.html')
  })

  const LATER: [what: string, path: string, content: string, holds: boolean][] = [
    ['a file at the path does not', '/late/1.html', page('own'), false],
    ['a better route does not', '/late/:n.html', show('late'), false],
    ['what is elsewhere does', '/late.txt', 'x', true],
  ]
  for (const [what, path, content, holds] of LATER)
    it(`COMP-4 COMP-97 a page whose route was found before something came stays the right one: ${what} leave it so`, async () => {
      const { site } = server
      const resolved = await resolvePath(site, '/late/1.html')
      if (!resolved) throw new Error('no route')
      await put(server, path, content)
      const { file, params, found } = resolved
      const { reads } = await compose(site, file, anonymousViewer('/late/1.html'), languages, params, { found })
      expect(reads.hold(site)).to.equal(holds)
      await remove(server, path)
    })

  it('COMP-97 SEC-12 a collection that is made, or gets properties, is not gone through: nothing in it is another', async () => {
    const { site } = server
    const look = async () => {
      await resolvePath(site, '/where/nothing/is.html')
      await site.documentsWith([['class:none']])
    }
    await look()
    const { walk, allDerived } = site.store
    const gone: string[] = []
    site.store.walk = (...asked) => {
      gone.push(asked[0])
      return walk.apply(site.store, asked)
    }
    site.store.allDerived = (...asked) => {
      gone.push(asked[0])
      return allDerived.apply(site.store, asked)
    }
    try {
      const set = [{ namespace: 'urn:x', name: 'color', value: 'red' }]
      await site.commit({ changes: [{ op: 'collection', path: '/made/' }] })
      await site.commit({ changes: [{ op: 'describe', path: '/', set, remove: [] }] })
      await look()
      expect(gone).to.deep.equal([])
      await site.commit({ changes: [{ op: 'delete', path: '/made/' }] })
      await look()
      expect(gone).to.include('/made/')
    } finally {
      Object.assign(site.store, { walk, allDerived })
    }
  })

  it('HTTP-11 an encoded slash is 400', async () =>
    expect((await send('GET', '/posts/a%2Fb.html')).status).to.equal(400))
})
