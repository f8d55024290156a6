import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { chooseCoding, excludes, namedQuality, names, negotiate } from '../../../pipeline/http/accept.ts'
import { RUNS } from './seed.ts'

const CHROME =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7'

describe('Accept', () => {
  const forms: [accept: string | undefined, plain: string, selector: string][] = [
    [undefined, 'html', 'html'],
    ['', 'html', 'html'],
    ['*/*', 'html', 'html'],
    ['*', 'html', 'html'],
    [CHROME, 'html', 'html'],
    ['application/json', 'html', 'html'],
    ['image/png', 'html', 'html'],
    ['garbage', 'html', 'html'],
    ['application/ld+json;q=0', 'html', 'html'],
    ['application/ld+json', 'json-ld', 'json-ld'],
    ['Application/LD+JSON', 'json-ld', 'json-ld'],
    ['application/ld+json;profile="a,b;q=0"', 'json-ld', 'json-ld'],
    ['application/ld+json, text/html', 'html', 'html'],
    ['application/ld+json, text/html;q=0.9', 'json-ld', 'json-ld'],
    ['application/ld+json;q=0.5, text/html;q=0.9', 'html', 'html'],
    ['application/ld+json, */*;q=0.1', 'json-ld', 'json-ld'],
    ['application/ld+json;q=0.1, */*', 'html', 'html'],
    ['application/*', 'json-ld', 'json-ld'],
    ['application/*;q=0.5, text/*', 'html', 'html'],
    ['text/html;q=0.5, */*', 'json-ld', 'json-ld'],
    ['application/ld+json;q=2', 'html', 'html'],
    ['application/ld+json;q=x', 'html', 'html'],
    ['application/ld+json;q=.5', 'json-ld', 'json-ld'],
    ['application/ld+json ; Q=0.001', 'json-ld', 'json-ld'],
    ['multipart/mixed', 'html', 'multipart'],
    ['multipart/*', 'html', 'html'],
    ['multipart/mixed;q=0', 'html', 'html'],
    ['multipart/mixed;q=0.1, text/html', 'html', 'multipart'],
    ['multipart/mixed, application/ld+json', 'json-ld', 'multipart'],
    ['multipart/mixed;q=0.5, application/ld+json', 'json-ld', 'json-ld'],
    ['multipart/mixed;q=0.5, application/ld+json;q=0.8, text/html', 'html', 'multipart'],
    ['multipart/mixed;q=0.5, */*', 'html', 'multipart'],
  ]
  for (const [accept, plain, selector] of forms) {
    it(`HTTP-57 ${accept}`, () => {
      expect(negotiate(accept, false)).to.equal(plain)
      expect(negotiate(accept, true)).to.equal(selector)
    })
  }

  it('METH-4 only a literal type with a quality above zero is named', () => {
    const type = 'text/event-stream'
    for (const accept of [type, 'text/html, Text/Event-Stream;q=0.1', `${type};charset=utf-8`]) {
      expect(names(accept, type), accept).to.equal(true)
    }
    for (const accept of [undefined, '', '*/*', 'text/*', `${type};q=0`, `x${type}`, `"${type}"`]) {
      expect(names(accept, type), accept).to.equal(false)
    }
    expect(namedQuality('text/xml;q=0.25, */*', 'text/xml')).to.equal(0.25)
    expect(namedQuality('*/*', 'text/xml')).to.equal(0)
  })

  it('HTTP-132 types that are ruled out', () => {
    const type = 'multipart/mixed'
    for (const accept of ['text/html', 'multipart/mixed;q=0, */*', 'multipart/*;q=0', 'text/*, image/png']) {
      expect(excludes(accept, type), accept).to.equal(true)
    }
    for (const accept of [
      undefined,
      '',
      '*/*',
      '*',
      'multipart/*',
      type,
      'text/html, multipart/mixed;q=0.1',
      'garbage',
    ]) {
      expect(excludes(accept, type), accept).to.equal(false)
    }
  })

  const codings: [accept: string | undefined, coding: string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, br;q=0.9', 'gzip'],
    ['gzip;q=0.5, br;q=0.5', 'br'],
    ['gzip;q=0', 'identity'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['*;q=0.5, gzip', 'gzip'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.2, gzip;q=0.5', 'gzip'],
    ['deflate', 'identity'],
    ['gzip;q=1.5', 'identity'],
  ]
  for (const [accept, coding] of codings) {
    it(`Accept-Encoding: ${accept}`, () => expect(chooseCoding(accept)).to.equal(coding))
  }

  it('HTTP-57 JSON-LD exactly when its quality is higher, in any order of members', () => {
    const quality = fc.integer({ min: 0, max: 1000 }).map(n => n / 1000)
    fc.assert(
      fc.property(quality, quality, fc.boolean(), (html, json, swap) => {
        const members = [`text/html;q=${html}`, `application/ld+json;q=${json}`]
        if (swap) members.reverse()
        expect(negotiate(members.join(', '), false)).to.equal(json > html ? 'json-ld' : 'html')
      }),
      RUNS,
    )
  })

  it('HTTP-57 nothing that arrives makes the parser fail', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab/*+;,=q01."\\ \t') })
    fc.assert(
      fc.property(text, accept => {
        expect(negotiate(accept, true)).to.be.oneOf(['html', 'json-ld', 'multipart'])
        expect(chooseCoding(accept)).to.be.oneOf(['br', 'gzip', 'identity'])
      }),
      RUNS,
    )
  })
})
