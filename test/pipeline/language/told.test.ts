import { expect } from 'chai'
import { describe, it } from 'mocha'
import { withoutValues } from '../../../pipeline/language/told.ts'

describe('Messages of code', () => {
  const cases: readonly [what: string, message: string, told: string, ...own: string[]][] = [
    ['what is quoted', 'type error: “SECRET” is no number', 'type error: “…” is no number', 'a page'],
    ['what stands before the quotation as well', 'type error: “type” is no number', 'type error: “…” is no number'],
    ['a letter of the message', "TypeError: cannot read property 'e'", "TypeError: cannot read property '…'", 'a pag'],
    ['all between the first mark and the last', 'type error: “a” and “b” differ', 'type error: “…” differ'],
    ['marks of each kind', 'type error: “a”, \'b\' or "c"', 'type error: “…”, \'…\' or "…"'],
    ['not what the author wrote', 'type error: “name” is no number', 'type error: “name” is no number', 'a name'],
    ['nothing where nothing is quoted', 'type error: no number', 'type error: no number'],
    ['nothing where a mark has no other', "type error: it isn't “so", "type error: it isn't “so"],
    ['nothing where the closing mark comes first', 'type error: ”so“', 'type error: ”so“'],
  ]
  for (const [what, message, told, ...own] of cases)
    it(`COMP-148 leave out ${what}`, () => {
      expect(withoutValues(message, ...own)).to.equal(told)
    })
})
