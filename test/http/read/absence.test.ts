import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** All that a client sees, except for what names the request or the moment. */
function seen({ status, lines, text }: Received, ...names: string[]): unknown {
  const stable = lines.filter(([name]) => !/^(Date|Set-Cookie|Content-Length)$/.test(name))
  return { status, lines: stable, text: names.reduce((all, name) => all.replaceAll(name, 'X'), text) }
}

describe('absence and denial', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/open.html': page('<p id="here">x</p><ul id="list"><li>1</li></ul><p class="shut">s</p>'),
      '/shut/there.html': page('<p id="here">x</p>'),
      '/shut/there.css': 'p{}',
      '/drop.html': page('<ul id="in"></ul>'),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/shut/*'],
        ['*', 'GET', 'Deny', '/open.html', '.shut'],
        ['*', 'GET', 'Deny', '/drop.html'],
        ['*', 'POST', 'Allow', '/drop.html', '#in'],
        ['*', 'PUT|DELETE|POST', 'Allow', '/open.html', '#list li'],
      ),
    })
  })
  after(() => server.close())

  describe('HTTP-2 who may not read never learns whether something exists', () => {
    const requests: [name: string, method: string, fields: Fields, body?: string][] = [
      ['GET', 'GET', {}],
      ['HEAD', 'HEAD', {}],
      ['GET by selector', 'GET', { Range: 'selector=#here' }],
      ['GET by selector that matches nothing', 'GET', { Range: 'selector=#nothing' }],
      ['GET of all matches', 'GET', { Range: 'selector=p', Accept: 'multipart/mixed' }],
      ['GET as JSON-LD', 'GET', { Accept: 'application/ld+json' }],
      ['GET under a condition', 'GET', { 'If-None-Match': '*' }],
      ['GET that must match', 'GET', { 'If-Match': '*' }],
      ['GET of bytes', 'GET', { Range: 'bytes=0-1' }],
      ['QUERY', 'QUERY', { 'Content-Type': 'text/css-selector' }, 'p'],
      ['QUERY with a wrong type', 'QUERY', { 'Content-Type': 'text/plain' }, 'p'],
      ['QUERY that accepts something else', 'QUERY', { 'Content-Type': 'text/css-selector', Accept: 'text/html' }, 'p'],
      ['PUT by selector', 'PUT', { Range: 'selector=#here' }, '<p>x</p>'],
      ['PUT by selector that matches nothing', 'PUT', { Range: 'selector=#nothing' }, '<p>x</p>'],
      ['POST', 'POST', { Range: 'selector=#here' }, '<p>x</p>'],
      ['POST before', 'POST', { Range: 'selector=#here; placement=before' }, '<p>x</p>'],
      ['POST without range', 'POST', {}, '<p>x</p>'],
      ['DELETE by selector', 'DELETE', { Range: 'selector=#here' }],
      ['DELETE', 'DELETE', {}],
      ['PUT', 'PUT', {}, 'x'],
      ['PUT under a condition', 'PUT', { 'If-None-Match': '*' }, 'x'],
      ['MOVE', 'MOVE', { Destination: '/elsewhere.html' }],
      ['MOVE without overwriting', 'MOVE', { Destination: '/open.html', Overwrite: 'F' }],
      ['PATCH', 'PATCH', {}, 'x'],
    ]
    for (const [name, method, fields, body] of requests) {
      it(name, async () => {
        const there = await http(method, '/shut/there.html', fields, body)
        const none = await http(method, '/shut/none.html', fields, body)
        expect(there.status).to.equal(401)
        expect(seen(there, '/shut/there.html', 'there.html')).to.deep.equal(seen(none, '/shut/none.html', 'none.html'))
        const blob = await http(method, '/shut/there.css', fields, body)
        if (!method.match(/GET|HEAD/)) expect(blob.status).to.equal(401)
      })
    }

    it('an element move', async () => {
      const fields = { Range: 'selector=#here', 'Destination-Range': 'selector=body; placement=append' }
      const move = (target: string) => http('MOVE', target, { ...fields, Destination: target })
      const [there, none] = [await move('/shut/there.html'), await move('/shut/none.html')]
      expect(there.status).to.equal(401)
      expect(seen(there, 'there.html')).to.deep.equal(seen(none, 'none.html'))
    })
  })

  it('HTTP-2 ABS-1 with permission to read, an absent document is 404 and an absent target 416', async () => {
    expect((await http('GET', '/none.html')).status).to.equal(404)
    expect((await http('GET', '/open.html', { Range: 'selector=#nothing' })).status).to.equal(416)
    expect((await http('GET', '/open.html', { Range: 'selector=#here' })).status).to.equal(206)
  })

  it('HTTP-2 a target covered by a Deny refuses, and tells nothing when it is absent', async () => {
    expect((await http('GET', '/open.html', { Range: 'selector=.shut' })).status).to.equal(401)
    expect((await http('GET', '/open.html', { Range: 'selector=.shut.shut' })).status).to.equal(401)
  })

  describe('ABS-3 selector writes that match nothing', () => {
    const write = async (method: string, target: string, selector: string) =>
      (await http(method, target, { Range: `selector=${selector}` }, '<li>x</li>')).status

    it('416 where the page may be read and some rule could grant the method', async () => {
      for (const method of ['PUT', 'POST', 'DELETE'])
        expect(await write(method, '/open.html', '#list li:nth-child(9)'), method).to.equal(416)
    })

    it('refused where no rule could grant it, whether there is something or not', async () => {
      for (const method of ['PUT', 'DELETE']) {
        expect(await write(method, '/drop.html', '#nothing'), method).to.equal(401)
        expect(await write(method, '/none.html', '#nothing'), method).to.equal(401)
        expect(await write(method, '/open.html', '#here'), method).to.equal(401)
      }
    })

    it('refused where the page may not be read, although a rule grants the method', async () => {
      expect(await write('POST', '/drop.html', '#nothing')).to.equal(401)
      expect(await write('POST', '/drop.html', '#in')).to.equal(206)
    })

    it('ABS-4 POST before and after with a missing anchor is refused, not 416', async () => {
      for (const placement of ['before', 'after'])
        expect(await write('POST', '/open.html', `#nothing; placement=${placement}`), placement).to.equal(401)
    })

    it('ABS-5 a permitted write succeeds on a page that the writer cannot read', async () => {
      const { status, text } = await http('POST', '/drop.html', { Range: 'selector=#in' }, '<li>letter</li>')
      expect({ status, text }).to.deep.equal({ status: 206, text: '<li>letter</li>' })
      expect((await http('GET', '/drop.html')).status).to.equal(401)
    })
  })

  it('HTTP-3 DENY-1 a refusal of somebody anonymous is 401 for every method', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'MOVE']) {
      const { status } = await http(method, '/shut/there.html', { Destination: '/x.html' }, 'x')
      expect(status, method).to.equal(401)
    }
  })
})

describe('absence and denial under default deny', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await putAll(server, {
      '/there.html': page('<p class="open">x</p><p>y</p>'),
      '/open.html': page('open'),
      '/head.html': page('head'),
      '/dir/index.html': page('index'),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Allow', '/open.html'],
        ['*', 'GET', 'Allow', '/there.html', '.open'],
        ['*', 'HEAD', 'Allow', '/head.html'],
        ['*', 'GET', 'Allow', '/dir/'],
        ['*', 'HEAD', 'Deny', '/dir/'],
      ),
    })
  })
  after(() => server.close())

  it('DEC-4 what no rule matches is refused, there or not', async () => {
    const [there, none] = [await http('GET', '/there.html'), await http('GET', '/none.html')]
    expect(there.status).to.equal(401)
    expect(seen(there, '/there.html', 'there.html')).to.deep.equal(seen(none, '/none.html', 'none.html'))
  })

  it('an Allow for elements opens these elements alone, and tells nothing of others', async () => {
    const read = async (selector: string) =>
      (await http('GET', '/there.html', { Range: `selector=${selector}` })).status
    expect(await read('.open')).to.equal(206)
    expect(await read('p')).to.equal(206)
    expect(await read('p + p')).to.equal(401)
    expect(await read('#nothing')).to.equal(401)
  })

  it('METH-2 HEAD by GET, and by a rule of its own', async () => {
    expect((await http('HEAD', '/open.html')).status).to.equal(200)
    expect((await http('HEAD', '/head.html')).status).to.equal(200)
    expect((await http('GET', '/head.html')).status).to.equal(401)
    expect((await http('GET', '/dir')).status).to.equal(301)
    expect((await http('HEAD', '/dir')).status).to.equal(401)
  })
})
