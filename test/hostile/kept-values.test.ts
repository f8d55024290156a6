/**
 * Refusals by the data model: whoever may write where they may not read learns what is wrong, and no value that they could not
 * read (SEC-6).
 */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { property, schema } from '../pipeline/model/markup.ts'
import { answering, sessel, trigger } from '../pipeline/react/site.ts'
import { NS, page, put, putAll, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const TYPE = 'urn:x:Task'
const meta = (name: string, content: string) => `<meta itemprop="${name}" content="${content}">`
const MODEL = page(
  schema(TYPE, {}, property('n', { type: 'https://schema.org/Number' }), property('few', { cardinality: '0..1' })) +
    `<div itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', `[itemtype='${TYPE}']`)}${meta('property', 'state')}${meta('from', 'a')}${meta('to', 'b')}</div>`,
)
const item = (n: string, state: string) =>
  `<div id="item" itemscope itemtype="${TYPE}"><i itemprop="n">${n}</i><b id="st" itemprop="state">${state}</b><u itemprop="few">SECRET</u><span id="in"></span></div>`
/** Stored before there was a model. */
const FILES = { '/p/wrong.html': page(item('SECRET', 'a')), '/p/right.html': page(item('1', 'SECRET')) }

const WRITES: [method: string, path: string, range: string | undefined, body: string | undefined, told: RegExp][] = [
  ['POST', '/p/wrong.html', '#in', '<q>x</q>', /\.n: a value is no Number/],
  ['DELETE', '/p/wrong.html', '#in', undefined, /\.n: a value is no Number/],
  ['POST', '/p/right.html', '#in', '<q itemprop="few">x</q>', /\.few: there are too few or too many values/],
  [
    'PUT',
    '/p/right.html',
    '#st',
    '<b itemprop="state">b</b>',
    /Transition of state of \[urn:x:Task\] is not permitted/,
  ],
  ['DELETE', '/p/right.html', '#item', undefined, /Transition of state/],
  ['PUT', '/p/right.html', undefined, page(item('1', 'b')), /Transition of state/],
  ['DELETE', '/p/right.html', undefined, undefined, /Transition of state/],
]

describe('refusals by the data model', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await putAll(server, FILES)
    await put(server, '/model.html', MODEL)
  })
  after(() => server.close())
  beforeEach(() => put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE', 'Allow', '/p/*'])))

  for (const [method, path, range, body, told] of WRITES)
    for (const accept of ['text/html', 'application/problem+json'])
      it(`SEC-6 ${method} ${range ?? 'of all'} of ${path} tells no value that cannot be read, as ${accept}`, async () => {
        const fields = { Accept: accept, ...(range !== undefined && { Range: `selector=${range}` }) }
        const hidden = await http(method, path, fields, body)
        expect(hidden.status, hidden.text).to.be.oneOf([409, 422])
        expect(hidden.text).to.match(told).and.not.include('SECRET')
        await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|POST|DELETE', 'Allow', '/p/*']))
        const shown = await http(method, path, fields, body)
        expect(shown.status).to.equal(hidden.status)
        if (!told.source.includes('few')) expect(shown.text).to.include('SECRET')
      })

  it('MOD-130 what somebody brings themselves is named, whoever may read it', async () => {
    const { status, text } = await http('PUT', '/p/new.html', {}, page(item('brought', 'a')))
    expect(status).to.equal(422)
    expect(text).to.include('brought')
  })

  // biome-ignore lint/suspicious/noTemplateCurlyInString: programs are written so
  const FAILING = '(${.hidden} from "/hidden.html").first().text() - 1'
  const VOTE = 'urn:x:Vote'
  const slot = (name: string, code: string) => property(name, { slot: { markup: code } })
  const vote = (name: string) => page(`<div itemscope itemtype="${VOTE}"><b itemprop="${name}">1</b></div>`)

  it('HTTP-170 MOD-132 nor where who writes has sent the value, as a guess among others', async () => {
    const [guess, other] = ['SECRET-7', 'SECRET-8']
    const lone = (name: string, ...more: string[]) => schema(`${VOTE}/${name}`, {}, ...more)
    const slots = {
      valid: lone('valid', slot('valid', sessel('@validate', FAILING))),
      item: schema(`${VOTE}/item`, { slot: { markup: sessel('@validate', FAILING) } }),
      written: lone('written', slot('written', sessel('@write', FAILING))),
      given: lone('given', property('v', { slot: { markup: sessel('default', FAILING) } })),
    }
    await put(server, '/votes.html', page(Object.values(slots).join('')))
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT', 'Allow', '/p/*']))
    for (const name of Object.keys(slots)) {
      const item = `<div itemscope itemtype="${VOTE}/${name}"><b itemprop="${name}">${guess}, ${other}</b></div>`
      const answers: string[] = []
      for (const secret of [guess, 'SECRET-9']) {
        await put(server, '/hidden.html', page(`<i class="hidden">${secret}</i>`))
        const { status, text } = await http('PUT', '/p/vote.html', {}, page(item))
        expect(status, name).to.be.oneOf([422, 500])
        answers.push(text.replace(/<[^>]*>/g, ''))
      }
      expect(answers[0], name).to.include('in arithmetic').and.equal(answers[1])
    }
  })

  it('HTTP-170 code of a schema or a reaction that fails at content of another document does not tell it', async () => {
    await put(server, '/hidden.html', page('<i class="hidden">SECRET</i>'))
    const votes = schema(
      VOTE,
      {},
      slot('valid', sessel('@validate', FAILING)),
      slot('written', sessel('@write', FAILING)),
      slot('thrown', sessel('@validate', 'throw "Too many"')),
    )
    await put(server, '/votes.html', page(votes))
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT', 'Allow', '/p/*']))
    for (const [name, told] of [
      ['valid', /type error: cannot use '…' in arithmetic/],
      ['written', /type error: cannot use '…' in arithmetic/],
      ['thrown', /Too many/],
    ] as const) {
      const { text } = await http('PUT', '/p/vote.html', {}, vote(name))
      expect(text, name).to.match(told)
      expect(text, name).to.not.include('SECRET')
    }
    await put(
      server,
      '/react.html',
      page(trigger({ resource: '/p/*', method: 'GET', when: FAILING, action: answering(299, 'ran') })),
    )
    const { status, text } = await http('GET', '/p/right.html')
    expect(status).to.equal(500)
    expect(text).to.include('in arithmetic').and.not.include('SECRET')
    const removal = `@schema Site url("${NS}/1.0"); Site.DELETE("/" + ${FAILING.replace(' - 1', '')} + ".html")`
    await put(server, '/react.html', page(trigger({ resource: '/p/*', method: 'GET', action: removal })))
    expect((await http('GET', '/p/right.html')).text)
      .to.include('DELETE “…” was refused with 401')
      .and.not.include('SECRET')
    await put(server, '/react.html', page(''))
  })
})
