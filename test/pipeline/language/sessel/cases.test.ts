import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { became, hostFor } from './site.ts'

/**
 * Cases by rule: `# RULE, …` names the rules of those below, `@ /path` the document that is asked (`@ none`: nothing is
 * bound), and `program ⇒ outcome` is a case; `⏎` stands for a line break. `!Type: text` is a failure that says the text.
 */
interface Case {
  rules: string
  self: string | undefined
  program: string
  outcome: string
}

function casesIn(file: string): Case[] {
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

for (const file of readdirSync(new URL('cases/', import.meta.url)).sort()) {
  describe(`Sessel, case by case: ${file.replace(/\.txt$/, '')}`, () => {
    const seen = new Set<string>()
    for (const { rules, self, program, outcome } of casesIn(file)) {
      const shown = program.length > 90 ? `${program.slice(0, 90)}…` : program
      const title = `${rules} ${shown.replaceAll('\n', '⏎')}`
      it(seen.has(title) ? `${title} (${self})` : title, async () => {
        const found = await became(program, hostFor(self))
        if (outcome.startsWith('!'))
          expect(found).to.satisfy((text: string) => text.startsWith(outcome.split(': ')[0] ?? ''))
        if (outcome.startsWith('!')) expect(found).to.include(outcome.slice(outcome.indexOf(':') + 1).trim())
        else expect(found).to.equal(outcome)
      })
      seen.add(title)
    }
  })
}
