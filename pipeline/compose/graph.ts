/**
 * The documents of a site as a composition reads them, with the authority of the server (COMP-29). Every document is read
 * once and stays as it is until the composition has ended.
 */

import { compilePattern, matchesPath, type Pattern } from '../access/glob.ts'
import { canonicalPath, isReserved } from '../http/path.ts'
import type { Allowance } from '../language/allowance.ts'
import { withoutValues } from '../language/told.ts'
import { ElementValue, type Source } from '../language/values.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { type ElementNode, type ParentNode, type TreeDocument, treeOf } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { type Needs, neededTokens } from '../tree/selector/needs.ts'
import {
  type FunctionCall,
  replaced,
  resultOf,
  type Selector,
  SelectorError,
  saidBy,
  selectingAll,
  selectorFor,
} from '../tree/selector/selector.ts'
import { compositionError } from './failure.ts'
import { type Page, readingPage } from './page.ts'
import type { Reads } from './reads.ts'
import { mayMatchRequest } from './request-document.ts'
import { awaiting, type Work } from './work.ts'

/** Elements that the selector of a directive visits for one step: it does so faster than programs do. */
const ELEMENTS_PER_STEP = 8

/** Bytes that an element in the value of a binding takes. */
const VALUE_BYTES = 48

/** Alternatives of patterns that a path is held against for one step, and the steps after which others may have their turn. */
const ALTERNATIVES_PER_STEP = 4
const STEPS_PER_PAUSE = 500

export class SiteGraph {
  readonly #site: Site
  readonly #reads: Reads
  readonly #pages = new Map<string, Page | undefined>()
  readonly #byRoot = new Map<ParentNode, Page>()
  /** What directives have selected: many of one page may ask the same. */
  readonly #selected = new Map<string, readonly ElementValue[]>()
  readonly #pins: (() => void)[] = []
  /** Documents that memory did not hold. */
  readonly #lookedUp: string[] = []
  readonly #makeRequest: () => TreeDocument
  #request: Source | undefined

  /** @param makeRequest makes the Request document */
  constructor(site: Site, reads: Reads, makeRequest: () => TreeDocument) {
    this.#site = site
    this.#reads = reads
    this.#makeRequest = makeRequest
  }

  /** Lets commits change the trees again. */
  release(): void {
    for (const release of this.#pins.splice(0)) release()
  }

  /**
   * Has memory know what the store has shown: a commit can be seen there before that, while documents in memory are as they
   * were (COMP-4).
   */
  async followShown(): Promise<void> {
    const { index, underWay } = this.#site
    const readings = index?.readings ?? 0
    const isIndexAhead = index && index.followed < readings
    if (this.#lookedUp.length === 0 && !isIndexAhead) return
    const shown = isIndexAhead ? ['/'] : this.#lookedUp
    await Promise.all([this.#site.inStep(), ...shown.flatMap(path => underWay.at(path))])
    if (isIndexAhead) index.followed = Math.max(index.followed, readings)
  }

  /** @returns undefined where no document is stored */
  *page(path: string): Work<Page | undefined> {
    if (this.#pages.has(path)) return this.#pages.get(path)
    if (isReserved(path, this.#site.settings.brand)) return undefined
    const file = this.#site.inMemory(path) ?? (yield* this.#lookUp(path))
    const page = file?.isDocument ? yield* this.reading(file) : undefined
    this.#reads.document(path, file?.resource)
    this.#pages.set(path, page)
    return page
  }

  *#lookUp(path: string): Work<StoredFile | undefined> {
    this.#lookedUp.push(path)
    return yield* awaiting(this.#site.find(path))
  }

  /** The page of a document that is in memory. */
  *reading(file: StoredFile): Work<Page> {
    const { path } = file.resource
    const tree = file.hasTree ? this.#site.tree(file) : yield* awaiting(this.#site.parsed(file))
    this.#pins.push(pinTree(tree))
    const page = yield* readingPage(file, tree, this.#site.settings.ns)
    this.#pages.set(path, page)
    this.#byRoot.set(page.search.root, page)
    this.#byRoot.set(page.tree.root, page)
    this.#reads.document(path, file.resource)
    return page
  }

  /** The page that a tree belongs to. */
  pageOf({ root }: TreeDocument): Page | undefined {
    return this.#byRoot.get(root)
  }

  /** The page that a stored element belongs to; undefined for what the content of a template holds. */
  pageHolding(element: ElementNode): Page | undefined {
    let root = treeOf(element)
    while ('host' in root && root.host) root = treeOf(root.host)
    return this.#byRoot.get(root)
  }

  /** Paths of the documents that may hold what a selector needs, in the order of their bytes. */
  *paths(needs: Needs): Work<readonly string[]> {
    const found = yield* this.#documentsWith(needs)
    this.#reads.search(needs, found)
    return found
  }

  *#documentsWith(needs: Needs): Work<readonly string[]> {
    const found = this.#site.documentsWith(needs)
    return found instanceof Promise ? yield* awaiting(found) : found
  }

  /**
   * Paths of the documents that one of several globs covers (COMP-25).
   *
   * @param allowance pays for each that is held against the globs
   */
  *matching(globs: readonly string[], needs: Needs, allowance: Allowance): Work<readonly string[]> {
    allowance.step(globs.length)
    const patterns = globs.map(glob => compilePattern(glob))
    const literal = patterns.flatMap(literalPaths)
    // What names its documents needs no index.
    if (!literal.includes(undefined)) return [...new Set(literal)].filter(path => path !== undefined).sort(byBytes)
    const isWanted = (path: string) => patterns.some(pattern => matchesPath(pattern, path))
    const found = yield* this.#documentsWith(needs)
    const wanted: string[] = []
    const alternatives = patterns.reduce((sum, { matchers }) => sum + matchers.length, 0)
    const each = Math.ceil(alternatives / ALTERNATIVES_PER_STEP)
    let steps = 0
    for (const path of found) {
      allowance.step(each)
      steps += each
      if (steps > STEPS_PER_PAUSE) {
        steps = 0
        yield
      }
      if (isWanted(path)) wanted.push(path)
    }
    this.#reads.search(needs, found, isWanted)
    return wanted
  }

  /**
   * Elements of stored markup, in the order of the site graph.
   *
   * @param allowance pays for elements that are visited and found
   * @param globs of the documents to look into; all of them, the Request document included, when missing (COMP-114)
   */
  *select(selector: Selector, allowance: Allowance, globs?: readonly string[]): Work<readonly ElementValue[]> {
    const question = JSON.stringify([selector.text, globs])
    const known = this.#selected.get(question)
    if (known) return known
    const plain = selector.calls ? yield* this.#withoutFunctions(selector, selector.calls, allowance) : selector
    const found = yield* this.#selecting(plain, allowance, globs)
    this.#selected.set(question, found)
    return found
  }

  *#selecting(selector: Selector, allowance: Allowance, globs?: readonly string[]): Work<readonly ElementValue[]> {
    const found: ElementValue[] = []
    const needs = neededTokens(selector)
    for (const path of globs ? yield* this.matching(globs, needs, allowance) : yield* this.paths(needs)) {
      // Short documents that are in memory are none of the places where a search can be left.
      yield
      allowance.step()
      const page = yield* this.page(path)
      if (page) yield* selectingIn(found, page.source, selector, allowance)
    }
    if (!globs) for (const request of this.requestFor(needs)) yield* selectingIn(found, request, selector, allowance)
    return found
  }

  /** COMP-139: an author's functions see the whole site. @throws Fault 500 when their results make it no selector */
  *#withoutFunctions({ text }: Selector, calls: readonly FunctionCall[], allowance: Allowance): Work<Selector> {
    const { selectors } = this.#site
    try {
      const results: string[] = []
      for (const call of calls) {
        const elements = yield* this.select(selectorFor(call.selector, selectors), allowance)
        const { node, source } = elements[0] ?? {}
        results.push(resultOf(call, elements.length, () => (node && source ? saidBy(call, node, source.document) : '')))
      }
      return selectorFor(replaced(text, calls, results), selectors)
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      throw compositionError(`A selector with functions cannot be used: ${withoutValues(error.message, text)}.`)
    }
  }

  /**
   * The Request document, for a search: what this one does not hold, that of the next visitor may.
   *
   * @returns nothing where no request can hold what is needed
   */
  requestFor(needs: Needs): Source[] {
    if (!mayMatchRequest(needs, this.#site.settings.ns, type => this.#site.model.subtypes(type))) return []
    this.#reads.personal = true
    return [this.requestDocument]
  }

  /** The Request document, which has no address and comes last (COMP-116). */
  get requestDocument(): Source {
    this.#request ??= {
      path: undefined,
      document: this.#makeRequest(),
      found: () => {
        this.#reads.personal = true
      },
    }
    return this.#request
  }
}

/** The paths that a pattern without wildcards stands for; undefined for any other alternative. */
function literalPaths({ heads }: Pattern): (string | undefined)[] {
  return heads.map(({ text, whole }) => (whole ? canonicalPath(text) : undefined))
}

/** Paths in the order of the site graph. */
export function byBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Adds the elements of one document. */
function* selectingIn(found: ElementValue[], source: Source, selector: Selector, allowance: Allowance): Work<void> {
  const { document } = source
  const elements = yield* selectingAll(selector, document, document.root, (visited, steps) =>
    allowance.step(Math.ceil((visited + (steps >> 2)) / ELEMENTS_PER_STEP)),
  )
  allowance.take(elements.length * VALUE_BYTES)
  for (const element of elements) found.push(new ElementValue(element, source))
}
