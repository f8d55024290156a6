/** The tables of cases. */

import { readdirSync, readFileSync } from 'node:fs'

/**
 * Cases by rule: `# RULE, …` names the rules of those below, `@ /path` the document that is asked (`@ none`: nothing is
 * bound), and `program ⇒ outcome` is a case; `⏎` stands for a line break. `!Type: text` is a failure that says the text.
 */
export interface Case {
  rules: string
  self: string | undefined
  program: string
  outcome: string
}

export function tables(): string[] {
  return readdirSync(new URL('cases/', import.meta.url)).sort()
}

export function casesIn(file: string): Case[] {
  const cases: Case[] = []
  let rules = ''
  let self: string | undefined = '/shop.html'
  for (const line of readFileSync(new URL(`cases/${file}`, import.meta.url), 'utf8').split('\n')) {
    if (line.startsWith('# ')) rules = line.slice(2)
    else if (line.startsWith('@ ')) self = line === '@ none' ? undefined : line.slice(2)
    else if (line.trim() !== '') {
      const at = line.lastIndexOf(' ⇒ ')
      if (at < 0) throw new Error(`${file}: no case: ${line}`)
      cases.push({ rules, self, program: line.slice(0, at).replaceAll('⏎', '\n'), outcome: line.slice(at + 3) })
    }
  }
  return cases
}
