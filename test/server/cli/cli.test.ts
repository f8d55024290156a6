import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { expect } from 'chai'
import { reference } from '../../../config/reference.ts'
import type { Settings } from '../../../config/schema.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { run } from '../../../server/cli/cli.ts'
import type { Commands, Explanation, Question, ServeOptions, TransferOptions } from '../../../server/cli/commands.ts'
import { indented } from '../../../server/cli/query.ts'
import { scriptorium } from './terminal.ts'

const COMMANDS = [
  'serve',
  'hash',
  'user',
  'sites',
  'check',
  'backup',
  'restore',
  'export',
  'import',
  'explain',
  'reactions',
  'outbound',
  'health',
  'query',
  'settings',
]

describe('command line: help', () => {
  for (const argv of [['--help'], ['-h'], ['help']]) {
    it(`${argv.join(' ')} lists the commands`, async () => {
      const { code, output, errors } = await scriptorium(argv)
      expect({ code, errors }).to.deep.equal({ code: 0, errors: '' })
      expect(output).to.match(/^Usage: scriptorium \[command\] \[options\]\n/)
      for (const command of COMMANDS) expect(output).to.match(new RegExp(`^  ${command} +[A-Z]`, 'm'))
    })
  }

  for (const command of COMMANDS) {
    it(`${command} --help shows usage, options and examples`, async () => {
      const { code, output, errors } = await scriptorium([command, '--help'])
      expect({ code, errors }).to.deep.equal({ code: 0, errors: '' })
      expect(output).to.match(new RegExp(`^Usage: scriptorium ${command} \\[options\\]`))
      expect(output).to.include('\nExamples:\n')
      expect(output).to.include('  -h, --help')
      expect((await scriptorium(['help', command])).output).to.equal(output)
    })
  }

  const LINES: [command: string, line: string][] = [
    ['serve', '  -c, --config FILE      Settings file (YAML or JSON); also SCRIPTORIUM_CONFIG'],
    ['serve', '  -p, --port PORT        Port of the public surface (8080); 0 takes a free one'],
    ['serve', '      --set KEY=VALUE    Any setting, such as log.level=debug; may be repeated'],
    ['serve', '      --print-config     Show the settings in force, without secrets, and end'],
    ['hash', '  -k, --key   Make a random access key instead; the key is shown only this once'],
    ['export', 'Usage: scriptorium export [options] FOLDER'],
    ['explain', 'Usage: scriptorium explain [options] METHOD PATH'],
    ['check', '      --repair         Repair what can be repaired without losing content'],
  ]
  for (const [command, line] of LINES) {
    it(`${command} --help has the line "${line.trim()}"`, async () => {
      expect((await scriptorium([command, '--help'])).output.split('\n')).to.include(line)
    })
  }

  it('lines fit a narrow window', async () => {
    for (const argv of [['--help'], ...COMMANDS.map(command => [command, '--help'])]) {
      const { output } = await scriptorium(argv)
      for (const line of output.split('\n')) expect(line.length, line).to.be.at.most(100)
    }
  })

  it('--version prints the version alone', async () => {
    expect((await scriptorium(['--version'])).output).to.match(/^\d+\.\d+\.\d+\n$/)
  })

  it('settings prints the reference', async () => {
    expect((await scriptorium(['settings'])).output).to.equal(reference())
  })
})

describe('command line: a reader who goes', () => {
  it('what a command has to say is lost, and what it does is done', async () => {
    const closed = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(), { code: 'EPIPE' })),
    })
    const terminal = { input: new PassThrough(), output: closed, errors: closed, env: {}, cwd: '/srv' }
    const ended = new Promise(resolve => closed.once('close', resolve))
    expect(await run(['--help'], {} as Commands, terminal)).to.equal(0)
    await ended
    expect(closed.errored).to.include({ code: 'EPIPE' })
  })
})

describe('command line: misuse', () => {
  const CASES: [argv: string[], message: string, help: string][] = [
    [['srve'], 'unknown command "srve"; did you mean serve?', 'scriptorium --help'],
    [['zzzz'], 'unknown command "zzzz"', 'scriptorium --help'],
    [['help', 'me'], 'unknown command "me"', 'scriptorium --help'],
    [['--prot', '9'], 'unknown option --prot; did you mean --port?', 'scriptorium serve --help'],
    [['-x'], 'unknown option -x', 'scriptorium serve --help'],
    [['--port'], '--port needs a value: --port PORT', 'scriptorium serve --help'],
    [['-p'], '-p needs a value: -p PORT', 'scriptorium serve --help'],
    [
      ['--port', '--print-config'],
      '--port is followed by --print-config, which looks like an option; write --port=--print-config if it is a value',
      'scriptorium serve --help',
    ],
    [['--print-config=yes'], '--print-config takes no value', 'scriptorium serve --help'],
    [['serve', 'now'], '"now" is too much', 'scriptorium serve --help'],
    [['export'], 'FOLDER is missing', 'scriptorium export --help'],
    [['explain', 'GET'], 'PATH is missing', 'scriptorium explain --help'],
    [['explain', 'GET', 'x'], '"x" is no path: paths begin with /', 'scriptorium explain --help'],
    [['explain', '/x', 'GET'], '"/x" is no method; write METHOD PATH', 'scriptorium explain --help'],
    [
      ['explain', '--role', 'a', 'GET', '/'],
      'an email or role belongs to a principal: add --as',
      'scriptorium explain --help',
    ],
    [['export', '--site', 'a b', 'x'], 'no site is configured for the host a b', 'scriptorium export --help'],
  ]
  for (const [argv, message, help] of CASES) {
    it(argv.join(' '), async () => {
      expect(await scriptorium(argv)).to.deep.equal({
        code: 2,
        output: '',
        errors: `scriptorium: ${message}\nTry "${help}".\n`,
      })
    })
  }
})

describe('command line: settings', () => {
  async function served(argv: string[], env: Record<string, string> = {}): Promise<[Settings, ServeOptions]> {
    let seen: [Settings, ServeOptions] | undefined
    const serve = async (settings: Settings, options: ServeOptions) => {
      seen = [settings, options]
    }
    const { code, errors } = await scriptorium(argv, { commands: { serve }, env })
    expect({ code, errors }).to.deep.equal({ code: 0, errors: '' })
    if (!seen) throw new Error('The server was not started.')
    return seen
  }

  it('without arguments the demo site is served', async () => {
    const [settings, options] = await served([])
    expect(settings.data).to.equal('/srv/data')
    expect(options).to.deep.include({ firstStart: true, newPassword: false })
  })

  it('options stand for settings and win over the environment', async () => {
    const argv = [
      '--port',
      '1',
      '--mount-port=2',
      '--host',
      '::1',
      '-d',
      'x',
      '--set',
      'log.level=debug',
      '--new-password',
    ]
    const [settings, options] = await served(argv, { SCRIPTORIUM_LISTEN_PORT: '9', SCRIPTORIUM_LOG_LEVEL: 'error' })
    expect(settings.listen).to.deep.equal({ host: '::1', port: 1 })
    expect(settings.mount).to.deep.equal({ port: 2 })
    expect(settings.data).to.equal('/srv/x')
    expect(settings.log.level).to.equal('debug')
    expect(options.newPassword).to.equal(true)
  })

  it('--new-password beside sites of somebody is refused: their users are in the settings', async () => {
    const env = { SCRIPTORIUM_SITES: '[{ host: a.example }]' }
    const { code, errors } = await scriptorium(['--new-password'], { env, commands: { serve: async () => {} } })
    expect(code).to.equal(2)
    expect(errors).to.include('"scriptorium user add NAME" replaces a password')
  })

  it('--set reaches lists, groups and entries', async () => {
    const [settings] = await served([
      '--set',
      `sites=[{ host: a.example, credentials: [{ user: u, key: ${'k'.repeat(22)} }] }]`,
      '--set',
      'sites[0].title=A = B',
      '--set=sites.0.cors=https://x.example,https://y.example',
      '--set',
      'mount={ path: /dav }',
    ])
    expect(settings.sites[0]).to.deep.include({ title: 'A = B', cors: ['https://x.example', 'https://y.example'] })
    expect(settings.mount).to.deep.equal({ path: '/dav' })
  })

  it('passwords in plain text are told of at the start, and by no other command', async () => {
    const env = { SCRIPTORIUM_SITES: '[{ host: a.example, credentials: [{ user: u, password: p }] }]' }
    const { errors } = await scriptorium([], { env, commands: { serve: async () => {} } })
    expect(errors).to.equal(
      'warning: sites[0].credentials[0].password stands in plain text: put what "scriptorium hash" prints there (environment variable SCRIPTORIUM_SITES)\n',
    )
    expect((await scriptorium(['sites'], { env, commands: { sites: async () => [] } })).errors).to.equal('')
  })

  const WRONG: [argv: string[], problem: string][] = [
    [['--port', 'x'], 'listen.port: "x" is not a whole number from 0 to 65535 (--port)'],
    [['--set', 'x=1'], '--set x: no such setting'],
    [['--set', 'log.levle=debug'], '--set log.levle: no such setting; did you mean log.level?'],
    [
      ['--set', 'sites[2].evens.retention=1h'],
      '--set sites[2].evens.retention: no such setting; did you mean sites[2].events.retention?',
    ],
    [['--set', 'listen'], '--set listen: expected key=value, such as --set listen.port=9000'],
    [['--set', 'workers=0'], 'workers: "0" is not a whole number from 1 to 64 (--set workers)'],
    [['-c', '/nowhere.yaml'], '/nowhere.yaml: there is no such file'],
  ]
  for (const [argv, problem] of WRONG) {
    it(`${argv.join(' ')} is refused`, async () => {
      expect(await scriptorium(argv)).to.deep.equal({
        code: 2,
        output: '',
        errors: `scriptorium: the settings cannot be used\n  ${problem}\n`,
      })
    })
  }

  it('the file comes from --config or SCRIPTORIUM_CONFIG, and --print-config shows it without secrets', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cli-'))
    try {
      const file = join(folder, 'site.yaml')
      await writeFile(file, 'sites: [{ host: a.example, title: T, credentials: [{ user: u, password: secret-1 }] }]')
      const { code, output } = await scriptorium(['--print-config', '-c', file])
      expect(code).to.equal(0)
      expect(output).to.include('title: T').and.to.not.include('secret-1')
      expect(await scriptorium(['serve', '--print-config'], { env: { SCRIPTORIUM_CONFIG: file } })).to.deep.equal({
        code: 0,
        output,
        errors: '',
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('doubts are told and do no harm', async () => {
    const { code, errors } = await scriptorium(['--print-config'], { env: { SCRIPTORIUM_QQ: '1' } })
    expect({ code, errors }).to.deep.equal({
      code: 0,
      errors: 'warning: environment variable SCRIPTORIUM_QQ names no setting\n',
    })
  })
})

describe('command line: failures of the system', () => {
  const CASES: [error: object, message: string][] = [
    [
      { code: 'EADDRINUSE', address: '127.0.0.1', port: 8080 },
      '127.0.0.1:8080 is taken by another program; choose another port with --port or --mount-port',
    ],
    [{ code: 'EACCES', port: 80 }, 'port 80 needs more rights; take a port above 1023'],
    [{ code: 'EACCES', path: '/srv/data' }, 'no permission to use /srv/data'],
    [{ code: 'EROFS', path: '/srv/data' }, 'the file system of /srv/data takes no writes'],
    [{ code: 'EADDRNOTAVAIL', address: '192.0.2.1', port: 1 }, '192.0.2.1 is no address of this machine (listen.host)'],
    [{ code: 'ENOENT', path: '/c.pem' }, 'there is no /c.pem'],
    [{ code: 'ENOSPC' }, 'no space left on the device'],
    [{ code: 'ENOSPC', path: '/srv/data/blob', dest: '/mnt/out' }, 'no space left on the device (/mnt/out)'],
    [{ code: 'EIO', path: '/srv/data' }, '/srv/data cannot be read or written: its disk fails'],
    [
      { code: 'EIO', path: '/srv/data/blob', dest: '/mnt/out' },
      '/srv/data/blob cannot be read, or /mnt/out not be written: a disk fails',
    ],
    [
      { code: 'EMFILE', path: '/srv/data/store.sqlite' },
      '/srv/data/store.sqlite cannot be opened: too many are open already; raise the limit (ulimit -n)',
    ],
    [{ code: 'ENAMETOOLONG', path: '/mnt/a' }, 'a name is longer than its file system takes: /mnt/a'],
    [{ errno: -constants.errno.EDQUOT, path: '/srv/data' }, 'no space left on the device (/srv/data)'],
    [new StoreError('failed', "EIO: i/o error, mkdir '/x'"), "the store cannot be used: EIO: i/o error, mkdir '/x'"],
    [
      new StoreError('failed', 'The body could not be written', {
        cause: Object.assign(new Error(), { code: 'EIO', path: '/srv/data/staging/1' }),
      }),
      '/srv/data/staging/1 cannot be read or written: its disk fails',
    ],
    [
      new StoreError('unwritable', 'The body could not be written', {
        cause: Object.assign(new Error(), { code: 'EIO', path: '/srv/data/staging/2' }),
      }),
      '/srv/data/staging/2 cannot be read or written: its disk fails',
    ],
    [
      new StoreError('unwritable', "EIO: i/o error, rename '/x'"),
      "the store cannot be used: EIO: i/o error, rename '/x'",
    ],
    [new StoreError('full', 'database or disk is full'), 'the store cannot be used: database or disk is full'],
  ]
  for (const [error, message] of CASES) {
    it(message, async () => {
      const serve = async () => {
        throw error instanceof Error ? error : Object.assign(new Error('raw'), error)
      }
      const result = await scriptorium([], { commands: { serve } })
      expect(result).to.deep.equal({ code: 1, output: '', errors: `scriptorium: ${message}\n` })
    })
  }

  it('anything unexpected shows its trace', async () => {
    const serve = async () => {
      throw new TypeError('what?')
    }
    const { code, errors } = await scriptorium([], { commands: { serve } })
    expect(code).to.equal(1)
    expect(errors).to.match(/^scriptorium: TypeError: what\?\n {4}at /)
  })
})

describe('command line: check', () => {
  const CASES: [problems: string[], repaired: number, code: number, output: string][] = [
    [[], 0, 0, '3 checked, 0 problems\n'],
    [['/a is torn'], 0, 1, '/a is torn\n3 checked, 1 problem\n'],
    [['/a is torn', '/b'], 2, 0, '/a is torn\n/b\n3 checked, 2 problems, 2 repaired\n'],
  ]
  for (const [problems, repaired, code, output] of CASES) {
    it(`${problems.length} problems, ${repaired} repaired: exit code ${code}`, async () => {
      const check = async () => ({ checked: 3, problems, repaired })
      expect(await scriptorium(['check'], { commands: { check } })).to.deep.equal({ code, output, errors: '' })
    })
  }

  it('--repair is handed on, progress shown', async () => {
    let asked: boolean | undefined
    const { errors } = await scriptorium(['check', '--repair'], {
      interactive: true,
      commands: {
        check: async (_, { repair, progress }) => {
          asked = repair
          progress({ step: 'reading', done: 1, total: 4 })
          return { checked: 4, problems: [], repaired: 0 }
        },
      },
    })
    expect(asked).to.equal(true)
    expect(errors).to.equal('\r\u001b[Kreading: 1 of 4 (25 %)\r\u001b[K')
  })
})

describe('command line: export and import', () => {
  const TWO = {
    SCRIPTORIUM_SITES:
      '[{ host: a.example, credentials: [{ user: u, password: p }] }, { host: "*.b.example", credentials: [{ user: u, password: p }] }, { host: c.example, credentials: [{ user: u, password: p }] }]',
  }
  const CASES: [argv: string[], env: Record<string, string>, site: string, directory: string][] = [
    [['backup'], {}, 'localhost', '/srv/backup'],
    [['--site', 'anything.example', 'backup'], {}, 'localhost', '/srv/backup'],
    [['-s', 'A.example.', '/backup'], TWO, 'a.example', '/backup'],
    [['-s', 'x.b.example', '.'], TWO, 'x.b.example', '/srv'],
  ]
  for (const command of ['export', 'import'] as const) {
    for (const [argv, env, site, directory] of CASES) {
      it(`${command} ${argv.join(' ')}: ${site} and ${directory}`, async () => {
        let seen: TransferOptions | undefined
        const work = async (_: Settings, options: TransferOptions) => {
          seen = options
          return { files: 2, bytes: 3 * 1024 ** 2, problems: [] }
        }
        const result = await scriptorium([command, ...argv], { commands: { [command]: work }, env })
        expect(result).to.deep.equal({ code: 0, output: `${site}: 2 files, 3.0 MiB (${directory})\n`, errors: '' })
        expect(seen).to.deep.include({ site, directory })
      })
    }
  }

  it('asks which of several sites', async () => {
    const { code, errors } = await scriptorium(['export', 'x'], { env: TWO })
    expect(code).to.equal(2)
    expect(errors).to.include('choose a site with --site HOST (a.example, c.example)')
  })

  it('problems are told and make the exit code 1', async () => {
    const work = async () => ({ files: 1, bytes: 0, problems: ['/a: no space'] })
    const { code, errors } = await scriptorium(['import', 'x'], { commands: { import: work } })
    expect({ code, errors }).to.deep.equal({ code: 1, errors: '/a: no space\n' })
  })
})

describe('command line: explain', () => {
  const explanation: Explanation = {
    allowed: false,
    status: 403,
    known: ['a@b.example', 'x', 'y', 'users'],
    reason: 'At tier 0 a Deny matches.',
    rules: [
      {
        document: '/r.html',
        place: 3,
        action: 'Deny',
        tier: 0,
        actor: '*',
        resource: '/plan.html',
        method: 'PUT',
        selector: '#todo',
        why: 'everybody; decides',
      },
    ],
  }

  it('SEC-5 hands the question on and prints the answer', async () => {
    let asked: Question | undefined
    const explain = async (_: Settings, question: Question) => {
      asked = question
      return explanation
    }
    const { code, output } = await scriptorium(
      [
        'explain',
        '-u',
        'u-7',
        '--email',
        'a@b.example',
        '--role',
        'x',
        '--role=y',
        '--selector',
        '#todo',
        'put',
        '/plan.html',
      ],
      { commands: { explain } },
    )
    expect(asked).to.deep.equal({
      site: 'localhost',
      method: 'PUT',
      path: '/plan.html',
      selector: '#todo',
      user: 'u-7',
      email: 'a@b.example',
      roles: ['x', 'y'],
    })
    expect(code).to.equal(1)
    expect(output.split('\n')).to.deep.equal([
      'PUT /plan.html (#todo) by u-7 (verified email a@b.example; role x, y) is refused with 403.',
      'At tier 0 a Deny matches.',
      'Known as a@b.example, x, y, users.',
      '',
      'Rules for this requester, method and path, the deciding ones first:',
      '  tier 0  Deny   *  PUT  /plan.html #todo',
      '          everybody; decides (rule 3 of /r.html)',
      '',
    ])
  })

  const spellings: [argv: string[], asked: Partial<Question>][] = [
    [
      ['--as', 'alice@example.com', '--method', 'put', '--path', '/x'],
      { user: 'alice@example.com', email: 'alice@example.com' },
    ],
    [['--as', 'alice', '--method=PUT', '--path=/x'], { user: 'alice', email: undefined }],
    [['--as', 'alice', '--email', 'a@example.com', 'PUT', '/x'], { user: 'alice', email: 'a@example.com' }],
    [
      ['--as', 'a@example.com', '--email', 'b@example.com', 'PUT', '/x'],
      { user: 'a@example.com', email: 'b@example.com' },
    ],
    [['--user', 'alice@example.com', 'PUT', '/x'], { user: 'alice@example.com', email: undefined }],
    [['--as', 'alice', '--role', 'editors', '--path', '/x', 'PUT'], { user: 'alice', roles: ['editors'] }],
    [['--method', 'PUT', '/x'], { user: undefined }],
  ]
  for (const [argv, expected] of spellings) {
    it(`SEC-5 understands ${argv.join(' ')}`, async () => {
      let asked: Question | undefined
      const explain = async (_: Settings, question: Question) => {
        asked = question
        return explanation
      }
      const { code, errors } = await scriptorium(['explain', ...argv], { commands: { explain } })
      expect(code, errors).to.equal(1)
      expect(asked).to.include({ method: 'PUT', path: '/x' })
      for (const [name, value] of Object.entries(expected))
        expect(asked?.[name as keyof Question], name).to.deep.equal(value)
    })
  }

  it('SEC-5 answers in JSON, and 0 when allowed', async () => {
    const answer = { allowed: true, known: [], also: 'And more.', reason: 'Default-GET.', rules: [] }
    const { code, output } = await scriptorium(['explain', '--json', 'GET', '/'], {
      commands: { explain: async () => answer },
    })
    expect(code).to.equal(0)
    expect(JSON.parse(output)).to.deep.equal(answer)
  })

  it('SEC-5 says what else a request takes, and no more than there is to say', async () => {
    const answer = { allowed: true, known: [], also: 'And more.', reason: 'Because.', rules: [] }
    const { output } = await scriptorium(['explain', 'MOVE', '/x'], { commands: { explain: async () => answer } })
    expect(output).to.equal('MOVE /x by an anonymous visitor is allowed.\nBecause.\nAnd more.\n')
  })
})

describe('command line: query', () => {
  it('SES-126 asks the site, and prints what comes back', async () => {
    const asked: unknown[] = []
    const query = async (_: Settings, evaluation: object) => {
      asked.push(evaluation)
      return { text: '[1,2.0]', isMarkup: false }
    }
    const { code, output } = await scriptorium(['query', '/a.html', '1 + 1'], { commands: { query } })
    expect({ code, output }).to.deep.equal({ code: 0, output: '[1,2.0]\n' })
    expect(asked[0]).to.include({ path: '/a.html', program: '1 + 1' })
  })

  it('SES-232 long results are indented, with numbers as they were written', () => {
    const long = 'x'.repeat(90)
    expect(indented(`{"a":[1,2.0],"b":"${long}, [\\"","c":{}}`)).to.equal(
      `{\n  "a": [1,2.0],\n  "b": "${long}, [\\"",\n  "c": {}\n}`,
    )
  })

  it('SES-236 a failure is told, with another exit code', async () => {
    const query = async () => {
      throw new Fault(400, 'BadRequest', 'It has failed.')
    }
    const { code, errors } = await scriptorium(['query', '/a.html', '1 +'], { commands: { query } })
    expect({ code, errors }).to.deep.equal({ code: 1, errors: 'It has failed.\n' })
  })

  it('a path begins with a slash', async () => {
    const { code, errors } = await scriptorium(['query', 'a.html', '1'])
    expect(code).to.equal(2)
    expect(errors).to.include('"a.html" is no path')
  })
})
