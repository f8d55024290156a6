import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { FILTERS } from '../../../../pipeline/language/liquid/filters/filters.ts'
import { items, rendered } from './rendering.ts'

const CHAPTER = readFileSync(new URL('../../../../docs/reference/templates.md', import.meta.url), 'utf8')

/** Blocks with what they print below them. */
const BLOCK = /```liquid\n([\s\S]*?)\n```\n\n```text\n([\s\S]*?)\n```/g
/** Rows of tables, with what they print beside them. */
const ROW = /^\| `(.*)` \| `(.*)` \|$/gm

const TAGS =
  'if elsif else unless case when for break continue cycle tablerow assign capture increment decrement echo raw comment liquid #'

const PEOPLE =
  '<p itemscope><b itemprop="name">Ada</b><i itemprop="age">36</i><meta itemprop="note" content="kind"></p><p itemscope><b itemprop="name">Bo</b><i itemprop="age">9</i></p>'

describe('Examples of the chapter on templates', () => {
  const unescaped = (cell = '') => cell.replaceAll('\\|', '|')
  const examples = [
    ...[...CHAPTER.matchAll(BLOCK)].map(([, source = '', printed = '']) => [source, printed] as const),
    ...[...CHAPTER.matchAll(ROW)].map(([, source, printed]) => [unescaped(source), unescaped(printed)] as const),
  ]
  const all = examples.map(([source]) => source).join('\n')

  it('show each filter', () => {
    expect([...FILTERS.keys()].filter(name => !new RegExp(`\\|\\s*${name}\\b`).test(all))).to.deep.equal([])
  })

  it('show each tag', () => {
    expect(TAGS.split(' ').filter(name => !new RegExp(`\\{%-? ${name}(?![\\w])`).test(all))).to.deep.equal([])
  })

  for (const [source, printed] of examples) {
    it(`print what stands beside them: ${source}`, async () => {
      const names = { n: 3n, list: [3n, 1n, 2n], people: items(PEOPLE, '/people.html') }
      expect(await rendered(source, { names })).to.equal(printed)
    })
  }
})
