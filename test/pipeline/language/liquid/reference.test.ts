import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { items, rendered } from './rendering.ts'

const CHAPTER = new URL('../../../../docs/reference/templates.md', import.meta.url)
const EXAMPLE = /```liquid\n([\s\S]*?)\n```\n\n```text\n([\s\S]*?)\n```/g

const PEOPLE =
  '<p itemscope><b itemprop="name">Ada</b><i itemprop="age">36</i></p><p itemscope><b itemprop="name">Bo</b><i itemprop="age">9</i></p>'

describe('Examples of the chapter on templates', () => {
  const examples = [...readFileSync(CHAPTER, 'utf8').matchAll(EXAMPLE)]

  it('are found', () => {
    expect(examples).to.have.length.at.least(5)
  })

  for (const [, source = '', expected] of examples) {
    it(`print what stands below them: ${source.slice(0, 40)}`, async () => {
      const names = { n: 3n, list: [3n, 1n, 2n], people: items(PEOPLE) }
      expect(await rendered(source, { names })).to.equal(expected)
    })
  }
})
