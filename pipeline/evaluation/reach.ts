/** The documents of a site as programs reach them: as stored, and unchanged until the evaluation has ended. */

import { compilePattern, matchesPath } from '../access/glob.ts'
import { isReserved } from '../http/path.ts'
import type { Allowance } from '../language/allowance.ts'
import type { MaybeLater, Needs, Reach } from '../language/sessel/host.ts'
import type { Source } from '../language/values.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { begin, inTurns, type Steps, unnoticed, waitingTurn } from '../tree/steps.ts'

/** Paths that are asked about without a pause. */
const PER_TURN = 500

/** Alternatives of a pattern that a path is held against for one step, and those after which others may have their turn. */
const ALTERNATIVES_PER_STEP = 4
const ALTERNATIVES_PER_PAUSE = 500

/** Which paths are wanted, and how many alternatives each is held against for that. */
interface Wanted {
  test(path: string): boolean
  alternatives: number
}

const ANY: Wanted = { test: () => true, alternatives: 1 }

/** What of a site a program reaches. */
export interface Bounds {
  /** Default scope: one document, or everything below a path that ends in a slash. */
  scope: string
  /** Path of the collection that all lies below that can be reached; the whole site when missing. */
  within?: string
  /** Whether a document can be reached by its path; everything below `scope` when missing. */
  covers?(path: string): boolean | Promise<boolean>
  /** What the program sees of a document; the document itself when missing. */
  seen?(path: string, document: TreeDocument): MaybeLater<TreeDocument>
}

/** The documents that one evaluation looks at. */
export class SiteReach implements Reach {
  readonly #site: Site
  readonly #allowance: Allowance
  readonly #bounds: Bounds
  readonly #sources = new Map<string, Source | undefined>()
  readonly #pins: (() => void)[] = []
  #isReleased = false
  /** Whether documents that a search has found can be reached. */
  readonly #known = new Map<string, boolean>()

  /** @param allowance pays for the documents that are looked at */
  constructor(site: Site, allowance: Allowance, bounds: Bounds) {
    this.#site = site
    this.#allowance = allowance
    this.#bounds = bounds
  }

  /** To be called when the evaluation has ended. */
  release(): void {
    this.#isReleased = true
    for (const release of this.#pins) release()
    this.#pins.length = 0
  }

  everywhere(needs: Needs): MaybeLater<readonly string[]> {
    const { scope } = this.#bounds
    return scope.endsWith('/') ? this.#below(scope, needs, ANY) : [scope]
  }

  matching(glob: string, needs: Needs): MaybeLater<readonly string[]> {
    const pattern = compilePattern(glob)
    const { scope, within = '/', covers } = this.#bounds
    if (!scope.endsWith('/') && !covers) return matchesPath(pattern, scope) ? [scope] : []
    const wanted = { test: (path: string) => matchesPath(pattern, path), alternatives: pattern.matchers.length }
    return this.#below(covers ? within : scope, needs, wanted)
  }

  /** Paths of documents, in order. */
  #below(prefix: string, needs: Needs, wanted: Wanted): MaybeLater<readonly string[]> {
    const found = this.#site.documentsWith(needs, prefix)
    return found instanceof Promise ? found.then(paths => this.#chosen(paths, wanted)) : this.#chosen(found, wanted)
  }

  #chosen(paths: readonly string[], wanted: Wanted): MaybeLater<readonly string[]> {
    const { covers } = this.#bounds
    if (!covers) this.#allowance.step(paths.length * Math.ceil(wanted.alternatives / ALTERNATIVES_PER_STEP))
    const work = this.#choosing(paths, wanted)
    const inside = begin(work, unnoticed())?.value ?? inTurns(work, 0)
    if (inside instanceof Promise) return inside.then(chosen => (covers ? this.#reachable(chosen) : chosen))
    return covers ? this.#reachable(inside) : inside
  }

  *#choosing(paths: readonly string[], { test, alternatives }: Wanted): Steps<readonly string[]> {
    const { brand } = this.#site.settings
    const chosen: string[] = []
    let held = 0
    for (const path of paths) {
      if (test(path) && !isReserved(path, brand)) chosen.push(path)
      held += alternatives
      if (held < ALTERNATIVES_PER_PAUSE) continue
      held = 0
      this.#allowance.look()
      yield
    }
    return chosen
  }

  /**
   * Steps that others cost would tell how many there are, and what is in them (SEC-6): those take time alone, and next to
   * none when they are found again.
   */
  async #reachable(paths: readonly string[]): Promise<string[]> {
    const reachable: string[] = []
    this.#allowance.look()
    for (const [i, path] of paths.entries()) {
      if (i % PER_TURN === PER_TURN - 1) {
        await waitingTurn()
        this.#allowance.look()
      }
      const covered = this.#known.get(path) ?? (await this.#isCovered(path))
      this.#known.set(path, covered)
      if (!covered) continue
      this.#allowance.step()
      reachable.push(path)
    }
    return reachable
  }

  #isCovered(path: string): boolean | Promise<boolean> {
    const { scope, covers } = this.#bounds
    return covers ? covers(path) : scope.endsWith('/') ? path.startsWith(scope) : path === scope
  }

  document(path: string): MaybeLater<Source | undefined> {
    if (this.#sources.has(path)) return this.#sources.get(path)
    if (isReserved(path, this.#site.settings.brand)) return undefined
    const covered = this.#isCovered(path)
    if (covered === false) return undefined
    const file = this.#site.inMemory(path)
    if (covered === true && file?.hasTree) return this.#open(path, file)
    return this.#find(path, covered)
  }

  async #find(path: string, covered: boolean | Promise<boolean>): Promise<Source | undefined> {
    if (!(await covered)) return undefined
    const file = await this.#site.findParsed(path)
    return this.#open(path, file)
  }

  #open(path: string, file: StoredFile | undefined): MaybeLater<Source | undefined> {
    const known = this.#sources.get(path)
    if (known) return known
    if (!file?.isDocument) {
      this.#sources.set(path, undefined)
      return undefined
    }
    this.#allowance.look()
    const document = this.#site.tree(file)
    const unpin = pinTree(document)
    // A lambda that outlives its evaluation looks at documents all the same (REA-43), and nobody would release them.
    if (this.#isReleased) unpin()
    else this.#pins.push(unpin)
    const seen = this.#bounds.seen?.(path, document) ?? document
    if (!(seen instanceof Promise)) {
      this.#allowance.take(file.resource.size)
      return this.#keep(path, seen)
    }
    return seen.then(view => {
      // What is hidden is neither held nor paid for (SEC-6).
      if (view.root !== document.root) unpin()
      this.#allowance.take(view.source.length)
      return this.#keep(path, view)
    })
  }

  #keep(path: string, document: TreeDocument): Source {
    const source = { path, document }
    this.#sources.set(path, source)
    return source
  }
}
