import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { openPostgresStore } from '../../../pipeline/store/postgres/store.ts'
import { page, rulesPage } from '../../support/content.ts'
import { sharedCluster } from '../../support/postgres.ts'
import { run } from '../../support/program.ts'
import { sharedObjects } from '../../support/swift.ts'
import { runHere } from './real.ts'
import { scriptorium } from './terminal.ts'

const LAUNCHER = fileURLToPath(new URL('../../../server/launch.mjs', import.meta.url))

const FILES: Readonly<Record<string, string | Buffer>> = {
  'index.html': page('<p>here</p>'),
  'in/rules.html': rulesPage(['*', 'GET', 'Deny', '/closed.html']),
  'large.bin': Buffer.alloc(700_000, 'x'),
}

describe('command line: a database', () => {
  let folder: string
  let url: string
  let schemas = 0
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-cli-'))
    url = (await sharedCluster()).url
    for (const [name, bytes] of Object.entries(FILES)) {
      await mkdir(join(folder, 'files', name, '..'), { recursive: true })
      await writeFile(join(folder, 'files', name), bytes)
    }
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** In a process of its own, which has to end by itself: each command once. */
  const command = (...argv: string[]) => run(process.execPath, [LAUNCHER, ...argv], { cwd: folder })
  const commandHere = (...argv: string[]) => runHere(argv, folder)
  const newSchema = () => `cli_${process.pid}_${++schemas}`
  const at = (schema: string) => `${url}?search_path=${schema}`

  /** Does something that must succeed, with the store of an address. */
  async function done(address: string, ...argv: string[]): Promise<string> {
    return succeeds(commandHere, address, ...argv)
  }

  /** The same in a process of its own. */
  async function doneApart(address: string, ...argv: string[]): Promise<string> {
    return succeeds(command, address, ...argv)
  }

  async function succeeds(how: typeof commandHere, address: string, ...argv: string[]): Promise<string> {
    const store = address.startsWith('postgres:') ? ['--set', `postgres=${address}`] : ['--data', address]
    const { code, output } = await how(...argv, ...store)
    expect(code, output).to.equal(0)
    return output
  }

  async function holdsAll(into: string): Promise<void> {
    for (const [name, bytes] of Object.entries(FILES))
      expect((await readFile(join(folder, into, name))).equals(Buffer.from(bytes)), name).to.equal(true)
  }

  it('import, sites, check, export, backup and restore work on it, and name it', async () => {
    const [one, two] = [at(newSchema()), at(newSchema())]
    await doneApart(one, 'import', 'files')
    expect(await doneApart(one, 'sites')).to.match(/^localhost {2}3 files /)
    expect(await doneApart(one, 'backup', 'saved.tar')).to.match(/^saved 1 site, 3 files, /)
    const name = `the database ${new URL(url).host}/postgres`
    const restored = await doneApart(two, 'restore', 'saved.tar')
    expect(restored)
      .to.match(/^restored 1 site, 3 files, /)
      .and.to.include(`: ${name}\n`)
    expect(await doneApart(two, 'check')).to.match(/^\d+ checked, 0 problems\n$/)
    await doneApart(two, 'export', 'exported')
    await holdsAll('exported')
    const closed = await command('explain', 'GET', '/closed.html', '--set', `postgres=${two}`)
    expect(closed.output).to.include('rule 1 of /in/rules.html')
    expect((await readdir(folder)).sort()).to.deep.equal(['exported', 'files', 'saved.tar'])
  })

  it('HTTP-172 a database that cannot be used is told in a sentence, also by check', async () => {
    const address = url.replace(/postgres$/, 'nothing')
    const { code, output } = await commandHere('check', '--set', `postgres=${address}`)
    const name = address.slice(address.indexOf('@') + 1)
    const says = `scriptorium: the database ${name} cannot be used: database "nothing" does not exist\n`
    expect({ code, output }).to.deep.equal({ code: 1, output: says })
  })

  it('everything moves there and back', async () => {
    const there = at(newSchema())
    await done('one', 'import', 'files')
    for (const [from, to, how] of [
      [join(folder, 'one'), there, commandHere],
      [there, 'two', command],
    ] as const) {
      const { code, output } = await how('migrate', '--from', from, '--to', to)
      expect(output).to.match(/^moved 1 site, 3 files, 0\.7 MiB\n$/)
      expect(code).to.equal(0)
    }
    for (const place of [there, 'two']) expect(await done(place, 'check')).to.match(/ 0 problems\n$/)
    await done('two', 'export', 'exported')
    await holdsAll('exported')
  })

  it('a restore and a move go on in a bucket that the database before has marked; another database is refused it', async () => {
    const objects = await sharedObjects()
    const bucket = ['--set', `blobs=${objects.url(`cli-${process.pid}`)}`]
    const [one, restored, moved, other] = [newSchema(), newSchema(), newSchema(), newSchema()].map(at)
    for (const [argv, address] of [
      [['import', 'files'], one],
      [['backup', 'saved'], one],
      [['restore', 'saved'], restored],
    ] as const)
      await done(String(address), ...argv, ...bucket)
    const migrated = await commandHere(
      ...['migrate', '--from', String(one), '--to', String(moved), '--set', `postgres=${one}`],
      ...bucket,
    )
    expect(migrated.code, migrated.output).to.equal(0)
    await doneApart(String(moved), 'export', 'exported', ...bucket)
    await holdsAll('exported')
    const refused = await command('import', 'files', '--set', `postgres=${other}`, ...bucket)
    expect(refused.code).to.equal(1)
    expect(refused.output).to.include('holds the large files of another database')
  })

  it('while servers use it, nothing is moved out of it, nor anything moved or restored into it', async () => {
    const schema = newSchema()
    await done('one', 'import', 'files')
    await done('one', 'backup', 'saved')
    const server = await openPostgresStore({ url, schema, shared: true, use: 'together' })
    try {
      for (const argv of [
        ['restore', 'saved', '--set', `postgres=${at(schema)}`],
        ['migrate', '--from', join(folder, 'one'), '--to', at(schema)],
        ['migrate', '--from', at(schema), '--to', join(folder, 'two')],
      ]) {
        const { code, output } = await commandHere(...argv)
        expect(code, output).to.equal(1)
        expect(output).to.match(/^scriptorium: .* is taken: another process uses it; end that first/)
      }
      expect(await server.sites()).to.deep.equal([])
    } finally {
      await server.close()
    }
  })

  it('--data beside it is refused: documents would not go where that says', async () => {
    for (const argv of [['restore', 'saved'], ['serve'], ['check']]) {
      const { code, errors } = await scriptorium([...argv, '--data', 'x', '--set', 'postgres=postgres://u@db/site'])
      expect(code, argv.join(' ')).to.equal(2)
      expect(errors).to.include('--data names a folder, but documents are in the database of postgres')
    }
  })
})
