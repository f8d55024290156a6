import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { shape } from '../pipeline/model/markup.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { client, type Received } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const VAGUE = "Something that stands in '#l' is not permitted there"

/** What stands in a closed shape without being permitted was there before the shape; a visitor may read a part of it. */
describe('A closed shape around what a visitor may not read', () => {
  let server: TestServer
  afterEach(() => server.close())

  /** Names and attributes of what the visitor may not read, in two sites; each name is nowhere else. */
  const HIDDEN = ['<x-agnes data-of="mercy"></x-agnes>', '<x-bertha title="x" data-by="st-mary"></x-bertha>']
  const WRITES: [what: string, write: (server: TestServer) => Promise<Received>, own: string[]][] = [
    ['a POST', s => client(s)('POST', '/p.html', { Range: 'selector=#l' }, '<li><b>x</b></li>'), []],
    [
      'a POST that is not permitted either',
      s => client(s)('POST', '/p.html', { Range: 'selector=#l' }, '<li class="c" onclick="x"><u>x</u></li>'),
      ["Attribute 'onclick' on <li>", 'Element <u>'],
    ],
    ['a PUT', s => client(s)('PUT', '/p.html', { Range: 'selector=.mine' }, '<li class="mine"><i>y</i></li>'), []],
    [
      'what stands in a template',
      s => client(s)('POST', '/p.html', { Range: 'selector=#l' }, '<li><template><s>1</s></template></li>'),
      ['Element <s>'],
    ],
    ['a MOVE of the whole', s => client(s)('MOVE', '/p.html', { Destination: '/q.html' }), []],
  ]
  for (const [what, write, own] of WRITES)
    it(`SEC-6 MOD-130 ${what} is refused for what stands there, without a word on what that is`, async () => {
      const texts: string[] = []
      for (const hidden of HIDDEN) {
        server = await startServer({ site: { defaultGet: 'deny' } })
        const list = `<ul id="l"><li class="mine"><b>1</b></li><li class="shut">${hidden}</li></ul>`
        await put(server, '/p.html', page(list))
        const permit = ['li[class]', 'li > b', 'li > i', 'template']
        await put(server, '/shape.html', page(shape({ resource: '/*.html', selector: '#l', permit })))
        const rules = rulesPage(
          ['*', 'GET', 'Allow', '/p.html', '.mine'],
          ['*', 'POST', 'Allow', '/p.html', '#l'],
          ['*', 'PUT', 'Allow', '/p.html|/q.html', '.mine'],
          ['*', 'MOVE|PUT', 'Allow', '/p.html|/q.html'],
        )
        await put(server, '/rules.html', rules)
        const { status, text: markup } = await write(server)
        const text = markup.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#39;', "'")
        expect(status, text).to.equal(422)
        expect(text).to.include(VAGUE)
        expect(text).to.not.match(/agnes|mercy|bertha|mary|x-/)
        for (const each of own) expect(text).to.include(each)
        texts.push(text)
        if (texts.length < HIDDEN.length) await server.close()
      }
      expect(texts[0]).to.equal(texts[1])
    })

  it('MOD-130 who may read all of it is told what stands there', async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    await put(server, '/p.html', page(`<ul id="l"><li>${HIDDEN[0]}</li></ul>`))
    await put(server, '/shape.html', page(shape({ selector: '#l', permit: ['li'] })))
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/p.html', '#l']))
    const { status, text } = await client(server)('POST', '/p.html', { Range: 'selector=#l' }, '<li>x</li>')
    expect(status).to.equal(422)
    expect(text).to.include('x-agnes').and.not.include('Something that stands')
  })
})
