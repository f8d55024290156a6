import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { Fault } from '../../../pipeline/fault.ts'
import {
  canonicalPath,
  decodeTarget,
  directoryLocation,
  encodePath,
  isReserved,
  looksLikeHtml,
  mayNameDirectory,
} from '../../../pipeline/http/path.ts'
import { faultOf } from './fault.ts'
import { RUNS } from './seed.ts'

/** UTF-8 bytes as Node hands them over. */
const wire = (text: string) => Buffer.from(text).toString('latin1')

describe('request targets', () => {
  const decoded: [name: string, target: string, path: string][] = [
    ['HTTP-11 plain', '/docs/a.html', '/docs/a.html'],
    ['HTTP-11 root', '/', '/'],
    ['HTTP-11 escapes are decoded once', '/%64ocs/%2561', '/docs/%61'],
    ['HTTP-11 lower-case escapes', '/caf%c3%a9', '/café'],
    ['HTTP-11 raw UTF-8 bytes', wire('/日本.html'), '/日本.html'],
    ['HTTP-11 escapes beside raw bytes', `${wire('/日')}%E6%9C%AC`, '/日本'],
    ['HTTP-11 a byte order mark is a character', '/%EF%BB%BFa', '/\ufeffa'],
    ['HTTP-11 U+FFFD is a character', '/%EF%BF%BD', '/\ufffd'],
    ['HTTP-11 a plus is a plus', '/a+b', '/a+b'],
    ['HTTP-11 reserved characters', "/!$&'()*+,;=:@~", "/!$&'()*+,;=:@~"],
    ['HTTP-11 escaped question mark and hash', '/a%3Fb%23c', '/a?b#c'],
    ['HTTP-11 dots within names', '/.../a..b/.c/d.', '/.../a..b/.c/d.'],
    ['HTTP-11 trailing slash', '/a/b/', '/a/b/'],
    ['HTTP-11 C1 controls are letters like others', '/%C2%85', '/\u0085'],
    ['HTTP-10 case matters', '/A', '/A'],
    ['HTTP-12 decomposed names are composed', '/cafe%CC%81', '/café'],
    ['HTTP-12 singletons are composed', '/%E2%84%AB', '/Å'],
    ['HTTP-10 absolute form', 'http://example.org/a/b', '/a/b'],
    ['HTTP-10 absolute form, upper-case scheme', 'HTTPS://EXAMPLE.org:443/a', '/a'],
    ['HTTP-10 absolute form without path', 'http://example.org', '/'],
    ['HTTP-10 absolute form, IPv6', 'http://[::1]:8080/x', '/x'],
    ['HTTP-11 segment of 255 bytes', `/${'a'.repeat(255)}`, `/${'a'.repeat(255)}`],
    ['HTTP-11 segment of 255 bytes beyond ASCII', `/${'%C3%A9'.repeat(127)}a`, `/${'é'.repeat(127)}a`],
    ['HTTP-11 path of 1,024 bytes', `${`/${'a'.repeat(255)}`.repeat(4)}`, `${`/${'a'.repeat(255)}`.repeat(4)}`],
  ]
  for (const [name, target, path] of decoded) {
    it(name, () => {
      for (const rules of ['public', 'mount'] as const) {
        for (const write of [true, false]) expect(decodeTarget(target, rules, write).path).to.equal(path)
      }
    })
  }

  it('HTTP-10 the query is kept raw and apart', () => {
    expect(decodeTarget('/a?b=%zz/../\\//c', 'public', false)).to.deep.equal({ path: '/a', query: 'b=%zz/../\\//c' })
    expect(decodeTarget('/a?', 'public', false)).to.deep.equal({ path: '/a', query: '' })
    expect(decodeTarget('/a%3Fb?c?d', 'public', false)).to.deep.equal({ path: '/a?b', query: 'c?d' })
    expect(decodeTarget('/a', 'public', false)).to.deep.equal({ path: '/a' })
  })

  it('HTTP-10 absolute form tells the authority', () => {
    expect(decodeTarget('http://example.org:81?x', 'public', false)).to.deep.equal({
      path: '/',
      query: 'x',
      authority: 'example.org:81',
    })
  })

  const long = `/${'a'.repeat(256)}`
  const deep = `${`/${'a'.repeat(200)}`.repeat(5)}/${'a'.repeat(20)}`
  const refused: [name: string, target: string, read: string, write: string, mount?: string][] = [
    ['lone percent', '/%', '400 InvalidPath', '400 InvalidPath'],
    ['half an escape', '/a%4', '400 InvalidPath', '400 InvalidPath'],
    ['no hex digits', '/%zz', '400 InvalidPath', '400 InvalidPath'],
    ['second digit no hex', '/%4g', '400 InvalidPath', '400 InvalidPath'],
    ['signed escape', '/%-1', '400 InvalidPath', '400 InvalidPath'],
    ['byte that begins no character', '/%FF', '400 InvalidPath', '400 InvalidPath'],
    ['cut character', '/%C3', '400 InvalidPath', '400 InvalidPath'],
    ['overlong form', '/%C0%AE%C0%AE', '400 InvalidPath', '400 InvalidPath'],
    ['surrogate', '/%ED%A0%80', '400 InvalidPath', '400 InvalidPath'],
    ['raw ISO 8859-1', '/caf\xe9', '400 InvalidPath', '400 InvalidPath'],
    ['beyond bytes', '/\u65e5', '400 InvalidPath', '400 InvalidPath'],
    ['NUL', '/a%00', '400 InvalidPath', '400 InvalidPath'],
    ['escaped control', '/a%1fb', '400 InvalidPath', '400 InvalidPath'],
    ['escaped delete', '/%7F', '400 InvalidPath', '400 InvalidPath'],
    ['raw control', '/a\tb', '400 InvalidPath', '400 InvalidPath'],
    ['raw delete', '/a\x7f', '400 InvalidPath', '400 InvalidPath'],
    ['raw control in the query', '/a?\x01', '400 InvalidPath', '400 InvalidPath'],
    ['escaped slash', '/a%2Fb', '400 InvalidPath', '400 InvalidPath'],
    ['escaped slash, lower case', '/a%2fb', '400 InvalidPath', '400 InvalidPath'],
    ['backslash', '/a\\b', '400 InvalidPath', '400 InvalidPath'],
    ['escaped backslash', '/a%5cb', '400 InvalidPath', '400 InvalidPath'],
    ['dot segment', '/a/./b', '400 InvalidPath', '400 InvalidPath'],
    ['dot segment at the end', '/.', '400 InvalidPath', '400 InvalidPath'],
    ['two dots', '/a/../b', '400 InvalidPath', '400 InvalidPath'],
    ['two dots at the end', '/a/..', '400 InvalidPath', '400 InvalidPath'],
    ['escaped dots', '/a/%2e%2E/b', '400 InvalidPath', '400 InvalidPath'],
    ['half escaped dots', '/.%2e/', '400 InvalidPath', '400 InvalidPath'],
    ['raw hash', '/a#b', '400 InvalidPath', '400 InvalidPath'],
    ['raw hash in the query', '/a?b#c', '400 InvalidPath', '400 InvalidPath'],
    ['empty target', '', '400 InvalidPath', '400 InvalidPath'],
    ['no leading slash', 'a/b', '400 InvalidPath', '400 InvalidPath'],
    ['asterisk', '*', '400 InvalidPath', '400 InvalidPath'],
    ['authority form', 'example.org:443', '400 InvalidPath', '400 InvalidPath'],
    ['other scheme', 'ftp://example.org/a', '400 InvalidPath', '400 InvalidPath'],
    ['no authority', 'http:///a', '400 InvalidPath', '400 InvalidPath'],
    ['backslash behind the authority', 'http://example.org\\a', '400 InvalidPath', '400 InvalidPath'],
    ['empty segment at the start', '//a', '404 NotFound', '400 InvalidPath'],
    ['empty segment inside', '/a//b', '404 NotFound', '400 InvalidPath'],
    ['two slashes at the end', '/a//', '404 NotFound', '400 InvalidPath'],
    ['two slashes alone', '//', '404 NotFound', '400 InvalidPath'],
    ['segment of 256 bytes', long, '404 NotFound', '414 UriTooLong', '414 UriTooLong'],
    [
      'segment of 256 bytes beyond ASCII',
      `/${'%C3%A9'.repeat(128)}`,
      '404 NotFound',
      '414 UriTooLong',
      '414 UriTooLong',
    ],
    ['path of 1,026 bytes', deep, '404 NotFound', '414 UriTooLong', '414 UriTooLong'],
    ['target of 8,193 bytes', `/?${'q'.repeat(8191)}`, '414 UriTooLong', '414 UriTooLong', '414 UriTooLong'],
  ]
  for (const [name, target, read, write, mount = '400 InvalidPath'] of refused) {
    it(`HTTP-11 DAV-10 ${name}`, () => {
      expect(faultOf(() => decodeTarget(target, 'public', false))).to.equal(read)
      expect(faultOf(() => decodeTarget(target, 'public', true))).to.equal(write)
      expect(faultOf(() => decodeTarget(target, 'mount', false))).to.equal(mount)
      expect(faultOf(() => decodeTarget(target, 'mount', true))).to.equal(mount)
    })
  }

  it('HTTP-11 a target of 8,192 bytes is read', () => {
    expect(decodeTarget(`/?${'q'.repeat(8190)}`, 'public', false).path).to.equal('/')
  })

  it('HTTP-11 any path that could be stored survives encoding and decoding', () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .map(text => text.normalize('NFC').replace(/[\0-\x1f\x7f/\\]/g, '-'))
      .filter(text => text !== '.' && text !== '..')
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map(segments => `/${segments.join('/')}`)
    fc.assert(
      fc.property(path, fc.constantFrom('public' as const, 'mount' as const), (original, rules) => {
        const encoded = encodePath(original)
        expect(encoded).to.match(/^[\x21-\x7e]*$/)
        expect(decodeTarget(encoded, rules, true)).to.deep.equal({ path: original })
      }),
      RUNS,
    )
  })

  it('HTTP-11 whatever arrives, the answer is a path without hidden meaning or a Fault', () => {
    const piece = fc.constantFrom(
      '/',
      '%',
      '%2',
      '%2e',
      '.',
      '..',
      '\\',
      '%5C',
      '?',
      '#',
      '%C3',
      '%A9',
      '\xc3\xa9',
      'e%CC%81',
      'a',
      '%00',
      '//',
      ':',
      'http:',
    )
    const target = fc.array(piece, { maxLength: 12 }).map(pieces => `/${pieces.join('')}`)
    fc.assert(
      fc.property(fc.oneof(target, fc.string()), fc.boolean(), (raw, write) => {
        try {
          const { path } = decodeTarget(raw, 'public', write)
          expect(path).to.match(/^\/[^\0-\x1f\x7f\\]*$/)
          expect(path).not.to.match(/\/\/|\/\.\.?(\/|$)/)
          expect(path.normalize('NFC')).to.equal(path)
          expect(decodeTarget(encodePath(path), 'public', write).path).to.equal(path)
        } catch (error) {
          expect(error).to.be.instanceOf(Fault)
        }
      }),
      RUNS,
    )
  })
})

describe('paths', () => {
  it('HTTP-13 a directory is its index', () => {
    expect(canonicalPath('/')).to.equal('/index.html')
    expect(canonicalPath('/blog/')).to.equal('/blog/index.html')
    expect(canonicalPath('/blog')).to.equal('/blog')
  })

  it('DAV-11 what stays literal and what is escaped', () => {
    const literal = "/AZaz09-._~!$'()*+,:;=@"
    expect(encodePath(literal)).to.equal(literal)
    expect(encodePath('/a&b?c#d e%f"<>[]^`{|}')).to.equal('/a%26b%3Fc%23d%20e%25f%22%3C%3E%5B%5D%5E%60%7B%7C%7D')
    expect(encodePath('/é日😀')).to.equal('/%C3%A9%E6%97%A5%F0%9F%98%80')
    expect(encodePath('/\ud800')).to.equal('/%EF%BF%BD')
  })

  const reserved: [path: string, is: boolean][] = [
    ['/.platform/', true],
    ['/.platform/a/b.html', true],
    ['/.platform', true],
    ['/-platform/oidc/login', true],
    ['/-platform', true],
    ['/x/.platform/y.html', false],
    ['/.platformer/a', false],
    ['/.platform.html', false],
    ['/platform/', false],
    ['/_platform/', false],
    ['/.Platform/a', false],
    ['/.plat/a', false],
    ['/', false],
  ]
  for (const [path, is] of reserved) {
    it(`HTTP-16 ${path} is ${is ? '' : 'not '}reserved`, () => expect(isReserved(path, 'platform')).to.equal(is))
  }

  it('HTTP-16 the check sees through escapes', () => {
    expect(isReserved(decodeTarget('/%2Eplatform/x', 'public', true).path, 'platform')).to.equal(true)
  })

  it('HTTP-15 only a last segment without dot may name a directory', () => {
    expect(mayNameDirectory('/blog')).to.equal(true)
    expect(mayNameDirectory('/v1.2/blog')).to.equal(true)
    expect(mayNameDirectory('/blog/')).to.equal(false)
    expect(mayNameDirectory('/v1.2')).to.equal(false)
    expect(mayNameDirectory('/a/.b')).to.equal(false)
  })

  it('HTTP-15 the redirect is path-absolute and keeps the query', () => {
    expect(directoryLocation('/a b', undefined)).to.equal('/a%20b/')
    expect(directoryLocation('/a', '')).to.equal('/a/?')
    expect(directoryLocation('/é', 'x=%2F&y=1')).to.equal('/%C3%A9/?x=%2F&y=1')
  })

  it('HTTP-123 paths that look like HTML', () => {
    for (const path of ['/', '/a/', '/a.html', '/A.HTM', '/a', '/v1.2/a'])
      expect(looksLikeHtml(path), path).to.equal(true)
    for (const path of ['/a.css', '/a.xhtml', '/a.html.gz', '/.a']) expect(looksLikeHtml(path), path).to.equal(false)
  })
})
