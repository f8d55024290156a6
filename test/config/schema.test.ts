import { expect } from 'chai'
import { loadSettings } from '../../config/load.ts'
import type { Settings } from '../../config/schema.ts'
import type { SiteEntry } from '../../config/site-schema.ts'
import { proxyTrust } from '../../edge/request.ts'
import { loadText, problemsOf } from './loading.ts'

const json = JSON.stringify

/** Key of the server, what is written, what the server gets. */
const GOOD: [key: string, written: unknown, read: unknown][] = [
  ['data', '/srv/data', '/srv/data'],
  ['listen', { host: '::', port: 0 }, { host: '::', port: 0 }],
  ['listen', { port: '9000' }, { host: '127.0.0.1', port: 9000 }],
  ['listen', null, { host: '127.0.0.1', port: 8080 }],
  ['mount', { port: 0 }, { port: 0 }],
  ['mount', { host: 'dav.{host}' }, { host: 'dav.{host}' }],
  ['mount', { host: 'dav-{host}' }, { host: 'dav-{host}' }],
  ['mount', { path: '/-platform/dav' }, { path: '/-platform/dav' }],
  ['trustProxy', 'on', true],
  ['trustProxy', 2, 2],
  ['trustProxy', '2', 2],
  ['trustProxy', ['10.0.0.0/8', '::1'], ['10.0.0.0/8', '::1']],
  ['trustProxy', '10.0.0.1, 10.0.0.2', ['10.0.0.1', '10.0.0.2']],
  ['redis', 'redis://127.0.0.1:6379/0', 'redis://127.0.0.1:6379/0'],
  ['redis', 'rediss://user:pass@cache.example:6380', 'rediss://user:pass@cache.example:6380'],
  ['redis', 'redis://a.example,b.example:7001', 'redis://a.example,b.example:7001'],
  ['redis', 'redis+sentinel://a.example,b.example/main?db=2', 'redis+sentinel://a.example,b.example/main?db=2'],
  ['postgres', 'postgres://u:p@db.example/site', 'postgres://u:p@db.example/site'],
  ['tls', { cert: '/etc/c.pem', key: '/etc/k.pem' }, { cert: '/etc/c.pem', key: '/etc/k.pem' }],
  ['log', { level: 'debug', format: 'json' }, { level: 'debug', format: 'json', clients: 'address', users: true }],
  [
    'log',
    { clients: 'network', users: 'no', audit: 'log' },
    { level: 'info', format: 'auto', clients: 'network', users: false, audit: 'log' },
  ],
  ['metrics', { public: 'yes' }, { public: true }],
  ['health', { public: false }, { public: false }],
  [
    'limits',
    {
      headers: '16KiB',
      headerWait: '24d',
      bodies: '64MiB',
      bodyIdle: '2m',
      leaseWait: '500ms',
      shutdown: '3s',
      writesPerMinute: 0,
    },
    {
      headers: 16384,
      headerWait: 2_073_600_000,
      bodies: 67_108_864,
      bodyIdle: 120_000,
      leaseWait: 500,
      shutdown: 3000,
      writesPerMinute: 0,
    },
  ],
]

/** Settings as they are written, and the whole message. */
const BAD: [written: object, message: string][] = [
  [{ data: '' }, 'data: "" is not the path of a folder'],
  [{ data: 7 }, 'data: 7 is not the path of a folder'],
  [{ listen: 8080 }, 'listen: 8080 is not a group of keys (host, port)'],
  [{ listen: { port: 65536 } }, 'listen.port: 65536 is not a whole number from 0 to 65535'],
  [{ listen: { port: 80.5 } }, 'listen.port: 80.5 is not a whole number from 0 to 65535'],
  [{ listen: { port: -1 } }, 'listen.port: -1 is not a whole number from 0 to 65535'],
  [{ listen: { host: 'a b' } }, 'listen.host: "a b" is not a host name or address to listen on'],
  [{ mount: {} }, 'mount needs exactly one of port, host, path'],
  [{ mount: { port: 1, path: '/dav' } }, 'mount needs exactly one of port, host, path'],
  [{ mount: { port: 8080 } }, 'mount.port: 8080 is not another port than listen.port'],
  [
    { mount: { host: 'dav.example' } },
    'mount.host: "dav.example" is not a host name in which {host} stands once for the host of the site, such as dav.{host}',
  ],
  [{ mount: { path: 'dav/' } }, 'mount.path: "dav/" is not a path such as /-platform/dav, without a slash at its end'],
  [
    { mount: { path: '/a/../b' } },
    'mount.path: "/a/../b" is not a path such as /-platform/dav, without a slash at its end',
  ],
  [
    { trustProxy: ['10.0.0.0/33'] },
    'trustProxy: ["10.0.0.0/33"] is not true, false, a number of proxies up to 16 or a list of addresses and networks such as 10.0.0.0/8',
  ],
  [
    { trustProxy: 17 },
    'trustProxy: 17 is not true, false, a number of proxies up to 16 or a list of addresses and networks such as 10.0.0.0/8',
  ],
  [
    { trustProxy: 1.5 },
    'trustProxy: 1.5 is not true, false, a number of proxies up to 16 or a list of addresses and networks such as 10.0.0.0/8',
  ],
  [
    { trustProxy: 'proxy.example' },
    'trustProxy: "proxy.example" is not true, false, a number of proxies up to 16 or a list of addresses and networks such as 10.0.0.0/8',
  ],
  [
    { redis: 'http://localhost' },
    'redis: the given value (not shown) is not a URL such as redis://127.0.0.1:6379/0 (rediss:// for TLS, several hosts for a cluster, redis+sentinel://host,host/name)',
  ],
  [
    { postgres: 'localhost' },
    'postgres: the given value (not shown) is not a URL such as postgres://user:password@host:5432/database',
  ],
  [{ blobs: 's3://bucket/site' }, 'blobs needs postgres: the embedded store keeps large files in its folder'],
  [
    { postgres: 'postgres://u@db/site', blobs: '/mnt/files' },
    'blobs: the given value (not shown) is not a URL such as s3://bucket/prefix?endpoint=https://s3.example.org',
  ],
  [{ workers: 0 }, 'workers: 0 is not a whole number from 1 to 64'],
  [{ workers: 2 }, 'workers: 2 is not 1, unless redis is set'],
  [{ tls: { cert: 'c.pem' } }, 'tls.key is missing; expected the path of a key file'],
  [{ log: { level: 'loud' } }, 'log.level: "loud" is not one of trace, debug, info, warn, error, fatal, silent'],
  [{ metrics: { public: 'maybe' } }, 'metrics.public: "maybe" is not true or false (on and off will do)'],
  [
    { limits: { headerWait: 60 } },
    'limits.headerWait: 60 is not a time with a unit of at most 24d, such as 12h, 10m, 60s or 250ms',
  ],
  // A timer that is told to wait for longer does not wait at all.
  ...(
    [
      ['limits', 'headerWait'],
      ['limits', 'bodyIdle'],
      ['limits', 'leaseWait'],
      ['limits', 'shutdown'],
      ['javascript', 'time'],
    ] as const
  ).map(([group, key]): [object, string] => [
    { [group]: { [key]: '25d' } },
    `${group}.${key}: "25d" is not a time with a unit of at most 24d, such as 12h, 10m, 60s or 250ms`,
  ]),
  ...[0, '1023'].map((headers): [object, string] => [
    { limits: { headers } },
    `limits.headers: ${json(headers)} is not a size of at least 1KiB such as 1GiB, 64MiB, 500kB or a number of bytes`,
  ]),
  [{ sites: {} }, 'sites: the given value (not shown) is not a list of groups of keys (host, name, title, brand …)'],
  [
    { sites: [{}] },
    'sites[0].host is missing; expected a list, or a host name such as www.example.org, an address, or a pattern such as "*.example.org" (wildcards *, ? and {a,b}, at most 3 stars; no port)',
  ],
]

/** Key of a site, what is written, what the server gets. */
const GOOD_SITE: [key: string, written: unknown, read: unknown][] = [
  ['host', 'WWW.Example.org', ['www.example.org']],
  ['host', 'bücher.example', ['xn--bcher-kva.example']],
  ['host', '[::0:1]', ['[::1]']],
  ['host', ['a.example', '*.b.example'], ['a.example', '*.b.example']],
  ['host', '{a,b}.example', ['{a,b}.example']],
  ['name', 'main', 'main'],
  ['title', 'Ein Titel', 'Ein Titel'],
  ['brand', 'my-site2', 'my-site2'],
  ['ns', 'http://x.example:81/vocabulary/1', 'http://x.example:81/vocabulary/1'],
  ['errorNs', 'https://x.example/errors', 'https://x.example/errors'],
  ['schemaHost', 'https://s.example', 'https://s.example'],
  ['defaultGet', 'deny', 'deny'],
  ['declarationsIn', ['/_config/*'], ['/_config/*']],
  ['maxBody', '1GiB', 1024 ** 3],
  ['maxBody', '1.5 MiB', 1.5 * 1024 ** 2],
  ['maxBody', 1000, 1000],
  ['maxBody', 0, 0],
  ['maxDocument', '64 mib', 64 * 1024 ** 2],
  ['maxDocument', '10MB', 10_000_000],
  ['quota', '10GiB', 10 * 1024 ** 3],
  ['quota', 0, 0],
  ['sessionContentMax', '1KiB', 1024],
  ['allowOutbound', true, true],
  ['locksBindPublicWrites', 'on', true],
  ['mountReactions', 'off', false],
  ['mountStrictParents', 'TRUE', true],
  ['cors', ['https://a.example', 'http://b.example:8080'], ['https://a.example', 'http://b.example:8080']],
  ['cors', 'https://a.example', ['https://a.example']],
  ['cors', null, []],
  ['credentials', [{ user: 'ä', password: 'p' }], [{ user: 'ä', password: 'p', scope: ['/*'], write: true }]],
  [
    'credentials',
    [{ user: 'ci', key: 'abcdefghijklmnopqrstuv', scope: '/blog/*', write: false }],
    [{ user: 'ci', key: 'abcdefghijklmnopqrstuv', scope: ['/blog/*'], write: false }],
  ],
  ['oidc', { issuer: 'https://id.example' }, oidc({ issuer: 'https://id.example' })],
  ['oidc', { tokenAuth: 'none', endSession: 'on' }, oidc({ tokenAuth: 'none', endSession: true })],
  ['authAliases', false, false],
  ['publicUrl', 'https://{host}:8443', 'https://{host}:8443'],
  ['sessions', 'external', { idle: 30 * 86_400_000, signedIn: 30 * 86_400_000, external: true, embedded: false }],
  [
    'sessions',
    { idle: '12h', signedIn: '1d' },
    { idle: 43_200_000, signedIn: 86_400_000, external: false, embedded: false },
  ],
  ['referrerPolicy', 'no-referrer', 'no-referrer'],
  ['hsts', 'off', false],
  ['hsts', false, false],
  ['hsts', 'max-age=60; includeSubDomains; preload', 'max-age=60; includeSubDomains; preload'],
  ['frame', 'self', 'self'],
  ['frame', 'https://a.example', ['https://a.example']],
  ['frame', ['https://a.example'], ['https://a.example']],
  ['drafts', { settle: '5s' }, { settle: 5000 }],
]

function oidc(given: object): object {
  return { scopes: 'openid email profile', rolesClaim: 'roles', endSession: false, authCallback: false, ...given }
}

const HOST =
  'a host name such as www.example.org, an address, or a pattern such as "*.example.org" (wildcards *, ? and {a,b}, at most 3 stars; no port)'
const VOCABULARY = 'an http or https URL without a slash at its end, such as https://platform.example/ns'
const PASSWORD =
  'a password of 1 to 1024 characters, or a whole hash made by "scriptorium hash" (put it in single quotes)'

/** Settings of a site as they are written, and the whole message after `sites[0].`. */
const USER = 'a user name without colon, invisible characters, or look-alikes of ordinary ones'

/** User names that nobody can tell from others, and how messages show them. */
const NO_NAMES: [user: string, shown: string][] = [
  ['\u0430da', '\u0430da'],
  ['p\u0430ypal', 'p\u0430ypal'],
  ['\u039fmega', '\u039fmega'],
  ['ad\u13aa', 'ad\u13aa'],
  ['\u0430\u13aa', '\u0430\u13aa'],
  ['a:b', 'a:b'],
  ['ad\u200bmin', 'ad\\u200bmin'],
  ['admin\u200d', 'admin\\u200d'],
  ['\ufeffadmin', '\\ufeffadmin'],
  ['ad\u00admin', 'ad\\u00admin'],
  ['\u202enimda', '\\u202enimda'],
  ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
  ['ada\u061c', 'ada\\u061c'],
  ['ad\u0085a', 'ad\\u0085a'],
  ['ad\u2028a', 'ad\\u2028a'],
  ['ada\ufe0f', 'ada\\ufe0f'],
  ['ada\u3164', 'ada\\u3164'],
  ['ada\u{e0041}', 'ada\\udb40\\udc41'],
  ['ada\ue000', 'ada\\ue000'],
  ['a\u00a0b', 'a\u00a0b'],
  [' ada', ' ada'],
  ['ada ', 'ada '],
  ['ada  b', 'ada  b'],
  ['\uff41da', '\uff41da'],
  ['\u{1d41a}da', '\u{1d41a}da'],
  ['\ufb01n', '\ufb01n'],
]

const escaped = (text: string) =>
  text.replaceAll(/[^!-~ ]/gu, each => `U+${each.codePointAt(0)?.toString(16).padStart(4, '0')}`)

const BAD_SITE: [written: object, message: string][] = [
  [{ host: 'a b' }, `host: "a b" is not ${HOST}`],
  [{ host: 'a.example:80' }, `host: "a.example:80" is not ${HOST}`],
  [{ host: ['a.example', '-b'] }, `host[1]: "-b" is not ${HOST}`],
  [{ host: '*a*a*a*' }, `host: "*a*a*a*" is not ${HOST}`],
  [{ host: '{1..9}.example' }, `host: "{1..9}.example" is not ${HOST}`],
  [{ host: '{{a,b}' }, `host: "{{a,b}" is not ${HOST}`],
  [{ host: '*.example/x' }, `host: "*.example/x" is not ${HOST}`],
  [{ host: [] }, 'host: [] is not a list with at least one host'],
  [{ name: 'A' }, 'name: "A" is not a name of lower-case letters, digits, -, _ and dots'],
  [{ title: '' }, 'title: "" is not text of at most 200 characters'],
  [{ title: 'a\u0007' }, 'title: "a\\u0007" is not text of at most 200 characters'],
  [{ brand: 'Platform' }, 'brand: "Platform" is not a word of lower-case letters and digits, parts joined by -'],
  [{ brand: 'a--b' }, 'brand: "a--b" is not a word of lower-case letters and digits, parts joined by -'],
  [{ ns: 'https://x.example/ns/' }, `ns: "https://x.example/ns/" is not ${VOCABULARY}`],
  [{ ns: 'urn:x' }, `ns: "urn:x" is not ${VOCABULARY}`],
  [{ ns: 'https://x.example/"' }, `ns: "https://x.example/\\"" is not ${VOCABULARY}`],
  [{ errorNs: 7 }, `errorNs: 7 is not ${VOCABULARY}`],
  [{ schemaHost: 'schema.org' }, `schemaHost: "schema.org" is not ${VOCABULARY}`],
  [{ defaultGet: 'Allow' }, 'defaultGet: "Allow" is not one of allow, deny'],
  [{ declarationsIn: [] }, 'declarationsIn: [] is not a list with at least one path pattern'],
  [{ maxBody: '1G' }, 'maxBody: "1G" is not a size such as 1GiB, 64MiB, 500kB or a number of bytes'],
  [{ maxBody: -1 }, 'maxBody: -1 is not a size such as 1GiB, 64MiB, 500kB or a number of bytes'],
  [{ maxBody: '0.5B' }, 'maxBody: "0.5B" is not a size such as 1GiB, 64MiB, 500kB or a number of bytes'],
  [{ maxBody: '99999999TiB' }, 'maxBody: "99999999TiB" is not a size such as 1GiB, 64MiB, 500kB or a number of bytes'],
  [{ mountReactions: 1 }, 'mountReactions: 1 is not true or false (on and off will do)'],
  [
    { cors: ['https://a.example/'] },
    'cors[0]: "https://a.example/" is not an origin such as https://www.example.org (scheme, host and port, no path)',
  ],
  [{ cors: '*' }, 'cors: "*" is not an origin such as https://www.example.org (scheme, host and port, no path)'],
  [{ credentials: [{ password: 'p' }] }, `credentials[0].user is missing; expected ${USER}`],
  [{ credentials: [{ user: 'a' }] }, 'credentials[0] needs a password or a key'],
  [
    { credentials: [{ user: 'a', password: 1234 }] },
    `credentials[0].password: the given value (not shown) is not ${PASSWORD}`,
  ],
  [
    { credentials: [{ user: 'a', password: 'scrypt$3$8$1$aaaa$bbbb' }] },
    `credentials[0].password: the given value (not shown) is not ${PASSWORD}`,
  ],
  [
    { credentials: [{ user: 'a', key: 'short' }] },
    'credentials[0].key: the given value (not shown) is not an access key of at least 22 letters, digits, "-" or "_", or its hash (both made by "scriptorium hash --key")',
  ],
  [
    { credentials: [{ user: 'a', password: 'p', scope: ['blog'] }] },
    'credentials[0].scope[0]: "blog" is not a path pattern that begins with / (such as /* or /blog/*)',
  ],
  [
    { credentials: [{ user: 'a', password: 'p', scope: [] }] },
    'credentials[0].scope: [] is not a list with at least one path pattern',
  ],
  [
    {
      credentials: [
        { user: 'a', password: 'p' },
        { user: 'a', password: 'q' },
      ],
    },
    'credentials[1].user: "a" is not a user name that no other credential has',
  ],
  // Two ways to write the same name: signing in could not tell them apart.
  [
    {
      credentials: [
        { user: 'Zo\u00eb', password: 'p' },
        { user: 'Zoe\u0308', password: 'q' },
      ],
    },
    'credentials[1].user: "Zoe\u0308" is not a user name that no other credential has',
  ],
  // The second one in Cyrillic letters.
  [
    {
      credentials: [
        { user: 'cop', password: 'p' },
        { user: '\u0441\u043e\u0440', password: 'q' },
      ],
    },
    'credentials[1].user: "\u0441\u043e\u0440" is not a user name that no other credential has',
  ],
  [
    { credentials: 'editor:secret' },
    'credentials: the given value (not shown) is not a list of groups of keys (user, password, key, scope …)',
  ],
  [
    { oidc: { issuer: 'id.example' } },
    'oidc.issuer: "id.example" is not an http or https URL (the issuer, or the full URL of its configuration document)',
  ],
  [{ oidc: { scopes: 'email' } }, 'oidc.scopes: "email" is not scopes separated by spaces, openid among them'],
  [
    { publicUrl: 'https://a.example/x' },
    'publicUrl: "https://a.example/x" is not an origin such as https://www.example.org, in which {host} stands for the host of the request',
  ],
  [
    { name: 'a', publicUrl: 'https://{host}' },
    'publicUrl: "https://{host}" is not one origin without {host}, because the entry is one site with a name',
  ],
  [{ sessions: { idle: 30 } }, 'sessions.idle: 30 is not a time with a unit, such as 30d, 12h, 10m, 60s or 250ms'],
  [{ sessions: { idle: '0s' } }, 'sessions.idle: "0s" is not a time with a unit, such as 30d, 12h, 10m, 60s or 250ms'],
  [{ sessions: 'none' }, 'sessions: "none" is not a group of keys (idle, signedIn, external, embedded)'],
  [{ hsts: 'max-age' }, 'hsts: "max-age" is not off or a header value such as "max-age=31536000; includeSubDomains"'],
  [
    { hsts: 'max-age=1\r\nX: y' },
    'hsts: "max-age=1\\r\\nX: y" is not off or a header value such as "max-age=31536000; includeSubDomains"',
  ],
  [{ frame: ['*'] }, 'frame: ["*"] is not any, none, self or a list of origins'],
  [{ events: { bufferEvents: 0 } }, 'events.bufferEvents: 0 is not a whole number from 1 to 1000000'],
  [
    { helperFiles: { work: ['a/b'] } },
    'helperFiles.work[0]: "a/b" is not a file name without "/", in which * stands for any characters and ? for one',
  ],
]

describe('settings: keys of the server', () => {
  for (const [key, written, read] of GOOD) {
    it(`${key}: ${json(written)} is taken`, async () => {
      const { settings } = await loadText(json({ [key]: written }), { cwd: '/' }, 'site.json')
      expect(settings[key as keyof Settings]).to.deep.equal(read)
    })
  }
  for (const [written, message] of BAD) {
    it(`${json(written)} is refused`, async () => {
      expect(await problemsOf(loadText(json(written), {}, 'site.json'))).to.deep.equal([`${message} (site.json:1)`])
    })
  }
})

describe('settings: names of users', () => {
  const taken = (user: string) =>
    loadText(json({ sites: [{ host: 'h', credentials: [{ user, password: 'p' }] }] }), {}, 'site.json')
  for (const [user, shown] of NO_NAMES) {
    it(`MNT-1 ${escaped(user)} is refused`, async () => {
      expect(await problemsOf(taken(user))).to.deep.equal([
        `sites[0].credentials[0].user: "${shown}" is not ${USER} (site.json:1)`,
      ])
    })
  }
  for (const user of [
    'ada',
    'Ada Lovelace',
    'ada@example.org',
    'Zo\u00eb',
    'Zoe\u0308',
    '\u0410\u043d\u043d\u0430',
    '\u674e\u56db',
    '\u0639\u0644\u064a',
    'a_b-c.d+e',
    'Anna \u5c71\u7530 \u304b\u306a',
    '\u13a0\u13a1',
    '\u0928\u093f\u0915 7',
  ]) {
    it(`MNT-1 ${escaped(user)} is taken`, async () => {
      expect((await taken(user)).settings.sites[0]?.credentials[0]?.user).to.equal(user)
    })
  }
})

describe('settings: keys of a site', () => {
  for (const [key, written, read] of GOOD_SITE) {
    it(`${key}: ${json(written)} is taken`, async () => {
      const { settings } = await loadText(json({ sites: [{ host: 'h', [key]: written }] }), {}, 'site.json')
      expect(settings.sites[0]?.[key as keyof SiteEntry]).to.deep.equal(read)
    })
  }
  for (const [written, message] of BAD_SITE) {
    it(`${json(written)} is refused`, async () => {
      const problems = await problemsOf(loadText(json({ sites: [{ host: 'h', ...written }] }), {}, 'site.json'))
      expect(problems).to.deep.equal([`sites[0].${message} (site.json:1)`])
    })
  }
})

describe('settings: defaults', () => {
  it('COMP-82 DAV-62 DAV-72 EVT-37 EVT-46 HTTP-180 HTTP-181 SSN-5 have the figures of the specification', async () => {
    const { settings } = await loadSettings({ cwd: '/srv' })
    expect(settings.data).to.equal('/srv/data')
    expect(settings.listen).to.deep.equal({ host: '127.0.0.1', port: 8080 })
    expect(settings.mount).to.deep.equal({ port: 8081 })
    expect(settings.limits).to.deep.include({ headers: 32_768, headerWait: 60_000, bodyIdle: 60_000 })
    expect(settings.defaults).to.deep.include({
      brand: 'platform',
      ns: 'https://platform.example/ns',
      schemaHost: 'https://schema.org',
      defaultGet: 'allow',
      declarationsIn: ['/*'],
      maxBody: 1024 ** 3,
      maxDocument: 64 * 1024 ** 2,
      sessionContentMax: 256 * 1024,
      allowOutbound: false,
      locksBindPublicWrites: false,
      mountReactions: false,
      mountStrictParents: false,
      authAliases: true,
      referrerPolicy: 'strict-origin-when-cross-origin',
      hsts: 'max-age=31536000',
      frame: 'any',
    })
    expect(settings.defaults.events).to.deep.equal({
      retention: 600_000,
      keptEvents: 10_000,
      keptBytes: 16 * 1024 ** 2,
      bufferEvents: 256,
      bufferBytes: 1024 ** 2,
      streamsPerSession: 32,
      streamsPerAddress: 256,
      streamsPerSite: 10_000,
    })
    expect(settings.defaults.drafts.settle).to.equal(60_000)
    expect(settings.defaults.helperFiles.keepPublished).to.equal(10_000)
    expect(settings.defaults.sessions.idle).to.equal(30 * 86_400_000)
  })
})

describe('settings: trusted proxies', () => {
  const CASES: [trust: boolean | string[], address: string, trusted: boolean][] = [
    [false, '127.0.0.1', false],
    [true, '203.0.113.7', true],
    [['10.0.0.0/8'], '10.200.3.4', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['10.0.0.0/8'], '::ffff:10.1.2.3', true],
    [['::1', 'fd00::/8'], 'fd12::1', true],
    [['::1', 'fd00::/8'], '::2', false],
    [['192.0.2.1'], 'nonsense', false],
  ]
  for (const [trust, address, trusted] of CASES) {
    it(`trustProxy ${json(trust)} ${trusted ? 'believes' : 'does not believe'} ${address}`, () => {
      expect(proxyTrust(trust)(address, 0)).to.equal(trusted)
    })
  }
})
