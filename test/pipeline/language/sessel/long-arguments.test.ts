/** What a program makes of long texts leaves the loop to others, or is refused before it is gone through (SES-75, SES-77). */

import { createHash, createHmac } from 'node:crypto'
import { expect } from 'chai'
import { parted } from '../../../../pipeline/tree/selector/substring.ts'
import { unhurried } from '../../../support/unhurried.ts'
import { became, hostFor } from './site.ts'
import { running } from './turns.ts'

/** A program about a text `s` of 2 to a power letters. */
const about = (power: number, program: string) => {
  const doubled = Array.from({ length: power }, (_, i) => `let s${i + 1} = s${i} + s${i};`)
  return `let s0 = "a"; ${doubled.join(' ')} let s = s${power}; ${program}`
}

const stepsIn = (program: string) => {
  const work = running(program, hostFor(), unhurried({ steps: 10_000_000 }))
  for (let steps = 0; ; steps++) if (work.next().done) return steps
}

describe('Sessel: long texts', () => {
  for (const [what, program, least] of [
    ['a replacement in many places', 's.replace("a", "")', 100],
    ['a text that is split into many parts', 's.split("a").count()', 100],
    ['a search for a long text', '(s + s).contains("b" + s)', 20],
    ['a long text that is replaced', '(s + s).replace("b" + s, "c")', 20],
    ['a slug', 's.slugify()', 8],
    ['a text in capital letters', 's.upper()', 8],
    ['a text in small letters', 's.lower()', 8],
    ['a text in small letters with a sigma', '(s + "Σ").lower()', 8],
    ['a hash', 's.sha256()', 8],
    ['a keyed hash', 's.hmac_sha256("k")', 8],
    ['the length of a text', 's.count()', 8],
    ['a part of a text of emoji', '(s + "😀").slice(-1)', 16],
  ] as const)
    it(`SES-75 ${what} is made in steps`, () => {
      expect(stepsIn(about(19, program))).to.be.at.least(least)
    })

  for (const [what, program] of [
    ['a list that is put into an element', '(new div).append(l).children().count()'],
    ['a list before what is there', '(new div).prepend(l).children().count()'],
    ['a list in an element that is made', 'new div { l }'],
    ['values of a property', '@schema Q url("https://example.com/Q"); Q.construct({ a: l })'],
  ] as const)
    it(`SES-144 SES-173 ${what} goes there in steps`, () => {
      const [schema, rest] = program.startsWith('@') ? program.split('; ') : ['', program]
      expect(stepsIn(`${schema}${schema && ';'} ${about(12, `let l = s.split(""); ${rest}`)}`)).to.be.at.least(
        stepsIn(about(12, 's.split("")')) + 10,
      )
    })

  it('SES-75 parts of a text are the same in any number of steps', async () => {
    for (const [text, between] of [
      ['a,b,,c,', ','],
      [',', ','],
      ['x'.repeat(9_000), 'x'],
      [`${'ab'.repeat(40_000)}c`, `${'ab'.repeat(20)}`],
      [`${'ab'.repeat(40_000)}c`, `${'ab'.repeat(9)}a`],
      ['none'.repeat(20_000), 'a text that is not there'],
    ] as const) {
      expect(parted(text, between)).to.deep.equal(text.split(between))
      const program = `let t = ${JSON.stringify(text)}; let b = ${JSON.stringify(between)}; `
      const parts = text.split(between)
      expect(await became(`${program} t.split(b).count()`)).to.equal(String(parts.length))
      expect(await became(`${program} t.split(b).join(b) == t`)).to.equal('true')
      expect(await became(`${program} t.replace(b, "_").count()`)).to.equal(String(parts.join('_').length))
      expect(await became(`${program} t.contains(b)`)).to.equal(String(parts.length > 1))
    }
  })

  it('SES-75 what is made of a text in pieces is the same as of the whole', async () => {
    const text = ['É\u0301 -\ud800'.repeat(13_107), '\ud800', '😀', 'ΣİZ각--'].join('')
    const ask = (call: string) => became(`x.${call}`, hostFor('/shop.html', { names: new Map([['x', text]]) }))
    expect(await ask('slugify()')).to.equal(`"${'e-'.repeat(13_106)}e-iz"`)
    expect(await ask('sha256()')).to.equal(`"${createHash('sha256').update(text).digest('hex')}"`)
    expect(await ask('hmac_sha256("k")')).to.equal(`"${createHmac('sha256', 'k').update(text).digest('hex')}"`)
    const points = Array.from(text)
    expect(await ask('slice(-9, -2).count()')).to.equal('7')
    expect(await ask('slice(65000, -5)')).to.equal(JSON.stringify(points.slice(65_000, -5).join('').toWellFormed()))
  })

  it('SES-75 long texts have the letters that they have as a whole', async () => {
    const ask = (text: string, call: string) =>
      became(`x.${call}() == y`, hostFor('/shop.html', { names: namesOf(text, call) }))
    const namesOf = (text: string, call: string) =>
      new Map([
        ['x', text],
        ['y', call === 'upper' ? text.toUpperCase() : text.toLowerCase()],
      ])
    for (const unit of ['ΑΣ ', 'ΑΣ', 'ΣΑ.', "ΑΣ'ʰ", 'Σ', '.Σ', 'ΣʰΑ', '𐐀Σ 𐐀', 'ΐß', 'İΣ', 'ΑΒΣ\u0301\u0301\ud800']) {
      for (const before of [0, 1, 2, 3]) {
        const text = '.'.repeat(before) + unit.repeat(200_000 / unit.length)
        for (const call of ['upper', 'lower']) expect(await ask(text, call), `${unit} ${call}`).to.equal('true')
      }
    }
    const endless = await ask('.Σ'.repeat(600_000), 'lower')
    expect(endless).to.equal('!RuntimeError: a text is longer than 1048576 characters')
  })

  it('SES-75 parts beyond all steps are not made', async () => {
    expect(await became(about(22, 's.replace("a", "")'))).to.equal('!spent: steps')
  })

  it('SES-77 characters to draw from are not more than a random text has', async () => {
    expect(await became(about(16, 'String.random(5, { chars: s })'))).to.equal('"aaaaa"')
    expect(await became(about(17, 'String.random(5, { chars: s })'))).to.equal(
      '!RuntimeError: a text is longer than 65536 characters',
    )
  })

  it('SES-181 paths that are too long for any document are refused', async () => {
    const host = hostFor('/shop.html', { platform: { get: () => undefined } })
    const P = `@schema P url("${host.ns}/1.0");`
    for (const call of ['P.GET(s)', 'P.PUT(new p, s)', 'P.DELETE(s)'])
      expect(await became(`${P} ${about(15, call)}`, host), call).to.equal(
        '!RuntimeError: a text is longer than 16384 characters',
      )
    expect(await became(`${P} ${about(13, 'P.GET(s)')}`, host)).to.equal('null')
  })

  it('SES-122 SES-144 values and names that are too long are refused', async () => {
    expect(await became(about(14, `\${:contains(s)}.count()`))).to.match(/at most 8192 characters$/)
    expect(await became(about(14, 'new p.attr(s.upper(), "x")'))).to.match(/more than 8,192 characters/)
    expect(await became(about(14, 'new p.attr(s)'))).to.equal('null')
    expect(await became('new p.attr("TITLE", "x").attr("Title")')).to.equal('"x"')
  })
})
