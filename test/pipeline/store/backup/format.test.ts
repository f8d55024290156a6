import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { HEAD, readHead } from '../../../../pipeline/store/backup/format.ts'
import { checkBackup, restoreStore } from '../../../../pipeline/store/backup/restore.ts'
import { saveStore } from '../../../../pipeline/store/backup/save.ts'
import { Unusable } from '../../../../pipeline/store/errors.ts'
import { done, openTemporary, put } from '../fixture.ts'

describe('backup.json', () => {
  it('with another byte in what it says is refused, by a check and by a restore, but not without a proof', async () => {
    const { store, folder, close } = await openTemporary()
    try {
      const terms = { settings: ['secret'], accepts: () => true }
      await store.setSetting('secret', 'key')
      await done(store.site('a.example'), [put('/index.html', 'x')])
      const backup = join(folder, 'backup')
      await saveStore(store, backup, terms)
      const file = join(backup, HEAD)
      const text = await readFile(file, 'utf8')
      const values = [...text.matchAll(/(?<=: "?)[^[{"]/g)]
      expect(values).to.have.length(10)
      for (const { index, 0: one } of values) {
        await writeFile(file, text.slice(0, index) + (one === '1' ? '2' : '1') + text.slice(index + 1))
        for (const work of [() => checkBackup(backup, terms), () => restoreStore(store, backup, terms)]) {
          const error = await work().catch((thrown: unknown) => thrown)
          expect(error, text.slice(index)).to.be.instanceOf(Unusable)
          expect(`${error}`, text.slice(index)).to.match(/not what was written$|does not know$/)
        }
      }
      await writeFile(file, text)
      const head = await readHead(backup)
      // As those of earlier releases.
      await writeFile(file, JSON.stringify(head))
      expect(await readHead(backup)).to.deep.equal(head)
    } finally {
      await close()
    }
  })
})
