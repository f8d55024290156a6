/** Files are of a size to be read, and each is a place of its own. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { allImports, ROOT } from './imports.ts'

/** Lines of a file at most. */
const LONGEST = 400

/** Lines under which a file that only one other needs joins it. */
const CRUMB = 30

/** Crumbs that stay files, and why. */
const STAYING: ReadonlyMap<string, string> = new Map([
  ['dav/methods/', 'a file for each method'],
  ['server/cli/', 'a file for each command'],
  ['pipeline/declarations/', 'a file for each kind of declarations'],
  ['pipeline/language/liquid/filters/', 'a file for each family of filters, and their list'],
  ['pipeline/language/sessel/', 'a file for each family of methods'],
  ['pipeline/language/bcrypt-thread.ts', 'a thread of its own'],
  ['pipeline/store/sqlite/c-heap.ts', 'of the C library, and only here may SQLite be used'],
  ['server/next-tick.ts', 'tests start it without the program'],
])

const linesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1

describe('Source files', () => {
  const imports = allImports()
  const files = [...new Set(imports.flatMap(({ from, to }) => (to === undefined ? [from] : [from, to])))]

  it('have at most 400 lines', () => {
    expect(files.filter(file => linesOf(file) > LONGEST)).to.deep.equal([])
  })

  it('have under 30 lines only where several need them, or for a reason', () => {
    const importers = new Map<string, Set<string>>()
    for (const { from, to } of imports) {
      if (to === undefined) continue
      const known = importers.get(to)
      if (known) known.add(from)
      else importers.set(to, new Set([from]))
    }
    const crumbs = files.filter(file => linesOf(file) < CRUMB && importers.get(file)?.size === 1)
    const reasons = [...STAYING.keys()]
    expect(crumbs.filter(file => !reasons.some(place => file.startsWith(place)))).to.deep.equal([])
    expect(reasons.filter(place => !crumbs.some(file => file.startsWith(place)))).to.deep.equal([])
  })
})
