import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, ruleMarkup, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, textOf } from '../write-checks.ts'

/** What anybody would like to have. */
const RULE = ruleMarkup(['*', '*', 'Allow', '/*'])
const FIELDS =
  '<meta itemprop="actor" content="*"><meta itemprop="resource" content="/*"><meta itemprop="method" content="*">' +
  '<meta itemprop="action" content="allow">'

/** A page on which strangers may comment, and which declares something itself, with a field taken from elsewhere. */
const COMMENTS = page(
  '<ul id="comments"><li>first</li></ul>\n' +
    `<div hidden itemscope itemtype="${NS}/AuthorizationRule" itemref="who"><meta itemprop="action" content="allow">` +
    '<meta itemprop="method" content="PUT"><meta itemprop="resource" content="/x.html"></div>\n' +
    '<p id="who"><meta itemprop="actor" content="nobody"></p>\n' +
    `<div itemscope itemtype="${NS}/Group"><b itemprop="name">staff</b><ul id="members"><li itemprop="member">a@b.example</li></ul></div>`,
)
const RULES = rulesPage(
  ['*', 'POST', 'Allow', '/comments.html|/owned.html', '#comments'],
  ['*', 'PUT', 'Allow', '/comments.html|/owned.html', '#comments li'],
  ['*', 'POST|PUT', 'Allow', '/comments.html', '#members'],
  ['*', 'PUT', 'Allow', '/owned.html'],
)

const BRINGING: [name: string, fragment: string][] = [
  ['a rule', RULE],
  ['a rule in a comment of its own', `<li>nice ${RULE}</li>`],
  ['a rule far inside', `<li><p><i><b>${`<span>${RULE}</span>`}</b></i></p></li>`],
  ['a rule behind other nodes', `<li>a</li> text <!-- c --> <li>${RULE}</li>`],
  [
    'a rule among other types',
    `<li itemscope itemtype="https://schema.org/Comment ${NS}/AuthorizationRule">${FIELDS}</li>`,
  ],
  ['a type behind white space', `<li itemscope itemtype="\n\t ${NS}/AuthorizationRule\f">${FIELDS}</li>`],
  [
    'a type spelled with references',
    `<li itemscope itemtype="${NS.replace('h', '&#104;')}/AuthorizationRule">${FIELDS}</li>`,
  ],
  ['a table of rules', `<li><table itemscope itemtype="${NS}/AuthorizationRule"><tr><td itemprop=actor>*</table></li>`],
  ['a group', `<li itemscope itemtype="${NS}/Group"><b itemprop=name>staff</b><b itemprop=member>e@v.il</b></li>`],
  ['a trigger', `<li itemscope itemtype="${NS}/Trigger"></li>`],
  ['a processor', `<li itemscope itemtype="${NS}/Processor"></li>`],
  ['a schema', `<li itemscope itemtype="${NS}/Schema"></li>`],
  ['a constraint', `<li itemscope itemtype="${NS}/ShapeConstraint"></li>`],
  ['a rule in SVG', `<svg><desc>${RULE}</desc></svg>`],
  ['a rule in a table that is not one', `<table>${RULE}</table>`],
]

describe('fragments that configure the site', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', RULES)
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/comments.html', COMMENTS)
    await put(server, '/owned.html', COMMENTS)
  })

  for (const [name, fragment] of BRINGING) {
    it(`COMP-147 ${name}: 422 from whoever may only add a part, and nothing changes`, async () => {
      for (const [method, selector, placement] of [
        ['POST', '#comments', 'append'],
        ['POST', '#comments', 'prepend'],
        ['POST', '#comments li', 'after'],
        ['PUT', '#comments li', undefined],
      ] as const) {
        const { rules } = server.site
        const answer = await leavesAlone(server, ['/comments.html'], () =>
          http(method, '/comments.html', selecting(selector, placement), fragment),
        )
        expect(failureOf(answer), `${method} ${placement}`).to.equal('422 InvalidFragment')
        expect(server.site.rules).to.equal(rules)
      }
      expect((await http('PUT', '/anything.html', {}, 'x')).status).to.equal(401)
    })

    it(`COMP-147 ${name}: welcome from whoever may PUT the whole document`, async () => {
      const append = await http('POST', '/owned.html', selecting('#comments'), fragment)
      expect(append.status).to.equal(206)
      const replace = await http('PUT', '/owned.html', selecting('#comments li'), fragment)
      expect(replace.status).to.equal(206)
    })
  }

  const harmless: [name: string, fragment: string][] = [
    ['an ordinary comment', '<li>hello</li>'],
    [
      'an item of another vocabulary',
      '<li itemscope itemtype="https://schema.org/Comment"><b itemprop="text">x</b></li>',
    ],
    ['a type that only begins alike', `<li itemscope itemtype="${NS}x/AuthorizationRule">${FIELDS}</li>`],
    ['the vocabulary in text', `<li>itemtype="${NS}/AuthorizationRule"</li>`],
    ['the vocabulary in another attribute', `<li title="${NS}/AuthorizationRule" data-itemtype="${NS}/Group">x</li>`],
    ['an escaped rule', `<li>${RULE.replaceAll('<', '&lt;')}</li>`],
    ['fields without an item', `<li>${FIELDS}</li>`],
    ['a rule in a comment of markup', `<li><!-- ${RULE} --></li>`],
  ]
  for (const [name, fragment] of harmless) {
    it(`COMP-147 ${name} is welcome, and no rule comes of it`, async () => {
      const { rules } = server.site
      const append = await http('POST', '/comments.html', selecting('#comments'), fragment)
      expect(append.status, append.text).to.equal(206)
      const replace = await http('PUT', '/comments.html', selecting('#comments li'), fragment)
      expect(replace.status, replace.text).to.equal(206)
      expect(server.site.rules).to.equal(rules)
    })
  }

  it('COMP-147 HTTP-96 a list with a directive of its author is open to the next entry, whatever tags others have left open', async () => {
    const list = (own: string) =>
      `<!doctype html><html xmlns:p="${NS}/1.0"><body><ul id=comments ${own}></ul></body></html>`
    for (const own of ['p:paginate=20', `xmlns:r='${NS}/Binding/CSS' r:all='#comments > li'`]) {
      await put(server, '/comments.html', list(own))
      // Word, an editor that misnests, and a tag that was forgotten.
      for (const entry of ['<p>Hi<o:p></o:p></p>', '<p><b>x<p>y</b>', '<b>open', '2', '<p>3<p>4']) {
        const answer = await http('POST', '/comments.html', selecting('#comments'), `<li>${entry}</li>`)
        expect(answer.status, `${own} ${entry} ${answer.text}`).to.equal(206)
      }
    }
  })

  it('COMP-147 an element that takes the place of a referenced one cannot change a rule from outside', async () => {
    // `itemref` takes the first element with the id: one in front of the author's own would make its fields count.
    const hijack = '<li id="who"><meta itemprop="actor" content="*"></li>'
    for (const [method, selector, placement] of [
      ['POST', '#comments', 'append'],
      ['POST', '#comments li', 'before'],
      ['PUT', '#comments li', undefined],
    ] as const) {
      const answer = await leavesAlone(server, ['/comments.html'], () =>
        http(method, '/comments.html', selecting(selector, placement), hijack),
      )
      expect(failureOf(answer), method).to.equal('422 InvalidFragment')
    }
    expect((await http('PUT', '/x.html', {}, 'x')).status).to.equal(401)
    expect((await http('POST', '/owned.html', selecting('#comments'), hijack)).status).to.equal(206)
  })

  it('COMP-147 who is let into an item by its author may change it', async () => {
    const answer = await http('POST', '/comments.html', selecting('#members'), '<li itemprop="member">c@d.example</li>')
    expect(answer.status).to.equal(206)
    const members = server.site.rules.groupsNamed('staff').flatMap(group => [...group.members])
    expect(members).to.include('c@d.example')
  })

  it('COMP-147 the right to PUT the whole counts as it stands at the commit', async () => {
    await put(server, '/rules.html', RULES)
    expect((await http('POST', '/owned.html', selecting('#comments'), RULE)).status).to.equal(206)
    await put(server, '/owned.html', COMMENTS)
    await put(
      server,
      '/rules.html',
      RULES.replaceAll('/owned.html', '/disowned.html').replace('/comments.html', '/owned.html'),
    )
    const answer = await http('POST', '/owned.html', selecting('#comments'), RULE)
    expect(failureOf(answer)).to.equal('422 InvalidFragment')
    await put(server, '/rules.html', RULES)
  })

  it('COMP-147 authorization comes first: who may not add anything learns nothing of this', async () => {
    expect(failureOf(await http('POST', '/comments.html', selecting('body'), RULE))).to.equal('401 /comments.html')
    expect(await textOf(server, '/comments.html')).to.equal(COMMENTS)
  })

  it('COMP-147 in XML alike', async () => {
    await put(server, '/c.xml', '<r><list id="comments"/></r>')
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/c.xml', 'list']))
    const item = `<i itemscope="" itemtype="${NS}/AuthorizationRule"><a itemprop="actor" content="*"/></i>`
    const answer = await leavesAlone(server, ['/c.xml'], () => http('POST', '/c.xml', selecting('list'), item))
    expect(failureOf(answer)).to.equal('422 InvalidFragment')
    expect((await http('POST', '/c.xml', selecting('list'), '<i/>')).status).to.equal(206)
    await put(server, '/rules.html', RULES)
  })

  it('COMP-147 the vocabulary is that of the site', async () => {
    const other = await startServer({ site: { ns: 'https://acme.example/v' } })
    try {
      const ask = client(other.port)
      await put(other, '/c.html', COMMENTS)
      const open = rulesPage(['*', 'POST', 'Allow', '/c.html', '#comments']).replaceAll(NS, 'https://acme.example/v')
      await put(other, '/rules.html', open)
      expect((await ask('POST', '/c.html', selecting('#comments'), RULE)).status).to.equal(206)
      const own = RULE.replaceAll(NS, 'https://acme.example/v')
      expect((await ask('POST', '/c.html', selecting('#comments'), own)).status).to.equal(422)
    } finally {
      await other.close()
    }
  })
})
