import { expect } from 'chai'
import { describe, it } from 'mocha'
import { withoutValues } from '../../../pipeline/language/told.ts'
import { schemaFault } from '../../../pipeline/model/violations.ts'

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

  it('SEC-12 HTTP-172 MOD-132 begin to tell what a validator throws, from which values are left out before', () => {
    const value = 'x'.repeat(10_000)
    const message = `type error: “${value}” is no number`
    const failure = { language: 'any', variant: 'threw', message } as const
    const reason = `the validator failed: ${message}`
    const { details } = schemaFault('ns', [{ check: '@validate', itemtype: 'T', reason, failure }])
    const [violation] = details.violations ?? []
    expect(violation?.failure).to.deep.equal({ ...failure, message: `${message.slice(0, 4096)}…` })
    expect(details.document?.length).to.be.below(value.length)
    const bare = details.discreet?.fault().details
    expect(bare?.document).to.include('failed: type error: “…” is no number').and.not.to.include('xx')
    expect(JSON.stringify(bare?.violations)).not.to.include('xx')
  })
})
