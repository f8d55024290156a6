/** rclone against the mount: trees up, down and compared byte by byte, with times and checksums. */

import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type Rclone, rclone, writeTree } from './rclone.ts'

/** With vendor `owncloud` times and checksums are carried, too. Files enough for every odd name with every kind of content. */
const RUNS = [
  ['owncloud', 160],
  ['other', 60],
] as const

/** rclone sends at most 100 requests a second, so several share the work: which is also a test of writers at once. */
const SHARES = ['*.html', '*.txt', '*.svg', '*.bin']

for (const [vendor, files] of RUNS) {
  describe(`rclone, vendor ${vendor}`, function () {
    this.timeout(300_000)
    let server: TestServer
    let drive: Rclone
    let paths: string[]
    let tree: string
    before(async () => {
      server = await startServer({ site: { defaultGet: 'allow' } })
      drive = await rclone(server, vendor)
      tree = join(drive.folder, 'tree')
      paths = await writeTree(tree, files)
    })
    after(async () => {
      await drive.close()
      await server.close()
    })

    async function ok(...args: string[]): Promise<string> {
      const { code, output } = await drive.run(...args)
      expect(output, args.join(' ')).not.to.match(/ERROR|CRITICAL/)
      expect(code, output).to.equal(0)
      return output
    }

    async function shared(...args: string[]): Promise<string> {
      return (await Promise.all(SHARES.map(share => ok(...args, '--include', share)))).join('')
    }

    /** Reads everything on both sides, and says how many files are the same. */
    async function matching(one: string, other: string): Promise<number> {
      const output = await shared('check', '--download', one, other)
      expect(output).not.to.match(/[1-9]\d* differences found/)
      return Array.from(output.matchAll(/(\d+) matching files/g), ([, count]) => Number(count)).reduce((a, b) => a + b)
    }

    it(`brings ${files} files with odd names onto the site and finds no difference, seen from either side`, async () => {
      await shared('sync', tree, 'mount:tree')
      expect(await Promise.all([matching(tree, 'mount:tree'), matching('mount:tree', tree)])).to.deep.equal([
        files,
        files,
      ])
    })

    it('sees that nothing is left to do', async () => {
      const output = await ok('sync', '-v', tree, 'mount:tree')
      expect(output).not.to.match(/Copied|Deleted|Updated/)
    })

    it('shows the files to visitors, byte for byte', async () => {
      const visitor = client(server.port)
      for (const path of paths) {
        const target = `/tree/${path.normalize('NFC').split('/').map(encodeURIComponent).join('/')}`
        const { status, body } = await visitor('GET', target)
        expect(status, target).to.equal(200)
        expect(body.equals(await readFile(join(tree, path))), target).to.equal(true)
      }
    })

    it('brings everything back as it was', async () => {
      const back = join(drive.folder, 'back')
      await shared('sync', 'mount:tree', back)
      for (const path of paths) {
        const copy = join(back, path.normalize('NFC'))
        expect((await readFile(copy)).equals(await readFile(join(tree, path))), path).to.equal(true)
        if (vendor === 'owncloud')
          expect((await stat(copy)).mtimeMs, path).to.equal((await stat(join(tree, path))).mtimeMs)
      }
    })

    it('copies, moves and deletes collections on the server', async () => {
      await ok('copy', 'mount:tree', 'mount:twin', '--include', '/plain */**')
      await ok('move', 'mount:twin', 'mount:moved')
      expect(await matching('mount:moved', 'mount:moved')).to.be.greaterThan(0)
      expect(await ok('check', '--download', '--one-way', 'mount:moved', tree)).to.match(/0 differences found/)
      await ok('purge', 'mount:moved')
      expect((await drive.run('lsf', 'mount:moved')).output).to.match(/directory not found/)
    })

    it('carries changes, additions and removals', async () => {
      const [changed = '', removed = ''] = paths
      await writeFile(join(tree, changed), '<!doctype html>\n<title>Changed</title>\n')
      await utimes(join(tree, changed), 1_600_000_000, 1_600_000_000)
      await rm(join(tree, removed))
      await writeFile(join(tree, 'added.txt'), 'added')
      await ok('sync', tree, 'mount:tree')
      expect(await matching(tree, 'mount:tree')).to.equal(files)
    })

    if (vendor === 'owncloud') {
      it('DAV-33 compares checksums that the mount reports', async () => {
        expect(await shared('check', '--checksum', '-v', tree, 'mount:tree')).to.match(
          /Using (md5|sha1) for hash comparisons/,
        )
        for (const [hash, sum] of [
          ['MD5', 'b60ed88355ac3f6898fd8a7ab1734d06'],
          ['SHA1', '172415f02e562cd029620c3db12fb3cbb83c4208'],
        ] as const)
          expect(await ok('hashsum', hash, 'mount:tree', '--include', 'added.txt')).to.contain(`${sum}  added.txt`)
      })
    }
  })
}
