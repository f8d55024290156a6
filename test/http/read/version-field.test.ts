import { expect } from 'chai'
import { startServer, type TestServer } from '../../support/server.ts'

const RULES = `<!doctype html><table itemscope itemtype="https://platform.example/ns/AuthorizationRule">
<tr><td itemprop="actor">*</td><td itemprop="resource">/*</td><td itemprop="method">*</td><td itemprop="action">Allow</td></tr></table>`

describe('HTTP-32 The field of a whole document that names its version', () => {
  let server: TestServer
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers })

  before(async () => {
    server = await startServer({ settings: { sites: [{ host: 'localhost', brand: 'my-site' }] } })
    const authorization = `Basic ${btoa(`${server.user}:${server.password}`)}`
    for (const [path, body] of [
      ['/rules.html', RULES],
      ['/a.html', '<!doctype html><p id="p">A</p>'],
      ['/b.txt', 'B'],
    ])
      await fetch(`${server.mountUrl}${path}`, { method: 'PUT', body, headers: { authorization } })
  })
  after(() => server.close())

  it('has the document part that the tags of its elements have', async () => {
    const version = (await get('/a.html')).headers.get('my-site-version')
    const tag = (await get('/a.html', { Range: 'selector=#p' })).headers.get('etag')
    expect(tag).to.match(new RegExp(`^"[0-9a-f]{32}-${version}"$`))
  })

  it('is another one after a write, and the same for a second reader', async () => {
    const before = (await get('/a.html')).headers.get('my-site-version')
    expect((await get('/a.html')).headers.get('my-site-version')).to.equal(before)
    await fetch(`${server.url}/a.html`, { method: 'PUT', body: '<p id="p">B</p>', headers: { Range: 'selector=#p' } })
    expect((await get('/a.html')).headers.get('my-site-version')).to.not.equal(before)
  })

  for (const [title, path, headers] of [
    ['a blob', '/b.txt', {}],
    ['an element', '/a.html', { Range: 'selector=#p' }],
    ['nothing', '/c.html', {}],
  ] as const)
    it(`is not sent with ${title}`, async () => {
      expect((await get(path, headers)).headers.get('my-site-version')).to.equal(null)
    })
})
