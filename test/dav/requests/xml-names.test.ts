/** Names in XML bodies: those that every parser of XML 1.0 knows (RFC 4918 builds on the fourth edition). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseXmlBody } from '../../../dav/requests/xml.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { holdsForeignName } from '../../../pipeline/tree/foreign-names.ts'
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
/** What no tag may say. */
const XML = 'xmlns="http://www.w3.org/XML/1998/namespace"'
/** Only in the fifth edition, or in none. */
const FOREIGN = [
  '😀',
  'a😀',
  '\u{10000}',
  '\u0132x',
  '\u200cx',
  '\u16a0',
  '\u1200',
  'x\u2070',
  '\u01c4',
  'a\u0f02',
  'a\u1680b',
  'a\ufeffb',
]

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
    ['an instruction', name => `<a><?${name} b?></a>`],
    ['a prefix', name => `<a xmlns:${name}="urn:x"><${name}:b/></a>`],
  ]
  for (const [what, form] of FORMS) {
    for (const name of KNOWN)
      it(`DAV-32 ${name} is the name of ${what}`, () => expect(outcome(form(name))).to.equal('read'))
    for (const name of FOREIGN)
      it(`DAV-32 ${name} is no name of ${what}`, () => expect(outcome(form(name))).to.equal('400 MalformedXml'))
    it(`DAV-35 names of ${what} are found in a stored value`, () => {
      for (const name of KNOWN) expect(holdsForeignName(form(name)), name).to.equal(false)
      for (const name of FOREIGN) expect(holdsForeignName(form(name)), name).to.equal(true)
    })
  }

  const FREE: ((text: string) => string)[] = [
    text => `<a><!--${text}-->${text}</a>`,
    text => `<a><![CDATA[${text}<${text}>]]>${text}</a>`,
    text => `<a><?b ${text}<${text}?>${text}</a>`,
    text => `<a b="${text}>${text}'" c = '${text}"${text}>'>${text}"${text}'=<b/>${text}</a>`,
  ]
  it('DAV-35 a stored value may hold anything where no name stands', () => {
    for (const name of FOREIGN)
      for (const form of FREE) expect(holdsForeignName(form(name)), form(name)).to.equal(false)
    for (const name of FOREIGN)
      for (const form of FREE)
        expect(holdsForeignName(`<x>${form(name)}<b ${name}='' /></x>`), form(name)).to.equal(true)
  })

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

  for (const inside of [
    '<\u{10000} xmlns="urn:x">v</\u{10000}>',
    '<p xmlns="urn:x"><\u16a0/></p>',
    '<p:1 xmlns:p="urn:x">v</p:1>',
    '<p xmlns="urn:x"><?y?z?></p>',
  ])
    it(`DAV-35 ${inside} is stored by no PROPPATCH, nor is anything beside it`, async () => {
      const body = `<propertyupdate xmlns="DAV:"><set><prop><b xmlns="urn:x">1</b>${inside}</prop></set></propertyupdate>`
      expect((await mount('PROPPATCH', '/a.html', {}, body)).status).to.equal(400)
      const { text } = await mount('PROPFIND', '/a.html', { Depth: '0' })
      expect(text).not.to.match(/urn:x|\u{10000}|\u16a0/u)
    })

  it('DAV-35 those that were stored before are not told, and what stands beside them is', async () => {
    const { site } = server
    const set = [
      { namespace: 'urn:x', name: '\u{10000}', value: 'v' },
      { namespace: 'urn:x', name: 'p', value: '<p xmlns="urn:x"><\u16a0/></p>' },
      { namespace: 'urn:x', name: 'q', value: '<q xmlns="urn:x"><b/>\u{10000}</q>' },
      { namespace: 'urn:x', name: '1', value: 'v' },
      { namespace: 'urn:x', name: 'r', value: '\u{10000}' },
      { namespace: 'urn:x', name: 's', value: '<s xmlns="urn:x" a="u:-1" b="·:·">8:30<!-- u:-1 --></s>' },
      { namespace: 'urn:x', name: 't', value: '<t xmlns="urn:x"><b xmlns:u="urn:y" u:1="c"/></t>' },
      { namespace: 'urn:x', name: 'u', value: '<u xmlns="urn:x" xmlns:1="urn:y">v</u>' },
      { namespace: 'urn:x', name: 'v', value: `<x:v xmlns:x="urn:x" ${XML}><b/></x:v>` },
      { namespace: 'urn:x', name: 'w', value: `<w xmlns="urn:x"><b/> ${XML}</w>` },
    ]
    await site.commit({ changes: [{ op: 'describe', path: '/a.html', set, remove: [] }] })
    const prop = '<prop xmlns:u="urn:x"><u:p/><u:q/><u:s/><u:t/><u:u/><u:v/><u:w/></prop>'
    for (const asked of ['', '<propname/>', prop])
      for (const [path, depth] of [
        ['/a.html', '0'],
        ['/', '1'],
      ] as const) {
        const body = asked && `<propfind xmlns="DAV:">${asked}</propfind>`
        const { status, text } = await mount('PROPFIND', path, { Depth: depth }, body)
        expect([status, /<[^>]*[\u{10000}\u16a0]|<([^>]*:)?1/u.test(text)], asked).to.deep.equal([207, false])
        expect(text, asked).to.match(/<(x:)?q xmlns/)
        expect(text, asked).to.match(/<(x:)?s xmlns/)
        expect(text, asked).to.match(/<(x:)?w xmlns/)
        expect(text, asked).not.to.match(/<[^<>]*XML\/1998/)
      }
  })
})
