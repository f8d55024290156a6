import { expect } from 'chai'
import { describe, it } from 'mocha'
import { corsHeaders, isPreflight, publicCors } from '../../../pipeline/http/cors.ts'
import { isForeignWrite, ownOrigin } from '../../../pipeline/http/origin.ts'

const APP = 'https://app.example'

describe('other origins', () => {
  const policy = publicCors([APP, 'null'], 'Platform')
  const plain = { method: 'GET', requestedMethod: undefined }

  it('HTTP-165 a listed origin is echoed', () => {
    expect(corsHeaders(policy, { ...plain, origin: APP })).to.deep.equal({
      'Access-Control-Allow-Origin': APP,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers':
        'ETag, Last-Modified, Location, Link, Content-Range, Accept-Ranges, Allow, Accept-Query',
    })
  })

  it('HTTP-165 others get nothing', () => {
    for (const origin of [undefined, 'https://other.example', `${APP}/`, 'http://app.example', 'null', '*', '']) {
      expect(corsHeaders(policy, { ...plain, origin }), origin).to.equal(undefined)
      expect(corsHeaders(policy, { method: 'OPTIONS', requestedMethod: 'PUT', origin }), origin).to.equal(undefined)
    }
    expect(corsHeaders(publicCors([], 'Platform'), { ...plain, origin: APP })).to.equal(undefined)
  })

  it('HTTP-165 CAP-10 preflight', () => {
    const headers = corsHeaders(policy, { method: 'OPTIONS', origin: APP, requestedMethod: 'MOVE' })
    expect(headers).to.include({
      'Access-Control-Allow-Origin': APP,
      'Access-Control-Allow-Methods': 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS',
      'Access-Control-Allow-Headers':
        'Accept, Authorization, Content-Type, Destination, Destination-Range, If-Match, If-None-Match, Last-Event-ID, Overwrite, Prefer, Range, Platform-Connection',
      'Access-Control-Max-Age': '600',
    })
    expect(isPreflight({ method: 'OPTIONS', origin: APP, requestedMethod: undefined })).to.equal(false)
    expect(isPreflight({ method: 'GET', origin: APP, requestedMethod: 'PUT' })).to.equal(false)
  })

  it('DAV-5 a policy without credentials', () => {
    const mount = { origins: new Set([APP]), credentials: false, methods: 'PUT', headers: 'Depth', maxAge: 600 }
    expect(corsHeaders(mount, { method: 'OPTIONS', origin: APP, requestedMethod: 'PUT' })).to.deep.equal({
      'Access-Control-Allow-Origin': APP,
      'Access-Control-Allow-Methods': 'PUT',
      'Access-Control-Allow-Headers': 'Depth',
      'Access-Control-Max-Age': '600',
    })
  })

  const own = 'https://www.example.org'
  const listed = new Set([APP])
  const writes: [origin: string | undefined, fetchSite: string | undefined, foreign: boolean][] = [
    [undefined, undefined, false],
    [own, undefined, false],
    [own, 'same-origin', false],
    [APP, 'cross-site', false],
    [undefined, 'same-origin', false],
    [undefined, 'none', false],
    ['https://evil.example', undefined, true],
    ['http://www.example.org', undefined, true],
    ['https://www.example.org:8443', undefined, true],
    ['https://shop.example.org', 'same-site', true],
    ['null', undefined, true],
    ['', undefined, true],
    [undefined, 'cross-site', true],
    [undefined, 'same-site', true],
  ]
  for (const [origin, fetchSite, foreign] of writes) {
    it(`HTTP-167 Origin ${origin}, Sec-Fetch-Site ${fetchSite}`, () => {
      for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']) {
        expect(isForeignWrite({ method, origin, fetchSite, own, listed }), method).to.equal(foreign)
      }
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY']) {
        expect(isForeignWrite({ method, origin, fetchSite, own, listed }), method).to.equal(false)
      }
    })
  }

  it('HTTP-167 the own origin as browsers write it', () => {
    expect(ownOrigin(true, 'WWW.example.org')).to.equal(own)
    expect(ownOrigin(true, 'www.example.org:443')).to.equal(own)
    expect(ownOrigin(false, 'localhost:80')).to.equal('http://localhost')
    expect(ownOrigin(false, 'localhost:8080')).to.equal('http://localhost:8080')
    expect(ownOrigin(true, 'localhost:80')).to.equal('https://localhost:80')
    expect(ownOrigin(false, '[::1]:8080')).to.equal('http://[::1]:8080')
  })
})
