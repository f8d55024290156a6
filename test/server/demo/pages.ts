// The demo site as it lies in the repository: its files by path, its pages as documents.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { JSDOM } from 'jsdom'

const root = fileURLToPath(new URL('../../../server/demo/site', import.meta.url))

/** Bytes of every file, by the path that it is served at. */
export const files: ReadonlyMap<string, Buffer> = new Map(
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map(file => [`/${relative(root, file).split(sep).join('/')}`, readFileSync(file)]),
)

/** Text of a file; throws when the site has none at that path. */
export function text(path: string): string {
  const bytes = files.get(path)
  if (bytes === undefined) throw new Error(`The demo site has no ${path}.`)
  return bytes.toString('utf8')
}

export interface Page {
  path: string
  source: string
  document: Document
}

/** Whether a page is put together when it is asked for. */
const isComposed = (path: string) => path.endsWith('.html') && text(path).includes('xmlns:p=')

/** Paths of the pages that are put together. */
export const composedPaths: readonly string[] = [...files.keys()].filter(isComposed).sort()

/** Every page that is served as it is stored, parsed; scripts do not run. */
export const pages: readonly Page[] = [...files.keys()]
  .filter(path => path.endsWith('.html') && !isComposed(path))
  .map(path => ({ path, source: text(path), document: new JSDOM(text(path)).window.document }))

/** One page; throws when there is none at that path. */
export function page(path: string): Page {
  const found = pages.find(candidate => candidate.path === path)
  if (found === undefined) throw new Error(`The demo site has no page ${path}.`)
  return found
}
