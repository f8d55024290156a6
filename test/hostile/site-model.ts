/**
 * What a site has to answer and to hold, told by a few maps and lists: rules, files, collections and locks, asked by
 * visitors on the public surface and by authors on the mount. Nothing in it waits, so that requests which are under way
 * together can be tried in every order.
 */

import { createHash } from 'node:crypto'
import { LockOracle } from '../dav/locks/lock-oracle.ts'
import { parentOf } from '../dav/methods/shelf-oracle.ts'
import type { RuleLine } from '../support/content.ts'

export type Visitor = 'nobody' | 'ann' | 'bob'
export type Author = 'editor' | 'second' | 'part' | 'reader'

/** What a request asks of the stored bytes: a tag that has to be theirs, that there are some, or that there are none. */
export type Condition = { is: 'match'; tag: string } | { is: 'some' } | { is: 'none' } | undefined

export type Step =
  | { by: Visitor; op: 'get' | 'delete'; path: string; condition: Condition }
  | { by: Visitor; op: 'put'; path: string; content: string; condition: Condition }
  | { by: Visitor; op: 'append' | 'replace'; path: string; item: string }
  | { by: Visitor; op: 'cut'; path: string }
  | { by: Visitor; op: 'move'; from: string; to: string; overwrite: boolean }
  | { by: Author; op: 'dav-get' | 'mkcol'; path: string }
  | { by: Author; op: 'dav-put'; path: string; content: string; condition: Condition; tokens: readonly string[] }
  | { by: Author; op: 'dav-append'; path: string; item: string; tokens: readonly string[] }
  | { by: Author; op: 'dav-delete'; path: string; tokens: readonly string[] }
  | { by: Author; op: 'dav-copy' | 'dav-move'; from: string; to: string; overwrite: boolean; tokens: readonly string[] }
  | { by: Author; op: 'lock'; path: string; deep: boolean }
  | { by: Author; op: 'unlock'; token: string; path: string }
  /** The editor puts another set of rules. */
  | { by: 'editor'; op: 'rules'; rules: number }

/** Sets of rules, with paths below the site of the model. */
export const RULES: readonly (readonly RuleLine[])[] = [
  [['*', '*', 'Allow', '/*']],
  [
    ['*', 'GET', 'Allow', '/*'],
    ['ann', 'PUT|POST|DELETE|MOVE', 'Allow', '/*'],
  ],
  [
    ['*', '*', 'Allow', '/*'],
    ['*', '*', 'Deny', '/c/*'],
  ],
  [
    ['*', '*', 'Deny', '/*'],
    ['bob', '*', 'Allow', '/c/*'],
    ['ann', 'GET|PUT', 'Allow', '/b.html'],
  ],
  [
    ['*', 'PUT|POST|DELETE', 'Allow', '/*'],
    ['*', 'GET', 'Deny', '/b*'],
  ],
  [
    ['authenticated', '*', 'Allow', '/*'],
    ['ann', 'DELETE|MOVE', 'Deny', '/*'],
  ],
]

export const tagOfBytes = (content: string) => `"${createHash('sha256').update(content).digest('hex').slice(0, 48)}"`

/** Where a pattern of these rules fits: they end in a star, or name one path. */
function fits(pattern: string, path: string): boolean {
  if (!pattern.endsWith('*')) return pattern === path
  return path.startsWith(pattern.slice(0, -1)) || (pattern.endsWith('/*') && path === pattern.slice(0, -2))
}

const TIERS = (actor: string, by: Visitor) => {
  if (actor === '*') return 0
  if (by === 'nobody') return -1
  return actor === by ? 3 : actor === 'authenticated' ? 1 : -1
}

/** A status, or several where more than one is right. */
export type Wanted = number | readonly number[]

export class SiteModel {
  rules = 0
  authors = new LockOracle()

  clone(): SiteModel {
    const copy = new SiteModel()
    copy.rules = this.rules
    for (const [path, content] of this.authors.shelf.files) copy.authors.shelf.files.set(path, content)
    for (const path of this.authors.shelf.collections) copy.authors.shelf.collections.add(path)
    copy.authors.locks = [...this.authors.locks]
    return copy
  }

  get files(): Map<string, string> {
    return this.authors.shelf.files
  }

  get collections(): Set<string> {
    return this.authors.shelf.collections
  }

  /** Whether a visitor may do that at the path as a whole (DEC-1). */
  permits(by: Visitor, method: string, path: string): boolean {
    let [highest, denied] = [-1, false]
    for (const [actors, methods, action, pattern] of RULES[this.rules] ?? []) {
      const tier = Math.max(...actors.split('|').map(actor => TIERS(actor, by)))
      const isAbout = methods.split('|').some(each => each === '*' || each === method) && fits(pattern, path)
      if (!isAbout || tier < 0 || tier < highest) continue
      denied = action === 'Deny' || (tier === highest && denied)
      highest = tier
    }
    return highest < 0 ? method === 'GET' : !denied
  }

  /**
   * Carries a step out, if it is possible.
   *
   * @param made the token of the lock that the server gave
   */
  run(step: Step, made?: string): Wanted {
    switch (step.op) {
      case 'rules':
        this.rules = step.rules
        return 204
      case 'get':
        return this.#get(step)
      case 'put':
        return this.#put(step)
      case 'delete':
        return this.#delete(step)
      case 'append':
      case 'replace':
      case 'cut':
        return this.#edit(step)
      case 'move':
        return this.#move(step)
      default:
        return this.#author(step, made)
    }
  }

  #refused(by: Visitor): number {
    return by === 'nobody' ? 401 : 403
  }

  #absent(by: Visitor, path: string): number {
    return this.permits(by, 'GET', path) ? 404 : this.#refused(by)
  }

  /** Whether a condition on the stored bytes fails. */
  #fails(condition: Condition, path: string): boolean {
    const content = this.files.get(path)
    if (condition === undefined) return false
    if (condition.is === 'none') return content !== undefined
    return content === undefined || (condition.is === 'match' && tagOfBytes(content) !== condition.tag)
  }

  #get({ by, path, condition }: Step & { op: 'get' | 'delete' }): Wanted {
    if (!this.permits(by, 'GET', path)) return this.#refused(by)
    if (!this.files.has(path)) return 404
    if (condition?.is === 'none') return 304
    return this.#fails(condition, path) ? 412 : 200
  }

  #put({ by, path, content, condition }: Step & { op: 'put' }): Wanted {
    if (!this.permits(by, 'PUT', path)) return this.#refused(by)
    if (this.collections.has(path)) return [405, 409, 412]
    if (this.#isBelowFile(path)) return [409, 412]
    if (this.#fails(condition, path)) return 412
    const status = this.files.has(path) ? 200 : 201
    this.#store(path, content)
    return status
  }

  #isBelowFile(path: string): boolean {
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) if (this.files.has(at)) return true
    return false
  }

  #store(path: string, content: string): void {
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) this.collections.add(at)
    this.files.set(path, content)
  }

  #delete({ by, path, condition }: Step & { op: 'get' | 'delete' }): Wanted {
    if (!this.permits(by, 'DELETE', path)) return this.#refused(by)
    if (!this.files.has(path)) return this.#absent(by, path)
    if (this.#fails(condition, path)) return 412
    // Locks bind the mount alone: one stays at its address (DAV-80).
    this.files.delete(path)
    return 204
  }

  #edit(step: Step & { op: 'append' | 'replace' | 'cut' }): Wanted {
    const { by, op, path } = step
    const method = op === 'append' ? 'POST' : op === 'replace' ? 'PUT' : 'DELETE'
    const isPermitted = this.permits(by, method, path)
    const before = this.files.get(path)
    if (before === undefined) return isPermitted ? this.#absent(by, path) : [this.#absent(by, path), this.#refused(by)]
    if (!isPermitted) return this.#refused(by)
    const after = edited(before, op, 'item' in step ? step.item : '')
    if (after === undefined) return this.permits(by, 'GET', path) ? 416 : this.#refused(by)
    this.files.set(path, after)
    return op === 'cut' ? 204 : 206
  }

  #move({ by, from, to, overwrite }: Step & { op: 'move' }): Wanted {
    if (!this.permits(by, 'MOVE', from) || !this.permits(by, 'MOVE', to)) return this.#refused(by)
    const content = this.files.get(from)
    if (from === to) return content === undefined ? [403, this.#absent(by, from)] : 403
    if (content === undefined) return this.#absent(by, from)
    if (this.collections.has(to)) return [405, 409, 412]
    if (this.files.has(to) && !overwrite) return 412
    if (this.#isBelowFile(to)) return 409
    this.#store(to, content)
    this.files.delete(from)
    return 204
  }

  #author(step: Exclude<Step, { by: Visitor } | { op: 'rules' }>, made: string | undefined): Wanted {
    const { by, op } = step
    const reads = op === 'dav-get'
    // Its scope is `/*/c/*`; collections above what it sees are there for it, too.
    const sees = (path: string) => by !== 'part' || path.split('/').includes('c')
    const paths = 'from' in step ? [step.from, step.to] : [step.path]
    if (!reads && (by === 'reader' || !paths.every(sees))) return [403, 404]
    if (reads && !paths.every(sees)) return paths.some(path => this.collections.has(path)) ? [200, 404] : 404
    const tokens = new Set('tokens' in step ? step.tokens : [])
    switch (step.op) {
      case 'dav-get':
        return this.files.has(step.path) || this.collections.has(step.path) ? 200 : 404
      case 'dav-put':
        if (this.collections.has(step.path)) return [405, 412, 423]
        if (this.#fails(step.condition, step.path)) return [412, 423, 409]
        return this.authors.run({ op: 'put', path: step.path, content: step.content }, by, tokens)
      case 'dav-append':
        return this.#authorAppends(step, tokens)
      case 'dav-delete':
        return this.authors.run({ op: 'delete', path: step.path }, by, tokens)
      case 'mkcol':
        return this.authors.run({ op: 'mkcol', path: step.path }, by, tokens)
      case 'lock': {
        const { path, deep } = step
        const status = this.authors.lock(path, deep, by, tokens)
        if (status < 207) this.authors.locks.push({ path, deep, user: by, token: made ?? '' })
        return status
      }
      case 'unlock': {
        const held = this.authors.locks.find(({ token }) => token === step.token)
        if (!held) return 409
        if (held.user !== by && by === 'part') return 403
        this.authors.locks = this.authors.locks.filter(lock => lock !== held)
        return 204
      }
      default: {
        const { from, to, overwrite } = step
        const op = step.op === 'dav-copy' ? 'copy' : 'move'
        return this.authors.run({ op, from, to, overwrite, deep: true }, by, tokens)
      }
    }
  }

  #authorAppends({ by, path, item }: Step & { op: 'dav-append' }, tokens: ReadonlySet<string>): Wanted {
    const before = this.files.get(path)
    const isFree = this.authors.on(path).every(lock => lock.user === by && tokens.has(lock.token))
    if (before === undefined) return [404, ...(isFree ? [] : [423]), ...(this.collections.has(path) ? [422] : [])]
    const after = edited(before, 'append', item)
    if (after === undefined) return isFree ? 416 : [416, 423]
    if (!isFree) return 423
    this.files.set(path, after)
    return 206
  }

  /** Everything, as one text. */
  get state(): string {
    const lines = [...this.files].map(([path, content]) => `${path} ${JSON.stringify(content)}`)
    for (const path of this.collections) lines.push(`${path}/`)
    for (const { path, deep, user, token } of this.authors.locks) lines.push(`lock ${path} ${deep} ${user} ${token}`)
    return [`rules ${this.rules}`, ...lines.sort()].join('\n')
  }
}

/** The bytes after an edit of the list, if there is one. */
function edited(content: string, op: 'append' | 'replace' | 'cut', item: string): string | undefined {
  const [before, list, after] = content.split(/(?<=<ul id="l">)(.*)(?=<\/ul>)/)
  if (list === undefined) return undefined
  if (op === 'append') return `${before}${list}<li>${item}</li>${after}`
  if (op === 'replace') return `${before}<li>${item}</li>${after}`
  return list === '' ? undefined : `${before}${list.replace(/^<li>[^<]*<\/li>/, '')}${after}`
}
