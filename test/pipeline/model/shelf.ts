/** A site for tests of data models: everybody may write everything, lists take items. */

import { textOf } from '../../http/write-checks.ts'
import { page, put, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received } from '../../support/http.ts'
import { startServer, type TestServer, type TestServerOptions } from '../../support/server.ts'

export interface ModelShelf {
  server: TestServer
  http: Client
  /** Stores declarations at a path, as the operator may. */
  declare(...declarations: string[]): Promise<void>
  /** Stores a page with a list of items, past nothing: the write is judged. */
  list(path: string, ...items: string[]): Promise<void>
  /** POSTs an item into the list of a page. */
  append(path: string, item: string, selector?: string): Promise<Received>
  /** PUTs a whole page. */
  replace(path: string, body: string): Promise<Received>
  text(path: string): Promise<string>
  /** Removes everything but the rules. */
  clear(): Promise<void>
  close(): Promise<void>
}

/**
 * Sends requests to the mount. A whole PUT that replaces and a whole MOVE have statuses of their own there (DAV-42); they
 * are told in those of the public surface.
 */
function mountClient({ mountUrl, user, password }: TestServer): Client {
  const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const send = client(Number(new URL(mountUrl).port), { Authorization })
  const statuses: Readonly<Record<string, number>> = { 'PUT 204': 200, 'MOVE 201': 204 }
  return async (method, target, fields, body) => {
    const received = await send(method, target, fields, body)
    const status = statuses[`${method} ${received.status}`]
    return status === undefined || fields?.Range !== undefined ? received : { ...received, status }
  }
}

/** A page with one list. */
export function listPage(...items: string[]): string {
  return page(`<ul id="list">\n${items.join('\n')}\n</ul>`)
}

/** Where a site takes writes. */
export type Plane = 'public surface' | 'mount'

export async function openShelf(options: TestServerOptions = {}, plane: Plane = 'public surface'): Promise<ModelShelf> {
  const server = await startServer(options)
  const http = plane === 'mount' ? mountClient(server) : client(server.port)
  await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
  return {
    server,
    http,
    declare: (...declarations) => put(server, '/model.html', page(declarations.join('\n'))),
    list: (path, ...items) => put(server, path, listPage(...items)),
    append: (path, item, selector = '#list') => http('POST', path, { Range: `selector=${selector}` }, item),
    replace: (path, body) => http('PUT', path, {}, body),
    text: path => textOf(server, path),
    async clear() {
      const paths: string[] = []
      for await (const { path } of server.site.store.walk('/')) if (path !== '/rules.html') paths.push(path)
      // Declarations go first, so that nothing holds on to what is removed.
      paths.sort((a, b) => Number(b === '/model.html') - Number(a === '/model.html'))
      for (const path of paths) await remove(server, path)
    },
    close: () => server.close(),
  }
}
