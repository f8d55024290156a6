/** Replays what shipped clients send, request by request on one connection, and compares what they must be answered. */

import { type Connection, connect, type Fields, type Place, type Received, requestBytes } from '../support/http.ts'
import { readMultistatus } from '../support/multistatus.ts'

/** What a client does in one go: a row of a table of requests and answers. */
export interface Replay {
  /** Name of the client and of what its user does. */
  client: string
  task: string
  /** `User-Agent` */
  agent: string
  /** Files that stand there before, by path. */
  before?: Readonly<Record<string, string>>
  steps: readonly Step[]
  /** Methods of the events that the steps leave, by path. */
  events?: Readonly<Record<string, readonly string[]>>
}

/**
 * One request: method and path, fields, body, and what must come back.
 *
 * A path that begins with `/` lies in a collection of the replay's own; `~` stands for the mount, `//` for the root of
 * the origin. `visitor GET /x` asks the public surface. In paths, fields and bodies `{T}` stands for what was kept as
 * `T`, `{here}` for the path of the replay's collection, `{origin}` for scheme and host, `{authority}` for the host alone,
 * `{user}` for the author's name, `{second}` for the credentials of a second author.
 */
export type Step = readonly [request: string, fields: Fields, body: Body, expected: number | Expected]

/** A list is sent in chunks, without `Content-Length`. */
export type Body = string | readonly string[] | undefined

export interface Expected {
  status: number | readonly number[]
  /** By lower-case name; null means absent. */
  headers?: Readonly<Record<string, string | RegExp | null>>
  /** Exact, or a pattern. */
  body?: string | RegExp
  /** Of a multistatus, by path: a value, a pattern of it, or the status of its `propstat`. */
  props?: Readonly<Record<string, Readonly<Record<string, string | RegExp | number>>>>
  /** The multistatus has these paths and no others, in any order; slashes at their ends do not count. */
  paths?: readonly string[]
  /** What later steps use. */
  keep?: Readonly<Record<string, What>>
  /** What has to be as it was kept. */
  same?: Readonly<Record<string, What>>
}

type What = 'token of the body' | 'token of the header' | 'etag' | 'last-modified'

/** Where a replay runs. */
export interface Stage {
  mount: Place
  /** Path of the mount, without slash at its end; empty at the root. */
  prefix: string
  authorization: string
  secondAuthorization: string
  /** The public surface, where there is one: other servers have none. */
  visitors?: Place
  /** No answer may be chunked or end its connection: some clients are slow with the one, and others lose the other. */
  strict?: boolean
}

/** What went wrong in one step; nothing when nothing did. */
export interface Played {
  request: string
  problems: string[]
}

/** Milliseconds for one answer: a server that gives none fails the step instead of the whole run. */
const PATIENCE = 15_000

/** @param authorization value of the field, Basic */
function userOf(authorization: string): string {
  const [user = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
  return encodeURIComponent(user)
}

/**
 * @param collection name of a collection that does not exist yet, in which the replay happens
 * @param prepared called when the files of `before` stand there
 */
export async function play(
  replay: Replay,
  stage: Stage,
  collection: string,
  prepared: () => Promise<void> = async () => {},
): Promise<Played[]> {
  const here = `${stage.prefix}/${collection}`
  const { address = 'localhost', port } = stage.mount
  const kept = new Map([
    ['here', here],
    ['origin', `${stage.mount.tls ? 'https' : 'http'}://${address}:${port}`],
    ['authority', `${address}:${port}`],
    ['user', userOf(stage.authorization)],
    ['second', stage.secondAuthorization],
  ])
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name) => kept.get(name) ?? whole)
  const line = wire(stage.mount)
  const played: Played[] = []
  try {
    const authorization = { Authorization: stage.authorization, Host: `${address}:${port}` }
    await line.ask('MKCOL', here, authorization, undefined)
    for (const [path, content] of Object.entries(replay.before ?? {}))
      await line.ask('PUT', here + path, authorization, content)
    await prepared()
    for (const [request, fields, body, expected] of replay.steps) {
      const [, visitor, method = '', path = ''] = /^(visitor )?(\S+) (.*)$/.exec(request) ?? []
      if (visitor && !stage.visitors) continue
      const own = visitor ? {} : { ...authorization, 'User-Agent': replay.agent }
      const filled = Object.entries({ ...own, ...fields }).map(([name, value]) => [
        name,
        typeof value === 'string' ? fill(value) : value,
      ])
      const to = visitor && stage.visitors ? wire(stage.visitors) : line
      const target = visitor ? `/${collection}${path}` : targetOf(path, here, stage.prefix)
      const problems: string[] = []
      try {
        const content = typeof body === 'string' ? fill(body) : body
        const received = await to.ask(method, fill(target) || '/', Object.fromEntries(filled), content)
        const wanted = typeof expected === 'number' ? { status: expected } : expected
        problems.push(...compare(received, wanted, here))
        if (stage.strict) problems.push(...framing(received))
        for (const [name, what] of Object.entries(wanted.same ?? {}))
          if (found(received, what) !== kept.get(name)) problems.push(`${what} is not ${kept.get(name)} any more`)
        for (const [name, what] of Object.entries(wanted.keep ?? {})) kept.set(name, found(received, what) ?? '')
      } catch (error) {
        problems.push(String(error))
        to.close()
      }
      if (to !== line) to.close()
      played.push({ request, problems })
    }
  } catch (error) {
    const left = replay.steps.slice(played.length)
    played.push(...left.map(([request]) => ({ request, problems: [`preparation: ${error}`] })))
  } finally {
    line.close()
  }
  return played
}

function targetOf(path: string, here: string, prefix: string): string {
  if (path.startsWith('//')) return path.slice(1)
  return path.startsWith('~') ? prefix + path.slice(1) : here + path
}

/** Requests on one connection that is kept, as clients do; opened again when the server has closed it. */
function wire(place: Place) {
  let open: Connection | undefined
  const close = () => {
    open?.close()
    open = undefined
  }
  return {
    close,
    async ask(method: string, target: string, fields: Fields, body: Body): Promise<Received> {
      open ??= await connect(place)
      const connection = open
      void connection.ended.then(() => {
        if (open === connection) close()
      })
      const chunked = typeof body === 'object'
      const all = chunked ? { ...fields, 'Transfer-Encoding': 'chunked' } : fields
      const bytes = requestBytes(method, target, all, chunked ? chunks(body) : body, place)
      const timer = setTimeout(close, PATIENCE)
      try {
        if (/^100-continue$/i.test(String(fields.Expect ?? ''))) return await afterContinue(connection, bytes)
        connection.send(bytes)
        return await connection.receive({ head: method === 'HEAD' })
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** Sends the head, and the content only when the server says so. */
async function afterContinue(connection: Connection, bytes: Buffer): Promise<Received> {
  const end = bytes.indexOf('\r\n\r\n') + 4
  connection.send(bytes.subarray(0, end))
  const first = await connection.receive()
  if (first.status !== 100) throw new Error(`${first.status} instead of 100 Continue`)
  connection.send(bytes.subarray(end))
  return connection.receive()
}

function chunks(pieces: readonly string[]): string {
  const framed = pieces.map(piece => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
  return `${framed.join('')}0\r\n\r\n`
}

/** @returns one sentence for each difference */
function compare(received: Received, expected: Expected, here: string): string[] {
  const problems: string[] = []
  const { status, headers, body, props, paths } = expected
  const allowed = typeof status === 'number' ? [status] : status
  if (!allowed.includes(received.status)) problems.push(`status ${received.status} instead of ${allowed.join(' or ')}`)
  for (const [name, value] of Object.entries(headers ?? {})) {
    const came = received.headers[name]
    if (value === null ? came !== undefined : !agrees(came, value)) problems.push(`${name}: ${came}, not ${value}`)
  }
  if (body !== undefined && !agrees(received.text, body))
    problems.push(`content ${JSON.stringify(received.text.slice(0, 300))}`)
  for (const name of Object.keys(expected.keep ?? {}))
    if (found(received, expected.keep?.[name]) === undefined) problems.push(`no ${expected.keep?.[name]}`)
  if (props ?? paths) problems.push(...compareProperties(received.text, props ?? {}, paths, here))
  return problems
}

function framing({ headers }: Received): string[] {
  const chunked = headers['transfer-encoding'] === undefined ? [] : ['is sent in chunks']
  return headers.connection === 'close' ? [...chunked, 'ends the connection'] : chunked
}

function compareProperties(
  text: string,
  props: NonNullable<Expected['props']>,
  paths: Expected['paths'],
  here: string,
): string[] {
  const problems: string[] = []
  const responses = new Map([...readMultistatus(text)].map(([path, properties]) => [bare(path), properties]))
  const place = decodeURIComponent(here)
  if (paths) {
    const came = [...responses.keys()].map(path => (path.startsWith(place) ? path.slice(place.length) : path)).sort()
    const wanted = paths.map(bare).sort()
    if (came.join('\n') !== wanted.join('\n')) problems.push(`paths ${came.join(' ')}`)
  }
  for (const [path, wanted] of Object.entries(props)) {
    const properties = responses.get(bare(place + path))
    if (!properties) problems.push(`nothing about ${path}: ${[...responses.keys()].join(' ')}`)
    for (const [name, value] of Object.entries(wanted)) {
      const property = properties?.get(name)
      const right =
        typeof value === 'number'
          ? property?.status === value
          : property?.status === 200 && agrees(property.value, value)
      if (!right) problems.push(`${name} of ${path}: ${JSON.stringify(property)}, not ${value}`)
    }
  }
  return problems
}

function bare(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function agrees(came: string | undefined, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? came === wanted : came !== undefined && wanted.test(came)
}

function found(received: Received, what: string | undefined): string | undefined {
  if (what === 'token of the header') return /^<([^>]+)>$/.exec(received.headers['lock-token'] ?? '')?.[1]
  if (what === 'token of the body')
    return /<(?:\w+:)?locktoken[^>]*>\s*<(?:\w+:)?href[^>]*>\s*([^<\s]+)/.exec(received.text)?.[1]
  return received.headers[what ?? '']
}
