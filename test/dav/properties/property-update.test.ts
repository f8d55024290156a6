/** Instructions of PROPPATCH and extended MKCOL: how they are read and decided, all or nothing (DAV-33 to DAV-36). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  type Instruction,
  judge,
  judging,
  onlyWindowsTimes,
  propstats,
  readInstructions,
} from '../../../dav/properties/property-update.ts'
import { parseXmlBody } from '../../../dav/requests/xml.ts'
import type { Property } from '../../../pipeline/store/resource.ts'
import { stepsOf } from '../../support/steps.ts'

const WIN32 = 'urn:schemas-microsoft-com:'

/** `set` and `remove` elements as they are written, each around one `prop`. */
function instructionsOf(...actions: string[]) {
  const filled = actions.map(action => {
    const [, op = '', content = ''] = /^(set|remove) ([\s\S]*)$/.exec(action) ?? []
    return `<D:${op}><D:prop>${content}</D:prop></D:${op}>`
  })
  const xml = `<D:propertyupdate xmlns:D="DAV:" xmlns:Z="${WIN32}" xmlns:x="urn:x">${filled.join('')}</D:propertyupdate>`
  return readInstructions(parseXmlBody(Buffer.from(xml)))
}

const dead = (name: string, value = ''): Property => ({ namespace: 'urn:x', name, value })

function decide(actions: string[], before: readonly Property[] = [], collection = false) {
  const { refused, verdicts, patch } = judge(instructionsOf(...actions), before, collection)
  return { refused, statuses: verdicts.map(({ name, status }) => `${name.name} ${status.slice(0, 3)}`), patch }
}

describe('property updates', () => {
  describe('instructions', () => {
    it('DAV-35 are read in document order, from any number of set and remove elements', () => {
      const read = instructionsOf('set <x:a/><x:b/>', 'remove <x:c/>', 'set <d xmlns=""/>')
      expect(read.map(({ op, name }) => `${op} {${name.namespace}}${name.name}`)).to.deep.equal([
        'set {urn:x}a',
        'set {urn:x}b',
        'remove {urn:x}c',
        'set {}d',
      ])
    })

    const namespaced = (content: string) =>
      `<D:propertyupdate xmlns:D="DAV:" xmlns:n="${'n'.repeat(8_000)}"><D:set><D:prop>${content}</D:prop></D:set></D:propertyupdate>`

    it('SEC-12 DAV-35 are refused where the answer, which tells each name with its namespace, would be too long', () => {
      const read = (count: number) => readInstructions(parseXmlBody(Buffer.from(namespaced('<n:p/>'.repeat(count)))))
      expect(read(500)).to.have.length(500)
      expect(() => read(600))
        .to.throw('too many properties')
        .with.property('status', 507)
    })

    it('SEC-12 DAV-34 are decided in steps where each value declares long namespaces', () => {
      const xml = namespaced('<D:p a="1"><n:q/></D:p>'.repeat(190))
      expect(stepsOf(judging(readInstructions(parseXmlBody(Buffer.from(xml))), [], false))).to.be.at.least(5)
    })

    const NONE: [name: string, xml: string][] = [
      ['nothing', '<D:propertyupdate xmlns:D="DAV:"/>'],
      ['a set without prop', '<D:propertyupdate xmlns:D="DAV:"><D:set/></D:propertyupdate>'],
      ['an empty prop', '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop/></D:set></D:propertyupdate>'],
      ['text', '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>x</D:prop></D:set></D:propertyupdate>'],
      ['other elements', '<D:propertyupdate xmlns:D="DAV:"><D:add><D:prop><D:x/></D:prop></D:add></D:propertyupdate>'],
      [
        'another namespace',
        '<D:propertyupdate xmlns:D="DAV:"><set xmlns="urn:x"><D:prop><D:x/></D:prop></set></D:propertyupdate>',
      ],
    ]
    for (const [name, xml] of NONE)
      it(`DAV-35 there are none in ${name}`, () => {
        expect(readInstructions(parseXmlBody(Buffer.from(xml)))).to.deep.equal([])
      })
  })

  describe('decisions', () => {
    it('DAV-35 set and remove: all 200', () => {
      const { refused, statuses, patch } = decide(['set <x:a>1</x:a>', 'remove <x:b/>'], [dead('b')])
      expect({ refused, statuses }).to.deep.equal({ refused: false, statuses: ['a 200', 'b 200'] })
      expect(patch).to.deep.equal({ set: [dead('a', '1')], remove: [{ namespace: 'urn:x', name: 'b' }] })
    })

    it('DAV-35 what is not there is removed without complaint', () => {
      expect(decide(['remove <x:a/>']).statuses).to.deep.equal(['a 200'])
    })

    it('DAV-35 the last instruction for a name counts', () => {
      expect(decide(['set <x:a>1</x:a>', 'set <x:a>2</x:a>']).patch.set).to.deep.equal([dead('a', '2')])
      const removed = decide(['set <x:a>1</x:a>', 'remove <x:a/>']).patch
      expect([removed.set, removed.remove.length]).to.deep.equal([[], 1])
      const set = decide(['remove <x:a/>', 'set <x:a>1</x:a>']).patch
      expect([set.set, set.remove]).to.deep.equal([[dead('a', '1')], []])
    })

    const PROTECTED = [
      'creationdate',
      'getcontentlength',
      'getcontenttype',
      'getetag',
      'getlastmodified',
      'resourcetype',
      'lockdiscovery',
      'supportedlock',
      'quota-available-bytes',
      'quota-used-bytes',
      'current-user-privilege-set',
      'supported-report-set',
      'sync-token',
    ]
    for (const name of PROTECTED)
      for (const op of ['set', 'remove'])
        it(`DAV-33 ${op} ${name}: 403, and everything else 424`, () => {
          const { refused, statuses } = decide(['set <x:a>1</x:a>', `${op} <D:${name}/>`, 'remove <x:b/>'])
          expect({ refused, statuses }).to.deep.equal({ refused: true, statuses: ['a 424', `${name} 403`, 'b 424'] })
        })

    it('DAV-35 a refusal is not made good by a later instruction for the same name', () => {
      expect(decide([`set <x:a>${'x'.repeat(65_537)}</x:a>`, 'set <x:a>1</x:a>']).statuses).to.deep.equal(['a 507'])
      expect(
        decide(['set <D:lastmodified>x</D:lastmodified>', 'set <D:lastmodified>1</D:lastmodified>']).refused,
      ).to.equal(true)
    })

    it('DAV-33 displayname is kept like a dead property', () => {
      expect(decide(['set <D:displayname>Ada</D:displayname>']).patch.set).to.deep.equal([
        { namespace: 'DAV:', name: 'displayname', value: 'Ada' },
      ])
    })

    it('DAV-33 a language can be set for files, not for collections', () => {
      const set = ['set <D:getcontentlanguage> en, de </D:getcontentlanguage>']
      expect(decide(set).patch.language).to.equal('en, de')
      expect(decide(['remove <D:getcontentlanguage/>']).patch.language).to.equal('')
      expect(decide(set, [], true).statuses).to.deep.equal(['getcontentlanguage 403'])
    })

    for (const [language, status] of [
      ['de-AT, é', 200],
      ['de&#10;en', 409],
      ['😀', 409],
      ['&#x7f;', 409],
    ] as const)
      it(`DAV-33 the language ${language}: ${status}`, () =>
        expect(decide([`set <D:getcontentlanguage>${language}</D:getcontentlanguage>`]).statuses).to.deep.equal([
          `getcontentlanguage ${status}`,
        ]))

    it('DAV-33 checksums are ignored, 200', () => {
      const { statuses, patch } = decide(['set <o:checksums xmlns:o="http://owncloud.org/ns">SHA1:0</o:checksums>'])
      expect(statuses).to.deep.equal(['checksums 200'])
      expect(patch).to.deep.equal({ set: [], remove: [] })
    })

    const TIMES: [text: string, shown: number | undefined, status: string][] = [
      ['1700000000', 1_700_000_000, '200'],
      [' 1700000000 ', 1_700_000_000, '200'],
      ['1700000000.75', 1_700_000_000, '200'],
      ['0', 0, '200'],
      ['', undefined, '409'],
      ['-1', undefined, '409'],
      ['1e9', undefined, '409'],
      ['Tue, 14 Nov 2023 22:13:20 GMT', undefined, '409'],
      ['253402300799', 253_402_300_799, '200'],
      ['253402300800', undefined, '409'],
      ['9'.repeat(13), undefined, '409'],
    ]
    for (const [text, shown, status] of TIMES)
      it(`DAV-36 lastmodified ${JSON.stringify(text)}: ${status}`, () => {
        const { statuses, patch } = decide([`set <D:lastmodified>${text}</D:lastmodified>`])
        expect(statuses).to.deep.equal([`lastmodified ${status}`])
        expect(patch.shown).to.equal(shown)
      })

    const WINDOWS: [name: string, text: string, shown: number | undefined][] = [
      ['Win32LastModifiedTime', 'Tue, 14 Nov 2023 22:13:20 GMT', 1_700_000_000],
      ['Win32LastModifiedTime', 'yesterday', undefined],
      ['Win32LastModifiedTime', 'Tue, 14 Nov 1950 22:13:20 GMT', undefined],
      ['Win32LastModifiedTime', 'Fri, 31 Dec 9999 23:59:60 GMT', undefined],
      ['Win32CreationTime', 'Tue, 14 Nov 2023 22:13:20 GMT', undefined],
      ['Win32FileAttributes', '00000020', undefined],
    ]
    for (const [name, text, shown] of WINDOWS)
      it(`DAV-36 ${name} ${text} is kept${shown === undefined ? '' : ', and is the time that is shown'}`, () => {
        const { statuses, patch } = decide([`set <Z:${name}>${text}</Z:${name}>`])
        expect(statuses).to.deep.equal([`${name} 200`])
        expect(patch.set).to.deep.equal([{ namespace: WIN32, name, value: text }])
        expect(patch.shown).to.equal(shown)
      })
  })

  describe('limits (DAV-34)', () => {
    const LENGTHS: [characters: string, status: string][] = [
      ['x'.repeat(65_536), '200'],
      ['x'.repeat(65_537), '507'],
      ['é'.repeat(32_768), '200'],
      ['é'.repeat(32_769), '507'],
    ]
    for (const [text, status] of LENGTHS)
      it(`a value of ${Buffer.byteLength(text)} bytes: ${status}`, () => {
        expect(decide([`set <x:a>${text}</x:a>`]).statuses).to.deep.equal([`a ${status}`])
      })

    it('SEC-12 a language of 1,024 characters, and no more: each listing of its folder holds it', () => {
      const language = (length: number) => `set <D:getcontentlanguage>${'x'.repeat(length)}</D:getcontentlanguage>`
      expect(decide([language(1024)]).statuses).to.deep.equal(['getcontentlanguage 200'])
      expect(decide([language(1025)]).statuses).to.deep.equal(['getcontentlanguage 507'])
      expect(decide([language(1025), language(2)]).refused, 'followed by another').to.equal(true)
    })

    const many = (count: number) => Array.from({ length: count }, (_, i) => dead(`n${i}`))
    it('256 names on a resource, and no more', () => {
      expect(decide(['set <x:one/>'], many(255)).refused).to.equal(false)
      expect(decide(['set <x:one/>'], many(256)).statuses).to.deep.equal(['one 507'])
      expect(decide(['set <x:n0>new</x:n0>'], many(256)).refused, 'a name that is there').to.equal(false)
      expect(decide(['remove <x:n0/>', 'set <x:one/>'], many(256)).refused, 'one that made room').to.equal(false)
    })
  })

  describe('values (DAV-34)', () => {
    const VALUES: [written: string, value: string | RegExp][] = [
      ['<x:a/>', ''],
      ['<x:a>text &amp; &lt;more></x:a>', /^text &amp; &lt;more(>|&gt;)$/],
      ['<x:a><![CDATA[<b>]]></x:a>', /^&lt;b(>|&gt;)$/],
      ['<x:a> white space </x:a>', ' white space '],
      ['<x:a><b xmlns="urn:y">1</b></x:a>', /^<x:a xmlns:x="urn:x"><b xmlns="urn:y">1<\/b><\/x:a>$/],
      ['<x:a kind="k">1</x:a>', /^<x:a .*kind="k".*>1<\/x:a>$/],
      ['<x:a xml:lang="de">ja</x:a>', /^<x:a .*xml:lang="de".*>ja<\/x:a>$/],
      ['<a xmlns="">x</a>', 'x'],
    ]
    for (const [written, value] of VALUES)
      it(`${written} is kept as ${value}`, () => {
        const [property] = decide([`set ${written}`]).patch.set
        if (typeof value === 'string') expect(property?.value).to.equal(value)
        else expect(property?.value).to.match(value)
      })

    it('xml:lang of an element around it is kept as its own', () => {
      const xml =
        '<D:propertyupdate xmlns:D="DAV:" xml:lang="fr"><D:set><D:prop xml:lang="de"><a xmlns="urn:x">ja</a></D:prop></D:set><D:set><D:prop><b xmlns="urn:x">oui</b></D:prop></D:set></D:propertyupdate>'
      const { patch } = judge(readInstructions(parseXmlBody(Buffer.from(xml))), [], false)
      expect(patch.set.map(({ value }) => /xml:lang="(\w+)"/.exec(value)?.[1])).to.deep.equal(['de', 'fr'])
    })
  })

  /** Counts looks at what values hold: whoever writes one down takes them. */
  function expectFewWritten(read: readonly Instruction[]): void {
    let written = 0
    const instructions = read.map(instruction => ({
      ...instruction,
      element: new Proxy(instruction.element, {
        get(target, key, receiver) {
          if (key === 'childNodes') written++
          return Reflect.get(target, key, receiver)
        },
      }),
    }))
    expect(judge(instructions, [], false).refused).to.equal(true)
    expect(written).to.be.within(256, 2560)
  }

  it('DAV-35 of more values than can be kept, none beyond is written down', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => `<x:a${i}><b/></x:a${i}>`)
    expectFewWritten(instructionsOf(`set ${values.join('')}`))
  })

  it('SEC-12 DAV-34 of one value that is set again and again with a long language, no more is written than can be kept', () => {
    const set = `<D:set xml:lang="${'x'.repeat(60_000)}"><D:prop>${'<a/>'.repeat(1_000)}</D:prop></D:set>`
    const body = Buffer.from(`<D:propertyupdate xmlns:D="DAV:">${set}</D:propertyupdate>`)
    expectFewWritten(readInstructions(parseXmlBody(body)))
  })

  it('DAV-35 many instructions are decided in steps, between which others get their turns', () => {
    const instructions = instructionsOf(`set ${'<x:a/>'.repeat(20_000)}`)
    const steps = judging(instructions, [], false)
    let count = 0
    while (!steps.next().done) count++
    expect(count).to.equal(100)
  })

  it('DAV-35 there is one propstat for each status, with names in their namespaces', () => {
    const judged = judge(
      instructionsOf('set <x:a/><D:getetag/>', 'remove <D:resourcetype/>', 'set <b xmlns=""/>'),
      [],
      false,
    )
    expect(propstats(judged)).to.equal(
      '<D:propstat><D:prop><x:a xmlns:x="urn:x"/><b/></D:prop><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat>' +
        '<D:propstat><D:prop><D:getetag/><D:resourcetype/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>' +
        '<D:error><D:cannot-modify-protected-property/></D:error></D:propstat>',
    )
  })

  const TIMES_ONLY: [actions: string[], only: boolean][] = [
    [['set <Z:Win32CreationTime/><Z:Win32FileAttributes/>'], true],
    [['set <Z:Win32CreationTime/>', 'remove <Z:Win32LastAccessTime/>'], true],
    [['set <Z:Win32CreationTime/><x:a/>'], false],
    [['set <Z:Other/>'], false],
    [['set <x:Win32CreationTime/>'], false],
  ]
  for (const [actions, only] of TIMES_ONLY)
    it(`DAV-35 ${actions.join(' ')}: ${only ? 'only' : 'not only'} times of Windows`, () => {
      expect(onlyWindowsTimes(instructionsOf(...actions))).to.equal(only)
    })
})
