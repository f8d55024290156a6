/**
 * Foreign texts are not folded, trimmed or split as JavaScript does it where markup, rules, schemas or fields are read: what is
 * white space or another case of a letter to it alone is a character like any other to HTML, XML, CSS and HTTP.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { allFiles, ROOT } from './imports.ts'

/** Where names and values of markup are read; `pipeline/tree/ascii.ts` has what is used in place of both. */
const MARKUP =
  /^pipeline\/(?:(?:tree|access|model|declarations|compose|write|read|react|evaluation|language\/sessel)\/|language\/[^/]+$|request-value)/

/** Where fields of HTTP are read, one character for each byte, of which none folds to another one of ASCII: `trimField`. */
const FIELDS = /^(?:pipeline\/http|edge|dav|server)\//

const SPACE = /\.trim(?:Start|End)?\(|\\s|\\S/
const CASE = /\.to(?:Locale)?(?:Lower|Upper)Case\(|\.localeCompare\(/

/** Folders and files that use them all the same. */
const MEANT: readonly [reason: string, ...files: string[]][] = [
  ['what the others use', 'pipeline/tree/ascii.ts'],
  [
    'texts that people read lose all white space of Unicode (COMP-134, MOD-22, RULE-3, CAP-3)',
    ...['collapse', 'microdata-value', 'selector/content', 'selector/normal-text', 'selector/text'].map(inTree),
    'pipeline/access/rules.ts',
  ],
  [
    'kept in indexes of stores, and asked for in the same way',
    ...['microdata', 'tag-tokens', 'tokens', 'selector/needs'].map(inTree),
    'pipeline/declarations/derive.ts',
    'pipeline/model/entries.ts',
  ],
  [
    'namespaces lose what the reader of XML takes off them',
    ...['namespaces', 'serialize-xml', 'xml-names', 'selector/namespace'].map(inTree),
  ],
  [
    'hints for authors, who meant something else',
    'pipeline/access/doubts.ts',
    'pipeline/access/explain.ts',
    'pipeline/access/glob.ts',
    'pipeline/declarations/fields.ts',
    'pipeline/declarations/misspelt.ts',
  ],
  [
    'names of fields and types, of which more are refused',
    'pipeline/access/lookup.ts',
    'pipeline/evaluation/fetched.ts',
    'pipeline/evaluation/sessel-code.ts',
    'pipeline/http/media.ts',
    'pipeline/model/types.ts',
    'pipeline/react/header-fields.ts',
    'pipeline/request-value.ts',
    'dav/methods/unlock.ts',
    'pipeline/language/sessel/dom.ts',
    'pipeline/language/sessel/letter-case.ts',
  ],
  ['what code is written in', 'pipeline/language/own-names.ts', 'pipeline/react/context.ts'],
  ['functions of a language', 'pipeline/language/sessel/strings.ts'],
  [
    'words of the program and of the machine',
    'pipeline/compose/routes.ts',
    'pipeline/language/sessel/random-text.ts',
    ...['configuration', 'element-target', 'join-edit', 'whole'].map(name => `pipeline/write/${name}.ts`),
    ...['cli/sites', 'descriptors', 'listen', 'platform/reference', 'rest'].map(name => `server/${name}.ts`),
  ],
]

function inTree(name: string): string {
  return `pipeline/tree/${name}.ts`
}

/** Whether a module uses one of them; sets of all characters, and comments, do not count. */
function isUsedIn(text: string, inMarkup: boolean): boolean {
  const code = text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, '').replaceAll(/\\s\\S|\\S\\s/g, '')
  return SPACE.test(code) || (inMarkup && CASE.test(code))
}

describe('Foreign texts', () => {
  it('HTML, XML, CSS and HTTP know white space and cases of ASCII alone; JavaScript knows others', () => {
    expect(isUsedIn('word.split(/\\s+/)', false)).to.equal(true)
    expect(isUsedIn("value.trim() === ''", false)).to.equal(true)
    expect(isUsedIn('name.toLowerCase()', true)).to.equal(true)
    expect(isUsedIn('name.toLowerCase()', false)).to.equal(false)
    expect(isUsedIn('/\\/\\*[\\s\\S]*?\\*\\//', true)).to.equal(false)
    const found = allFiles().filter(file => {
      const inMarkup = MARKUP.test(file)
      if (!file.endsWith('.ts') || !(inMarkup || FIELDS.test(file))) return false
      return isUsedIn(readFileSync(join(ROOT, file), 'utf8'), inMarkup)
    })
    expect(found.sort()).to.deep.equal(MEANT.flatMap(([, ...files]) => files).sort())
  })
})
