/** Documents that declare another encoding than UTF-8: nobody may read other characters than were written (HTTP-23, HTTP-24). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, textOf } from '../write-checks.ts'

const DECLARED = '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
const FEED = `${DECLARED}<feed><entry id="a">one</entry></feed>\n`

describe('Documents that declare another encoding', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
  })
  after(() => server.close())
  beforeEach(() =>
    putAll(server, {
      '/rules.html': rulesPage(['*', '*', 'Allow', '/*']),
      '/feed.xml': FEED,
    }),
  )

  it('HTTP-80 markup in ASCII is written, with references for what is not', async () => {
    const answer = await http('PUT', '/feed.xml', selecting('#a'), '<entry id="a">caf&#233;</entry>')
    expect(answer.status).to.equal(206)
    expect(await textOf(server, '/feed.xml')).to.equal(FEED.replace('one', 'caf&#233;'))
  })

  for (const [method, selector] of [
    ['PUT', '#a'],
    ['POST', 'feed'],
  ] as const)
    it(`HTTP-80 ${method} of other characters is 422`, async () => {
      const refused = await leavesAlone(server, ['/feed.xml'], () =>
        http(method, '/feed.xml', selecting(selector), '<entry>café</entry>'),
      )
      expect(failureOf(refused)).to.equal('422 InvalidFragment')
      expect(refused.text).to.include('declares ISO-8859-1')
    })

  for (const declaration of ['', DECLARED.replace('ISO-8859-1', 'utf-8'), DECLARED.replace('ISO-8859-1', 'UTF8')])
    it(`HTTP-80 they are written under ${declaration.trim() || 'no declaration'}`, async () => {
      await putAll(server, { '/feed.xml': FEED.replace(DECLARED, declaration) })
      expect((await http('POST', '/feed.xml', selecting('feed'), '<entry>café</entry>')).status).to.equal(206)
    })

  it('HTTP-80 they are written where the author has written such characters before', async () => {
    await putAll(server, { '/feed.xml': FEED.replace('one', 'tür') })
    expect((await http('POST', '/feed.xml', selecting('feed'), '<entry>café</entry>')).status).to.equal(206)
  })

  for (const text of ['中', '\u2028', '中\u00a0'])
    it(`HTTP-80 none there that browsers read with the end of CDATA: ${JSON.stringify(text)}`, async () => {
      await putAll(server, { '/feed.xml': FEED.replace('ISO-8859-1', 'gbk').replace('one', 'tür') })
      const markup = `<entry><![CDATA[${text}]]><!-- ]]><b/><![CDATA[ --></entry>`
      expect(failureOf(await http('POST', '/feed.xml', selecting('feed'), markup))).to.equal('422 InvalidFragment')
    })

  const PAGE = '<!doctype html><title>t</title><p id="a">one</p>'
  const typed = async (type: string, text: string) => {
    expect((await http('PUT', '/page', { 'Content-Type': type }, text)).status).to.be.oneOf([200, 201])
  }

  it('HTTP-20 HTTP-24 so is what the stored type of a page without extension names', async () => {
    await typed('text/html; charset="iso-8859-1"', PAGE)
    for (const [method, markup] of [
      ['PUT', '<p id="a">café</p>'],
      ['POST', '<i>é</i>'],
    ] as const) {
      const refused = await leavesAlone(server, ['/page'], () => http(method, '/page', selecting('#a'), markup))
      expect(failureOf(refused)).to.equal('422 InvalidFragment')
      expect(refused.text).to.include('declares iso-8859-1')
    }
    expect((await http('PUT', '/page', selecting('#a'), '<p id="a">caf&#233;</p>')).status).to.equal(206)
  })

  for (const [type, text] of [
    ['text/html', PAGE],
    ['text/html; charset=UTF-8', PAGE],
    ['text/html; charset=', PAGE],
    ['text/html; x="; charset=iso-8859-1"', PAGE],
    ['text/html; charset=iso-8859-1', PAGE.replace('one', 'tür')],
  ] as const)
    it(`HTTP-24 a page of the type ${type} is written${text === PAGE ? '' : ' that has such characters'}`, async () => {
      await typed(type, text)
      expect((await http('PUT', '/page', selecting('#a'), '<p id="a">café</p>')).status).to.equal(206)
    })

  for (const type of [
    'text/html; charset=iso-2022-jp',
    'text/html; charset=none',
    'text/html; x="\\"; charset=utf-8"; CHARSET="iso-2022-jp"',
  ])
    it(`HTTP-24 KEY-1 an escape that would make other characters of what follows is not added to ${type}`, async () => {
      await typed(type, PAGE.replace('<title>', '<meta charset="iso-2022-jp"><title>').replace('one', 'tür'))
      const refused = await http('POST', '/page', selecting('#a'), '<i>\u001b$B</i>')
      expect(failureOf(refused)).to.equal('422 InvalidFragment')
    })

  it('HTTP-24 an escape is added where it means nothing', async () => {
    await typed('text/html; charset=shift_jis', PAGE)
    expect((await http('POST', '/page', selecting('#a'), '<i>\u001b$B</i>')).status).to.equal(206)
  })

  for (const [type, sent] of [
    ['text/html; charset=', 'text/html; charset=utf-8'],
    ['text/html; charset=""; x=y', 'text/html; charset=utf-8'],
    ['text/html; charset=iso-8859-1', 'text/html; charset=iso-8859-1'],
  ] as const)
    it(`HTTP-23 a page of the type ${type} is sent as ${sent}, whatever it says of itself`, async () => {
      await typed(type, PAGE)
      expect((await http('GET', '/page')).headers['content-type']).to.equal(sent)
    })

  it('HTTP-24 a composed page says in which charset it is sent', async () => {
    await putAll(server, { '/part.html': '<b>café</b>' })
    await typed(
      'text/html; charset=iso-2022-jp',
      `<html xmlns:p="${NS}/1.0"><p:include resource="/part.html" selector="b"/></html>`,
    )
    const answer = await http('GET', '/page')
    const part = await http('GET', '/page', selecting('b'))
    const both = await http('QUERY', '/page', { 'Content-Type': 'text/css-selector' }, 'b')
    for (const each of [answer, part]) expect(each.headers['content-type']).to.equal('text/html; charset=utf-8')
    for (const each of [answer, part, both]) expect(each.text).to.include('<b>café</b>')
    expect(both.text).to.include('text/html; charset=utf-8').and.not.include('iso-2022-jp')
  })

  it('HTTP-24 a composed page declares what it is sent in', async () => {
    await putAll(server, {
      '/part.xml': '<r><b>café</b></r>',
      '/all.xml': `${DECLARED}<all xmlns:p="${NS}/1.0"><p:include resource="/part.xml" selector="b"/></all>`,
    })
    const answer = await http('GET', '/all.xml')
    const type = 'application/atom+xml; type=entry; charset=iso-8859-1'
    await http('PUT', '/all', { 'Content-Type': type }, answer.text)
    expect((await http('GET', '/all')).headers['content-type']).to.equal(type.replace('iso-8859-1', 'utf-8'))
    expect(answer.text).to.match(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<all[^>]*><b>café<\/b><\/all>$/)
  })
})
