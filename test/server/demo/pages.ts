// The demo site as it lies in the repository: its files by path, its pages as documents.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDom } from '../../support/dom.ts'

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

const FRAME = '/parts/frame.html'
const INCLUDE = /<p:include selector="\.(\w+)" resource="\/parts\/frame\.html"><\/p:include>/g

/** A page with the frame in its place: header and footer, as its reader gets them. */
function framed(path: string): string {
  const address = path.replace(/index\.html$/, '')
  const part = (name: string) =>
    (new RegExp(`<(header|footer) class="${name}\\b.*?</\\1>`, 's').exec(text(FRAME))?.[0] ?? '')
      .replace(' p:template="text/liquid"', '')
      .replace(/\{% if (.*?) %\}(.*?)\{% endif %\}/g, (_, condition: string, shown: string) =>
        condition.includes(`'${address}'`) ? shown : '',
      )
  return text(path)
    .replace(INCLUDE, (_, name: string) => part(name))
    .replace(/ xmlns:p="[^"]*"/, '')
}

/** Whether more of a page is put together when it is asked for than the frame around it. */
const isComposed = (path: string) => path.endsWith('.html') && /<p:|\sp:/.test(text(path).replace(INCLUDE, ''))

/** Paths of the pages of which more is put together than their frame. */
export const composedPaths: readonly string[] = [...files.keys()].filter(isComposed).sort()

/** Every other page with its frame, parsed; scripts do not run. */
export const pages: readonly Page[] = [...files.keys()]
  .filter(path => path.endsWith('.html') && !isComposed(path))
  .map(path => ({ path, source: framed(path), document: readDom(framed(path)) }))

/** One page; throws when there is none at that path. */
export function page(path: string): Page {
  const found = pages.find(candidate => candidate.path === path)
  if (found === undefined) throw new Error(`The demo site has no page ${path}.`)
  return found
}
