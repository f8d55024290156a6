/** Trees that are finished behind the commit that brought them. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { StoredFile } from '../../../pipeline/site/stored-file.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../../pipeline/tree/nodes.ts'
import type { Steps } from '../../../pipeline/tree/steps.ts'

const BYTES = Buffer.from('<p>x</p>')

describe('a tree that is not finished', () => {
  const tree = parseDocument('html', BYTES.toString())

  function unfinished(): StoredFile {
    const times = { created: 0, modified: 0, sameSecond: false }
    const stored = { path: '/a.html', kind: 'document', version: 1, digest: 'a'.repeat(64), properties: '' } as const
    const work = (function* (): Steps<TreeDocument> {
      yield
      return tree
    })()
    const resource = { ...stored, ...times, size: BYTES.length, type: 'text/html' }
    return new StoredFile(resource, { bytes: BYTES }, undefined, { work, bytes: 1000 })
  }

  it('SEC-12 is weighed, and finished by whoever needs it', async () => {
    const [inTurns, atOnce] = [unfinished(), unfinished()]
    expect([inTurns.hasTree, inTurns.keepsTree, inTurns.treeBytes]).to.deep.equal([false, true, 1000])
    await Promise.all([inTurns.parse(), inTurns.parse()])
    expect([inTurns.hasTree, inTurns.tree]).to.deep.equal([true, tree])
    expect([atOnce.tree, atOnce.treeBytes]).to.deep.equal([tree, inTurns.treeBytes])
  })

  it('SEC-12 is parsed anew where it was let go', async () => {
    for (const letGo of ['packTree', 'releaseTree'] as const) {
      const file = unfinished()
      file[letGo]()
      expect(file.keepsTree).to.equal(false)
      await file.parse()
      expect(file.tree === tree).to.equal(false)
      expect(file.tree.source).to.equal(tree.source)
    }
  })
})
