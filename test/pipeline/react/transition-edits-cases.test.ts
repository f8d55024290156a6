/** Transitions of edits, case by case (REA-103 to REA-108). */

import { expect } from 'chai'
import { describe } from 'mocha'
import { composed } from '../compose/composing.ts'
import { ELEMENT, schema } from '../compose/site-of-one-case.ts'
import { type Case, caseByCase } from './cases.ts'
import { meta, NS, page } from './site.ts'

const typeOf = (at: string) => `https://l.example${at}`
const item = (at: string, state?: string, key?: string, more = '') =>
  `<div class="l" itemscope itemtype="${typeOf(at)}">${key ? `<i itemprop="ticket">${key}</i>` : ''}${state === undefined ? '' : `<b itemprop="state">${state}</b>`}${more}</div>`
const constraint = (at: string, from: string[], to: string[], more: { selector?: string; property?: string } = {}) =>
  `<div hidden itemscope itemtype="${NS}/TransitionConstraint">${meta('selector', more.selector ?? `[itemtype='${typeOf(at)}']`)}${meta('property', more.property ?? 'state')}${from.map(each => meta('from', each)).join('')}${to.map(each => meta('to', each)).join('')}</div>`
const machine = (at: string) =>
  constraint(at, [], ['out']) +
  constraint(at, ['out'], ['late']) +
  constraint(at, ['out', 'late'], ['back']) +
  constraint(at, ['back'], [])

describe('Transitions of edits, case by case', () => {
  const shown = { name: 'shown', returns: ELEMENT, sessel: `self.\${.l}.first()` }
  const server = caseByCase({ '/shown.html': page(schema('urn:t', [shown])) })
  const { add, ask } = server
  const edits: [
    title: string,
    rules: (at: string) => string,
    before: (at: string) => string,
    steps: [method: string, selector: string, body: string | undefined, status: number][],
  ][] = [
    [
      'REA-105 replacing the property element is a step',
      machine,
      at => item(at, 'out') + item(at, 'out'),
      [
        ['PUT', '.l:first-child b', '<b itemprop="state">late</b>', 206],
        ['PUT', '.l:first-child b', '<b itemprop="state">out</b>', 422],
        ['DELETE', '.l:first-child b', undefined, 422],
        ['PUT', '.l:first-child b', '<b>none</b>', 422],
      ],
    ],
    [
      'REA-105 adding the property is an entry',
      machine,
      at => item(at),
      [
        ['POST', '.l', '<b itemprop="state">late</b>', 422],
        ['POST', '.l', '<b itemprop="state">out</b>', 206],
        ['POST', '.l', '<b itemprop="state">late</b>', 422],
      ],
    ],
    [
      'REA-105 an item in place of one of its type is a step',
      machine,
      at => item(at, 'out') + item(at, 'back'),
      [
        ['PUT', '.l:first-child', '<div class="l" itemscope itemtype="$T"><b itemprop="state">back</b></div>', 206],
        ['PUT', '.l:last-child', '<div class="l" itemscope itemtype="$T"><b itemprop="state">out</b></div>', 422],
      ],
    ],
    [
      'REA-105 an element in place of an item is an exit',
      machine,
      at => item(at, 'out'),
      [['PUT', '.l', '<p>gone</p>', 422]],
    ],
    [
      'REA-105 items inside POSTed content enter',
      machine,
      _at => '',
      [
        ['POST', 'main', '<section><div itemscope itemtype="$T"><b itemprop="state">late</b></div></section>', 422],
        [
          'POST',
          'main',
          '<section><div itemscope itemtype="$T"><b itemprop="state">out</b></div><div itemscope itemtype="$T"><b itemprop="state">out</b></div></section>',
          206,
        ],
      ],
    ],
    [
      'REA-105 items inside a removed element exit',
      machine,
      at => `<section>${item(at, 'late')}</section><aside>${item(at, 'back')}</aside>`,
      [
        ['DELETE', 'section', undefined, 422],
        ['DELETE', 'aside', undefined, 204],
        ['PUT', 'section', '<section></section>', 422],
      ],
    ],
    [
      'REA-105 edits of other elements are free',
      machine,
      at => `${item(at, 'late')}<p>t</p>`,
      [
        ['PUT', 'p', '<p>u</p>', 206],
        ['POST', '.l', '<u itemprop="note">n</u>', 206],
      ],
    ],
  ]
  for (const [title, rules, before, steps] of edits)
    add(title, rules, async at => {
      await server.put(`${at}/w.html`, page(`<main>${before(at)}</main>`))
      for (const [method, selector, body, status] of steps) {
        const r = await ask(
          method,
          `${at}/w.html`,
          { Range: `selector=${selector}` },
          body?.replaceAll('$T', typeOf(at)),
        )
        expect(r.status, `${method} ${selector} ${r.text}`).to.equal(status)
      }
    })
  const cases: Case[] = [
    [
      'REA-103 a MOVE of a state is judged, one of an item is not',
      machine,
      async at => {
        await server.put(`${at}/w.html`, page(`<main>${item(at, 'late')}</main><aside>${item(at)}</aside>`))
        const move = (from: string, anchor: string) =>
          ask('MOVE', `${at}/w.html`, {
            Range: `selector=${from}`,
            Destination: `${at}/w.html`,
            'Destination-Range': `selector=${anchor};placement=append`,
          })
        expect((await move('main b', 'aside .l')).status).to.equal(422)
        expect((await move('main .l', 'aside')).status).to.equal(204)
      },
    ],
    [
      'REA-103 a POST below a directory is judged',
      machine,
      async at => {
        expect((await ask('POST', `${at}/`, { 'Content-Type': 'text/html' }, page(item(at, 'late')))).status).to.equal(
          422,
        )
        expect((await ask('POST', `${at}/`, { 'Content-Type': 'text/html' }, page(item(at, 'out')))).status).to.equal(
          201,
        )
      },
    ],
    [
      'REA-107 rules of a write count from the next one',
      () => '',
      async at => {
        expect(
          (await ask('PUT', `${at}/w.html`, {}, page(constraint(at, ['a'], ['b']) + item(at, 'x')))).status,
        ).to.equal(201)
        expect((await ask('PUT', `${at}/v.html`, {}, page(item(at, 'x')))).status).to.equal(422)
        expect((await ask('PUT', `${at}/w.html`, {}, page(item(at, 'x')))).status).to.equal(200)
        expect((await ask('PUT', `${at}/v.html`, {}, page(item(at, 'x')))).status).to.equal(201)
      },
    ],
    [
      'REA-108 a step that is repeated is no transition',
      machine,
      async at => {
        await server.put(`${at}/w.html`, page(item(at, 'out')))
        for (let i = 0; i < 2; i++)
          expect(
            (await ask('PUT', `${at}/w.html`, { Range: 'selector=b' }, '<b itemprop="state">late</b>')).status,
          ).to.equal(206)
      },
    ],
  ]
  const around = (at: string) => constraint(at, ['out'], ['back'], { selector: `.guarded [itemtype='${typeOf(at)}']` })
  for (const name of ['div', 'p', 'table', 'li'])
    cases.push([
      `COMP-6 REA-101 items are asked about where they are written: in a ${name}`,
      around,
      async at => {
        const own = (state: string) =>
          `<${name} class="guarded" xmlns:t="urn:t"><t:shown>${item(at, state)}</t:shown></${name}>`
        const path = `${at}/w.html`
        await server.put(path, composed(`<section>${own('out')}</section>${item(at, 'out')}<p></p><aside></aside>`))
        const edit = (method: string, selector: string, state: string, make = (state: string) => item(at, state)) =>
          ask(method, path, { Range: `selector=${selector}` }, method === 'DELETE' ? undefined : make(state))
        const move = (from: string, anchor: string) =>
          ask('MOVE', path, {
            Range: `selector=${from}`,
            Destination: path,
            'Destination-Range': `selector=${anchor};placement=append`,
          })
        const property = (state: string) => `<b itemprop="state">${state}</b>`
        const refused = [
          await edit('PUT', '.guarded .l', 'lost'),
          await edit('PUT', '.guarded b', 'lost', property),
          await edit('DELETE', '.guarded .l', ''),
          await edit('DELETE', '.guarded', ''),
          await edit('PUT', '.guarded', '', () => '<i>x</i>'),
          await edit('PUT', '.guarded', 'lost', own),
          await edit('POST', 'section', 'lost', own),
          await move('.guarded b', 'section'),
          await edit('POST', '.guarded', 'x', state => `<t:shown>${item(at, state)}</t:shown>`),
          await ask('DELETE', path),
        ]
        const free = [
          await edit('PUT', '.l:not(.guarded .l)', 'lost'),
          await edit('PUT', 'section ~ p', '', () => '<p>new</p>'),
          await edit('PUT', '.guarded b', 'back', property),
          await edit('PUT', '.guarded', 'back', own),
          await move('.guarded', 'aside'),
        ]
        expect(refused.map(({ status }) => status)).to.deep.equal(refused.map(() => 422))
        expect(free.map(({ status }) => status)).to.deep.equal([206, 206, 206, 206, 204])
      },
    ])
  for (const name of ['div', 'p', 'table'])
    cases.push([
      `COMP-6 REA-101 REA-105 an item has the states that the page shows in it: a ${name} around an element with a prefix`,
      machine,
      async at => {
        const own = (markup: string) =>
          `<${name} class="own" itemscope itemtype="${typeOf(at)}"><s:d xmlns:s="http://www.w3.org/2000/svg"><div class="in">${markup}</div></s:d></${name}>`
        const path = `${at}/w.html`
        const state = (to: string) => `<b itemprop="state">${to}</b>`
        await server.put(path, composed(`<section>${own('')}</section>`))
        const steps: [status: number, method: string, selector: string | undefined, body?: string][] = [
          [422, 'POST', '.in', state('late')],
          [422, 'PUT', '.own', own(state('late'))],
          [422, 'POST', 'section', own(state('late'))],
          [422, 'PUT', undefined, composed(own(state('late')))],
          [206, 'POST', '.in', state('out')],
          [422, 'DELETE', '.own'],
          [422, 'DELETE', 'section'],
          [422, 'DELETE', undefined],
          [206, 'PUT', '.own b', state('late')],
          [422, 'PUT', '.own b', state('out')],
          [206, 'POST', '.in', '<u>note</u>'],
          [206, 'PUT', '.own', own(state('back'))],
          [204, 'DELETE', '.own'],
        ]
        for (const [status, method, selector, body] of steps) {
          const fields = selector === undefined ? {} : { Range: `selector=${selector}` }
          const r = await ask(method, path, fields, body)
          expect(r.status, `${method} ${selector} ${body} ${r.text}`).to.equal(status)
        }
      },
    ])
  for (const value of ['"urn:x"', 'urn:x', '" urn:x"', `"'urn:x"`, `'"urn:x'`, '">urn:x"', '"&#32;urn:x"', '"xmlns:"'])
    cases.push([
      `COMP-6 REA-101 an item has the states that the page shows in it, which is put together from this write on: xmlns:s=${value}`,
      machine,
      async at => {
        const own = (to: string) =>
          `<p class="own" itemscope itemtype="${typeOf(at)}"><s:d xmlns:s=${value}><div class="in"><b itemprop="state">${to}</b></div></s:d></p>`
        const path = `${at}/w.html`
        await server.put(path, '<!doctype html><html><body><section></section></body></html>')
        const late = await ask('POST', path, { Range: 'selector=section' }, own('late'))
        expect(late.status, late.text).to.equal(422)
        const out = await ask('POST', path, { Range: 'selector=section' }, own('out'))
        expect(out.status, out.text).to.equal(206)
      },
    ])
  for (const each of cases) add(...each)
})
