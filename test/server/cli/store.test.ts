import fs from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { FIRST_PASSWORD } from '../../../config/first-start.ts'
import { RESTORING } from '../../../pipeline/store/backup/unfinished.ts'
import { connectWriter } from '../../../pipeline/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../pipeline/store/sqlite/store.ts'
import { put } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startProcess } from '../../support/process.ts'
import { run } from '../../support/program.ts'
import { startServer } from '../../support/server.ts'
import { runHere } from './real.ts'
import { scriptorium } from './terminal.ts'

const TWO = {
  SCRIPTORIUM_SITES:
    '[{ host: a.example, credentials: [{ user: u, key: sha256$' +
    `${'0'.repeat(64)} }] }, { host: "*.b.example", credentials: [{ user: u, key: sha256$${'0'.repeat(64)} }] }]`,
}

describe('command line: sites', () => {
  const sites = async () => [
    { name: 'www.example.org', files: 128, bytes: 13 * 1024 ** 2, unpublished: 2, changed: 0, isServed: true },
    { name: 'b.example', files: 1, bytes: 0, unpublished: 0, changed: 0, isServed: false },
    { name: 'new.example', files: 0, bytes: 0, unpublished: 0, isServed: true },
  ]

  it('lists what is stored, in columns', async () => {
    const { code, output } = await scriptorium(['sites'], { commands: { sites } })
    expect(code).to.equal(0)
    expect(output.split('\n')).to.deep.equal([
      'www.example.org  128 files  13.0 MiB  changed 1970-01-01T00:00Z  2 unpublished files on the mount',
      'b.example           1 file   0.0 MiB  changed 1970-01-01T00:00Z  not in the settings',
      'new.example        0 files   0.0 MiB  nothing stored',
      '',
    ])
  })

  it('answers in JSON', async () => {
    const { output } = await scriptorium(['sites', '--json'], { commands: { sites } })
    expect(JSON.parse(output)).to.deep.equal(await sites())
  })
})

describe('command line: which site', () => {
  it('a site that only the store knows is one to choose from', async () => {
    const commands = { stored: async () => ['a.example', 'x.b.example', 'gone.example'] }
    const { code, errors } = await scriptorium(['export', 'x'], { env: TWO, commands })
    expect(code).to.equal(2)
    expect(errors).to.include('choose a site with --site HOST (a.example, x.b.example), or write every one with --all')
  })

  it('--all writes each to a folder of its own', async () => {
    const seen: string[] = []
    const { code, output } = await scriptorium(['export', '--all', 'out'], {
      env: TWO,
      commands: {
        stored: async () => ['x.b.example'],
        async export(_, { site, directory }) {
          seen.push(`${site} ${directory}`)
          return { files: 1, bytes: 0, problems: site === 'a.example' ? ['/a is gone'] : [] }
        },
      },
    })
    expect(seen).to.deep.equal(['a.example /srv/out/a.example', 'x.b.example /srv/out/x.b.example'])
    expect(code).to.equal(1)
    expect(output).to.include('x.b.example: 1 file')
  })

  it('--all and --site exclude each other', async () => {
    expect((await scriptorium(['export', '--all', '--site', 'a', 'x'])).errors).to.include('exclude each other')
  })
})

describe('command line: migrate', () => {
  const run = async (from: string, to: string) => {
    const asked: string[] = []
    const migrate = async (_: unknown, { from, to }: { from: string; to: string }) => {
      asked.push(from, to)
      return { sites: [], files: 0, bytes: 0, found: 0 }
    }
    const { code, errors } = await scriptorium(['migrate', '--from', from, '--to', to], { commands: { migrate } })
    return { code, asked, errors }
  }

  it('folders are those of the working directory, and addresses stay as they are', async () => {
    const { code, asked } = await run('data', 'postgres://u@db/site')
    expect([code, asked]).to.deep.equal([0, ['/srv/data', 'postgres://u@db/site']])
  })

  for (const mistyped of [
    'postgres://u:secret@db/s?connections=many',
    'postgress://u:secret@db/s',
    'postgres:/u:secret',
  ])
    it(`${mistyped} is no folder, and its password is not shown`, async () => {
      for (const [option, from, to] of [
        ['--from', mistyped, 'data'],
        ['--to', 'data', mistyped],
      ] as const) {
        const { code, asked, errors } = await run(from, to)
        expect([code, asked]).to.deep.equal([2, []])
        expect(errors).to.include(`${option} is no address of a database`).and.to.not.include('secret')
      }
    })
})

describe('command line: a store that is real', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-cli-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const launcher = fileURLToPath(new URL('../../../server/launch.mjs', import.meta.url))
  const command = (...argv: string[]) => run(process.execPath, [launcher, ...argv], { cwd: folder })
  const commandHere = (...argv: string[]) => runHere(argv, folder)

  for (const argv of [['sites'], ['export', 'out'], ['check'], ['explain', 'GET', '/'], ['backup', 'out']])
    it(`${argv.join(' ')}: a folder without a store is an error, and stays as it is`, async () => {
      const { code, output } = await commandHere(...argv, '--data', 'mistyped')
      expect(code).to.equal(1)
      expect(output).to.equal(`scriptorium: there is no store in ${join(folder, 'mistyped')}\n`)
      expect(await readdir(folder)).to.deep.equal([])
    })

  it('a store that may not be looked at is told from none', async () => {
    const { statSync } = fs
    const path = join(folder, 'data/store.sqlite')
    const closed = (file: string) => {
      if (file === path) throw Object.assign(new Error(), { code: 'EACCES', path })
      return statSync(file, { throwIfNoEntry: false })
    }
    Object.assign(fs, { statSync: closed })
    syncBuiltinESMExports()
    try {
      const output = `scriptorium: no permission to use ${path}\n`
      expect(await commandHere('sites')).to.deep.equal({ code: 1, output })
    } finally {
      Object.assign(fs, { statSync })
      syncBuiltinESMExports()
    }
  })

  it('a mistyped host is told from a site without files, where hosts match a pattern', async () => {
    await mkdir(join(folder, 'files'))
    expect((await runHere(['import', '--site', 'a.example', 'files'], folder, TWO)).code).to.equal(0)
    const refused = { code: 1, output: 'scriptorium: nothing is stored of a site x.b.example\n' }
    expect(await runHere(['export', '--site', 'x.b.example', 'out'], folder, TWO)).to.deep.equal(refused)
    expect((await runHere(['export', '--site', 'a.example', 'out'], folder, TWO)).code).to.equal(0)
  })

  it('the data folder is no part of what is imported, wherever it lies', async () => {
    await mkdir(join(folder, 'below'))
    for (const name of ['a.txt', 'below/b.txt']) await writeFile(join(folder, name), 'x')
    const read = `localhost: 2 files, 0.0 MiB (${folder})\n`
    const told = `${join(folder, 'below/data')}: it is the data folder\n`
    expect(await commandHere('import', '.', '--data', 'below/data')).to.deep.equal({ code: 1, output: read + told })
    expect((await commandHere('sites', '--data', 'below/data')).output).to.match(/^localhost {2}2 files /)
    for (const inside of ['below/data', 'below/data/staging']) {
      const refused = `scriptorium: ${join(folder, inside)} is part of the data folder\n`
      expect(await commandHere('import', inside, '--data', 'below/data')).to.deep.equal({ code: 1, output: refused })
    }
  })

  it('DAV-70 files that desktop systems keep for themselves do not become part of a site that is imported', async () => {
    const helpers = ['.DS_Store', '._a.txt', '~$a.txt', '.Trashes/b.txt']
    for (const below of ['.Trashes', 'new']) await mkdir(join(folder, 'files', below), { recursive: true })
    for (const name of [...helpers, 'a.txt', 'new/~a.txt']) await writeFile(join(folder, 'files', name), 'x')
    const { code, output } = await commandHere('import', 'files')
    expect(code).to.equal(0)
    const left = 'without 4 files that desktop systems keep for themselves'
    expect(output).to.equal(`localhost: 2 files, 0.0 MiB (${join(folder, 'files')}), ${left}\n`)
    expect((await commandHere('sites')).output).to.match(/^localhost {2}2 files /)
  })

  it('what a kill leaves that the next server removes is a note of a check, and no problem', async () => {
    await writeFile(join(folder, 'a.txt'), 'x')
    await commandHere('import', '.')
    const unnamed = join('blobs', 'ab', 'c'.repeat(62))
    await mkdir(join(folder, 'data/blobs/ab'))
    await writeFile(join(folder, 'data', unnamed), 'x')
    const database = connectWriter(join(folder, 'data'))
    database.exec(`INSERT INTO blob VALUES ('${'d'.repeat(64)}', 1, '', '', 1)`)
    database.close()
    const notes = [
      `blob dddddddddddd: A blob that nothing refers to has lost its file`,
      `blob abcccccccccc: No row speaks of the file ${unnamed}`,
    ]
    const told = notes.map(note => `note: ${note}; the next server removes it\n`).join('')
    expect(await commandHere('check')).to.deep.equal({ code: 0, output: `${told}3 checked, 0 problems\n` })
    const repaired = `${notes.map(note => `${note} (repaired)\n`).join('')}3 checked, 2 problems, 2 repaired\n`
    expect(await commandHere('check', '--repair')).to.deep.equal({ code: 0, output: repaired })
    await writeFile(join(folder, 'data/blobs/ab/other'), 'x')
    expect((await commandHere('check')).code).to.equal(1)
  })

  it('what was saved while it was served is served elsewhere, rules included', async () => {
    const running = await startServer({ demo: true })
    try {
      const saved = await command('backup', 'saved', '--data', running.data)
      expect(saved.output).to.match(/^saved 1 site, \d+ files, [\d.]+ MiB; \d+ written \([\d.]+ MiB\): /)
      const again = await commandHere('backup', '-q', 'saved', '--data', running.data)
      expect(again).to.deep.equal({ code: 0, output: '' })
      const exported = await commandHere('export', 'saved', '--data', running.data)
      expect(exported.output).to.match(/^scriptorium: the folder .*saved is not empty; .*\n$/)
    } finally {
      await running.close()
    }
    expect((await commandHere('restore', '--check', 'saved')).output).to.match(/: 0 problems\n$/)
    const restored = await command('restore', 'saved', '--data', 'elsewhere')
    expect(restored.output).to.match(/^restored 1 site, /)
    expect(await commandHere('restore', 'saved', '--data', 'elsewhere')).to.deep.equal(restored)
    expect((await commandHere('sites', '--data', 'elsewhere')).output).to.match(/^localhost +\d+ files /)
    const brand = { brand: 'acme' }
    const copy = await startProcess(folder, { data: join(folder, 'elsewhere'), defaults: brand })
    try {
      const settings = ['-c', 'settings.json', '--set', `listen.port=${copy.port}`]
      expect(await command('health', ...settings)).to.deep.equal({ code: 0, output: '{"status":"ok"}\n' })
      expect((await command('health', '--ready', ...settings)).code).to.equal(0)
      const http = client(copy.port)
      expect((await http('GET', '/styles/site.css')).text).to.equal(
        await readFile(new URL('../../../server/demo/site/styles/site.css', import.meta.url), 'utf8'),
      )
      expect((await http('GET', '/editors/')).status).to.equal(401)
    } finally {
      await copy.stop()
    }
    const gone = await command('health', '-c', 'settings.json', '--set', `listen.port=${copy.port}`)
    expect([gone.code, gone.output.includes('ECONNREFUSED')]).to.deep.equal([1, true])
  })

  it('nothing is written out into the data folder, by whatever name', async () => {
    await commandHere('import', '.')
    const inside = join(folder, 'data')
    await symlink(inside, join(folder, 'link'))
    const before = await readdir(inside)
    for (const [name, ...argv] of [
      ['data/saved/deep', 'backup'],
      ['link/saved', 'backup'],
      ['data/site.tar', 'backup'],
      ['data', 'export'],
      ['link/files', 'export'],
      ['data/new', 'migrate', '--from', 'data', '--to'],
    ] as [name: string, ...argv: string[]][]) {
      const { code, output } = await commandHere(...argv, name)
      expect(output, name).to.include(`${join(folder, name)} is part of the data folder; name a place outside of `)
      expect(code, name).to.equal(1)
    }
    expect(await readdir(inside)).to.deep.equal(before)
  })

  it('a backup is a folder or a tar archive: other files and the names of others are refused, and nothing is made', async () => {
    await writeFile(join(folder, 'file'), 'x')
    const before = await readdir(folder)
    for (const [argv, advice] of [
      [['backup', 'site.tar.gz'], `name ${join(folder, 'site')} or ${join(folder, 'site.tar')}`],
      [['backup', 'file'], `name ${join(folder, 'file')} or ${join(folder, 'file.tar')}`],
      [['restore', 'site.tgz'], 'unpack site.tgz, and name what comes of it'],
      [['restore', '--check', 'file'], 'unpack file, and name what comes of it'],
    ] as const) {
      const { code, errors } = await scriptorium([...argv], { cwd: folder })
      expect(code, argv.join(' ')).to.equal(2)
      expect(errors, argv.join(' ')).to.include(`a backup is a folder or a .tar file: ${advice}`)
    }
    expect(await readdir(folder)).to.deep.equal(before)
  })

  it('a backup is one file while somebody writes, and a site comes of it elsewhere', async () => {
    await mkdir(join(folder, 'data'), { mode: 0o700 })
    const running = await startServer({ data: join(folder, 'data') })
    let writing = true
    const writes = (async () => {
      for (let i = 0; writing; i++) await put(running, `/written-${i % 7}.txt`, `${i}`.repeat(100_000))
    })()
    try {
      await put(running, '/large.bin', Buffer.alloc(3_000_001, 7))
      expect((await command('backup', 'site.tar')).output).to.match(
        /^saved 1 site, \d+ files, .* written .*site\.tar\n$/,
      )
      expect((await commandHere('backup', '-q', 'site.tar')).output, 'again, over the first').to.equal('')
    } finally {
      writing = false
      await writes
      await running.close()
    }
    expect((await readdir(folder)).filter(name => /backup-|\.new$/.test(name))).to.deep.equal([])
    expect((await stat(join(folder, 'site.tar'))).mode & 0o077).to.equal(0)
    expect((await commandHere('restore', '--check', 'site.tar')).output).to.match(/: 0 problems\n$/)
    expect((await commandHere('restore', 'site.tar', '--data', 'from-file')).output).to.match(/^restored 1 site, /)
    expect((await commandHere('check', '--data', 'from-file')).output).to.match(/ 0 problems/)
    const copy = await startServer({ data: join(folder, 'from-file') })
    const large = await client(copy.port)('GET', '/large.bin')
    expect([large.status, large.body.equals(Buffer.alloc(3_000_001, 7))]).to.deep.equal([200, true])
    await copy.close()
  })

  it('half of a backup is not served, nor is a password made for it', async () => {
    const data = join(folder, 'data')
    const store = await openSqliteStore({ folder: data })
    await store.setSetting(RESTORING, 'x')
    await store.close()
    await writeFile(join(folder, 'site.yaml'), 'listen: { port: 0 }\nmount: { port: 0 }\n')
    const { code, output } = await command('serve', '-c', 'site.yaml', '--data', data, '--new-password')
    expect(code).to.equal(1)
    const half = 'holds half of a backup; run scriptorium restore again to finish'
    const checked = await commandHere('check', '--data', data)
    expect(checked).to.deep.include({ code: 1, output: `${data} ${half}\n0 checked, 1 problem\n` })
    expect(output).to.equal(`scriptorium: ${data} ${half}\n`)
    const after = await openSqliteStore({ folder: data })
    expect(await after.setting(FIRST_PASSWORD)).to.equal(undefined)
    await after.close()
  })
})
