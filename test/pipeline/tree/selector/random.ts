/** Random documents, changes and selectors from a seed, for judging the engine against others. */

export type Random = () => number

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}

const chance = (random: Random, probability: number) => random() < probability
const upTo = (random: Random, most: number) => Math.floor(random() * (most + 1))

// Only elements that nest freely, so that every parser makes the same tree of them.
const NAMES = ['div', 'div', 'section', 'span', 'x-y'] as const
const CLASSES = ['a', 'a', 'b', 'B', 'long-name'] as const
const IDS = ['i', 'j', 'k', 'I'] as const
const TITLES = ['', 'one', 'one two', 'en-GB', 'en', 'ONE', 'two', 'a b', ' one two '] as const
const ATTRIBUTES = ['title', 'lang', 'data-x', 'type', 'class', 'id'] as const

/** @param quirks leave out the doctype half of the time */
export function randomMarkup(random: Random, quirks: boolean, size = 40): string {
  let left = size
  const content = (depth: number): string => {
    let text = ''
    const children = depth > 7 ? 0 : upTo(random, 4)
    for (let child = 0; child < children && left > 0; child++) {
      left--
      const name = pick(random, NAMES)
      if (chance(random, 0.15)) text += pick(random, ['text', ' ', '<!--c-->'])
      if (chance(random, 0.08)) text += control(random)
      text += `<${name}${attributes(random)}>${content(depth + 1)}</${name}>`
    }
    return text
  }
  let body = ''
  while (left > 0) body += content(0)
  const svg = chance(random, 0.3) ? '<svg viewBox="0"><linearGradient id=g class=a /><a xlink:href="u"></a></svg>' : ''
  const doctype = quirks && chance(random, 0.5) ? '' : '<!DOCTYPE html>'
  return `${doctype}<html lang="en"><head><title>t</title></head><body>${body}${svg}</body></html>`
}

/** XML with two namespaces, elements of the same name in both, and names that differ by case only. */
export function randomXml(random: Random, size = 40): string {
  let left = size
  const element = (depth: number): string => {
    left--
    const name = pick(random, ['div', 'p:div', 'DIV', 'section', 'p:span', 'span'])
    const title = chance(random, 0.2) ? ' p:title="one"' : ''
    let inside = ''
    for (let child = depth > 7 ? 0 : upTo(random, 4); child > 0 && left > 0; child--) inside += element(depth + 1)
    return `<${name}${title}${attributes(random)}>${inside}${chance(random, 0.2) ? '<?i n?>t' : ''}</${name}>`
  }
  const space = pick(random, ['', ' xmlns="urn:x"', ' xmlns="http://www.w3.org/1999/xhtml"'])
  let body = ''
  while (left > 0) body += element(0)
  return `<div${space} xmlns:p="urn:p">${body}</div>`
}

export function attributeValue(random: Random, name: string): string {
  if (name === 'id') return pick(random, IDS)
  if (name === 'class') {
    return Array.from({ length: 1 + upTo(random, 2) }, () => pick(random, CLASSES)).join(
      pick(random, [' ', '  ', '\n']),
    )
  }
  return pick(random, TITLES)
}

function attributes(random: Random): string {
  let text = ''
  for (const name of ATTRIBUTES) {
    if (chance(random, name === 'class' ? 0.6 : 0.2)) text += ` ${name}="${attributeValue(random, name)}"`
  }
  return text
}

function control(random: Random): string {
  return pick(random, [
    '<input type=checkbox checked>',
    '<input disabled required>',
    '<input type=TEXT placeholder=p>',
    '<a href=u>l</a>',
    '<button disabled>b</button>',
    '<fieldset disabled><legend><input></legend><input readonly></fieldset>',
    '<textarea required></textarea>',
  ])
}

/** Which parts of the language a judge knows. */
export interface Dialect {
  /** `:nth-child(An+B of S)` */
  nthOf: boolean
  /** `*|p`, `|p`, `[*|a]` */
  namespaces: boolean
  /** `DIV`, `[TITLE]` */
  upperCase: boolean
  escapes: boolean
  /** `[a=b s]` */
  exactFlag: boolean
  /** States of controls beyond `:checked :disabled :enabled`. */
  states: boolean
}

export const WHOLE: Dialect = {
  nthOf: true,
  namespaces: true,
  upperCase: true,
  escapes: true,
  exactFlag: true,
  states: true,
}

/** A selector list that is valid by the standard. */
export function randomSelector(random: Random, dialect: Dialect): string {
  const length = chance(random, 0.02) ? 12 : chance(random, 0.2) ? 2 : 1
  const selectors = Array.from({ length }, () => complex(random, dialect, 0, false))
  return selectors.join(pick(random, [',', ', ', ' ,\t']))
}

function complex(random: Random, dialect: Dialect, depth: number, inHas: boolean): string {
  let text = compound(random, dialect, depth, inHas)
  const more = chance(random, 0.4) ? 0 : upTo(random, depth === 0 ? 3 : 1)
  for (let part = 0; part < more; part++) {
    text += pick(random, [' ', ' ', '>', ' > ', '+', ' + ', '~', ' ~ '])
    text += compound(random, dialect, depth, inHas)
  }
  return text
}

function compound(random: Random, dialect: Dialect, depth: number, inHas: boolean): string {
  let text = ''
  if (chance(random, 0.55)) text += typeName(random, dialect)
  const parts = text === '' ? 1 + (chance(random, 0.2) ? 1 : 0) : chance(random, 0.4) ? 1 : 0
  for (let part = 0; part < parts; part++) text += simple(random, dialect, depth, inHas)
  return text
}

function typeName(random: Random, dialect: Dialect): string {
  const name = chance(random, 0.3) ? '*' : pick(random, [...NAMES, ...NAMES, 'body', 'input', 'linearGradient'])
  if (dialect.upperCase && chance(random, 0.1) && name !== 'linearGradient') return name.toUpperCase()
  if (dialect.namespaces && chance(random, 0.08)) return `*|${name}`
  if (dialect.escapes && chance(random, 0.05) && name === 'div') return '\\64 iv'
  return name
}

function simple(random: Random, dialect: Dialect, depth: number, inHas: boolean): string {
  const roll = random()
  if (roll < 0.35) return `.${pick(random, CLASSES)}`
  if (roll < 0.42) return `#${pick(random, IDS)}`
  if (roll < 0.57) return attributeSelector(random, dialect)
  if (roll < 0.77 || depth >= 3) return structural(random, dialect, depth, inHas)
  if (roll < 0.82) return state(random, dialect)
  const list = () => {
    const parts = Array.from({ length: 1 + upTo(random, 1) }, () => complex(random, dialect, depth + 1, inHas))
    return parts.join(', ')
  }
  if (roll < 0.88) return `:not(${list()})`
  if (roll < 0.94 || inHas) return `${pick(random, [':is', ':where'])}(${list()})`
  const relative = () => pick(random, ['', '', '> ', '+ ', '~ ']) + complex(random, dialect, depth + 1, true)
  return `:has(${chance(random, 0.2) ? `${relative()}, ${relative()}` : relative()})`
}

function attributeSelector(random: Random, dialect: Dialect): string {
  let name: string = pick(random, ATTRIBUTES)
  if (dialect.upperCase && chance(random, 0.1)) name = name.toUpperCase()
  if (dialect.namespaces && chance(random, 0.1)) name = `${pick(random, ['*', ''])}|${name}`
  if (chance(random, 0.25)) return `[${name}]`
  const operator = pick(random, ['=', '~=', '|=', '^=', '$=', '*='])
  const value = pick(random, ['one', 'two', 'en', 'ONE', 'a', 'e', 'B', 'o'])
  const quoted = pick(random, [value, `"${value}"`, `'${value}'`])
  return `[${name}${operator}${quoted}${pick(random, ['', '', ' i', dialect.exactFlag ? ' s' : ''])}]`
}

function structural(random: Random, dialect: Dialect, depth: number, inHas: boolean): string {
  if (chance(random, 0.5)) {
    return pick(random, [
      ':first-child',
      ':last-child',
      ':only-child',
      ':first-of-type',
      ':last-of-type',
      ':only-of-type',
      ':empty',
      ':root',
    ])
  }
  const nth = pick(random, [
    '1',
    '2',
    'odd',
    'even',
    '2n',
    '2n+1',
    '3n-1',
    '-n+2',
    'n+2',
    'n',
    '0n+3',
    '-2n+5',
    '+3n - 2',
  ])
  const name = pick(random, ['nth-child', 'nth-last-child', 'nth-of-type', 'nth-last-of-type'])
  if (dialect.nthOf && name.endsWith('-child') && chance(random, 0.4)) {
    return `:${name}(${nth} of ${complex(random, dialect, depth + 1, inHas)})`
  }
  return `:${name}(${nth})`
}

function state(random: Random, dialect: Dialect): string {
  const known = [':checked', ':disabled', ':enabled']
  const others = [':link', ':any-link', ':required', ':optional', ':read-only', ':read-write', ':placeholder-shown']
  return pick(random, dialect.states ? [...known, ...others, ':default', ':hover', ':lang(en)', ':dir(ltr)'] : known)
}

const TOKENS =
  `a|*|.a|#a|#1|.|#|[a]|[a=b]|[a="b" i]|[|]|a=b|"s"|'s|>|+|~| | | |,|:|::|:is(|:not(|:has(|:where(|:nth-child(|(|)
|)|)|2n+1|even|of|n|-n|+|- 1|1|:hover|:first-child|before|:before|::after|/*c*/|\\61 |\\|&|a|b|p|{|}|;|!|@x|$=|^=|*|-->|<!--
|5px|50%|:lang(en)|:dir(ltr)|:foo|::foo|:nth-of-type(1)|é|--x|-|_|\t|i|s|0|[*|:root|url(x)|.5|>>`
    .replaceAll('\n', '')
    .split('|')
    .concat(['|', '*|a', '|a', 'x|a', '[a|=b]', '[*|a]', '[|a]'])

/** A few tokens of CSS in a row; now and then a selector. */
export function randomTokens(random: Random): string {
  return Array.from({ length: 1 + upTo(random, 5) }, () => pick(random, TOKENS)).join('')
}
