/** The imports of the sources, as they are written. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = ['config', 'dav', 'edge', 'pipeline', 'server']
/** Demo pages are no part of the program. */
const NO_SOURCE = 'server/demo/site/'

export interface Import {
  /** Importing file, from the root of the repository, with `/` between segments. */
  from: string
  /** As written. */
  specifier: string
  /** Imported file; undefined for packages. */
  to: string | undefined
  /** Whether only types are imported. */
  isType: boolean
  /** Whether what is imported is exported again. */
  isExport: boolean
}

const STATEMENT =
  /^(import|export)\s+(type\s+)?([^'";]*?)\s*from\s+'([^']+)'|^import\s+'([^']+)'|(?<!\btypeof )\bimport\('([^']+)'\)/gm

/** @param text of a module, formatted as the formatter does */
export function importsIn(from: string, text: string): Import[] {
  return [...text.matchAll(STATEMENT)].map(([, verb, type, names = '', ...specifiers]) => {
    const specifier = specifiers.find(each => each !== undefined) ?? ''
    const list = /^\{([\s\S]*)\}$/
      .exec(names)?.[1]
      ?.split(',')
      .map(name => name.trim())
    const onlyTypes = list?.every(name => name === '' || name.startsWith('type ')) ?? false
    return {
      from,
      specifier,
      to: specifier.startsWith('.') ? posix.join(dirname(from), specifier) : undefined,
      isType: type !== undefined || onlyTypes,
      isExport: verb === 'export',
    }
  })
}

/** The files of the program and of its demo site. */
export function allFiles(): string[] {
  return SOURCES.flatMap(source =>
    readdirSync(join(ROOT, source), { recursive: true, encoding: 'utf8' }).map(name =>
      posix.join(source, name.replaceAll('\\', '/')),
    ),
  )
}

/** All imports of the program. */
export function allImports(): Import[] {
  return allFiles()
    .filter(file => file.endsWith('.ts') && !file.startsWith(NO_SOURCE))
    .flatMap(file => importsIn(file, readFileSync(join(ROOT, file), 'utf8')))
}

/** The way as short as it can be written. */
export function shortest(from: string, to: string): string {
  const way = posix.relative(dirname(from), to)
  return way.startsWith('.') ? way : `./${way}`
}

/** A circle of files in which each needs a value of the next while it is loaded; undefined when there is none. */
export function circle(imports: readonly Import[]): string[] | undefined {
  const next = new Map<string, string[]>()
  for (const { from, to, isType } of imports) {
    if (to === undefined || isType) continue
    const known = next.get(from)
    if (known) known.push(to)
    else next.set(from, [to])
  }
  const done = new Set<string>()
  const search = (file: string, way: string[]): string[] | undefined => {
    const at = way.indexOf(file)
    if (at >= 0) return [...way.slice(at), file]
    if (done.has(file)) return undefined
    for (const to of next.get(file) ?? []) {
      const found = search(to, [...way, file])
      if (found) return found
    }
    done.add(file)
    return undefined
  }
  for (const file of next.keys()) {
    const found = search(file, [])
    if (found) return found
  }
  return undefined
}
