import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseDestination } from '../../../pipeline/http/destination.ts'
import { faultOf } from './fault.ts'

const OWN = ['example.org:8080', 'dav.example.org']

describe('Destination', () => {
  const accepted: [header: string, path: string][] = [
    ['/a/b.html', '/a/b.html'],
    [' /a ', '/a'],
    ['/a b', '/a b'],
    ['/caf%C3%A9', '/café'],
    ['/d/', '/d/'],
    ['/a?x=1', '/a'],
    ['http://example.org:8080/a', '/a'],
    ['https://EXAMPLE.org:8080/a', '/a'],
    ['http://dav.example.org/a', '/a'],
    ['http://dav.example.org:80/a', '/a'],
    ['https://dav.example.org:443/a', '/a'],
    ['https://dav.example.org:/a', '/a'],
    ['http://dav.example.org', '/'],
  ]
  for (const [header, path] of accepted) {
    it(`HTTP-105 DAV-48 ${header}`, () => {
      expect(parseDestination(header, 'public', OWN)).to.equal(path)
      expect(parseDestination(header, 'mount', OWN)).to.equal(path)
    })
  }

  const refused: [header: string, fault: string][] = [
    ['http://other.example/a', '502 BadGateway'],
    ['http://example.org/a', '502 BadGateway'],
    ['http://example.org:8081/a', '502 BadGateway'],
    ['http://me@other.example/a', '502 BadGateway'],
    ['http://me@dav.example.org/a', '502 BadGateway'],
    ['http://dav.example.org@other.example/a', '502 BadGateway'],
    ['http://dav.example.org:80@/a', '400 InvalidPath'],
    ['http://@/a', '400 InvalidPath'],
    ['http://@dav.example.org/a', '502 BadGateway'],
    ['//dav.example.org/a', '400 InvalidPath'],
    ['a.html', '400 InvalidPath'],
    ['', '400 InvalidPath'],
    ['mailto:a', '400 InvalidPath'],
    ['http://', '400 InvalidPath'],
    ['http://[::1', '400 InvalidPath'],
    ['http://dav.example.org:x/a', '400 InvalidPath'],
    ['/a//b', '400 InvalidPath'],
    ['/a/../b', '400 InvalidPath'],
    ['/a%2Fb', '400 InvalidPath'],
    [`/${'a'.repeat(256)}`, '414 UriTooLong'],
  ]
  for (const [header, fault] of refused) {
    it(`HTTP-105 ${header.slice(0, 40) || 'empty'}`, () => {
      expect(faultOf(() => parseDestination(header, 'public', OWN))).to.equal(fault)
      expect(faultOf(() => parseDestination(header, 'mount', OWN))).to.equal(fault)
    })
  }

  const withUser: [user: string, header: string, outcome: string][] = [
    ['me', 'http://me@dav.example.org/a', '/a'],
    ['me', 'http://me:secret@dav.example.org:80/a', '/a'],
    ['me', 'http://me:p@ss@example.org:8080/a', '/a'],
    ['Zoë @ work', 'http://Zo%C3%AB%20%40%20work@dav.example.org/a', '/a'],
    ['me', 'http://you@dav.example.org/a', '502 BadGateway'],
    ['me', 'http://ME@dav.example.org/a', '502 BadGateway'],
    ['me', 'http://me%@dav.example.org/a', '502 BadGateway'],
    ['me', 'http://me@other.example/a', '502 BadGateway'],
    ['', 'http://:secret@dav.example.org/a', '/a'],
  ]
  for (const [user, header, outcome] of withUser) {
    it(`DAV-48 ${header} by ${user || 'a user without name'}`, () => {
      const read = () => parseDestination(header, 'mount', OWN, user)
      if (outcome.startsWith('/')) expect(read()).to.equal(outcome)
      else expect(faultOf(read)).to.equal(outcome)
    })
  }

  it('HTTP-105 DAV-10 a fragment is ignored on the public host, refused on the mount', () => {
    expect(parseDestination('/a#b', 'public', OWN)).to.equal('/a')
    expect(faultOf(() => parseDestination('/a#b', 'mount', OWN))).to.equal('400 InvalidPath')
  })
})
