import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SiteDeclarations } from '../../../pipeline/declarations/site-declarations.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { extractingDeclarations } from '../../../pipeline/model/declarations.ts'
import { itemElements } from '../../../pipeline/model/items.ts'
import type { Commit } from '../../../pipeline/store/commit.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { page } from '../../support/content.ts'
import { type HostedSite, openHosted } from '../model/hosted.ts'
import { schema } from '../model/markup.ts'

const PATHS: Commit = { changes: [{ op: 'describe', path: '/x.html', set: [], remove: [] }] }

describe('What documents declare', () => {
  let hosted: HostedSite
  let declared: SiteDeclarations
  beforeEach(async () => {
    hosted = await openHosted(noCode)
    const { store, settings } = hosted.site
    const basis = { read: async () => undefined, write: async () => undefined }
    declared = await SiteDeclarations.read({ store, settings, basis, report: () => undefined })
  })
  afterEach(() => hosted.close())

  /** A commit of a document with one schema. */
  async function schemaCommit(path: string, type: string) {
    const tree = parseDocument('html', page(schema(type)))
    const model = atOnce(extractingDeclarations(itemElements(tree.root), hosted.site.settings))
    const content = { bytes: Buffer.from(tree.source) }
    const put = { op: 'put', path, expect: 'absent', kind: 'document', content, type: 'text/html' } as const
    return declared.after(
      { changes: [put] },
      new Map([[path, { declares: model ? { model } : {} }]]),
      async () => undefined,
    )
  }
  const types = () => ['x:a', 'x:b'].filter(type => declared.snapshot('model').schema(type))

  it('changes when the commit is taken, not before', async () => {
    const { commit, take } = await schemaCommit('/a.html', 'x:a')
    expect(commit.raises).to.deep.equal(['model'])
    expect(types()).to.deep.equal([])
    take({ model: 1 })
    expect(types()).to.deep.equal(['x:a'])
    expect(declared.version('model')).to.equal(1)
  })

  it('a commit that was under way together with it takes nothing back', async () => {
    const first = await schemaCommit('/a.html', 'x:a')
    const others = [await schemaCommit('/b.html', 'x:b'), await declared.after(PATHS, new Map(), async () => undefined)]
    first.take({ model: 1 })
    expect(types()).to.deep.equal(['x:a'])
    others[0]?.take({ model: 2 })
    others[1]?.take({})
    expect(types()).to.deep.equal(['x:a', 'x:b'])
    expect(declared.version('model')).to.equal(2)
  })
})
