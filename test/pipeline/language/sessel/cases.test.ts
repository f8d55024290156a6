import { expect } from 'chai'
import { casesIn, tables } from './cases.ts'
import { became, hostFor } from './site.ts'

for (const file of tables()) {
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
