/** What PROPFIND asks for and is told: depths, bodies, live properties, sizes (webdav.md section 4). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page } from '../../support/content.ts'
import { takesLess } from '../../support/cost.ts'
import { client, connect, requestBytes } from '../../support/http.ts'
import { readMultistatus } from '../../support/multistatus.ts'
import {
  basic,
  changesNothing,
  list,
  outcomeOf,
  propertiesOf,
  property,
  propfindBody,
  startWire,
  type Wire,
} from '../wire.ts'

const HTML = page('<p>one</p>')

describe('PROPFIND over the wire', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire({ site: { title: 'Notes & Co' } })
    const { dav } = wire
    await dav('PUT', '/docs/b.html', { 'Content-Language': 'de' }, HTML)
    await dav('PUT', '/docs/a.txt', {}, 'abc')
    await dav('PUT', '/docs/Z%20(1)%26.bin', {}, '')
    await dav('MKCOL', '/docs/sub/')
    await dav('PUT', '/docs/sub/deep.txt', {}, 'deep')
  })
  after(() => wire.server.close())

  it('DAV-30 answers for the target and its members in ascending order', async () => {
    const answer = await wire.dav('PROPFIND', '/docs/', { Depth: '1' })
    expect(answer.status).to.equal(207)
    expect(answer.headers).to.include({
      'content-type': 'application/xml; charset=utf-8',
      vary: 'Depth',
      'cache-control': 'no-cache, no-transform',
    })
    expect(answer.headers.etag).to.match(/^"d1-[0-9a-f]{64}"$/)
    expect(answer.text).to.match(/^<\?xml version="1\.0" encoding="utf-8"\?><D:multistatus xmlns:D="DAV:"><D:response>/)
    expect(answer.text).not.to.match(/>\s+</)
    const hrefs = Array.from(answer.text.matchAll(/<D:href>(.*?)<\/D:href><D:propstat>/g), ([, href]) => href)
    expect(hrefs).to.deep.equal(['/docs/', '/docs/Z%20(1)%26.bin', '/docs/a.txt', '/docs/b.html', '/docs/sub/'])
  })

  it('DAV-30 what is found comes first, what is not in one 404', async () => {
    const body = propfindBody('nothing', 'getetag', '{urn:x}none', 'resourcetype')
    const { text } = await wire.dav('PROPFIND', '/docs/a.txt', { Depth: '0' }, body)
    const stats = Array.from(text.matchAll(/<D:propstat>.*?<D:status>(.*?)<\/D:status>/g), ([, status]) => status)
    expect(stats).to.deep.equal(['HTTP/1.1 200 OK', 'HTTP/1.1 404 Not Found'])
  })

  it('DAV-30 nothing there is 404', async () => {
    for (const path of ['/none', '/none/', '/docs/a.txt/', '/docs/none.html'])
      expect(outcomeOf(await wire.dav('PROPFIND', path)), path).to.equal('404 NotFound')
  })

  const DEPTHS: [name: string, depth: string | string[] | undefined, collection: string, file: string][] = [
    ['0', '0', '1', '1'],
    ['1', '1', '5', '1'],
    ['absent', undefined, '5', '1'],
    ['1,noroot', '1,noroot', '4', '1'],
    ['1, NoRoot', '1, NoRoot', '4', '1'],
    ['infinity', 'infinity', '403 FiniteDepthOnly', '1'],
    ['Infinity', 'Infinity', '403 FiniteDepthOnly', '1'],
    ['2', '2', '400 BadRequest', '400 BadRequest'],
    ['every', 'every', '400 BadRequest', '400 BadRequest'],
    ['01', '01', '400 BadRequest', '400 BadRequest'],
    ['-1', '-1', '400 BadRequest', '400 BadRequest'],
    ['empty', '', '400 BadRequest', '400 BadRequest'],
    ['sent twice', ['0', '0'], '400 BadRequest', '400 BadRequest'],
    ['sent twice, differently', ['1', 'infinity'], '400 BadRequest', '400 BadRequest'],
  ]
  for (const [name, depth, collection, file] of DEPTHS)
    it(`DAV-31 Depth ${name}: ${collection} of a collection, ${file} of a file`, async () => {
      for (const [path, expected] of [
        ['/docs/', collection],
        ['/docs', collection],
        ['/docs/a.txt', file],
      ] as const) {
        const answer = await wire.dav('PROPFIND', path, { Depth: depth })
        const got = answer.status === 207 ? String(readMultistatus(answer.text).size) : outcomeOf(answer)
        expect(got, path).to.equal(expected)
      }
    })

  it('DAV-31 infinity names its precondition', async () => {
    const { text } = await wire.dav('PROPFIND', '/', { Depth: 'infinity' })
    expect(text).to.match(/^<D:error xmlns:D="DAV:"><D:propfind-finite-depth><\/D:propfind-finite-depth><article /)
  })

  const start = '<D:propfind xmlns:D="DAV:">'
  const WELL: [name: string, body: string | Buffer, properties: string][] = [
    ['nothing', '', 'allprop'],
    ['white space', ' \r\n\t', 'allprop'],
    ['allprop', `${start}<D:allprop/></D:propfind>`, 'allprop'],
    ['another prefix', '<propfind xmlns="DAV:"><allprop/></propfind>', 'allprop'],
    [
      'an XML declaration',
      `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${start}<D:allprop/></D:propfind>`,
      'allprop',
    ],
    ['a byte order mark', `\ufeff${start}<D:allprop/></D:propfind>`, 'allprop'],
    ['UTF-16', Buffer.from(`\ufeff${start}<D:allprop/></D:propfind>`, 'utf16le'), 'allprop'],
    ['comments and instructions', `<!-- a --><?x y?>${start}<!-- b --><D:allprop/></D:propfind><!-- c -->`, 'allprop'],
    ['unknown elements', `${start}<x xmlns="urn:x"><y/></x><D:allprop/><D:later/></D:propfind>`, 'allprop'],
    ['prop', propfindBody('getetag', 'resourcetype'), 'getetag resourcetype'],
    ['prop with nothing', `${start}<D:prop/></D:propfind>`, ''],
    ['prop twice the same', propfindBody('getetag', 'getetag'), 'getetag'],
  ]
  for (const [name, body, expected] of WELL)
    it(`DAV-32 takes ${name}`, async () => {
      const answer = await wire.dav('PROPFIND', '/docs/a.txt', { Depth: '0', 'Content-Type': 'image/png' }, body)
      expect(answer.status, answer.text).to.equal(207)
      const [properties = new Map()] = readMultistatus(answer.text).values()
      const all =
        'creationdate displayname getcontentlength getcontenttype getetag getlastmodified resourcetype lockdiscovery supportedlock'
      expect([...properties.keys()].join(' ')).to.equal(expected === 'allprop' ? all : expected)
    })

  it('DAV-32 include adds to allprop, propname tells names alone', async () => {
    const body = `${start}<D:allprop/><D:include><D:current-user-privilege-set/><D:getetag/></D:include></D:propfind>`
    const [included = new Map()] = readMultistatus(
      (await wire.dav('PROPFIND', '/docs/a.txt', { Depth: '0' }, body)).text,
    ).values()
    expect([...included.keys()].slice(-1)).to.deep.equal(['current-user-privilege-set'])
    const { text } = await wire.dav('PROPFIND', '/docs/a.txt', { Depth: '0' }, `${start}<D:propname/></D:propfind>`)
    const [names = new Map()] = readMultistatus(text).values()
    expect([...names.values()].every(({ value, status }) => value === '' && status === 200)).to.equal(true)
    expect([...names.keys()]).to.include('getetag')
  })

  const BAD: [name: string, body: string | Buffer][] = [
    ['no XML', 'hello'],
    ['an open element', `${start}<D:allprop>`],
    ['crossed elements', `${start}<D:prop><D:a></D:prop></D:a></D:propfind>`],
    ['an undeclared prefix', '<D:propfind><D:allprop/></D:propfind>'],
    ['an undeclared prefix inside', `${start}<D:prop><x:y/></D:prop></D:propfind>`],
    ['a prefix bound to nothing', `${start}<D:prop><x:y xmlns:x=""/></D:prop></D:propfind>`],
    ['another root', '<D:propertyupdate xmlns:D="DAV:"/>'],
    ['the root in no namespace', '<propfind><allprop/></propfind>'],
    ['the root in another namespace', '<propfind xmlns="dav:"><allprop/></propfind>'],
    ['none of the three forms', `${start}</D:propfind>`],
    ['a form in another namespace', `${start}<allprop/></D:propfind>`],
    ['a document type', `<!DOCTYPE propfind>${start}<D:allprop/></D:propfind>`],
    [
      'an external entity',
      `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${start}<D:prop><D:a>&e;</D:a></D:prop></D:propfind>`,
    ],
    ['an undeclared entity', `${start}<D:prop><D:a>&e;</D:a></D:prop></D:propfind>`],
    ['an attribute twice', `${start}<D:prop><D:a b="1" b="2"/></D:prop></D:propfind>`],
    ['two roots', `${start}<D:allprop/></D:propfind>${start}<D:allprop/></D:propfind>`],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from(start), Buffer.from([0xff, 0xfe]), Buffer.from('</D:propfind>')]),
    ],
    ['a control character', `${start}<D:prop>\u0001</D:prop></D:propfind>`],
    ['only a byte order mark', '\ufeff'],
    ['XML 1.1 tricks', `<?xml version="1.1"?>${start}<D:prop>&#1;</D:prop></D:propfind>`],
  ]
  for (const [name, body] of BAD)
    it(`DAV-32 400 for ${name}`, () =>
      changesNothing(wire.server, async () => {
        expect(outcomeOf(await wire.dav('PROPFIND', '/docs/', { Depth: '0' }, body))).to.equal('400 MalformedXml')
      }))

  it('DAV-32 over 1 MiB is 413, declared or not', async () => {
    const body = `${start}<D:allprop/>${' '.repeat(1024 * 1024)}</D:propfind>`
    expect((await wire.dav('PROPFIND', '/docs/', {}, body)).status).to.equal(413)
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    expect((await wire.dav('PROPFIND', '/docs/', { 'Transfer-Encoding': 'chunked' }, chunked)).status).to.equal(413)
  })

  it('DAV-32 chunked bodies are bodies', async () => {
    const connection = await connect(wire.port)
    const { user, password } = wire.server
    const fields = { Authorization: basic(user, password), Depth: '0', 'Transfer-Encoding': 'chunked' }
    connection.send(requestBytes('PROPFIND', '/docs/', fields))
    const body = propfindBody('displayname')
    for (const part of [body.slice(0, 9), body.slice(9)]) connection.send(`${part.length.toString(16)}\r\n${part}\r\n`)
    connection.send('0\r\n\r\n')
    const { text } = await connection.receive()
    connection.close()
    expect([...(readMultistatus(text).get('/docs/')?.keys() ?? [])]).to.deep.equal(['displayname'])
  })

  const LIVE: [name: string, file: RegExp, collection: RegExp][] = [
    ['creationdate', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
    ['displayname', /^b\.html$/, /^docs$/],
    ['getcontentlength', new RegExp(`^${HTML.length}$`), /^404$/],
    ['getcontenttype', /^text\/html$/, /^404$/],
    ['getcontentlanguage', /^de$/, /^404$/],
    ['getetag', /^"[0-9a-f]{48}"$/, /^"d0-[0-9a-f]{64}"$/],
    ['getlastmodified', /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/],
    ['resourcetype', /^$/, /^collection$/],
    ['lockdiscovery', /^$/, /^$/],
    [
      'supportedlock',
      /^lockentry lockscope exclusive locktype write lockentry lockscope shared locktype write$/,
      /shared/,
    ],
    ['quota-available-bytes', /^404$/, /^404$/],
    ['quota-used-bytes', /^404$/, /^404$/],
    ['quota', /^404$/, /^404$/],
    ['quotaused', /^404$/, /^404$/],
    ['lastmodified', /^404$/, /^404$/],
    ['{http://www.apple.com/webdav_fs/props/}appledoubleheader', /^404$/, /^404$/],
    ['{http://ucb.openoffice.org/dav/props/}IsReadOnly', /^404$/, /^404$/],
    ['{http://apache.org/dav/props/}executable', /^404$/, /^404$/],
    [
      'current-user-privilege-set',
      /^privilege read privilege write privilege write-content privilege write-properties privilege bind privilege unbind privilege unlock$/,
      /^privilege read privilege write /,
    ],
    ['{http://owncloud.org/ns}checksums', /^SHA1:[0-9a-f]{40} MD5:[0-9a-f]{32}$/, /^404$/],
  ]
  for (const [name, file, collection] of LIVE)
    it(`DAV-33 ${name}`, async () => {
      expect(await property(wire.dav, '/docs/b.html', name), 'file').to.match(file)
      expect(await property(wire.dav, '/docs/', name), 'collection').to.match(collection)
    })

  it('DAV-33 names are escaped, the root has the name of the site', async () => {
    expect(await property(wire.dav, '/docs/Z%20(1)%26.bin', 'displayname')).to.equal('Z (1)&.bin')
    expect(await property(wire.dav, '/', 'displayname')).to.equal('Notes & Co')
  })

  it('DAV-33 the type is told verbatim', async () => {
    const type = 'text/plain;charset="x&<y>"; a=b'
    await wire.dav('PUT', '/docs/sub/typed', { 'Content-Type': type }, 'x')
    expect(await property(wire.dav, '/docs/sub/typed', 'getcontenttype')).to.equal(type)
    expect((await wire.dav('GET', '/docs/sub/typed')).headers['content-type']).to.equal(type)
  })

  it('DAV-12 hrefs of collections end in a slash, and Content-Location tells it', async () => {
    const answer = await wire.dav('PROPFIND', '/docs/sub', { Depth: '0' })
    expect([...readMultistatus(answer.text).keys()]).to.deep.equal(['/docs/sub/'])
    expect(answer.headers['content-location']).to.equal('/docs/sub/')
    expect((await wire.dav('PROPFIND', '/docs/sub/', { Depth: '0' })).headers).not.to.have.property('content-location')
  })

  for (const fields of [{ Prefer: 'return=minimal' }, { Prefer: 'wait=1, return=minimal' }, { Brief: 't' }])
    it(`DAV-37 ${Object.entries(fields).flat().join(': ')} drops what was not found`, async () => {
      const { text } = await wire.dav('PROPFIND', '/docs/', { Depth: '0', ...fields }, propfindBody('getetag', 'none'))
      expect(text).to.include('200 OK').and.not.include('404 Not Found')
    })

  describe('DAV-37 a thousand members', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `file-${String(i).padStart(4, '0')}.txt`)
    const four = propfindBody('creationdate', 'getcontentlength', 'getlastmodified', 'resourcetype')
    const nameBytes = names.reduce((sum, name) => sum + `/many/${name}`.length, 0)
    before(async () => {
      const { user, password } = wire.server
      const own = client(wire.port, { Authorization: basic(user, password) })
      for (let i = 0; i < names.length; i += 50)
        await Promise.all(names.slice(i, i + 50).map(name => own('PUT', `/many/${name}`, {}, 'x')))
    })

    for (const [name, body, each] of [
      ['the four that Windows asks for', four, 450],
      ['allprop', undefined, 900],
    ] as const)
      it(`${name}: at most ${each} bytes for each beside its name`, async () => {
        const answer = await wire.dav('PROPFIND', '/many/', { Depth: '1' }, body)
        expect(readMultistatus(answer.text).size).to.equal(1001)
        expect((answer.body.length - nameBytes) / 1001).to.be.at.most(each)
        if (each === 450) expect(answer.body.length).to.be.below(1_000_000)
      })

    it('a listing is no work for each member', () =>
      // About 50 ms.
      takesLess(150, () => wire.dav('PROPFIND', '/many/', { Depth: '1' }, four)))
  })

  it('DAV-34 a name in no namespace is legal and comes back', async () => {
    const body = '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><plain>v</plain></D:prop></D:set></D:propertyupdate>'
    expect((await wire.dav('PROPPATCH', '/docs/a.txt', {}, body)).status).to.equal(207)
    expect((await propertiesOf(wire.dav, '/docs/a.txt')).get('{}plain')).to.deep.equal({ status: 200, value: 'v' })
    expect([...(await list(wire.dav, '/docs/')).keys()].length).to.equal(5)
  })
})
