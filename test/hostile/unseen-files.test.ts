/** Files that somebody may not read, told neither from those that are not there nor by what their writers say of them. */

import { hash } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { answering, trigger } from '../pipeline/react/site.ts'
import { page, put, putAll, remove, rulesPage } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { told } from './told.ts'

describe('files beside a folder that a route makes of every name', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'GET', 'Allow', '/a/*/']),
      '/a/:name/index.html': page('<p>of every name</p>'),
      '/a/secret': 'x',
    })
  })
  after(() => server.close())

  for (const method of ['GET', 'HEAD'])
    for (const fields of [{}, { Range: 'selector=p' }, { Range: 'bytes=0-1' }] as Fields[])
      it(`ABS-1 HTTP-15 ${method} ${JSON.stringify(fields)} of one that may not be read is as of one that is not there`, async () => {
        const of = async (name: string) =>
          told(await client(server.port)(method, `/a/${name}`, fields)).replaceAll(name, 'NAME')
        expect(await of('secret')).to.equal(await of('absent'))
      })
})

describe('files of which somebody may read no element, beside what would be shown if they were not there', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    await putAll(server, {
      '/rules.html': rulesPage(
        ['*', 'GET', 'Allow', '/a/*/'],
        ['*', 'GET', 'Allow', '/a/*', '.open'],
        ['*', 'GET', 'Allow', '/topics/*', '.open'],
        ['*', 'GET', 'Allow', '/plain/*', '.open'],
      ),
      '/a/:name/index.html': page('<p class="open">of every name</p>'),
      '/a/secret': page('<p>secret</p>'),
      '/topics/:topic.html': composed('<p class="open">of every topic</p><p class="open">more</p><b>b</b>'),
      '/topics/secret.html': page('<p>secret</p>'),
      '/topics/opened.html': page('<p>secret</p><b class="open">open</b>'),
      '/plain/:topic.html': page('<p class="open">of every topic</p>'),
      '/plain/secret.html': page('<p>secret</p>'),
      '/plain/thing2.html': composed('<p>secret</p>'),
    })
  })
  after(() => server.close())

  const FIELDS: Fields[] = [
    {},
    { Range: 'selector=p' },
    { Range: 'selector=p', Accept: 'multipart/mixed' },
    { Range: 'selector=p', Accept: 'application/ld+json' },
    { Range: 'selector=i' },
    { Range: 'bytes=0-1' },
    { Accept: 'application/ld+json' },
  ]
  for (const method of ['GET', 'HEAD'])
    for (const fields of FIELDS)
      for (const [folder, names, absent] of [
        ['/a/', ['secret'], 'absent'],
        ['/topics/', ['secret.html'], 'absent.html'],
        ['/plain/', ['secret.html', 'thing2.html'], 'absent.html'],
      ] as const)
        it(`SEC-6 ABS-1 ${method} ${folder} ${JSON.stringify(fields)} of one is as of one that is not there`, async () => {
          const of = async (name: string) => {
            const text = told(await client(server.port)(method, folder + name, fields))
            return text.replaceAll(name, 'NAME').replaceAll(name.replace('.html', ''), 'NAME')
          }
          for (const name of names) expect(await of(name)).to.equal(await of(absent))
        })

  it('KEY-1 COMP-97 a file of which an element may be read stands before the route', async () => {
    const of = async (selector: string) =>
      client(server.port)('GET', '/topics/opened.html', { Range: `selector=${selector}` })
    expect((await of('b')).text).to.equal('<b class="open">open</b>')
    expect((await of('p')).status).to.equal(401)
  })
})

describe('files of which somebody may know no element, in writes to what would be shown if they were not there', () => {
  const NAMES = {
    secret: page('<p>secret</p><b class="open">b</b>'),
    listed: composed('<i class="in">{{ 1 }}</i>'),
    hollow: '',
    binary: Buffer.from([0, 255]),
  }
  let server: TestServer

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    await putAll(server, {
      '/rules.html': rulesPage(
        ['*', 'POST|PUT|DELETE', 'Allow', '/topics/*|/plain/*', '#in, #in *'],
        ['*', 'GET', 'Allow', '/topics/*', 'p.open, #own'],
        ['*', 'MOVE|PATCH', 'Allow', '/moved/*'],
        ['*', 'POST|DELETE', 'Allow', '/moved/*', '#in, #in *'],
      ),
      '/parts.html': page('<ul id="in"><li>1</li></ul>'),
      '/topics/:topic.html': composed(
        '<p class="open">p</p><p:include selector="#in" resource="/parts.html"></p:include><ul id="own" p:transient>1</ul>',
      ),
      '/moved/:topic.html': composed('<p:include selector="#in" resource="/parts.html"></p:include>'),
      '/plain/:topic.html': page('<ul id="in"><li>1</li></ul>'),
      '/topics/known.html': page('<ul id="in"><li>known</li></ul>'),
    })
    for (const folder of ['/topics/', '/plain/', '/moved/'])
      for (const [name, text] of Object.entries(NAMES))
        await put(server, `${folder}${name}.html`, text, name === 'binary' ? 'image/png' : undefined)
  })
  after(() => server.close())

  const at = (selector: string, more: Fields = {}): Fields => ({ Range: `selector=${selector}`, ...more })
  const to = (selector: string, placement: string) => ({
    'Destination-Range': `selector=${selector}; placement=${placement}`,
  })
  const REQUESTS: [folder: string, method: string, fields: Fields, body?: string][] = [
    ['/topics/', 'POST', at('#in'), '<li>2</li>'],
    ['/topics/', 'POST', at('#in', { 'If-Match': '*' }), '<li>2</li>'],
    ['/topics/', 'POST', at('#in', { 'If-None-Match': '*' }), '<li>2</li>'],
    ['/topics/', 'POST', at('#in', { 'If-Match': '"x"' }), '<li>2</li>'],
    ['/topics/', 'POST', at('#in li:first-child; placement=before'), '<li>0</li>'],
    ['/topics/', 'POST', at('#none'), '<li>2</li>'],
    ['/topics/', 'POST', at('#in'), '<a>'],
    ['/topics/', 'PUT', at('#in'), '<ul id="in"><li>1</li></ul>'],
    ['/topics/', 'PUT', at('p.open'), '<p>x</p>'],
    ['/topics/', 'PUT', at('b'), '<p>x</p>'],
    ['/topics/', 'POST', at('#own'), '<li>2</li>'],
    ['/topics/', 'DELETE', at('#own li')],
    ['/topics/', 'DELETE', at('#in li')],
    ['/topics/', 'PATCH', at('#own')],
    ['/topics/', 'PATCH', at('p.open')],
    ['/topics/', 'OPTIONS', {}],
    ['/topics/', 'OPTIONS', { Accept: 'multipart/mixed' }],
    ['/topics/', 'OPTIONS', at('#in')],
    ['/plain/', 'POST', at('#in'), '<li>2</li>'],
    ['/plain/', 'PUT', at('#in li'), '<li>2</li>'],
    ['/plain/', 'DELETE', at('#none')],
    ['/plain/', 'OPTIONS', {}],
    ['/moved/', 'MOVE', at('#in li', to('#in', 'prepend'))],
    ['/moved/', 'MOVE', at('#none', to('#in', 'append'))],
    ['/moved/', 'PATCH', at('#in')],
  ]
  for (const [folder, method, fields, body] of REQUESTS)
    it(`SEC-6 ABS-2 ${method} ${folder} ${JSON.stringify(fields)} ${body ?? ''} of one is as of one that is not there`, async () => {
      const of = async (name: string) => {
        await put(server, '/parts.html', page('<ul id="in"><li>1</li></ul>'))
        const path = `${folder}${name}.html`
        const sent = method === 'MOVE' ? { ...fields, Destination: path } : fields
        return told(await client(server.port)(method, path, sent, body)).replaceAll(name, 'NAME')
      }
      const absent = await of('absent')
      for (const name of Object.keys(NAMES)) expect(await of(name), name).to.equal(absent)
    })

  it('COMP-97 ABS-5 who may write an element of the file writes there', async () => {
    const { status, text } = await client(server.port)('POST', '/topics/known.html', at('#in'), '<li>2</li>')
    expect([status, text]).to.deep.equal([206, '<li>2</li>'])
    expect((await server.site.find('/topics/known.html'))?.bytes?.toString()).to.contain('<li>known</li><li>2</li>')
  })

  it('REA-40 what a route captures is told to reactions whether or not a file stands there of which nothing may be known', async () => {
    await put(
      server,
      '/reactions.html',
      page(
        trigger({
          resource: '/topics/*',
          action: answering(299, 'X').replace('"X"', 'Context.request.params.topic ?? "none"'),
        }),
      ),
    )
    const of = async (name: string, method: string, fields: Fields) =>
      told(await client(server.port)(method, `/topics/${name}.html`, fields, '')).replaceAll(name, 'NAME')
    for (const [method, fields] of [
      ['GET', at('p.open')],
      ['POST', at('#in')],
      ['OPTIONS', {}],
    ] as [string, Fields][]) {
      const absent = await of('absent', method, fields)
      expect(absent, method).to.match(/^299.*NAME$/s)
      expect(await of('secret', method, fields), method).to.equal(absent)
    }
    await remove(server, '/reactions.html')
  })
})

describe('whole documents that somebody may write and not read', () => {
  const SECRET = page('<p>4711</p>')
  const UNFIT = { 'Content-Type': 'application/xml' }
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'PUT|DELETE|MOVE', 'Allow', '/in/*'],
        ['*', 'GET', 'Deny', '/in/*'],
        ['*', '*', 'Allow', '/out/*'],
      ),
    )
  })
  after(() => server.close())

  /** The tag and the date that the same bytes have where they may be read. */
  async function guess(bytes: string): Promise<{ tag: string; date: string }> {
    await http('PUT', '/out/guess.xml', UNFIT, bytes)
    const { headers } = await http('HEAD', '/out/guess.xml')
    return { tag: headers.etag ?? '', date: headers['last-modified'] ?? '' }
  }

  const conditions: [what: string, fields: (of: { tag: string; date: string }) => Fields][] = [
    ['If-Match', ({ tag }) => ({ 'If-Match': tag })],
    ['If-None-Match', ({ tag }) => ({ 'If-None-Match': tag })],
    ['If-Unmodified-Since', ({ date }) => ({ 'If-Unmodified-Since': date })],
  ]
  for (const [what, fields] of conditions)
    it(`SEC-6 HTTP-37 ${what} confirms no guess of them`, async () => {
      const secret = '<a>4711</a>'
      const right = await guess(secret)
      const wrong = { ...(await guess('<a>4712</a>')), date: 'Mon, 01 Jan 2001 00:00:00 GMT' }
      await put(server, '/in/x.xml', secret, 'application/xml')
      // What does not parse changes nothing: the guess could be repeated.
      const of = async (guessed: typeof right) =>
        told(await http('PUT', '/in/x.xml', { ...UNFIT, ...fields(guessed) }, '<a>'))
      expect(await of(right)).to.equal(await of(wrong))
    })

  it('HTTP-37 HTTP-38 the tag of what somebody wrote last is theirs to name', async () => {
    const first = await http('PUT', '/in/mine.html', {}, SECRET)
    expect(first.status).to.equal(201)
    const again = await http('PUT', '/in/mine.html', { 'If-Match': first.headers.etag }, SECRET)
    expect(again.status).to.equal(200)
    const late = await http('PUT', '/in/mine.html', { 'If-Match': first.headers.etag }, SECRET)
    expect(late.status).to.equal(412)
    expect(late.headers.etag).to.equal(undefined)
    const unlike = { 'If-None-Match': again.headers.etag }
    expect((await http('PUT', '/in/mine.html', unlike, SECRET)).status).to.equal(412)
    const moved = { Destination: '/in/moved.html', 'If-Match': again.headers.etag }
    expect((await http('MOVE', '/in/mine.html', moved)).status).to.equal(204)
    expect((await http('DELETE', '/in/moved.html', { 'If-Match': '"x"' })).status).to.equal(412)
  })

  it('SEC-6 that tag tells nothing of what others write afterwards, though it be the same bytes', async () => {
    const mine = await http('PUT', '/in/y.html', {}, SECRET)
    await put(server, '/in/y.html', page('<p>other</p>'))
    await put(server, '/in/y.html', SECRET)
    expect((await http('PUT', '/in/y.html', { 'If-Match': mine.headers.etag }, SECRET)).status).to.equal(412)
    await remove(server, '/in/y.html')
  })

  it('HTTP-37 whether anything is stored there may be asked for as before', async () => {
    await put(server, '/in/z.html', SECRET)
    expect((await http('PUT', '/in/z.html', { 'If-None-Match': '*' }, SECRET)).status).to.equal(412)
    expect((await http('PUT', '/in/z.html', { 'If-Match': '*' }, SECRET)).status).to.equal(200)
    expect((await http('PUT', '/in/none.html', { 'If-Match': '*' }, SECRET)).status).to.equal(412)
  })
})

describe('documents that somebody may not read, of which a page shows a part', () => {
  const element = (pin: string) => `<div id="n"><i e:title="'${pin}'">x</i></div>`
  const data = (pin: string) => composed(`<p>${pin}</p>${element(pin)}`)
  const tags = {
    document: (pin: string) => `"${hash('sha256', data(pin)).slice(0, 48)}"`,
    element: (pin: string) => `"${hash('sha256', element(pin)).slice(0, 32)}-${'0'.repeat(32)}"`,
  }
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await putAll(server, {
      '/in/data.html': data('4711'),
      '/page.html': composed('<p:include selector="#n" resource="/in/data.html"></p:include>'),
      '/:any/routed.html': composed('<p:include selector="#n" resource="/in/data.html"></p:include><b>4711</b>'),
    })
  })
  after(() => server.close())

  const PAGES = ['GET|PUT', 'Allow', '/page.html|/7/routed.html'] as const
  const ask = async (path: string, tag: string) =>
    told(await http('PUT', path, { Range: 'selector=#n', 'If-Match': tag }, ''))
  for (const path of ['/page.html', '/7/routed.html'])
    for (const [what, tag] of Object.entries(tags)) {
      it(`SEC-6 COMP-91 no guess of the ${what} is confirmed by a condition of a write through ${path}`, async () => {
        await put(server, '/rules.html', rulesPage(['*', ...PAGES]))
        expect(await ask(path, tag('4711'))).to.equal(await ask(path, tag('4712')))
      })

      it(`COMP-91 HTTP-32 who may read the ${what} there may name it by its tag in a write through ${path}`, async () => {
        await put(server, '/rules.html', rulesPage(['*', ...PAGES], ['*', 'GET', 'Allow', '/in/*']))
        expect(await ask(path, tag('4711'))).to.match(/^400/)
        expect(await ask(path, tag('4712'))).to.match(/^412/)
      })
    }

  it('COMP-91 HTTP-32 who may read nothing there but the element may name that by its tag', async () => {
    await put(server, '/rules.html', rulesPage(['*', ...PAGES], ['*', 'GET', 'Allow', '/in/*', '#n']))
    expect(await ask('/page.html', tags.element('4711'))).to.match(/^400/)
    expect(await ask('/page.html', tags.document('4711'))).to.match(/^412/)
  })

  it('COMP-101 no guess of the template of a route is confirmed', async () => {
    await put(server, '/rules.html', rulesPage(['*', ...PAGES]))
    const right = (await server.site.find('/:any/routed.html'))?.tag ?? ''
    const of = async (tag: string) =>
      told(await http('PUT', '/7/routed.html', { Range: 'selector=b', 'If-Match': tag }, ''))
    expect(await of(right)).to.equal(await of('"x"'))
  })
})
