// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { neededTokens } from '../../../pipeline/tree/selector/needs.ts'
import { compileSelector } from '../../../pipeline/tree/selector/selector.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { NS, page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('The index of what documents hold', () => {
  let server: TestServer
  let mount: Client
  let prefix = ''
  const ask = async (program: string) => {
    const Authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    return (await mount('QUERY', `${prefix}/`, { 'Content-Type': 'text/sessel', Authorization }, program)).text
  }
  const paths = async (selector: string) => [
    ...(await server.site.documentsWith(neededTokens(compileSelector(selector)))),
  ]

  before(async () => {
    server = await startServer()
    const { port, pathname } = new URL(server.mountUrl)
    mount = client(Number(port))
    prefix = pathname === '/' ? '' : pathname
    await putAll(server, {
      '/a.html': page('<p class="One" id="x">1</p>'),
      '/b.html': page('<div itemscope itemtype="u:thing"><b itemprop="n">1</b></div>'),
      '/c/d.html': page('<p class="one">2</p>'),
      '/e.xml': '<x:feed xmlns:x="urn:x"><entry class="one"/></x:feed>',
      '/f.png': Buffer.from([1]),
    })
  })
  after(() => server.close())

  it('SES-120 names the documents that may hold a match, in order', async () => {
    expect(await paths('.one')).to.deep.equal(['/a.html', '/c/d.html', '/e.xml'])
    expect(await paths('#x')).to.deep.equal(['/a.html'])
    expect(await paths('[itemtype="u:thing"]')).to.deep.equal(['/b.html'])
    expect(await paths('feed')).to.deep.equal(['/e.xml'])
    expect(await paths('*')).to.deep.equal(['/a.html', '/b.html', '/c/d.html', '/e.xml'])
    expect(await paths('h6, #x, entry')).to.deep.equal(['/a.html', '/e.xml'])
    expect(await paths('nothing')).to.deep.equal([])
  })

  it('SES-120 follows what is written, moved and removed', async () => {
    await put(server, '/g.html', page('<p class="late">1</p>'))
    expect(await paths('.late')).to.deep.equal(['/g.html'])
    const Authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    await mount('POST', `${prefix}/g.html`, { Authorization, Range: 'selector=body' }, '<i class="later">2</i>')
    expect(await paths('.later')).to.deep.equal(['/g.html'])
    await mount('MOVE', `${prefix}/c/`, { Authorization, Destination: `${prefix}/h/` })
    expect(await paths('.one')).to.deep.equal(['/a.html', '/e.xml', '/h/d.html'])
    await mount('COPY', `${prefix}/h/`, { Authorization, Destination: `${prefix}/c/` })
    expect(await paths('.one')).to.deep.equal(['/a.html', '/c/d.html', '/e.xml', '/h/d.html'])
    await mount('DELETE', `${prefix}/h/`, { Authorization })
    expect(await paths('.one')).to.deep.equal(['/a.html', '/c/d.html', '/e.xml'])
    await remove(server, '/g.html')
    expect(await paths('.late')).to.deep.equal([])
  })

  it('SES-172 searches and selectors go by it', async () => {
    expect(await ask('@schema T url("u:thing"); T.search().map(t => t.path())')).to.equal('["/b.html"]')
    expect(await ask('@schema T url("u:thing"); T.search({ n: 1 }).count()')).to.equal('1')
    expect(await ask('${p.one}.map(p => p.text())')).to.equal('["2"]')
  })

  it('COMP-138 SES-120 :isa() names documents of the type and its subtypes, of one that is declared later as well', async () => {
    const type = (name: string, parent = '') =>
      `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="u:${name}">${parent && `<meta itemprop="parent" content="u:${parent}">`}</div>`
    const item = (name: string) => page(`<p itemscope itemtype="u:${name}">${name}</p>`)
    await putAll(server, {
      '/m/types.html': page(type('root') + type('leaf', 'root')),
      '/m/a.html': item('root'),
      '/m/b.html': item('leaf'),
      '/m/c.html': item('late'),
      '/m/view.html': composed('<b e:n="${:isa(\'u:root\')}.map(e => e.text())"><p:stamp n/></b>'),
    })
    await put(server, '/m/rules.html', rulesPage(['*', 'GET', 'Allow', '/m/*']))
    const visitor = client(server.port)
    const shown = async () => (await visitor('GET', '/m/view.html')).text.replace(/^.*<b>|<\/b>.*$/gs, '')
    expect(await paths(':isa("u:root")')).to.deep.equal(['/m/a.html', '/m/b.html'])
    for (const _ of [1, 2, 3]) expect(await shown()).to.equal('rootleaf')
    await put(server, '/m/more.html', page(type('late', 'leaf')))
    expect(await paths(':isa("u:root")')).to.deep.equal(['/m/a.html', '/m/b.html', '/m/c.html'])
    expect(await paths(':isa(late)')).to.deep.equal([])
    expect(await shown()).to.equal('rootleaflate')
    await remove(server, '/m/more.html')
    expect(await shown()).to.equal('rootleaf')
  })
})
