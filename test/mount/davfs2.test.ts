/** davfs2: shell tools and editors on a mount point, and what visitors see of it. */

import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../support/eventually.ts'
import { type Client, client } from '../support/http.ts'
import { succeed } from '../support/program.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type Drive, mountDrive, whyNoFuse } from './davfs2.ts'

const page = (text: string) => `<!doctype html>\n<title>${text}</title>\n<p>${text}\n`
const obstacle = whyNoFuse()

describe('davfs2', () => {
  if (obstacle !== undefined) {
    it(`cannot mount on this machine: ${obstacle}`, () => {
      expect(obstacle).to.match(/root|fuse/)
    })
    return
  }

  let server: TestServer
  let drive: Drive | undefined
  let visitor: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    visitor = client(server.port)
    drive = await mountDrive(server)
  })
  after(async () => {
    await drive?.unmount()
    await server.close()
  })

  const at = (path: string) => join(drive?.folder ?? '', path)

  /** Uploads follow the close of a file. */
  async function served(path: string, content: string | undefined): Promise<void> {
    await eventually(async () => {
      const { status, text } = await visitor('GET', path)
      expect(status === 404 ? undefined : text, path).to.equal(content)
    })
  }

  it('writes, reads, replaces, renames and removes files', async () => {
    await writeFile(at('page.html'), page('First'))
    await served('/page.html', page('First'))
    expect(await readFile(at('page.html'), 'utf8')).to.equal(page('First'))
    await writeFile(at('page.html'), page('Second'))
    await served('/page.html', page('Second'))
    await rename(at('page.html'), at('renamed.html'))
    await served('/page.html', undefined)
    await served('/renamed.html', page('Second'))
    // davfs2 saves with the tag from before the rename.
    await writeFile(at('renamed.html'), page('Third'))
    await served('/renamed.html', page('Third'))
    await rm(at('renamed.html'))
    await served('/renamed.html', undefined)
  })

  it('makes, lists and removes directories', async () => {
    await mkdir(at('docs/deep'), { recursive: true })
    await writeFile(at('docs/a b & c (1).txt'), 'a')
    await writeFile(at('docs/é.txt'), 'composed')
    await served('/docs/%C3%A9.txt', 'composed')
    expect((await readdir(at('docs'))).sort()).to.deep.equal(['a b & c (1).txt', 'deep', 'é.txt'])
    expect((await stat(at('docs/deep'))).isDirectory()).to.equal(true)
    await rmdir(at('docs/deep'))
    await rename(at('docs'), at('papers'))
    await served('/papers/a%20b%20&%20c%20(1).txt', 'a')
    await served('/docs/%C3%A9.txt', undefined)
    await rm(at('papers'), { recursive: true })
    await served('/papers/%C3%A9.txt', undefined)
  })

  it('serves shell tools: cp, sed -i, mv, append, truncation', async () => {
    const script = `
      cd "${drive?.folder}"
      printf '%s' '${page('Shell')}' > a.html
      cp a.html b.html
      sed -i s/Shell/Edited/g b.html
      mv b.html c.html
      printf 'one\\n' > log.txt
      printf 'two\\n' >> log.txt
      : > empty.txt
      sync
    `
    await succeed('sh', ['-ec', script])
    await served('/a.html', page('Shell'))
    await served('/c.html', page('Edited'))
    await served('/b.html', undefined)
    await served('/log.txt', 'one\ntwo\n')
    await served('/empty.txt', '')
  })

  it('keeps backup and swap files of editors from the public', async () => {
    await writeFile(at('essay.html'), page('Draft'))
    await served('/essay.html', page('Draft'))
    // What vim does with backupcopy=no.
    await writeFile(at('.essay.html.swp'), 'b0VIM 9.0')
    await rename(at('essay.html'), at('essay.html~'))
    await writeFile(at('essay.html'), page('Saved'))
    await served('/essay.html', page('Saved'))
    await served('/.essay.html.swp', undefined)
    await served('/essay.html~', undefined)
    await rm(at('essay.html~'))
    await rm(at('.essay.html.swp'))
    expect(await readFile(at('essay.html'), 'utf8')).to.equal(page('Saved'))
  })

  it('holds a lock while a file is open for writing, and gives it back', async () => {
    const script = `cd "${drive?.folder}"; exec 3> held.txt; printf x >&3; curl -s -o /dev/null -w '%{http_code}' -u "$AUTHOR" -X PUT --data other "$MOUNT/held.txt"; exec 3>&-; sync`
    const env = { AUTHOR: `${server.user}:${server.password}`, MOUNT: server.mountUrl }
    expect(await succeed('sh', ['-ec', script], { env })).to.equal('423')
    await served('/held.txt', 'x')
    const authorization = `Basic ${Buffer.from(env.AUTHOR).toString('base64')}`
    const author = client(Number(new URL(server.mountUrl).port), { Authorization: authorization })
    await eventually(async () => expect((await author('PUT', '/held.txt', {}, 'free')).status).to.equal(204))
  })

  it('carries a megabyte there and back', async () => {
    const content = Array.from({ length: 40_000 }, (_, i) => `line ${i} of a long text\n`).join('')
    await writeFile(at('long.txt'), content)
    await served('/long.txt', content)
    expect(await readFile(at('long.txt'), 'utf8')).to.equal(content)
  })
})
