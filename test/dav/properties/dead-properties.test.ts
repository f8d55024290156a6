/** Dead properties, their fate, and times set by clients (DAV-34 to DAV-36). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page } from '../../support/content.ts'
import type { Client } from '../../support/http.ts'
import { readMultistatus } from '../../support/multistatus.ts'
import {
  changesNothing,
  outcomeOf,
  propertiesOf,
  property,
  propertyUpdate,
  shown,
  startWire,
  to,
  type Wire,
} from '../wire.ts'

const WINDOWS = 'urn:schemas-microsoft-com:'
const update = (content: string) =>
  `<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop>${content}</D:prop></D:set></D:propertyupdate>`

describe('properties over the wire', () => {
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
    at = `/p${++count}/`
    await dav('PUT', `${at}x.html`, {}, page('x'))
  })

  /** Status by name of a PROPPATCH. */
  async function patch(path: string, body: string): Promise<Record<string, number>> {
    const answer = await dav('PROPPATCH', path, {}, body)
    expect(answer.status, answer.text).to.equal(207)
    const [told = new Map()] = readMultistatus(answer.text).values()
    return Object.fromEntries([...told].map(([name, { status }]) => [name, status]))
  }

  /** The text of a property's element as it came. */
  async function element(path: string, local: string): Promise<string> {
    const { text } = await dav('PROPFIND', path, { Depth: '0' })
    return new RegExp(`<((?:\\w+:)?${local})\\b[^>]*?(?:/>|>.*?</\\1>)`, 's').exec(text)?.[0] ?? 'not there'
  }

  const VALUES: [name: string, set: string, expected: RegExp][] = [
    ['text', '<x:a>hello</x:a>', />hello</],
    ['nothing', '<x:a/>', /^<x:a xmlns:x="urn:x"(\/>|><\/x:a>)$/],
    ['white space', '<x:a>  two \n lines </x:a>', /> {2}two \n lines </],
    ['escaped text', '<x:a>&lt;b&gt; &amp; &#x1F600;</x:a>', />&lt;b(&gt;|>) &amp; 😀</u],
    ['CDATA', '<x:a><![CDATA[<b>]]></x:a>', />&lt;b(&gt;|>)</],
    [
      'elements',
      '<x:a>one <x:b c="d">two</x:b><e xmlns="urn:e"/></x:a>',
      />one <x:b c="d">two<\/x:b><e xmlns="urn:e"(\/>|><\/e>)</,
    ],
    ['elements of XML itself', '<x:a>one <xml:b/></x:a>', />one <xml:b\/></],
    ['attributes', '<x:a x:k="v" plain="w">t</x:a>', /x:k="v".*>t<|plain="w".*>t</],
    ['a language', '<x:a xml:lang="de">Hallo</x:a>', /xml:lang="de"[^>]*>Hallo</],
  ]
  for (const [name, set, expected] of VALUES)
    it(`DAV-34 keeps ${name}`, async () => {
      for (const path of [`${at}x.html`, at]) {
        expect(await patch(path, update(set))).to.deep.equal({ '{urn:x}a': 200 })
        expect(await element(path, 'a')).to.match(expected)
      }
    })

  it('DAV-34 a language above counts, too', async () => {
    await patch(
      at,
      '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop xml:lang="fr"><a xmlns="urn:x">Salut</a></D:prop></D:set></D:propertyupdate>',
    )
    expect(await element(at, 'a')).to.include('xml:lang="fr"')
  })

  it('DAV-34 they survive PUT, go with MOVE, are copied by COPY and vanish with DELETE', async () => {
    const path = `${at}x.html`
    await patch(path, update('<x:a>1</x:a>'))
    await dav('PUT', path, {}, page('new'))
    expect(await property(dav, path, '{urn:x}a'), 'PUT').to.equal('1')
    await dav('COPY', path, to(`${at}copy.html`))
    await dav('MOVE', path, to(`${at}moved.html`))
    expect(await property(dav, `${at}copy.html`, '{urn:x}a'), 'COPY').to.equal('1')
    expect(await property(dav, `${at}moved.html`, '{urn:x}a'), 'MOVE').to.equal('1')
    await dav('DELETE', `${at}moved.html`)
    await dav('PUT', `${at}moved.html`, {}, page('again'))
    expect(await property(dav, `${at}moved.html`, '{urn:x}a'), 'DELETE').to.equal('404')
  })

  it('DAV-34 they are never on the public surface nor in the bytes', async () => {
    await patch(`${at}x.html`, update('<x:secret>hush</x:secret>'))
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('x'))
    expect((await dav('GET', `${at}x.html`)).text).to.equal(page('x'))
  })

  it('DAV-35 set and remove in document order', async () => {
    const name = '{urn:x}a'
    const path = `${at}x.html`
    for (const [steps, expected] of [
      [
        [
          [name, '1'],
          [name, '2'],
        ],
        '2',
      ],
      [[[name, '1'], [name]], '404'],
      [[[name], [name, '3']], '3'],
    ] as [[string, string?][], string][]) {
      expect(await patch(path, propertyUpdate(...steps))).to.deep.equal({ [name]: 200 })
      expect(await property(dav, path, name)).to.equal(expected)
    }
    expect(await patch(path, propertyUpdate(['{urn:x}never']))).to.deep.equal({ '{urn:x}never': 200 })
  })

  for (const name of [
    'creationdate',
    'getcontentlength',
    'getcontenttype',
    'getetag',
    'getlastmodified',
    'resourcetype',
    'lockdiscovery',
    'supportedlock',
    'quota-used-bytes',
    'sync-token',
  ])
    it(`DAV-33 DAV-35 ${name} is protected, and nothing else is done`, () =>
      changesNothing(wire.server, async () => {
        for (const path of [`${at}x.html`, at]) {
          const body = propertyUpdate(['{urn:x}a', '1'], [name, 'x'], ['{urn:x}b', '2'])
          expect(await patch(path, body)).to.deep.equal({ '{urn:x}a': 424, [name]: 403, '{urn:x}b': 424 })
          const { text } = await dav('PROPPATCH', path, {}, body)
          expect(text).to.include('<D:error><D:cannot-modify-protected-property/></D:error>')
        }
      }))

  const BAD: [name: string, body: string][] = [
    ['nothing', ''],
    ['no XML', 'x'],
    ['another root', '<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>'],
    ['nothing to do', '<D:propertyupdate xmlns:D="DAV:"/>'],
    ['no prop', '<D:propertyupdate xmlns:D="DAV:"><D:set/></D:propertyupdate>'],
  ]
  for (const [name, body] of BAD)
    it(`DAV-35 400 for ${name}`, async () => {
      expect(outcomeOf(await dav('PROPPATCH', `${at}x.html`, {}, body))).to.equal('400 MalformedXml')
    })

  it('DAV-35 nothing there is 404', async () => {
    expect(outcomeOf(await dav('PROPPATCH', `${at}none`, {}, update('<x:a/>')))).to.equal('404 NotFound')
  })

  it('DAV-35 names are echoed with their namespace declared', async () => {
    const { text } = await dav('PROPPATCH', at, {}, propertyUpdate([`{${WINDOWS}}Win32FileAttributes`, '00000020']))
    expect(text).to.include(`Win32FileAttributes xmlns:x="${WINDOWS}"`).and.not.include(`${WINDOWS}Win32`)
  })

  for (const set of ['<xml:b>t</xml:b>', '<xml:b/>', '<xml:b k="v">t</xml:b>', '<x:b><xml:b>t</xml:b></x:b>'])
    it(`DAV-35 whoever lists a folder can read the answer where somebody has set ${set}`, async () => {
      const [name = ''] = Object.keys(await patch(`${at}x.html`, update(set)))
      const { text } = await dav('PROPFIND', at, { Depth: '1' })
      expect([...(readMultistatus(text).get(`${at}x.html`) ?? [])].map(([each]) => each)).to.include(name)
      expect(name).to.match(/^\{(http:\/\/www\.w3\.org\/XML\/1998\/namespace|urn:x)\}b$/)
    })

  it('DAV-33 displayname and language can be set', async () => {
    const path = `${at}x.html`
    expect(
      await patch(path, propertyUpdate(['displayname', 'A &amp; B'], ['getcontentlanguage', 'de-AT'])),
    ).to.deep.equal({
      displayname: 200,
      getcontentlanguage: 200,
    })
    expect(await property(dav, path, 'displayname')).to.equal('A & B')
    expect(await property(dav, path, 'getcontentlanguage')).to.equal('de-AT')
    await patch(path, propertyUpdate(['displayname']))
    expect(await property(dav, path, 'displayname')).to.equal('x.html')
    expect((await propertiesOf(dav, path)).has('displayname')).to.equal(true)
  })

  it('DAV-33 checksums are those of the bytes, and setting them is taken without effect', async () => {
    await dav('PUT', `${at}sum.txt`, {}, 'abc')
    const name = '{http://owncloud.org/ns}checksums'
    expect(await patch(`${at}sum.txt`, propertyUpdate([name, 'x']))).to.deep.equal({ [name]: 200 })
    expect(await property(dav, `${at}sum.txt`, name)).to.match(
      /^(checksum|SHA1:a9993e364706816aba3e25717850c26c9cd0d89d MD5:900150983cd24fb0d6963f7d28e17f72)$/,
    )
    const { text } = await dav(
      'PROPFIND',
      `${at}sum.txt`,
      {},
      '<propfind xmlns="DAV:"><prop><checksums xmlns="http://owncloud.org/ns"/></prop></propfind>',
    )
    expect(text).to.include('>SHA1:a9993e364706816aba3e25717850c26c9cd0d89d MD5:900150983cd24fb0d6963f7d28e17f72<')
  })

  const TIME = 'Sat, 14 Mar 2026 09:26:53 GMT'
  const TIMES: [name: string, run: (path: string) => Promise<unknown>][] = [
    ['X-OC-Mtime', path => dav('PUT', path, { 'X-OC-Mtime': '1773480413' }, page('x'))],
    ['X-OC-Mtime with a fraction', path => dav('PUT', path, { 'X-OC-Mtime': '1773480413.75' }, page('x'))],
    ['lastmodified', path => patch(path, propertyUpdate(['lastmodified', '1773480413']))],
    ['Win32LastModifiedTime', path => patch(path, propertyUpdate([`{${WINDOWS}}Win32LastModifiedTime`, TIME]))],
  ]
  for (const [name, run] of TIMES)
    it(`DAV-36 ${name} sets the time on the mount until the next PUT, and not for visitors`, async () => {
      const path = `${at}x.html`
      await run(path)
      expect(await property(dav, path, 'getlastmodified')).to.equal(TIME)
      expect((await dav('HEAD', path)).headers['last-modified']).to.equal(TIME)
      expect((await wire.visitor('HEAD', path)).headers['last-modified']).not.to.equal(TIME)
      await dav('PUT', path, {}, page('later'))
      expect((await dav('HEAD', path)).headers['last-modified']).not.to.equal(TIME)
    })

  it('DAV-36 tells that it took the time; nonsense is no time', async () => {
    const send = (time: string) => dav('PUT', `${at}t.txt`, { 'X-OC-Mtime': time }, 't')
    expect((await send('1773480413')).headers['x-oc-mtime']).to.equal('accepted')
    for (const time of ['now', '-5', '1e9', '', '253402300800', '999999999999', '9'.repeat(40)])
      expect((await send(time)).headers, time).not.to.have.property('x-oc-mtime')
    for (const time of ['now', '-5', '1e9', ''])
      expect(await patch(`${at}t.txt`, propertyUpdate(['lastmodified', time]))).to.deep.equal({ lastmodified: 409 })
    for (const time of ['99999999999', '999999999999']) {
      expect((await send(time)).status, time).to.be.oneOf([204, 400])
      expect((await dav('PROPFIND', at)).status, time).to.equal(207)
      expect((await dav('GET', at)).status, time).to.equal(200)
    }
  })
})
