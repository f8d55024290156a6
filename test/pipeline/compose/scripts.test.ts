/** JavaScript in pages through a real server: bindings, method elements and method attributes. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

interface Method {
  name: string
  parameters?: string[]
  returns?: string
  source: string
}

/** A schema with methods in JavaScript, as a document declares it. */
function schema(type: string, methods: readonly Method[]): string {
  const field = (name: string, content: string) => `<meta itemprop="${name}" content="${content}">`
  const method = ({ name, parameters = [], returns, source }: Method) =>
    `<div itemprop="property" itemscope itemtype="${NS}/Method">${field('name', name)}${returns ? field('returns', returns) : ''}${parameters
      .map(p => `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter">${field('name', p)}</div>`)
      .join(
        '',
      )}<div itemprop="implementation" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${source}</script></div></div>`
  return `<div hidden itemscope itemtype="${NS}/Schema">${field('type', type)}${methods.map(method).join('')}</div>`
}

const CARD = `export default function (note, title) {
  const a = document.createElement("article");
  a.textContent = title + ": " + note;
  return a;
}`

describe('JavaScript in pages', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' }, settings: { javascript: { time: '300ms' } } })
    send = client(server)
    const methods: Method[] = [
      { name: 'card', parameters: ['note', 'title'], returns: `${NS}/Element`, source: CARD },
      { name: 'list', source: 'export default () => ["a", null, 1.5, document.createElement("br")]' },
      { name: 'nothing', source: 'export default () => undefined' },
      { name: 'markup', source: 'export default () => "<b>&"' },
      { name: 'later', source: 'export default async () => { await null; return "later" }' },
      {
        name: 'me',
        source:
          'export default function () { return this.getAttribute("data-x") + this.textContent + (document.documentElement === this) + this.parentElement }',
      },
      { name: 'change', source: 'export default function () { this.setAttribute("x", "1") }' },
      {
        name: 'caught',
        source:
          'export default function () { try { this.setAttribute("x", "1") } catch (e) { return e.name + e.code } }',
      },
      { name: 'note', parameters: ['v'], source: 'export default v => { Context.noted = v + "!" }' },
      { name: 'node', source: 'export default () => document.createTextNode("x")' },
      { name: 'broken', source: 'export default () => {' },
      { name: 'endless', source: 'export default () => { for (;;); }' },
      { name: 'throws', source: `export default () => { throw { itemtype: "${NS}/HTTPResponse", status: 418 } }` },
      {
        name: 'doesNotUnderstand',
        parameters: ['messageName', 'parameters'],
        source: 'export default (name, list) => name + JSON.stringify(list)',
      },
    ]
    await put(server, '/schemas.html', page(schema('urn:t:Js', methods)))
  })
  after(() => server.close())

  const body = (content: string) =>
    `<!doctype html><html xmlns:t="urn:t:Js" xmlns:j="${NS}/Binding/JavaScript" xmlns:e="${NS}/Binding/Sessel" xmlns:p="${NS}/1.0"><body><main>${content}</main></body></html>`
  const shown = async (content: string) => {
    await put(server, '/page.html', body(content))
    return (await send('GET', '/page.html')).text
  }

  const pages: [rule: string, content: string, expected: string][] = [
    ['JS-11 JS-15 a method element', '<t:card title="Tea" note="hot"></t:card>', '<article>Tea: hot</article>'],
    ['JS-11 absent arguments are null', '<t:card title="Tea" more="x"></t:card>', '<article>Tea: null</article>'],
    ['JS-15 a list', '<t:list></t:list>', 'a1.5<br>'],
    ['JS-15 nothing removes the element', '[<t:nothing></t:nothing>]', '[]'],
    ['JS-15 texts are escaped', '<t:markup></t:markup>', '&lt;b&gt;&amp;'],
    ['JS-6 a promise is settled', '<t:later></t:later>', 'later'],
    ['JS-13 `this` is the host, and the document its subtree', '<t:me data-x="1"><b>2</b></t:me>', '12truenull'],
    ['JS-41 a change is refused, which can be caught', '<t:caught></t:caught>', 'NoModificationAllowedError7'],
    [
      'JS-14 Context is for the host and its descendants',
      '<div t:note="a"><p:stamp noted></p:stamp></div><i><p:stamp noted></p:stamp></i>',
      '<div>a!</div><i></i>',
    ],
    [
      'JS-12 what is not understood',
      '<t:other a="1" b="2"></t:other>',
      'other[{"name":"a","value":"1"},{"name":"b","value":"2"}]',
    ],
    [
      'JS-26 bindings',
      '<ul j:total="[10, 20, 30].reduce((a, b) => a + b, 0)" j:twice="total * 2"><p:stamp total twice></p:stamp></ul>',
      '<ul>60120</ul>',
    ],
    [
      'JS-26 a name that is reserved',
      `<p j:class="'k'" j:x="Context['class'] + 1"><p:stamp x></p:stamp></p>`,
      '<p>k1</p>',
    ],
    [
      'JS-27 values of expressions',
      '<p e:a="[1, 2]" j:b="a.map(n => n + 1).join()"><p:stamp b></p:stamp></p>',
      '<p>2,3</p>',
    ],
    [
      'JS-27 the document is the subtree of the element',
      '<p j:n="document.querySelectorAll(\'b\').length"><b>1</b><p:stamp n></p:stamp></p>',
      '<p><b>1</b>1</p>',
    ],
    ['JS-28 request', '<p j:m="request.method + request.path"><p:stamp m></p:stamp></p>', '<p>GET/page.html</p>'],
  ]
  for (const [rule, content, expected] of pages)
    it(rule, async () => {
      expect(await shown(content)).to.include(expected)
    })

  const failures: [rule: string, content: string, status: number, variant: string][] = [
    ['JS-41 a change that nobody catches', '<t:change></t:change>', 500, 'threw'],
    ['JS-15 a text node', '<t:node></t:node>', 500, 'return-type'],
    ['JS-29 what does not parse', '<t:broken></t:broken>', 500, 'parse'],
    ['JS-45 a page cannot choose its status', '<t:throws></t:throws>', 500, 'threw'],
    ['JS-29 an expression that fails', '<p j:x="missing"></p>', 500, 'threw'],
    ['JS-25 a statement', '<p j:x="let a = 1"></p>', 500, 'parse'],
    ['JS-33 a hostile page', '<p j:x="(() => { for (;;) try { for (;;); } catch (e) {} })()"></p>', 503, 'timeout'],
    ['JS-33 a method that never ends', '<t:endless></t:endless>', 503, 'timeout'],
  ]
  for (const [rule, content, status, variant] of failures)
    it(`${rule}: ${status}`, async () => {
      await put(server, '/page.html', body(content))
      const answer = await send('GET', '/page.html')
      expect(answer.status).to.equal(status)
      expect(answer.text).to.include(variant)
      expect(answer.text).not.to.match(/\.ts|node_modules/)
    })
})
