/** The page that docs/architecture.md walks through, asked of a server. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { selecting, textOf } from '../http/write-checks.ts'
import { ELEMENT, schema } from '../pipeline/compose/site-of-one-case.ts'
import { NS, page, putAll, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const guide = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')
const [, walked = ''] = /## The way of a composed page.*?```html\n(.*?)```/s.exec(guide) ?? []

const article = (id: string, title: string) =>
  page(
    `<article id="${id}" itemscope itemtype="urn:example:Article"><h2 itemprop="title">${title}</h2><ol></ol></article>`,
  )

describe('The page that the architecture walks through', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    // Its script may wait for its turn on a busy machine.
    server = await startServer({ site: { defaultGet: 'allow' }, settings: { javascript: { time: '1m' } } })
    send = client(server)
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'POST', 'Allow', '/topics/*']),
      '/parts.html': page('<nav id="nav">Menu</nav>'),
      '/schema.html': page(
        schema('urn:example:Greeter', [
          { name: 'greet', parameters: ['who'], returns: ELEMENT, sessel: 'new p { "Hello, " + who }' },
          { name: 'note', parameters: ['what'], javascript: 'export default what => { Context.noted = what + "!" }' },
        ]),
      ),
      '/a.html': article('a', 'One'),
      '/b.html': article('b', 'Two'),
      '/c.html': article('c', 'Three'),
      '/topics/:topic.html': walked.replaceAll('{ns}', NS),
    })
  })
  after(() => server.close())

  it('COMP-16 COMP-17 has every directive at work, and none of them left', async () => {
    const answer = await send('GET', '/topics/tea.html?paginate:page=2')
    expect(answer.status, answer.text).to.equal(200)
    expect(answer.headers['route-parameters']).to.equal('topic=tea')
    expect(answer.headers.link).to.contain('</topics/tea.html?paginate:page=1>; rel="prev"; title="titles"')
    expect(answer.headers['cache-control']).to.equal('private, no-cache')
    for (const part of [
      '<title>tea</title><link rel="first" ',
      '<nav id="nav">Menu</nav>',
      '<p>Hello, Ada</p>',
      '<section>all!34</section>',
      '<ul id="titles"><li>Three</li></ul>',
      '<article id="a" ',
      '<article id="c" ',
      '<ul id="basket"><li>Nothing yet</li></ul>',
    ])
      expect(answer.text).to.contain(part)
    expect(answer.text).not.to.match(/<p:|<t:|\s[pretj]:|xmlns:|\{\{/)
  })

  it('COMP-86 COMP-74 takes writes to where each element is stored', async () => {
    expect((await send('POST', '/topics/tea.html', selecting('#b ol'), '<li>n</li>')).status).to.equal(206)
    expect(await textOf(server, '/b.html')).to.contain('<ol><li>n</li></ol>')
    const stored = await textOf(server, '/topics/:topic.html')
    const written = await send('POST', '/topics/tea.html', selecting('#basket'), '<li>Pen</li>')
    expect(written.status).to.equal(206)
    const cookie = written.headers['set-cookie']?.split(';')[0]
    expect((await send('GET', '/topics/tea.html', { Cookie: cookie })).text).to.contain('<li>Pen</li>')
    expect((await send('GET', '/topics/tea.html')).text).not.to.contain('<li>Pen</li>')
    expect((await send('POST', '/topics/tea.html', selecting('#titles li'), '<b></b>')).status).to.equal(416)
    expect(await textOf(server, '/topics/:topic.html')).to.equal(stored)
  })
})
