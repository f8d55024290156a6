import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Cacheable, cacheableOf, cacheControl, vary } from '../../../pipeline/http/caching.ts'

describe('caching', () => {
  const table: [answer: Cacheable, shared: string, personal: string][] = [
    ['asset', 'public, max-age=300', 'private, max-age=300'],
    ['blob', 'no-cache', 'private, no-cache'],
    ['composed', 'public, max-age=0, s-maxage=5', 'private, no-cache'],
    ['plain', 'no-cache', 'private, no-cache'],
    ['redirect', 'private, max-age=3600', 'private, max-age=3600'],
    ['unstored', 'no-store', 'no-store'],
    ['stream', 'no-cache', 'no-cache'],
  ]
  for (const [answer, shared, personal] of table) {
    it(`HTTP-150 ${answer}`, () => {
      expect(cacheControl(answer, false)).to.equal(shared)
      expect(cacheControl(answer, true)).to.equal(personal)
    })
  }

  it('HTTP-150 the lifetime of assets is a setting; without one, browsers ask each time', () => {
    expect(cacheControl('asset', false, 60)).to.equal('public, max-age=60')
    expect(cacheControl('asset', true, 60)).to.equal('private, max-age=60')
    expect(cacheControl('asset', false, 0)).to.equal('no-cache')
    expect(cacheControl('asset', true, 0)).to.equal('private, no-cache')
    expect(cacheControl('composed', false, 60)).to.equal(cacheControl('composed', false))
  })

  it('PRIV-2 no answer that was built from the requester, or holds a transient marker, is for shared caches', () => {
    for (const [answer] of table) {
      expect(cacheControl(answer, true), answer).not.to.match(/public|s-maxage/)
      expect(cacheControl(answer, true), answer).to.match(/private|no-store|^no-cache$/)
    }
  })

  it('HTTP-150 the row of a stored resource', () => {
    expect(cacheableOf('blob', 'text/css', false)).to.equal('asset')
    expect(cacheableOf('blob', 'image/svg+xml', false)).to.equal('asset')
    expect(cacheableOf('blob', 'application/pdf', false)).to.equal('blob')
    expect(cacheableOf('html', 'text/html', false)).to.equal('plain')
    expect(cacheableOf('html', 'text/html', true)).to.equal('composed')
    expect(cacheableOf('xml', 'application/xml', false)).to.equal('plain')
  })

  it('HTTP-152 Vary', () => {
    const plain = { personal: false, coded: false, cors: false }
    const all = { personal: true, coded: true, cors: true }
    expect(vary({ kind: 'html', ...plain })).to.equal('Accept, Range')
    expect(vary({ kind: 'xml', ...plain })).to.equal('Range')
    expect(vary({ kind: 'blob', ...plain })).to.equal(undefined)
    expect(vary({ kind: 'html', ...all })).to.equal('Accept, Range, Accept-Encoding, Cookie, Authorization, Origin')
    expect(vary({ kind: 'xml', ...plain, personal: true })).to.equal('Range, Cookie, Authorization')
    expect(vary({ kind: 'blob', ...plain, coded: true })).to.equal('Accept-Encoding')
    expect(vary({ kind: 'blob', ...plain, cors: true })).to.equal('Origin')
    expect(vary({ kind: 'blob', ...plain, personal: true })).to.equal('Cookie, Authorization')
  })
})
