/** Pagination through a real server. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed } from './composing.ts'

const items = (n: number, tag = 'li') => Array.from({ length: n }, (_, i) => `<${tag}>${i + 1}</${tag}>`).join('')

describe('Pagination', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
  })
  after(() => server.close())

  /** Numbers shown, the `rel?query` of the links in head, and the `Link` field. */
  async function show(body: string, query = '') {
    await put(server, '/list.html', composed(body))
    const answer = await send('GET', `/list.html${query}`)
    const shown = [...answer.text.matchAll(/<li>(\d+)<\/li>/g)].map(([, n]) => n).join(' ')
    const links = [...answer.text.matchAll(/<link rel="(\w+)" href="([^"]*)"(?: title="([^"]*)")?>/g)]
    return {
      status: answer.status,
      shown,
      links: links.map(([, rel, href]) => `${rel}${href?.replaceAll('&amp;', '&')}`).join(' '),
      titles: links.map(([, , , title]) => title ?? ''),
      field: answer.headers.link,
      text: answer.text,
    }
  }

  it('COMP-63 COMP-66 COMP-67 the example: items 4 to 6 of seven, links in head and field', async () => {
    const got = await show(`<ul id="items" p:paginate="3">${items(7)}</ul>`, '?q=a&paginate:page=2')
    expect(got.text).to.contain(
      '<link rel="first" href="?q=a&amp;paginate:page=1" title="items"><link rel="prev" href="?q=a&amp;paginate:page=1" title="items"><link rel="next" href="?q=a&amp;paginate:page=3" title="items"><link rel="last" href="?q=a&amp;paginate:page=3" title="items"></head>',
    )
    expect(got.shown).to.equal('4 5 6')
    expect(got.field).to.equal(
      [
        '</list.html?q=a&paginate:page=1>; rel="first"; title="items"',
        '</list.html?q=a&paginate:page=1>; rel="prev"; title="items"',
        '</list.html?q=a&paginate:page=3>; rel="next"; title="items"',
        '</list.html?q=a&paginate:page=3>; rel="last"; title="items"',
      ].join(', '),
    )
  })

  const LIST = `<ul p:paginate="3">${items(7)}</ul>`
  const tables: [what: string, query: string, shown: string, rels: string][] = [
    ['the first page has no prev', '', '1 2 3', 'first next last'],
    ['the last page has no next', '?paginate:page=3', '7', 'first prev last'],
    ['a page beyond the last is the last', '?paginate:page=99999999999999999999', '7', 'first prev last'],
    ['zero falls back', '?paginate:page=0', '1 2 3', 'first next last'],
    ['negative falls back', '?paginate:page=-1', '1 2 3', 'first next last'],
    ['nonsense falls back', '?paginate:page=2x', '1 2 3', 'first next last'],
    ['an empty value falls back', '?paginate:page=', '1 2 3', 'first next last'],
    ['a sign falls back', '?paginate:page=%2B2', '1 2 3', 'first next last'],
    ['leading zeros are digits', '?paginate:page=02', '4 5 6', 'first prev next last'],
    ['colons may be encoded', '?paginate%3Apage=2', '4 5 6', 'first prev next last'],
    ['another length', '?paginate:length=5', '1 2 3 4 5', 'first next last'],
    ['a length of everything links to nothing', '?paginate:length=7', '1 2 3 4 5 6 7', ''],
    ['a length of nonsense falls back', '?paginate:length=a&paginate:page=2', '4 5 6', 'first prev next last'],
  ]
  for (const [what, query, shown, rels] of tables)
    it(`COMP-64 COMP-66 ${what}`, async () => {
      const got = await show(LIST, query)
      expect(got.shown).to.equal(shown)
      expect(got.links.replace(/\?\S*/g, '')).to.equal(rels)
      expect(got.titles.every(title => title === '')).to.equal(true)
    })

  it('COMP-63 text and comments stay, the attribute goes', async () => {
    const got = await show('<ul p:paginate="1">a<!--c--><li>1</li>b<li>2</li>c</ul>')
    expect(got.text).to.contain('<ul>a<!--c--><li>1</li>bc</ul>')
  })

  it('COMP-66 one page, or an empty container, has no links', async () => {
    expect((await show(`<ul p:paginate="3">${items(3)}</ul>`)).field).to.equal(undefined)
    expect((await show('<ul p:paginate="3"> </ul>')).field).to.equal(undefined)
  })

  it('COMP-63 pages are made of what templates and stamps have put there', async () => {
    const got = await show(
      '<ul p:paginate="2" p:template="text/liquid">{% for i in (1..5) %}<li>{{ i }}</li>{% endfor %}</ul>',
      '?paginate:page=2',
    )
    expect(got.shown).to.equal('3 4')
  })

  it('COMP-64 COMP-67 several paginators go by their ids, and keep the state of each other', async () => {
    const two = `<ul id="a" p:paginate="2">${items(5)}</ul><ol id="b" p:paginate="2">${items(4)}</ol>`
    const got = await show(two, '?x=%C3%A4&paginate:a:page=2&paginate:b:length=3')
    expect(got.shown).to.equal('3 4 1 2 3')
    expect(got.links).to.contain('next?x=%C3%A4&paginate:a:page=3&paginate:b:length=3')
    expect(got.links).to.contain('last?x=%C3%A4&paginate:a:page=2&paginate:b:length=3&paginate:b:page=2')
    expect((await show(two, '?paginate:page=2')).shown, 'unprefixed for all').to.equal('3 4 3 4')
    expect((await show(two, '?paginate:page=2&paginate:a:page=3')).shown, 'prefixed wins').to.equal('5 3 4')
  })

  it('COMP-67 with one paginator a prefixed key is dropped and an existing one replaced in place', async () => {
    const one = `<ul id="a" p:paginate="2">${items(5)}</ul>`
    expect((await show(one, '?paginate:page=2&z=1')).links).to.contain('next?paginate:page=3&z=1')
    expect((await show(one, '?paginate:a:page=2&z=1')).links).to.contain('next?z=1&paginate:page=3')
  })

  const invalid: [what: string, body: string][] = [
    ['zero', '<ul p:paginate="0"></ul>'],
    ['negative', '<ul p:paginate="-3"></ul>'],
    ['no number', '<ul p:paginate="many"></ul>'],
    ['empty', '<ul p:paginate></ul>'],
    ['two without id', '<ul p:paginate="1"></ul><ul p:paginate="1"></ul>'],
    ['one of two without id', '<ul id="a" p:paginate="1"></ul><ul p:paginate="1"></ul>'],
    ['two with one id', '<ul id="a" p:paginate="1"></ul><ul id="a" p:paginate="1"></ul>'],
  ]
  for (const [what, body] of invalid)
    it(`COMP-65 COMP-131 ${what} is 422`, async () => expect((await show(body)).status).to.equal(422))

  it('COMP-148 a query cannot break out of the field', async () => {
    const got = await show(LIST, '?q=%22%3E%0d%0aX:1&"<b>=1')
    expect(got.status).to.equal(200)
    expect(got.field)
      .to.match(/^[\x20-\x7e]+$/)
      .and.contain('%22%3E%0d%0aX:1')
    expect(got.field).not.to.contain('<b>')
    expect(got.text).not.to.contain('<b>')
  })

  it('COMP-68 selectors see the page that the query asks for, with its links', async () => {
    await put(server, '/list.html', composed(`<ul p:paginate="3">${items(7)}</ul>`))
    const answer = await send('GET', '/list.html?paginate:page=2', selecting('li'))
    expect(answer.text).to.equal('<li>4</li>')
    expect(answer.headers.link).to.contain('rel="next"')
  })

  it('COMP-66 COMP-148 an id in other letters is percent-encoded in the field', async () => {
    const got = await show(`<ul id="ñ&quot;1" p:paginate="1">${items(2)}</ul>`)
    expect(got.field).to.match(/^<[^>]*>; rel="first"; title="%C3%B1\\"1", /)
  })

  describe('ALL-3 HTTP-59 what the other pages of a list hold is asked about, too', () => {
    const SECRET = '<li class="secret">x</li>'
    for (const [name, body, query, selector, status] of [
      ['a match on another page', `<ul p:paginate="1"><li>1</li>${SECRET}</ul>`, '', 'li', 401],
      ['a match on a page before', `<ul p:paginate="1">${SECRET}<li>1</li></ul>`, '?paginate:page=2', 'li', 401],
      ['an element that does not match', `<ul p:paginate="1"><li id="a">1</li>${SECRET}</ul>`, '', '#a', 206],
      ['a page without a match', `<ul p:paginate="1"><li>1</li>${SECRET}</ul>`, '', '.secret', 401],
      [
        'a list in an item of another page',
        `<ol id="o" p:paginate="1"><li>1</li><li><ul id="u" p:paginate="1"><li>2</li>${SECRET}</ul></li></ol>`,
        '',
        'li',
        401,
      ],
      ['no list', `<ul><li>1</li></ul><ol>${SECRET}</ol>`, '', 'ul li', 206],
    ] as const)
      it(`${name}: ${status}`, async () => {
        await put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/list.html', '.secret']))
        await put(server, '/list.html', composed(body))
        const statuses: number[] = []
        for (const Accept of ['multipart/mixed', 'application/ld+json'])
          statuses.push((await send('GET', `/list.html${query}`, { ...selecting(selector), Accept })).status)
        const fields = { 'Content-Type': 'text/css-selector' }
        statuses.push((await send('QUERY', `/list.html${query}`, fields, selector)).status)
        expect(statuses).to.deep.equal([status, status, status === 206 ? 200 : status])
        // One element is asked about alone.
        if (status === 401 && selector === 'li' && query === '')
          expect((await send('GET', '/list.html', selecting('li'))).text).to.equal('<li>1</li>')
        await put(server, '/rules.html', rulesPage())
      })
  })

  it('COMP-63 ten thousand pages', async () => {
    const got = await show(`<ul p:paginate="1">${items(10_000)}</ul>`, '?paginate:page=10000')
    expect(got.shown).to.equal('10000')
    expect(got.links).to.contain('last?paginate:page=10000')
  })
})
