import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('JSON-LD of pages', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
  })
  after(() => server.close())

  async function jsonLd(body: string, selector?: string) {
    await put(server, '/items.html', page(body))
    const Range = selector === undefined ? undefined : `selector=${selector}`
    const received = await http('GET', '/items.html', { Accept: 'application/ld+json', Range })
    return { ...received, json: JSON.parse(received.text) as unknown }
  }

  it('HTTP-72 the example of the specification', async () => {
    const { status, headers, json } = await jsonLd(
      '<p itemscope itemtype="https://schema.org/Offer" itemid="urn:x:7"><data itemprop="price" value="3">three</data> <span itemprop="tag">hot</span><span itemprop="tag">new</span></p>',
    )
    expect(status).to.equal(200)
    expect(headers['content-type']).to.equal('application/ld+json; charset=utf-8')
    expect(headers).not.to.have.property('content-range')
    expect(json).to.deep.equal({
      '@context': 'https://schema.org/',
      '@type': 'Offer',
      '@id': 'urn:x:7',
      price: '3',
      tag: ['hot', 'new'],
    })
  })

  const cases: [name: string, body: string, json: unknown][] = [
    ['HTTP-72 no item', '<p>x</p>', { '@graph': [] }],
    ['HTTP-72 no type', '<p itemscope><b itemprop="a">1</b></p>', { a: '1' }],
    [
      'HTTP-72 a type with #',
      '<p itemscope itemtype="https://x.example/v#T"></p>',
      { '@context': 'https://x.example/v#', '@type': 'T' },
    ],
    ['HTTP-72 a type that is no URL', '<p itemscope itemtype="Thing"></p>', { '@type': 'Thing' }],
    [
      'HTTP-72 a type that ends in the separator',
      '<p itemscope itemtype="https://x.example/"></p>',
      { '@type': 'https://x.example/' },
    ],
    [
      'HTTP-72 several types of one context',
      '<p itemscope itemtype="https://x.example/A https://x.example/B"></p>',
      { '@context': 'https://x.example/', '@type': ['A', 'B'] },
    ],
    [
      'HTTP-72 several items of one context',
      '<p itemscope itemtype="https://x.example/A"></p><p itemscope itemtype="https://x.example/B"></p>',
      { '@context': 'https://x.example/', '@graph': [{ '@type': 'A' }, { '@type': 'B' }] },
    ],
    [
      'HTTP-72 several items of several contexts',
      '<p itemscope itemtype="https://x.example/A"></p><p itemscope itemtype="https://y.example/B"></p>',
      {
        '@graph': [
          { '@context': 'https://x.example/', '@type': 'A' },
          { '@context': 'https://y.example/', '@type': 'B' },
        ],
      },
    ],
    [
      'HTTP-72 a nested item repeats no context',
      '<div itemscope itemtype="https://x.example/A"><p itemprop="b" itemscope itemtype="https://x.example/B"></p><p itemprop="c" itemscope itemtype="https://y.example/C"></p></div>',
      {
        '@context': 'https://x.example/',
        '@type': 'A',
        b: { '@type': 'B' },
        c: { '@context': 'https://y.example/', '@type': 'C' },
      },
    ],
    ['HTTP-71 every token of itemprop', '<p itemscope><b itemprop="a b">1</b></p>', { a: '1', b: '1' }],
    ['HTTP-71 itemref, each element once', '<p itemscope itemref="r r"></p><b id="r" itemprop="a">1</b>', { a: '1' }],
    [
      'HTTP-72 an item inside itself is left out',
      '<p id="r" itemscope itemref="q"></p><b id="q" itemprop="a" itemscope itemref="q"></b>',
      { a: {} },
    ],
    [
      'HTTP-71 values by element',
      '<div itemscope><meta itemprop="m" content="c"><a itemprop="a" href="../x">t</a><img itemprop="i" src="s.png"><object itemprop="o" data="d"></object><data itemprop="d" value="v">t</data><meter itemprop="e" value="0.5">t</meter><time itemprop="t" datetime="2026-01-01">t</time><time itemprop="u">noon</time><a itemprop="n">t</a><p itemprop="p"> x <b>y</b> </p></div>',
      { m: 'c', a: '../x', i: 's.png', o: 'd', d: 'v', e: '0.5', t: '2026-01-01', u: 'noon', n: '', p: ' x y ' },
    ],
  ]
  for (const [name, body, expected] of cases) {
    it(name, async () => {
      expect((await jsonLd(body)).json).to.deep.equal(expected)
    })
  }

  it('HTTP-70 with a selector: 206, Content-Range, and the items of all matches', async () => {
    const body =
      '<p class="x" itemscope itemid="a"><b itemprop="n" itemscope itemid="inner"></b></p>' +
      '<div class="x"><i itemscope itemid="b"></i><i itemscope itemid="c"></i></div><p itemscope itemid="other"></p>'
    const { status, headers, json } = await jsonLd(body, '.x')
    expect(status).to.equal(206)
    expect(headers['content-range']).to.equal('selector=.x')
    expect(json).to.deep.equal({ '@graph': [{ '@id': 'a', n: { '@id': 'inner' } }, { '@id': 'b' }, { '@id': 'c' }] })
  })

  it('HTTP-70 a match that is a nested item gives its own', async () => {
    const { json } = await jsonLd('<p itemscope><b itemprop="n" itemscope itemid="inner"></b></p>', 'b')
    expect(json).to.deep.equal({ '@id': 'inner' })
  })

  it('HTTP-70 no match is 416, matches without items an empty graph', async () => {
    const body = '<p>x</p>'
    await put(server, '/items.html', page(body))
    const none = await http('GET', '/items.html', { Accept: 'application/ld+json', Range: 'selector=h6' })
    expect(none.status).to.equal(416)
    expect((await jsonLd(body, 'p')).json).to.deep.equal({ '@graph': [] })
  })

  it('HTTP-70 text beyond ASCII is UTF-8', async () => {
    const { body } = await jsonLd('<p itemscope><b itemprop="ü">日本 😀</b></p>')
    expect(JSON.parse(body.toString('utf8'))).to.deep.equal({ ü: '日本 😀' })
  })
})
