/** Resource bindings, stamps and templates through a real server. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { NS, page, put, putAll } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed, PREFIXES, served } from './composing.ts'

const LIQUID = 'p:template="text/liquid"'

describe('Bindings, stamps and templates', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await putAll(server, {
      '/data/b.html': page(
        '<article id="b" class="post" itemscope itemtype="urn:t:Post"><h2 itemprop="title">Bee &amp; co</h2><i itemprop="tag">x</i><i itemprop="tag">y</i></article>',
      ),
      '/data/a.html': page(
        '<article id="a" class="post" itemscope itemtype="urn:t:Post"><h2 itemprop="title">Ape</h2></article><template><p class="post">in a template</p></template>',
      ),
      '/data/parts.html': page(
        '<svg><plaintext class="part">x</plaintext><g class="part"></g></svg><math><html class="part" hidden></html></math>',
      ),
    })
  })
  after(() => server.close())

  async function get(body: string, target = '/page.html', fields: Fields = {}): Promise<string> {
    await put(server, '/page.html', composed(body))
    const answer = await send('GET', target, fields)
    return answer.status === 200
      ? answer.text
      : `${answer.status} ${/itemprop="message">([^<]*)/.exec(answer.text)?.[1]}`
  }

  const POSTS =
    '<article id="a" class="post" itemscope="" itemtype="urn:t:Post"><h2 itemprop="title">Ape</h2></article><article id="b" class="post" itemscope="" itemtype="urn:t:Post"><h2 itemprop="title">Bee &amp; co</h2><i itemprop="tag">x</i><i itemprop="tag">y</i></article>'

  const PARTS = [
    '<plaintext class="part">x</plaintext>',
    '<g class="part"></g>',
    '<html class="part" hidden=""></html>',
  ]
  const APART = `<svg>${PARTS[0]}</svg><svg>${PARTS[1]}</svg><math>${PARTS[2]}</math>`

  const cases: [rule: string, body: string, expected: string][] = [
    [
      'COMP-35 COMP-31 COMP-32 a resource binding is stamped in site order, with all attributes',
      '<div r:posts=".post"><p:stamp posts>gone</p:stamp></div>',
      `<div>${POSTS}</div>`,
    ],
    ['COMP-35 no match is an empty list', '<div r:none=".nothing">[<p:stamp none></p:stamp>]</div>', '<div>[]</div>'],
    [
      'COMP-31 a name without value is removed with the content',
      '<div>[<p:stamp who><b>x</b></p:stamp>]</div>',
      '<div>[]</div>',
    ],
    [
      'COMP-31 several names in the order of the attributes, their values ignored',
      '<div r:one="#a h2" r:two="#b h2"><p:stamp two="1" one="2"></p:stamp></div>',
      '<div><h2 itemprop="title">Bee &amp; co</h2><h2 itemprop="title">Ape</h2></div>',
    ],
    [
      'COMP-31 KEY-1 parts of SVG and MathML stand in these, so that none is an element of HTML that takes in what follows',
      '<div r:parts=".part"><p:stamp parts></p:stamp><svg><p:stamp parts></p:stamp><desc><p:stamp parts></p:stamp></desc></svg></div>',
      `<div>${APART}<svg>${PARTS.join('')}<desc>${APART}</desc></svg></div>`,
    ],
    [
      'COMP-31 KEY-1 the same in HTML that only has such a name, and in MathML that holds HTML',
      '<mi r:parts=".part"><p:stamp parts></p:stamp></mi><math r:parts=".part"><annotation-xml><p:stamp parts></p:stamp></annotation-xml><annotation-xml encoding="text/html"><p:stamp parts></p:stamp></annotation-xml></math>',
      `<mi>${APART}</mi><math><annotation-xml>${PARTS.join('')}</annotation-xml><annotation-xml encoding="text/html">${APART}</annotation-xml></math>`,
    ],
    [
      'COMP-31 and what stands in these already stays as it is, also in an element that holds HTML in the other one',
      '<svg><mi><g class="x"></g></mi></svg><math><desc><mn e:x="1"><p:stamp x></p:stamp></mn></desc></math>',
      '<svg><mi><g class="x"></g></mi></svg><math><desc><mn>1</mn></desc></math>',
    ],
    [
      'COMP-20 COMP-33 names are not seen by siblings or ancestors, nor before they are written',
      '<div><p:stamp x></p:stamp><b r:x="#a h2"></b><p:stamp x></p:stamp></div>',
      '<div><b></b></div>',
    ],
    [
      'COMP-20 the nearest scope wins',
      '<div r:x="#a h2"><p r:x="#b i"><p:stamp x/></p><p:stamp x/></div>',
      '<div><p><i itemprop="tag">x</i><i itemprop="tag">y</i></p><h2 itemprop="title">Ape</h2></div>',
    ],
    [
      'COMP-46 COMP-47 COMP-36 a template renders items, and escapes them',
      `<ul r:posts=".post" ${LIQUID} class="l">{% for p in posts %}<li data-id="{{ p['@id'] }}">{{ p.title }}: {{ p.tag | join: "," }}</li>{% endfor %}</ul>`,
      '<ul class="l"><li data-id="/data/a.html#a">Ape: </li><li data-id="/data/b.html#b">Bee &amp; co: x,y</li></ul>',
    ],
    [
      'COMP-17 the template comes last, wherever it is written',
      `<p ${LIQUID} r:posts=".post">{{ posts.size }}</p>`,
      '<p>2</p>',
    ],
    [
      'COMP-8 source is text: loops around rows work where written',
      `<table ${LIQUID} r:posts=".post"><tbody>{% for p in posts %}<tr><td>{{ p.title }}</td></tr>{% endfor %}</tbody></table>`,
      '<table><tbody><tr><td>Ape</td></tr><tr><td>Bee &amp; co</td></tr></tbody></table>',
    ],
    [
      'COMP-47 COMP-12 directives in the output work, with the prefixes of the host',
      `<div ${LIQUID}><p:include selector="#a h2"/><p r:t="#b i"><p:stamp t/></p></div>`,
      '<div><h2 itemprop="title">Ape</h2><p><i itemprop="tag">x</i><i itemprop="tag">y</i></p></div>',
    ],
    [
      'COMP-48 a host inside the output of another one does not render again',
      `<div ${LIQUID}>{% raw %}<p ${LIQUID}>{{ 1 | plus: 1 }}</p>{% endraw %}</div>`,
      '<div><p>{{ 1 | plus: 1 }}</p></div>',
    ],
    [
      'LIQ-2 COMP-46 outside of hosts nothing is rendered',
      '<p title="{{ 1 }}">{{ 2 }}</p>',
      '<p title="{{ 1 }}">{{ 2 }}</p>',
    ],
    [
      'COMP-9 names are readable as spelt and in lower case',
      `<p r:allPosts=".post" ${LIQUID}>{{ allPosts.size }}{{ allposts.size }}</p>`,
      '<p>22</p>',
    ],
  ]
  for (const [rule, body, expected] of cases) it(rule, async () => expect(await get(body)).to.equal(served(expected)))

  it('COMP-46 html itself can be a host', async () => {
    await put(
      server,
      '/page.html',
      `<!doctype html><html lang="en" ${PREFIXES} ${LIQUID}><head><title>{{ request.path }}</title></head><body>{{ 2 }}</body></html>`,
    )
    expect((await send('GET', '/page.html')).text).to.equal(
      '<!DOCTYPE html><html lang="en"><head><title>/page.html</title></head><body>2</body></html>',
    )
  })

  it('COMP-48 a fragment included from another document is fresh source', async () => {
    await put(server, '/parts/t.html', composed(`<p id="t" ${LIQUID}>{{ request.query.q }}</p>`))
    const body = `<div ${LIQUID}>{{ 1 }}<p:include selector="#t" resource="/parts/t.html"/></div>`
    expect(await get(body, '/page.html?q=%3Cb%3E')).to.equal(served('<div>1<p id="t">&lt;b&gt;</p></div>'))
  })

  it('COMP-37 COMP-49 COMP-50 what cannot be used fails the page', async () => {
    expect(await get('<p r:x="[[">x</p>')).to.match(/^500/)
    expect(await get('<p p:template="text/other">x</p>')).to.match(/^500/)
    expect(await get(`<p ${LIQUID}>{% if %}</p>`)).to.match(/^500/)
    expect(await get(`<p ${LIQUID}>{% nonsense %}</p>`)).to.match(/^500/)
  })

  it('COMP-50 an error in one output degrades, and the page is served', async () => {
    await put(server, '/page.html', composed(`<p ${LIQUID}>a{{ 1 | nosuch }}b</p>`))
    expect((await send('GET', '/page.html')).status).to.equal(200)
  })

  it('COMP-22 COMP-124 what belongs to the requester makes the answer private', async () => {
    const control = async (body: string, target = '/page.html?x=1') => {
      await put(server, '/page.html', composed(body))
      const cookie = (await send('GET', '/page.html')).headers['set-cookie']?.split(';')[0]
      const answer = await send('GET', target, cookie ? { Cookie: cookie } : {})
      expect(answer.status).to.equal(200)
      return answer.headers['cache-control']
    }
    const shared = 'public, max-age=0, s-maxage=5'
    const personal = 'private, no-cache'
    const host = (text: string) => `<p ${LIQUID}>${text}</p>`
    expect(
      await control(host('{{ request.path }}{{ request.method }}{{ request.query.x }}{{ request.params.y }}')),
    ).to.equal(shared)
    expect(await control(host('{% if request %}x{% endif %}'))).to.equal(shared)
    expect(await control(host('{% if false %}{{ request.auth.username }}{% endif %}'))).to.equal(shared)
    for (const text of [
      '{{ request.headers.accept }}',
      '{% if request.auth.username %}x{% endif %}',
      '{{ request | json }}',
      '{% for m in request %}{{ m[0] }}{% endfor %}',
    ])
      expect(await control(host(text)), text).to.equal(personal)
    expect(await control('<p r:q="[itemprop=query] > [itemprop=x]"><p:stamp q/></p>'), 'COMP-115').to.equal(personal)
    expect(await control('<p r:q=".post">x</p>')).to.equal(shared)
  })

  it('COMP-114 COMP-115 COMP-116 the Request document is in the graph of its own request, and comes last', async () => {
    const body = `<p r:m="[itemtype='${NS}/Request'] > [itemprop=method], #a h2" ${LIQUID}>{% for x in m %}[{{ x['@id'] }}]{% endfor %}</p><p:include selector="[itemprop=headers] > [itemprop=x-test]"/>`
    expect(await get(body, '/page.html', { 'X-Test': 'yes' })).to.equal(
      served('<p>[/data/a.html][]</p><meta itemprop="x-test" content="yes">'),
    )
    await put(server, '/page.html', composed('<p:include selector="[itemprop=headers] > [itemprop=cookie]"/>'))
    const own = (await send('GET', '/data/a.html')).headers['set-cookie']?.split(';')[0] ?? ''
    expect((await send('GET', '/page.html', { Cookie: own })).status, 'COMP-148 own cookie').to.equal(404)
    const other = await send('GET', '/page.html', { Cookie: `${own}; theme=dark` })
    expect(other.text).to.contain('content="theme=dark"')
  })

  it('COMP-3 COMP-126 selectors see the composed view, whose tag covers what is projected', async () => {
    await put(server, '/page.html', composed('<main r:posts=".post"><p:stamp posts/></main>'))
    const first = await send('GET', '/page.html', selecting('main > article'))
    expect(first.status).to.equal(206)
    expect(first.text).to.match(/^<article id="a"/)
    expect(
      (await send('GET', '/page.html', { ...selecting('main > article'), 'If-None-Match': first.headers.etag })).status,
    ).to.equal(304)
    const all = await send('GET', '/page.html', { ...selecting('main > article'), Accept: 'multipart/mixed' })
    expect(all.text).to.contain('id="a"').and.contain('id="b"')
    const query = await send('QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, 'main > article h2')
    expect(query.status).to.equal(200)
    expect(query.text).to.contain('Ape').and.contain('Bee')
    const jsonLd = await send('GET', '/page.html', { Accept: 'application/ld+json' })
    expect(jsonLd.text).to.contain('"Ape"')
    expect((await send('GET', '/page.html', selecting('p\\:stamp'))).status).to.equal(416)
    const head = await send('HEAD', '/page.html')
    expect(head.headers.etag).to.equal((await send('GET', '/page.html')).headers.etag)
  })

  it('COMP-2 a plain document is served as it is stored', async () => {
    const text =
      '<!DOCTYPE html><html xmlns:og="http://ogp.me/ns#"><p p:template="text/liquid">{{ 1 }}<x:y z:w="1"/><body  class=a>'
    await put(server, '/plain.html', text)
    const answer = await send('GET', '/plain.html')
    expect(answer.text).to.equal(text)
    expect(answer.headers).to.have.property('last-modified')
  })

  it('COMP-3 the mount never composes', async () => {
    await put(server, '/page.html', composed('<main r:posts=".post"><p:stamp posts/></main>'))
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    const answer = await fetch(`${server.mountUrl}/page.html`, { headers: { authorization } })
    expect(await answer.text()).to.equal(composed('<main r:posts=".post"><p:stamp posts/></main>'))
  })
})
