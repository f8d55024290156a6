/** Packages that few servers need: each takes megabytes and some of the time of a start, so the first use loads it. */

import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/**
 * @param name package that is a dependency of this one
 * @returns gives what the package exports, and loads it when it is asked for the first time
 */
export function lazyPackage<Exports>(name: string): () => Exports {
  let loaded: Exports | undefined
  return () => (loaded ??= load(name) as Exports)
}
