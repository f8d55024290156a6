import { expect } from 'chai'
import { text } from './pages.ts'

const css = text('/styles/site.css').replace(/\/\*[\s\S]*?\*\//g, '')
const [light = '', dark = ''] = [...css.matchAll(/:root\s*\{([^}]*)\}/g)].map(match => match[1])

type Tokens = ReadonlyMap<string, string>
const tokens = (block: string): Tokens =>
  new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})\s*;/g)].map(([, name = '', colour = '']) => [name, colour]))

const schemes: readonly [string, Tokens][] = [
  ['light', tokens(light)],
  ['dark', new Map([...tokens(light), ...tokens(dark)])],
]

/** Relative luminance of `#rrggbb` (WCAG 2.2). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

/** What is written on what. Text needs 4.5 (WCAG 1.4.3), lines of fields and focus rings 3 (1.4.11). */
const pairs: readonly [string, readonly string[], number][] = [
  ['ink', ['paper', 'surface', 'raised'], 4.5],
  ['ink-soft', ['paper', 'surface'], 4.5],
  ['link', ['paper', 'surface'], 4.5],
  ['on-enamel', ['enamel', 'enamel-blue'], 4.5],
  ['on-lamp', ['lamp'], 4.5],
  ['on-act', ['act', 'act-hover'], 4.5],
  ['danger', ['paper', 'danger-wash'], 4.5],
  ['done', ['paper', 'done-wash'], 4.5],
  ['on-slate', ['slate', 'slate-act', 'slate-hover'], 4.5],
  ['field-line', ['paper', 'surface', 'raised'], 3],
  ['focus', ['paper', 'surface', 'raised'], 3],
  ['slate-focus', ['slate'], 3],
]

describe('Demo site, style sheet', () => {
  it('measures contrast as WCAG does', () => {
    expect(contrast('#000000', '#ffffff')).to.equal(21)
    expect(contrast('#777777', '#ffffff')).to.be.closeTo(4.48, 0.01)
  })

  for (const [scheme, colours] of schemes) {
    for (const [ink, grounds, needed] of pairs) {
      it(`${scheme}: ${ink} on ${grounds.join(', ')} reaches ${needed}`, () => {
        for (const ground of grounds) {
          const ratio = contrast(colours.get(ink) ?? '', colours.get(ground) ?? '')
          expect(ratio, `${ink} on ${ground}`).to.be.at.least(needed)
        }
      })
    }
  }

  it('defines every custom property that it uses, and uses every one that it defines', () => {
    const defined = new Set([...css.matchAll(/--([\w-]+)\s*:/g)].map(match => match[1]))
    const used = new Set([...css.matchAll(/var\(--([\w-]+)\)/g)].map(match => match[1]))
    expect([...used].sort()).to.deep.equal([...defined].sort())
  })

  it('colours by custom properties only, print and shadows excepted', () => {
    const rules = css.replace(/:root\s*\{[^}]*\}/g, '').replace(/@media print[\s\S]*$/, '')
    expect([...rules.matchAll(/#[0-9a-f]{3,8}\b(?=[^{}]*\})/gi)].map(String)).to.deep.equal([])
  })

  it('shows focus, and never takes an outline away from a control', () => {
    expect(css).to.match(/:focus-visible\s*\{\s*outline: 3px/)
    expect([...css.matchAll(/([^{}]+)\{[^{}]*outline:\s*(?:none|0)/g)].map(match => match[1]?.trim())).to.deep.equal([
      'main:focus',
    ])
  })

  it('moves nothing for those who asked for less motion', () => {
    const calm = css.replace(/@media \(prefers-reduced-motion: no-preference\)\s*\{(?:[^{}]|\{[^{}]*\})*\}/g, '')
    expect(calm).not.to.match(/transition|scroll-behavior/)
    const animated = [...calm.matchAll(/([^{}]+)\{[^{}]*animation:(?!\s*none)/g)].map(match => match[1]?.trim())
    const stilled = [...calm.matchAll(/prefers-reduced-motion: reduce\)\s*\{\s*([^{}]+)\{[^{}]*animation:\s*none/g)]
    expect(stilled.map(match => match[1]?.trim())).to.include.members(animated)
  })

  it('loads nothing', () => {
    expect(css).not.to.match(/url\(|@import|@font-face/)
  })
})
