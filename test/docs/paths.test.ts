import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ROOT } from './chapters.ts'

/** Files and folders of the repository, as its own documentation names them. */
const PATH = /`((?:server|dav|edge|pipeline|config|test|docker|docs)\/[\w./*-]*)`/g

describe('The documentation of the repository', () => {
  for (const file of ['README.md', 'CONTRIBUTING.md', 'docs/operations.md', 'docs/architecture.md', 'docs/glossary.md'])
    it(`${file} names files and folders that exist`, () => {
      const text = readFileSync(`${ROOT}${file}`, 'utf8')
      const named = [...text.matchAll(PATH)].map(([, path = '']) => path)
      const exists = (path: string) =>
        path.includes('*') ? globSync(path, { cwd: ROOT }).length > 0 : existsSync(`${ROOT}${path}`)
      expect(named.filter(path => !exists(path))).to.deep.equal([])
    })

  it('docs/architecture.md says of every package where it is used, or why not', () => {
    const {
      dependencies,
      devDependencies,
    }: Record<string, Record<string, string>> = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
    const text = readFileSync(`${ROOT}docs/architecture.md`, 'utf8')
    const packages = Object.keys({ ...dependencies, ...devDependencies }).filter(name => !name.startsWith('@types/'))
    expect(packages.filter(name => !text.includes(`\`${name}\``))).to.deep.equal([])
    const rows = text.slice(text.indexOf('## Packages')).split('\n')
    const used = rows.filter(row => row.startsWith('| `') && !row.includes('| not used'))
    const named = used.flatMap(row => [...(row.split(' | ')[0]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, name]) => name))
    expect(
      named.filter(name => !packages.includes(name ?? '')),
      'named, but not there',
    ).to.deep.equal([])
  })
})
