/** Groups that decide by programs while others keep all workers busy, or add to what they look through (GRP-5): whom rules refuse stays out. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { javascript, sessel, trigger } from '../pipeline/react/site.ts'
import { NS, page, putAll, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { withEmail } from '../support/visitors.ts'

const parameter = `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>`
const method = (name: string, code: string) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${parameter}${code}</div>`
const schema = (type: string, ...methods: string[]) =>
  `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${type}"><meta itemprop="parent" content="${NS}/Group">${methods.join('')}</div>`
const group = (type: string, name: string) =>
  `<div itemscope itemtype="${type}"><meta itemprop="name" content="${name}"></div>`

const PATHS = ['/script.html', '/calling.html']
const SCRIPT = javascript('implementation', 'export default email => email.endsWith("@banned.example")')
const LOOKING = javascript(
  'implementation',
  'export default email => [...document.querySelectorAll("b")].some(each => each.textContent === email)',
)
// biome-ignore lint/suspicious/noTemplateCurlyInString: a selector
const EXPRESSION = '${b, li}.filter(each => each.text() + each.text() == email + email).count() > 0'
// biome-ignore lint/suspicious/noTemplateCurlyInString: a selector
const TOGETHER = '${b, p}.join(" ").contains(email)'

const WALKED = javascript(
  'implementation',
  'const at = text => text !== "" && at(text.slice(1)); export default text => at(text)',
)
/** Those that come to a limit of their engine, or of trees, where elements are nested deep enough. */
const DEEP = {
  walking: javascript(
    'implementation',
    'const at = (node, email) => [...node.children].some(each => at(each, email)) || node.textContent === email; export default email => at(document.body, email)',
  ),
  parsing: javascript(
    'implementation',
    'export default email => { const all = document.createElement("div"); all.innerHTML = "<i>".repeat(50) + document.body.innerHTML; return [...all.querySelectorAll("b")].some(each => each.textContent === email) }',
  ),
  wrapping: javascript(
    'implementation',
    'export default email => { let all = document.body.cloneNode(true); for (let i = 0; i < 50; i++) { const each = document.createElement("i"); each.append(all); all = each } return [...all.querySelectorAll("b")].some(each => each.textContent === email) }',
  ),
  called: sessel(
    'implementation',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a selector
    'self.walked(${#l}.first().getHTML()) || ${b}.map(each => each.text()).contains(email)',
  ),
  read: sessel(
    'implementation',
    `Document.parse("${'<i>'.repeat(50)}" + \${#l}.first().getHTML()).path == email || \${b}.map(each => each.text()).contains(email)`,
  ),
}

const TEXTS = 'const all = [...document.querySelectorAll("b")].map(each => each.textContent)'
const sum = (name: string) =>
  sessel('implementation', `\${${name}}.map(each => each.text().Integer()).reduce((a, b) => a + b) > 0`)
const MOST = '9223372036854775807'

interface Grown {
  /** Methods beside `includes`. */
  called?: Readonly<Record<string, string>>
  includes: string
  /** What a visitor adds. */
  more: string
}

/** Those of which a method that they call, or what they give, comes to a limit of its language by what visitors add. */
const GROWN: Readonly<Record<string, Grown>> = {
  'an expression by a number': { includes: sum('u'), more: `<u>${MOST}</u>` },
  'a script by an expression that it calls': {
    called: { sum: sum('s') },
    includes: javascript('implementation', 'export default function () { return this.sum() }'),
    more: `<s>${MOST}</s>`,
  },
  'an expression by a script that it calls, by what that calls': {
    called: { sum: sum('q'), called: javascript('implementation', 'export default function () { return this.sum() }') },
    includes: sessel('implementation', 'self.called()'),
    more: `<q>${MOST}</q>`,
  },
  'a script by a number that an expression hands to it': {
    called: { called: javascript('implementation', 'export default number => number > 0') },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a selector
    includes: sessel('implementation', 'self.called(${em}.last().text().Integer())'),
    more: `<em>${MOST}</em>`,
  },
  'a script by what it gives': {
    includes: javascript(
      'implementation',
      `export default email => { ${TEXTS}; return all.includes(email) && Array(150).fill(all.join()) }`,
    ),
    more: `<b>${'x'.repeat(40_000)}</b>`,
  },
  'an expression that catches it': {
    includes: sessel(
      'implementation',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a selector
      'try { ${var}.map(each => each.text().Integer()).reduce((a, b) => a + b) > 0 } catch (e) { false }',
    ),
    more: `<var>${MOST}</var>`,
  },
  'a script that catches what a method of its comes to': {
    called: { sum: sum('dfn') },
    includes: javascript(
      'implementation',
      'export default function () { try { return this.sum() } catch { return false } }',
    ),
    more: `<dfn>${MOST}</dfn>`,
  },
  'a script that catches what the DOM tells': {
    includes: javascript(
      'implementation',
      'export default () => { try { const all = document.createElement("div"); for (const each of document.querySelectorAll("kbd")) all.innerHTML = each.textContent; return true } catch { return false } }',
    ),
    more: `<kbd>${'&lt;i>'.repeat(600)}</kbd>`,
  },
  'a script by JSON': {
    includes: javascript(
      'implementation',
      'export default email => [...document.querySelectorAll("code")].map(each => JSON.parse(each.textContent))[0] === 1',
    ),
    more: `<code>${'['.repeat(20_000)}${']'.repeat(20_000)}</code>`,
  },
  'a script by XML': {
    includes: javascript(
      'implementation',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a script
      'export default () => new DOMParser().parseFromString(`<a>${[...document.querySelectorAll("samp")].map(each => each.textContent).join("")}</a>`, "text/xml").documentElement.localName === "a"',
    ),
    more: `<samp>${'&lt;i>'.repeat(600)}${'&lt;/i>'.repeat(600)}</samp>`,
  },
  'a script by a selector that it makes': {
    includes: javascript(
      'implementation',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a script
      'export default () => document.querySelectorAll([...document.querySelectorAll("i")].map(each => `b:not([id="${each.textContent}"])`).join()).length > 0',
    ),
    more: '<i>1</i>'.repeat(1_500),
  },
}
const GROWN_NAMES = Object.keys(GROWN)
const GROWN_ELEMENTS =
  '<u>1</u> <s>1</s> <q>1</q> <em>1</em>  <var>1</var> <dfn>1</dfn> <kbd>1</kbd> <code>1</code> <samp>1</samp> <i>1</i>'.split(
    ' ',
  )

describe('groups that decide by scripts', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' }, settings: { javascript: { workers: 1 } } })
    await putAll(server, {
      '/schema.html': page(
        schema('urn:t:Script', method('includes', SCRIPT)) +
          schema(
            'urn:t:Calling',
            method('listed', SCRIPT),
            method('includes', sessel('implementation', 'self.listed(email)')),
          ) +
          schema('urn:t:Looking', method('includes', LOOKING)) +
          schema('urn:t:Expression', method('includes', sessel('implementation', EXPRESSION))) +
          schema('urn:t:Together', method('includes', sessel('implementation', TOGETHER))) +
          Object.entries(DEEP)
            .map(([name, code]) => schema(`urn:t:${name}`, method('walked', WALKED), method('includes', code)))
            .join('') +
          GROWN_NAMES.map((name, at) => {
            const { called = {}, includes } = GROWN[name] ?? { includes: '' }
            const methods = Object.entries({ ...called, includes }).map(([own, code]) => method(own, code))
            return schema(`urn:t:grown${at}`, ...methods)
          }).join(''),
      ),
      '/groups.html': page(group('urn:t:Script', 'script') + group('urn:t:Calling', 'calling')),
      '/texts.html': page(`${group('urn:t:Together', 'together')}<b>a@banned.example</b><div id="l"></div>`),
      '/long.html': page(
        `${group('urn:t:Looking', 'looking')}${group('urn:t:Expression', 'expression')}<b>a@banned.example</b><ul id="l"></ul>`,
      ),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Allow', '/*'],
        ['script', 'GET', 'Deny', '/script.html'],
        ['calling', 'GET', 'Deny', '/calling.html'],
        ['*', 'POST', 'Allow', '/long.html|/texts.html|/deep.html', '#l'],
        ...Object.keys(DEEP).map(name => [name, 'GET', 'Deny', `/deep/${name}.html`] as const),
        ['*', 'POST', 'Allow', '/grown*.html', '#l'],
        ...GROWN_NAMES.map((_, at) => [`grown${at}`, 'GET', 'Deny', `/grown/${at}.html`] as const),
        ['looking', 'GET', 'Deny', '/looking.html'],
        ['expression', 'GET', 'Deny', '/expression.html'],
        ['together', 'GET', 'Deny', '/together.html'],
      ),
      '/deep.html': page(
        `<div id="l"></div><b>a@banned.example</b>${Object.keys(DEEP)
          .map(name => group(`urn:t:${name}`, name))
          .join('')}`,
      ),
      ...Object.fromEntries(Object.keys(DEEP).map(name => [`/deep/${name}.html`, page('x')])),
      ...Object.fromEntries(
        GROWN_NAMES.flatMap((_, at) => [
          [`/grown/${at}.html`, page('x')],
          [
            `/grown${at}.html`,
            page(
              `${group(`urn:t:grown${at}`, `grown${at}`)}<b>a@banned.example</b>${GROWN_ELEMENTS[at] ?? ''}<div id="l"></div>`,
            ),
          ],
        ]),
      ),
      '/slow.html': page('x'),
      '/script.html': page('x'),
      '/calling.html': page('x'),
      '/looking.html': page('x'),
      '/expression.html': page('x'),
      '/together.html': page('x'),
      '/triggers.html': page(
        trigger({
          resource: '/slow.html',
          method: 'GET',
          action: javascript('action', 'export default () => { for (;;); }'),
        }),
      ),
    })
    http = client(server.port)
  })
  after(() => server.close())

  const as = (email: string) => withEmail(server, email)

  it('GRP-4 JS-16 decide about everybody', async () => {
    const [banned, other] = [await as('a@banned.example'), await as('a@other.example')]
    for (const path of PATHS) {
      // A worker that is slow to start lets in nobody.
      await eventually(async () => expect((await http('GET', path, other)).status).to.equal(200))
      expect((await http('GET', path, banned)).status, path).to.equal(403)
    }
  })

  it('GRP-5 DEC-5 refuse their members while visitors keep all workers busy', async () => {
    const banned = await as('a@banned.example')
    const busy = Array.from({ length: 3 }, (_, i) => http('GET', `/slow.html?${i}`))
    await new Promise(resolve => setTimeout(resolve, 300))
    for (const path of PATHS) expect((await http('GET', path, banned)).status, path).to.equal(403)
    await Promise.all(busy)
  })
  it('GRP-5 DEC-5 refuse their members however much visitors add to what they look through', async () => {
    const [banned, other] = [await as('a@banned.example'), await as('a@other.example')]
    const paths = ['/expression.html', '/looking.html', '/together.html']
    for (const path of paths) {
      await eventually(async () => expect((await http('GET', path, other)).status, path).to.equal(200))
      expect((await http('GET', path, banned)).status, path).to.equal(403)
    }
    const fields = { ...banned, Range: 'selector=#l' }
    expect((await http('POST', '/long.html', fields, '<li>x'.repeat(12_000))).status).to.equal(206)
    // One text that is too long for a program, which that costs neither steps nor memory of note.
    const long = `<p>${`<i>${'x'.repeat(1_000)}</i>`.repeat(1_100)}`
    expect((await http('POST', '/texts.html', fields, long)).status).to.equal(206)
    for (const path of paths) expect((await http('GET', path, banned)).status, path).to.equal(403)
  })
  it('GRP-5 DEC-5 refuse their members however deep the elements are that visitors add', async () => {
    const [banned, other] = [await as('a@banned.example'), await as('a@other.example')]
    const asked = (fields: Record<string, string>) =>
      Promise.all(Object.keys(DEEP).map(async name => (await http('GET', `/deep/${name}.html`, fields)).status))
    const all = (status: number) => Object.keys(DEEP).map(() => status)
    expect([await asked(banned), await asked(other)]).to.deep.equal([all(403), all(200)])
    const deep = '<div>'.repeat(470) + '</div>'.repeat(470)
    expect((await http('POST', '/deep.html', { ...banned, Range: 'selector=#l' }, deep)).status).to.equal(206)
    expect(await asked(banned)).to.deep.equal(all(403))
  })
  for (const [at, name] of GROWN_NAMES.entries()) {
    it(`GRP-5 DEC-5 refuse their members whatever brings them to a limit: ${name}`, async () => {
      const banned = await as('a@banned.example')
      const asked = async () => (await http('GET', `/grown/${at}.html`, banned)).status
      expect(await asked()).to.equal(403)
      const fields = { ...banned, Range: 'selector=#l' }
      expect((await http('POST', `/grown${at}.html`, fields, GROWN[name]?.more)).status).to.equal(206)
      expect(await asked()).to.equal(403)
    })
  }
})
