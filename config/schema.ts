/** All settings of the server, each declared once: type, default, documentation, secrecy. Messages, printing, environment variables and the reference are made from this. */

import { isIP } from 'node:net'
import { z } from 'zod'
import { ADDRESS_FORMS, parseRedisAddress } from '../pipeline/coordination/redis/address.ts'
import { objectAddress } from '../pipeline/store/objects/address.ts'
import { databaseAddress } from '../pipeline/store/postgres/address.ts'
import { setting } from './about.ts'
import { siteDefaults, siteEntry } from './site-schema.ts'
import { flag, oneOf, readSwitch, size, text, value, wait, whole } from './values.ts'

const SECOND = 1000

const path = (what: string) => text(`the path of ${what}`, undefined, 4096, 'path')
const port = () => whole(0, 65_535)

/** Where the mounts of the sites are: on a port of their own, on a host of their own, or under a path. */
export type MountPlace = { port: number } | { host: string } | { path: string }

const mount = z
  .strictObject({
    port: setting(
      port().optional(),
      'The mount of a site answers on this port, under the host names of the site. 0 takes a free port.',
    ),
    host: setting(
      text(
        'a host name in which {host} stands once for the host of the site, such as dav.{host}',
        host => /^[a-z0-9_.-]*\{host\}[a-z0-9_.-]*$/.test(host) && host !== '{host}',
        128,
      ).optional(),
      'The mount of a site answers on this host of its own, on the public port; `{host}` stands for the host of the site.',
    ),
    path: setting(
      text(
        'a path such as /-platform/dav, without a slash at its end',
        path => /^(\/[A-Za-z0-9_~.-]+)+$/.test(path) && !/\/\.\.?(\/|$)/.test(path),
        128,
      ).optional(),
      "The mount of a site answers under this path of the public host. Scripts of the site's pages can then use the password that a browser keeps for it.",
    ),
  })
  .transform((written, context): MountPlace => {
    const { port, host, path } = written
    if (port !== undefined && host === undefined && path === undefined) return { port }
    if (port === undefined && host !== undefined && path === undefined) return { host }
    if (port === undefined && host === undefined && path !== undefined) return { path }
    context.addIssue({ code: 'custom', message: 'needs exactly one of port, host, path' })
    return z.NEVER
  })

/** Proxies whose forwarding headers are believed: none, the nearest or so many of them, or those with these addresses. */
export type TrustProxy = boolean | number | string[]

/** Proxies one behind the other, at most. */
const MOST_PROXIES = 16

const trustProxy = value<TrustProxy>({
  expected: `true, false, a number of proxies up to ${MOST_PROXIES} or a list of addresses and networks such as 10.0.0.0/8`,
  short: 'switch, number or list',
  read: written => {
    const on = readSwitch(written)
    if (on !== undefined) return on
    const count = typeof written === 'string' && /^[0-9]{1,2}$/.test(written) ? Number(written) : written
    if (typeof count === 'number')
      return Number.isInteger(count) && count >= 0 && count <= MOST_PROXIES ? count : undefined
    const all = typeof written === 'string' ? written.split(/\s*,\s*/) : written
    return Array.isArray(all) && all.length > 0 && all.every(isNetwork) ? all : undefined
  },
  write: trust => trust,
})

function isNetwork(written: unknown): written is string {
  if (typeof written !== 'string') return false
  const [address = '', bits, ...rest] = written.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** The schema of the whole settings file. */
export const settingsSchema = z
  .strictObject({
    data: setting(
      path('a folder').default('./data'),
      'Folder of the embedded store; made when missing. A relative path starts at the working directory.',
    ),
    listen: setting(
      z
        .strictObject({
          host: setting(
            text('a host name or address to listen on', host => !/[\s/]/.test(host)).default('127.0.0.1'),
            'Address to listen on; `0.0.0.0` for all of IPv4, `::` for all.',
          ),
          port: setting(port().default(8080), 'Port of the public surface. 0 takes a free port.'),
        })
        .prefault({}),
      'Where the public surface is.',
    ),
    mount: setting(mount.prefault({ port: 8081 }), {
      doc: 'Where the authoring mounts are: exactly one of the keys.',
      fallback: '`{ port: 8081 }`',
      whole: true,
    }),
    trustProxy: setting(
      trustProxy.default(false),
      'Believe the forwarding headers (scheme, host and client address): of the proxy that clients come through, of this number of proxies one behind the other, or of proxies with these addresses and networks. What stands in these headers before that is what clients say themselves.',
    ),
    redis: setting(text(ADDRESS_FORMS, written => parseRedisAddress(written) !== undefined, 4096, 'URL').optional(), {
      doc: 'Redis for sessions, leases, locks and events of several processes.',
      fallback: 'these are kept in the process',
      secret: 'url',
    }),
    postgres: setting(
      text(
        'a URL such as postgres://user:password@host:5432/database',
        written => databaseAddress(written) !== undefined,
        4096,
        'URL',
      ).optional(),
      {
        doc: 'PostgreSQL (15 or later) for documents, shared by several machines; those need `redis` as well. Beside the parameters of libpq (`sslmode`, `sslrootcert`, `host` for a folder of sockets) the URL takes `passwordFile` (read for every new connection), `search_path` (a schema, made when absent) and `connections` (for reading, 4 a process by default). Of several hosts (`postgres://user@one,two/database`) it uses the one that is no replica.',
        fallback: 'the embedded store in `data`',
        secret: 'url',
      },
    ),
    blobs: setting(
      text(
        'a URL such as s3://bucket/prefix?endpoint=https://s3.example.org',
        written => objectAddress(written) !== undefined,
        4096,
        'URL',
      ).optional(),
      {
        doc: 'Object store with the protocol of S3 for files above 256 KiB of sites in `postgres`. The URL takes `endpoint` (AWS by default), `region` (`us-east-1` by default), `pathStyle` (`true` where an endpoint is named, else `false`), `caFile` (certificates of authorities, PEM) and `credentialsFile` (the id of an access key in its first line, the secret in its second; read again every minute, and when the key is refused). A key may stand in the URL as well (`s3://id:secret@bucket/prefix`); without either it is what the environment, the configuration of the AWS command line or the machine gives.',
        fallback: 'the database',
        secret: 'url',
      },
    ),
    workers: setting(whole(1, 64).default(1), 'Processes that serve requests. More than one need `redis`.'),
    tls: setting(
      z
        .strictObject({
          cert: setting(path('a certificate file'), 'Certificate chain, PEM.'),
          key: setting(path('a key file'), 'Private key, PEM.'),
        })
        .optional(),
      { doc: 'Answer HTTPS instead of HTTP.', fallback: 'plain HTTP, best behind a TLS proxy' },
    ),
    log: setting(
      z
        .strictObject({
          level: setting(
            oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
            'Least level that is logged.',
          ),
          format: setting(
            oneOf('auto', 'json', 'text').default('auto'),
            '`json` for machines, `text` for people; `auto` is `text` on a terminal.',
          ),
          clients: setting(
            oneOf('address', 'network', 'none').default('address'),
            'What is logged of whoever writes: the client address, the network it belongs to (of IPv4 the first 24 bits, of IPv6 the first 48), or nothing. Reads are logged without.',
          ),
          users: setting(flag().default(true), 'Log the user name with each write.'),
          audit: setting(path('a file, or the word log').optional(), {
            doc: 'Every change of every site, one line of JSON for each: what, when, and by whom. A file, which is appended to and opened anew on SIGHUP, or `log` for the log itself.',
            fallback: 'changes are not recorded',
          }),
        })
        .prefault({}),
      'The log, on standard output.',
    ),
    metrics: setting(
      z
        .strictObject({
          public: setting(
            flag().default(false),
            'Answer `/-{brand}/metrics` to everyone, not only to clients on this machine.',
          ),
        })
        .prefault({}),
      'Metrics in the Prometheus format.',
    ),
    health: setting(
      z
        .strictObject({
          public: setting(
            flag().default(true),
            'Answer `/-{brand}/health`, `/-{brand}/health/live` and `/-{brand}/health/ready` to everyone, not only to clients on this machine.',
          ),
        })
        .prefault({}),
      'Health of the server.',
    ),
    limits: setting(
      z
        .strictObject({
          memory: setting(size().optional(), {
            doc: 'Memory for everything that is kept to answer faster, of all processes together: documents, trees, answers, listings, pages of the database.',
            fallback:
              '256 MiB, or a quarter of what the container may take, or half of `--max-old-space-size`, of less than 160 MB what the program leaves',
          }),
          headers: setting(size(1024).default(32 * 1024), 'Largest head of a request; a greater one is answered 431.'),
          headerWait: setting(wait().default(60 * SECOND), 'Longest wait for the head of a request.'),
          bodies: setting(
            size().default(256 * 1024 ** 2),
            'Bodies that all requests of a process may hold in memory together; what finds no room is answered 503 with `Retry-After`. Files on their way to the disk, unless code of reactions looks at them, and bodies up to 64 KiB do not count.',
          ),
          bodyIdle: setting(wait().default(60 * SECOND), 'Longest pause within the body of a request.'),
          leaseWait: setting(
            wait().default(10 * SECOND),
            'Longest wait of a write for others of the same path; then 503.',
          ),
          shutdown: setting(wait().default(10 * SECOND), 'On SIGTERM, running requests get this long to finish.'),
          writesPerMinute: setting(
            whole(0, 1_000_000).default(600),
            'Writes of one visitor to the public surface in a minute, whoever is not signed in counted by address; more are answered 429. 0 for no limit. The mount has none.',
          ),
        })
        .prefault({}),
      'Limits of the server as a whole.',
    ),
    javascript: setting(
      z
        .strictObject({
          workers: setting(
            whole(1, 64).default(2),
            'Threads that run the scripts of sites. They are started when a script first runs; one more may run where one site holds all of them.',
          ),
          time: setting(wait().default(SECOND), 'Longest processor time of one script; then 503.'),
          memory: setting(size().default(16 * 1024 * 1024), 'Most memory of one script; then 503.'),
        })
        .prefault({}),
      'JavaScript of sites, which the server runs in threads of its own.',
    ),
    defaults: setting(siteDefaults.prefault({}), {
      doc: 'Settings of all sites, as far as their entries say nothing else.',
    }),
    sites: setting(z.array(siteEntry).default([]), {
      doc: 'The sites; the first entry with a matching host counts.',
      fallback: 'one demo site for every host',
    }),
  })
  .superRefine((settings, context) => {
    const { mount, listen } = settings
    if ('port' in mount && mount.port !== 0 && mount.port === listen.port) {
      context.addIssue({ code: 'custom', path: ['mount', 'port'], message: 'another port than listen.port' })
    }
    if (settings.blobs !== undefined && settings.postgres === undefined) {
      const message = 'needs postgres: the embedded store keeps large files in its folder'
      context.addIssue({ code: 'custom', path: ['blobs'], message })
    }
    if (settings.workers > 1 && settings.redis === undefined) {
      context.addIssue({ code: 'custom', path: ['workers'], message: '1, unless redis is set' })
    }
  })

/** Checked settings, in the server's units: sizes in bytes, times in milliseconds. */
export type Settings = z.output<typeof settingsSchema>

export type { SiteSettings } from './sites.ts'
