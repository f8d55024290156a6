/** The properties that Windows sets on each file that it copies, in listings that it accepts (DAV-35, DAV-37). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { shortSupportedLockXml } from '../../../dav/locks/lock-xml.ts'
import { put } from '../../support/content.ts'
import { readMultistatus } from '../../support/multistatus.ts'
import { list, propertyUpdate, startWire, type Wire } from '../wire.ts'

const NAMESPACE = 'urn:schemas-microsoft-com:'
const windows = (name: string) => `{${NAMESPACE}}${name}`
const TIME = 'Sat, 14 Mar 2026 09:26:53 GMT'
const FOUR: [name: string, value: string][] = [
  [windows('Win32CreationTime'), TIME],
  [windows('Win32LastAccessTime'), TIME],
  [windows('Win32LastModifiedTime'), TIME],
  [windows('Win32FileAttributes'), '00000020'],
]

describe('what Windows sets on files', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
    for (const path of ['/w/plain.txt', '/w/a.txt', '/w/b.txt', '/odd/a.txt']) await wire.dav('PUT', path, {}, 'x')
    for (const path of ['/w/a.txt', '/w/b.txt']) await wire.dav('PROPPATCH', path, {}, propertyUpdate(...FOUR))
  })
  after(() => wire.server.close())

  it('DAV-37 binds its namespace once in an answer, and only where it is needed', async () => {
    const { text } = await wire.dav('PROPFIND', '/w/', { Depth: '1' })
    expect(text.split(NAMESPACE).length - 1).to.equal(1)
    expect((await wire.dav('PROPFIND', '/w/plain.txt', { Depth: '0' })).text).not.to.include(NAMESPACE)
    const bytes = /<D:response><D:href>\/w\/a\.txt.*?<\/D:response>/.exec(text)?.[0].length
    const without = /<D:response><D:href>\/w\/plain\.txt.*?<\/D:response>/.exec(text)?.[0].length
    expect(Number(bytes) - Number(without)).to.be.below(290)
  })

  it('DAV-37 a thousand files that Windows copied are told in fewer bytes than it accepts', async () => {
    const { site } = wire.server
    const set = FOUR.map(([name, value]) => ({ namespace: NAMESPACE, name: name.slice(NAMESPACE.length + 2), value }))
    for (let i = 0; i < 1000; i++) {
      const path = `/thousand/${String(i).padStart(4, '0')}.txt`
      await put(wire.server, path, 'x')
      await site.commit({ changes: [{ op: 'describe', path, set, remove: [] }] })
    }
    const { text } = await wire.dav('PROPFIND', '/thousand/', { Depth: '1' })
    const told = readMultistatus(text)
    expect(told.size).to.equal(1001)
    expect(told.get('/thousand/0999.txt')?.get(FOUR[0]?.[0] ?? '')).to.include({ status: 200, value: TIME })
    expect(Buffer.byteLength(text)).to.be.below(1_000_000)
  })

  it('DAV-88 they leave supportedlock what it is', async () => {
    const told = readMultistatus((await wire.dav('PROPFIND', '/w/', { Depth: '1' })).text)
    const of = (path: string) => told.get(path)?.get('supportedlock')
    expect(of('/w/a.txt')).to.deep.equal(of('/w/plain.txt'))
    expect(of('/w/a.txt')?.value).to.match(/exclusive.*shared/)
    expect(shortSupportedLockXml).to.match(/^<supportedlock xmlns="DAV:">(?!.*(xmlns|D:))/)
  })

  for (const [form, body] of [
    ['allprop', undefined],
    [
      'named',
      `<D:propfind xmlns:D="DAV:"><D:prop>${FOUR.map(([name]) => `<${name.slice(NAMESPACE.length + 2)} xmlns="${NAMESPACE}"/>`).join('')}</D:prop></D:propfind>`,
    ],
  ] as const)
    it(`DAV-35 tells them as they were set: ${form}`, async () => {
      for (const Depth of ['0', '1']) {
        const answer = await wire.dav('PROPFIND', Depth === '0' ? '/w/a.txt' : '/w/', { Depth }, body)
        const told = readMultistatus(answer.text).get('/w/a.txt')
        for (const [name, value] of FOUR) expect(told?.get(name), name).to.include({ status: 200, value })
      }
    })

  it('DAV-35 they have room beside as many others as there may be', async () => {
    const set = async (...values: [name: string, value: string][]) => {
      const { text } = await wire.dav('PROPPATCH', '/full.txt', {}, propertyUpdate(...values))
      return [...(readMultistatus(text).get('/full.txt')?.values() ?? [])].map(({ status }) => status)
    }
    await wire.dav('PUT', '/full.txt', {}, 'x')
    const others = Array.from({ length: 256 }, (_, i): [string, string] => [`{urn:x}p${i}`, 'v'])
    expect(await set(...FOUR.slice(0, 2), ...others))
      .to.have.length(258)
      .and.satisfy((all: number[]) => all.every(status => status === 200))
    expect(await set(...FOUR)).to.deep.equal([200, 200, 200, 200])
    expect(await set(['{urn:x}more', 'v'])).to.deep.equal([507])
    expect(await set([windows('Win32Other'), 'v'])).to.deep.equal([507])
  })

  it('DAV-34 values with structure, without content, and names of others stay what they are', async () => {
    const odd: [name: string, value: string][] = [
      [windows('Empty'), ''],
      [windows('Deep'), '<b xmlns="urn:y" Z="1">x</b>'],
      [windows('Own'), `<Z:c xmlns:Z="urn:z">&lt;</Z:c>`],
      [windows('Text'), '&lt;a&gt; &amp; b'],
      ['{urn:x}Z', 'z'],
      ['{}none', 'n'],
    ]
    await wire.dav('PROPPATCH', '/odd/a.txt', {}, propertyUpdate(...odd))
    const told = (await list(wire.dav, '/odd/')).get('/odd/a.txt')
    expect(told?.get(windows('Empty'))?.status).to.equal(200)
    expect(told?.get(windows('Text'))?.value).to.equal('<a> & b')
    expect(told?.get('{urn:x}Z')?.value).to.equal('z')
    const { text } = await wire.dav('PROPFIND', '/odd/a.txt', { Depth: '0' })
    expect(text).to.match(/<b [^>]*xmlns="urn:y"[^>]*>x<\/b>/)
    expect(text).to.match(/<Z:c xmlns:Z="urn:z">&lt;<\/Z:c>/)
  })

  it('DAV-37 the properties of many members come with one query', async () => {
    const { store } = wire.server.site
    const calls: string[] = []
    const { properties, propertiesBetween } = store
    store.properties = path => {
      calls.push(path)
      return properties.call(store, path)
    }
    store.propertiesBetween = (first, last) => {
      calls.push(`${first} ${last}`)
      return propertiesBetween.call(store, first, last)
    }
    try {
      // Nothing is known of answers in this form yet.
      await wire.dav('PROPFIND', '/w/', { Depth: '1', Brief: 't' })
    } finally {
      Object.assign(store, { properties, propertiesBetween })
    }
    expect(calls).to.deep.equal(['/w/a.txt /w/b.txt'])
  })
})
