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

  it('SEC-8 MOD-8 item types that are nearly those of declarations are told, too; what the site has of its own is not', async () => {
    const ns = 'https://platform.example/ns'
    const meant: [type: string, name?: string][] = [
      [`${ns}/AuthorisationRule`, 'AuthorizationRule'],
      [`${ns}/authorizationrule`, 'AuthorizationRule'],
      [`${ns}/1.0/Trigger`, 'Trigger'],
      ['http://platform.example/ns/Schema', 'Schema'],
      ['{ns}/ShapeConstraint', 'ShapeConstraint'],
      [`${ns}/Groups`, 'Group'],
      [`${ns}/Trigger`],
      [`${ns}/Invoice`],
      [`${ns}/Error`],
      [`${ns}/Grouped`],
      ['https://a.example/AuthorisationRule'],
      ['https://schema.org/Enum'],
      ['https://schema.org/Enumeration'],
    ]
    const items = meant.map(([type]) => `<i itemscope itemtype="${type}"></i>`).join('')
    const { headers } = await put('/near.html', page(items))
    const told = meant.flatMap(([type, name]) =>
      name ? [`/near.html: items of the type ${type} declare nothing; did you mean ${ns}/${name}?`] : [],
    )
    const all = (await findings()).split('\n')
    expect(all.filter(line => line.includes('did you mean'))).to.deep.equal(told)
    expect(headers['platform-findings']).to.equal(String(all.length))
    await put(
      '/near.html',
      page(`<i itemscope itemtype="${ns}/Enum"></i><i itemscope itemtype="{schema_host}/Enum"></i>`),
    )
    expect((await findings()).match(/did you mean https:\/\/schema.org\/Enum\?/g)).to.have.length(2)
    const governed = page(`${schema(`${ns}/Groups`, {})}<i itemscope itemtype="${ns}/Groups"></i>`)
    expect((await put('/near.html', governed)).headers).to.not.have.property('platform-findings')
  })

  it('MOD-8 are told on the public surface as well, and pages without any have no such field', async () => {
    const http = client(server.port)
    expect((await http('PUT', '/free/page.html', {}, page('x'))).headers).to.not.have.property('platform-findings')
  })
})
