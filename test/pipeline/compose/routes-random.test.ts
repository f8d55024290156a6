/** Routes as a site changes: what has changed is looked at again, and nothing else (COMP-97, SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { resolvePath } from '../../../pipeline/compose/routes.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import { eventually } from '../../support/eventually.ts'

/** As much of a site as routes look at. */
function siteOf(paths: readonly string[]) {
  const files = new Set(paths)
  const watchers: ((paths: string[]) => void)[] = []
  /** Paths that were gone through, and what fails next. */
  const asked: string[] = []
  let failing = 0
  const ask = async (path: string) => {
    asked.push(path)
    await new Promise(setImmediate)
    if (failing > 0 && failing-- > 0) throw new Error('away')
  }
  const resourceOf = (path: string) => ({ path, kind: path.endsWith('.txt') ? 'blob' : 'document' })
  const state = { changes: 0 }
  const site = {
    get changes() {
      return state.changes
    },
    find: async (path: string) =>
      files.has(path) ? { resource: { path }, isDocument: !path.endsWith('.txt') } : undefined,
    watch: (watcher: (paths: string[]) => void) => watchers.push(watcher),
    store: {
      async find(path: string) {
        await ask(path)
        return files.has(path) ? resourceOf(path) : undefined
      },
      async *walk(collection: string) {
        await ask(collection)
        for (const path of [...files]) if (path.startsWith(collection)) yield resourceOf(path)
      },
    },
  } as unknown as Site
  const tell = (changed: string[]) => {
    state.changes++
    for (const watcher of watchers) watcher(changed)
  }
  return { site, files, asked, tell, failNext: () => failing++ }
}

const served = async (site: Site, path: string) => (await resolvePath(site, path))?.file.resource.path

describe('Routes of a site that changes', () => {
  it('COMP-97 SEC-12 one more is looked for where it is: visitors may write them as fast as files', async () => {
    const { site, files, asked, tell } = siteOf(['/a/:x.html', '/b/c.html'])
    expect(await served(site, '/a/1.html')).to.equal('/a/:x.html')
    files.add('/b/:y.html')
    tell(['/b/:y.html'])
    tell(['/b/d.html'])
    expect(await served(site, '/b/1.html')).to.equal('/b/:y.html')
    tell(['/b/'])
    expect(await served(site, '/a/1.html')).to.equal('/a/:x.html')
    expect(asked).to.deep.equal(['/', '/b/:y.html', '/b/'])
  })

  it('COMP-97 SEC-12 many are looked for together', async () => {
    const { site, files, asked, tell } = siteOf([])
    await served(site, '/none')
    for (let i = 0; i < 250; i++) {
      files.add(`/:${i}.a${i}`)
      tell([`/:${i}.a${i}`])
    }
    expect(await served(site, '/1.a249')).to.equal('/:249.a249')
    expect(asked.filter(path => path === '/')).to.have.length(2)
    expect(asked).to.have.length.below(105)
  })

  it('COMP-97 what could not be looked at is looked at by the next', async () => {
    const { site, files, tell, failNext } = siteOf(['/a/:x.html'])
    failNext()
    expect(await served(site, '/a/1.html').catch(String)).to.equal('Error: away')
    expect(await served(site, '/a/1.html')).to.equal('/a/:x.html')
    files.delete('/a/:x.html')
    tell(['/a/:x.html'])
    failNext()
    expect(await served(site, '/a/1.html').catch(String)).to.equal('Error: away')
    expect(await served(site, '/a/1.html')).to.equal(undefined)
  })

  it('COMP-97 whatever comes, goes and moves while others look', async () => {
    let seed = 7
    const pick = <T>(list: readonly T[]): T => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31
      return list[(seed >>> 8) % list.length] as T
    }
    const { site, files, tell, failNext } = siteOf([])
    const folders = ['/', '/a/', '/a/b/', '/:c/', '/a/:d/']
    const names = [':x.html', ':y', 'z.html', ':t.txt', ':.html']
    for (let turn = 0; turn < 700; turn++) {
      const [folder, name] = [pick(folders), pick(names)]
      const path = folder + name
      const op = pick(['put', 'put', 'remove', 'clear', 'move', 'look', 'fail'])
      if (op === 'put') files.add(path)
      if (op === 'remove') files.delete(path)
      if (op === 'put' || op === 'remove') tell([path])
      if (op === 'clear' || op === 'move') {
        const to = pick(folders)
        const members = [...files].filter(each => each.startsWith(folder))
        for (const each of members) files.delete(each)
        if (op === 'move' && !to.startsWith(folder))
          for (const each of members) files.add(to + each.slice(folder.length))
        tell([folder, ...(op === 'move' ? [to] : [])])
      }
      if (op === 'fail') failNext()
      const target = pick(['/1.html', '/a/1.html', '/a/b/q', '/c/z.html', '/a/d/1.html', '/a/d/2.txt'])
      const looking = served(site, target).catch(() => undefined)
      if (op !== 'look') continue
      await looking
      await eventually(async () => {
        const fresh = siteOf([...files])
        expect(await served(site, target), `turn ${turn}`).to.equal(await served(fresh.site, target))
      })
    }
  })
})
