/** A shelf with exclusive locks: which requests they let through, by a list that is searched from end to end (DAV-82 to DAV-87). */

import { type Operation, parentOf, ShelfOracle } from '../methods/shelf-oracle.ts'

export interface HeldLock {
  path: string
  deep: boolean
  user: string
  token: string
}

export class LockOracle {
  readonly shelf = new ShelfOracle()
  locks: HeldLock[] = []

  /** Locks in effect on a path, inherited ones included. */
  on(path: string): HeldLock[] {
    return this.locks.filter(lock => lock.path === path || (lock.deep && path.startsWith(`${lock.path}/`)))
  }

  #below(path: string): HeldLock[] {
    return this.locks.filter(lock => lock.path.startsWith(`${path}/`))
  }

  /**
   * Carries an operation out, if nothing is in the way.
   *
   * @param tokens that the request submits
   * @returns the status
   */
  run(operation: Operation, user: string, tokens: ReadonlySet<string>): number {
    const mayPass = (locks: HeldLock[]) => locks.every(lock => lock.user === user && tokens.has(lock.token))
    const content = (path: string) => mayPass(this.on(path))
    const membership = (path: string) => content(path) && mayPass(this.on(parentOf(path)))
    const subtree = (path: string) => membership(path) && mayPass(this.#below(path))
    const { shelf } = this
    const exists = (path: string) => shelf.files.has(path) || shelf.collections.has(path)

    if (operation.op === 'put') {
      const { path } = operation
      let topmost = path
      while (!exists(path) && topmost !== '' && !exists(parentOf(topmost))) topmost = parentOf(topmost)
      const inTheWay = !exists(path) && shelf.files.has(parentOf(topmost))
      if (!inTheWay && !(exists(path) ? content(path) : membership(topmost))) return 423
      return shelf.run(operation)
    }
    if (operation.op === 'mkcol') {
      if (!exists(operation.path) && !membership(operation.path)) return 423
      return shelf.run(operation)
    }
    if (operation.op === 'describe') {
      if (exists(operation.path) && !content(operation.path)) return 423
      return shelf.run(operation)
    }
    if (operation.op === 'delete') {
      const { path } = operation
      if (exists(path) && !subtree(path)) return 423
      const status = shelf.run(operation)
      if (status < 300) this.#end(path)
      return status
    }
    const { op, from, to } = operation
    const replaced = exists(to)
    const replacesTree = shelf.collections.has(to)
    const overlap = from === to || to.startsWith(`${from}/`) || from.startsWith(`${to}/`)
    if (exists(from) && !overlap && (!replaced || operation.overwrite)) {
      if (op === 'move' && !subtree(from)) return 423
      if (!(replacesTree ? subtree(to) : replaced ? content(to) : membership(to))) return 423
    }
    const status = shelf.run(operation)
    if (status >= 300) return status
    if (op === 'move') this.#end(from)
    if (replacesTree) this.locks = this.locks.filter(lock => !lock.path.startsWith(`${to}/`))
    return status
  }

  /** @returns the status of LOCK; the lock is added by whoever knows its token */
  lock(path: string, deep: boolean, user: string, tokens: ReadonlySet<string>): number {
    const { shelf } = this
    if (shelf.files.has(path) || shelf.collections.has(path)) {
      if (this.on(path).length > 0) return 423
      return deep && this.#below(path).length > 0 ? 207 : 200
    }
    if (!shelf.collections.has(parentOf(path))) return 409
    const guards = this.on(parentOf(path))
    if (this.on(path).length > 0 || !guards.every(lock => lock.user === user && tokens.has(lock.token))) return 423
    shelf.files.set(path, '')
    return 201
  }

  #end(path: string): void {
    this.locks = this.locks.filter(lock => lock.path !== path && !lock.path.startsWith(`${path}/`))
  }
}
