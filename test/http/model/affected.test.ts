import { expect } from 'chai'
import { beforeEach, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'

const THING = 'https://tides.example/Thing'

onBothPlanes('Data model, which items a write affects (MOD-111, MOD-114)', on => {
  const bad = `<li class="bad" itemscope itemtype="${THING}"></li>`
  const good = (id: string, inside = '') =>
    `<li id="${id}" itemscope itemtype="${THING}"><b itemprop="p">x</b><i>${inside}</i></li>`

  beforeEach(async () => {
    await on.shelf.clear()
    await on.shelf.list(
      '/list.html',
      bad,
      good('a'),
      good('c', `<ul>${bad}</ul>`),
      '<li id="plain"><b itemprop="p">loose</b></li>',
    )
    await on.shelf.declare(schema(THING, {}, property('p', { cardinality: '1..1' })))
  })

  const selecting = (selector: string, placement = 'append') => ({
    Range: `selector=${selector}; placement=${placement}`,
  })
  const move = (source: string, anchor: string, placement: string) =>
    on.shelf.http('MOVE', '/list.html', {
      Range: `selector=${source}`,
      Destination: '/list.html',
      'Destination-Range': `selector=${anchor}; placement=${placement}`,
    })

  for (const [name, write, expected] of [
    [
      'POST beside items that are not valid',
      () => on.shelf.http('POST', '/list.html', selecting('#list'), good('n')),
      '206',
    ],
    [
      'POST of one that is not',
      () => on.shelf.http('POST', '/list.html', selecting('#list'), bad),
      '422 cardinality p',
    ],
    [
      'POST of one inside other content',
      () => on.shelf.http('POST', '/list.html', selecting('#list'), `<li><ul>${bad}</ul>`),
      '422 cardinality p',
    ],
    [
      'POST into an item: the item',
      () => on.shelf.http('POST', '/list.html', selecting('#a'), '<b itemprop="p">y</b>'),
      '422 cardinality p',
    ],
    [
      'POST deep into an item: the item',
      () => on.shelf.http('POST', '/list.html', selecting('#a i'), '<b itemprop="p">y</b>'),
      '422 cardinality p',
    ],
    [
      'POST beside a value: the item',
      () => on.shelf.http('POST', '/list.html', selecting('#a b', 'after'), '<b itemprop="p">y</b>'),
      '422 cardinality p',
    ],
    [
      'POST into an item that is not valid, without help',
      () => on.shelf.http('POST', '/list.html', selecting('.bad'), 'x'),
      '422 cardinality p',
    ],
    [
      'POST that makes it valid',
      () => on.shelf.http('POST', '/list.html', selecting('.bad'), '<b itemprop="p">y</b>'),
      '206',
    ],
    [
      'PUT of a value',
      () => on.shelf.http('PUT', '/list.html', selecting('#a b'), '<b itemprop="q">y</b>'),
      '422 cardinality p',
    ],
    [
      'PUT of an element around items',
      () => on.shelf.http('PUT', '/list.html', selecting('#list'), `<ul id="list">${good('a')}${bad}</ul>`),
      '422 cardinality p',
    ],
    ['DELETE of a value', () => on.shelf.http('DELETE', '/list.html', selecting('#a b')), '422 cardinality p'],
    ['DELETE of an item that is not valid', () => on.shelf.http('DELETE', '/list.html', selecting('.bad')), '204'],
    [
      'DELETE inside a nested item: those around it',
      () => on.shelf.http('DELETE', '/list.html', selecting('#c .bad')),
      '204',
    ],
    ['MOD-114 MOVE of a value out of its item', () => move('#a b', '#plain', 'append'), '422 cardinality p'],
    ['MOD-114 MOVE of a value into another item', () => move('#plain b', '#a', 'append'), '422 cardinality p'],
    ['MOD-114 MOVE within the item', () => move('#a b', '#a i', 'append'), '204'],
    ['MOD-114 MOVE of a valid item', () => move('#a', '#plain', 'after'), '204'],
    ['whole PUT: all items', () => on.shelf.replace('/list.html', listPage(good('a'), bad)), '422 cardinality p'],
    ['whole DELETE: none', () => on.shelf.http('DELETE', '/list.html'), '204'],
    ['whole MOVE: none', () => on.shelf.http('MOVE', '/list.html', { Destination: '/moved.html' }), '204'],
  ] as const) {
    it(`${name}: ${expected}`, async () => {
      const before = await on.shelf.text('/list.html')
      expect(verdictOf(await write())).to.equal(expected)
      if (expected.startsWith('4')) expect(await on.shelf.text('/list.html')).to.equal(before)
    })
  }

  if (on.plane === 'public surface')
    it('template creation (MOD-110): 422 cardinality p', async () => {
      const made = await on.shelf.http('POST', '/made/', { 'Content-Type': 'text/html' }, listPage(bad))
      expect(verdictOf(made)).to.equal('422 cardinality p')
    })

  it('MOD-11 what comes out of a template of an XML document is an item from then on', async () => {
    const xml = `<html xmlns="http://www.w3.org/1999/xhtml"><body><template><li itemscope="" itemtype="${THING}"/></template><ul id="list"/></body></html>`
    const type = { 'Content-Type': 'application/xhtml+xml' }
    expect((await on.shelf.http('PUT', '/t.xhtml', type, xml)).status).to.equal(201)
    const headers = { Destination: '/t.xhtml', 'Destination-Range': 'selector=#list; placement=append' }
    const moved = await on.shelf.http('MOVE', '/t.xhtml', { ...selecting('template > li'), ...headers })
    expect(verdictOf(moved)).to.equal('422 cardinality p')
  })

  it('reading never checks (MOD-110)', async () => {
    for (const [method, fields, body] of [
      ['GET', {}],
      ['HEAD', {}],
      ['OPTIONS', {}],
      ['GET', { Range: 'selector=.bad' }],
      ['QUERY', { 'Content-Type': 'text/css-selector' }, '.bad'],
    ] as const)
      expect((await on.shelf.http(method, '/list.html', fields, body)).status).to.be.below(300)
  })
})
