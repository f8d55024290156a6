/**
 * Values on their way to a worker (JS-35): JSON whose objects carry tags, with the elements beside it. `d` a dictionary as a list
 * of names and values, `f` the same read-only, `n` an element, `z` a dictionary that is looked up, `i` an instance, `c` a class.
 */

import type { ChildNode, DocumentKind, ElementNode, ParentNode, TreeDocument } from '../../tree/nodes.ts'
import { isElement, treeOf } from '../../tree/nodes.ts'
import { NODES_PER_STEP } from '../../tree/steps.ts'
import { charactersOf } from '../../tree/weight.ts'
import type { Allowance } from '../allowance.ts'
import { OwnNames } from '../own-names.ts'
import { StoredNames } from '../stored-names.ts'
import { ElementValue, LazyDictionary, NamedValue, type Value } from '../values.ts'
import { type CompactTree, compact } from './compact.ts'
import type { DocumentView, SchemaClasses, ScriptJob } from './interface.ts'
import type { Reference, SentValues, SentView } from './messages.ts'

/** A value that JavaScript cannot be given: failure `marshal`. */
export class Unsendable extends Error {}

/** A class as a value (JS-35); whoever makes classes of schemas gives one that says its type. */
export interface ClassValue extends NamedValue {
  readonly type: string
}

/** Lists and dictionaries inside each other. */
const MAX_DEPTH = 500

/** Steps for each value in a list or dictionary: it is written, sent, read and built again. */
const STEPS_PER_VALUE = 8

/** Steps for each node of a tree that is copied for a worker, or whose names are noted. */
const STEPS_PER_NODE = 4

/**
 * Sources that may take elements out of their document, or out of the element that a method is called for. What does not is
 * not handed what stands there: names of the page's own directives are no more than data in texts of which it makes markup.
 */
const LOOKS = /\bdocument\b(?!\s*\.\s*(?:create|import|adopt))|ownerDocument|getRootNode/
/** Sources that go from an element which they are handed to what stands around it. */
const CLIMBS = /parentNode|parentElement|\bclosest\b|Sibling\b/
const TAKES_THIS = /\bthis\b(?!\s*\.\s*(?:(?:get|has)Attribute|textContent|id|title|className)\b)/

/** Children among which one is not looked for each time. */
const MANY = 32

/** What was sent of one job, so that what comes back can be told. All is paid for: one value may stand in others many times. */
export class Sender {
  readonly dictionaries: LazyDictionary[] = []
  /** Elements that references stand for. */
  readonly elements: ElementValue[] = []
  /** Of what was handed over. */
  readonly names: StoredNames
  readonly #view: DocumentView | undefined
  /** Nodes of a view that the program may change, so that paths would lead elsewhere. */
  readonly #viewNodes = new Map<ChildNode, number>()
  readonly #isWritable: boolean
  /** Whether the program may take elements out of the view by itself. */
  readonly #looks: boolean
  /** Whether it takes them from around an element of the view, until all is noted. */
  #climbs: boolean
  /** Has the program among its attributes: no copy of it is of use. */
  readonly #host: ElementNode | undefined
  readonly #numbers = new Map<ChildNode, number>()
  /** Places of children of elements that have many. */
  readonly #places = new Map<ParentNode, Map<ChildNode, number>>()
  readonly #schemas: SchemaClasses | undefined
  readonly #allowance: Allowance
  #depth = 0
  #trees: CompactTree[] = []
  #references: Reference[] = []
  #treeCount = 0

  constructor(job: ScriptJob, allowance: Allowance) {
    this.#allowance = allowance
    this.#view = job.document
    this.names = new StoredNames(new OwnNames(job.source))
    this.#isWritable = job.place === 'default'
    this.#host = job.place === 'expression' ? job.document?.scope : undefined
    this.#looks = this.#isWritable || LOOKS.test(job.source) || (job.this !== undefined && TAKES_THIS.test(job.source))
    this.#climbs = !this.#looks && CLIMBS.test(job.source)
    this.#schemas = job.schemas
  }

  /** The view as it stands. */
  view(): SentView | undefined {
    const view = this.#view
    if (!view) return undefined
    const { document, scope } = view
    let count = 0
    const isStored = isStoredIn(view)
    const tree = compact(document.kind, document.root.mode, scope ? [scope] : document.root.childNodes, node => {
      // Each node is paid for before the next, as the copy is made without a pause.
      this.#allowance.step(STEPS_PER_NODE)
      if (this.#looks && node !== this.#host) this.names.note(node, isStored, document.kind)
      if (this.#isWritable) this.#viewNodes.set(node, count++)
    })
    return { tree }
  }

  /** A worker may have it already: names are noted where they are asked for. */
  version({ document }: DocumentView): void {
    if (this.#looks) this.names.addLater(this.names.notingAll(document.root.childNodes, true, document.kind))
  }

  /** The JSON of what a place hands over, with what it refers to. */
  job(job: ScriptJob): SentValues {
    this.#noteAll(job.quoted ?? [], false, 'html')
    const isFixed = job.place === 'when' || job.place === 'action' || job.place === 'property'
    const parts = [`"arguments":[${(job.arguments ?? []).map(each => this.#write(each, isFixed)).join()}]`]
    if (job.this !== undefined) parts.push(`"self":${this.#write(job.this)}`)
    if (job.request) parts.push(`"request":${this.#lazy(job.request, job.plainMembers)}`)
    if (job.context) parts.push(`"context":[${this.#context(job.context, job.source).join()}]`)
    return this.#sent(`{${parts.join()}}`)
  }

  /** What no script can be given (JS-35) fails those alone that name it: any page may have such a value around others. */
  #context(names: ReadonlyMap<string, Value>, source: string): string[] {
    return [...names].flatMap(pair => {
      try {
        return [this.#pair(pair)]
      } catch (error) {
        if (error instanceof Unsendable && !source.includes(pair[0])) return []
        throw error
      }
    })
  }

  value(value: Value): SentValues {
    return this.#sent(this.#write(value))
  }

  #sent(text: string): SentValues {
    const sent = { text, trees: this.#trees, references: this.#references }
    this.#trees = []
    this.#references = []
    return sent
  }

  #pair([name, value]: [string, Value], isFixed = false): string {
    return `${JSON.stringify(name)},${this.#write(value, isFixed)}`
  }

  #write(value: Value, isFixed = false): string {
    if (value === null || typeof value === 'boolean') return String(value)
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
    if (typeof value === 'bigint') {
      if (!Number.isSafeInteger(Number(value))) throw this.#tooMuch(`The integer ${value} is too large for JavaScript.`)
      return String(value)
    }
    if (value instanceof ElementValue) return this.#element(value)
    if (value instanceof LazyDictionary) return this.#lazy(value)
    if (value instanceof NamedValue) return this.#named(value)
    if (value instanceof Map) {
      const entries = this.#inside(value.size, () => [...value].map(pair => this.#pair(pair, isFixed)))
      return `{"${isFixed ? 'f' : 'd'}":[${entries.join()}]}`
    }
    if (!Array.isArray(value)) throw new Unsendable('What was handed over is no value.')
    return `[${this.#inside(value.length, () => value.map(each => this.#write(each, isFixed))).join()}]`
  }

  /** What a list or dictionary holds. */
  #inside(count: number, write: () => string[]): string[] {
    if (this.#depth === MAX_DEPTH) throw this.#tooMuch(`A value is nested deeper than ${MAX_DEPTH} levels.`)
    this.#allowance.step(STEPS_PER_VALUE * (1 + count))
    this.#allowance.take(8 * count)
    this.#depth++
    try {
      return write()
    } finally {
      this.#depth--
    }
  }

  #tooMuch(message: string): Unsendable {
    this.#allowance.noteLimit()
    return new Unsendable(message)
  }

  #text(text: string): string {
    this.#allowance.step(text.length >> 6)
    this.#allowance.take(text.length)
    return JSON.stringify(text)
  }

  #named(value: NamedValue): string {
    const { typeName } = value
    if (typeName === 'Class' && 'type' in value) return `{"c":${JSON.stringify(value.type)}}`
    if (typeName.startsWith('Temporal.') || typeName === 'Selector') return JSON.stringify(value.text())
    throw new Unsendable(`A ${typeName} cannot be handed to JavaScript.`)
  }

  #lazy(dictionary: LazyDictionary, plain: readonly string[] = []): string {
    this.dictionaries.push(dictionary)
    const known = plain.flatMap(name => {
      const value = dictionary.get(name)
      return value === undefined ? [] : [this.#pair([name, value])]
    })
    return `{"z":${this.dictionaries.length - 1}${known.length > 0 ? `,"p":[${known.join()}]` : ''}}`
  }

  #element(value: ElementValue): string {
    const number = this.#number(value)
    if (value.type === undefined || !this.#schemas?.find(value.type)) return `{"n":${number}}`
    const fields = [...this.#schemas.fields(value)].map(pair => this.#pair(pair))
    return `{"i":${JSON.stringify(value.type)},"v":[${fields.join()}],"e":${number}}`
  }

  /** The number under which an element is referred to. */
  #number(value: ElementValue): number {
    const { node } = value
    const known = this.#numbers.get(node)
    if (known !== undefined) return known
    this.elements.push(value)
    const number = this.elements.length - 1
    this.#numbers.set(node, number)
    this.#references.push(this.#place(value))
    return number
  }

  #place({ node, source }: ElementValue): Reference {
    const inView = this.#viewNodes.get(node)
    if (inView !== undefined) return { view: inView }
    const path = this.#pathInView(node)
    if (path) {
      if (this.#view && !this.#looks && node !== this.#view.scope) {
        const { document, scope } = this.#view
        const around = this.#host?.childNodes ?? (scope ? [scope] : document.root.childNodes)
        this.#noteAll(this.#climbs ? around : [node], isStoredIn(this.#view), document.kind)
        this.#climbs = false
      }
      return { path }
    }
    const document: Pick<TreeDocument, 'kind' | 'root'> | undefined = source?.document
    const isStored = source?.path !== undefined
    const kind = document?.kind ?? 'html'
    const tree = compact(kind, document?.root.mode, [node], sent => {
      // Of elements in each other each is copied with all that is in it.
      this.#allowance.step(STEPS_PER_NODE)
      this.#allowance.take(charactersOf(sent))
      this.names.note(sent, isStored, kind)
    })
    this.#trees.push(tree)
    return { tree: this.#treeCount++, node: 0 }
  }

  /** Notes names of nodes and all below them without a pause, and has each paid for. */
  #noteAll(nodes: readonly ChildNode[], isStored: boolean, kind: DocumentKind): void {
    for (const _ of this.names.notingAll(nodes, isStored, kind)) this.#allowance.step(STEPS_PER_NODE * NODES_PER_STEP)
  }

  /** Places of children on the way from the document that the worker sees to a node of it. */
  #pathInView(node: ChildNode): number[] | undefined {
    if (!this.#view || this.#isWritable) return undefined
    const { document, scope } = this.#view
    const path: number[] = []
    for (let at: ChildNode | ParentNode = node; ; ) {
      if (at === scope) return [0, ...path.reverse()]
      const parent: ParentNode | null | undefined = 'parentNode' in at ? at.parentNode : undefined
      if (!parent) return at === document.root && !scope ? path.reverse() : undefined
      path.push(this.#placeIn(parent, at as ChildNode))
      at = parent
      if (!isElement(parent) && parent !== document.root) return undefined
    }
  }

  #placeIn(parent: ParentNode, child: ChildNode): number {
    const { childNodes } = parent
    if (childNodes.length < MANY) return childNodes.indexOf(child)
    let places = this.#places.get(parent)
    if (!places) {
      places = new Map(childNodes.map((each, place) => [each, place]))
      this.#places.set(parent, places)
    }
    return places.get(child) ?? -1
  }
}

/** What code has built stands in a document of its own, which is none of its parents. */
function isStoredIn({ document, scope }: DocumentView): boolean {
  return scope ? treeOf(scope) === document.root : document.root.childNodes[0]?.parentNode === document.root
}
