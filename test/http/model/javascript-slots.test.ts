import { expect } from 'chai'
import { beforeEach, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { instance, meta, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { NS } from '../../support/content.ts'

const THING = 'https://tides.example/Thing'
const OTHER = 'https://tides.example/Other'

const script = (slot: string, text: string) => ({
  markup: `<div itemprop="${slot}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${text}</script></div>`,
})
const IMPORT = `import Other from "${OTHER}" with { type: "${NS}/Schema" };`

onBothPlanes('JavaScript in the slots of schemas', on => {
  beforeEach(() => on.shelf.clear())

  async function declared(slots: Record<string, string | { markup: string }>, more = {}): Promise<void> {
    const doubled = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="double"><meta itemprop="static" content="true"><div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="n"></div>${script('implementation', 'export default n => n * 2').markup}</div>`
    await on.shelf.declare(
      schema(THING, more, property('p', slots), property('q')) +
        schema(OTHER, {}, property('a', { cardinality: '1..1' }), doubled),
    )
    await on.shelf.list('/log.html')
  }
  const append = async (values: Record<string, string | string[]>) =>
    verdictOf(await on.shelf.append('/log.html', instance(THING, values)))
  const stored = () => on.shelf.text('/log.html')

  for (const [name, text, expected] of [
    ['a text', 'export default () => "a" + "b"', meta('p', 'ab')],
    ['a number', 'export default async () => 40 + 2', meta('p', '42')],
    ['a declared field', 'export default function () { return this.q + typeof this.p }', meta('p', '1undefined')],
    [
      'an element',
      'export default () => { const b = document.createElement("b"); b.append("x"); return b }',
      '<b itemprop="p">x</b>',
    ],
    [
      'of the document',
      'export default ({ document_html }) => String(document_html.includes("ul"))',
      meta('p', 'true'),
    ],
    ['of an imported class', `${IMPORT} export default () => new Other({ a: "v" })`, `itemtype="${OTHER}"`],
  ] as const)
    it(`MOD-32 JS-17 a default: ${name}`, async () => {
      await declared({ default: script('default', text) })
      expect(await append({ q: '1' })).to.equal('206')
      expect(await stored()).to.include(expected)
    })

  it('MOD-32 a default of null adds nothing', async () => {
    await declared({ default: script('default', 'export default () => null') })
    expect(await append({ q: '1' })).to.equal('206')
    expect(await stored()).not.to.include('itemprop="p"')
  })

  for (const [name, text] of [
    ['what throws', 'export default () => { throw new Error("x") }'],
    ['what does not parse', 'export default () => {'],
    ['what never settles', 'export default () => new Promise(() => {})'],
    ['an import', 'import a from "./a.js"; export default () => 1'],
    ['an invalid instance', `${IMPORT} export default () => new Other()`],
    ['a list', 'export default () => [1, 2]'],
  ] as const)
    it(`MOD-33 JS-43 a default that fails: ${name}`, async () => {
      await declared({ default: script('default', text) })
      expect(await append({ q: '1' })).to.match(/^422 default/)
      expect(await stored()).not.to.include('itemtype="https://tides')
    })

  const ATTRIBUTE = 'document.documentElement.setAttribute("data-x", "1")'
  const ADDED =
    'const m = document.createElement("meta"); m.setAttribute("itemprop", "q"); m.content = "made"; document.documentElement.append(m)'
  const item = (inner: string, attributes = '') => `<li itemscope="" itemtype="${THING}"${attributes}>${inner}</li>`
  /** Written as no serializer would. */
  const AROUND = ['<!DOCTYPE html><TITLE>a</TITLE><p  CLASS=x>1<p>2<UL id=list >\n', '\n</UL ><p  id=end>3\n'] as const

  for (const [name, text, more, expected] of [
    ['alone', `export default () => { ${ATTRIBUTE}; return null }`, {}, item(meta('r', '1'), ' data-x="1"')],
    [
      'with its value',
      `export default () => { ${ATTRIBUTE}; return "v" }`,
      {},
      item(meta('r', '1') + meta('p', 'v'), ' data-x="1"'),
    ],
    [
      'with another value',
      `export default () => { ${ADDED}; return "v" }`,
      {},
      item(meta('r', '1') + meta('q', 'made') + meta('p', 'v')),
    ],
    [
      'with a default before it and one behind it',
      `export default () => { ${ATTRIBUTE}; return "v" }`,
      { o: { default: 'first' }, z: { default: 'last' } },
      item(meta('r', '1') + meta('o', 'first') + meta('p', 'v') + meta('z', 'last'), ' data-x="1"'),
    ],
    [
      'with one that changes it further',
      `export default () => { ${ATTRIBUTE}; return "v" }`,
      { z: { default: script('default', 'export default () => { document.documentElement.id = "i" }') } },
      item(meta('r', '1') + meta('p', 'v'), ' data-x="1" id="i"'),
    ],
  ] as const) {
    const declare = async (): Promise<void> => {
      const { o, z }: Record<string, Record<string, string | { markup: string }>> = { ...more }
      const properties = [o ? property('o', o) : '', property('p', { default: script('default', text) })]
      await on.shelf.declare(schema(THING, {}, ...properties, property('q'), property('r'), z ? property('z', z) : ''))
    }
    it(`JS-18 a default changes its item, ${name}: by a selector`, async () => {
      await declare()
      await on.shelf.replace('/log.html', AROUND.join(''))
      expect(verdictOf(await on.shelf.append('/log.html', instance(THING, { r: '1' })))).to.equal('206')
      const [before, after] = AROUND
      expect(await stored()).to.equal(`${before}\n${expected}${after.slice(1)}`)
    })
    it(`JS-18 a default changes its item, ${name}: in a whole document`, async () => {
      await declare()
      const written = await on.shelf.replace('/new.html', AROUND.join(instance(THING, { r: '1' })))
      expect(verdictOf(written)).to.equal('201')
      expect(await on.shelf.text('/new.html')).to.equal(AROUND.join(expected))
    })
  }

  for (const [name, text, expected] of [
    ['a value too many', `export default () => { ${ADDED} }`, '422 cardinality q'],
    ['an item that is gone', 'export default () => document.documentElement.remove()', '422 default p'],
    [
      'what no markup says',
      'export default () => document.documentElement.append(document.createElement("li"))',
      '422 default p',
    ],
    [
      'items in items without end',
      'export default () => document.documentElement.lastChild.append(document.documentElement.cloneNode(true))',
      '(422|503|507)',
    ],
  ] as const)
    it(`JS-18 what a default has changed is validated, and refused: ${name}`, async () => {
      const q = property('q', { cardinality: '1..1' })
      await on.shelf.declare(schema(THING, {}, property('p', { default: script('default', text) }), q))
      const before = `<ul id="list"></ul>`
      await on.shelf.replace('/log.html', before)
      const written = `<li itemscope itemtype="${THING}">${meta('q', '1')}<div></div></li>`
      const appended = await on.shelf.append('/log.html', written)
      const replaced = await on.shelf.replace('/log.html', `<ul id="list">${written}</ul>`)
      for (const answer of [appended, replaced])
        expect(expected.startsWith('(') ? String(answer.status) : verdictOf(answer)).to.match(
          new RegExp(`^${expected}`),
        )
      expect(await stored()).to.equal(before)
    })

  it('JS-18 an item around what is written is changed, and validated as a whole', async () => {
    const text = `export default function () { if (this.q) { ${ATTRIBUTE}; return "v" } return null }`
    await on.shelf.declare(schema(THING, {}, property('p', { default: script('default', text) }), property('q')))
    await on.shelf.replace(
      '/log.html',
      `<p  CLASS=x>1</p><DIV itemscope itemtype="${THING}"><ul id=list></ul></DIV><p  ID=y>`,
    )
    expect(verdictOf(await on.shelf.append('/log.html', '<li itemprop="q">2</li>'))).to.equal('206')
    const changed = `<div itemscope="" itemtype="${THING}" data-x="1"><ul id="list"><li itemprop="q">2</li></ul>${meta('p', 'v')}</div>`
    expect(await stored()).to.equal(`<p  CLASS=x>1</p>${changed}<p  ID=y>`)
  })

  for (const [text, value, expected] of [
    ['export default v => v.length > 2', 'abc', '206'],
    ['export default v => v.length > 2', 'ab', '422 @validate p'],
    ['export default () => []', 'x', '206'],
    ['export default () => "0"', 'x', '206'],
    ['export default () => NaN', 'x', '422 @validate p'],
    ['export default () => null', 'x', '422 @validate p'],
    ['export default async v => v === "x"', 'x', '206'],
    ['export default () => Promise.resolve(false)', 'x', '422 @validate p'],
    ['export default () => new Promise(() => {})', 'x', '422 @validate p'],
    ['export default () => { throw { status: 409 } }', 'x', '422 @validate p'],
    ['export default () => {', 'x', '422 @validate p'],
    ['export default () => document.querySelectorAll("li").length === 1', 'x', '206'],
    ['export default () => document.querySelector("li").remove()', 'x', '422 @validate p'],
    ['export default () => typeof request + typeof Context === "undefinedundefined"', 'x', '206'],
  ] as const)
    it(`MOD-65 JS-17 JS-18 @validate of a property: ${text} of ${value}: ${expected}`, async () => {
      await declared({ '@validate': script('@validate', text) })
      expect(await append({ p: value })).to.match(new RegExp(`^${expected}`))
    })

  it('MOD-65 several values come as a list', async () => {
    await declared({ '@validate': script('@validate', 'export default v => Array.isArray(v) && v.join() === "a,b"') })
    expect(await append({ p: ['a', 'b'] })).to.equal('206')
  })

  it('MOD-66 @validate of the schema sees the markup of the item as text', async () => {
    const text =
      'export default function (x) { return typeof this === "string" && x === null && this.includes("tides") && !this.includes("bad") }'
    await declared({}, { '@validate': script('@validate', text) })
    expect(await append({ q: 'good' })).to.equal('206')
    expect(await append({ q: 'bad' })).to.match(/^422 @validate/)
  })

  for (const [text, expected] of [
    ['export default () => {', '422 @validate p'],
    ['export default () => { throw 1 }', '206'],
    ['while (true); export default () => true', '206'],
    [`${IMPORT} export default () => new Other()`, '206'],
  ] as const)
    it(`MOD-66 @validate of a property that the item lacks: ${text}: ${expected}`, async () => {
      await declared({ '@validate': script('@validate', text) })
      expect(await append({ q: '1' })).to.match(new RegExp(`^${expected}`))
    })

  it('MOD-67 JS-45 a validator answers with a response of its own', async () => {
    const text = `export default () => { throw { itemtype: "${NS}/HTTPResponse", status: 409, body: "Taken", headers: { "X-Why": "a" } } }`
    await declared({ '@validate': script('@validate', text) })
    const answer = await on.shelf.append('/log.html', instance(THING, { p: '1' }))
    expect(answer.status).to.equal(409)
    if (on.plane !== 'mount') expect(answer.text).to.equal('Taken')
    if (on.plane !== 'mount') expect(answer.headers['x-why']).to.equal('a')
    expect(await stored()).not.to.include('itemtype="https://tides')
  })

  for (const [name, text, expected] of [
    ['a text', 'export default v => v.toUpperCase()', meta('p', 'AB')],
    ['a list', 'export default v => [v, 5]', meta('p', 'ab') + meta('p', '5')],
    [
      'an element',
      'export default v => { const d = document.createElement("data"); d.value = v; return d }',
      'value="ab"',
    ],
    ['what it imports', `${IMPORT} export default () => String(Other.double(4))`, meta('p', '8')],
  ] as const)
    it(`MOD-70 JS-17 @write gives ${name}`, async () => {
      await declared({ '@write': script('@write', text) })
      expect(await append({ p: 'ab' })).to.equal('206')
      expect((await stored()).replaceAll('\n', '')).to.include(expected)
    })

  it('MOD-70 null takes the property away', async () => {
    await declared({ '@write': script('@write', 'export default () => undefined') })
    expect(await append({ p: 'ab' })).to.equal('206')
    expect(await stored()).not.to.include('itemprop="p"')
  })

  for (const [name, text, expected] of [
    ['what throws', 'export default () => { throw 1 }', '500'],
    ['what cannot be a value', 'export default () => () => 1', '500'],
    ['what does not parse is skipped', 'export default () => {', '206'],
  ] as const)
    it(`MOD-73 @write ${name}: ${expected}`, async () => {
      await declared({ '@write': script('@write', text) })
      expect((await on.shelf.append('/log.html', instance(THING, { p: 'ab' }))).status).to.equal(Number(expected))
      expect((await stored()).includes(meta('p', 'ab'))).to.equal(expected === '206')
    })

  for (const [name, text] of [
    ['never ends', 'export default () => { for (;;) try { for (;;); } catch {} }'],
    ['takes all memory', 'export default () => { const a = []; for (;;) a.push("x".repeat(1e5) + a.length) }'],
  ] as const)
    it(`JS-33 a slot that ${name} is refused, and nothing is stored`, async () => {
      await declared({ '@validate': script('@validate', text) })
      const answer = await on.shelf.append('/log.html', instance(THING, { p: '1' }))
      expect(answer.status).to.equal(on.plane === 'mount' ? 507 : 503)
      expect(await stored()).not.to.include('itemtype="https://tides')
    })

  for (const [form, isSpent] of [
    ['<a itemprop="p" href="q">LONG</a>', true],
    ['<span itemprop="p" title="LONG">x</span>', true],
    ['<span itemprop="p">LONG</span>', false],
  ] as const)
    it(`SES-213 MOD-70 what each of many texts is written into is paid for as often: ${form}`, async () => {
      await declared({ '@write': script('@write', 'export default () => Array(4000).fill("y")') })
      const answer = await on.shelf.append('/log.html', item(form.replace('LONG', 'x'.repeat(20_000))))
      expect(answer.status).to.equal(isSpent ? (on.plane === 'mount' ? 507 : 503) : 206)
    })
})
