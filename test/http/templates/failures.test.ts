/** What fails in templates and what they may spend (LIQ-60 to LIQ-72), as visitors meet it. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { composed, served } from '../../pipeline/compose/composing.ts'
import { NS, put, remove, rulesPage } from '../../support/content.ts'
import { type Case, failureOf, templates } from './rendering.ts'

const T = 'p:template="text/liquid"'

const local: Case[] = [
  [
    'LIQ-60 an output that fails says so in its place',
    'On {{ "soon" | date: "%d %B" }}.',
    'On !date: the input is no date.!.',
  ],
  ['LIQ-60 so does echo', 'a{% echo "x" | date %}b', 'a!date: the input is no date.!b'],
  [
    'LIQ-60 elsewhere nothing stands in its place',
    '<a title="{{ "x" | date }}" href={{ "x" | date }}>a</a><!--{{ "x" | date }}--><textarea>{{ "x" | date }}</textarea><script>{{ "x" | date }}</script><style>{{ "x" | date }}</style>',
    '<a title="" href="">a</a><!----><textarea></textarea><script></script><style></style>',
  ],
  [
    'LIQ-61 inside capture an output degrades',
    '{% capture c %}a{{ "x" | date }}b{% endcapture %}{{ c }}',
    'a!date: the input is no date.!b',
  ],
  [
    'LIQ-63 an unknown filter fails its expression alone',
    'a{{ 1 | nosuch: 2 }}b{{ 1 | constructor }}',
    'a!There is no filter nosuch.!b!There is no filter constructor.!',
  ],
]

/** Failures of the page: the line in the document counts from where the source stands. */
const whole: [title: string, source: string, line: number][] = [
  ['LIQ-61 a condition', '\n{% if "x" | date %}{% endif %}', 2],
  ['LIQ-61 elsif', '{% if false %}\n{% elsif "x" | date %}{% endif %}', 2],
  ['LIQ-61 unless', '{% unless "x" | date %}{% endunless %}', 1],
  ['LIQ-61 case', '{% case "x" | date %}{% endcase %}', 1],
  ['LIQ-61 assign', '\n\n{% assign a = "x" | date %}', 3],
  ['LIQ-61 an unknown filter in a condition', '{% if 1 | nosuch %}{% endif %}', 1],
  ['LIQ-64 an output that is not closed', '\n{{ a', 2],
  ['LIQ-64 a tag that is not closed', '{% if a', 1],
  ['LIQ-64 a block that is not closed', '{% for a in b %}', 1],
  ['LIQ-64 an end without block', '{% endif %}', 1],
  ['LIQ-64 an end of another block', '{% if a %}\n{% endfor %}', 2],
  ['LIQ-64 an unknown tag', '{% nosuch %}', 1],
  ['LIQ-64 a malformed expression', '{{ a == }}', 1],
  ['LIQ-64 a malformed condition', '{% if %}{% endif %}', 1],
]

const spent: [title: string, source: string][] = [
  ['LIQ-70 loops in loops', '{% for a in (1..9000) %}{% for b in (1..9000) %}{% endfor %}{% endfor %}'],
  ['LIQ-70 printing more than 16 MiB', `{% for a in (1..20000) %}${'x'.repeat(1000)}{% endfor %}`],
  ['LIQ-71 a range that is expanded', '{{ (1..100000000) | reverse | size }}'],
  ['LIQ-71 a range that is sorted and joined', '{{ (1..9999999999) | sort | join }}'],
  [
    'LIQ-71 a text that doubles',
    '{% assign a = "x" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}',
  ],
  [
    'LIQ-71 an array that doubles',
    '{% assign a = "x" | split: "," %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}',
  ],
  [
    'LIQ-71 a sentence of one long text many times',
    '{% assign a = "aaaaa" %}{% for i in (1..20) %}{% assign a = a | append: a %}{% endfor %}{% assign l = "" | split: "," | push: a %}{% for i in (1..7) %}{% assign l = l | concat: l %}{% endfor %}{{ l | array_to_sentence_string | size }}',
  ],
  ['LIQ-71 predicates in predicates', `{{ (1..5000) | where_exp: "x", "(1..5000) | where_exp: 'y', 'y > x'" | size }}`],
]

describe('Failures of templates, over HTTP', () => {
  const site = templates()

  for (const [title, source, expected] of local)
    it(title, async () => expect(await site.print(source)).to.equal(expected))

  for (const [title, source, line] of whole)
    it(`${title} fails the page with its line`, async () => {
      const answer = await site.show(composed(`\n<p>before</p>\n<p ${T}>${source}</p><p>behind</p>`))
      expect(failureOf(answer)).to.match(new RegExp(`^500 TemplateError: Line ${line + 2} `))
      expect(answer.text).not.to.match(/before|behind/)
      expect(answer.headers['cache-control']).to.equal('no-store')
    })

  it('LIQ-60 the example: one host degrades, the other page fails', async () => {
    const page = composed(`<p id="d" ${T}>On {{ "soon" | date: "%d %B" }}.</p><a ${T} href="/x">{{ 'n/a' | date }}</a>`)
    const answer = await site.show(page)
    expect(answer.status).to.equal(200)
    expect(answer.text).to.match(new RegExp(`<p id="d">On <span itemscope="" itemtype="${NS}/Error">.*</span>\\.</p>`))
    expect((await site.show(page.replace("{{ 'n/a' | date }}", "{% if 'n/a' | date %}{% endif %}"))).status).to.equal(
      500,
    )
  })

  it('LIQ-60 in an XML document an output that fails says so, too, and nowhere else', async () => {
    const source = '<i n="{{ 1 | nosuch }}"/><!--{{ 1 | nosuch }}-->{{ "soon" | date }}'
    const xml = (inside: string, more = '') => `<feed xmlns="urn:f" xmlns:p="${NS}/1.0"><t${more}>${inside}</t></feed>`
    await put(site.server, '/page.xml', xml(source, ` ${T}`))
    const answer = await site.send('GET', '/page.xml')
    const failed = `<span xmlns="http://www.w3.org/1999/xhtml" itemscope="" itemtype="${NS}/Error"><meta itemprop="kind" content="TemplateError"/><span itemprop="message">date: the input is no date.</span></span>`
    expect([answer.status, answer.text]).to.deep.equal([200, xml(`<i n=""/><!---->${failed}`)])
  })

  it('LIQ-60 a message is short and escaped', async () => {
    const text = await site.print(`{{ 1 | ${'x'.repeat(2000)} }}{{ people | where_exp: "<b>", "x" }}`)
    expect(text).not.to.contain('<b>')
    for (const [, message = ''] of text.matchAll(/!([^!]*)!/g)) expect(message.length).to.be.at.most(300)
  })

  it('LIQ-62 a page that fails has no elements to read either', async () => {
    await put(site.server, '/page.html', composed(`<p id="well">x</p><p ${T}>{% if 1 | nosuch %}{% endif %}</p>`))
    const answer = await site.send('GET', '/page.html', { Range: 'selector=#well' })
    expect(failureOf(answer)).to.match(/^500 TemplateError: /)
    await put(site.server, '/page.html', composed(`<p id="well">x</p><p ${T}>{{ 1 | nosuch }}</p>`))
    expect((await site.send('GET', '/page.html', { Range: 'selector=#well' })).text).to.equal('<p id="well">x</p>')
  })

  it('LIQ-65 a template that fails creates nothing', async () => {
    await put(site.server, '/rules.html', rulesPage(['*', 'POST|PUT', 'Allow', '/*']))
    const make = (source: string) =>
      `<!doctype html><html xmlns:p="${NS}/1.0" ${T}><head><base href="/made.html"><title>t</title></head><body>${source}</body></html>`
    await put(site.server, '/new.html', make('{% if 1 | nosuch %}{% endif %}'))
    const post = () => site.send('POST', '/new.html', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=1')
    expect(failureOf(await post())).to.match(/^500 TemplateError: /)
    expect(await site.server.site.find('/made.html')).to.equal(undefined)
    await put(site.server, '/new.html', make('{{ request.body.a }}'))
    expect((await post()).status).to.equal(301)
    await remove(site.server, '/rules.html')
  })

  for (const [title, source] of spent)
    it(`${title}: 503, and the server still answers`, async () => {
      const [failure, other] = await Promise.all([site.print(source), site.send('GET', '/people.html')])
      expect(failure).to.match(/^503 BudgetExceeded: /)
      expect(other.status).to.equal(200)
    })

  it('LIQ-71 a text that is too long for one turn of a filter: 503, while printing it and measuring it work', async () => {
    const grown = '{% assign a = "x<y" %}{% for i in (1..18) %}{% assign a = a | append: a %}{% endfor %}'
    expect(await site.print(`${grown}{{ a | size }}`)).to.equal('786432')
    expect((await site.print(`${grown}{{ a }}`)).length).to.equal(262_144 * 'x&lt;y'.length)
    for (const filter of ['upcase', 'split: "x"', 'replace: "x", "y"', 'slice: 1', 'newline_to_br', 'number_of_words'])
      expect(await site.print(`${grown}{{ a | ${filter} | size }}`), filter).to.match(/^503 BudgetExceeded: /)
  })

  it('LIQ-71 a source of 300 KB is read in turns', async () => {
    const text = composed(`<p ${T}>${'<b title="{{ 1 }}">{{ 2 }}</b>\n'.repeat(10_000)}</p>`)
    const answers = await Promise.all([
      site.show(text),
      ...Array.from({ length: 20 }, () => site.send('GET', '/people.html')),
    ])
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]))
  })

  it('LIQ-71 a spent allowance is not an error of one output', async () => {
    expect(await site.print('a{{ (1..100000000) | join }}b')).to.match(/^503 BudgetExceeded: /)
  })

  it('LIQ-70 all templates of a page share one allowance', async () => {
    const host = `<p ${T}>{% for a in (1..9000) %}${'x'.repeat(1000)}{% endfor %}</p>`
    expect((await site.show(composed(host))).status).to.equal(200)
    expect(failureOf(await site.show(composed(host + host)))).to.match(/^503 BudgetExceeded: /)
  })

  it('LIQ-72 each template is one of 500 directives', async () => {
    const host = `<i ${T}>{{ 1 }}</i>`
    expect((await site.show(composed(host.repeat(500)))).text).to.equal(served('<i>1</i>'.repeat(500)))
    expect(failureOf(await site.show(composed(host.repeat(501))))).to.match(/^503 BudgetExceeded: /)
  })
})
