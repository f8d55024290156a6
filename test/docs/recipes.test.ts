import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { davfsCommands, RCLONE_VENDOR } from '../../edge/mount-recipes.ts'
import { readDom } from '../support/dom.ts'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('recipes for mounting', () => {
  for (const path of ['README.md', 'server/demo/site/mount.html'])
    it(`${path} gives davfs2 and rclone the same options as the server does`, async () => {
      const source = await read(path)
      const text = path.endsWith('.html') ? (readDom(source).body.textContent ?? '') : source
      for (const command of davfsCommands('http://localhost:8081/', '/mnt/bench')) expect(text).to.include(command)
      expect(text)
        .to.include(RCLONE_VENDOR)
        .and.not.match(/vendor=(?!owncloud)/)
      expect(text.match(/mount -t davfs/g)).to.have.length(1)
    })
})
