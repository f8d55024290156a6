/** LibreOffice itself on the mount. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { mountDrive, whyNoFuse } from './davfs2.ts'
import { convert, edit, gateway } from './libreoffice.ts'

/** A text document in one file of XML. */
const DOCUMENT = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>Written here</text:p></office:text></office:body></office:document>
`

describe('LibreOffice', function () {
  this.timeout(300_000)
  let server: TestServer
  let folder: string
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    folder = await mkdtemp(join(tmpdir(), 'libreoffice-'))
    await writeFile(join(folder, 'essay.fodt'), DOCUMENT)
    await convert(folder, 'odt', join(folder, 'essay.fodt'), folder)
  })
  after(async () => {
    await rm(folder, { recursive: true, force: true })
    await server.close()
  })

  /** Text of a document that visitors get. */
  async function textOf(path: string): Promise<string> {
    const { status, body } = await client(server.port)('GET', path)
    expect(status, path).to.equal(200)
    await writeFile(join(folder, 'served.odt'), body)
    await convert(folder, 'txt:Text', join(folder, 'served.odt'), folder)
    return (await readFile(join(folder, 'served.txt'), 'utf8')).replace(/^\uFEFF/, '').trim()
  }

  it('opens a document under a lock, saves it, and saves it under another name', async () => {
    const way = await gateway(server)
    try {
      const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
      const author = client(Number(new URL(server.mountUrl).port), { Authorization: authorization })
      await author('PUT', '/essay.odt', {}, await readFile(join(folder, 'essay.odt')))

      const said = await edit(folder, `${way.url}/essay.odt`, `${way.url}/copy of essay.odt`)
      expect(said).to.equal('writable\nsaved\nsaved as\n')

      const of = (method: string, path: string) => way.passed.filter(one => one.method === method && one.path === path)
      const statuses = (method: string, path: string) => of(method, path).map(({ status }) => status)
      expect(statuses('LOCK', '/essay.odt')).to.deep.equal([200])
      expect(statuses('LOCK', '/copy%20of%20essay.odt')).to.deep.equal([201])
      expect(new Set(statuses('PUT', '/essay.odt'))).to.deep.equal(new Set([204]))
      expect(new Set(statuses('PUT', '/copy%20of%20essay.odt'))).to.deep.equal(new Set([204]))
      for (const { condition } of of('PUT', '/essay.odt')) expect(condition).to.match(/^\(<opaquelocktoken:[^>]+>\)$/)
      expect(way.passed.filter(({ method, status }) => method === 'UNLOCK' && status !== 204)).to.deep.equal([])
      expect(way.passed.filter(({ status }) => status >= 400 && status !== 404)).to.deep.equal([])
      // Nothing stays locked.
      for (const path of ['/essay.odt', '/copy%20of%20essay.odt'])
        expect((await author('PROPFIND', path, { Depth: '0' })).text).to.contain('<D:lockdiscovery/>')

      expect(await textOf('/essay.odt')).to.equal('Written here, saved by LibreOffice')
      expect(await textOf('/copy%20of%20essay.odt')).to.equal('Written here, saved by LibreOffice')
    } finally {
      await way.close()
    }
  })

  const obstacle = whyNoFuse()
  it(`converts a document on a mount point${obstacle === undefined ? '' : `, which ${obstacle} to try`}`, async () => {
    if (obstacle !== undefined) {
      expect(obstacle).to.match(/root|fuse/)
      return
    }
    const drive = await mountDrive(server)
    try {
      await writeFile(join(drive.folder, 'on the drive.fodt'), DOCUMENT)
      await convert(folder, 'odt', join(drive.folder, 'on the drive.fodt'), drive.folder)
    } finally {
      await drive.unmount()
    }
    expect(await textOf('/on%20the%20drive.odt')).to.equal('Written here')
  })
})
