import { hash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { writeTag } from '../../pipeline/write/whole.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { page, put, remove, ruleMarkup, rulesPage } from '../support/content.ts'
import { type Client, client, type Fields, type Received } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { told } from './told.ts'

/** Requests of the random comparison; `FUZZ=<runs>` looks further. */
const RUNS = Number(process.env.FUZZ ?? 120)

const inbox = (message: string, key: string) =>
  page(`<i data-key="${key}">k</i><ul id="in" data-k="${key}"><li class="${key}">${message}</li></ul>`)

describe('selectors as oracles: what a client may not read', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'GET', 'Deny', '/inbox.html'],
        ['*', 'POST', 'Allow', '/inbox.html', '#in'],
        ['*', 'PUT|DELETE', 'Allow', '/inbox.html', '.slot'],
        ['*', 'GET', 'Allow', '/page.html', '.public'],
        ['*', 'PUT', 'Allow', '/whole.html'],
        ['*', 'MOVE', 'Allow', '/whole*.html'],
        ['*', 'GET|PUT', 'Allow', '/open.html'],
        ['*', 'POST', 'Allow', '/drop/'],
        ['*', 'PUT', 'Allow', '/drop/*.*'],
        ['*', 'GET', 'Deny', '/drop/*'],
      ),
    )
  })
  after(() => server.close())

  describe('SEC-6 a drop box', () => {
    const CONDITIONS = [
      '#in:has(li)',
      '#in:has(*)',
      '#in:has(li:contains("Anna: m"))',
      '#in:contains("Anna")',
      '#in[data-k^="k"]',
      '[data-key^="k"] ~ #in',
      'i ~ #in',
      '#in:not(:has(li.k7))',
      '#in:only(li)',
      '#in:empty',
      '#in:value-contains("Anna")',
      '#in:is(:has(.k7), :has(.q))',
      '#in > li',
      'li',
      '#in:has(:nth-child(1 of .k7))',
      '#in:has(li) , #nothing',
    ]
    for (const [name, extra] of [
      ['without conditional fields', {}],
      ['with If-Match', { 'If-Match': '"nope"' }],
      ['with If-None-Match', { 'If-None-Match': '*' }],
    ] as [string, Fields][])
      it(`SEC-6 a POST is answered the same whatever the page holds, ${name}`, async () => {
        for (const selector of CONDITIONS) {
          const answers = []
          for (const content of [inbox('Anna: meet me', 'k7'), inbox('nobody', 'q')]) {
            await put(server, '/inbox.html', content)
            answers.push(
              (await http('POST', '/inbox.html', { Range: `selector=${selector}`, ...extra }, '<li>x</li>')).status,
            )
          }
          expect(answers[0], selector).to.equal(answers[1])
        }
      })

    it('SEC-6 the drop box itself takes what is dropped, by name and by the names around it', async () => {
      await put(server, '/inbox.html', inbox('Anna: meet me', 'k7'))
      for (const selector of ['#in', 'ul#in', 'body > #in', 'body > :nth-child(2)', 'html #in'])
        expect(
          (await http('POST', '/inbox.html', { Range: `selector=${selector}` }, '<li>x</li>')).status,
          selector,
        ).to.equal(206)
    })
  })

  it('SEC-6 MOD-8 what others have declared badly is told to nobody who writes beside it', async () => {
    const bad = ruleMarkup(['bob', 'PUT', 'Allow', '/x', 'li']).replace('"selector"', '"selectors"')
    const content = page(`${bad}<ul id="in"></ul><i class="slot">a</i>`)
    const slot = '<i class="slot">b</i>'
    for (const path of ['/inbox.html', '/drop/index.html', '/open.html']) await put(server, path, content)
    for (const [method, path, fields, body, status, count] of [
      ['POST', '/inbox.html', { Range: 'selector=#in' }, '<li>x</li>', 206],
      ['PUT', '/inbox.html', { Range: 'selector=.slot' }, slot, 206],
      ['DELETE', '/inbox.html', { Range: 'selector=.slot' }, undefined, 204],
      ['POST', '/drop/', {}, 'x', 201],
      ['PUT', '/open.html', { Range: 'selector=.slot' }, slot, 206, '1'],
      ['PUT', '/whole.html', {}, content, 201, '1'],
    ] as const) {
      const answer = await http(method, path, fields, body)
      expect([answer.status, answer.headers['platform-findings']], `${method} ${path}`).to.deep.equal([status, count])
    }
    await remove(server, '/whole.html')
  })

  it('SEC-6 a reader of a part learns nothing from what stands beside it', async () => {
    for (const text of ['ZEBRA', 'HORSE']) {
      await put(server, '/page.html', page(`<p class="private" title="${text}">${text}</p><p class="public">x</p>`))
      for (const [selector, status] of [
        ['.private:contains("ZEBRA") ~ .public', 401],
        ['[title="ZEBRA"] ~ .public', 401],
        ['body:contains("ZEBRA") .public', 401],
        [':nth-child(1) + .public', 206],
        ['.public:contains(x)', 206],
      ] as const)
        for (const accept of ['*/*', 'multipart/mixed', 'application/ld+json'])
          expect(
            (await http('GET', '/page.html', { Range: `selector=${selector}`, Accept: accept })).status,
            `${text} ${selector}`,
          ).to.equal(status)
    }
  })

  it("SEC-6 COMP-75 the selector of a PUT into a visitor's own version is asked again of what the visitor may see", async () => {
    const Cookie = (await http('GET', '/page.html')).headers['set-cookie']?.split(';')[0]
    for (const text of ['ZEBRA', 'HORSE']) {
      const own = '<ul class="public" id="own" p:transient><li>x</li></ul>'
      await put(server, '/page.html', composed(`<p title="${text}">${text}</p>${own}`))
      for (const [selector, status, kept = '"public"'] of [
        ['#own:not([title="ZEBRA"] ~ #own)', 206],
        ['#own:not(:contains("ZEBRA") ~ #own)', 206],
        ['#own:not(.mine)', 422, '"public mine"'],
        ['#own', 206],
      ] as const) {
        const body = `<ul class=${kept} id="own"><li>y</li></ul>`
        const answer = await http('PUT', '/page.html', { Range: `selector=${selector}`, Cookie }, body)
        expect(answer.status, `${text} ${selector}`).to.equal(status)
      }
    }
  })

  describe('SEC-11 tags', () => {
    const pin = (digits: string) => page(`<p>PIN ${digits}</p><i class="slot">a</i><ul id="in"></ul>`)
    const digestsOf = (text: string) => [hash('sha256', text)]
    const shown = ({ lines, text }: Received) => `${lines.map(([, value]) => value).join('\n')}\n${text}`

    it('SEC-11 no answer to a part names the digest of a document that its reader may not see', async () => {
      const send = async (method: string, fields: Fields, body?: string) => {
        const content = pin('4711')
        await put(server, '/inbox.html', content)
        const answer = await http(method, '/inbox.html', fields, body)
        const stored = (await server.site.find('/inbox.html'))?.resource.digest ?? ''
        for (const digest of [...digestsOf(content), stored])
          expect(shown(answer), method).not.to.include(digest.slice(0, 32))
        return answer.status
      }
      expect(await send('POST', { Range: 'selector=#in' }, '<li>x</li>')).to.equal(206)
      expect(await send('PUT', { Range: 'selector=.slot' }, '<i class="slot">b</i>')).to.equal(206)
      expect(await send('DELETE', { Range: 'selector=.slot' })).to.equal(204)
      expect(await send('PUT', { Range: 'selector=.slot', 'If-Match': '"x"' }, '<i class="slot">b</i>')).to.equal(412)
    })

    it('SEC-6 no guess about the document or the element is confirmed by a condition', async () => {
      const content = pin('4711')
      await put(server, '/inbox.html', content)
      const element = hash('sha256', '<i class="slot">a</i>').slice(0, 32)
      const whole = hash('sha256', content)
      for (const guess of [
        `"${whole.slice(0, 48)}"`,
        `"${element}-${'0'.repeat(32)}"`,
        `"${element}-${whole.slice(0, 32)}"`,
      ]) {
        const fields = { Range: 'selector=.slot', 'If-Match': guess }
        expect((await http('PUT', '/inbox.html', fields, '<i class="slot">b</i>')).status, guess).to.equal(412)
      }
    })

    it('SEC-11 nor does a write of the whole by somebody who may not read it', async () => {
      await put(server, '/whole.html', pin('0815'))
      const failed = await http('PUT', '/whole.html', { 'If-Match': '"x"' }, pin('1'))
      expect([failed.status, failed.headers.etag]).to.deep.equal([412, undefined])
      const moved = await http('MOVE', '/whole.html', { Destination: '/whole2.html' })
      expect([moved.status, moved.headers.etag]).to.deep.equal([204, undefined])
    })

    it('SEC-11 HTTP-37 the tag of a write is that of no later one of its version, as there is after a restore', async () => {
      const write = { path: '/whole.html', version: 7, modified: 1_790_000_000_000 }
      const tags = [write, { ...write, modified: write.modified + 1 }, { ...write, version: 8 }, { ...write }]
      const [first, later, next, again] = tags.map(each => writeTag(server.site, each))
      expect(new Set([first, later, next]).size).to.equal(3)
      expect(again).to.equal(first)
      await put(server, '/whole.html', pin('0815'))
      const { headers } = await http('PUT', '/whole.html', {}, pin('1'))
      await server.site.commit({
        changes: [{ op: 'describe', path: '/whole.html', set: [], remove: [], shown: 1_773_480_413 }],
      })
      const resource = await server.site.store.find('/whole.html')
      expect(resource && writeTag(server.site, resource), 'by another date of it').to.equal(headers.etag)
      expect((await http('PUT', '/whole.html', { 'If-Match': headers.etag }, pin('2'))).status).to.equal(200)
    })

    it('SEC-11 a writer finds the state of the document again by the tags of answers', async () => {
      await put(server, '/inbox.html', pin('4711'))
      const first = await http('PUT', '/inbox.html', { Range: 'selector=.slot' }, '<i class="slot">b</i>')
      const second = { Range: 'selector=.slot', 'If-Match': first.headers.etag }
      expect((await http('PUT', '/inbox.html', second, '<i class="slot">c</i>')).status).to.equal(206)
      expect((await http('PUT', '/inbox.html', second, '<i class="slot">d</i>')).status).to.equal(412)
    })

    it('SEC-11 tags outlive a restart', async () => {
      const one = await startServer()
      await put(one, '/a.html', page('<p id="p">x</p>'))
      const read = async (port: number) => (await client(port)('GET', '/a.html', { Range: 'selector=#p' })).headers.etag
      const tag = await read(one.port)
      await one.stop()
      const two = await startServer({ data: one.data })
      expect(await read(two.port)).to.equal(tag)
      await two.close()
    })
  })
})

describe('selectors as oracles: two documents that differ only in what a requester may not read', () => {
  const NAMES = ['div', 'section', 'span', 'b']
  const TEXTS = ['', 'a', 'ZEBRA', '12', 'k']
  const hidden = fc.record({
    name: fc.constantFrom(...NAMES),
    attributes: fc.constantFrom(
      '',
      ' id="s1"',
      ' class="s"',
      ' data-k="a"',
      ' lang="de" title="k"',
      ' dir="rtl" hidden',
    ),
    text: fc.constantFrom(...TEXTS),
  })
  const slots = fc.array(hidden, { minLength: 8, maxLength: 8 })

  /** The same elements at the same places; slots differ. */
  function documentOf(fill: readonly { name: string; attributes: string; text: string }[]): string {
    const at = (n: number, inner = '') => {
      const { name, attributes, text } = fill[n] ?? { name: 'div', attributes: '', text: '' }
      return `<${name}${attributes}>${text}${inner}</${name}>`
    }
    return page(
      `${at(0)}<p class="public" itemscope itemref="s1 v">seen <b itemprop="n">one</b></p>${at(1, at(2))}` +
        `<main>${at(3)}<ul id="in">${at(4)}${at(5)}</ul><div class="mine" id="m">${at(6)}</div></main>` +
        `${at(7)}<div class="public" id="v"><i itemprop="q">two</i></div>`,
    )
  }

  const simple = fc.constantFrom(
    ...['*', 'div', 'section', 'b', 'i', 'p', 'ul', 'main', 'body', '#in', '#s1', '.s', '.public', '.mine', '#v', '#m'],
    ...['[data-k]', '[data-k="a"]', '[title^=k]', '[lang]', '[class]', '[id]', '[hidden]', ':empty', ':root'],
    ...[':contains("ZEBRA")', ':contains(a)', ':equals(k)', ':greater-than(3)', ':value-contains(k)', ':lang(de)'],
    ...[':dir(rtl)', ':first-child', ':nth-child(2)', ':last-child', ':only-child', ':nth-of-type(1)', ':read-only'],
    ...[':nth-child(1 of .s)', ':nth-child(1 of div)', ':checked', ':heading', ':isa("x")', ':defined', ':blank'],
  )
  const selector = fc.letrec<{ compound: string; complex: string }>(tie => ({
    compound: fc.oneof(
      { maxDepth: 3 },
      simple,
      fc.tuple(simple, simple).map(([a, b]) => (/^[a-z*]/.test(b) ? a : `${a}${b}`)),
      fc
        .tuple(
          simple,
          fc.constantFrom('has', 'not', 'is', 'only', 'where'),
          fc.constantFrom('', '> ', '~ ', '+ '),
          tie('complex'),
        )
        .map(
          ([a, kind, leading, inner]) => `${a}:${kind}(${kind === 'has' || kind === 'only' ? leading : ''}${inner})`,
        ),
    ),
    complex: fc.oneof(
      { maxDepth: 3 },
      tie('compound'),
      fc
        .tuple(tie('compound'), fc.constantFrom(' ', ' > ', ' ~ ', ' + '), tie('complex'))
        .map(([a, combinator, b]) => `${a}${combinator}${b}`),
    ),
  })).complex

  const request = fc.record({
    method: fc.constantFrom('GET', 'GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'QUERY', 'OPTIONS'),
    selector,
    other: selector,
    placement: fc.constantFrom('', '', 'append', 'prepend', 'before', 'after'),
    accept: fc.constantFrom('*/*', 'multipart/mixed', 'application/ld+json', 'text/event-stream'),
    condition: fc.constantFrom('', '', 'nope', '*', 'none *', 'guess', 'date'),
  })

  type Made = typeof request extends fc.Arbitrary<infer T> ? T : never

  function fieldsOf({ method, selector, other, placement, accept, condition }: Made, guess: string): Fields {
    const at = placement === '' ? '' : `; placement=${placement}`
    return {
      ...(method !== 'QUERY' && { Range: `selector=${selector}${method === 'POST' ? at : ''}` }),
      ...(method === 'QUERY' && { 'Content-Type': 'text/css-selector' }),
      ...(method === 'MOVE' && { Destination: '/d.html', 'Destination-Range': `selector=${other}${at}` }),
      Accept: accept,
      ...(condition === 'nope' && { 'If-Match': '"nope"' }),
      ...(condition === '*' && { 'If-Match': '*' }),
      ...(condition === 'none *' && { 'If-None-Match': '*' }),
      ...(condition === 'guess' && { 'If-Match': guess }),
      ...(condition === 'date' && { 'If-Unmodified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' }),
    }
  }

  it('SEC-6 give the same answers to random requests', async function () {
    if (process.env.FUZZ) this.timeout(0)
    const servers = [
      await startServer({ site: { defaultGet: 'deny' } }),
      await startServer({ site: { defaultGet: 'deny' } }),
    ]
    try {
      for (const server of servers)
        await put(
          server,
          '/rules.html',
          rulesPage(
            ['*', 'GET', 'Allow', '/d.html', '.public'],
            ['*', 'POST', 'Allow', '/d.html', '#in'],
            ['*', 'PUT|DELETE', 'Allow', '/d.html', '.mine'],
            ['*', 'MOVE', 'Allow', '/d.html'],
          ),
        )
      const check = async (
        fills: [Parameters<typeof documentOf>[0], Parameters<typeof documentOf>[0]],
        made: Made[],
      ) => {
        const sources = fills.map(documentOf)
        for (const [n, server] of servers.entries()) await put(server, '/d.html', sources[n] ?? '')
        const guess = `"${hash('sha256', sources[0] ?? '').slice(0, 48)}"`
        for (const one of made) {
          const body = one.method === 'PUT' || one.method === 'POST' ? '<div class="mine">w</div>' : undefined
          const answers = []
          for (const { port } of servers)
            answers.push(
              told(
                await client(port)(
                  one.method,
                  '/d.html',
                  fieldsOf(one, guess),
                  one.method === 'QUERY' ? one.selector : body,
                ),
              ),
            )
          expect(answers[0], JSON.stringify(one)).to.equal(answers[1])
        }
      }
      const runs = fc.asyncProperty(fc.tuple(slots, slots), fc.array(request, { minLength: 10, maxLength: 10 }), check)
      await fc.assert(runs, { numRuns: RUNS / 10, seed: 20261122 })
      await fc.assert(runs, { numRuns: RUNS / 10 })
    } finally {
      for (const server of servers) await server.close()
    }
  })
})
