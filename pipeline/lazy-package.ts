/** Packages that few servers need: each takes megabytes and some of the time of a start, so the first use loads it. */

import { createRequire, type LoadHookSync, registerHooks } from 'node:module'

const load = createRequire(import.meta.url)

/** Entries that a package may remember by a number, and by anything else: names of time zones are some 600. */
const MOST_NUMBERS = 256
const MOST_NAMES = 1_000

/**
 * @param name package that is a dependency of this one
 * @returns gives what the package exports, and loads it when it is asked for the first time
 */
export function lazyPackage<Exports>(name: string): () => Exports {
  let loaded: Exports | undefined
  return () => (loaded ??= load(name) as Exports)
}

/** `lazyPackage` for one of ES modules that remembers what it was asked: its `Map` is a ForgettingMap. */
export function lazyForgetful<Exports>(name: string): () => Exports {
  const own = `import { ForgettingMap as Map } from ${JSON.stringify(import.meta.url)};`
  const give: LoadHookSync = (url, context, next) => {
    const loaded = next(url, context)
    if (!url.includes(`/node_modules/${name}/`) || loaded.format !== 'module') return loaded
    const { source = '' } = loaded
    return { ...loaded, source: own + (typeof source === 'string' ? source : new TextDecoder().decode(source)) }
  }
  let loaded: Exports | undefined
  return () => {
    if (loaded !== undefined) return loaded
    const hooks = registerHooks({ load: give })
    try {
      loaded = load(name) as Exports
    } finally {
      hooks.deregister()
    }
    return loaded
  }
}

/** A Map that begins anew when it is full: what packages remember of what they were asked would stay for good. */
export class ForgettingMap<K, V> extends Map<K, V> {
  override set(key: K, value: V): this {
    if (this.size >= (typeof key === 'number' ? MOST_NUMBERS : MOST_NAMES) && !this.has(key)) this.clear()
    return super.set(key, value)
  }
}
