import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const NS = 'https://platform.example/ns/error'

describe('errors as problem details', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/page.html', 'p'], ['*', 'GET', 'Deny', '/shut/*']),
    })
  })
  after(() => server.close())

  const FORMS: [accept: string | undefined, json: boolean][] = [
    [undefined, false],
    ['*/*', false],
    ['text/html, application/json;q=0.9', false],
    ['application/json, text/html', false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['application/json', true],
    ['application/problem+json', true],
    ['application/json, */*;q=0.1', true],
    ['application/problem+json, text/html;q=0.5', true],
    ['application/json;q=0', false],
  ]
  for (const [Accept, json] of FORMS)
    it(`HTTP-170 Accept: ${Accept ?? 'nothing'} is answered in ${json ? 'JSON' : 'HTML'}`, async () => {
      const { status, headers, text } = await client(server.port)('GET', '/none.html', { Accept })
      expect([status, headers['content-type']]).to.deep.equal([
        404,
        json ? 'application/problem+json' : 'text/html; charset=utf-8',
      ])
      expect(text.includes('Nothing is stored at this address.')).to.equal(true)
      expect(headers['cache-control']).to.equal('no-store')
    })

  const ask = async (method: string, target: string, fields: object = {}, body?: string) => {
    const { text } = await client(server.port)(method, target, { Accept: 'application/json', ...fields }, body)
    return JSON.parse(text) as Record<string, unknown>
  }

  it('HTTP-170 they have the members of RFC 9457, and say what to do', async () => {
    expect(await ask('GET', '/none.html')).to.deep.equal({
      type: `${NS}/NotFound`,
      title: 'Not Found',
      status: 404,
      detail: 'Nothing is stored at this address.',
      kind: 'NotFound',
      advice: 'Check the address for typing errors. What was here may have been moved or deleted.',
    })
    expect(await ask('PUT', '/page.html', { Range: 'selector=p' }, 'plain')).to.include({ status: 422 })
  })

  it('DENY-2 a refusal says what the page says', async () => {
    const expected = {
      type: `${NS}/Unauthorized`,
      title: 'Unauthorized',
      status: 401,
      detail: 'Authentication required to read this resource.',
      kind: 'Unauthorized',
      resource: '/shut/x.html',
      canSignIn: false,
    }
    expect(await ask('GET', '/shut/x.html')).to.deep.equal(expected)
    expect(await ask('PUT', '/shut/x.html', {}, 'x')).to.include({
      detail: 'Authentication required to PUT this resource.',
    })
  })

  describe('of a site with a model', () => {
    const meta = (name: string, value: string) => `<meta itemprop="${name}" content="${value}">`
    const SCHEMA = `<div hidden itemscope itemtype="https://platform.example/ns/Schema">${meta('type', 'urn:t:Task')}<div itemprop="property" itemscope itemtype="https://platform.example/ns/Property">${meta('name', 'title')}${meta('cardinality', '1..1')}</div></div>`
    const SHAPE = `<div hidden itemscope itemtype="https://platform.example/ns/ShapeConstraint">${meta('resource', '/list.html')}${meta('selector', 'ul')}${meta('permit', 'ul > li')}</div>`

    before(() =>
      putAll(server, {
        '/model.html': page(SCHEMA + SHAPE),
        '/task.html': page('<p itemscope itemtype="urn:t:Task"><b itemprop="title">a</b></p>'),
        '/list.html': page('<ul><li>a</li></ul>'),
        '/rules.html': rulesPage(['*', 'PUT|POST', 'Allow', '/*']),
      }),
    )

    const drive = (method: string, target: string, fields: object, body?: string) =>
      client(Number(new URL(server.mountUrl).port), {
        Authorization: `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`,
        Accept: 'application/problem+json',
      })(method, target, { ...fields }, body)

    it('HTTP-170 MOD-130 violations of a schema are listed', async () => {
      const empty = page('<p itemscope itemtype="urn:t:Task"></p>')
      const problem = await ask('PUT', '/task.html', { 'Content-Type': 'text/html' }, empty)
      expect(problem).to.include({ type: `${NS}/SchemaViolation`, status: 422, kind: 'SchemaViolation' })
      const [violation, ...others] = problem.violations as Record<string, unknown>[]
      expect(others).to.deep.equal([])
      expect(violation).to.include({ check: 'cardinality', itemtype: 'urn:t:Task', property: 'title' })
      expect(violation?.message).to.equal(problem.detail)
    })

    it('HTTP-170 MOD-131 violations of a shape are listed', async () => {
      const problem = await ask('POST', '/list.html', { Range: 'selector=ul' }, '<b>x</b>')
      expect(problem).to.include({ status: 422, kind: 'ConstraintViolation' })
      expect(problem.violations).to.have.length(1)
      expect((problem.violations as object[])[0]).to.include.keys('constraintSelector', 'failedConstraint', 'message')
    })

    it('DAV-100 on the mount, too', async () => {
      const { headers, status, text } = await drive('PUT', '/list.html', {}, page('<ul><b>x</b></ul>'))
      expect([status, headers['content-type']]).to.deep.equal([422, 'application/problem+json'])
      expect(JSON.parse(text).violations).to.have.length(1)
      const none = JSON.parse((await drive('GET', '/none.html', {})).text)
      expect(none).to.include({ type: `${NS}/NotFound`, title: 'Not Found', status: 404, kind: 'NotFound' })
    })

    it('DAV-100 DAV-101 with the precondition of a WebDAV method', async () => {
      const lock =
        '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
      expect((await drive('LOCK', '/list.html', { 'Content-Type': 'application/xml' }, lock)).status).to.equal(200)
      const { text, status } = await drive('PUT', '/list.html', {}, page('<ul></ul>'))
      expect(status).to.equal(423)
      expect(JSON.parse(text)).to.deep.include({ precondition: 'lock-token-submitted', paths: ['/list.html'] })
    })

    it('HTTP-91 DAV-45 an element write of the mount says how many elements match', async () => {
      const shelf = page('<ol><li>a</li><li>b</li></ol>')
      await putAll(server, { '/shelf.html': shelf })
      const answer = await drive('PUT', '/shelf.html', { Range: 'selector=ol > li' }, '<li>c</li>')
      expect([answer.status, answer.headers['platform-matches']]).to.deep.equal([206, '2'])
      const one = await drive('PUT', '/shelf.html', { Range: 'selector=ol' }, '<ol></ol>')
      expect(one.headers).not.to.have.property('platform-matches')
    })

    it('DAV-5 pages of the site read that of the mount where an answer has it', async () => {
      await putAll(server, { '/shelf.html': page('<ol><li>a</li><li>b</li></ol>') })
      const fields = { Range: 'selector=ol > li', Origin: server.url }
      const { headers } = await drive('PUT', '/shelf.html', fields, '<li>c</li>')
      expect(headers['access-control-expose-headers']).to.match(/, DAV, Platform-Matches$/)
      const plain = await drive('GET', '/shelf.html', { Origin: server.url })
      expect(plain.headers['access-control-expose-headers']).to.match(/, DAV$/)
    })
  })
})
