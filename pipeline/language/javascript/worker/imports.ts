/** Which imports a program makes, found before any of it runs (JS-8). */

import { init, parse } from 'es-module-lexer'

export type Imports =
  /** The type URLs of the schemas that it imports. */
  | { schemas: string[] }
  /** It imports something else, or in another way. */
  | { forbidden: string }

/** Reads its program when it is imported; nobody looks at a source before. */
await init

/** `import Name from "…" with { … }`: the default import alone. */
const DEFAULT_ALONE = /^import\s*(?:\/\*[^*]*\*\/\s*)*[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*\s*from\s*["']/u

/**
 * @param ns base URI of the site's vocabulary
 * @returns what it imports; a source that cannot be read imports nothing: it does not compile either, and whatever it
 *   imported all the same the loader refuses
 */
export function importsOf(source: string, ns: string): Imports {
  if (!source.includes('import') && !source.includes('from') && !source.includes('\\')) return { schemas: [] }
  let found: ReturnType<typeof parse>[0]
  try {
    ;[found] = parse(source)
  } catch {
    return { schemas: [] }
  }
  const schemas: string[] = []
  for (const each of found) {
    if (each.type === 'import-meta') continue
    if (each.type !== 'static' || each.phase !== null || each.typeOnly) {
      return { forbidden: source.slice(each.start, each.end) }
    }
    const { specifier, attributes } = each
    const statement = source.slice(each.importStart, each.start)
    const isSchema = attributes?.length === 1 && attributes[0]?.[0] === 'type' && attributes[0][1] === `${ns}/Schema`
    if (!isSchema || !isTypeUrl(specifier) || !DEFAULT_ALONE.test(statement)) {
      return { forbidden: specifier }
    }
    schemas.push(specifier)
  }
  return { schemas }
}

/** Schemas govern absolute URLs; `node:`, `data:` and the like are none that anybody could register by chance. */
function isTypeUrl(specifier: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(specifier) && !/^(?:node|data|file|javascript|blob|realm):/i.test(specifier)
}
