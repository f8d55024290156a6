import { expect } from 'chai'
import type { Value } from '../../../../pipeline/language/values.ts'
import { plain, run, value, variant } from './programs.ts'

describe('language: JavaScript: modules', () => {
  const outcomes: [title: string, source: string, expected: unknown][] = [
    ['JS-3 the default export is called', 'export default () => "a"', 'a'],
    ['JS-3 a named function is as good', 'export default function f() { return f.name }', 'f'],
    ['JS-3 no default export is a failure of shape', 'export const a = 1', 'shape'],
    ['JS-3 a default export that is no function, too', 'export default 5', 'shape'],
    ['JS-3 a class cannot be called', 'export default class {}', 'threw'],
    ['JS-3 what does not compile is a failure to parse', 'export default () => {', 'parse'],
    ['JS-3 a syntax error that is thrown is none', 'throw new SyntaxError("x"); export default () => 1', 'threw'],
    ['JS-3 nor one of eval', 'export default () => eval("(")', 'threw'],
    ['JS-3 an empty source has no default export', '', 'shape'],
    ['JS-3 undeclared names cannot be assigned', 'export default () => { undeclared = 1 }', 'threw'],
    ['JS-3 `this` of the module is undefined', 'const it = this; export default () => typeof it', 'undefined'],
    ['JS-3 top-level await is settled', 'const a = await Promise.resolve(4); export default () => a', 4n],
    ['JS-3 top-level await that never settles fails', 'await new Promise(() => {}); export default () => 1', 'threw'],
    ['JS-5 an arrow function has no `this`', 'export default () => typeof this', 'undefined'],
    ['JS-6 a promise is settled', 'export default async () => { await 0; return 3 }', 3n],
    ['JS-6 one of another kind, too', 'export default () => ({ then: done => done("t") })', 't'],
    [
      'JS-6 a chain of jobs runs until it is idle',
      `export default () => { let p = Promise.resolve(0);
      for (let i = 0; i < 1000; i++) p = p.then(n => n + 1); return p }`,
      1000n,
    ],
    ['JS-6 a rejection is a throw', 'export default async () => { throw new TypeError("no") }', 'threw'],
    ['JS-6 what never settles fails', 'export default () => new Promise(() => {})', 'threw'],
    ['JS-7 optional chaining and nullish values', 'export default () => ({ a: null }).a?.b ?? "none"', 'none'],
    ['JS-7 big integers compute', 'export default () => String(2n ** 64n)', '18446744073709551616'],
    [
      'JS-7 private fields and static blocks',
      'class A { #a = 1; static n; static { A.n = 2 } get a() { return this.#a } } export default () => new A().a + A.n',
      3n,
    ],
    [
      'JS-7 the clock and chance are there',
      'export default () => Date.now() > 1e12 && Math.random() < 1 && new Date() > 0',
      true,
    ],
  ]
  for (const [title, source, expected] of outcomes)
    it(title, async () => {
      expect(variant(await run(source))).to.equal(expected)
    })

  it('JS-5 `this` is passed unboxed', async () => {
    const source = 'export default function () { return [typeof this, this] }'
    expect(plain(await run(source, { this: 'text' }))).to.deep.equal(['string', 'text'])
    expect(plain(await run(source, { this: 4n }))).to.deep.equal(['number', 4n])
    expect(plain(await run(source))).to.deep.equal(['undefined', null])
    expect(plain(await run(source, { this: null }))).to.deep.equal(['object', null])
  })

  it('JS-4 nothing of an evaluation is seen by the next', async () => {
    const source = `let count = 0
      export default () => {
        count++
        globalThis.left = (globalThis.left ?? 0) + 1
        Array.prototype.left = (Array.prototype.left ?? 0) + 1
        Object.prototype.toJSON = () => 'changed'
        Promise.prototype.then = Promise.prototype.then
        return [count, globalThis.left, Array.prototype.left, 'touched' in Object]
      }`
    for (let i = 0; i < 4; i++) expect(plain(await run(source))).to.deep.equal([1n, 1n, 1n, false])
  })

  it('JS-3 arguments are what was handed over', async () => {
    expect(await value('(...all) => all.length', { arguments: [null, 'b', 1n] })).to.equal(3n)
  })

  const imports: [title: string, source: string, expected: string][] = [
    ['a relative file', 'import a from "./a.js"; export default () => 1', 'import-not-allowed'],
    ['a bare name', 'import fs from "fs"; export default () => 1', 'import-not-allowed'],
    ['a module of Node', 'import fs from "node:fs"; export default () => 1', 'import-not-allowed'],
    ['an address', 'import a from "https://x.example/a.js"; export default () => 1', 'import-not-allowed'],
    ['data', 'import a from "data:text/javascript,export default 1"; export default () => 1', 'import-not-allowed'],
    ['for its effects', 'import "x"; export default () => 1', 'import-not-allowed'],
    ['a re-export', 'export * from "x"; export default () => 1', 'import-not-allowed'],
    ['a named re-export', 'export { a } from "x"; export default () => 1', 'import-not-allowed'],
    [
      'a dynamic one that is not run',
      'export default () => 1; function f() { return import("x") }',
      'import-not-allowed',
    ],
    ['a dynamic one of a computed name', 'export default () => import("x" + 1)', 'import-not-allowed'],
    ['a dynamic one in eval', 'export default () => eval("import(\'x\')")', 'import-not-allowed'],
    [
      'a dynamic one in a function of text',
      'export default () => new Function("return import(\'x\')")()',
      'import-not-allowed',
    ],
    [
      'a schema without its type',
      'import N from "https://n.example/Note"; export default () => 1',
      'import-not-allowed',
    ],
    [
      'a schema with another type',
      'import N from "https://n.example/Note" with { type: "json" }; export default () => 1',
      'import-not-allowed',
    ],
    [
      'a schema by name',
      `import { a } from "https://n.example/Note" with { type: "https://platform.example/ns/Schema" }; export default () => 1`,
      'import-not-allowed',
    ],
    [
      'a schema as namespace',
      `import * as a from "https://n.example/Note" with { type: "https://platform.example/ns/Schema" }; export default () => 1`,
      'import-not-allowed',
    ],
    [
      'a schema that nobody has registered',
      `import N from "https://n.example/Note" with { type: "https://platform.example/ns/Schema" }; export default () => 1`,
      'unknown-schema',
    ],
    ['a module of the realm itself', 'export default () => eval("import(\'realm:host\')")', 'import-not-allowed'],
  ]
  for (const [title, source, expected] of imports)
    it(`JS-8 import of ${title}: ${expected}`, async () => {
      expect(variant(await run(source))).to.equal(expected)
    })

  it('JS-8 what imports something else does not run at all', async () => {
    const source = 'import a from "x"; for (;;); export default () => 1'
    expect(variant(await run(source))).to.equal('import-not-allowed')
  })

  const expressions: [expression: string, expected: unknown][] = [
    ['1 + 2', 3n],
    ['await Promise.resolve("later")', 'later'],
    ['typeof this', 'undefined'],
    ['{ }.a', null],
    ['{ a: 1 }', { a: 1n }],
    ['let a = 1', 'parse'],
    ['1; 2', 'parse'],
    ['1); globalThis.x = 1; (2', 'parse'],
    ['1], [2', 'parse'],
    ['...[1]', 'parse'],
    ['1 // comment', 1n],
    ['1 /* comment', 'parse'],
    ['', 'parse'],
    ['if (1) 2', 'parse'],
    ['missing', 'threw'],
    ['`a` + "}"', 'a}'],
    ['/[)\\]]/.test(")")', true],
    ['undeclared = 1', 'threw'],
  ]
  for (const [expression, expected] of expressions)
    it(`JS-25 ${JSON.stringify(expression)}`, async () => {
      expect(variant(await run(expression, { place: 'expression', context: new Map() }))).to.deep.equal(expected)
    })

  it('JS-26 names in scope are identifiers, those that cannot be are found in Context', async () => {
    const context = new Map<string, Value>([
      ['total', 6n],
      ['class', 'c'],
      ['first-name', 'f'],
      ['arguments', 'a'],
    ])
    const expression = '[total, Context.class, Context["first-name"], Context.arguments, typeof later]'
    const outcome = await run(expression, { place: 'expression', context })
    expect(plain(outcome)).to.deep.equal([6n, 'c', 'f', 'a', 'undefined'])
  })

  it('JS-14, JS-26 a name that objects have from the start is one like others', async () => {
    const context = new Map<string, Value>([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ])
    const outcome = await run('[__proto__, constructor]', { place: 'expression', context })
    expect(plain(outcome)).to.deep.equal(['p', 'c'])
    const left = await run('export default () => 1', { context })
    expect('written' in left && [...left.written.keys()]).to.deep.equal([])
  })
})
