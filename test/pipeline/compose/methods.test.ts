// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** Expressions, method elements and method attributes through a real server, implemented in Sessel. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put, putAll, remove } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed, served } from './composing.ts'

interface Method {
  name: string
  parameters?: string[]
  returns?: string
  source: string
}

const ELEMENT = `${NS}/Element`

/** A schema with methods, as a document declares it. */
function schema(type: string, methods: readonly Method[], parent?: string): string {
  const property = (name: string, content: string) => `<meta itemprop="${name}" content="${content}">`
  const method = ({ name, parameters = [], returns, source }: Method) =>
    `<div itemprop="property" itemscope itemtype="${NS}/Method">${property('name', name)}${returns ? property('returns', returns) : ''}${parameters
      .map(p => `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter">${property('name', p)}</div>`)
      .join(
        '',
      )}<div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">${source}</script></div></div>`
  return `<div hidden itemscope itemtype="${NS}/Schema">${property('type', type)}${parent ? property('parent', parent) : ''}${methods.map(method).join('')}</div>`
}

describe('Expressions and methods of pages', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await putAll(server, {
      '/data/todo.html': page('<ul><li class="todo" id="one">One</li><li class="todo">Two &amp; a half</li></ul>'),
      '/schemas.html': page(
        schema('urn:t:Base', [
          { name: 'inherited', source: '"from base"' },
          { name: 'both', source: '"base"' },
        ]) +
          schema(
            'urn:t:Greeter',
            [
              { name: 'greet', parameters: ['who'], returns: ELEMENT, source: 'new p { "Hello, " + who }' },
              { name: 'over', source: '"none"' },
              { name: 'over', parameters: ['a'], source: '"a=" + (a ?? "null")' },
              { name: 'over', parameters: ['a', 'b'], source: '"a=" + (a ?? "null") + " b=" + (b ?? "null")' },
              { name: 'both', source: '"greeter"' },
              { name: 'nothing', source: 'null' },
              { name: 'number', source: '41 + 1' },
              { name: 'float', source: '1.5 + 0.5' },
              { name: 'markup', source: '"<b>&</b>"' },
              { name: 'list', source: '[new b { "x" }, 1, null, new i { "y" }]' },
              { name: 'stored', source: '${#one}' },
              { name: 'shown', parameters: ['v'], returns: ELEMENT, source: 'v == "" ? null : new u { v }' },
              { name: 'free', parameters: ['v'], source: 'new s { v }' },
              { name: 'note', parameters: ['v'], source: 'Context.noted = v + "!"; Context.more = 7' },
              { name: 'me', source: 'self.attr("data-x") + self.text()' },
              { name: 'broken', source: 'nosuchname + 1' },
              { name: 'wrong', source: '1 +' },
              {
                name: 'endless',
                source:
                  'let a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]; a.map(b => a.map(c => a.map(d => a.map(e => a.map(f => a.map(g => a.map(h => 1)))))))',
              },
              { name: 'camelCase', source: '"camel"' },
            ],
            'urn:t:Base',
          ) +
          schema('urn:t:Catcher', [
            {
              name: 'doesNotUnderstand',
              parameters: ['messageName', 'parameters'],
              source:
                'messageName + "(" + parameters.map(p => p isa String ? p : p.name + "=" + p.value).join(",") + ")"',
            },
            { name: 'doesNotUnderstandX', source: '"x"' },
          ]),
      ),
    })
  })
  after(() => server.close())

  async function get(body: string, target = '/page.html', fields: Fields = {}): Promise<string> {
    await put(server, '/page.html', composed(`<main xmlns:t="urn:t:Greeter" xmlns:c="urn:t:Catcher">${body}</main>`))
    const answer = await send('GET', target, fields)
    return answer.status === 200
      ? answer.text
      : `${answer.status} ${/itemprop="message">([^<]*)/.exec(answer.text)?.[1]}`
  }

  const cases: [rule: string, body: string, expected: string][] = [
    ['COMP-39 COMP-31 a Sessel binding is stamped', '<p e:hi="\'Hello\'"><p:stamp hi></p:stamp></p>', '<p>Hello</p>'],
    [
      'COMP-39 COMP-44 the example: earlier bindings are in scope, and templates read them',
      '<ul e:n="${li.todo}.count()" e:twice="n * 2" p:template="text/liquid"><li>{{ n }} / {{ twice }}</li></ul>',
      '<ul><li>2 / 4</li></ul>',
    ],
    [
      'COMP-17 resource bindings come first, wherever they are written',
      '<p e:n="items.count()" r:items=".todo"><p:stamp n/></p>',
      '<p>2</p>',
    ],
    [
      'COMP-39 self is the root of the requested document',
      '<i class="here">x</i><p e:n="(${.here} from self).count()" e:all="${.here}.count()"><p:stamp n/>/<p:stamp all/></p>',
      '<i class="here">x</i><p>1/1</p>',
    ],
    [
      'COMP-32 queried elements are stamped with their attributes, constructed ones as they are',
      '<p e:x="[${#one}, new b { 1 }, 2.0, true, null]"><p:stamp x/></p>',
      '<p><li class="todo" id="one">One</li><b>1</b>2true</p>',
    ],
    ['COMP-58 a scalar is text', '<p e:x="\'<b>&amp;</b>\'"><p:stamp x/></p>', '<p>&lt;b&gt;&amp;&lt;/b&gt;</p>'],
    [
      'COMP-20 COMP-21 Context reads names that are no identifiers',
      '<p e:a-b="1" e:x="Context[\'a-b\'] + 1"><p:stamp x/></p>',
      '<p>2</p>',
    ],
    [
      'COMP-51 COMP-52 COMP-53 the example of a method element',
      '<t:greet who="Ada" lang="en"></t:greet>',
      '<p>Hello, Ada</p>',
    ],
    ['COMP-7 COMP-51 a method element may end with a slash', '<t:greet who="A"/><b>z</b>', '<p>Hello, A</p><b>z</b>'],
    ['COMP-52 methods are inherited', '<t:inherited></t:inherited>', 'from base'],
    ['COMP-52 the nearest schema wins', '<t:both></t:both>', 'greeter'],
    ['COMP-54 the overload with most parameters that all appear', '<t:over a="1" b="2" c="3"/>', 'a=1 b=2'],
    ['COMP-54 with fewer attributes a smaller one', '<t:over a="1"/>', 'a=1'],
    ['COMP-54 without attributes the one without parameters', '<t:over/>', 'none'],
    ['COMP-54 none qualifies: fewest missing, absent ones are null', '<t:free/>', '<s></s>'],
    ['COMP-9 names fold case in HTML', '<t:camelCase/><t:camelcase/>', 'camelcamel'],
    ['COMP-58 null removes the element', 'a<t:nothing>b</t:nothing>c', 'ac'],
    ['COMP-58 integers and floats', '<t:number/> <t:float/>', '42 2'],
    ['COMP-58 markup in a scalar is escaped', '<t:markup/>', '&lt;b&gt;&amp;&lt;/b&gt;'],
    ['COMP-58 a list: elements spliced, scalars as text, null skipped', '<t:list/>', '<b>x</b>1<i>y</i>'],
    ['COMP-58 COMP-85 a queried element', '<t:stored/>', '<li class="todo" id="one">One</li>'],
    ['COMP-55 declared to return an element it replaces the host', '<div t:shown="v" id="h">x</div>', '<u>v</u>'],
    [
      'COMP-55 declared, but null: the host stays without the attribute',
      '<div t:shown="" id="h">x</div>',
      '<div id="h">x</div>',
    ],
    ['COMP-55 an element from a method without returns replaces the host', '<div t:free="v">x</div>', '<s>v</s>'],
    ['COMP-55 other results are discarded', '<div t:number="" title="t">x</div>', '<div title="t">x</div>'],
    [
      'COMP-20 COMP-55 what a method writes to Context is seen by later attributes and descendants',
      '<div t:note="a" e:x="noted"><p:stamp x more/></div><p:stamp noted/>',
      '<div>a!7</div>',
    ],
    [
      'COMP-17 after an element that replaces the host nothing more is dispatched',
      '<div t:shown="v" t:broken="" p:template="text/liquid">{{ x }}</div>',
      '<u>v</u>',
    ],
    ['COMP-56 self is the dispatched element', '<t:me data-x="1">in</t:me>', '1in'],
    ['COMP-14 an attribute without method goes silently', '<p t:nonsense="1" title="t">x</p>', '<p title="t">x</p>'],
    [
      'COMP-57 doesNotUnderstand catches elements with their attributes',
      '<c:any a="1" xmlns:q="urn:q" b="2"/>',
      'any(a=1,b=2)',
    ],
    ['COMP-57 COMP-9 with the name as it is spelt', '<c:anyThing/>', 'anyThing()'],
    ['COMP-59 transient is never dispatched', '<p c:transient="x">y</p>', '<p>y</p>'],
    ['COMP-28 composition goes on into results', '<p e:x="new div { }"><p:stamp x/></p>', '<p><div></div></p>'],
  ]
  for (const [rule, body, expected] of cases)
    it(rule, async () => expect(await get(body)).to.equal(served(`<main>${expected}</main>`)))

  const failing: [rule: string, body: string, status: number, kind: string][] = [
    ['COMP-44 an unknown name', '<p e:x="nosuch">y</p>', 500, 'BindingFailure'],
    ['COMP-21 names of rules', '<p e:x="auth">y</p>', 500, 'BindingFailure'],
    ['COMP-44 what does not compile', '<p e:x="1 +">y</p>', 500, 'BindingFailure'],
    ['COMP-44 what throws', '<p e:x="1 / 0">y</p>', 500, 'BindingFailure'],
    ['COMP-60 a method that throws', '<t:broken/>', 500, 'BindingFailure'],
    ['COMP-60 a method that does not compile', '<t:wrong/>', 500, 'BindingFailure'],
    ['COMP-60 a spent budget', '<t:endless/>', 503, 'BudgetExceeded'],
    ['COMP-14 COMP-60 a method that is not there', '<t:nonsense/>', 500, 'CompositionError'],
  ]
  for (const [rule, body, status, kind] of failing)
    it(`${rule} is ${status} ${kind}`, async () => {
      await put(server, '/page.html', composed(`<main xmlns:t="urn:t:Greeter">${body}</main>`))
      const answer = await send('GET', '/page.html')
      expect(answer.status, answer.text).to.equal(status)
      expect(answer.text).to.contain(kind).and.not.contain('One')
    })

  it('COMP-51 a schema is registered while a document holds it', async () => {
    const text = () => get('<div xmlns:n="urn:t:New"><n:hi/></div>')
    expect(await text()).to.match(/^500/)
    await put(server, '/more.html', page(schema('urn:t:New', [{ name: 'hi', source: '"hi"' }])))
    expect(await text()).to.equal(served('<main><div>hi</div></main>'))
    await put(server, '/more.html', page(schema('urn:t:New', [{ name: 'hi', source: '"ho"' }])))
    expect(await text()).to.equal(served('<main><div>ho</div></main>'))
    await remove(server, '/more.html')
    expect(await text()).to.match(/^500/)
  })

  it('COMP-22 what expressions read of the requester makes the answer private', async () => {
    const control = async (body: string) => {
      await put(server, '/page.html', composed(body))
      const cookie = (await send('GET', '/page.html')).headers['set-cookie']?.split(';')[0]
      const answer = await send('GET', '/page.html?a=1', cookie ? { Cookie: cookie } : {})
      expect(answer.status, answer.text).to.equal(200)
      return answer.headers['cache-control']
    }
    expect(await control('<p e:x="request.path + request.query.a">y</p>')).to.equal('public, max-age=0, s-maxage=5')
    expect(await control('<p e:x="${.todo}.count()">y</p>')).to.equal('public, max-age=0, s-maxage=5')
    expect(await control('<p e:x="request.headers.accept">y</p>')).to.equal('private, no-cache')
    expect(await control('<p e:x="request.auth.claims.email">y</p>')).to.equal('private, no-cache')
    expect(await control('<p e:x="${[itemprop=headers] > meta}.count()">y</p>'), 'COMP-115').to.equal(
      'private, no-cache',
    )
  })

  it('COMP-149 an expression of a page cannot write', async () => {
    const body = `<p e:x='@schema P url("${NS}/1.0"); P.PUT(new p {}, "/x.html")'>y</p>`
    expect(await get(body)).to.match(/^500/)
    expect((await send('GET', '/x.html')).status).to.equal(404)
  })

  it('COMP-30 the page changes when what it reads does', async () => {
    const body = '<p e:n="${.counted}.count()"><p:stamp n/></p>'
    expect(await get(body)).to.equal(served('<main><p>0</p></main>'))
    await put(server, '/counted.html', page('<i class="counted"></i>'))
    expect((await send('GET', '/page.html')).text).to.equal(served('<main><p>1</p></main>'))
    await remove(server, '/counted.html')
    expect((await send('GET', '/page.html')).text).to.equal(served('<main><p>0</p></main>'))
  })
})
