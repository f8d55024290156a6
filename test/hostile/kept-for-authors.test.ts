/**
 * Kept answers of the mount and whoever asks: random requests by credentials of several rights, each sent as it is and in a
 * form that nothing kept can answer, between random changes and locks. Both forms get the same (DAV-3, SEC-10).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll } from '../support/content.ts'
import { client, type Received } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { Drawing } from './drawing.ts'
import { wholly } from './told.ts'

/** Requests; `FUZZ=<number>` sends more, from `SEED=<number>`. */
const REQUESTS = Number(process.env.FUZZ ?? 125)
const SEED = Number(process.env.SEED ?? 1)

const CREDENTIALS = [
  { user: 'whole', password: 'whole', write: true },
  { user: 'other', password: 'other', write: true },
  { user: 'reader', password: 'reader', write: false },
  { user: 'part', password: 'part', scope: ['/dir/*'], write: true },
  { user: 'part-reader', password: 'part-reader', scope: ['/dir/*', '/members/a.txt'], write: false },
  { user: 'page', password: 'page', scope: ['/page.html'], write: true },
]

const USERS = ['whole', 'other', 'reader', 'part', 'part-reader', 'page'] as const
const authorization = (user: string) => `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
/** Seconds that a lock has left. */
const told = (answer: Received) => wholly(answer).replace(/Second-\d+/g, 'Second-N')
const chunked = (text: string) =>
  `${text === '' ? '' : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`}0\r\n\r\n`

const MOUNT_TARGETS = [
  '/',
  '/dir',
  '/dir/',
  '/dir/index.html',
  '/dir/sub/',
  '/dir/sub/a.txt',
  '/dir/other.html',
  '/page.html',
  '/long.txt',
  '/members/',
  '/members',
  '/members/a.txt',
  '/r/',
  '/none',
  '/dir/none.html',
  '/dir/?C=M',
  '/dir/draft0.html',
  '/%64ir/',
]
const MOUNT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Depth: ['0', '1', 'infinity', '2', ''],
  Prefer: ['return=minimal', 'depth-noroot', 'return=minimal, depth-noroot', 'x'],
  Brief: ['t', 'f'],
  Accept: ['text/html', 'application/problem+json', '*/*'],
  'Accept-Encoding': ['gzip', 'br'],
  'Accept-Language': ['de', 'en'],
  'User-Agent': [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)',
    'Mozilla/5.0 (Windows NT 10.0)',
    'Microsoft-WebDAV-MiniRedir/10.0.19045',
    'WebDAVFS/3.0.0',
  ],
  Host: ['localhost', 'LOCALHOST', 'other.localhost'],
  'X-Forwarded-Proto': ['https', 'http'],
  'X-Forwarded-Host': ['localhost', 'other.localhost'],
  Translate: ['f', 't'],
  'Content-Type': ['application/xml', 'text/xml'],
  Cookie: ['x=1'],
}
const prop = (names: string) => `<propfind xmlns="DAV:"><prop>${names}</prop></propfind>`
const XML = [
  '',
  '<propfind xmlns="DAV:"><allprop/></propfind>',
  '<propfind xmlns="DAV:"><propname/></propfind>',
  prop('<getetag/><getcontentlength/><resourcetype/><lockdiscovery/><displayname/>'),
  prop(
    '<current-user-principal/><current-user-privilege-set/><owner/><supportedlock/><quota-available-bytes/><x xmlns="urn:x"/><checksums xmlns="http://owncloud.org/ns"/>',
  ),
  '<propfind xmlns="DAV:"><allprop/><include><sync-token/><x xmlns="urn:x"/></include></propfind>',
  '<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype><owner>mine</owner></lockinfo>',
  '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:x">VALUE</x></prop></set></propertyupdate>',
]

describe('kept answers of the mount and whoever asks', function () {
  this.timeout(3_600_000)
  let server: TestServer

  before(async () => {
    server = await startServer({ settings: { trustProxy: true }, site: { credentials: CREDENTIALS } })
    await putAll(server, {
      '/page.html': page('<p>page</p>'),
      '/long.txt': 'a line that repeats itself and can be compressed\n'.repeat(60),
      '/dir/index.html': page('<p>index</p>'),
      '/dir/other.html': page('<p>other</p>'),
      '/dir/sub/a.txt': 'a',
      '/members/a.txt': 'members',
    })
  })
  after(() => server.close())

  it('DAV-3 get what nobody else gets in their place', async () => {
    const made = new Drawing(SEED + 1)
    const mount = client(Number(new URL(server.mountUrl).port))
    const tags: string[] = ['"x"', '*']
    const tokens: { path: string; token: string; user: string }[] = []
    let [targets, names] = [MOUNT_TARGETS, Object.keys(MOUNT_FIELDS)]
    for (let i = 0; i < REQUESTS; i++) {
      if (i % 40 === 0) [targets, names] = [made.few(MOUNT_TARGETS, 3), made.few(Object.keys(MOUNT_FIELDS), 3)]
      const user = made.one(USERS)
      const fields: Record<string, string> = { Authorization: authorization(user) }
      for (const name of names)
        if (made.is(0.4)) fields[name] = made.one((MOUNT_FIELDS[name] ?? ['']).slice(0, made.is(0.7) ? 2 : 99))
      if (made.is(0.2)) fields['If-None-Match'] = made.one(tags)
      const to = made.one(targets)
      if (made.is(0.12)) {
        const path = made.one([...targets, ...MOUNT_TARGETS].filter(each => !each.includes('?')))
        const by = { Authorization: authorization(made.one(USERS)) }
        const kind = made.one([
          'PUT',
          'PUT',
          'PROPPATCH',
          'LOCK',
          'UNLOCK',
          'DELETE',
          'MKCOL',
          'MOVE',
          'draft',
          'helper',
        ])
        const held = made.one([undefined, ...tokens])
        const conditions = held && { If: `<${held.path}> (<${held.token}>)` }
        if (kind === 'LOCK') {
          const answer = await mount(
            'LOCK',
            path,
            { ...by, Depth: made.one(['0', 'infinity']), Timeout: 'Second-9000' },
            XML[6],
          )
          const token = /<(urn:uuid:[^>]*|opaquelocktoken:[^>]*)>/.exec(answer.headers['lock-token'] ?? '')?.[1]
          if (token) tokens.push({ path, token, user: by.Authorization })
        } else if (kind === 'UNLOCK') {
          if (held) await mount('UNLOCK', held.path, { Authorization: held.user, 'Lock-Token': `<${held.token}>` })
          tokens.splice(0, tokens.length, ...tokens.filter(each => each !== held))
        } else if (kind === 'draft') await mount('PUT', `/dir/draft${i % 3}.html`, { ...by, ...conditions }, '')
        else if (kind === 'helper') await mount('PUT', `/dir/~$page${i % 3}.docx`, by, 'x')
        else if (kind === 'MOVE')
          await mount('MOVE', path, { ...by, ...conditions, Destination: made.one(MOUNT_TARGETS) })
        else if (kind === 'PROPPATCH')
          await mount(kind, path, { ...by, ...conditions }, XML[7]?.replace('VALUE', String(i)))
        else await mount(kind, path, { ...by, ...conditions }, kind === 'PUT' ? page(`<p>${i}</p>`) : undefined)
      }
      const method = made.one(['PROPFIND', 'PROPFIND', 'PROPFIND', 'GET', 'HEAD'])
      const body = method === 'PROPFIND' ? made.one(XML.slice(0, 6)) : undefined
      const plain = await mount(method, to, fields, body || undefined)
      const past =
        method === 'PROPFIND'
          ? await mount(method, to, { ...fields, 'Transfer-Encoding': 'chunked' }, chunked(body ?? ''))
          : await mount(method, to, { ...fields, 'Content-Length': '1' }, 'x')
      const tag = plain.headers.etag
      if (tag !== undefined) tags[2 + (i % 6)] = tag
      expect(told(plain), `${i}: ${method} ${to} ${JSON.stringify(fields)} ${body}`).to.equal(told(past))
    }
  })
})
