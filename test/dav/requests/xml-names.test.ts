/** Names in XML bodies: those that every parser of XML 1.0 knows (RFC 4918 builds on the fourth edition). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseXmlBody } from '../../../dav/requests/xml.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { page, put } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const KNOWN = [
  'a',
  'é',
  'schlüssel',
  'ключ',
  '日本語',
  '한국',
  'a·b',
  'x\u0661',
  'e\u0301',
  '_-.',
  'ﬀ'.normalize('NFKC'),
]
/** Only in the fifth edition, or in none. */
const FOREIGN = ['😀', 'a😀', '\u{10000}', '\u0132x', '\u200cx', '\u16a0', '\u1200', 'x\u2070', '\u01c4', 'a\u0f02']

function outcome(body: string): string {
  try {
    parseXmlBody(Buffer.from(body))
    return 'read'
  } catch (error) {
    return error instanceof Fault ? `${error.status} ${error.kind}` : String(error)
  }
}

describe('names in XML bodies', () => {
  const FORMS: [what: string, form: (name: string) => string][] = [
    ['an element', name => `<a><${name}/></a>`],
    ['an attribute', name => `<a><b ${name}=""/></a>`],
    ['a prefix', name => `<a xmlns:${name}="urn:x"><${name}:b/></a>`],
  ]
  for (const [what, form] of FORMS) {
    for (const name of KNOWN)
      it(`DAV-32 ${name} is the name of ${what}`, () => expect(outcome(form(name))).to.equal('read'))
    for (const name of FOREIGN)
      it(`DAV-32 ${name} is no name of ${what}`, () => expect(outcome(form(name))).to.equal('400 MalformedXml'))
  }

  it('DAV-32 text, comments and values of attributes are free', () => {
    for (const name of FOREIGN)
      expect(outcome(`<a><!--${name}--><b c="${name}">${name}<![CDATA[${name}]]></b></a>`)).to.equal('read')
  })
})

describe('properties with names that older parsers do not know', () => {
  let server: TestServer
  let mount: Client

  before(async () => {
    server = await startServer()
    const authorization = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${authorization}` })
    await put(server, '/a.html', page('x'))
  })
  after(() => server.close())

  for (const inside of ['<\u{10000} xmlns="urn:x">v</\u{10000}>', '<p xmlns="urn:x"><\u16a0/></p>'])
    it(`DAV-35 ${inside} is stored by no PROPPATCH, nor is anything beside it`, async () => {
      const body = `<propertyupdate xmlns="DAV:"><set><prop><b xmlns="urn:x">1</b>${inside}</prop></set></propertyupdate>`
      expect((await mount('PROPPATCH', '/a.html', {}, body)).status).to.equal(400)
      const { text } = await mount('PROPFIND', '/a.html', { Depth: '0' })
      expect(text).not.to.match(/urn:x|\u{10000}|\u16a0/u)
    })
})
