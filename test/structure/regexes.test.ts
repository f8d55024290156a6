/**
 * No regular expression of the program takes time that grows faster than its text, unless something bounds the text, or takes
 * letters beyond ASCII for some of it.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createScanner, LanguageVariant, SyntaxKind } from 'typescript/unstable/ast'
import { allFiles, ROOT } from './imports.ts'
import { slowness } from './slowness.ts'

/** Of `pipeline/tree/selector/token.ts`. */
const ESCAPE = String.raw`\\(?:[0-9a-fA-F]{1,6}[ \n\t]?|[^\n0-9a-fA-F]|$)`
const NAME_START = String.raw`(?:[a-zA-Z_\u0080-\uffff]|${ESCAPE})`
const NAME_PART = String.raw`(?:[-\w\u0080-\uffff]|${ESCAPE})`

/** What may be slow, and why it never takes long. */
const BOUNDED: readonly [file: string, regex: RegExp, reason: string][] = [
  [
    'config/environment.ts',
    /^SCRIPTORIUM(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$/,
    'names of variables that the operator sets',
  ],
  ['config/redact.ts', /(:\/\/[^:@/?#]*:)[^@]*@(?:[^\s/?#"]*@)?/g, 'settings of the operator'],
  ['config/redact.ts', /([?&][^=&#]*(?:pass|secret|token|key)[^=&#]*=)([^&#]*)/gi, 'settings of the operator'],
  ['config/schema.ts', /\s*,\s*/, 'a setting of the operator'],
  [
    'pipeline/declarations/derive.ts',
    /<([a-z][\w.-]*:[\w.-]+)(?![\w.-])[^<>]*\/>/i,
    'the look-ahead lets a name end in one place only',
  ],
  ['pipeline/declarations/unsigned.ts', /\$\{[^}]*\}|:username\b/g, 'texts up to LONGEST'],
  [
    'pipeline/language/sessel/elements.ts',
    /^[\t\n\f\r ]*(?:<!--(?:(?!-->)[\s\S])*-->[\t\n\f\r ]*)*<(?:!doctype\b|(?:html|head|body)(?=[\t\n\f\r />]))/i,
    'the look-ahead lets a comment end in one place only',
  ],
  [
    'pipeline/language/sessel/scan.ts',
    /(?:[ \t\n\f\r]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y,
    'always matches, and so never looks for another way',
  ],
  [
    'pipeline/language/sessel/temporal-format.ts',
    /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'/g,
    'patterns up to MAX_PATTERN',
  ],
  ['pipeline/sources.mjs', /^[ \t]*\/\*\*[\s\S]*?\*\/|^[ \t]*\/\/.*$|[ \t]+$/gm, 'the sources of the program'],
  [
    'pipeline/store/disk/folder.ts',
    /Unknown system error (-\d+)(: Unknown system error \1)?/,
    'messages of the operating system',
  ],
  [
    'pipeline/tree/foreign-names.ts',
    /<!--.*?-->[^<]*|<!\[CDATA\[.*?\]\]>[^<]*|<\?([^\t\n\r ?]+).*?\?>[^<]*|"[^"]*"|'[^']*'|>[^<]*|([^\t\n\r <>/="']+)/gs,
    'well-formed XML, where all that begins ends',
  ],
  [
    'pipeline/tree/selector/token.ts',
    new RegExp(`(?:--|-?${NAME_START})${NAME_PART}*`, 'y'),
    'ends where it cannot go on, and so never looks for another way',
  ],
  [
    'pipeline/tree/selector/token.ts',
    new RegExp(`${NAME_PART}+`, 'y'),
    'ends where it cannot go on, and so never looks for another way',
  ],
  [
    'pipeline/write/transition-items.ts',
    /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)|[^,"']+|,/g,
    'a string that does not end goes to the end of the text',
  ],
  ['server/demo/site/scripts/events.mjs', /\s*\n\s*/, 'what a visitor types, in the browser'],
  ['server/demo/site/scripts/markup.mjs', /\s*\n\s*/, 'what a visitor types, in the browser'],
  ['server/demo/site/scripts/mount.mjs', /\/+$/, 'what a visitor types, in the browser'],
  [
    'server/platform/live.mjs',
    /(.*?<div itemprop="body">)(.*)(<\/div>.*)/s,
    'events of the server, which hold what is looked for',
  ],
  ['server/platform/live.ts', /('[^'\n]*'|`[^`]*`)| *([=!<>+?:&|,(){}[\]]+) */g, 'a source of the program'],
]

/** What stands for values in patterns that are put together: alike, and shorter. */
const CONTEXT = createContext({
  COMBINING_CHAR: String.raw`\u0300-\u0345`,
  DIGIT: String.raw`\u0660-\u0669`,
  EXTENDER: String.raw`\xb7`,
  FORMATTING: new Set(['a', 'b', 'big']),
  LETTER: String.raw`A-Za-z\xc0-\xd6`,
  NAME: String.raw`[:A-Z_a-z\u00c0-\u{effff}][-.0-9:A-Z_a-z\u00b7-\u{effff}]*`,
  NAME_PART,
  NAME_START,
  PUBLIC_ID: String.raw`"([-\w \n'()+,./:=?;!*#@$%]*)"|'([-\w \n()+,./:=?;!*#@$%]*)'`,
  REST: 'A-Z_a-z.0-9-',
  SCRIPTS: [['Latin'], ['Latin', 'Han']],
  SHORT_RUN: 30,
  START: 'A-Z_a-z',
  TEXT_ONLY: new Set(['script', 'style']),
  UNSEEN: String.raw`[\p{Cc}\p{Cf}]`,
  name: 'filename',
  scripts: ['Latin', 'Han'],
})

/** Words behind which a slash begins a regular expression; it divides behind all others. */
const BEFORE_VALUES = new Set('await case delete do else in instanceof new return throw typeof void yield'.split(' '))

/** Whether a value ends with a token. */
function endsValue(word: string): boolean {
  return /^(?:[\w$#"'`)\]}]|\/.|\+\+|--)/.test(word) && !BEFORE_VALUES.has(word)
}

/** The regular expressions of a module: literals, and what `RegExp` makes of the values above. */
function regexesIn(text: string): RegExp[] {
  const found: RegExp[] = []
  const scanner = createScanner(true, LanguageVariant.Standard, text)
  /** What is open, `$` for a place in a template. */
  const open: string[] = []
  let word = ''
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFile; token = scanner.scan()) {
    if ((token === SyntaxKind.SlashToken || token === SyntaxKind.SlashEqualsToken) && !endsValue(word)) {
      token = scanner.reScanSlashToken()
      const [, source = '', flags] = /^\/(.*)\/(\w*)$/s.exec(scanner.getTokenText()) ?? []
      found.push(new RegExp(source, flags))
    } else if (token === SyntaxKind.OpenParenToken && word === 'RegExp') {
      found.push(composed(text.slice(scanner.getTokenStart())))
    } else if (token === SyntaxKind.TemplateHead) {
      open.push('$')
    } else if (token === SyntaxKind.OpenBraceToken) {
      open.push('{')
    } else if (token === SyntaxKind.CloseBraceToken && open.pop() === '$') {
      token = scanner.reScanTemplateToken(false)
      if (token === SyntaxKind.TemplateMiddle) open.push('$')
    }
    word = scanner.getTokenText()
  }
  expect(open).to.deep.equal([])
  return found
}

/** @param call of `RegExp`, from its first parenthesis, and what follows */
function composed(call: string): RegExp {
  // The end of the call is the first place where it can be read.
  for (let end = call.indexOf(')'); end >= 0; end = call.indexOf(')', end + 1)) {
    try {
      return runInContext(`new RegExp${call.slice(0, end + 1)}`, CONTEXT)
    } catch (error) {
      if (!(error instanceof Error) && (error as Error).name === 'SyntaxError') continue
      throw error
    }
  }
  throw new Error('A call that does not end.')
}

let all: readonly (readonly [file: string, regex: RegExp])[] | undefined

/** Those of all modules of the program. */
function everyRegex(): NonNullable<typeof all> {
  all ??= allFiles()
    .filter(name => /\.(?:ts|m?js)$/.test(name))
    .flatMap(file => regexesIn(readFileSync(join(ROOT, file), 'utf8')).map(regex => [file, regex] as const))
  return all
}

/** Folds cases as Unicode does, and why that is no other letter there. */
const FOLDED: readonly [file: string, regex: RegExp, reason: string][] = [
  [
    'pipeline/language/sessel/pattern-size.ts',
    /(?<=([\s\S]))-(?=\\x\{([\da-f]+)\}|([\s\S]))/giu,
    'no letter beyond ASCII folds to a digit',
  ],
]

describe('Regular expressions', () => {
  it('take no sign of Kelvin for a k and no long s for an s: HTML, CSS and HTTP fold letters of ASCII alone', () => {
    expect(/k/iu.test('\u212a') && !/k/i.test('\u212a')).to.equal(true)
    const folding = everyRegex().filter(
      ([, { ignoreCase, unicode, unicodeSets }]) => ignoreCase && (unicode || unicodeSets),
    )
    const found = folding.map(([file, regex]) => `${file} ${regex}`)
    expect(found.sort()).to.deep.equal(FOLDED.map(([file, regex]) => `${file} ${regex}`).sort())
  })

  const cases: readonly [regex: RegExp, found: string][] = [
    [/^(?:a+)+$/, 'Self Trade'],
    [/^(?:a|a)*$/, 'Self Trade'],
    [/^\d+\.?\d*$/, 'Trade'],
    [/^(?:ab)*c?(?:ab)*$/, 'Trade'],
    [/\s+$/, 'Move'],
    [/<!--.*?-->/s, 'Move'],
    [/“([\s\S]*)”/, 'Move'],
    [/x(?=[^y]*z)/, 'Move'],
    [/^\s+$/m, 'Move'],
    [/^[ \t]+$/m, ''],
    [/<[^<>]*>/, ''],
    [/%.*$/s, ''],
    [/\s+/y, ''],
    [/^[a-z]{1,63}(?:\.[a-z]{1,63})*$/, ''],
    [/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, 'Move'],
  ]
  for (const [regex, expected] of cases)
    it(`are ${expected ? 'slow' : 'fast'} when like ${regex}`, () => {
      const kinds = slowness(regex).map(found => found.replace(/ .*/s, ''))
      expect(kinds.sort().join(' ')).to.equal(expected)
    })

  it('take time in proportion to their text, or have one that is bounded', () => {
    const slow = new Set<string>()
    const known = new Map<string, boolean>()
    for (const [file, regex] of everyRegex()) {
      const isSlow = known.get(`${regex}`) ?? slowness(regex).length > 0
      known.set(`${regex}`, isSlow)
      if (isSlow) slow.add(`${file} ${regex}`)
    }
    expect([...slow].sort()).to.deep.equal(BOUNDED.map(([file, regex]) => `${file} ${regex}`).sort())
  })
})
