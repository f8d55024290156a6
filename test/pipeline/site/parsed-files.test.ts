import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { StoredFile } from '../../../pipeline/site/stored-file.ts'
import { page, put } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('Files with their trees', () => {
  let server: TestServer
  const paths = ['/a.html', '/b.html', '/c.html', '/d.html']
  const { parse } = StoredFile.prototype

  before(async () => {
    // An eighth of it is for documents: less than these take together.
    server = await startServer({ settings: { limits: { memory: '16MiB' } } })
    for (const path of paths) await put(server, path, page('<p>Some words</p>'.repeat(50_000)))
  })
  after(() => server.close())
  afterEach(() => {
    StoredFile.prototype.parse = parse
  })

  it('HTTP-183 a document that leaves the memory while it is parsed is not parsed again', async () => {
    let parsed = 0
    StoredFile.prototype.parse = function () {
      parsed++
      return parse.call(this)
    }
    const trees = await Promise.all(
      paths.map(async path => {
        const file = await server.site.findParsed(path)
        return file?.hasTree && file.tree.source.length
      }),
    )
    expect(trees).to.deep.equal(paths.map(() => page('<p>Some words</p>'.repeat(50_000)).length))
    expect(parsed).to.equal(paths.length)
  })
})
