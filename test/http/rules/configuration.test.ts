import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, type RuleLine, ruleMarkup, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting } from '../write-checks.ts'

const DENY = ruleMarkup(['*', 'PUT', 'Deny', '/guarded.html'])
const TABLE =
  `<table id="rules" itemscope itemtype="${NS}/AuthorizationRule"><tr id="row"><td itemprop="actor">*</td>` +
  '<td itemprop="resource">/guarded.html</td><td itemprop="method">PUT</td><td itemprop="action">Deny</td></tr></table>'
const SCHEMA = `<div id="schema" itemscope itemtype="${NS}/Schema"><b itemprop="type">https://x.example/T</b></div>`
const TRIGGER = `<div id="trigger" itemscope itemtype="${NS}/Trigger"><b itemprop="method">PUT</b></div>`

/** What a rule says that grants the whole of a document, unless something narrows it. */
const GRANT = ['actor:*', 'method:PUT', 'action:Allow', 'resource:/narrow.html']
  .map(field => field.split(':'))
  .map(([name, value]) => `<meta itemprop="${name}" content="${value}">`)
  .join('')

/** A page of which visitors may write every part, but not the whole. */
const PAGE = page(
  [
    `<ul id="list"><li id="plain">a</li><li id="holder">${DENY}</li><li id="last">z</li></ul>`,
    `<template id="shelf"></template>${TABLE}${SCHEMA}${TRIGGER}`,
    `<div id="staff" itemscope itemtype="${NS}/Group"><ul id="members"><li id="ann" itemprop="member">ann@x.example</li>` +
      '<li id="bob" itemprop="member">bob@x.example</li></ul><b itemprop="name">staff</b></div>',
    `<div itemscope itemtype="${NS}/Group" itemref="cleo dot"><b itemprop="name">owners</b></div>`,
    `<div itemscope itemtype="${NS}/Group" itemref="own"><b itemprop="name">guests</b><ul id="own"></ul>` +
      '<ul id="lent"><li id="dot" itemprop="member">dot@x.example</li></ul></div>',
    `<div id="split" itemscope itemtype="${NS}/AuthorizationRule" itemref="fields"><b itemprop="actor">*</b></div>`,
    '<p id="fields"><b itemprop="method">PUT</b><b itemprop="action">Deny</b><b itemprop="resource">/other.html</b></p>',
    `<div id="both"><div id="narrow"><div id="within"><b itemprop="selector">#a</b>${DENY}</div></div>${DENY}</div>`,
    `<div hidden itemscope itemtype="${NS}/AuthorizationRule" itemref="narrow">${GRANT}</div>`,
  ].join('\n'),
)
const EVERY_PART: RuleLine[] = [
  ['*', 'PUT|POST|DELETE', 'Allow', '/page.html', '*'],
  ['*', 'MOVE', 'Allow', '/page.html'],
]

const move = (from: string, to: string) => ['MOVE', moving('/page.html', from, to, 'append'), undefined] as const
const remove = (selector: string) => ['DELETE', selecting(selector), undefined] as const
const replace = (selector: string, text: string) => ['PUT', selecting(selector), text] as const
const append = (selector: string, text: string) => ['POST', selecting(selector), text] as const

type Write = readonly [method: string, fields: Record<string, string>, body: string | undefined]

const CONFIGURING: [name: string, write: Write][] = [
  ['a deny is deleted', remove('#holder > div')],
  ['what holds a deny is deleted', remove('#holder')],
  ['a whole list that holds one is deleted', remove('#list')],
  ['a deny is replaced by nothing of the kind', replace('#holder', '<li>nice</li>')],
  ['a deny is moved away', move('#holder', '#members')],
  ['a deny is moved out of effect', move('#holder', '#shelf')],
  ['a field of a rule is deleted', remove('#holder [itemprop="actor"]')],
  ['a cell of a table of rules is replaced', replace('#row td:last-child', '<td itemprop="action">Allow</td>')],
  ['a row of a table of rules is deleted', remove('#row')],
  ['a field is moved into a rule', move('#fields b', '#row td')],
  ['what a rule refers to is deleted', remove('#fields')],
  ['a rule is deleted with what another one refers to', remove('#both')],
  ['a rule is deleted with a part of what another one refers to', remove('#within')],
  ['a value that a rule refers to is replaced', replace('#fields b', '<b itemprop="method">GET</b>')],
  ['a schema is deleted', remove('#schema')],
  ['a field of a schema is deleted', remove('#schema b')],
  ['a trigger is deleted', remove('#trigger')],
  ['a group is deleted', remove('#staff')],
  ['a group is moved out of effect', move('#staff', '#shelf')],
  ['a group is given another name by its members', replace('#ann', '<li itemprop="name">editors</li>')],
  ['a member is moved in from outside', move('#plain', '#members')],
  ['a member is one of another group, too', append('#members', '<li id="cleo" itemprop="member">cleo@x.example</li>')],
  ['a member becomes one of another group', replace('#ann', '<li id="cleo" itemprop="member">ann@x.example</li>')],
  ['a member of two groups is deleted', remove('#dot')],
  ['something is added to a member of two groups', append('#dot', '<b itemprop="member">eve@x.example</b>')],
]

/** What is deleted is no item, or not only items, so that those that stay say something else: no DELETE of the whole would do that. */
const CHANGING_BY_DELETION = new Set([
  'a field of a rule is deleted',
  'a row of a table of rules is deleted',
  'what a rule refers to is deleted',
  'a rule is deleted with what another one refers to',
  'a rule is deleted with a part of what another one refers to',
  'a field of a schema is deleted',
  'a member of two groups is deleted',
])

/** Writes that leave the configuration alone, or to which its author has let people in. */
const ORDINARY: [name: string, write: Write][] = [
  ['an element beside configuration is deleted', remove('#plain')],
  ['an element beside configuration is replaced', replace('#plain', '<li id="plain">b</li>')],
  ['an element is moved past configuration', move('#plain', '#list')],
  ['GRP-6 a member is deleted', remove('#ann')],
  ['GRP-6 a member is replaced', replace('#ann', '<li itemprop="member">cy@x.example</li>')],
  ['GRP-6 a member is moved', move('#ann', '#members')],
  ['GRP-6 a member is added where its group refers to', append('#own', '<li itemprop="member">eve@x.example</li>')],
  ['an emptied template is deleted', remove('#shelf')],
]

describe('writes to parts of a page that would configure the site', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
  })
  after(() => server.close())
  beforeEach(() => put(server, '/page.html', PAGE))

  const grant = (...more: RuleLine[]) => put(server, '/rules.html', rulesPage(...EVERY_PART, ...more))

  for (const [name, [method, fields, body]] of CONFIGURING) {
    it(`COMP-147 ${name}: not by whoever may only write parts`, async () => {
      // A member that has no address yet takes part in nothing until it is moved.
      if (name.startsWith('a member'))
        await put(server, '/page.html', PAGE.replace('"plain"', '"plain" itemprop="member"'))
      await grant()
      const answer = await leavesAlone(server, ['/page.html'], () => http(method, '/page.html', fields, body))
      expect(failureOf(answer)).to.equal(body === undefined ? '401 /page.html' : '422 InvalidFragment')
    })
    it(`COMP-147 ${name}: by whoever may PUT the whole`, async () => {
      await grant(['*', 'PUT', 'Allow', '/page.html'])
      const { status, text } = await http(method, '/page.html', fields, body)
      expect(status, text).to.be.oneOf([204, 206])
    })
    if (method === 'PUT')
      it(`SEC-8 ${name}: not by whoever may DELETE the whole`, async () => {
        await grant(['*', 'DELETE', 'Allow', '/page.html'])
        expect(failureOf(await http(method, '/page.html', fields, body))).to.equal('422 InvalidFragment')
      })
    const isChange = CHANGING_BY_DELETION.has(name)
    if (method === 'DELETE')
      it(`SEC-8 ${name}: ${isChange ? 'not ' : ''}by whoever may DELETE the whole`, async () => {
        await grant(['*', 'DELETE', 'Allow', '/page.html'])
        expect((await http(method, '/page.html', fields)).status).to.equal(isChange ? 401 : 204)
      })
  }

  for (const [name, [method, fields, body]] of ORDINARY) {
    it(`COMP-147 ${name}: by whoever may write that part`, async () => {
      await grant()
      const { status, text } = await http(method, '/page.html', fields, body)
      expect(status, text).to.be.oneOf([204, 206])
    })
  }

  it('COMP-147 the answer is that of any refusal', async () => {
    await grant()
    const configuring = await http('DELETE', '/page.html', selecting('#holder'))
    await put(server, '/rules.html', rulesPage())
    const refused = await http('DELETE', '/page.html', selecting('#holder'))
    expect(configuring.text).to.equal(refused.text)
    expect(configuring.status).to.equal(refused.status)
  })

  it('COMP-147 MNT-2 on the mount by whose credentials open the document, which they may replace as a whole', async () => {
    await grant()
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    const mount = client(Number(new URL(server.mountUrl).port), { authorization: `Basic ${basic}` })
    expect((await mount('DELETE', '/page.html', selecting('#holder'))).status).to.equal(204)
    expect((await mount('PUT', '/page.html', selecting('#row td'), '<td itemprop="actor">ann</td>')).status).to.equal(
      206,
    )
  })

  it('COMP-147 a group of a type of its own may stand anywhere on a page that others write', async () => {
    const type = 'https://x.example/Club'
    const parent = `<b itemprop="type">${type}</b><b itemprop="parent">${NS}/Group</b>`
    await put(server, '/model.html', page(`<div itemscope itemtype="${NS}/Schema">${parent}</div>`))
    const club = `<div itemscope itemtype="${type}"><b itemprop="name">club</b><ul id="in"><li itemprop="member">a@b.example</li></ul></div>`
    await put(server, '/page.html', page(`<ul id="list"><li>a</li></ul>${club}`))
    await grant()
    expect((await http('DELETE', '/page.html', selecting('#list li'))).status).to.equal(204)
    expect(
      (await http('POST', '/page.html', selecting('#in'), '<li itemprop="member">c@d.example</li>')).status,
    ).to.equal(206)
    const joined = server.site.rules.groupsNamed('club').flatMap(group => [...group.members])
    expect(joined).to.deep.equal(['a@b.example', 'c@d.example'])
    expect(failureOf(await http('POST', '/page.html', selecting('#list'), club))).to.equal('422 InvalidFragment')
  })

  it('COMP-147 GRP-4 a group that decides by what it holds is changed by nobody who was only let write inside', async () => {
    const type = 'https://x.example/Domain'
    const method =
      `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">` +
      '<script itemprop="implementation" type="text/sessel">email.endsWith(self.suffix)</script></div>'
    const schema = `<b itemprop="type">${type}</b><b itemprop="parent">${NS}/Group</b>${method}`
    await put(server, '/model.html', page(`<div itemscope itemtype="${NS}/Schema">${schema}</div>`))
    const group = `<div itemscope itemtype="${type}"><b itemprop="name">d</b><p id="in"><b itemprop="suffix">@x.example</b></p></div>`
    await put(server, '/page.html', page(`<p id="out">x</p>${group}`))
    await grant()
    const wider = '<b itemprop="suffix"></b>'
    for (const [name, [how, fields, body]] of [
      ['POST', ['POST', selecting('#in', 'prepend'), wider]],
      ['PUT', replace('#in b', wider)],
    ] as const) {
      const answer = await leavesAlone(server, ['/page.html'], () => http(how, '/page.html', fields, body))
      expect(failureOf(answer), name).to.equal('422 InvalidFragment')
    }
    expect(failureOf(await http('DELETE', '/page.html', selecting('#in b')))).to.equal('401 /page.html')
    expect((await http('DELETE', '/page.html', selecting('#out'))).status).to.equal(204)
    const plain = `<div itemscope itemtype="${NS}/Group"><b itemprop="name">staff</b><ul id="list"></ul></div>`
    const referring = group.replace('itemscope', '$& itemref="more"')
    await put(
      server,
      '/page.html',
      page(`${plain}<p id="out">x</p><p id="has"><i id="old">y</i></p>${referring}<p id="more"><b id="much">z</b></p>`),
    )
    for (const [name, [how, fields, body]] of [
      ['an entry of another group', ['POST', selecting('#list'), '<li id="more" itemprop="member">ann@x.example</li>']],
      ['an element elsewhere', ['POST', selecting('#out'), `<b id="more">${wider}</b>`]],
      ['one in place of another', replace('#old', `<b id="more">${wider}</b>`)],
      ['within what it refers to', ['POST', selecting('#more'), wider]],
      ['a part of that', replace('#much', wider)],
      ['that itself', replace('#more', `<p id="more">${wider}</p>`)],
    ] as const) {
      const answer = await leavesAlone(server, ['/page.html'], () => http(how, '/page.html', fields, body))
      expect(failureOf(answer), name).to.equal('422 InvalidFragment')
    }
    expect(
      (await http('POST', '/page.html', selecting('#list'), '<li itemprop="member">ann@x.example</li>')).status,
    ).to.equal(206)
    expect((await http('POST', '/page.html', selecting('#out'), wider)).status).to.equal(206)
    expect(failureOf(await http('DELETE', '/page.html', selecting('#much')))).to.equal('401 /page.html')
    const nested = group.replace('<p id="in">', '<p id="in" itemprop="by" itemscope itemref="deep">')
    const chained = group.replace('itemscope', '$& itemref="by"')
    const by = '<p id="by" itemprop="by" itemscope itemref="deep"></p>'
    for (const deciding of [nested, chained + by, `${chained}${by}<p id="by"></p>`]) {
      await put(server, '/page.html', page(`<p id="out">x</p>${deciding}`))
      const answer = await http('POST', '/page.html', selecting('#out'), `<b id="deep">${wider}</b>`)
      expect(failureOf(answer), deciding).to.equal('422 InvalidFragment')
      expect((await http('POST', '/page.html', selecting('#out'), '<b id="other">x</b>')).status).to.equal(206)
    }
  })

  it('COMP-147 values of an enumeration are kept by whoever may write inside, its name is not', async () => {
    const host = 'https://schema.org'
    const list = '<ul id="values"><li itemprop="value">red</li></ul>'
    await put(
      server,
      '/page.html',
      page(`<div itemscope itemtype="${host}/Enum">${list}<b itemprop="type">https://x.example/Colour</b></div>`),
    )
    await grant()
    const add = (item: string) => http('POST', '/page.html', selecting('#values', 'prepend'), item)
    expect((await add('<li itemprop="value">blue</li>')).status).to.equal(206)
    expect(failureOf(await add('<li itemprop="type">https://x.example/Shade</li>'))).to.equal('422 InvalidFragment')
  })
})
