import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadSettings } from '../../../config/load.ts'
import { isStoredKey, verifyPassword } from '../../../config/passwords.ts'
import { type Situation, scriptorium } from './terminal.ts'

const YAML = `# The team's site
data: ./data # on the fast disk
sites:
  - host: [www.example.org, example.org]
    name: www.example.org
    credentials:
      # the editor in chief
      - { user: chief, key: ${'k'.repeat(22)} }
  - host: "*.example.net"
  - host: bare.example
`

describe('command line: user', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-user-'))
    file = join(folder, 'site.yaml')
    await writeFile(file, YAML, { mode: 0o640 })
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const user = (argv: string[], situation: Situation = {}) =>
    scriptorium(['user', '-c', file, ...argv], { cwd: folder, ...situation })
  const SITE = ['--site', 'example.org']
  const credentials = async (site = 0) => (await loadSettings({ file })).settings.sites[site]?.credentials ?? []

  it('MNT-3 refuses a name before it asks for a password', async () => {
    for (const name of ['a:b', 'a\u200bda', '\u0430da', 'x'.repeat(129)]) {
      const { code, errors, output } = await user(['add', name, ...SITE], { input: [] })
      expect(code, name).to.equal(2)
      expect(errors).to.include('is not a user name without colon')
      expect(output).to.equal('')
    }
  })

  it('adds one with the password that was typed, and leaves everything else as it is', async () => {
    const { code, output } = await user(['add', 'ada', ...SITE], { input: ['s3cret\n'] })
    expect(code).to.equal(0)
    expect(output).to.equal('added ada of www.example.org; a running server takes it on SIGHUP\n')
    const [chief, ada] = await credentials()
    expect([chief?.user, ada?.user, ada?.scope, ada?.write]).to.deep.equal(['chief', 'ada', ['/*'], true])
    expect(await verifyPassword('s3cret', ada?.password ?? '')).to.equal(true)
    const text = await readFile(file, 'utf8')
    const lines = (text: string) =>
      text
        .trimEnd()
        .replaceAll(/[[{] | [\]}]/g, at => at.trim())
        .split('\n')
    expect(lines(text)).to.include.members(lines(YAML))
    expect(text).to.not.include('s3cret')
    expect([(await stat(file)).mode & 0o777, await readdir(folder)]).to.deep.equal([0o640, ['site.yaml']])
  })

  it('of a site without any is not told that there are none, but that others have none', async () => {
    const warnings = (errors: string) => errors.match(/sites\[\d\] has no credentials/g)
    const listed = await user(['list', '--site', 'bare.example'])
    expect(warnings(listed.errors)).to.deep.equal(['sites[1] has no credentials', 'sites[2] has no credentials'])
    const added = await user(['add', 'ada', '--site', 'bare.example', '--key'])
    expect(added.code).to.equal(0)
    expect(warnings(added.errors)).to.deep.equal(['sites[1] has no credentials'])
  })

  it('makes passwords and keys, for a part of the site or for reading', async () => {
    const made = await user(['add', 'bo', ...SITE, '--generate', '--scope', '/a/*', '--scope=/b/*', '--read-only'])
    const password = /^password (\S+)$/m.exec(made.output)?.[1] ?? ''
    const key = /^key (\S+)$/m.exec((await user(['add', 'robot', ...SITE, '--key'])).output)?.[1] ?? ''
    const [, bo, robot] = await credentials()
    expect(await verifyPassword(password, bo?.password ?? '')).to.equal(true)
    expect([bo?.scope, bo?.write]).to.deep.equal([['/a/*', '/b/*'], false])
    expect([key.length, isStoredKey(robot?.key ?? ''), robot?.key?.startsWith('sha256$')]).to.deep.equal([
      32,
      true,
      true,
    ])
    expect((await user(['list', ...SITE])).output.split('\n')).to.deep.equal([
      'chief  /*  reads and writes  by key',
      'bo  /a/* /b/*  reads  by password',
      'robot  /*  reads and writes  by key',
      '',
    ])
  })

  it('changes one that is there, and removes it', async () => {
    expect((await user(['add', 'chief', ...SITE], { input: ['new\n'] })).output).to.include('changed chief')
    const [chief, none] = await credentials()
    expect([chief?.key, none]).to.deep.equal([undefined, undefined])
    expect((await user(['remove', 'chief', ...SITE])).output).to.include('removed chief of www.example.org')
    expect(await credentials()).to.deep.equal([])
    const { code, errors } = await user(['remove', 'chief', ...SITE])
    expect([code, errors.split('\n').at(-2)]).to.deep.equal([1, 'www.example.org has no user chief'])
  })

  it('adds several at once, each beside the others', async () => {
    const names = ['ada', 'bo', 'cy', 'di']
    const done = await Promise.all(names.map(name => user(['add', name, ...SITE, '--key'])))
    expect(done.map(({ code }) => code)).to.deep.equal([0, 0, 0, 0])
    expect((await credentials()).map(({ user }) => user)).to.have.members(['chief', ...names])
    expect(await readdir(folder)).to.deep.equal(['site.yaml'])
  })

  it('adds the first one of a site', async () => {
    await user(['add', 'ada', '--site', 'bare.example'], { input: ['x\n'] })
    expect((await credentials(2)).map(({ user }) => user)).to.deep.equal(['ada'])
  })

  it('JSON stays JSON', async () => {
    file = join(folder, 'site.json')
    await writeFile(file, '{"sites":[{"host":"a.example"}]}')
    await user(['add', 'ada'], { input: ['x\n'] })
    expect(JSON.parse(await readFile(file, 'utf8')).sites[0].credentials[0].user).to.equal('ada')
  })

  const REFUSED: [argv: string[], code: number, message: string][] = [
    [['list'], 2, 'choose a site with --site HOST (www.example.org, bare.example)'],
    [['add', 'ada', '--site', 'x.example.net'], 1, 'x.example.net has no entry of its own'],
    [['add', 'ada', '--site', 'other.example'], 2, 'no site is configured for the host other.example'],
    [['add', ...SITE], 2, 'NAME is missing'],
    [['drop', 'ada'], 2, '"drop" is not add, remove or list'],
    [['add', 'a:b', ...SITE], 2, '"a:b" is not a user name'],
    [['add', 'ada', ...SITE, '--scope', 'blog'], 2, 'sites[0].credentials[1].scope'],
  ]
  for (const [argv, code, message] of REFUSED)
    it(`${argv.join(' ')} is refused, and the file stays as it is`, async () => {
      const result = await user(argv, { input: ['x\n'] })
      expect(result.code, result.errors).to.equal(code)
      expect(result.errors).to.include(message)
      expect([await readFile(file, 'utf8'), await readdir(folder)]).to.deep.equal([YAML, ['site.yaml']])
    })

  it('credentials that come from the defaults are not hidden by one', async () => {
    const text = `defaults:\n  credentials: [{ user: all, key: ${'k'.repeat(22)} }]\nsites: [{ host: a.example }]\n`
    await writeFile(file, text)
    expect((await user(['add', 'ada'], { input: ['x\n'] })).errors).to.include('stand under "defaults"')
    expect(await readFile(file, 'utf8')).to.equal(text)
  })

  it('without a file there is nowhere to write', async () => {
    const { code, errors } = await scriptorium(['user', 'add', 'ada'])
    expect([code, errors.includes('name it with --config')]).to.deep.equal([2, true])
  })
})
