/** Values that follow what a visitor has written: other documents take them over, and stay what their authors made (MOD-55). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import type { Site } from '../../pipeline/site/site.ts'
import { refuseFollowing } from '../../pipeline/write/may-configure.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { instance, meta, property, schema } from '../pipeline/model/markup.ts'
import { trigger } from '../pipeline/react/site.ts'
import { NS, page, put, putAll, type RuleLine, remove, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { turnsOf } from '../support/turns.ts'

const PERSON = 'urn:t:Person'
const NOTE = 'urn:t:Note'
const OWN = 'urn:t:Own'
const CLUB = 'urn:t:Club'
const refers = { references: `${PERSON}#name`, cascade: 'true' }
const VISITOR: RuleLine = ['*', 'PUT|DELETE', 'Allow', '/people.html|/own.html', '.mine, .mine *']
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
          schema(NOTE, {}, property('about', { ...refers, cardinality: '1..1' })) +
          schema(OWN, { parent: `${NS}/AuthorizationRule` }, property('actor', { ...refers, cardinality: '1..1' })) +
          schema(CLUB, { parent: `${NS}/Group` }, property('member', { ...refers, cardinality: '0..n' })),
      ),
      '/secret.html': page('<p id="vault">TOPSECRET</p>'),
    })
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/rules.html', rulesPage(VISITOR, ['*', 'GET', 'Deny', '/secret.html']))
    await put(
      server,
      '/people.html',
      page(instance(PERSON, { name: 'ann' }, 'class="mine"') + instance(PERSON, { name: 'eve' })),
    )
  })

  const rename = (name: string, path = '/people.html') =>
    http('PUT', path, { Range: 'selector=.mine meta' }, meta('name', name))

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

  it('COMP-147 MOD-70 nor does what @write takes from a visitor', async () => {
    const type = 'urn:t:Written'
    const mine = (text: string) => `<b class="mine">${text.replaceAll('<', '&lt;')}</b>`
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a program
    const code = '<script itemprop="@write" type="text/sessel">${.mine} from "/mine.html"</script>'
    await put(server, '/written.html', page(schema(type, {}, property('label', { slot: { markup: code } }))))
    await put(
      server,
      '/rules.html',
      rulesPage(['*', 'PUT', 'Allow', '/label.html', 'h1'], ['*', 'GET', 'Deny', '/secret.html']),
    )
    for (const [host, text, status] of [
      [' p:template="text/liquid"', INCLUDE, 500],
      [' p:template="text/liquid"', 'bob', 206],
      ['', INCLUDE, 206],
    ] as const) {
      await put(server, '/mine.html', page(mine('ann')))
      const label = `<div${host}><b itemprop="label">{{ 1 }}</b></div>`
      await put(server, '/label.html', composed(`<article itemscope itemtype="${type}"><h1>t</h1>${label}</article>`))
      await put(server, '/mine.html', page(mine(text)))
      const written = await http('PUT', '/label.html', { Range: 'selector=h1' }, '<h1>new</h1>')
      expect(written.status, host + text).to.equal(status)
      const shown = (await http('GET', '/label.html')).text
      expect(shown)
        .to.include(status === 206 ? text.slice(0, 3) : 'ann')
        .and.not.include('TOPSECRET')
    }
    await remove(server, '/label.html')
    await remove(server, '/written.html')
  })

  it('MOD-55 elsewhere it is text, also in a page with templates', async () => {
    await put(server, '/note.html', composed(`${note('ann')}<p p:template="text/liquid">{{ 1 }}</p>`))
    expect((await rename('{{ 6 | times: 7 }}')).status).to.equal(206)
    expect((await http('GET', '/note.html')).text).to.include('{{ 6 | times: 7 }}')
    await remove(server, '/note.html')
  })

  it('EVT-45 SEC-6 the id of what follows does not tell how many documents nobody may read follow as well', async () => {
    const hidden = ['/a1.html', '/a2.html', '/a3.html']
    for (const path of [...hidden, '/note.html']) await put(server, path, page(note('ann')))
    expect((await rename('bob')).status).to.equal(206)
    const [own = 0, seen = 0] = await Promise.all(
      ['/people.html', '/note.html'].map(async path => {
        const ids = await server.site.store.events(path, undefined)
        return Number(ids.at(-1)?.id.split('-')[1])
      }),
    )
    expect(seen - own).to.be.above(0)
    // One of sixteen million, and the one that counting gives.
    expect(seen - own).to.not.be.oneOf([1, 2, 3, 4])
    for (const path of [...hidden, '/note.html']) await remove(server, path)
  })

  const rule = instance(OWN, { actor: 'ann', resource: '/x/*', method: 'PUT', action: 'Allow' })
  const club = instance(CLUB, { name: 'club', member: ['ann', 'eve'] })
  const [PLACE, BOTH] = ['/kept.html', '/own.html']
  const withdraw = () => http('DELETE', '/people.html', { Range: 'selector=.mine' })
  for (const [what, markup, write] of [
    ['a rule gets another actor', rule, () => rename('*')],
    ['a rule goes', rule, withdraw],
    ['a group gets another member', club, () => rename('mallory')],
    ['a group loses a member', club, withdraw],
  ] as const)
    it(`SEC-8 MOD-56 ${what}: that needs the right to PUT it`, async () => {
      // It stays when the item goes.
      await put(server, PLACE, page(`${markup}<p itemscope></p>`))
      const before = (await http('GET', PLACE)).text
      const refused = await write()
      expect([refused.status, /configuration of the site/.test(refused.text)]).to.deep.equal([409, true])
      expect((await http('GET', PLACE)).text).to.equal(before)
      expect((await http('GET', '/people.html')).text).to.include('ann')
      await put(server, '/rules.html', rulesPage(VISITOR, ['*', 'PUT', 'Allow', PLACE]))
      expect((await write()).status).to.be.oneOf([204, 206])
      expect((await http('GET', PLACE)).text).to.not.equal(before)
      await remove(server, PLACE)
    })

  it('SEC-8 MOD-56 so it does in the page that is written to', async () => {
    await put(server, BOTH, page(instance(PERSON, { name: 'cat' }, 'class="mine"') + rule.replace('ann', 'cat')))
    expect((await rename('*', BOTH)).status).to.equal(409)
    await put(server, '/rules.html', rulesPage(VISITOR, ['*', 'PUT', 'Allow', BOTH]))
    expect((await rename('dog', BOTH)).status).to.equal(206)
    expect((await http('GET', BOTH)).text.match(/dog/g)).to.have.length(2)
    await remove(server, BOTH)
  })

  it('SEC-8 REA-61 and where an action of the site writes for a visitor', async () => {
    await put(server, PLACE, page(rule))
    const source = `@schema Site url("${NS}/1.0"); Site.DELETE((\${.mine} from "/people.html").first())`
    await put(server, '/trigger.html', page(trigger({ resource: '/go.html', method: 'GET', action: source })))
    expect((await http('GET', '/go.html')).text).to.include('409')
    expect((await http('GET', PLACE)).text).to.include('ann')
    await remove(server, '/trigger.html')
    await remove(server, PLACE)
  })

  it('MOD-56 SEC-12 a long value is not written into everything that refers to it', async () => {
    const [few, many] = [200, 400]
    await put(server, PLACE, page(note('ann').repeat(many - few)))
    await put(server, '/note.html', page(note('ann').repeat(few)))
    const refused = await rename('b'.repeat(22_000))
    expect([refused.status, /may not change so much/.test(refused.text)]).to.deep.equal([409, true])
    for (const path of [PLACE, '/note.html']) expect((await http('GET', path)).text, path).to.include('ann')
    expect((await rename('bob')).status).to.equal(206)
    for (const path of [PLACE, '/note.html']) expect((await http('GET', path)).text, path).not.to.include('ann')
    await remove(server, '/note.html')
    await remove(server, PLACE)
  })

  it('MOD-56 what is no configuration follows without a right of its own', async () => {
    await put(server, PLACE, page(note('ann') + instance(CLUB, { name: 'club', member: 'eve' })))
    expect((await rename('bob')).status).to.equal(206)
    expect((await http('GET', PLACE)).text).to.include('bob')
    await remove(server, PLACE)
  })
})

describe('many documents that follow a value', () => {
  it('SEC-8 SEC-12 whether each may be PUT is asked in turns', async () => {
    const changes = Array.from({ length: 8 }, (_, i) => ({ op: 'delete', path: `/${i}.html` }) as const)
    const asked: string[] = []
    /** As long as many rules take. */
    const mayPut = (path: string) => {
      const end = performance.now() + 6
      while (performance.now() < end) asked.push(path)
      return true
    }
    const own = { changes: [], written: [] }
    const turns = await turnsOf(() =>
      refuseFollowing({} as Site, own, { changes, written: [], own: new Map() }, mayPut),
    )
    expect(turns).to.be.at.least(changes.length / 2)
    expect([...new Set(asked)]).to.deep.equal(changes.map(({ path }) => path))
  })
})
