/** rclone with a remote for the mount, and a tree of files with names that are hard to carry. */

import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Ran, run } from '../support/program.ts'
import type { TestServer } from '../support/server.ts'

export interface Rclone {
  /** Local folder for anything. */
  folder: string
  /** Runs a command; `mount:` is the root of the mount. */
  run(...args: string[]): Promise<Ran>
  close(): Promise<void>
}

/** @param vendor `other` for plain WebDAV, `owncloud` for modification times and checksums */
export async function rclone(server: TestServer, vendor: 'other' | 'owncloud'): Promise<Rclone> {
  const folder = await mkdtemp(join(tmpdir(), 'rclone-'))
  const config = join(folder, 'rclone.conf')
  const { mountUrl, user, password } = server
  const { output: hidden } = await run('rclone', ['obscure', password], { env: { RCLONE_CONFIG: config } })
  await writeFile(
    config,
    `[mount]\ntype = webdav\nurl = ${mountUrl}\nvendor = ${vendor}\nuser = ${user}\npass = ${hidden.trim()}\n`,
  )
  return {
    folder,
    run: (...args) =>
      run('rclone', ['--config', config, '--stats', '0', '--retries', '1', ...args], { timeout: 240_000 }),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Parts of names that URLs, XML, shells or file systems treat in a way of their own. */
const ODD = [
  'plain',
  'two  spaces',
  '100%',
  '%41%2F',
  'a#b',
  'what?',
  'R&D',
  'a+b',
  "it's",
  '"quoted"',
  '(1)',
  '[x]{y}',
  '.leading',
  'trailing.',
  'semi;colon,=@',
  'a:b',
  'a|b<c>*',
  '~tilde',
  'back`tick^',
  'é composed',
  'e\u0301 decomposed',
  'Ångström',
  '日本語',
  'кириллица',
  '😀',
  'x'.repeat(200),
]

/**
 * Writes a tree of files: pages, texts and binaries of many sizes, in collections with odd names.
 *
 * @returns paths relative to the folder
 */
export async function writeTree(folder: string, count: number): Promise<string[]> {
  const paths: string[] = []
  for (let i = 0; i < count; i++) {
    const name = ODD[i % ODD.length] ?? ''
    const parent = i % 3 === 0 ? '' : `${ODD[(i * 7) % ODD.length]} ${i % 5}/`
    const [extension, content] = contentOf(i)
    // A name of 200 characters leaves room for the suffix that a client gives to partial downloads.
    const path = `${parent}${name} ${i}${extension}`
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
    const seconds = 1_400_000_000 + i * 86_400
    await utimes(join(folder, path), seconds, seconds)
    paths.push(path)
  }
  return paths
}

function contentOf(i: number): [extension: string, content: Buffer] {
  if (i % 4 === 0) return ['.html', Buffer.from(`<!doctype html>\n<title>${i}</title>\n<p>Page ${i} &amp; more\n`)]
  if (i % 4 === 1) return ['.txt', Buffer.from(i % 8 === 1 ? '' : `line ${i}\r\n`.repeat(i))]
  if (i % 4 === 2) return ['.svg', Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><text>${i}</text></svg>`)]
  const blocks = Array.from({ length: (i % 50) + 1 }, (_, n) => createHash('sha512').update(`${i} ${n}`).digest())
  return ['.bin', Buffer.concat(blocks)]
}
