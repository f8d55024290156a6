import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  type AccessTypes,
  extractAccess,
  extractingAccess,
  findingPositions,
  type RawRule,
  sameDeclarations,
} from '../../../pipeline/access/extract.ts'
import { parseDocument, TreeError } from '../../../pipeline/tree/document.ts'
import { readingAllItems } from '../../../pipeline/tree/microdata.ts'
import { ruleValue } from '../../../pipeline/tree/microdata-value.ts'
import { attribute } from '../../../pipeline/tree/nodes.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { takesLess } from '../../support/cost.ts'
import { stepsOf } from '../../support/steps.ts'
import { html, NS } from './site.ts'

const RULE = `itemscope itemtype="${NS}/AuthorizationRule"`
const META =
  '<meta itemprop="actor" content="*"><meta itemprop="resource" content="/a"><meta itemprop="method" content="PUT">' +
  '<meta itemprop="action" content="allow">'

type Fields = Partial<Omit<RawRule, 'position' | 'row'>>

function rulesIn(body: string, types?: AccessTypes): Fields[] {
  return (extractAccess(html(body), NS, types)?.rules ?? []).map(withoutPlace)
}

function withoutPlace({ position, row, ...fields }: RawRule): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, values]) => values.length > 0))
}

const ONE = { actor: ['*'], resource: ['/a'], method: ['PUT'], action: ['allow'] }

describe('rules in markup', () => {
  const forms: [name: string, body: string, expected: Fields[]][] = [
    ['RULE-1 metas', `<div ${RULE}>${META}</div>`, [ONE]],
    ['RULE-1 any element', `<section hidden ${RULE}>${META}</section>`, [ONE]],
    ['RULE-1 one type among several', `<i itemscope itemtype="https://x/ ${NS}/AuthorizationRule">${META}</i>`, [ONE]],
    ['RULE-1 the whole token', `<i itemscope itemtype="${NS}/AuthorizationRules">${META}</i>`, []],
    ['RULE-1 case-sensitive', `<i itemscope itemtype="${NS}/authorizationRule">${META}</i>`, []],
    ['RULE-1 the vocabulary of this site', `<i itemscope itemtype="https://other/AuthorizationRule">${META}</i>`, []],
    ['RULE-1 an item needs itemscope', `<i itemtype="${NS}/AuthorizationRule">${META}</i>`, []],
    [
      'RULE-1 nested in another item',
      `<div itemscope itemtype="https://x/"><p itemprop="p" ${RULE}>${META}</p></div>`,
      [ONE],
    ],
    ['RULE-2 not in a template', `<template><div ${RULE}>${META}</div></template>`, []],
    [
      'RULE-2 no values from a template',
      `<div ${RULE}>${META}<template><b itemprop="actor">x</b></template></div>`,
      [ONE],
    ],
    ['RULE-2 text is no markup', `<pre>&lt;div ${RULE}&gt;</pre><!-- <div ${RULE}>${META}</div> -->`, []],
    ['RULE-3 content of any element', `<p ${RULE}><b itemprop="actor" content="u">text</b></p>`, [{ actor: ['u'] }]],
    ['RULE-3 value of data', `<p ${RULE}><data itemprop="actor" value="u">text</data></p>`, [{ actor: ['u'] }]],
    [
      'RULE-3 content before value',
      `<p ${RULE}><data itemprop="actor" content="c" value="u"></data></p>`,
      [{ actor: ['c'] }],
    ],
    ['RULE-3 data without value', `<p ${RULE}><data itemprop="actor">text</data></p>`, [{ actor: ['text'] }]],
    [
      'RULE-3 href and value of others do not count',
      `<p ${RULE}><a itemprop="resource" href="/no">/yes</a><meter itemprop="method" value="1">PUT</meter></p>`,
      [{ resource: ['/yes'], method: ['PUT'] }],
    ],
    [
      'RULE-3 trimmed',
      `<p ${RULE}><b itemprop="actor"> u\n v </b><meta itemprop="action" content=" Deny ">`,
      [{ actor: ['u\n v'], action: ['Deny'] }],
    ],
    ['RULE-3 empty values are dropped', `<p ${RULE}><b itemprop="actor"> </b><meta itemprop="actor" content="">`, [{}]],
    [
      'RULE-3 text of descendants',
      `<p ${RULE}><b itemprop="selector">#a <i>&gt; li</i></b>`,
      [{ selector: ['#a > li'] }],
    ],
    [
      'RULE-3 several values',
      `<ul ${RULE}><li itemprop="method">PUT<li itemprop="method">GET</ul>`,
      [{ method: ['PUT', 'GET'] }],
    ],
    [
      'RULE-3 several names',
      `<p ${RULE}><b itemprop="actor other method">x</b></p>`,
      [{ actor: ['x'], method: ['x'] }],
    ],
    [
      'RULE-3 a row',
      `<table><tr ${RULE}><td itemprop="actor">*<td><ul><li itemprop="method">PUT<li itemprop="method">GET</ul>` +
        '<td itemprop="resource">/a</tr></table>',
      [{ actor: ['*'], resource: ['/a'], method: ['PUT', 'GET'] }],
    ],
    [
      'RULE-4 nested items keep their own',
      `<div ${RULE}>${META}<p itemscope><b itemprop="actor">x</b></p><p itemprop="actor" itemscope>y</p></div>`,
      [ONE],
    ],
    [
      'RULE-4 a rule in a rule',
      `<div ${RULE}><b itemprop="actor">a</b><p ${RULE}><b itemprop="actor">b</b></p></div>`,
      [{ actor: ['a'] }, { actor: ['b'] }],
    ],
    [
      'RULE-4 itemref',
      `<b id="x" itemprop="actor">a</b><div ${RULE} itemref="x y"></div><p id="y"><b itemprop="method">PUT</b></p>`,
      [{ actor: ['a'], method: ['PUT'] }],
    ],
    [
      'RULE-4 itemref to an own descendant',
      `<div ${RULE} itemref="x"><b id="x" itemprop="actor">a</b></div>`,
      [{ actor: ['a'] }],
    ],
    ['RULE-5 never split', `<p ${RULE}><b itemprop="method">GET, PUT</b></p>`, [{ method: ['GET, PUT'] }]],
    [
      'RULE-6 a table makes a rule of each row',
      `<table ${RULE}><thead><tr><th>actor<tbody><tr><td itemprop="actor">a<td itemprop="method">PUT` +
        '<tr><td>nothing<tr><td itemprop="actor">b<td itemprop="selector">li</table>',
      [
        { actor: ['a'], method: ['PUT'] },
        { actor: ['b'], selector: ['li'] },
      ],
    ],
    [
      'RULE-6 tbody too, and properties outside rows are nothing',
      `<table><caption itemprop="actor">c</caption><tbody ${RULE}><tr><td itemprop="actor">a</table>`,
      [{ actor: ['a'] }],
    ],
    ['RULE-6 a table without rows is nothing', `<table ${RULE}><caption itemprop="actor">c</caption></table>`, []],
    [
      'RULE-6 the nearest row of nested tables',
      `<table ${RULE}><tr><td itemprop="actor">a<table><tr><td itemprop="method">PUT</table></table>`,
      [{ actor: ['aPUT'] }, { method: ['PUT'] }],
    ],
    [
      'RULE-6 a row that is an item of its own',
      `<table ${RULE}><tr ${RULE}><td itemprop="actor">a</table>`,
      [{ actor: ['a'] }],
    ],
  ]
  for (const [name, body, expected] of forms) {
    it(name, () => {
      expect(rulesIn(body)).to.deep.equal(expected)
    })
  }

  it('RULE-1 in XML, under any prefix', () => {
    const source =
      `<doc xmlns:h="http://www.w3.org/1999/xhtml"><r ${RULE.replace('itemscope', 'itemscope=""')}>` +
      '<h:data itemprop="actor" value="a"/><data itemprop="method" value="PUT">x</data><m itemprop="resource" content="/x"/>' +
      '<s itemprop="selector">a &gt; b</s></r></doc>'
    const access = extractAccess(parseDocument('xml', source), NS)
    expect(access?.rules.map(withoutPlace)).to.deep.equal([
      { actor: ['a'], method: ['PUT'], resource: ['/x'], selector: ['a > b'] },
    ])
  })

  it('RULE-12 subtypes', () => {
    const types = { rule: new Set(['https://x/Rule']), group: new Set<string>() }
    const body = `<div itemscope itemtype="https://x/Rule">${META}</div>`
    expect(rulesIn(body, types)).to.deep.equal([ONE])
    expect(rulesIn(body)).to.deep.equal([])
  })
  it('RULE-12 types without meaning', () => {
    for (const type of ['GroupMembership', 'PathAuthorizationRule', 'TypeAuthorizationRule', '1.0/AuthorizationRule']) {
      expect(extractAccess(html(`<div itemscope itemtype="${NS}/${type}">${META}</div>`), NS), type).to.equal(undefined)
    }
  })

  it('finds nothing in a document without rules', () => {
    expect(extractAccess(html('<p itemscope itemtype="https://x/">a</p>'), NS)).to.equal(undefined)
  })

  it('is plain data with the place of each item', () => {
    const document = html(
      `<p>x</p><div id="a" ${RULE}>${META}</div><table id="b" ${RULE}><tr>${cells()}<tr>${cells()}</table>`,
    )
    const access = extractAccess(document, NS)
    expect(JSON.parse(JSON.stringify(access))).to.deep.equal(access)
    const ids = new Map([...atOnce(findingPositions(document))].map(([element, at]) => [at, attribute(element, 'id')]))
    expect(access?.rules.map(r => [ids.get(r.position), r.row])).to.deep.equal([
      ['a', undefined],
      ['b', 0],
      ['b', 1],
    ])
  })
})

function cells(): string {
  return '<td itemprop="actor">*<td itemprop="method">PUT'
}

describe('groups in markup', () => {
  it('GRP-1 name and members, repeated members once', () => {
    const body =
      `<ul itemscope itemtype="${NS}/Group"><li itemprop="name"> <li itemprop="name">staff<li itemprop="name">x` +
      '<li itemprop="member">a@x.test<li itemprop="member">a@x.test<li><i itemprop="member">b@x.test</i></ul>'
    expect(extractAccess(html(body), NS)?.groups).to.deep.equal([
      { position: 4, subtypes: [], name: 'staff', members: ['a@x.test', 'b@x.test'] },
    ])
  })
  it('GRP-1 a table is one group', () => {
    const body =
      `<table itemscope itemtype="${NS}/Group"><caption itemprop="name">staff</caption>` +
      '<tr><td itemprop="member">a@x.test<tr><td itemprop="member">b@x.test</table>'
    expect(extractAccess(html(body), NS)?.groups[0]?.members).to.deep.equal(['a@x.test', 'b@x.test'])
  })
  it('GRP-4 subtypes are told apart', () => {
    const types = { rule: new Set<string>(), group: new Set(['https://x/Domain']) }
    const body = '<p itemscope itemtype="https://x/Domain"><b itemprop="name">staff</b><b itemprop="suffix">@x</b></p>'
    expect(extractAccess(html(body), NS, types)?.groups).to.deep.equal([
      { position: 4, subtypes: ['https://x/Domain'], name: 'staff', members: [] },
    ])
    expect(extractAccess(html(body), NS)).to.equal(undefined)
  })
})

describe('whether two versions declare the same', () => {
  const types = { rule: new Set<string>(), group: new Set(['https://x/Domain']) }
  const read = (body: string) => extractAccess(html(body), NS, types)
  const rule = `<div ${RULE}>${META}</div>`
  const group = (type: string) => `<i itemscope itemtype="${type}"><b itemprop="name">g</b></i>`

  it('places of rules and plain groups do not count', () => {
    expect(sameDeclarations(read(rule), read(`<p>x</p>${rule}`))).to.equal(true)
    expect(sameDeclarations(read(group(`${NS}/Group`)), read(`<p>x</p>${group(`${NS}/Group`)}`))).to.equal(true)
    expect(sameDeclarations(undefined, read('<p>x</p>'))).to.equal(true)
  })
  it('anything that is declared does', () => {
    expect(sameDeclarations(read(rule), undefined)).to.equal(false)
    expect(sameDeclarations(undefined, read(rule))).to.equal(false)
    expect(sameDeclarations(read(rule), read(rule + rule))).to.equal(false)
    expect(sameDeclarations(read(rule), read(rule.replace('PUT', 'GET')))).to.equal(false)
  })
  it('the place of a group that is found again by it does', () => {
    const domain = group('https://x/Domain')
    expect(sameDeclarations(read(domain), read(domain))).to.equal(true)
    expect(sameDeclarations(read(domain), read(`<p>x</p>${domain}`))).to.equal(false)
  })
})

describe('cost of extraction', () => {
  const ruleFor = (resource: string) =>
    `<i ${RULE}><b itemprop="actor">*</b><b itemprop="method">PUT</b><b itemprop="resource">${resource}</b><b itemprop="action">Allow</b></i>`
  const many = (count: number, resource: (i: number) => string) =>
    html(Array.from({ length: count }, (_, i) => ruleFor(resource(i))).join(''))

  it('SEC-4 alternatives that multiply beyond all proportion to the text are refused, before they are written out', () => {
    const names = Array.from({ length: 256 }, (_, i) => i.toString(36)).join(',')
    for (const resource of [
      (i: number) => `/{${names}}${'x'.repeat(240)}${i}`,
      (i: number) => `/${'{a,b}'.repeat(8)}${i}`,
      (i: number) => `/\${request.path}${'{a,b}'.repeat(8)}${i}`,
    ]) {
      expect(() => extractAccess(many(1_000, resource), NS)).to.throw(TreeError, /too many paths/)
      expect(extractAccess(many(5, resource), NS)?.rules).to.have.length(5)
    }
  })
  it('SEC-4 thousands of rules with a few alternatives, and long lists, are welcome', () => {
    const list = (i: number) => `/{${Array.from({ length: 200 }, (_, n) => `name-${i}-${n}`).join(',')}}/*`
    expect(
      extractAccess(
        many(2_000, i => `/{a,b,c,d}/area-${i}/{x,y,z}*`),
        NS,
      )?.rules,
    ).to.have.length(2_000)
    expect(extractAccess(many(100, list), NS)?.rules).to.have.length(100)
  })
  it('a document of 11,000 elements without rules takes a few milliseconds', () => {
    const document = html('<p class="a" title="b">x<b>y</b></p>'.repeat(5_500))
    return takesLess(10, () => extractAccess(document, NS))
  })
  for (const [name, markup] of [
    ['RULE-6 rows of one table', `<table ${RULE}>${'<tr><td itemprop="actor">*</td></tr>'.repeat(20_000)}</table>`],
    [
      'GRP-1 members of one group',
      `<div itemscope itemtype="${NS}/Group">${'<b itemprop="member">a@b.c</b>'.repeat(20_000)}</div>`,
    ],
  ] as const)
    it(`SEC-12 ${name} are taken in steps, beside those in which they are read`, () => {
      const document = html(markup)
      const before = [readingAllItems(document.root, ruleValue, () => true), findingPositions(document)]
      const known = before.reduce((sum, work) => sum + stepsOf(work), 0)
      expect(stepsOf(extractingAccess(document, NS)) - known).to.be.at.least(40)
    })
})
