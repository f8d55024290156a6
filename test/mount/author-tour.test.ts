/** The tour of the README for authors, as it stands there: every command is run, and visitors are asked after each. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { eventually } from '../support/eventually.ts'
import { client } from '../support/http.ts'
import { run, succeed } from '../support/program.ts'
import { whyNoFuse } from './davfs2.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What visitors find after a command that begins like this: content by path, nothing where it is gone. */
type Found = readonly [command: RegExp, seen: Readonly<Record<string, string | undefined>>]

const HELLO = '<h1>Hello</h1>\n'
const MORNING = '<h1>Good morning</h1>\n'
const STYLE = 'h1 { color: teal }\n'

const ON_THE_DRIVE: Found[] = [
  [/^sudo mount/, { '/tour/hello.html': undefined }],
  [/^cp -r/, { '/tour/hello.html': HELLO, '/tour/look.css': STYLE }],
  [/^sed/, { '/tour/hello.html': MORNING, '/tour/look.css': STYLE }],
  [/^mv/, { '/tour/hello.html': undefined, '/tour/morning.html': MORNING }],
  [/^rm -r/, { '/tour/morning.html': undefined, '/tour/look.css': undefined }],
  [/^sudo umount/, { '/tour/look.css': undefined }],
]

const IN_CADAVER: Found[] = [
  [/^mkcol/, { '/tour/hello.html': undefined }],
  [/^mput/, { '/tour/hello.html': HELLO, '/tour/look.css': STYLE }],
  [/^edit/, { '/tour/hello.html': MORNING }],
  [/^move/, { '/tour/hello.html': undefined, '/tour/morning.html': MORNING }],
  [/^rmcol/, { '/tour/morning.html': undefined, '/tour/look.css': undefined }],
]

describe('The tour of the README for authors', function () {
  this.timeout(300_000)
  let home: string
  let server: Started
  let lines: string[]
  let dialogue: string[]

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'author-'))
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
    const blocks = blocksOf(sectionOf(readme, 'Edit it as a drive'))
    lines = (blocks[0] ?? '').split('\n').filter(line => line.trim() !== '')
    dialogue = (blocks[2] ?? '').split('\n').filter(line => line !== '')
    const [install, start] = (/^npm ci && npm start$/m.exec(readme)?.[0] ?? '').split(' && ')
    expect([install, start, blocks[1]?.trim()]).to.deep.equal(['npm ci', 'npm start', 'cadaver http://localhost:8081/'])
    server = await startAsTold(start ?? '', join(home, 'data'))
  })
  after(async () => {
    await server?.stop()
    await rm(home, { recursive: true, force: true })
  })

  const env = () => ({ HOME: home, USER: 'root', EDITOR: join(home, 'editor.sh') })
  const asHere = (command: string) =>
    command
      .replaceAll('http://localhost:8080/', server.site)
      .replaceAll('http://localhost:8081/', server.mount)
      .replaceAll('/mnt/bench', join(home, 'drive'))

  /** Files are uploaded after they are closed, so the visitors may come a moment too early. */
  async function visitorsSee(seen: Found[1], after: string): Promise<void> {
    const visitor = client(Number(new URL(server.site).port))
    for (const [path, content] of Object.entries(seen)) {
      await eventually(async () => {
        const { status, text } = await visitor('GET', path)
        expect(status === 404 ? undefined : text, `${path} after ${after}`).to.equal(content)
      })
    }
  }

  const obstacle = whyNoFuse()
  it(`with davfs2${obstacle === undefined ? '' : `, which cannot be tried here: ${obstacle}`}`, async () => {
    if (obstacle !== undefined) {
      expect(obstacle).to.match(/root|fuse/)
      return
    }
    const left = [...ON_THE_DRIVE]
    try {
      for (const line of lines) {
        const command = asHere(line)
        // The mount stays in the background, and would hold on to the output of whoever waits for it.
        const script = `sudo() { "$@"; }; { ${command.replace(/\s#.*$/, '')}; } > output 2>&1`
        const { code } = await run('bash', ['-c', script], {
          cwd: home,
          env: env(),
          input: `${server.user}\n${server.password}\n`,
        })
        const output = await readFile(join(home, 'output'), 'utf8')
        expect(code, `${command}\n${output}`).to.equal(0)
        const told = /^curl .*# (.*)$/.exec(line)?.[1]
        if (told !== undefined) expect(output).to.include(told)
        if (left[0]?.[0].test(line)) await visitorsSee(left.shift()?.[1] ?? {}, line)
      }
    } finally {
      if (left.length > 0) await run('umount', [join(home, 'drive')])
    }
    expect(left, 'commands that the README lacks').to.deep.equal([])
  })

  it('with cadaver', async () => {
    await succeed(
      'bash',
      ['-c', lines.find(line => line.startsWith('mkdir tour'))?.replace('mkdir', 'mkdir -p') ?? ''],
      { cwd: home },
    )
    // While the editor is open, nobody else may save.
    const other = `curl -s -o /dev/null -w '%{http_code}' -u "${server.user}:${server.password}" -T "$1" ${server.mount}tour/hello.html > "$HOME/other"`
    // cadaver looks at the second in which the file was changed: nobody edits this fast.
    const later = `touch -d '1 minute' "$1"`
    await writeFile(join(home, 'editor.sh'), `#!/bin/sh\n${other}\nsed -i 's/Hello/Good morning/' "$1"\n${later}\n`)
    await chmod(join(home, 'editor.sh'), 0o755)
    const terminal = openTerminal(asHere('cadaver http://localhost:8081/'), { cwd: home, env: env() })
    try {
      await terminal.until(/Username: $/)
      terminal.type(server.user)
      await terminal.until(/Password: $/)
      terminal.type(server.password)
      const left = [...IN_CADAVER]
      let previous = ''
      for (const line of dialogue) {
        const [, prompt = '', command = ''] = /^(dav:\S+>) (.*)$/.exec(line) ?? []
        const said = await terminal.until(new RegExp(`${prompt.replaceAll('/', '\\/')} $`))
        expect(said, `before ${command}`).not.to.match(/failed|error/i)
        if (left[0]?.[0].test(previous)) await visitorsSee(left.shift()?.[1] ?? {}, previous)
        terminal.type(command)
        previous = command
      }
      expect(await terminal.ended).to.equal(0)
      expect(left, 'commands that the README lacks').to.deep.equal([])
      expect(await readFile(join(home, 'other'), 'utf8')).to.equal('423')
    } finally {
      terminal.close()
    }
  })
})

function sectionOf(readme: string, title: string): string {
  const [, after = ''] = readme.split(`\n## ${title}\n`)
  return after.split('\n## ')[0] ?? ''
}

/** Contents of the blocks of code. */
function blocksOf(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^```\w*\n([\s\S]*?)^```$/gm), ([, code = '']) => code)
}

interface Started {
  site: string
  mount: string
  user: string
  password: string
  stop(): Promise<void>
}

/** Starts the server with a command of the README, on free ports, and reads what it prints. */
async function startAsTold(command: string, data: string): Promise<Started> {
  const script = `exec ${command} -- --port 0 --mount-port 0 --set data="$1"`
  // A group of its own, so that all of it is ended: npm starts a shell, which starts the server.
  const child = spawn('bash', ['-c', script, 'bash', data], { cwd: ROOT, detached: true })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', text => (output += text))
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
      if (/^ready: /m.test(output)) resolve()
    })
    void ended.then(() => reject(new Error(output)))
  })
  const [, site = '', mount = ''] = /^ready: site (\S+) mount (\S+)$/m.exec(output) ?? []
  const [, user = '', password = ''] = /^ {2}User (\S+), password (\S+)$/m.exec(output) ?? []
  return {
    site,
    mount,
    user,
    password,
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      await ended
    },
  }
}

/** A program on a terminal, as a person sits before one. */
function openTerminal(command: string, { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> }) {
  const child: ChildProcessWithoutNullStreams = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { ...process.env, ...env, TERM: 'dumb', LC_ALL: 'C.UTF-8' },
  })
  let unread = ''
  let look = () => {}
  child.stdout.setEncoding('utf8').on('data', text => {
    unread += text
    look()
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  return {
    ended,
    type: (line: string) => child.stdin.write(`${line}\n`),
    /** Waits until what was written ends in a prompt. @returns what was written since the last one */
    until: (prompt: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${prompt} in ${JSON.stringify(unread)}`)), 50_000)
        look = () => {
          if (!prompt.test(unread)) return
          clearTimeout(timer)
          look = () => {}
          const said = unread
          unread = ''
          resolve(said)
        }
        look()
      }),
    close: () => child.kill(),
  }
}
