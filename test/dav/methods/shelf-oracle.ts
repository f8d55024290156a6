/** What a mount has to answer and to hold, told by a few maps: files, collections and dead properties by path. */

export type Operation =
  | { op: 'put'; path: string; content: string }
  | { op: 'delete'; path: string }
  | { op: 'mkcol'; path: string }
  | { op: 'describe'; path: string; value: string | undefined }
  | { op: 'copy' | 'move'; from: string; to: string; overwrite: boolean; deep: boolean }

/** Paths have no slash at their ends, whatever they stand for; `''` is the collection that everything happens in. */
export class ShelfOracle {
  readonly files = new Map<string, string>()
  readonly collections = new Set([''])
  readonly properties = new Map<string, string>()

  /** Carries an operation out, if it is possible. @returns the status */
  run(operation: Operation): number {
    if (operation.op === 'put') return this.#put(operation.path, operation.content)
    if (operation.op === 'delete') return this.#delete(operation.path)
    if (operation.op === 'mkcol') return this.#mkcol(operation.path)
    if (operation.op === 'describe') return this.#describe(operation.path, operation.value)
    return this.#transfer(operation)
  }

  #exists(path: string): boolean {
    return this.files.has(path) || this.collections.has(path)
  }

  /** The path and everything below it. */
  #tree(path: string): string[] {
    return [...this.files.keys(), ...this.collections].filter(each => each === path || each.startsWith(`${path}/`))
  }

  #remove(path: string): void {
    for (const each of this.#tree(path)) {
      this.files.delete(each)
      this.collections.delete(each)
      this.properties.delete(each)
    }
  }

  #put(path: string, content: string): number {
    if (this.collections.has(path)) return 405
    const above = ancestorsOf(path)
    if (above.some(each => this.files.has(each))) return 409
    const status = this.files.has(path) ? 204 : 201
    for (const each of above) this.collections.add(each)
    this.files.set(path, content)
    return status
  }

  #delete(path: string): number {
    if (!this.#exists(path)) return 404
    this.#remove(path)
    return 204
  }

  #mkcol(path: string): number {
    if (this.#exists(path)) return 405
    if (!this.collections.has(parentOf(path))) return 409
    this.collections.add(path)
    return 201
  }

  #describe(path: string, value: string | undefined): number {
    if (!this.#exists(path)) return 404
    if (value === undefined) this.properties.delete(path)
    else this.properties.set(path, value)
    return 207
  }

  #transfer({ op, from, to, overwrite, deep }: Operation & { op: 'copy' | 'move' }): number {
    if (!this.#exists(from)) return 404
    if (from === to || to.startsWith(`${from}/`) || from.startsWith(`${to}/`)) return 403
    const replaced = this.#exists(to)
    if (replaced && !overwrite) return 412
    if (!this.collections.has(parentOf(to))) return 409
    const work = this.files.has(from) && (isWorkFile(from) || isWorkFile(to))
    if (work && this.collections.has(to)) return 409
    this.#remove(to)
    const whole = deep || op === 'move'
    for (const each of this.#tree(from)) {
      if (each !== from && !whole) continue
      const target = to + each.slice(from.length)
      const content = this.files.get(each)
      if (content === undefined) this.collections.add(target)
      else this.files.set(target, content)
      const property = this.properties.get(each)
      if (property !== undefined) this.properties.set(target, property)
    }
    if (op === 'move') this.#remove(from)
    return replaced ? 204 : 201
  }
}

/** They are kept apart from the site, so that they cannot take the place of a collection of the site. */
export function isWorkFile(path: string): boolean {
  return path.endsWith('~$c')
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

/** Collections above a path, the nearest first. */
function ancestorsOf(path: string): string[] {
  const above: string[] = []
  for (let at = parentOf(path); at !== ''; at = parentOf(at)) above.push(at)
  return above
}
