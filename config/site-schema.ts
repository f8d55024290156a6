/** The settings of a site, each declared once: type, default, documentation, secrecy. */

import { z } from 'zod'
import { setting } from './about.ts'
import { readHost } from './hosts.ts'
import { isStoredKey, isStoredPassword } from './passwords.ts'
import {
  appearance,
  baseUrl,
  duration,
  flag,
  hasControls,
  isOrigin,
  isUserName,
  list,
  oneOf,
  readSwitch,
  size,
  text,
  USER_NAME,
  value,
  whole,
} from './values.ts'

const MiB = 1024 ** 2
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const host = value<string>({
  expected:
    'a host name such as www.example.org, an address, or a pattern such as "*.example.org" (wildcards *, ? and {a,b}, at most 3 stars; no port)',
  read: written => (typeof written === 'string' ? readHost(written) : undefined),
  write: host => host,
})

const origin = text('an origin such as https://www.example.org (scheme, host and port, no path)', isOrigin)

const credential = z
  .strictObject({
    user: setting(
      text(USER_NAME, isUserName, 128),
      'Name to sign in with; no colon, no invisible characters, no styled or full-width letters, letters of one script. Unique within the site.',
    ),
    password: setting(
      value<string>({
        expected:
          'a password of 1 to 1024 characters, or a whole hash made by "scriptorium hash" (put it in single quotes)',
        short: 'text',
        read: written =>
          typeof written === 'string' && written !== '' && written.length <= 1024 && isStoredPassword(written)
            ? written
            : undefined,
        write: password => password,
      }).optional(),
      { doc: 'Password, plain or (better) as `scriptorium hash` prints it.', secret: 'value' },
    ),
    key: setting(
      value<string>({
        expected:
          'an access key of at least 22 letters, digits, "-" or "_", or its hash (both made by "scriptorium hash --key")',
        short: 'text',
        read: written => (typeof written === 'string' && isStoredKey(written) ? written : undefined),
        write: key => key,
      }).optional(),
      {
        doc: 'Access key for `Authorization: Bearer`, plain or as `scriptorium hash --key` prints it. Checked without the cost of a password.',
        secret: 'value',
      },
    ),
    scope: setting(
      list(
        text(
          'a path pattern that begins with / (such as /* or /blog/*)',
          path => path.startsWith('/') && !hasControls(path),
          1024,
        ),
      )
        .pipe(z.array(z.string()).min(1, { error: 'a list with at least one path pattern' }))
        .default(['/*']),
      'Paths that the credential opens, as patterns. The default is the whole site.',
    ),
    write: setting(flag().default(true), 'May change what it opens. With `false` it may only read.'),
    configure: setting(
      flag().optional(),
      'What it writes may configure the site: rules, groups, schemas, triggers, code. By default `true` where the scope is the whole site (`/*`), else `false`.',
    ),
  })
  .superRefine((credential, context) => {
    if (credential.password === undefined && credential.key === undefined) {
      context.addIssue({ code: 'custom', message: 'needs a password or a key' })
    }
  })

const credentials = list(credential)
  .superRefine((all, context) => {
    const names = all.map(({ user }) => appearance(user))
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index) {
        context.addIssue({ code: 'custom', path: [index, 'user'], message: 'a user name that no other credential has' })
      }
    })
  })
  .default([])

const oidc = z.strictObject({
  issuer: setting(
    baseUrl('an http or https URL (the issuer, or the full URL of its configuration document)').optional(),
    'Issuer URL, or the full URL of its configuration document.',
  ),
  clientId: setting(text('text', undefined, 1024).optional(), 'Client id registered at the provider.'),
  clientSecret: setting(text('text', undefined, 4096).optional(), {
    doc: 'Client secret; leave it out for a public client.',
    secret: 'value',
  }),
  scopes: setting(
    text('scopes separated by spaces, openid among them', scopes => scopes.split(' ').includes('openid')).default(
      'openid email profile',
    ),
    'Scopes to ask for, separated by spaces.',
  ),
  rolesClaim: setting(
    text('the name of a claim; dots reach nested ones').default('roles'),
    'Claim that holds the roles; a dotted path reaches nested claims.',
  ),
  tokenAuth: setting(oneOf('client_secret_basic', 'client_secret_post', 'none').optional(), {
    doc: 'How the server authenticates at the token endpoint.',
    fallback: '`client_secret_basic`, and `none` where there is no `clientSecret`',
  }),
  endSession: setting(flag().default(false), 'Signing out also ends the session at the provider.'),
  authCallback: setting(
    flag().default(false),
    'Register `/auth/callback` at the provider as the redirect URI instead of `/-{brand}/oidc/callback`.',
  ),
})

const sessions = z.preprocess(
  written => (written === 'external' ? { external: true } : written),
  z.strictObject({
    idle: setting(duration().default(30 * DAY), 'A session ends this long after its last use.'),
    signedIn: setting(duration().default(30 * DAY), 'A sign-in ends at the latest this long after it happened.'),
    external: setting(
      flag().default(false),
      'Another edge issues the session cookie: this server sets none, and answers 409 to a change that comes without one. `sessions: external` says the same.',
    ),
    embedded: setting(
      flag().default(false),
      "The site is embedded in other sites' frames: its cookie is `SameSite=None; Secure; Partitioned`.",
    ),
  }),
)

const events = z.strictObject({
  retention: setting(duration().default(10 * MINUTE), 'Events can be replayed for this long after their commit.'),
  keptEvents: setting(whole(1, 1_000_000).default(10_000), 'At most so many events are kept of one path.'),
  keptBytes: setting(size().default(16 * MiB), 'At most so many bytes of events are kept of one path.'),
  bufferEvents: setting(whole(1, 1_000_000).default(256), 'Events that may wait for a slow subscriber.'),
  bufferBytes: setting(size().default(MiB), 'Bytes that may wait for a slow subscriber.'),
  streamsPerSession: setting(whole(1, 1_000_000).default(32), 'Open streams of one session in each process.'),
  streamsPerAddress: setting(
    whole(1, 1_000_000).default(256),
    'Open streams of one client address in each process; IPv6 addresses with the same first 64 bits count as one.',
  ),
  streamsPerSite: setting(whole(1, 10_000_000).default(10_000), 'Open streams of the whole site in each process.'),
})

const helperName = text(
  'a file name without "/", in which * stands for any characters and ? for one',
  name => !name.includes('/'),
  255,
)

const helperFiles = z.strictObject({
  metadata: setting(
    list(helperName).default([]),
    'Further names of metadata files, beside `.DS_Store`, `._*`, `Thumbs.db` and the like: kept apart, not listed.',
  ),
  work: setting(
    list(helperName).default([]),
    "Further names of editors' work files, beside `~$*`, `.*.sw?`, `*~` and the like: kept apart, listed on the mount.",
  ),
  ordinary: setting(
    list(helperName).default([]),
    'Names that are ordinary files of the site although the lists above would take them.',
  ),
  keepPublished: setting(
    duration().default(10 * SECOND),
    'A document that an editor renames to a helper name is served on for this long, until its replacement comes.',
  ),
  metadataAge: setting(duration().default(30 * DAY), 'Metadata files are dropped this long after their last use.'),
  workAge: setting(duration().default(24 * HOUR), 'Work files are dropped this long after their last use.'),
})

const REFERRER_POLICIES = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'origin',
  'origin-when-cross-origin',
  'same-origin',
  'strict-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
] as const

const hsts = value<string | false>({
  expected: 'off or a header value such as "max-age=31536000; includeSubDomains"',
  short: '`off` or text',
  read: written => {
    if (readSwitch(written) === false) return false
    return typeof written === 'string' && /^max-age=[0-9]{1,10}(; ?(includeSubDomains|preload)){0,2}$/i.test(written)
      ? written
      : undefined
  },
  write: policy => policy || 'off',
})

/** Who may show pages of a site in a frame. `any` adds no header. */
export type FramePolicy = 'any' | 'none' | 'self' | string[]

const frame = value<FramePolicy>({
  expected: 'any, none, self or a list of origins',
  read: written => {
    if (written === 'any' || written === 'none' || written === 'self') return written
    const origins = typeof written === 'string' ? [written] : written
    return Array.isArray(origins) && origins.length > 0 && origins.every(o => typeof o === 'string' && isOrigin(o))
      ? origins
      : undefined
  },
  write: policy => policy,
})

const vocabulary = 'an http or https URL without a slash at its end, such as https://platform.example/ns'

/** What may stand under `defaults`, and in each of `sites`. */
export const siteKeys = {
  title: setting(
    text('text of at most 200 characters', undefined, 200).optional(),
    'Name of the site for people: in the mount and on pages that the server makes.',
  ),
  brand: setting(
    text(
      'a word of lower-case letters and digits, parts joined by -',
      brand => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(brand),
      32,
    ).default('platform'),
    'Brand word: reserved paths `/-{brand}/` and `/.{brand}/`, cookie `{brand}_session`, events `{brand}-connection`, and, with capital letters, headers such as `{Brand}-Connection`.',
  ),
  ns: setting(baseUrl(vocabulary).default('https://platform.example/ns'), 'Base URI of the vocabulary.'),
  errorNs: setting(baseUrl(vocabulary).optional(), { doc: 'Base URI of kinds of errors.', fallback: '`{ns}/error`' }),
  schemaHost: setting(baseUrl(vocabulary).default('https://schema.org'), 'Base URI of primitive types.'),
  defaultGet: setting(
    oneOf('allow', 'deny').default('allow'),
    'What a GET or HEAD gets that no authorization rule matches.',
  ),
  declarationsIn: setting(
    list(
      text(
        'a path pattern that begins with / (such as /* or /_config/*)',
        path => path.startsWith('/') && !hasControls(path),
        1024,
      ),
    )
      .pipe(z.array(z.string()).min(1, { error: 'a list with at least one path pattern' }))
      .default(['/*']),
    'Paths of the documents that may configure the site, as patterns: rules, groups, schemas, triggers and code count there. In other documents they are text.',
  ),
  assetMaxAge: setting(
    duration(0).default(5 * MINUTE),
    'Browsers use style sheets, scripts, images and fonts for this long without asking again. With `0s` they ask each time (a short question), so that whoever saves a style sheet sees it at the next reload; the demo site has it so.',
  ),
  maxBody: setting(size().default(1024 * MiB), 'Largest body of a request; a greater one is answered 413.'),
  maxDocument: setting(
    size().default(64 * MiB),
    'Largest HTML or XML document. Documents are held in memory while they are parsed; whatever their size, they have at most two million nodes and attributes.',
  ),
  quota: setting(
    size().optional(),
    'Bytes that the files of the site may take together, with their dead properties; for each 512 of them, and 256 in any case, there may be one file or folder (a path counts as another one for each 512 characters). A write that needs more is answered 507. Authors are told how much is left. Without it the disk is the limit.',
  ),
  sessionContentMax: setting(
    size().default(256 * 1024),
    "Bytes of markup that one session's own copies of elements may hold in one document.",
  ),
  allowOutbound: setting(
    flag().default(false),
    "Requests sent by the site's reactions may go to private and loopback addresses.",
  ),
  locksBindPublicWrites: setting(
    flag().default(false),
    'Public writes of whole documents respect locks taken on the mount (423).',
  ),
  mountReactions: setting(
    flag().default(false),
    'Triggers run for PUT, DELETE, MOVE and COPY of files on the mount as they do on the public surface.',
  ),
  mountStrictParents: setting(
    flag().default(false),
    'PUT into a missing collection on the mount is answered 409 (RFC 4918) instead of making the collection.',
  ),
  cors: setting(
    list(origin).default([]),
    'Origins whose pages may read this site with credentials. Empty: no `Access-Control-*` headers.',
  ),
  credentials: setting(credentials, {
    doc: 'Who may use the mount. Empty: nobody.',
  }),
  oidc: setting(oidc.optional(), {
    doc: 'Sign-in through an OpenID Connect provider.',
    fallback: 'no provider: the sign-in addresses answer 404',
  }),
  reference: setting(
    flag().default(false),
    'Show the reference of this server at `/.{brand}/reference/`. The demo site does.',
  ),
  authAliases: setting(
    flag().default(true),
    '`/auth/login`, `/auth/logout` and `/auth/callback` work as further sign-in addresses where nothing is stored there.',
  ),
  publicUrl: setting(
    text('an origin such as https://www.example.org, in which {host} stands for the host of the request', url =>
      isOrigin(url.replace('{host}', 'host.example')),
    ).optional(),
    { doc: 'Scheme and host under which visitors reach the site.', fallback: 'scheme and host of the request' },
  ),
  sessions: setting(sessions.prefault({}), { doc: 'Sessions of visitors.' }),
  referrerPolicy: setting(
    oneOf(...REFERRER_POLICIES).default('strict-origin-when-cross-origin'),
    '`Referrer-Policy` of all responses.',
  ),
  hsts: setting(
    hsts.default('max-age=31536000'),
    '`Strict-Transport-Security` of responses over HTTPS; `off` sends none. Never sent over plain HTTP.',
  ),
  frame: setting(
    frame.default('any'),
    'Who may show pages of the site in a frame: `any` (no header), `none`, `self`, or a list of origins.',
  ),
  events: setting(events.prefault({}), { doc: 'Event streams.' }),
  drafts: setting(
    z
      .strictObject({
        settle: setting(
          duration().default(60 * SECOND),
          'An empty file that was left behind becomes an empty document this long after its last write and lock.',
        ),
      })
      .prefault({}),
    { doc: 'Empty files on the mount that wait for their content.' },
  ),
  helperFiles: setting(helperFiles.prefault({}), { doc: 'Files that desktop systems and editors leave on the mount.' }),
}

/** `defaults`: any setting of a site. */
export const siteDefaults = z.strictObject(siteKeys)

/** An entry of `sites`. */
export const siteEntry = z
  .strictObject({
    host: setting(
      list(host).pipe(z.array(z.string()).min(1, { error: 'a list with at least one host' })),
      'Host name, address or pattern, or a list of them. In a pattern `*` stands for any characters, `?` for one, `{a,b}` for alternatives; quote it. Without `name` every matching host is a site of its own, kept apart from all others.',
    ),
    name: setting(
      text(
        'a name of lower-case letters, digits, -, _ and dots',
        name => /^(?![.-])[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name),
        253,
      ).optional(),
      {
        doc: 'Makes all hosts of this entry one site, stored under this name (which is a host name of the site, too).',
        fallback: 'every host is a site of its own',
      },
    ),
    ...siteKeys,
  })
  .superRefine((site, context) => {
    if (site.name !== undefined && site.publicUrl?.includes('{host}')) {
      context.addIssue({
        code: 'custom',
        path: ['publicUrl'],
        message: 'one origin without {host}, because the entry is one site with a name',
      })
    }
  })

/** Checked settings of an entry of `sites`. */
export type SiteEntry = z.output<typeof siteEntry>

/** What opens a site's mount. */
export type Credential = z.output<typeof credential>

/** Settings of a site's OpenID Connect provider. */
export type OidcSettings = z.output<typeof oidc>
