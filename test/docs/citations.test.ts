import { globSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { chapters, ROOT } from './chapters.ts'

/** Where rules are cited: sources, tests, settings and texts of the repository. */
const CITING = ['{server,dav,edge,pipeline,config,test,docker}/**/*.{ts,mjs,md,html,yaml,xml}', 'docs/**/*.md', '*.md']

/** The prefixes of rule numbers are those that the reference has. */
const prefixes = [...new Set(chapters.flatMap(({ rules }) => rules.map(rule => rule.replace(/-\d+$/, ''))))]
const CITATION = new RegExp(`\\b(?:${prefixes.join('|')})-\\d+\\b`, 'g')

describe('Rule numbers', () => {
  it('that are cited anywhere stand in the reference', () => {
    const known = new Set(chapters.flatMap(({ rules }) => rules))
    const unknown = new Map<string, string>()
    for (const file of globSync(CITING, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
      for (const [rule] of readFileSync(`${ROOT}${file}`, 'utf8').matchAll(CITATION))
        if (!known.has(rule)) unknown.set(rule, file)
    }
    expect([...unknown].map(([rule, file]) => `${rule} in ${file}`)).to.deep.equal([])
  })
})
