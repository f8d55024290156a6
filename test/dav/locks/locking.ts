/** A mount with several authors, and the requests of RFC 4918 §9.10 and §9.11 in short. */

import { type Client, client, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { UNHURRIED } from '../wire.ts'

export interface Authors {
  server: TestServer
  /** Whole site, may write. */
  ann: Client
  bob: Client
  /** May write below /docs/ only. */
  dora: Client
  /** May read everything. */
  rita: Client
  /** The public surface, without credentials. */
  visitor: Client
}

const credentials = [
  { user: 'ann', password: 'a', scope: ['/*'], write: true },
  { user: 'bob', password: 'b', scope: ['/*'], write: true },
  { user: 'dora', password: 'd', scope: ['/docs/*'], write: true },
  { user: 'rita', password: 'r', scope: ['/*'], write: false },
]

export async function startMount(): Promise<Authors> {
  const server = await startServer({ site: { credentials, defaultGet: 'allow', ...UNHURRIED } })
  const port = Number(new URL(server.running.mountOrigin ?? '').port)
  const author = (user: string): Client => client(port, { Authorization: basic(user) })
  return {
    server,
    ann: author('ann'),
    bob: author('bob'),
    dora: author('dora'),
    rita: author('rita'),
    visitor: client(server.port),
  }
}

/** `Authorization` of an author. */
export function basic(user: string): string {
  const password = credentials.find(each => each.user === user)?.password
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** A `lockinfo` body. */
export function lockInfo(scope: 'exclusive' | 'shared' = 'exclusive', owner = ''): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:">' +
    `<D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype>${owner}</D:lockinfo>`
  )
}

/** The token of a successful LOCK, as its header has it. */
export function tokenOf(response: Received): string {
  const [, token] = /^<(opaquelocktoken:[0-9a-f-]{36})>$/.exec(response.headers['lock-token'] ?? '') ?? []
  if (token === undefined) throw new Error(`no token in a ${response.status}: ${response.text}`)
  return token
}

/** Takes a lock. @returns its token */
export async function take(author: Client, path: string, fields: Fields = {}, scope?: 'shared'): Promise<string> {
  return tokenOf(await author('LOCK', path, { Depth: '0', ...fields }, lockInfo(scope)))
}

/** Status and, where there is one, the kind of a failure: `423 Locked`. */
export function outcomeOf({ status, text }: Received): string {
  const kind = /itemprop="kind" content="(\w+)"/.exec(text)?.[1]
  return kind === undefined ? String(status) : `${status} ${kind}`
}

/** The precondition code of a failure with its `href`s: `lock-token-submitted /a`. */
export function codeOf({ text }: Received): string {
  const [, code = '', content = ''] = /^<D:error xmlns:D="DAV:"><D:([\w-]+)>(.*?)<\/D:\1>/.exec(text) ?? []
  return [code, ...Array.from(content.matchAll(/<D:href>(.*?)<\/D:href>/g), ([, href]) => href)].join(' ')
}
