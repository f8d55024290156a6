// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { beforeEach, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { instance, meta, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { NS, page, put } from '../../support/content.ts'

const THING = 'https://tides.example/Thing'

const script = (slot: string, text: string) => ({
  markup: `<script type="text/sessel" itemprop="${slot}">${text}</script>`,
})
const wrapped = (slot: string, text: string) => ({
  markup: `<div itemprop="${slot}" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">${text}</script></div>`,
})

onBothPlanes('Expressions in the slots of schemas', on => {
  beforeEach(() => on.shelf.clear())

  async function declared(slots: Record<string, string | { markup: string }>, more = {}): Promise<void> {
    await on.shelf.declare(schema(THING, more, property('p', slots), property('q')))
    await on.shelf.list('/log.html')
  }
  const append = async (values: Record<string, string | string[]>) =>
    verdictOf(await on.shelf.append('/log.html', instance(THING, values)))
  const stored = () => on.shelf.text('/log.html')

  for (const [name, text, expected] of [
    ['a text', '"a" + "b"', meta('p', 'ab')],
    ['a number', '40 + 2', meta('p', '42')],
    ['a point in time', 'Temporal.PlainDate.from("2026-01-31")', meta('p', '2026-01-31')],
    ['an element', 'new b { "x" }', '<b itemprop="p">x</b>'],
    ['text that looks like markup', '"<i>&"', '&amp;"'],
    ['what other documents say', '${h1} from "/other.html" .first().text()', undefined],
    ['the count of other documents', '(${h1} from "/other.html").count()', meta('p', '1')],
  ] as const)
    it(`MOD-32 SES-2 a default: ${name}`, async () => {
      await put(on.shelf.server, '/other.html', page('<h1>Other</h1>'))
      await declared({ default: script('default', text) })
      expect(await append({ q: '1' })).to.equal(expected === undefined ? '422 default p' : '206')
      if (expected !== undefined) expect(await stored()).to.include(expected)
    })

  it('MOD-32 a default of null adds nothing', async () => {
    await declared({ default: wrapped('default', 'null') })
    expect(await append({ q: '1' })).to.equal('206')
    expect(await stored()).not.to.include('itemprop="p"')
  })

  for (const [name, text] of [
    ['self is not bound', 'self.q'],
    ['what fails', '1 / 0'],
    ['what does not parse', '1 +'],
    ['what spends too much', 'let f = n => f(n); f(1)'],
  ] as const)
    it(`MOD-33 a default that fails: ${name}`, async () => {
      await declared({ default: script('default', text) })
      expect(await append({ q: '1' })).to.match(/^422 default/)
      expect(await stored()).not.to.include('itemtype="https://tides')
    })

  for (const [text, value, expected] of [
    ['self.first().value().count() > 2', 'abc', '206'],
    ['self.first().value().count() > 2', 'ab', '422 @validate p'],
    ['self.count() == 1', 'x', '206'],
    ['null', 'x', '422 @validate p'],
    ['[]', 'x', '422 @validate p'],
    ['"0"', 'x', '206'],
    ['1 / 0', 'x', '422 @validate p'],
    ['1 +', 'x', '422 @validate p'],
    ['prior.${h1}.count() == 0', 'x', '206'],
    ['prior.path() == "/log.html"', 'x', '206'],
    ['self.first().document().${li}.count() == 1', 'x', '206'],
  ] as const)
    it(`MOD-65 SES-2 @validate of a property: ${text} of ${value}: ${expected}`, async () => {
      await declared({ '@validate': script('@validate', text) })
      expect(await append({ p: value })).to.match(new RegExp(`^${expected}`))
    })

  it('SES-3 prior is null when a document is being created', async () => {
    await declared({ '@validate': script('@validate', 'prior == null') })
    const answer = await on.shelf.replace('/new.html', page(instance(THING, { p: 'x' })))
    expect(verdictOf(answer)).to.equal('201')
    expect(await append({ p: 'x' })).to.match(/^422 @validate/)
  })

  it('MOD-66 @validate of the schema sees the item', async () => {
    await declared({}, { '@validate': script('@validate', 'self.q.Integer() > 5 && self.attr("itemtype") != null') })
    expect(await append({ q: '6' })).to.equal('206')
    expect(await append({ q: '5' })).to.match(/^422 @validate/)
  })

  it('MOD-66 @validate that does not parse refuses items without the property, too', async () => {
    await declared({ '@validate': script('@validate', '1 +') })
    expect(await append({ q: '1' })).to.match(/^422 @validate p/)
    await declared({ '@validate': script('@validate', '1 / 0') })
    expect(await append({ q: '1' })).to.equal('206')
  })

  it('MOD-67 SES-180 a validator answers with a response of its own', async () => {
    const program = `@schema H url("${NS}/HTTPResponse"); @schema P url("${NS}/Pair");
      throw new H { status: 409, body: "<p>Taken</p>", header: [new P { key: "X-Why", value: "a" }, new P { key: "X-Why", value: "b" }] }`
    await declared({ '@validate': wrapped('@validate', program) })
    const answer = await on.shelf.append('/log.html', instance(THING, { p: '1' }))
    expect(answer.status).to.equal(409)
    if (on.plane !== 'mount') expect(answer.text).to.equal('<p>Taken</p>')
    if (on.plane !== 'mount') expect(answer.headers['x-why']).to.equal('a, b')
    expect(await stored()).not.to.include('itemtype="https://tides')
  })

  for (const [name, text, expected] of [
    ['changes the copies', 'self.map(v => v.set_attr("content", v.value().upper()))', meta('p', 'AB')],
    ['gives one element', 'new data[value="z"]', '<data value="z" itemprop="p"></data>'],
    ['gives several', '[new b { "1" }, new b { "2" }]', '<b itemprop="p">1</b><b itemprop="p">2</b>'],
    ['keeps them', 'self', meta('p', 'ab')],
  ] as const)
    it(`MOD-70 SES-2 @write ${name}`, async () => {
      await declared({ '@write': script('@write', text) })
      expect(await append({ p: 'ab' })).to.equal('206')
      expect((await stored()).replaceAll('itemprop="p" value="z"', 'value="z" itemprop="p"')).to.include(expected)
    })

  const H = 'xmlns="http://www.w3.org/1999/xhtml"'
  for (const [rule, slots, before, after] of [
    [
      'MOD-32 a default',
      { default: script('default', 'new b { new br {}, "x & y" }') },
      '<q/>',
      `<q/><b itemprop="p" ${H}><br/>x &amp; y</b>`,
    ],
    [
      'MOD-70 @write',
      { '@write': script('@write', 'self.map(e => new i[itemprop="p"] { new br {}, e.value().upper() })') },
      '<u itemprop="p">a&amp;b</u> <n:u xmlns:n="urn:n" itemprop="p">c</n:u>',
      `<i itemprop="p" ${H}><br/>A&amp;B</i> <i itemprop="p" ${H}><br/>C</i>`,
    ],
    [
      'MOD-70 @write, an element of its own',
      { '@write': script('@write', 'self.reverse()') },
      '<u itemprop="p">a</u> <n:u itemprop="p">c</n:u>',
      '<n:u itemprop="p">c</n:u> <u itemprop="p">a</u>',
    ],
  ] as const)
    it(`${rule} that gives elements, in an XML document`, async () => {
      await declared(slots)
      const xml = (inside: string) => `<r xmlns:n="urn:n"><s itemscope="" itemtype="${THING}">${inside}</s></r>`
      const answer = await on.shelf.http('PUT', '/p.xml', { 'Content-Type': 'application/xml' }, xml(before))
      expect(verdictOf(answer)).to.equal('201')
      expect(await on.shelf.text('/p.xml')).to.equal(xml(after))
    })

  it('MOD-70 an empty list takes the property away', async () => {
    await declared({ '@write': script('@write', '[]') })
    expect(await append({ p: 'ab' })).to.equal('206')
    expect(await stored()).not.to.include('itemprop="p"')
  })

  for (const [name, text, expected] of [
    ['what fails', '1 / 0', '500'],
    ['what is no element', '5', '500'],
    ['null', 'null', '500'],
    ['what does not parse is skipped', '1 +', '206'],
  ] as const)
    it(`MOD-73 @write ${name}: ${expected}`, async () => {
      await declared({ '@write': script('@write', text) })
      expect((await on.shelf.append('/log.html', instance(THING, { p: 'ab' }))).status).to.equal(Number(expected))
      expect((await stored()).includes(meta('p', 'ab'))).to.equal(expected === '206')
    })

  it('SES-213 a slot that never ends is refused, and the server goes on', async () => {
    await declared({ '@validate': script('@validate', 'let f = n => n == 0 ? 0 : f(n - 1) + f(n - 1); f(60)') })
    const answer = await on.shelf.append('/log.html', instance(THING, { p: '1' }))
    expect(answer.status).to.equal(on.plane === 'mount' ? 507 : 503)
  })

  it('SES-213 what a resolver gives is paid for as often as it is given', async () => {
    await put(on.shelf.server, '/other.html', page(`<ul>${'<li>a</li>'.repeat(100)}</ul>`))
    const doubled = Array.from({ length: 12 }, (_, i) => `let l${i + 1} = [l${i}, l${i}].flatten();`).join(' ')
    const status = async (what: string, value: string) => {
      await declared({ '@write': script('@write', `let l0 = [${what}]; ${doubled} l12`) })
      return (await on.shelf.append('/log.html', instance(THING, { p: value }))).status
    }
    const spent = on.plane === 'mount' ? 507 : 503
    expect(await status('(${ul} from "/other.html").first()', 'x')).to.equal(spent)
    expect(await status('self.first()', 'x'.repeat(20_000))).to.equal(spent)
    expect(await status('self.first()', 'x')).to.equal(206)
  })
})
