/** What programs name by where they stand (SES-125, SES-181); in doubt everything. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { namesRelatively } from '../../../../pipeline/language/sessel/sessel.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { NS } from '../../../support/content.ts'

const FOUND = `${'$'}{#a}`
const PLATFORM = `@schema P url("${NS}/1.0"); `

const ABSOLUTE = [
  `${FOUND} from self`,
  `${FOUND} from "/x", '/y'`,
  `${FOUND} from ["/x", self]`,
  `${FOUND} from ("/x" + y)`,
  `${FOUND} from "/x/#{y}"`,
  `from "/x" { ${FOUND} }`,
  'Temporal.PlainDate.from("2020-01-01")',
  '// from here\n1',
  `${PLATFORM}P.GET("/x").attr("a")`,
  `${PLATFORM}P.PUT(new b {}, "/x/" + y); P.DELETE("/x")`,
  `${PLATFORM}({ P: y isa P })`,
  `@schema C url("${NS}/Context"); C.response`,
  'Context.p.GET("/x")',
  'Context.s.execute()',
  'Context.s.execute(["/x", self])',
]

const RELATIVE = [
  `${FOUND} from "x"`,
  `${FOUND} from "/x", y`,
  `${FOUND} from ["/x", "y"]`,
  `${FOUND} from ("/x" ?? "y")`,
  `${FOUND} from "#{y}/x"`,
  `${FOUND} from self.first()`,
  `from "x" { ${FOUND} }`,
  `5from "x" { ${FOUND} }`,
  `let self = "x"; ${FOUND} from self`,
  `let { a: self } = y; ${FOUND} from self`,
  `let [a, ...self] = y; ${FOUND} from self`,
  `y.map(self => ${FOUND} from self)`,
  `try { 1 } catch (self) { ${FOUND} from self }`,
  `${PLATFORM}P.GET("x")`,
  `${PLATFORM}P.PUT("/x")`,
  `${PLATFORM}P.PUT(P.GET("x"), "/x")`,
  `${PLATFORM}P.GET("/x").attr(P)`,
  `${PLATFORM}"#{P.GET('x')}"`,
  `${PLATFORM}let q = P; q.GET("x")`,
  `${PLATFORM}[P].first().GET("x")`,
  `${PLATFORM}P["GET"]("x")`,
  `${PLATFORM}Context.x = P`,
  'Context.x.GET("x")',
  'let { x } = Context; x?.PUT(new b {}, "x")',
  'Context.x.DELETE(y)',
  'Context.s.execute("x")',
  `@schema S url("${NS}/Selector"); new S { "a" }`,
  'y from (',
]

describe('what programs name by where they stand', () => {
  for (const [programs, isRelative] of [
    [ABSOLUTE, false],
    [RELATIVE, true],
  ] as const)
    for (const program of programs)
      it(`SES-125 ${isRelative ? 'may be something' : 'is nothing'} in ${program}`, () =>
        expect(atOnce(namesRelatively(program, NS))).to.equal(isRelative))
})
