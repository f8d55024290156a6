/** What a template takes grows with its size alone, and whatever goes through a long text or many branches counts (LIQ-70, LIQ-71). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Allowance } from '../../pipeline/language/allowance.ts'
import { compileTemplate, compilingTemplate, findingHosts } from '../../pipeline/language/liquid/liquid.ts'
import { rendering } from '../../pipeline/language/liquid/render.ts'
import { Run } from '../../pipeline/language/liquid/run.ts'
import type { Value } from '../../pipeline/language/values.ts'
import type { DocumentNode } from '../../pipeline/tree/nodes.ts'
import { failure, items, rendered, scopeOf } from '../pipeline/language/liquid/rendering.ts'
import { takesLess } from '../support/cost.ts'
import { leavesTheLoop } from '../support/loop-hold.ts'
import { stepsOf } from '../support/steps.ts'
import { unhurried } from '../support/unhurried.ts'

const CONTEXT = { kind: 'html', element: 'div' } as const

/** Milliseconds; in the square of its length each of these would take some seconds at least. */
const SOON = 1_000

const LENGTH = 100_000

function repeated(text: string): string {
  return text.repeat(LENGTH / text.length)
}

describe('what templates take', () => {
  const sources: [what: string, source: string][] = [
    ['branches of an if', `{% if a %}${repeated('{% elsif a %}')}{% endif %}`],
    ['branches of a case', `{% case a %}${repeated('{% when 1 %}')}{% endcase %}`],
    ['lines of a comment', `{% #${repeated('\n')}# %}`],
  ]
  for (const [what, source] of sources)
    it(`LIQ-71 many ${what} are read in time that grows with them`, async () => {
      await takesLess(SOON, () => stepsOf(compilingTemplate(source, CONTEXT)))
    })

  it('LIQ-71 a tag with many values and a long text is read in one pass', async () => {
    await takesLess(300, () => compileTemplate(`{% cycle ${'1,'.repeat(4_000)}"${'|'.repeat(200_000)}" %}`, CONTEXT))
  })

  it('LIQ-71 lines of a liquid tag are read in steps', () => {
    const source = `{% liquid\n${'assign a = 1\n'.repeat(5_000)}echo a\n%}`
    expect(stepsOf(compilingTemplate(source, CONTEXT))).to.be.at.least(10)
  })

  it('LIQ-64 liquid tags within lines of liquid tags are nested so far and no further', async () => {
    expect(await rendered(`{% ${'liquid '.repeat(50)}echo 1 %}`)).to.equal('1')
    const deep = `{% ${'liquid '.repeat(100_000)}echo 1 %}`
    expect(() => compileTemplate(deep, CONTEXT)).to.throw('nested too deeply')
  })

  it('LIQ-64 what a liquid tag opens it closes, and errors name the line', async () => {
    expect(await rendered('{% liquid\nif true\n echo 1\nendif\ncomment\n if\nendcomment\necho 2 %}')).to.equal('12')
    for (const [source, line] of [
      ['a\n{% liquid\necho 1\nif a\n %}', 4],
      ['{% if a %}\n{% liquid\n\nendif %}', 4],
      ['{% liquid\nraw\n %}', 1],
      ['{% liquid\necho 1\nnone %}\n', 3],
    ] as const)
      expect(() => compileTemplate(source, CONTEXT))
        .to.throw()
        .with.property('line', line)
  })

  const hosts: [what: string, html: string, xml?: string][] = [
    ['outputs that do not end', '{{'],
    ['outputs whose strings do not end', `{{ 'a" b`],
    ['tags that do not end', '{%'],
    ['raw blocks that do not end', '{% raw %}'],
    ['no Liquid', ''],
    ['line ends', '\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n'],
  ]
  for (const [what, content] of hosts)
    for (const kind of ['html', 'xml'] as const)
      it(`LIQ-71 many templates with ${what} are found in ${kind} in time that grows with them`, async () => {
        const text = `<r>${repeated(`<p p:template="x">${content}</p>`)}</r>`
        const isHost = (element: { tagName: string }) => element.tagName === 'p'
        // What the parser of HTML takes for so many elements is not looked at.
        const parse = kind === 'html' ? { parse: paragraphs } : {}
        await takesLess(SOON, () => stepsOf(findingHosts(text, { kind, isHost, ...parse })))
      })

  it('LIQ-64 templates are found where others do not end, with the line of each', () => {
    const text = `<r>\n<a t:template='x'>{{ "</a>\n<a t:template='x'>{{ '}}' }}</a>\n\n<a t:template='x'/></r>`
    const finding = findingHosts(text, { kind: 'xml', isHost: ({ tagName }) => tagName === 'a' })
    let step = finding.next()
    while (!step.done) step = finding.next()
    expect(step.value.map(({ source, line }) => [source, line])).to.deep.equal([
      ['{{ "', 2],
      [`{{ '}}' }}`, 3],
      ['', 5],
    ])
  })

  const long = 'A'.repeat(400_000)
  const round = (text: string) => `{% for i in (1..10) %}${text}{% endfor %}`
  const counted: [what: string, source: string, names: Record<string, Value>][] = [
    ['the length of a long text', round('{% if s.size == 1 %}{% endif %}'), { s: long }],
    ['the size of a long text', round('{{ s | size | minus: 1 | slice: 9 }}'), { s: long }],
    ['a long text as a date', round('{{ s | date }}'), { s: ' '.repeat(400_000) }],
    ['the name of a cycle', round('{% cycle s: "", "" %}'), { s: long }],
    ['a long condition', round('{% assign x = "" | where_exp: "x", s %}'), { s: `'${long.slice(0, 200_000)}'` }],
    ['long texts that are told apart', '{% assign x = l | uniq %}', { l: Array(10).fill(long) }],
    ['long texts that are sorted', '{% assign x = l | sort_natural %}', { l: Array(10).fill(long) }],
    ['branches', round(`{% case 1 %}${'{% when 2, 2, 2, 2 %}'.repeat(300)}{% endcase %}`), {}],
    ['conditions', round(`{% if nil %}${'{% elsif nil %}'.repeat(1_000)}{% endif %}`), {}],
    [
      'the text of an element without any',
      round('{{ e }}{{ e["@text"] }}'),
      { e: items(`<div itemscope>${'<b> </b>'.repeat(8_000)}</div>`)[0] ?? null },
    ],
  ]
  for (const [what, source, names] of counted)
    it(`LIQ-70 ${what} counts`, async () => {
      const allowance = unhurried()
      await failureOrText(() => rendered(source, { names, allowance }))
      expect(allowance.stepsTaken).to.be.at.least(10_000)
    })

  it('LIQ-71 copies that a sort makes of one text in a long list count', async () => {
    const names = { l: Array(300).fill('B'.repeat(200_000)) }
    const error = await failure(() => rendered('{% assign x = l | sort_natural %}', { names }))
    expect(error).to.have.property('spent', 'memory')
  })

  it('LIQ-37 a long pattern is not gone through for a short text', async () => {
    const names = { s: 'a'.repeat(8_000_000), t: 'a'.repeat(3_000) }
    const source = `{% for i in (1..200) %}{% if t contains s %}x{% endif %}{{ t | replace: s | remove_last: s | size }}{% endfor %}`
    const text = await takesLess(SOON, () => rendered(source, { names, allowance: new Allowance() }))
    expect(text).to.equal('3000'.repeat(200))
  })

  it('LIQ-71 filters of one expression that each go through a long text leave the loop to others between them', () => {
    for (const filter of ['slugify', 'upcase', 'truncate: 90000', 'strip_html', 'escape']) {
      const template = compileTemplate(`{{ s ${`| ${filter} `.repeat(30)} | size }}`, { kind: 'html', element: 'div' })
      const work = rendering(template, new Run(scopeOf({ s: 'é'.repeat(100_000) }), unhurried()))
      let pauses = 0
      while (!work.next().done) pauses++
      expect(pauses, filter).to.be.at.least(30)
    }
  })

  const written: [what: string, source: string, s: string][] = [
    ['values in a script', '<script>{% for i in (1..8) %}{{ s }}{% endfor %}</script>', '<'.repeat(100_000)],
    [
      'captured values',
      '{% capture c %}{% for i in (1..8) %}{{ s }} {% endfor %}{% endcapture %}{{ c }}',
      'a '.repeat(50_000),
    ],
    ['a piece of the template', `{{ s }}${'<b a a>'.repeat(120_000)}`, ''],
  ]
  for (const [what, source, s] of written)
    it(`LIQ-35 LIQ-71 long output leaves the loop to others between its parts: ${what}`, () => {
      const work = rendering(compileTemplate(source, CONTEXT), new Run(scopeOf({ s }), unhurried()))
      let pauses = 0
      while (!work.next().done) pauses++
      expect(pauses).to.be.at.least(5)
    })

  it('LIQ-34 LIQ-70 a text that is captured again with each value that is added takes what it is long', async () => {
    const source =
      '{% capture c %}{% endcapture %}{% for i in (1..2000) %}{% capture c %}{{ c }}{{ s }}{% endcapture %}{% endfor %}{{ c }}'
    expect(await rendered(source, { names: { s: '<' } })).to.equal('&lt;'.repeat(2_000))
  })

  it('LIQ-34 LIQ-71 its markup is not read anew each time', async () => {
    const source =
      '{% for i in (1..500) %}{% capture c %}{{ c }}<li id={{ s }}>{{ s }}</li>{% endcapture %}{% endfor %}{{ c }}'
    const one = '<li id=&lt;>&lt;</li>'
    await takesLess(100, async () => expect(await rendered(source, { names: { s: '<' } })).to.equal(one.repeat(500)))
  })

  const text = 'a'.repeat(60_000)
  const operands = (test: string) => `{% if ${Array(50).fill(test).join(' or ')} %}{% endif %}`
  const numerals = Array<Value>(3_000).fill('123')
  const nested = items(`${'<div itemscope>'.repeat(100)}${'<b></b>'.repeat(10_000)}`)
  const compared: [what: string, source: string, names: Record<string, Value>, most?: number][] = [
    ['texts that are compared', operands('s < t'), { s: `${text}b`, t: `${text}a` }],
    ['texts that are searched', operands('s contains t'), { s: text, t: `${text.slice(1)}b` }],
    ['lists that are searched', operands('l contains 5'), { l: numerals }],
    ['lists that are compared', operands('l == m'), { l: numerals, m: [...Array<Value>(2_999).fill(123n), 5n] }],
    ['arguments of a filter', `{{ 1 | default: 2${', s.size'.repeat(500)} }}`, { s: text }],
    ['elements in a list', '{{ l | append: "" }}', { l: Array<Value>(200).fill(nested[0] ?? null) }],
    ['elements in each other', '{{ l }}', { l: nested }, 60_000],
  ]
  for (const [what, source, names, limit = 20_000] of compared)
    it(`LIQ-71 ${what} leave the loop to others between them`, () => {
      const template = compileTemplate(source, CONTEXT)
      const allowance = unhurried()
      const work = rendering(template, new Run(scopeOf(names), allowance))
      let [most, before] = [0, 0]
      const pause = () => {
        most = Math.max(most, allowance.stepsTaken - before)
        before = allowance.stepsTaken
      }
      while (!work.next().done) pause()
      pause()
      expect(most, `of ${allowance.stepsTaken} steps`).to.be.below(limit)
    })

  it('LIQ-71 a long text that ends in half a character is printed to its end', async () => {
    const s = `${'x'.repeat(200_000)}\ud800`
    expect(await rendered('{{ s }}', { names: { s } })).to.equal(s)
  })

  const turns: [what: string, source: string, names: Record<string, Value>][] = [
    ['a list of long texts', '<!--{{ l }}-->', { l: Array(4).fill('-'.repeat(300_000)) }],
    ['long captured text', '{% capture c %}{{ s }}{% endcapture %}<a title={{ c }}>', { s: ' '.repeat(600_000) }],
    ['a long range', '{% assign l = (1..500000) | reverse %}{{ l[0] }}', {}],
  ]
  for (const [what, source, names] of turns)
    it(`LIQ-71 others have their turn while ${what} is worked on`, async () => {
      await leavesTheLoop(async () => failureOrText(() => rendered(source, { names })))
    })
})

async function failureOrText(work: () => Promise<string>): Promise<unknown> {
  return work().catch(error => error)
}

/** All paragraphs of a text, as they are written. */
function* paragraphs(text: string): Generator<void, DocumentNode, void> {
  const childNodes = [...text.matchAll(/(<p [^>]*>)[^<]*(<\/p>)/g)].map(({ index, 0: all, 1: tag = '' }) => {
    const [startOffset, endOffset] = [index, index + all.length]
    const startTag = { startOffset, endOffset: startOffset + tag.length }
    const sourceCodeLocation = { startOffset, endOffset, startTag, endTag: { startOffset: endOffset - 4, endOffset } }
    return {
      nodeName: 'p',
      tagName: 'p',
      namespaceURI: '',
      attrs: [],
      childNodes: [],
      parentNode: null,
      sourceCodeLocation,
    }
  })
  return { nodeName: '#document', childNodes }
}
