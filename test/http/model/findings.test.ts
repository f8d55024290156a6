import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { explainRequest } from '../../../pipeline/explain-request.ts'
import { primitive, property, schema } from '../../pipeline/model/markup.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('declarations that may not say what they were meant to', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
    await putAll(server, { '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/free/*']) })
  })
  after(() => server.close())

  const good = page(schema('https://a.example/T', {}, property('p', { type: primitive('Text'), cardinality: '0..1' })))
  const bad = page(schema('https://a.example/T', {}, property('p', { type: primitive('Strng'), cardinality: '1..2' })))
  const put = (path: string, body: string) => {
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    return client(Number(new URL(server.mountUrl).port))('PUT', path, { authorization }, body)
  }
  const findings = async () =>
    (await explainRequest(server.site, { method: 'GET', path: '/', roles: [] })).findings?.join('\n') ?? ''

  it('MOD-8 are told to whoever stores them, with where to read more, and by explain', async () => {
    expect((await put('/models.html', good)).headers).to.not.have.any.keys('platform-findings', 'link')
    expect(await findings()).to.equal('')
    const { status, headers } = await put('/models.html', bad)
    expect(status).to.equal(204)
    expect(headers).to.include({
      'platform-findings': '2',
      link: '</-platform/explain?path=%2Fmodels.html>; rel="help"',
    })
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    const [, report = ''] = /<(.*)>/.exec(headers.link ?? '') ?? []
    const told = await client(Number(new URL(server.mountUrl).port))('GET', report, { authorization })
    expect(told.text).to.include('the cardinality 1..2 is none of')
    expect(await findings()).to.include('/models.html: the property p of https://a.example/T: the cardinality 1..2')
    expect(await findings()).to.include('did you mean https://schema.org/String?')
    expect((await put('/models.html', good)).headers).to.not.have.property('platform-findings')
    expect(await findings()).to.equal('')
  })

  it('MOD-8 are told on the public surface as well, and pages without any have no such field', async () => {
    const http = client(server.port)
    expect((await http('PUT', '/free/page.html', {}, page('x'))).headers).to.not.have.property('platform-findings')
  })
})
