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
})
