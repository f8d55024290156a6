/** What few steps of a program would make large or long is counted before, or refused (SES-213). */

import { expect } from 'chai'
import { Allowance, AllowanceSpent } from '../../../../pipeline/language/allowance.ts'
import { compile, evaluate } from '../../../../pipeline/language/sessel/sessel.ts'
import { ElementValue, LazyDictionary, type Source } from '../../../../pipeline/language/values.ts'
import { ForgettingMap } from '../../../../pipeline/lazy-package.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { rootElement } from '../../../../pipeline/tree/nodes.ts'
import { stepsOf } from '../../../support/steps.ts'
import { unhurried } from '../../../support/unhurried.ts'
import { became, hostFor } from './site.ts'
import { running } from './turns.ts'

const PERSON = '@schema P url("https://example.com/Person");'

/** A list `l` of two to a power copies of an item. */
function list(power: number, item = '1'): string {
  const doubled = Array.from({ length: power }, (_, i) => `let l${i + 1} = [l${i}, l${i}].flatten();`)
  return `let l0 = [${item}]; ${doubled.join(' ')} let l = l${power};`
}

/** A text `s` of two to a power times another one. */
function text(power: number, unit = 'a'): string {
  const doubled = Array.from({ length: power }, (_, i) => `let s${i + 1} = s${i} + s${i};`)
  return `let s0 = "${unit}"; ${doubled.join(' ')} let s = s${power};`
}

function hostWith(body: string) {
  const source: Source = { path: '/x.html', document: parseDocument('html', `<!doctype html><body>${body}`) }
  const root = rootElement(source.document)
  const reach = { everywhere: () => ['/x.html'], matching: () => ['/x.html'], document: () => source }
  return hostFor('/shop.html', { self: root && new ElementValue(root, source), reach })
}

async function steps(program: string, body = ''): Promise<number> {
  const allowance = unhurried({ steps: 100_000_000, memory: 2 ** 30 })
  await evaluate(compile(program), hostWith(body), allowance)
  return allowance.stepsTaken
}

/** What runs out of it for want of a megabyte. */
async function spentOf(program: string, body: string): Promise<string | undefined> {
  const allowance = unhurried({ memory: 2 ** 20 })
  try {
    await evaluate(compile(program), hostWith(body), allowance)
  } catch (error) {
    if (!(error instanceof AllowanceSpent)) throw error
  }
  return allowance.spent
}

describe('Sessel: what costs more than it seems', () => {
  it('SES-140 what a template holds counts whenever it is asked for', async () => {
    const program = `let t = document.\${template}.first(); ${list(9)} l.map(x => t.content()).count()`
    expect(await spentOf(program, `<template>${'<p></p>'.repeat(200)}</template>`)).to.equal('memory')
    expect(await became(program, hostWith('<template><p></p></template>'))).to.equal('512')
  })

  it('SES-144 SES-213 what markup has put into an element counts for its depth', async () => {
    const markup = `"${'<b>'.repeat(300)}"`
    const deepest = '.children().first()'.repeat(300)
    const made = `let a = new p; a.setHTML(${markup}); let b = new p; b.setHTML(${markup}); let last = a${deepest};`
    expect(await became(`${made} last.append(b)`)).to.equal(
      '!TypeError: type error: elements are nested deeper than 512 levels',
    )
    expect(await became(`${made} b.empty(); last.append(b).children().count()`)).to.equal('1')
    const inside = `let c = new p; let a = new p { c }; c.setHTML(${markup}); let b = new p; b.setHTML(${markup});`
    expect(await became(`${inside} b${deepest}.append(a)`)).to.match(/deeper than 512 levels$/)
  })

  const long = 'a'.repeat(16 * 1024)
  for (const [what, within] of [
    ['texts', long],
    ['attributes', `<b title="${long}"></b>`],
    ['comments', `<!--${long}-->`],
    ['templates', `<template>${long}</template>`],
  ])
    it(`SES-140 SES-213 copies count with their ${what}, which are written as often as there are copies`, async () => {
      for (const copied of [
        'l.map(x => e.clone()).count()',
        'new div { l.map(x => e) }',
        'l.map(x => new div { e })',
      ]) {
        const program = (power: number) => `let e = document.\${p}.first(); ${list(power)} ${copied}`
        expect(await spentOf(program(7), `<p>${within}</p>`)).to.equal('memory')
        expect(await spentOf(program(4), `<p>${within}</p>`)).to.equal(undefined)
      }
    })

  it('SES-174 the copies count that are made of stored instances to change them', async () => {
    const nested = `${'<div itemscope itemtype="https://example.com/Q">'.repeat(100)}${'<p>a</p>'.repeat(100)}`
    const program = '@schema Q url("https://example.com/Q"); Q.search().map(x => { x.p = "1"; x }).count()'
    expect(await spentOf(program, nested)).to.equal('memory')
    expect(await became(program, hostWith('<div itemscope itemtype="https://example.com/Q">'))).to.equal('1')
  })

  const Q = '@schema Q url("https://example.com/Q");'

  it('SES-174 values that replace many others, and a stored instance that is copied for it, are made with pauses', () => {
    const unhurriedly = () => unhurried({ steps: 100_000_000, memory: 2 ** 30 })
    const pauses = (program: string, body = '') => stepsOf(running(`${Q} ${program}`, hostWith(body), unhurriedly()))
    const made = `${list(14)} let i = new Q { p: l };`
    expect(pauses(`${made} i.p = l; 1`) - pauses(`${made} 1`)).to.be.at.least(50)
    const stored = `<div itemscope itemtype="https://example.com/Q">${'<p>a</p>'.repeat(10_000)}</div>`
    const found = 'let i = Q.search().first();'
    expect(pauses(`${found} i.p = 1; 1`, stored) - pauses(`${found} 1`, stored)).to.be.at.least(30)
  })

  it('SES-174 to replace values costs in proportion to their number, and gives the new ones in place of the old', async () => {
    const replaced = (power: number) => steps(`${Q} ${list(power)} let i = new Q { p: l }; i.p = l; 1`)
    expect((await replaced(14)) / (await replaced(13))).to.be.below(2.5)
    const items = `["a", "b", "c", "d", "e", "f", "g", "h", "i"]`
    const program = `${Q} let i = new Q { p: ${items}, q: 1 }; i.p = ["x", "y"]; i.getHTML()`
    expect(await became(program, hostWith(''))).to.match(/x.*y.*q/)
  })

  it('SES-42 the copies count that a read resolver gets', async () => {
    const person = (content: string) =>
      `<div itemscope itemtype="https://example.com/Person"><b itemprop=name>x</b><a itemprop=url href=x>${content}</a></div>`
    const program = `${PERSON} let p = P.search().first(); ${list(7)} l.map(x => p.url).count()`
    expect(await spentOf(program, person('<p>a</p>'.repeat(100)))).to.equal('memory')
    expect(await became(program, hostWith(person('a')))).to.equal('128')
  })

  it('SES-196 formatters for the names of time zones are made once, and count', async () => {
    const { DateTimeFormat } = Intl
    let made = 0
    Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
      construct(target, args) {
        if (args[1]?.timeZoneName === 'short') made++
        return Reflect.construct(target, args)
      },
    })
    try {
      const zoned = 'Temporal.ZonedDateTime.from("2026-03-23T10:30:00[Africa/Tunis]")'
      const program = `let z = ${zoned}; ${list(6)} l.map(x => z.format("${'z '.repeat(100)}")).unique().count()`
      expect(await became(program)).to.equal('1')
    } finally {
      Intl.DateTimeFormat = DateTimeFormat
    }
    expect(made).to.equal(1)
    const format = (zone: string) => `Temporal.ZonedDateTime.from("2026-03-23T10:30:00[${zone}]").format("z")`
    expect(await steps(format('Africa/Tripoli'))).to.be.at.least(500)
    expect(await steps(format('Africa/Tripoli'))).to.be.at.most(100)
    expect(await steps('Temporal.PlainDate.from("2026-03-23").toLocaleString("de")')).to.be.at.least(500)
  })

  it('SES-190 names of time zones that are too long are not looked up', async () => {
    for (const call of [
      'Temporal.Now.zonedDateTimeISO(s)',
      'Temporal.Now.instant().toZonedDateTimeISO(s)',
      'Temporal.Now.plainDateISO().toZonedDateTime(s)',
      'Temporal.Now.zonedDateTimeISO("UTC").withTimeZone(s)',
      'Temporal.Now.zonedDateTimeISO("UTC").with({ timeZone: s })',
      'Temporal.PlainTime.from({ hour: s })',
      'Temporal.Duration.from("PT1H").total(s)',
    ])
      expect(await became(`${text(8)} ${call}`), call).to.match(/^!TypeError: .*too long for a date or time$/)
  })

  it('SES-172 criteria that no selector has room for are not written out', async () => {
    const schema = '@schema Q url("https://example.com/Q");'
    const refused = /^!TypeError: .*at most 8192 characters$/
    expect(await became(`${schema} ${text(20)} let d = { a: s }; ${list(8, 'd')} Q.search(l)`)).to.match(refused)
    const [made, asked] = [`${schema} ${list(15, '{ a: 1 }')}`, 'Q.search(l)']
    expect((await steps(`${made} ${asked}`)) - (await steps(`${made} 1`))).to.be.within(0, 1_000)
    expect(await became(`${schema} ${list(5, '{ a: 1 }')} Q.search(l).count()`)).to.equal('0')
  })

  it('SES-75 what is gone through to cut a text, or to take it for a key, counts', async () => {
    expect(await steps(`${text(16)} s.slice(0, 1)`)).to.be.at.least((await steps(`${text(16)} s`)) + 256)
    expect(await became(`${text(22, '🍵')} s.slice(0, 1)`)).to.match(/^!RuntimeError: a text is longer/)
    expect(await became(`${text(23)} "a".hmac_sha256(s)`)).to.match(/^!RuntimeError: a text is longer/)
    expect(await steps(`${text(16)} "a".hmac_sha256(s)`)).to.be.at.least((await steps(`${text(16)} s`)) + 1_024)
  })

  it('SES-56 SES-143 types of an item that are taken apart count', async () => {
    const item = `<i itemscope itemtype="${'u:a '.repeat(16_000)}">`
    const program = (what: string) => `${PERSON} let i = document.\${i}.first(); ${what}`
    const least = (await steps(program('i'), item)) + 4_000
    for (const what of ['i isa P', 'i.microdata()', 'i.name'])
      expect(await steps(program(what), item), what).to.be.at.least(least)
  })

  const chained = (levels: number, item: (before: string) => string) =>
    Array.from({ length: levels }, (_, i) => `let l${i + 1} = ${item(`l${i}`)};`).join(' ')
  const shared = `let l0 = []; ${chained(64, l => `[${l}, ${l}]`)} let x = l64;`
  const deep = `${list(12)} let x = l.reduce([], (found, each) => [found]);`
  const nested = /a List inside of a List cannot be put into an element$/
  const tooDeep = /nested deeper than 500 levels$/

  for (const [what, program, answer, ...made] of [
    ['an element that is made', 'new div { x }', nested, shared, deep],
    ['what is added to an element', '(new div).append(x)', nested, shared, deep],
    ['what comes before', '(new div).prepend([x])', nested, shared, deep],
    ['what replaces an element', 'new div { new p }.children().first().replaceWith(x)', nested, shared, deep],
    ['values of a property', 'Q.construct({ a: x })', tooDeep, deep],
    ['values that are assigned', 'let q = Q.construct({ a: 1 }); q.a = x', tooDeep, deep],
  ] as const)
    it(`SES-144 lists in lists are refused as ${what}, however often one stands in them and however deep`, async () => {
      for (const value of made) expect(await became(`${Q} ${value} ${program}`)).to.match(answer)
    })

  const times = (count: number, part: string) => Array.from({ length: count }, () => part).join('')

  for (const [what, program] of [
    ['attributes', `new div${Array.from({ length: 10 }, (_, i) => `[a${i}=l]`).join('')}`],
    ['texts of an element', `new div { ${times(10, 'text: l, ')} }`],
    ['values of a selector', `\${a${times(10, '[b=l]')}}`],
    ['values of a selector below an element', `document.\${a${times(10, '[b=l]')}}`],
    ['items that are flattened', `[${times(10, 'l, ')}].flatten()`],
  ] as const)
    it(`SES-213 Lists that become ${what} are gone through with pauses between them`, () => {
      expect(stepsOf(running(`${list(8)} ${program}`)) - stepsOf(running(list(8)))).to.be.at.least(8)
    })

  it('SES-52 of two Dictionaries with different counts of entries none is gone through', async () => {
    const d = new Map(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1n]))
    const host = hostFor('/shop.html', { names: new Map([['d', d]]) })
    const compared = async (program: string) => {
      const allowance = unhurried()
      await evaluate(compile(program), host, allowance)
      return allowance.stepsTaken
    }
    expect(await compared('d == { a: 1 }')).to.be.below(100)
    expect(await compared('{ a: 1 } == d')).to.be.below(100)
  })

  it('SES-125 a list of sources counts and leaves the loop to others, however often one stands in it', async () => {
    const allowance = unhurried({ steps: 20_000 })
    const program = compile(`${shared} \${p} from x`)
    const failed = await Promise.resolve()
      .then(() => evaluate(program, hostFor(), allowance))
      .catch(error => error)
    expect(failed).to.be.instanceOf(AllowanceSpent)
    expect(await became(`${deep} \${p} from x`)).to.match(tooDeep)
    expect(await became(`${text(15)} \${p} from s`)).to.match(/longer than 16384 characters$/)
    const pauses = (more: string) => stepsOf(running(`${list(13, 'null')} ${more}`))
    expect(pauses(`\${p} from l`) - pauses('')).to.be.at.least(10)
    expect(pauses(`l.\${p}`) - pauses('')).to.be.at.least(10)
  })

  it('SES-90 what is made of each entry of a Dictionary is made with pauses', () => {
    const d = new Map(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1n]))
    const host = hostFor('/shop.html', { names: new Map([['d', d]]) })
    for (const call of ['values()', 'entries()', 'delete("k1")', 'merge(d)'])
      expect(stepsOf(running(`d.${call}.count()`, host)), call).to.be.at.least(10)
  })

  it('SES-191 of a Dictionary of fields only those are looked at that there are', async () => {
    class Fields extends LazyDictionary {
      get(key: string) {
        return { year: 2026n, month: 3n, day: 2n }[key]
      }
      keys(): string[] {
        throw new Error('gone through')
      }
    }
    const host = hostFor('/shop.html', { names: new Map([['d', new Fields()]]) })
    expect(await became('Temporal.PlainDate.from(d).String()', host)).to.equal('"2026-03-02"')
  })

  it('SES-213 what takes long in few steps ends with its time', async () => {
    let now = 0
    const allowance = new Allowance({ time: 5_000 }, undefined, () => now)
    const host = hostFor('/people.html', {
      platform: {
        get: async () => {
          now += 6_000
          return undefined
        },
      },
    })
    const program = '@schema S url("https://scriptorium.test/ns/1.0"); [1, 2].map(x => S.GET("/x")).count()'
    const failed = await Promise.resolve()
      .then(() => evaluate(compile(program), host, allowance))
      .catch(error => error)
    expect(failed).to.be.instanceOf(AllowanceSpent)
    expect(failed.spent).to.equal('time')
  })

  it('SES-190 SEC-12 of points of time in a zone that were asked about, a few hundred are remembered', async () => {
    const { set } = ForgettingMap.prototype
    const sizes: number[] = []
    ForgettingMap.prototype.set = function (key, value) {
      set.call(this, key, value)
      sizes.push(this.size)
      return this
    }
    try {
      // One in each of the periods that the library looks at: of 10,000 it kept what it had found.
      const seconds = `[${Array.from({ length: 600 }, (_, i) => 4_000_000_000 + i * 40 * 86_400)}]`
      const zoned = 'Temporal.Instant.fromEpochSeconds(s).toZonedDateTimeISO("Antarctica/Troll")'
      expect(await became(`${seconds}.map(s => ${zoned}.offset).unique().count()`)).to.equal('2')
    } finally {
      ForgettingMap.prototype.set = set
    }
    expect(Math.max(...sizes)).to.be.within(200, 300)
  })
})
