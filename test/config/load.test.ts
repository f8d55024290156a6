import { expect } from 'chai'
import { loadSettings } from '../../config/load.ts'
import { loadText, problemsOf } from './loading.ts'

const set = (path: (string | number)[], value: unknown, origin = '--set') => ({ path, value, origin })

describe('settings: precedence', () => {
  const FILE = 'listen: { port: 1001 }\nlog: { level: warn }\n'
  const env = { SCRIPTORIUM_LISTEN_PORT: '1002' }
  const assignments = [set(['listen', 'port'], '1003')]
  const CASES: [what: string, port: number, load: () => ReturnType<typeof loadSettings>][] = [
    ['the default counts when nothing is written', 8080, () => loadSettings()],
    ['the file wins over the default', 1001, () => loadText(FILE)],
    ['the environment wins over the file', 1002, () => loadText(FILE, { env })],
    ['the command line wins over both', 1003, () => loadText(FILE, { env, assignments })],
    ['the command line wins over the environment', 1003, () => loadSettings({ env, assignments })],
    ['an empty variable counts as not set', 1001, () => loadText(FILE, { env: { SCRIPTORIUM_LISTEN_PORT: '' } })],
  ]
  for (const [what, port, load] of CASES) {
    it(what, async () => {
      expect((await load()).settings.listen.port).to.equal(port)
    })
  }

  it('keys of one group come from several sources', async () => {
    const { settings } = await loadText(FILE, { env: { SCRIPTORIUM_LOG_FORMAT: 'json' } })
    expect(settings.log).to.deep.include({ level: 'warn', format: 'json' })
  })

  it('a mount of a later source replaces that of the file', async () => {
    const { settings } = await loadText('mount: { path: /dav }', { env: { SCRIPTORIUM_MOUNT_PORT: '9' } })
    expect(settings.mount).to.deep.equal({ port: 9 })
  })

  it('two places for the mount in one source are refused', async () => {
    const env = { SCRIPTORIUM_MOUNT_PORT: '9', SCRIPTORIUM_MOUNT_PATH: '/dav' }
    expect(await problemsOf(loadSettings({ env }))).to.have.length(1)
  })
})

describe('settings: environment variables', () => {
  const TWO_SITES = 'sites: [{ host: a.example, credentials: [{ user: u, password: p }] }, { host: b.example }]'
  const CASES: [name: string, value: string, path: string, read: unknown][] = [
    ['SCRIPTORIUM_DATA', '/srv', 'data', '/srv'],
    ['SCRIPTORIUM_TRUST_PROXY', '10.0.0.0/8,::1', 'trustProxy', ['10.0.0.0/8', '::1']],
    ['SCRIPTORIUM_LOG', '{ level: error }', 'log.level', 'error'],
    ['SCRIPTORIUM_DEFAULTS_MAX_BODY', '2MiB', 'sites.1.maxBody', 2 * 1024 ** 2],
    ['SCRIPTORIUM_SITES_1_MAX_BODY', '3MiB', 'sites.1.maxBody', 3 * 1024 ** 2],
    ['SCRIPTORIUM_SITES_1_CORS', 'https://x.example, https://y.example', 'sites.1.cors.1', 'https://y.example'],
    ['SCRIPTORIUM_SITES_1_CORS', '["https://x.example"]', 'sites.1.cors.0', 'https://x.example'],
    ['SCRIPTORIUM_SITES_0_CREDENTIALS_0_PASSWORD', '[1,2', 'sites.0.credentials.0.password', '[1,2'],
    ['SCRIPTORIUM_SITES_1_CREDENTIALS_0', '{ user: x, password: "y" }', 'sites.1.credentials.0.user', 'x'],
    ['SCRIPTORIUM_SITES_2_HOST', 'c.example', 'sites.2.host.0', 'c.example'],
    ['SCRIPTORIUM_SITES', '[{ host: z.example }]', 'sites.0.host.0', 'z.example'],
    ['SCRIPTORIUM_SITES_0_HELPER_FILES_KEEP_PUBLISHED', '3s', 'sites.0.helperFiles.keepPublished', 3000],
  ]
  for (const [name, value, path, read] of CASES) {
    it(`${name}=${value}`, async () => {
      const { settings } = await loadText(TWO_SITES, { env: { [name]: value } })
      const found = path
        .split('.')
        .reduce<unknown>((place, step) => (place as Record<string, unknown>)?.[step], settings)
      expect(found).to.deep.equal(read)
    })
  }

  it('a whole list is assigned before its entries, whatever the order of the variables', async () => {
    const env = { SCRIPTORIUM_SITES_0_TITLE: 'T', SCRIPTORIUM_SITES: '[{ host: z.example }]' }
    const { settings } = await loadSettings({ env })
    expect(settings.sites[0]).to.deep.include({ host: ['z.example'], title: 'T' })
  })

  it('an entry beyond the end is refused', async () => {
    const problems = await problemsOf(loadSettings({ env: { SCRIPTORIUM_SITES_4_HOST: 'x' } }))
    expect(problems).to.deep.equal([
      'sites[4]: there are only 0 entries before it (environment variable SCRIPTORIUM_SITES_4_HOST)',
    ])
  })

  it('a wrong value names the variable', async () => {
    const problems = await problemsOf(loadSettings({ env: { SCRIPTORIUM_WORKERS: 'many' } }))
    expect(problems).to.deep.equal([
      'workers: "many" is not a whole number from 1 to 64 (environment variable SCRIPTORIUM_WORKERS)',
    ])
  })

  const UNKNOWN: [name: string, warning: string | undefined][] = [
    [
      'SCRIPTORIUM_LOGLEVEL',
      'environment variable SCRIPTORIUM_LOGLEVEL names no setting; did you mean SCRIPTORIUM_LOG_LEVEL?',
    ],
    ['SCRIPTORIUM_QQ', 'environment variable SCRIPTORIUM_QQ names no setting'],
    ['SCRIPTORIUM_CONFIG', undefined],
    ['SCRIPTORIUM_PORT', undefined],
    ['SCRIPTORIUM_PORT_8080_TCP_ADDR', undefined],
    ['SCRIPTORIUM_WEB_SERVICE_HOST', undefined],
    ['OTHER_LISTEN_PORT', undefined],
  ]
  for (const [name, warning] of UNKNOWN) {
    it(`${name} ${warning === undefined ? 'is left alone' : 'gives a warning'}`, async () => {
      const { warnings } = await loadSettings({ env: { [name]: 'x' } })
      expect(warnings).to.deep.equal(warning === undefined ? [] : [warning])
    })
  }
})

describe('settings: defaults of sites', () => {
  const FILE = `
defaults:
  maxBody: 1MiB
  cors: [https://a.example]
  events: { retention: 1h, keptEvents: 5 }
  oidc: { issuer: https://id.example }
sites:
  - host: plain.example
  - host: own.example
    maxBody: 2MiB
    cors: []
    events: { retention: 2h }
    oidc: { clientId: own }
  - host: undone.example
    cors:
    oidc:
`
  it('a site says only what differs, groups are merged, lists replaced, and nothing undoes', async () => {
    const { settings } = await loadText(FILE)
    const [plain, own, undone] = settings.sites
    expect(plain).to.deep.include({ maxBody: 1024 ** 2, cors: ['https://a.example'] })
    expect(plain?.events).to.deep.include({ retention: 3_600_000, keptEvents: 5 })
    expect(own).to.deep.include({ maxBody: 2 * 1024 ** 2, cors: [] })
    expect(own?.events).to.deep.include({ retention: 7_200_000, keptEvents: 5 })
    expect(own?.oidc).to.deep.include({ issuer: 'https://id.example', clientId: 'own' })
    expect(undone).to.deep.include({ cors: [] })
    expect(undone?.oidc).to.equal(undefined)
  })

  it('a wrong default is reported once, where it stands', async () => {
    const text = 'defaults:\n  maxBody: huge\nsites: [{ host: a }, { host: b }]'
    expect(await problemsOf(loadText(text))).to.deep.equal([
      'defaults.maxBody: "huge" is not a size such as 1GiB, 64MiB, 500kB or a number of bytes (site.yaml:2)',
    ])
  })

  it('an unknown default is reported once, where it stands', async () => {
    const text = 'defaults: { maxbodies: 1 }\nsites: [{ host: a }]'
    expect(await problemsOf(loadText(text))).to.deep.equal([
      'defaults.maxbodies is not a known key (site.yaml:1); did you mean maxBody?',
    ])
  })
})

describe('settings: unknown keys', () => {
  const CASES: [text: string, problem: string][] = [
    ['sitez: []', 'sitez is not a known key (site.yaml:1); did you mean sites?'],
    ['listen:\n  prot: 1', 'listen.prot is not a known key (site.yaml:2); did you mean port?'],
    ['maxBody: 1', 'maxBody is not a known key (site.yaml:1); did you mean defaults.maxBody or sites[].maxBody?'],
    ['trust-proxy: true', 'trust-proxy is not a known key (site.yaml:1); did you mean trustProxy?'],
    ['zzz: 1', 'zzz is not a known key (site.yaml:1)'],
    ['__proto__: { x: 1 }', '__proto__ is not a known key (site.yaml:1)'],
    ['constructor: 1', 'constructor is not a known key (site.yaml:1)'],
    [
      'sites: [{ host: a, credential: 1 }]',
      'sites[0].credential is not a known key (site.yaml:1); did you mean credentials?',
    ],
  ]
  for (const [text, problem] of CASES) {
    it(JSON.stringify(text), async () => {
      expect(await problemsOf(loadText(text))).to.deep.equal([problem])
    })
  }

  it('all problems are told at once, each with its line', async () => {
    const text = 'listen:\n  port: x\nsites:\n  - host: a\n  - host: b\n    frame: y\n    drafs: 1\n'
    expect(await problemsOf(loadText(text))).to.deep.equal([
      'listen.port: "x" is not a whole number from 0 to 65535 (site.yaml:2)',
      'sites[1].frame: "y" is not any, none, self or a list of origins (site.yaml:6)',
      'sites[1].drafs is not a known key (site.yaml:7); did you mean drafts?',
    ])
  })
})

describe('settings: the file', () => {
  const CASES: [name: string, text: string, problem: string][] = [
    ['site.yaml', 'a: [', 'site.yaml:1:5: not valid YAML (BAD_INDENT): it stands too far to the left, or a bracket or'],
    ['site.yaml', 'data: x\ndata: y', 'site.yaml:2:1: not valid YAML (DUPLICATE_KEY): the key is there already'],
    [
      'site.yaml',
      'sites:\n  - host: a\n   title: b',
      '3:1: not valid YAML (MISSING_CHAR): it does not stand right below its',
    ],
    ['site.yaml', 'a: @b', '1:4: not valid YAML (BAD_SCALAR_START): put the value in quotes'],
    ['site.yaml', 'a: b: c', '1:4: not valid YAML (BLOCK_AS_IMPLICIT_KEY): put a value with a colon in quotes'],
    [
      'site.yaml',
      'a: "b" c',
      '1:8: not valid YAML (UNEXPECTED_TOKEN): this is more than belongs here; put the whole value in',
    ],
    [
      'site.yaml',
      'data ./data\na: b',
      '1:1: not valid YAML (MULTILINE_IMPLICIT_KEY): behind a key belong a colon and a blank',
    ],
    ['site.yaml', 'a: "C:\\q"', '1:7: not valid YAML (BAD_DQ_ESCAPE): in double quotes a backslash begins an escape'],
    ['site.yaml', 'sites: [{ host: *.example.org }]', 'Quote host patterns: host: "*.example.org"'],
    ['site.yaml', 'sites:\n  - host: *', 'Quote host patterns: host: "*.example.org"'],
    ['site.yaml', '- a', 'site.yaml: expected keys and values, such as "data: ./data"'],
    ['site.json', '{ "data": "x", }', 'site.json:1:16: not valid JSON'],
    ['site.json', 'data: x', 'site.json: not valid JSON'],
    ['site.toml', 'data = 1', 'site.toml: settings files end in .yaml, .yml or .json'],
  ]
  for (const [name, text, problem] of CASES) {
    it(`${name} with ${JSON.stringify(text)}`, async () => {
      const [first, ...others] = await problemsOf(loadText(text, {}, name))
      expect(first).to.include(problem)
      expect(others).to.deep.equal([])
    })
  }

  it('a file that is missing is named', async () => {
    expect(await problemsOf(loadSettings({ file: '/nowhere/site.yaml' }))).to.deep.equal([
      '/nowhere/site.yaml: there is no such file',
    ])
  })

  it('syntax errors do not quote the file, which may hold passwords', async () => {
    for (const [name, text] of [
      ['site.yaml', 'password: secret-1\n  : [}'],
      ['site.json', '{ "password": "secret-1" "x" }'],
    ]) {
      expect((await problemsOf(loadText(text ?? '', {}, name))).join()).to.not.include('secret-1')
    }
  })

  it('an empty file and one with a byte order mark are files', async () => {
    expect((await loadText('')).firstStart).to.equal(true)
    expect((await loadText('\uFEFFdata: /x')).settings.data).to.equal('/x')
    expect((await loadText('\uFEFF{"data":"/x"}', {}, 'a.json')).settings.data).to.equal('/x')
  })

  it('aliases are followed, a bomb of them is refused', async () => {
    const { settings } = await loadText('defaults: &d { maxBody: 1 }\nsites: [{ host: a, drafts: { settle: 1s } }]')
    expect(settings.sites[0]?.maxBody).to.equal(1)
    const levels = Array.from({ length: 9 }, (_, n) => `k${n + 1}: &k${n + 1} [${`*k${n},`.repeat(9)}]`)
    const bomb = ['k0: &k0 [1]', ...levels].join('\n')
    expect(await problemsOf(loadText(bomb))).to.have.length(1)
  })

  it('aliases of themselves, and of very much, are refused in one sentence', async () => {
    const much = `a: &a [${'x,'.repeat(20_000)}]\nb: [${'*a,'.repeat(90)}]`
    for (const text of ['a: &a [*a]', '&r\ndata: x\ndefaults: *r', 'sites:\n  - &s\n    host: a\n    oidc: *s', much]) {
      expect(await problemsOf(loadText(text))).to.deep.equal([
        'site.yaml: an alias (*) stands for itself, or aliases for too much',
      ])
    }
    const env = { SCRIPTORIUM_SITES: '[&s { host: a, oidc: *s }]' }
    expect((await problemsOf(loadSettings({ env }))).join()).to.include('sites: ')
  })

  it('sentences show no signs that a terminal obeys, and no password of a URL in the wrong place', async () => {
    expect(await problemsOf(loadText('log: { "a\\nb\\e[2J": 1 }'))).to.deep.equal([
      'log.a\\u000ab\\u001b[2J is not a known key (site.yaml:1)',
    ])
    for (const url of ['redis://u:secret-1@h/0', 'postgres://u@a,b/db?password=secret-1', 's3://id:secret-1/x@b']) {
      const problems = await problemsOf(loadSettings({ env: { SCRIPTORIUM_WORKERS: url } }))
      expect(problems.join()).to.include('workers: "').and.not.to.include('secret-1')
    }
  })
})

describe('settings: doubts', () => {
  const CASES: [text: string, warning: string][] = [
    [
      'sites:\n  - { host: "*", credentials: [{ user: u, password: p }] }\n  - { host: a.example, credentials: [{ user: u, password: p }] }',
      'sites[1] is never reached: sites[0] has the same hosts and comes first (site.yaml:3)',
    ],
    [
      'sites: [{ host: a.example }]',
      'sites[0] has no credentials: nobody can use its mount; "scriptorium user add NAME" adds some (site.yaml:1)',
    ],
    [
      'defaults: { oidc: { issuer: https://id.example } }',
      'sites[0].oidc needs issuer and clientId: signing in answers 503 until then',
    ],
  ]
  for (const [text, warning] of CASES) {
    it(warning, async () => {
      expect((await loadText(text)).warnings).to.deep.equal([warning])
    })
  }
})

describe('settings: first start', () => {
  for (const text of ['', 'sites: []', 'sites:', 'listen: { port: 0 }', 'defaults: { brand: mine }']) {
    it(`${JSON.stringify(text)} gets the demo site`, async () => {
      const { settings, firstStart, warnings } = await loadText(text)
      expect(firstStart).to.equal(true)
      expect(warnings).to.deep.equal([])
      expect(settings.sites).to.have.length(1)
      expect(settings.sites[0]).to.deep.include({ host: ['*'], name: 'localhost', brand: settings.defaults.brand })
    })
  }

  it('a site of the file is no first start', async () => {
    expect((await loadText('sites: [{ host: a }]')).firstStart).to.equal(false)
  })
})
