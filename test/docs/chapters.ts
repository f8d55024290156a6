/** The chapters of the reference, and the rule numbers that they explain. */

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Chapter {
  /** File name in `docs/reference/`. */
  name: string
  text: string
  /** Rule numbers in the order in which they stand. */
  rules: string[]
}

const ANCHOR = /<a id="([A-Z]+-\d+)"><\/a>/g

export const chapters: readonly Chapter[] = globSync('docs/reference/*.md', { cwd: ROOT })
  .sort()
  .map(file => {
    const text = readFileSync(`${ROOT}${file}`, 'utf8')
    const rules = [...text.matchAll(ANCHOR)].flatMap(([, rule]) => (rule === undefined ? [] : [rule]))
    return { name: file.replace('docs/reference/', ''), text, rules }
  })
