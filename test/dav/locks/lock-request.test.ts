import { expect } from 'chai'
import { SaxesParser } from 'saxes'
import { grantedSeconds, readLockInfo } from '../../../dav/locks/lock-request.ts'
import { lockDiscoveryXml, supportedLockXml } from '../../../dav/locks/lock-xml.ts'
import type { Lock } from '../../../pipeline/coordination/locks.ts'
import { faultOf } from '../../pipeline/http/fault.ts'
import { takesLess } from '../../support/cost.ts'

function lockInfo(inner: string, attributes = 'xmlns:D="DAV:"'): Buffer {
  return Buffer.from(`<?xml version="1.0" encoding="utf-8"?>\n<D:lockinfo ${attributes}>${inner}</D:lockinfo>\n`)
}

const EXCLUSIVE = '<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>'

/** Fails unless the element is well formed, with all prefixes bound, where an answer puts it. */
function assertWellFormed(element: string): void {
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.write(`<D:prop xmlns:D="DAV:">${element}</D:prop>`).close()
}

describe('LOCK bodies', () => {
  it('DAV-81 names the scope', () => {
    expect(readLockInfo(lockInfo(EXCLUSIVE))).to.deep.equal({ scope: 'exclusive', owner: '' })
    expect(readLockInfo(lockInfo(EXCLUSIVE.replace('exclusive', 'shared'))).scope).to.equal('shared')
  })

  it('DAV-81 the order of the parts and unknown ones do not matter', () => {
    const body =
      '<D:locktype>\n<D:write/></D:locktype><x xmlns="urn:x"/><D:lockscope><!-- c --><D:shared/></D:lockscope>'
    expect(readLockInfo(lockInfo(body)).scope).to.equal('shared')
  })

  const owners: [name: string, body: Buffer, owner: string][] = [
    ['text', lockInfo(`${EXCLUSIVE}<D:owner>Ann &amp; "Bob"</D:owner>`), '<D:owner>Ann &amp; "Bob"</D:owner>'],
    [
      'the href of Finder',
      lockInfo(`${EXCLUSIVE}<D:owner>\n<D:href>http://www.apple.com/webdav_fs/</D:href>\n</D:owner>`),
      '<D:owner>\n<D:href>http://www.apple.com/webdav_fs/</D:href>\n</D:owner>',
    ],
    ['nothing', lockInfo(`${EXCLUSIVE}<D:owner/>`), '<D:owner></D:owner>'],
    [
      'spelling that means the same',
      lockInfo(`${EXCLUSIVE}<D:owner><a  b='1' ></a><![CDATA[<]]>&#65;</D:owner>`),
      `<D:owner><a  b='1' ></a><![CDATA[<]]>&#65;</D:owner>`,
    ],
    [
      'a language',
      lockInfo(`${EXCLUSIVE}<D:owner xml:lang="de" id="x">Anna</D:owner>`),
      '<D:owner xml:lang="de">Anna</D:owner>',
    ],
    [
      'a prefix declared outside',
      lockInfo(`${EXCLUSIVE}<D:owner><x:who/></D:owner>`, 'xmlns:D="DAV:" xmlns:x="urn:x&quot;&amp;" xmlns:y="urn:y"'),
      '<D:owner xmlns:x="urn:x&quot;&amp;"><x:who/></D:owner>',
    ],
    [
      'a default namespace',
      Buffer.from(
        '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner><href>a</href></owner></lockinfo>',
      ),
      '<D:owner xmlns="DAV:"><href>a</href></D:owner>',
    ],
    [
      'another prefix for the namespace of WebDAV',
      Buffer.from(
        `<a:lockinfo xmlns:a="DAV:">${EXCLUSIVE.replaceAll('D:', 'a:')}<a:owner><a:href>x</a:href></a:owner></a:lockinfo>`,
      ),
      '<D:owner xmlns:a="DAV:"><a:href>x</a:href></D:owner>',
    ],
    [
      'a prefix D that means something else',
      Buffer.from(
        `<a:lockinfo xmlns:a="DAV:" xmlns:D="urn:d">${EXCLUSIVE.replaceAll('D:', 'a:')}<a:owner><D:x/></a:owner></a:lockinfo>`,
      ),
      '<DD:owner xmlns:D="urn:d" xmlns:DD="DAV:"><D:x/></DD:owner>',
    ],
    [
      'UTF-16',
      Buffer.from(`\ufeff<D:lockinfo xmlns:D="DAV:">${EXCLUSIVE}<D:owner>Änn</D:owner></D:lockinfo>`, 'utf16le'),
      '<D:owner>Änn</D:owner>',
    ],
    [
      'a byte order mark',
      Buffer.from(`\ufeff<D:lockinfo xmlns:D="DAV:">${EXCLUSIVE}<D:owner>😀</D:owner></D:lockinfo>`),
      '<D:owner>😀</D:owner>',
    ],
  ]
  for (const [name, body, owner] of owners) {
    it(`DAV-81 keeps the owner verbatim: ${name}`, () => {
      expect(readLockInfo(body).owner).to.equal(owner)
      assertWellFormed(owner)
    })
  }

  it('DAV-81 an owner may take 8 KiB and no more', () => {
    const owner = (size: number) => lockInfo(`${EXCLUSIVE}<D:owner>${'ä'.repeat(size / 2)}</D:owner>`)
    expect(readLockInfo(owner(8192)).owner).to.have.length(4096 + '<D:owner></D:owner>'.length)
    expect(faultOf(() => readLockInfo(owner(8194)))).to.equal('413 PayloadTooLarge')
    const namespace = lockInfo(`${EXCLUSIVE}<D:owner><x:a/></D:owner>`, `xmlns:D="DAV:" xmlns:x="${'x'.repeat(3000)}"`)
    expect(faultOf(() => readLockInfo(namespace))).to.equal('413 PayloadTooLarge')
  })

  const refused: [body: string | Buffer, fault: string][] = [
    ['x', '400 MalformedXml'],
    ['<lockinfo/>', '400 MalformedXml'],
    ['<D:lockinfo xmlns:D="DAV:"/>', '400 MalformedXml'],
    ['<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>', '400 MalformedXml'],
    [`<!DOCTYPE lockinfo><D:lockinfo xmlns:D="DAV:">${EXCLUSIVE}</D:lockinfo>`, '400 MalformedXml'],
    [`<!DOCTYPE lockinfo [<!ENTITY e "e">]><D:lockinfo xmlns:D="DAV:">${EXCLUSIVE}</D:lockinfo>`, '400 MalformedXml'],
    [`<D:lockinfo xmlns:D="DAV:">${EXCLUSIVE}`, '400 MalformedXml'],
    [lockInfo('<D:lockscope><D:exclusive/></D:lockscope>'), '400 MalformedXml'],
    [lockInfo('<D:locktype><D:write/></D:locktype>'), '400 MalformedXml'],
    [lockInfo(EXCLUSIVE.replace('<D:exclusive/>', '')), '400 MalformedXml'],
    [lockInfo(EXCLUSIVE.replace('<D:exclusive/>', '<D:exclusive/><D:shared/>')), '400 MalformedXml'],
    [lockInfo(EXCLUSIVE + EXCLUSIVE), '400 MalformedXml'],
    [lockInfo(`${EXCLUSIVE}<D:owner/><D:owner/>`), '400 MalformedXml'],
    [lockInfo(`${EXCLUSIVE}<D:owner>&e;</D:owner>`), '400 MalformedXml'],
    [lockInfo(`${EXCLUSIVE}<D:owner><x:a/></D:owner>`), '400 MalformedXml'],
    [lockInfo(EXCLUSIVE.replace('D:write', 'D:transaction')), '422 UnsupportedLock'],
    [lockInfo(EXCLUSIVE.replace('D:exclusive', 'D:local')), '422 UnsupportedLock'],
    [lockInfo(EXCLUSIVE.replace('<D:write/>', '<write/>')), '422 UnsupportedLock'],
    [Buffer.from([0xff, 0x41]), '400 MalformedXml'],
  ]
  for (const [body, fault] of refused) {
    it(`DAV-81 ${fault}: ${body.toString().replace(/^<\?xml.*\n/, '')}`, () => {
      expect(faultOf(() => readLockInfo(Buffer.from(body)))).to.equal(fault)
    })
  }

  it('hostile owners take no time', () => {
    const prefixes = Array.from({ length: 900 }, (_, i) => `xmlns:p${i}="u${i}"`).join(' ')
    const body = lockInfo(`${EXCLUSIVE}<D:owner>${'p'.repeat(60_000)}</D:owner>`, `xmlns:D="DAV:" ${prefixes}`)
    return takesLess(200, () => expect(faultOf(() => readLockInfo(body))).to.equal('413 PayloadTooLarge'))
  })
})

describe('the Timeout header', () => {
  const cases: [header: string | undefined, seconds: number][] = [
    [undefined, 600],
    ['', 600],
    ['Second-1', 1],
    ['Second-0', 1],
    ['Second-600', 600],
    ['second-77', 77],
    ['Second-3600', 3600],
    ['Second-3601', 3600],
    ['Second-4100000000', 3600],
    [`Second-${'9'.repeat(4000)}`, 3600],
    ['Infinite', 3600],
    ['infinite', 3600],
    ['Infinite, Second-4100000000', 3600],
    ['Second-30, Infinite', 30],
    ['Extend-7, Second-42', 42],
    ['Second-, Second-x, Second--1, Second-1.5, Second- 9,Second-5', 5],
    ['Minute-5', 600],
    ['600', 600],
  ]
  for (const [header, seconds] of cases) {
    it(`DAV-83 ${header?.slice(0, 60) ?? 'absent'} grants ${seconds} s`, () => {
      expect(grantedSeconds(header)).to.equal(seconds)
    })
  }
})

describe('what clients are told of locks', () => {
  const NOW = 1_773_480_413_000
  const lock: Lock = {
    token: 'opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4',
    path: '/a b/<ä>&.html',
    scope: 'exclusive',
    depth: 0,
    owner: '<D:owner>Ann</D:owner>',
    user: 'ann',
    expires: NOW + 600_000,
  }
  const hrefOf = (path: string) => `/dav${encodeURI(path)}`

  it('DAV-88 one activelock with every part', () => {
    expect(lockDiscoveryXml([lock], hrefOf, NOW)).to.equal(
      '<D:lockdiscovery><D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:exclusive/></D:lockscope>' +
        '<D:depth>0</D:depth><D:owner>Ann</D:owner><D:timeout>Second-600</D:timeout>' +
        '<D:locktoken><D:href>opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4</D:href></D:locktoken>' +
        '<D:lockroot><D:href>/dav/a%20b/%3C%C3%A4%3E&amp;.html</D:href></D:lockroot></D:activelock></D:lockdiscovery>',
    )
  })

  it('DAV-88 one activelock for each lock, none without', () => {
    const other: Lock = { ...lock, scope: 'shared', depth: 'infinity', owner: '' }
    const xml = lockDiscoveryXml([lock, other], hrefOf, NOW)
    expect(xml.match(/<D:activelock>/g)).to.have.length(2)
    expect(xml).to.contain('<D:shared/></D:lockscope><D:depth>infinity</D:depth><D:timeout>')
    assertWellFormed(xml)
    expect(lockDiscoveryXml([], hrefOf, NOW)).to.equal('<D:lockdiscovery/>')
  })

  it('DAV-88 shows whole seconds that are left, never none', () => {
    for (const [left, shown] of [
      [600_000, 600],
      [599_999, 600],
      [599_000, 599],
      [1, 1],
      [0, 1],
      [-5_000, 1],
    ]) {
      const xml = lockDiscoveryXml([{ ...lock, expires: NOW + (left ?? 0) }], hrefOf, NOW)
      expect(xml).to.contain(`<D:timeout>Second-${shown}</D:timeout>`)
    }
  })

  it('DAV-88 exclusive and shared write locks are offered', () => {
    assertWellFormed(supportedLockXml)
    expect(
      supportedLockXml
        .replace(/<\/?D:|\/?>/g, ' ')
        .trim()
        .split(/ +/),
    ).to.deep.equal([
      'supportedlock',
      'lockentry',
      'lockscope',
      'exclusive',
      'lockscope',
      'locktype',
      'write',
      'locktype',
      'lockentry',
      'lockentry',
      'lockscope',
      'shared',
      'lockscope',
      'locktype',
      'write',
      'locktype',
      'lockentry',
      'supportedlock',
    ])
  })
})
