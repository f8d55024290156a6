import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parse } from 'parse5'
import { SaxesParser } from 'saxes'
import { securityHeaders } from '../../../edge/security-headers.ts'
import { Fault, type Kind } from '../../../pipeline/fault.ts'
import { errorArticle } from '../../../pipeline/http/error-article.ts'
import { escapeMarkup } from '../../../pipeline/http/markup.ts'
import { constraintFault } from '../../../pipeline/model/violations.ts'
import { errorAnswer, errorDocument } from '../../../server/documents/error.ts'
import { RUNS } from './seed.ts'

const NS = 'https://platform.example/ns'
const SITE = { ns: NS, errorNs: `${NS}/error`, brand: 'platform', method: 'GET', path: '/plan.html' }

interface Node {
  nodeName: string
  value?: string
  attrs?: { name: string; value: string }[]
  childNodes?: Node[]
}

const attribute = (node: Node, name: string) => node.attrs?.find(attr => attr.name === name)?.value
const text = (node: Node): string => node.value ?? (node.childNodes ?? []).map(text).join('')

function* elements(node: Node): Generator<Node> {
  if (node.attrs) yield node
  for (const child of node.childNodes ?? []) yield* elements(child)
}

/** Everything with `itemtype` or `itemprop`, as `name@type` or `name prop=value`. */
function microdata(html: string): string[] {
  const found: string[] = []
  for (const element of elements(parse(html) as unknown as Node)) {
    const type = attribute(element, 'itemtype')
    const prop = attribute(element, 'itemprop')
    if (type !== undefined) found.push(`${element.nodeName}@${type}${prop === undefined ? '' : ` ${prop}`}`)
    else if (prop !== undefined)
      found.push(`${element.nodeName} ${prop}=${attribute(element, 'content') ?? text(element)}`)
  }
  return found
}

const heading = (html: string) =>
  [...elements(parse(html) as unknown as Node)].filter(({ nodeName }) => nodeName === 'h1').map(text)
const links = (html: string) =>
  [...elements(parse(html) as unknown as Node)].flatMap(element => attribute(element, 'href') ?? [])

const refused = (status: number, method = 'GET', resource = '/plan.html') =>
  new Fault(status, status === 401 ? 'Unauthorized' : 'Forbidden', 'refused', { refused: { method, resource } })

describe('error documents', () => {
  it('HTTP-170 DENY-2 an anonymous refusal', () => {
    const html = errorDocument(refused(401, 'PUT'), { ...SITE, method: 'PUT' })
    expect(html).to.match(/^<!DOCTYPE html>/)
    expect(heading(html)).to.deep.equal(['401 Unauthorized'])
    expect(microdata(html)).to.deep.equal([
      `body@${NS}/1.0/Error`,
      'p message=Authentication required to PUT this resource.',
      'dd resource=/plan.html',
    ])
    expect(links(html)).to.deep.equal(['/-platform/oidc/login'])
  })

  it('DENY-2 after a GET the visitor comes back', () => {
    expect(links(errorDocument(refused(401), { ...SITE, path: '/notes/a b&c.html' }))).to.deep.equal([
      '/-platform/oidc/login?redirect-post=%2Fnotes%2Fa%2520b%2526c.html',
      '/',
    ])
    expect(links(errorDocument(refused(401), { ...SITE, query: 'page=2&x=%C3%A9' }))).to.deep.equal([
      '/-platform/oidc/login?redirect-post=%2Fplan.html%3Fpage%3D2%26x%3D%25C3%25A9',
      '/',
    ])
  })

  it('DENY-3 a refusal of somebody signed in leads to no sign-in, but to where another account may be taken', () => {
    const html = errorDocument(refused(403, 'DELETE', '/é'), SITE)
    expect(heading(html)).to.deep.equal(['403 Forbidden'])
    expect(microdata(html)[0]).to.equal(`body@${NS}/1.0/Error`)
    expect(microdata(html)[1]).to.match(/permission to DELETE this resource/)
    expect(microdata(html)[2]).to.equal('dd resource=/é')
    expect(links(html)).to.deep.equal(['/-platform/oidc/logout?redirect-post=%2Fplan.html', '/'])
  })

  it('DENY-4 a refusal tells nothing of the target', () => {
    const { status, headers } = errorAnswer(
      new Fault(401, 'Unauthorized', 'x', {
        refused: { method: 'GET', resource: '/a' },
        headers: { ETag: '"x"', 'Last-Modified': 'x', 'Content-Range': 'bytes */9' },
      }),
      SITE,
    )
    expect(status).to.equal(401)
    expect(headers).to.deep.equal({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'WWW-Authenticate': 'Session realm="site"',
    })
  })

  it('HTTP-170 413 has status and message, and ends the connection', () => {
    const { headers, body } = errorAnswer(new Fault(413, 'PayloadTooLarge', 'Over 1 GiB.'), SITE)
    expect(microdata(String(body))).to.deep.equal([`article@${NS}/Error`, 'meta status=413', 'p message=Over 1 GiB.'])
    expect(headers).to.include({ Connection: 'close' })
  })

  it('HTTP-170, COMP-82 413 of a session that is full names its kind, and the connection goes on', () => {
    const fault = new Fault(413, 'PayloadTooLarge', 'Over 256 KiB.', { isBodyRead: true })
    const { headers, body } = errorAnswer(fault, SITE)
    expect(microdata(String(body))).to.include('meta kind=PayloadTooLarge')
    expect(headers).to.not.have.property('Connection')
  })

  it('HTTP-170 all others', () => {
    const fault = new Fault(416, 'SelectorNoMatch', 'Nothing matches.', { headers: { 'Content-Range': 'bytes */9' } })
    const { headers, body } = errorAnswer(fault, SITE)
    expect(heading(String(body))).to.deep.equal(['416 Range Not Satisfiable'])
    expect(microdata(String(body))).to.deep.equal([
      `article@${NS}/Error`,
      'meta status=416',
      'meta kind=SelectorNoMatch',
      `div@${NS}/error/SelectorNoMatch type`,
      'p message=Nothing matches.',
    ])
    expect(headers).to.include({ 'Content-Range': 'bytes */9' })
  })

  it('HTTP-170 HTTP-171 headers by status', () => {
    const headers = (status: number, kind: Kind, own?: Record<string, string>) =>
      errorAnswer(new Fault(status, kind, 'x', { headers: own }), SITE).headers
    expect(headers(412, 'PreconditionFailed', { ETag: '"a"' })).to.include({ ETag: '"a"' })
    expect(headers(404, 'NotFound', { ETag: '"a"' })).not.to.have.property('ETag')
    expect(headers(503, 'Unavailable')).to.include({ 'Retry-After': '5' })
    expect(headers(503, 'Unavailable', { 'Retry-After': '60' })).to.include({ 'Retry-After': '60' })
    expect(headers(405, 'MethodNotAllowed', { Allow: 'GET' })).to.include({ Allow: 'GET', 'Cache-Control': 'no-store' })
    const basic = { 'WWW-Authenticate': 'Basic realm="x"' }
    expect(headers(401, 'Unauthorized', basic)).to.include(basic)
  })

  it('MOD-130 a document made by validation is sent as it is', () => {
    const document = '<!DOCTYPE html><title>x</title>'
    expect(errorDocument(new Fault(422, 'ConstraintViolation', 'x', { document }), SITE)).to.equal(document)
  })

  it('HTTP-170 MOD-130 browsers get it with style, and what it says of items is the same', () => {
    const { details } = constraintFault(
      NS,
      'shape',
      [{ constraintSelector: 'ul', failedConstraint: 'permit', message: '<b>' }],
      422,
    )
    const fault = new Fault(422, 'ConstraintViolation', 'x', details)
    const plain = errorDocument(fault, SITE)
    const seen = errorDocument(fault, { ...SITE, accept: 'text/html,*/*;q=0.8' })
    expect(plain).to.not.include('<style')
    expect(seen).to.match(/<html lang="en">.*<meta name="viewport".*<style>.*<title>422 .*<main>.*<\/main><\/body>/s)
    expect(microdata(seen)).to.deep.equal(microdata(plain))
  })

  it('HTTP-172 an item of the failure goes into the article', () => {
    const failure = { language: `${NS}/Sessel`, variant: 'timeout', message: 'a < b took too long' } as const
    const html = errorDocument(new Fault(503, 'BudgetExceeded', 'x', { failure }), SITE)
    expect(microdata(html)).to.include(`div@${NS}/BindingFailure failure`)
    expect(html).to.match(/<span itemprop="variant">timeout<.*\n.*a &lt; b took too long<\/span><\/div><\/article>/)
  })

  it('a reader who is lost gets a way out', () => {
    expect(links(errorDocument(new Fault(404, 'NotFound', 'x'), SITE))).to.deep.equal(['/'])
    expect(links(errorDocument(new Fault(404, 'NotFound', 'x'), { ...SITE, path: '/' }))).to.deep.equal([])
    expect(links(errorDocument(new Fault(404, 'NotFound', 'x'), { ...SITE, method: 'PUT' }))).to.deep.equal([])
  })

  it('HTTP-160 request data is escaped, wherever it stands', () => {
    const shape = (html: string) =>
      [...elements(parse(html) as unknown as Node)].map(({ nodeName, attrs }) => [
        nodeName,
        attrs?.map(({ name }) => name),
      ])
    const hostile = fc.string({
      unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', '/', '=', ' ', '<!--', '</style>', '\0', '&lt;', '\ud800'),
    })
    const model = { ...SITE, query: 'q', path: '/x' }
    const shapes = [
      refused(401),
      refused(403),
      new Fault(400, 'BadRequest', 'x'),
      new Fault(413, 'PayloadTooLarge', 'x'),
    ].map(fault => shape(errorDocument(fault, model)))
    fc.assert(
      fc.property(hostile, value => {
        const site = { ...model, query: value, path: `/x${value}` }
        const faults = [
          refused(401, value, value),
          refused(403, value, value),
          new Fault(400, 'BadRequest', value),
          new Fault(413, 'PayloadTooLarge', value),
        ]
        expect(faults.map(fault => shape(errorDocument(fault, site)))).to.deep.equal(shapes)
      }),
      { ...RUNS, numRuns: Math.min(RUNS.numRuns, 2000) },
    )
  })

  it('DAV-100 the article, exactly', () => {
    const facts = {
      status: 409,
      kind: 'ParentDirectoryMissing',
      message: 'The collection /none/ does not exist.',
      ns: NS,
      errorNs: `${NS}/error`,
    }
    expect(errorArticle(facts)).to.equal(
      `<article itemscope itemtype="${NS}/Error"><h1>409 Conflict</h1><meta itemprop="status" content="409">` +
        `<meta itemprop="kind" content="ParentDirectoryMissing"><div itemprop="type" itemscope itemtype="${NS}/error/ParentDirectoryMissing"></div>` +
        '<p itemprop="message">The collection /none/ does not exist.</p></article>',
    )
  })

  it('DAV-101 in its second syntax it is XML and HTML at once', () => {
    const message = '<a> & "b" \'c\' \x01 \ud800 \uffff é'
    const article = errorArticle(
      { status: 423, kind: 'Locked', message, ns: NS, errorNs: `${NS}/error` },
      { xhtml: true },
    )
    const open: string[] = []
    let told = ''
    const parser = new SaxesParser({ xmlns: true })
    parser.on('opentag', ({ local, uri }) => open.push(`${uri} ${local}`))
    parser.on('text', text => {
      told += text
    })
    parser.write(`<D:error xmlns:D="DAV:">${article}</D:error>`).close()
    const xhtml = 'http://www.w3.org/1999/xhtml'
    expect(open).to.deep.equal([
      'DAV: error',
      ...['article', 'h1', 'meta', 'meta', 'div', 'p'].map(name => `${xhtml} ${name}`),
    ])
    expect(told).to.equal('423 Locked<a> & "b" \'c\' \ufffd \ufffd \ufffd é')
    expect(microdata(article)).to.deep.equal([
      `article@${NS}/Error`,
      'meta status=423',
      'meta kind=Locked',
      `div@${NS}/error/Locked type`,
      'p message=<a> & "b" \'c\' \ufffd \ufffd \ufffd é',
    ])
  })

  it('HTTP-160 escaped text reads back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>&"\' aé😀') }), original => {
        const [body] = [...elements(parse(`<body title="${escapeMarkup(original)}">`) as unknown as Node)].filter(
          ({ nodeName }) => nodeName === 'body',
        )
        expect(body && attribute(body, 'title')).to.equal(original)
      }),
      RUNS,
    )
  })
})

describe('security headers', () => {
  const always = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'strict-origin-when-cross-origin' }
  const transport = { 'Strict-Transport-Security': 'max-age=31536000' }
  const page = {
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  }

  it('HTTP-160 by connection and by who made the page', () => {
    const headers = securityHeaders()
    expect(headers(false, false)).to.deep.equal(always)
    expect(headers(true, false)).to.deep.equal({ ...always, ...transport })
    expect(headers(false, true)).to.deep.equal({ ...always, ...page })
    expect(headers(true, true)).to.deep.equal({ ...always, ...transport, ...page })
    expect(headers(true, true)).to.equal(headers(true, true))
  })

  it('HTTP-160 settings', () => {
    const headers = securityHeaders({ referrerPolicy: 'no-referrer', strictTransport: undefined })
    expect(headers(true, false)).to.deep.equal({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    })
  })
})
