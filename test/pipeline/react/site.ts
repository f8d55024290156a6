/** Reactions as markup, and a server with open rules to try them on. */

import { NS, page, putAll, ruleMarkup } from '../../support/content.ts'
import { startServer, type TestServer, type TestServerOptions } from '../../support/server.ts'

export { NS, page }

/** Everybody may do everything. */
export const OPEN = page(ruleMarkup(['*', '*|GET|PUT|POST|DELETE|MOVE|QUERY', 'Allow', '*']))

export interface ReactionFields {
  resource?: string | readonly string[]
  method?: string | readonly string[]
  selector?: string
  status?: string | readonly string[]
  when?: string | readonly string[]
  action?: string | readonly string[]
  otherwise?: string | readonly string[]
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

export const meta = (name: string, value: string) => `<meta itemprop="${name}" content="${escaped(value)}">`

/** A property that is Sessel code. */
export const sessel = (name: string, source: string) =>
  `<div itemprop="${name}" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">${source}</script></div>`

/** A property that is a JavaScript module. */
export const javascript = (name: string, source: string) =>
  `<div itemprop="${name}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${source}</script></div>`

/** An outbound request as a property. */
export const request = (name: string, fields: Readonly<Record<string, string>>, more = '') =>
  `<div itemprop="${name}" itemscope itemtype="${NS}/HttpRequest">${Object.entries(fields)
    .map(([field, value]) => meta(field, value))
    .join('')}${more}</div>`

/** Code beginning with `<` is markup of its own; other text is Sessel. */
const codeOf = (name: string, source: string) => (source.startsWith('<') ? source : sessel(name, source))

const list = (value: string | readonly string[] | undefined) =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value

export function reaction(type: string, fields: ReactionFields): string {
  const { when, action, otherwise, selector } = fields
  const filters = [
    ...list(fields.resource).map(value => meta('resource', value)),
    ...list(fields.method).map(value => meta('method', value)),
    ...list(selector).map(value => meta('selector', value)),
    ...list(fields.status).map(value => meta('status', value)),
  ]
  const code = [
    ...list(when).map(source => codeOf('when', source)),
    ...list(action).map(source => codeOf('action', source)),
    ...list(otherwise).map(source => codeOf('otherwise', source)),
  ]
  const itemtype = type.includes(':') ? type : `${NS}/${type}`
  return `<div hidden itemscope itemtype="${itemtype}">${filters.join('')}${code.join('')}</div>`
}

export const trigger = (fields: ReactionFields) => reaction('Trigger', fields)
export const processor = (fields: ReactionFields) => reaction('Processor', fields)

/** Sessel that answers. */
export const answering = (status: number, message: string, headers: Readonly<Record<string, string>> = {}) =>
  `@schema HTTPResponse url("${NS}/HTTPResponse");
@schema Pair url("${NS}/Pair");
throw new HTTPResponse { status: ${status}, message: "${message}"${Object.entries(headers)
    .map(([key, value]) => `, header: new Pair { key: "${key}", value: "${value.replaceAll('"', '\\"')}" }`)
    .join('')} }`

export interface ReactingSite extends TestServer {
  /** Sends a request to the site. */
  ask(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string | Uint8Array },
  ): Promise<Reply>
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  bytes: Buffer
}

/** A server whose site holds some documents and open rules. */
export async function reactingSite(
  documents: Readonly<Record<string, string | Uint8Array>>,
  options: TestServerOptions = {},
): Promise<ReactingSite> {
  const server = await startServer(options)
  await putAll(server, { '/rules.html': OPEN, ...documents })
  return { ...server, ask: (method, path, request = {}) => ask(server.url, method, path, request) }
}

export async function ask(
  origin: string,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<Reply> {
  const response = await fetch(origin + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: typeof body === 'string' ? body : Buffer.from(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, text: bytes.toString(), bytes }
}
