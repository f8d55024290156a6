/** The directions of imports are those of the table, without detours. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { asMarkdown, FOLDERS, type Folder, LAZY, PACKAGES } from './folders.ts'
import { allImports, circle, importsIn, shortest } from './imports.ts'

const isIn = (path: string, row: string) => path === row || path.startsWith(`${row}/`)

/** The most specific row that a file belongs to. */
function rowOf(file: string): Folder | undefined {
  return FOLDERS.filter(({ path }) => isIn(file, path)).sort((a, b) => b.path.length - a.path.length)[0]
}

describe('Imports between folders', () => {
  const imports = allImports()

  it('the table runs one way: each row imports from rows above it', () => {
    const wrong = FOLDERS.flatMap(({ path, imports }, at) =>
      imports
        .filter(each => !FOLDERS.slice(0, at).some(above => above.path === each))
        .map(each => `${path} -> ${each}`),
    )
    expect(wrong).to.deep.equal([])
  })

  it('every file belongs to a row', () => {
    expect([...new Set(imports.map(({ from }) => from))].filter(file => !rowOf(file))).to.deep.equal([])
  })

  it('go only where the table allows it', () => {
    expect(imports.length).to.be.greaterThan(1000)
    const wrong = imports.flatMap(({ from, to }) => {
      const [own, other] = [rowOf(from), to && rowOf(to)]
      return !own || !to || (other && (other === own || own.imports.includes(other.path))) ? [] : `${from} -> ${to}`
    })
    expect(wrong).to.deep.equal([])
  })

  it('are written the shortest way', () => {
    const wrong = imports.filter(({ from, to, specifier }) => to !== undefined && specifier !== shortest(from, to))
    expect(wrong.map(({ from, specifier }) => `${from}: ${specifier}`)).to.deep.equal([])
  })

  it('take no detour: no folder exports again what belongs to another', () => {
    const wrong = imports.filter(({ from, to, isExport }) => isExport && to !== undefined && rowOf(from) !== rowOf(to))
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).to.deep.equal([])
  })

  it('no file waits for a value of a file that waits for it', () => {
    expect(circle(imports)).to.equal(undefined)
  })

  it('some packages belong to some folders', () => {
    const wrong = imports.filter(({ from, specifier, isType }) => {
      const allowed = PACKAGES.get(specifier)
      return allowed && !isType && !allowed.some(row => isIn(from, row))
    })
    expect(wrong.map(({ from, specifier }) => `${from}: ${specifier}`)).to.deep.equal([])
  })

  it('packages that few servers need are loaded by their first use', () => {
    const wrong = imports.filter(({ specifier, isType }) => LAZY.includes(specifier) && !isType)
    expect(wrong.map(({ from, specifier }) => `${from}: ${specifier}`)).to.deep.equal([])
    expect(imports.some(({ specifier, isType }) => specifier === 'ioredis' && isType)).to.equal(true)
  })
})

describe('Reading imports', () => {
  const cases: [text: string, found: [to: string | undefined, isType: boolean, isExport: boolean][]][] = [
    ["import { a } from './a.ts'", [['x/a.ts', false, false]]],
    ["import type { A } from '../a.ts'", [['a.ts', true, false]]],
    ["import {\n  type A,\n  type B,\n} from './a.ts'", [['x/a.ts', true, false]]],
    ["import { type A, b } from './a.ts'", [['x/a.ts', false, false]]],
    ["export { a } from './a.ts'", [['x/a.ts', false, true]]],
    [
      "import 'koa'\nimport './a.ts'",
      [
        [undefined, false, false],
        ['x/a.ts', false, false],
      ],
    ],
    ["const a = await import('./a.ts')", [['x/a.ts', false, false]]],
    ["let a: typeof import('./a.ts')", []],
    ["// imports nothing from './a.ts'", []],
  ]
  for (const [text, found] of cases)
    it(JSON.stringify(text), () => {
      const read = importsIn('x/y.ts', text).map(({ to, isType, isExport }) => [to, isType, isExport])
      expect(read).to.deep.equal(found)
    })

  it('a circle is found, unless types alone close it', () => {
    const from = (file: string, text: string) => importsIn(file, text)
    const one = from('a.ts', "import { b } from './b.ts'")
    expect(circle([...one, ...from('b.ts', "import { a } from './a.ts'")])).to.deep.equal(['a.ts', 'b.ts', 'a.ts'])
    expect(circle([...one, ...from('b.ts', "import type { A } from './a.ts'")])).to.equal(undefined)
  })

  it('the table can be shown to people', () => {
    expect(asMarkdown().split('\n')).to.have.length(FOLDERS.length + 2)
  })
})
