import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { client } from '../support/http.ts'
import { freePort } from '../support/ports.ts'
import { startProcess } from '../support/process.ts'
import { mountingCommand } from '../support/small-disk.ts'

const LAUNCH = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

interface Ended {
  code: number | null
  out: string
  errors: string
}

/** Runs a program to its end. */
function ended(program: string, args: readonly string[], options: { uid?: number; gid?: number } = {}): Promise<Ended> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const heard = { out: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    heard.out += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    heard.errors += text
  })
  return new Promise(resolve => child.once('close', code => resolve({ code, ...heard })))
}

describe('a start that cannot succeed', () => {
  let folder: string
  let port: number

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-start-'))
    port = await freePort()
    const pem = (name: string) => {
      const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
      const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
      const args = [...request, '-keyout', key, '-out', cert, '-subj', '/CN=a', '-days', '1']
      execFileSync('openssl', args, { stdio: 'ignore' })
    }
    pem('one')
    pem('other')
    writeFileSync(join(folder, 'file'), 'x')
    writeFileSync(join(folder, 'empty'), '')
    writeFileSync(join(folder, 'torn.crt'), '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n')
    // What an earlier start left, on which days go bad.
    const server = await startProcess(folder, { data: join(folder, 'data') })
    await server.stop()
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** One sentence, which may name places below it; no trace, and nothing on the other stream. */
  function expectSentence({ code, out, errors }: Ended, says: RegExp): void {
    expect(errors.trimEnd()).to.match(says)
    expect(errors).not.to.match(/^\s+at /m)
    expect(errors.trimEnd().split('\n').length, errors).to.be.at.most(2)
    expect(out.replace(/^User editor, password \S+ \(shown only this once\)\n/, '')).to.equal('')
    expect(code).to.be.oneOf([1, 2])
  }

  const serve = (settings: Record<string, unknown>, uid?: number) => {
    const file = join(mkdtempSync(join(folder, 'settings-')), 'settings.json')
    writeFileSync(file, JSON.stringify({ listen: { port: 0 }, mount: { port: 0 }, ...settings }))
    const as = uid === undefined ? {} : { uid, gid: uid }
    return ended(process.execPath, [LAUNCH, 'serve', '--config', file], as)
  }
  const tls = (cert: string, key: string) => ({
    data: join(folder, 'tls'),
    tls: { cert: join(folder, cert), key: join(folder, key) },
  })
  const cases: [what: string, settings: () => Record<string, unknown>, says: RegExp][] = [
    [
      'a data folder that is a file',
      () => ({ data: join(folder, 'file') }),
      /^scriptorium: \S+file is a file, and must be a folder$/,
    ],
    [
      'a data folder below a file',
      () => ({ data: join(folder, 'file/x') }),
      /^scriptorium: \S+file(\/x)? is a file, and must be a folder$/,
    ],
    [
      'a data folder below /proc',
      () => ({ data: '/proc/nothing' }),
      /^scriptorium: no folder can be made at \/proc\/nothing$/,
    ],
    [
      'a PostgreSQL that does not answer',
      () => ({ postgres: `postgres://127.0.0.1:${port}/x`, redis: `redis://127.0.0.1:${port}` }),
      /^scriptorium: the database 127\.0\.0\.1:\d+\/x cannot be used: connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
    ],
    [
      'a certificate that is missing',
      () => tls('none', 'one.key'),
      /^scriptorium: the TLS certificate \S+none cannot be read: ENOENT/,
    ],
    [
      'a certificate that is a folder',
      () => tls('.', 'one.key'),
      /^scriptorium: the TLS certificate \S+ cannot be read: EISDIR/,
    ],
    [
      'a certificate that is empty',
      () => tls('empty', 'one.key'),
      /^scriptorium: the TLS certificate \S+empty cannot be used: /,
    ],
    [
      'a certificate that is torn',
      () => tls('torn.crt', 'one.key'),
      /^scriptorium: the TLS certificate \S+torn.crt cannot be used: /,
    ],
    ['a key that is missing', () => tls('one.crt', 'none'), /^scriptorium: the TLS key \S+none cannot be read: ENOENT/],
    ['a key that is none', () => tls('one.crt', 'file'), /^scriptorium: the TLS key \S+file cannot be used: /],
    [
      'a key of another certificate',
      () => tls('one.crt', 'other.key'),
      /^scriptorium: the TLS key \S+other.key does not belong to the certificate \S+one.crt: /,
    ],
  ]
  for (const [what, settings, says] of cases)
    it(`HTTP-172 ${what} is told in a sentence, and the process ends`, async () => {
      expectSentence(await serve(settings()), says)
    })

  /** What stands where a file or a folder of the store should be. */
  const damages: [what: string, name: string, says: RegExp][] = [
    ['a database that is a folder', 'store.sqlite', /^scriptorium: \S+store.sqlite is a folder, and must be a file$/],
    [
      'a journal of locks that is a folder',
      'locks.journal',
      /^scriptorium: The journal of locks cannot be opened: a folder stands where a file must be$/,
    ],
    ['a reserve that is a folder', 'reserve', /^scriptorium: \S+reserve is a folder, and must be a file$/],
    ['blobs that are a file', 'blobs', /^scriptorium: \S+blobs is a file, and must be a folder$/],
    ['a staging area that is a file', 'staging', /^scriptorium: \S+staging is a file, and must be a folder$/],
  ]
  for (const [what, name, says] of damages)
    it(`HTTP-172 ${what} is told in a sentence, and the process ends`, async () => {
      const data = join(mkdtempSync(join(folder, 'damaged-')), 'data')
      cpSync(join(folder, 'data'), data, { recursive: true })
      chmodSync(data, 0o700)
      const place = join(data, name)
      const isFolder = statSync(place).isDirectory()
      rmSync(place, { recursive: true })
      if (isFolder) writeFileSync(place, 'x')
      else mkdirSync(place)
      expectSentence(await serve({ data }), says)
    })

  it('HTTP-172 a database that is none is told in a sentence, and the process ends', async () => {
    const data = mkdtempSync(join(folder, 'damaged-'))
    writeFileSync(join(data, 'store.sqlite'), 'no database '.repeat(1000))
    expectSentence(
      await serve({ data }),
      /^scriptorium: .*the database in the data folder cannot be used: file is not a database$/,
    )
  })

  const yaml: [what: string, text: string, says: string][] = [
    ['a bracket that is never closed', 'a: [', '1:5: not valid YAML (BAD_INDENT)'],
    ['a tab', 'sites:\n\t- host: a', '2:1: not valid YAML (TAB_AS_INDENT)'],
    ['an indent too few', 'sites: [\n  - host: a\n bad: : :\n', '2:'],
    ['a list', '- 1', ': expected keys and values'],
    ['an unknown key', 'nosuch: 1', 'nosuch is not a known key'],
    ['a port that is a word', 'listen: { port: x }', 'listen.port: "x" is not a whole number'],
  ]
  for (const [what, text, says] of yaml)
    it(`HTTP-172 bad YAML, ${what}, is told in a sentence, and the process ends`, async () => {
      const file = join(mkdtempSync(join(folder, 'yaml-')), 'settings.yaml')
      writeFileSync(file, text)
      const told = await ended(process.execPath, [LAUNCH, 'serve', '--config', file])
      expectSentence(told, /^scriptorium: the settings cannot be used\n {2}\S.*$/)
      expect(told.errors).to.include(says)
    })

  // An administrator may write wherever the file system takes it: where none may be mounted, somebody else tries.
  const mounting = mountingCommand()
  for (const below of ['', '/x'])
    it(`HTTP-172 a read-only data folder${below && ', and one in it,'} is told in a sentence, and the process ends`, async () => {
      const closed = mkdtempSync(join(folder, 'closed-'))
      const says = /^scriptorium: no permission to (use \S+|write to the data folder)$/
      if (mounting === undefined) {
        execFileSync('chmod', ['a+rx', folder])
        execFileSync('chmod', ['555', closed])
        const uid = process.getuid?.() === 0 ? 65_534 : undefined
        expectSentence(await serve({ data: closed + below }, uid), says)
        return
      }
      const ports = '--set=listen.port=0 --set=mount.port=0'
      const script = `mount -t tmpfs -o ro tmpfs "$1" && "$2" "$3" serve ${ports} --data "$1${below}"; c=$?; umount -l "$1"; exit $c`
      const [program = '', ...args] = [...mounting, 'sh', '-c', script, 'sh', closed, process.execPath, LAUNCH]
      // What chmod does not mend is told otherwise, where the system says so.
      const mounted = below ? /^scriptorium: the file system of \S+ takes no writes$/ : says
      expectSentence(await ended(program, args), mounted)
    })
})

describe('a start without Redis', () => {
  it('EVT-81 goes on at once, says so in one line, reads, and refuses to write', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scriptorium-start-'))
    const redis = `redis://127.0.0.1:${await freePort()}`
    const server = await startProcess(folder, {
      ...{ data: join(folder, 'data'), redis, log: { format: 'json' } },
      sites: [{ host: 'localhost' }],
    })
    const told = server
      .everything()
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as { level: number; msg: string; err?: unknown })
    expect(told.map(({ level, msg }) => [level, msg])).to.deep.include([40, 'Redis is away'])
    for (const { err } of told) expect(err).to.equal(undefined)
    expect(server.everything()).not.to.match(/^\s+at /m)
    expect((await client(server.port)('GET', '/')).status).to.be.oneOf([200, 404])
    const health = await client(server.port)('GET', '/-platform/health/ready')
    expect([health.status, health.text]).to.deep.equal([503, '{"status":"unavailable","missing":["redis"]}'])
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})
