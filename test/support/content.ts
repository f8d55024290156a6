/** What sites of tests hold: files put there past all rules, pages, and authorization rules as markup. */

import { Readable } from 'node:stream'
import { fullAuthority } from '../../pipeline/authority.ts'
import { NO_BODY } from '../../pipeline/body.ts'
import { perform } from '../../pipeline/operation.ts'
import { deleteDocument, putDocument } from '../../pipeline/write/document.ts'
import type { TestServer } from './server.ts'

/** Vocabulary of the test servers: the default of the settings. */
export const NS = 'https://platform.example/ns'

/** A server, and the site of it that is meant; `site` of the server itself is that of `localhost`. */
export type Shelf = Pick<TestServer, 'running' | 'site'>

/**
 * Stores a file as the operator may, whatever the rules say.
 *
 * @param type as `Content-Type` of a PUT
 */
export async function put(shelf: Shelf, path: string, content: string | Uint8Array, type?: string): Promise<void> {
  const bytes = Buffer.from(content)
  const body = {
    bytes: async () => bytes,
    stage: (cap: number) => shelf.running.store.stage(Readable.from([bytes]), { limit: cap }),
  }
  const write = { path, type, conditions: undefined, cause: {} }
  await perform(
    putDocument(shelf.site, write, () => fullAuthority),
    body,
  )
}

/** Removes a file as the operator may. */
export async function remove(shelf: Shelf, path: string): Promise<void> {
  await perform(
    deleteDocument(shelf.site, { path, conditions: undefined, cause: {} }, () => fullAuthority),
    NO_BODY,
  )
}

/** Stores several files. */
export async function putAll(shelf: Shelf, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) await put(shelf, path, content)
}

/** A complete page around some markup. */
export function page(body: string): string {
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>t</title></head><body>\n${body}\n</body></html>\n`
}

/** `actors methods Allow|Deny resources [selector]`: values of one field are joined by `|`. */
export type RuleLine = readonly [actors: string, methods: string, action: string, resources: string, selector?: string]

/** Authorization rules as a page. */
export function rulesPage(...lines: RuleLine[]): string {
  return page(lines.map(ruleMarkup).join('\n'))
}

/** One authorization rule as markup. */
export function ruleMarkup([actors, methods, action, resources, selector]: RuleLine): string {
  const fields: [string, string[]][] = [
    ['actor', actors.split('|')],
    ['method', methods.split('|')],
    ['resource', resources.split('|')],
    ['selector', selector === undefined ? [] : [selector]],
    ['action', [action]],
  ]
  const metas = fields.flatMap(([name, values]) =>
    values.map(value => `<meta itemprop="${name}" content="${value.replaceAll('"', '&quot;')}">`),
  )
  return `<div hidden itemscope itemtype="${NS}/AuthorizationRule">${metas.join('')}</div>`
}
