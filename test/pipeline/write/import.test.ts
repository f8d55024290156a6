/** A folder that is imported: what cannot come along is named. */

import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { importFolder } from '../../../pipeline/write/import.ts'
import { startServer } from '../../support/server.ts'

describe('import', () => {
  it('names what it leaves out, and reads the rest', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-import-'))
    const server = await startServer()
    try {
      await writeFile(join(folder, 'a.txt'), 'A')
      await writeFile(join(folder, 'e\u0301.txt'), 'first')
      await writeFile(join(folder, '\u00e9.txt'), 'other')
      await symlink('/etc/passwd', join(folder, 'passwd'))
      const { files, problems } = await importFolder(server.site, server.running.store, folder)
      expect(files).to.equal(2)
      expect(problems).to.have.members([
        `${join(folder, 'passwd')}: it is neither a file nor a folder`,
        `${join(folder, '\u00e9.txt')}: another one is read under the same name`,
      ])
      expect((await server.site.find('/\u00e9.txt'))?.resource.size).to.equal(5)
      expect(await server.site.find('/passwd')).to.equal(undefined)
    } finally {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
