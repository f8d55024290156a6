/** One article for readers of HTML, which is the RFC's XML body as well where a precondition code exists (DAV-100, DAV-101). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type DefaultTreeAdapterMap, parse } from 'parse5'
import { SaxesParser } from 'saxes'
import { type ErrorContext, errorAnswer } from '../../../dav/answers/error-answer.ts'
import { Fault, type Precondition } from '../../../pipeline/fault.ts'
import { NS } from '../../support/content.ts'

const CONTEXT: ErrorContext = { ns: NS, errorNs: `${NS}/error`, prefix: '', accept: undefined }
const XHTML = 'http://www.w3.org/1999/xhtml'

/** Every code of DAV-101, with the failures that carry it. A code that is forgotten here does not compile. */
const CODES: Readonly<Record<Precondition['code'], { status: number; kind: Fault['kind']; paths?: string[] }>> = {
  'propfind-finite-depth': { status: 403, kind: 'FiniteDepthOnly' },
  'valid-resourcetype': { status: 403, kind: 'Forbidden' },
  'supported-report': { status: 403, kind: 'Forbidden' },
  'valid-sync-token': { status: 403, kind: 'Forbidden' },
  'lock-token-matches-request-uri': { status: 409, kind: 'LockTokenMismatch' },
  'lock-token-submitted': { status: 423, kind: 'Locked', paths: ['/plan.html'] },
  'no-conflicting-lock': { status: 423, kind: 'Locked', paths: ['/a & b/<é>.html', '/"c"\'d\'.html'] },
  'quota-not-exceeded': { status: 507, kind: 'AllowanceExhausted' },
}
const HREFS = ['/a%20%26%20b/%3C%C3%A9%3E.html', "/%22c%22'd'.html"]

const MESSAGES = [
  'The collection /none/ does not exist.',
  'Less < more > & "quoted" \'single\' ]]> <!-- --> &amp; &nbsp; \u00a0',
  '</p></article><script>alert(1)</script><article itemscope itemtype="x">',
  'ünïcödé 日本語 😀 \u202e',
]

type Node = DefaultTreeAdapterMap['node']
type Element = DefaultTreeAdapterMap['element']

const attribute = (element: Element, name: string) => element.attrs.find(each => each.name === name)?.value

function elementsIn(node: Node): Element[] {
  const children = 'childNodes' in node ? node.childNodes.flatMap(child => elementsIn(child)) : []
  return 'tagName' in node ? [node, ...children] : children
}

function textIn(node: Node): string {
  if ('value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(textIn).join('') : ''
}

/** What a reader of microdata finds. */
function readHtml(html: string) {
  const elements = elementsIn(parse(html))
  const property = (name: string) => elements.filter(element => attribute(element, 'itemprop') === name)
  const [message] = property('message')
  return {
    items: elements.flatMap(element =>
      attribute(element, 'itemscope') === undefined ? [] : [attribute(element, 'itemtype')],
    ),
    status: property('status').map(element => attribute(element, 'content')),
    kind: property('kind').map(element => attribute(element, 'content')),
    type: property('type').map(element => attribute(element, 'itemtype')),
    message: message && textIn(message),
    headings: elements.filter(({ tagName }) => tagName === 'h1').map(textIn),
    scripts: elements.filter(({ tagName }) => tagName === 'script').length,
  }
}

/** What a reader of XML finds. @throws where it is not well formed */
function readXml(xml: string) {
  const names: string[] = []
  const within: string[] = []
  const hrefs: string[] = []
  const metas: Record<string, string> = {}
  let message = ''
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ uri, local, attributes }) => {
    names.push(`{${uri}}${local}`)
    within.push(attributes.itemprop?.value ?? local)
    if (local === 'href') hrefs.push('')
    if (local === 'meta') metas[attributes.itemprop?.value ?? ''] = attributes.content?.value ?? ''
  })
  parser.on('text', text => {
    if (within.at(-1) === 'message') message += text
    if (within.at(-1) === 'href') hrefs[hrefs.length - 1] += text
  })
  parser.on('closetag', () => void within.pop())
  parser.write(xml).close()
  return { names, hrefs, metas, message }
}

describe('error answers of the mount', () => {
  for (const [code, { status, kind, paths }] of Object.entries(CODES) as [
    Precondition['code'],
    (typeof CODES)[Precondition['code']],
  ][])
    for (const message of MESSAGES)
      it(`DAV-101 ${code}: ${message.slice(0, 30)}`, () => {
        const fault = new Fault(status, kind, message, { precondition: { code, ...(paths && { paths }) } })
        const body = String(errorAnswer(fault, CONTEXT).body)

        const html = readHtml(body)
        expect(html.items).to.deep.equal([`${NS}/Error`, `${NS}/error/${kind}`])
        expect(html).to.deep.include({ status: [String(status)], kind: [kind], type: [`${NS}/error/${kind}`], message })
        expect(html.headings).to.have.length(1)
        expect(html.headings[0]).to.match(new RegExp(`^${status} `))
        expect(html.scripts).to.equal(0)

        const xml = readXml(body)
        expect(xml.names.slice(0, 2)).to.deep.equal(['{DAV:}error', `{DAV:}${code}`])
        expect(xml.names.filter(name => name.startsWith('{DAV:}'))).to.have.length(2 + (paths?.length ?? 0))
        expect(
          xml.names.filter(name => !name.startsWith('{DAV:}')).every(name => name.startsWith(`{${XHTML}}`)),
        ).to.equal(true)
        expect(xml).to.deep.include({ metas: { status: String(status), kind }, message })
        expect(xml.hrefs).to.deep.equal(code === 'no-conflicting-lock' ? HREFS : (paths ?? []))
        expect(body, 'HTML knows no self-closing').to.not.match(/<D:[^>]*\/>/)
        expect(body, 'references that XML knows').to.not.match(/&(?!(amp|lt|gt|quot);|#)/)
      })

  it('DAV-1 paths have the prefix of the mount', () => {
    const precondition = { code: 'lock-token-submitted', paths: ['/a.html'] } as const
    const { body } = errorAnswer(new Fault(423, 'Locked', 'x', { precondition }), { ...CONTEXT, prefix: '/edit/it' })
    expect(readXml(String(body)).hrefs).to.deep.equal(['/edit/it/a.html'])
  })

  for (const message of MESSAGES)
    it(`DAV-100 without a code, one article in a page: ${message.slice(0, 30)}`, () => {
      const { headers, body } = errorAnswer(new Fault(409, 'ParentDirectoryMissing', message), CONTEXT)
      expect(headers['Content-Type']).to.equal('text/html; charset=utf-8')
      const html = readHtml(String(body))
      expect(html.items).to.deep.equal([`${NS}/Error`, `${NS}/error/ParentDirectoryMissing`])
      expect(html).to.deep.include({ status: ['409'], kind: ['ParentDirectoryMissing'], message, scripts: 0 })
    })

  it('DAV-100 a page with style for browsers, without for programs that show its bytes', () => {
    const fault = new Fault(404, 'NotFound', 'Nothing is here.')
    const bodyFor = (accept: string | undefined) => String(errorAnswer(fault, { ...CONTEXT, accept }).body)
    expect(bodyFor('text/html, */*;q=0.8')).to.match(/^<!DOCTYPE html>\n<html lang="en"><head>.*<style>/)
    for (const accept of [undefined, '*/*', 'text/plain'])
      expect(bodyFor(accept)).to.match(
        /^<!DOCTYPE html>\n(?!.*<style>).*<title>404 Not Found<\/title><\/head>\n<body>\n/s,
      )
  })

  const DETAILS: [name: string, document: string, detail: string][] = [
    [
      'an element',
      '<!DOCTYPE html><title>x</title><div itemscope itemtype="urn:V"><meta itemprop="check" content="type"></div>',
      '<div itemscope="" itemtype="urn:V"><meta itemprop="check" content="type"></div>',
    ],
    [
      'the body, as a div',
      '<!DOCTYPE html><body itemscope itemtype="urn:V" class="v"><p itemprop="a">1</p></body>',
      '<div itemscope="" itemtype="urn:V" class="v"><p itemprop="a">1</p></div>',
    ],
    ['no item', '<!DOCTYPE html><p>x</p>', ''],
  ]
  for (const [name, document, detail] of DETAILS)
    it(`DAV-100 detail is what the pipeline said: ${name}`, () => {
      const { body } = errorAnswer(new Fault(422, 'SchemaViolation', 'x', { document }), CONTEXT)
      const wanted = detail === '' ? '</p></article>' : `</p><div itemprop="detail">${detail}</div></article>`
      expect(String(body)).to.include(wanted)
    })

  it('HTTP-172 a spent budget is 507 AllowanceExhausted here', () => {
    const failure = { language: 'x:y', variant: 'out-of-memory', message: 'a < b' } as const
    const { status, headers, body } = errorAnswer(
      new Fault(503, 'BudgetExceeded', 'Too much work.', { failure }),
      CONTEXT,
    )
    expect(status).to.equal(507)
    expect(headers).not.to.have.property('Retry-After')
    expect(readHtml(String(body))).to.deep.include({
      status: ['507'],
      kind: ['AllowanceExhausted'],
      message: 'Too much work.',
    })
    expect(String(body)).to.match(/BindingFailure">\n<span itemprop="language">x:y<.*\n.*out-of-memory<.*\n.*a &lt; b</)
  })

  const HEADERS: [status: number, kind: Fault['kind'], name: string, value: RegExp][] = [
    [405, 'MethodNotAllowed', 'Allow', /^OPTIONS, GET.*REPORT$/],
    [413, 'PayloadTooLarge', 'Connection', /^close$/],
    [408, 'Timeout', 'Connection', /^close$/],
    [503, 'Unavailable', 'Retry-After', /^\d+$/],
    [404, 'NotFound', 'Cache-Control', /^no-store$/],
    [404, 'NotFound', 'Content-Security-Policy', /default-src 'none'/],
  ]
  for (const [status, kind, name, value] of HEADERS)
    it(`DAV-102 ${status} brings ${name}`, () => {
      expect(errorAnswer(new Fault(status, kind, 'x'), CONTEXT).headers[name]).to.match(value)
    })

  it('DAV-102 what the failure brings wins', () => {
    const fault = new Fault(503, 'Unavailable', 'x', { headers: { 'Retry-After': '1', 'X-Own': 'y' } })
    expect(errorAnswer(fault, CONTEXT).headers).to.include({ 'Retry-After': '1', 'X-Own': 'y' })
  })
})
