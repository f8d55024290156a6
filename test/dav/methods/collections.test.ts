/** MKCOL, COPY and MOVE over the wire: situations, depths, what goes along, all or nothing (DAV-8, DAV-47, DAV-48). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page } from '../../support/content.ts'
import type { Client, Fields } from '../../support/http.ts'
import { changesNothing, list, outcomeOf, property, propertyUpdate, shown, startWire, to, type Wire } from '../wire.ts'

const extended = (content: string) =>
  `<D:mkcol xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop>${content}</D:prop></D:set></D:mkcol>`
const COLLECTION = '<D:resourcetype><D:collection/></D:resourcetype>'
const XML = { 'Content-Type': 'application/xml' }

describe('collections over the wire', () => {
  let wire: Wire
  let dav: Client
  let count = 0
  let at = ''
  before(async () => {
    wire = await startWire()
    dav = wire.dav
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/t${++count}/`
    await dav('MKCOL', at)
    await dav('MKCOL', `${at}from/`)
    await dav('PUT', `${at}from/a.html`, {}, page('a'))
    await dav('PUT', `${at}from/sub/b.txt`, {}, 'b')
    await dav('PROPPATCH', `${at}from/`, {}, propertyUpdate(['{urn:x}color', 'red']))
    await dav('PROPPATCH', `${at}from/a.html`, {}, propertyUpdate(['{urn:x}color', 'blue']))
    await dav('PUT', `${at}f.txt`, {}, 'file')
    await dav('PUT', `${at}into/old.txt`, {}, 'old')
  })

  /** Everything below a collection: path and content. */
  async function tree(path: string): Promise<string[]> {
    const lines: string[] = []
    for (const member of [...(await list(dav, path)).keys()].slice(1))
      if (member.endsWith('/'))
        lines.push(member.slice(path.length), ...(await tree(member)).map(line => member.slice(path.length) + line))
      else lines.push(`${member.slice(path.length)}: ${(await dav('GET', member)).text.replace(page('a'), 'a')}`)
    return lines
  }
  const FROM = ['a.html: a', 'sub/', 'sub/b.txt: b']

  const MKCOLS: [name: string, path: string, fields: Fields, body: string | undefined, outcome: string][] = [
    ['a new one', 'new/', {}, undefined, '201'],
    ['a new one without slash', 'new', {}, undefined, '201'],
    ['one that is there', 'from/', {}, undefined, '405 DirectoryAlreadyExists'],
    ['one that is there, without slash', 'from', {}, undefined, '405 DirectoryAlreadyExists'],
    ['a file that is there', 'f.txt', {}, undefined, '405 MethodNotAllowed'],
    ['a file that is there, with slash', 'f.txt/', {}, undefined, '405 MethodNotAllowed'],
    ['a missing parent', 'no/new/', {}, undefined, '409 ParentDirectoryMissing'],
    ['a file as parent', 'f.txt/new/', {}, undefined, '409 ParentDirectoryMissing'],
    ['a body that is no XML', 'new/', { 'Content-Type': 'text/plain' }, 'hello', '415 UnsupportedMediaType'],
    ['a body without type', 'new/', {}, 'hello', '415 UnsupportedMediaType'],
    ['malformed XML', 'new/', XML, '<x', '400 MalformedXml'],
    ['another root', 'new/', XML, '<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>', '400 MalformedXml'],
    ['the extended form', 'new/', XML, extended(`${COLLECTION}<x:color>red</x:color>`), '201'],
    [
      'another type',
      'new/',
      XML,
      extended('<D:resourcetype><D:collection/><x:calendar/></D:resourcetype>'),
      '403 Forbidden',
    ],
    ['no type at all', 'new/', XML, extended('<D:resourcetype/>'), '403 Forbidden'],
    [
      'a protected property',
      'new/',
      XML,
      extended(`${COLLECTION}<D:getetag>"x"</D:getetag><x:color>red</x:color>`),
      '403',
    ],
    ['If-None-Match: * over nothing', 'new/', { 'If-None-Match': '*' }, undefined, '201'],
    ['If-None-Match: * over something', 'from/', { 'If-None-Match': '*' }, undefined, '412 PreconditionFailed'],
  ]
  for (const [name, path, fields, body, outcome] of MKCOLS)
    it(`DAV-47 MKCOL of ${name}: ${outcome}`, async () => {
      const run = () => dav('MKCOL', at + path, fields, body)
      const answer = outcome === '201' ? await run() : await changesNothing(wire.server, run)
      expect(outcomeOf(answer)).to.equal(outcome)
      if (outcome === '201') expect(await property(dav, `${at}new/`, 'resourcetype')).to.equal('collection')
    })

  it('DAV-47 the extended form sets properties', async () => {
    await dav('MKCOL', `${at}new/`, XML, extended(`${COLLECTION}<x:color>red</x:color>`))
    expect(await property(dav, `${at}new/`, '{urn:x}color')).to.equal('red')
  })

  it('DAV-47 a refusal tells property by property', async () => {
    const answer = await dav('MKCOL', `${at}new/`, XML, extended(`${COLLECTION}<D:getetag>"x"</D:getetag><x:color/>`))
    expect(answer.headers['content-type']).to.equal('application/xml; charset=utf-8')
    expect(answer.text).to.match(/^<\?xml [^>]*><D:mkcol-response xmlns:D="DAV:"><D:propstat>/)
    expect(answer.text).to.include('403 Forbidden').and.include('424 Failed Dependency')
    const alone = await dav('MKCOL', `${at}new/`, XML, extended(`${COLLECTION}<D:getetag>"x"</D:getetag>`))
    const failed = '<D:prop><D:resourcetype/></D:prop><D:status>HTTP/1.1 424 Failed Dependency</D:status>'
    expect(alone.text).to.include('403 Forbidden').and.include(failed)
    const type = await dav('MKCOL', `${at}new/`, XML, extended('<D:resourcetype><x:y/></D:resourcetype>'))
    expect(type.text).to.include('<D:valid-resourcetype></D:valid-resourcetype>')
  })

  type Case = [name: string, from: string, destination: string, fields: Fields, copy: string, move: string]
  const TRANSFERS: Case[] = [
    ['a file to a new name', 'f.txt', 'g.txt', {}, '201', '201'],
    ['a file over a file', 'f.txt', 'into/old.txt', {}, '204', '204'],
    ['a file over a file, Overwrite: T', 'f.txt', 'into/old.txt', { Overwrite: 'T' }, '204', '204'],
    [
      'a file over a file, Overwrite: F',
      'f.txt',
      'into/old.txt',
      { Overwrite: 'F' },
      '412 PreconditionFailed',
      '412 PreconditionFailed',
    ],
    [
      'a file over a file, Overwrite: f',
      'f.txt',
      'into/old.txt',
      { Overwrite: 'f' },
      '412 PreconditionFailed',
      '412 PreconditionFailed',
    ],
    [
      'a file over a file, Overwrite: F twice',
      'f.txt',
      'into/old.txt',
      { Overwrite: ['F', 'F'] },
      '412 PreconditionFailed',
      '412 PreconditionFailed',
    ],
    ['a file to a new name, Overwrite: F', 'f.txt', 'g.txt', { Overwrite: 'F' }, '201', '201'],
    ['a file over a collection', 'f.txt', 'into', {}, '204', '204'],
    [
      'a file into a missing collection',
      'f.txt',
      'no/g.txt',
      {},
      '409 ParentDirectoryMissing',
      '409 ParentDirectoryMissing',
    ],
    ['a file below a file', 'f.txt', 'into/old.txt/g', {}, '409 ParentDirectoryMissing', '409 ParentDirectoryMissing'],
    ['a file onto itself', 'f.txt', 'f.txt', {}, '403 IllegalMove', '403 IllegalMove'],
    ['a file onto itself, with a slash', 'f.txt', 'f.txt/', {}, '403 IllegalMove', '403 IllegalMove'],
    ['a collection', 'from/', 'to/', {}, '201', '201'],
    ['a collection without slashes', 'from', 'to', {}, '201', '201'],
    ['a collection over a collection', 'from/', 'into/', {}, '204', '204'],
    ['a collection over a file', 'from/', 'f.txt', {}, '204', '204'],
    ['a collection onto itself', 'from/', 'from', {}, '403 IllegalMove', '403 IllegalMove'],
    ['a collection into itself', 'from/', 'from/in/', {}, '403 IllegalMove', '403 IllegalMove'],
    ['a collection over one it lies in', 'from/sub/', 'from/', {}, '403 IllegalMove', '403 IllegalMove'],
    [
      'a collection into a missing one',
      'from/',
      'no/to/',
      {},
      '409 ParentDirectoryMissing',
      '409 ParentDirectoryMissing',
    ],
    ['nothing', 'none', 'g.txt', {}, '404 NotFound', '404 NotFound'],
    ['a file with a slash', 'f.txt/', 'g.txt', {}, '404 NotFound', '404 NotFound'],
    ['a collection, Depth: infinity', 'from/', 'to/', { Depth: 'infinity' }, '201', '201'],
    ['a collection, Depth: 0', 'from/', 'to/', { Depth: '0' }, '201', '400 BadRequest'],
    ['a collection, Depth: 1', 'from/', 'to/', { Depth: '1' }, '400 BadRequest', '400 BadRequest'],
    ['a file, Depth: 0', 'f.txt', 'g.txt', { Depth: '0' }, '201', '201'],
  ]
  for (const [name, from, destination, fields, copy, move] of TRANSFERS)
    for (const [method, outcome] of [
      ['COPY', copy],
      ['MOVE', move],
    ] as const)
      it(`DAV-48 ${method} ${name}: ${outcome}`, async () => {
        const run = () => dav(method, at + from, to(at + destination, fields))
        if (!outcome.startsWith('20')) {
          expect(outcomeOf(await changesNothing(wire.server, run))).to.equal(outcome)
          return
        }
        const answer = await run()
        expect([outcomeOf(answer), answer.body.length]).to.deep.equal([outcome, 0])
        const isCollection = from.startsWith('from')
        const target = at + destination.replace(/\/?$/, isCollection ? '/' : '')
        if (isCollection) expect(await tree(target)).to.deep.equal(fields.Depth === '0' ? [] : FROM)
        else expect((await dav('GET', target)).text).to.equal('file')
        expect((await dav('PROPFIND', at + from, { Depth: '0' })).status, 'the source').to.equal(
          method === 'COPY' ? 207 : 404,
        )
        if (!isCollection) return
        expect(await property(dav, target, '{urn:x}color')).to.equal('red')
        if (fields.Depth !== '0') expect(await property(dav, `${target}a.html`, '{urn:x}color')).to.equal('blue')
      })

  it('DAV-48 the type follows the source, unless the name decides (HTTP-20)', async () => {
    await dav('PUT', `${at}typed`, { 'Content-Type': 'text/x-own' }, 't')
    await dav('COPY', `${at}typed`, to(`${at}other`))
    expect(await property(dav, `${at}other`, 'getcontenttype')).to.equal('text/x-own')
    expect((await dav('COPY', `${at}typed`, to(`${at}typed.html`))).status).to.equal(201)
    expect(await property(dav, `${at}typed.html`, 'getcontenttype')).to.match(/^text\/html/)
  })

  it('DAV-11 MOVE changes the case of a name', async () => {
    expect((await dav('MOVE', `${at}f.txt`, to(`${at}F.TXT`))).status).to.equal(201)
    expect([...(await list(dav, at)).keys()])
      .to.include(`${at}F.TXT`)
      .and.not.include(`${at}f.txt`)
  })

  it('DAV-48 HTTP-46 with ranges it moves an element, and COPY is refused', async () => {
    await dav('PUT', `${at}list.html`, {}, page('<p id="a">a</p><p id="b">b</p>'))
    const fields = { Range: 'selector=#a', 'Destination-Range': 'selector=#b; placement=after' }
    const answer = await dav('MOVE', `${at}list.html`, to(`${at}list.html`, fields))
    expect(answer.status, answer.text).to.be.oneOf([204, 206])
    expect(await shown(wire.visitor, `${at}list.html`)).to.include('<p id="b">b</p><p id="a">a</p>')
    await changesNothing(wire.server, async () => {
      const across = await dav('MOVE', `${at}list.html`, to(`${at}from/a.html`, fields))
      expect(across.status).to.equal(501)
      expect(outcomeOf(await dav('MOVE', `${at}list.html`, to(`${at}list.html`, { Range: 'selector=#a' })))).to.equal(
        '422 MoveMissingHeaders',
      )
      // The whole would replace what is there.
      for (const only of [fields, { Range: fields.Range }, { 'Destination-Range': fields['Destination-Range'] }])
        expect(
          outcomeOf(await dav('COPY', `${at}list.html`, to(`${at}from/a.html`, only))),
          JSON.stringify(only),
        ).to.equal('400 InvalidRange')
    })
  })

  it('DAV-8 one locked member refuses the whole', async () => {
    const LOCK =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
    const { headers } = await dav('LOCK', `${at}from/sub/b.txt`, {}, LOCK)
    await changesNothing(wire.server, async () => {
      for (const answer of [
        await dav('DELETE', `${at}from/`),
        await dav('MOVE', `${at}from/`, to(`${at}to/`)),
        await dav('COPY', `${at}into/`, to(`${at}from/`)),
        await dav('DELETE', at),
      ]) {
        expect(outcomeOf(answer)).to.equal('423 Locked')
        expect(answer.text).to.include(`${at}from/sub/b.txt`)
      }
    })
    await dav('UNLOCK', `${at}from/sub/b.txt`, { 'Lock-Token': headers['lock-token'] })
    expect((await dav('MOVE', `${at}from/`, to(`${at}to/`))).status).to.equal(201)
  })

  it('DAV-6 visitors hear of every document that came and went', async () => {
    const eventsOf = async (path: string) => {
      const events = await wire.server.site.store.events(at + path)
      return events.map(({ payload }) => /itemprop="method">(\w+)</.exec(payload)?.[1])
    }
    await dav('MOVE', `${at}from/`, to(`${at}to/`))
    expect((await eventsOf('from/a.html')).at(-1)).to.equal('DELETE')
    expect((await eventsOf('to/a.html')).length).to.equal(1)
    expect(await shown(wire.visitor, `${at}to/a.html`)).to.equal(page('a'))
    expect(await shown(wire.visitor, `${at}from/a.html`)).to.equal('404')
  })
})
