/** Values that follow what a visitor has written: other documents take them over, and stay what their authors made (MOD-55). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { instance, meta, property, schema } from '../pipeline/model/markup.ts'
import { page, put, putAll, type RuleLine, remove, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PERSON = 'urn:t:Person'
const NOTE = 'urn:t:Note'
const refers = { references: `${PERSON}#name`, cascade: 'true' }
const VISITOR: RuleLine = ['*', 'PUT|DELETE', 'Allow', '/people.html', '.mine, .mine *']
const note = (value: string) => `<i itemscope itemtype="${NOTE}"><u itemprop="about">${value}</u></i>`

describe('values that follow what a visitor writes', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    http = client(server.port)
    await putAll(server, {
      '/model.html': page(
        schema(PERSON, {}, property('name', { unique: 'true' })) +
          schema(NOTE, {}, property('about', { ...refers, cardinality: '1..1' })),
      ),
      '/secret.html': page('<p id="vault">TOPSECRET</p>'),
    })
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/rules.html', rulesPage(VISITOR, ['*', 'GET', 'Deny', '/secret.html']))
    await put(server, '/people.html', page(instance(PERSON, { name: 'ann' }, 'class="mine"')))
  })

  const rename = (name: string) => http('PUT', '/people.html', { Range: 'selector=.mine meta' }, meta('name', name))

  const INCLUDE = `{{ '<p:include selector="#vault" resource="/secret.html"></p:include>' | raw }}`
  for (const [where, markup] of [
    ['in a template', `<div p:template="text/liquid">${note('ann')}</div>`],
    ['that is a template', note('ann').replace('<u ', '<u p:template="text/liquid" ')],
    ['in an attribute there', `<div p:template="text/liquid">${instance(NOTE, { about: 'ann' })}</div>`],
  ] as const)
    it(`COMP-147 COMP-145 MOD-56 a value ${where} becomes no program`, async () => {
      await put(server, '/note.html', composed(markup))
      for (const program of [INCLUDE, '{%- assign x = 7 -%}']) {
        const refused = await rename(program)
        expect([refused.status, /Referential/.test(refused.text)], program).to.deep.equal([409, true])
        expect((await http('GET', '/note.html')).text)
          .to.include('ann')
          .and.not.include('TOPSECRET')
      }
      expect((await rename('{ bob }')).status).to.equal(206)
      expect((await http('GET', '/note.html')).text).to.include('{ bob }')
      await remove(server, '/note.html')
    })

  it('MOD-55 elsewhere it is text, also in a page with templates', async () => {
    await put(server, '/note.html', composed(`${note('ann')}<p p:template="text/liquid">{{ 1 }}</p>`))
    expect((await rename('{{ 6 | times: 7 }}')).status).to.equal(206)
    expect((await http('GET', '/note.html')).text).to.include('{{ 6 | times: 7 }}')
    await remove(server, '/note.html')
  })
})
