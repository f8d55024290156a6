/**
 * What prefixes mean at a place of a tree. In HTML `xmlns:p` is an ordinary attribute with a colon in its name, so both
 * kinds of trees are read here: scope is lexical, and the nearest declaration wins (COMP-12).
 */

import { asciiLower } from './ascii.ts'
import { type Attribute, type DocumentKind, type ElementNode, isElement } from './nodes.ts'

/** A qualified name in its two parts. */
export interface QualifiedName {
  prefix: string
  local: string
}

/** Prefixes that are never those of directives (COMP-13); `xmlns` declares others. */
const FIXED = new Set(['xml', 'xlink', 'xmlns'])

/** The name of an attribute as it is written. */
export function writtenName({ name, prefix }: Attribute): string {
  return prefix ? `${prefix}:${name}` : name
}

/** @returns undefined for a name without prefix, or with one that never is that of a directive */
export function qualifiedName(written: string): QualifiedName | undefined {
  const colon = written.indexOf(':')
  if (colon <= 0 || colon === written.length - 1) return undefined
  const prefix = written.slice(0, colon)
  return FIXED.has(asciiLower(prefix)) ? undefined : { prefix, local: written.slice(colon + 1) }
}

/** The prefix of a name, or the one that an attribute of the name declares, unless it never is that of a directive. */
export function prefixIn(written: string): string | undefined {
  if (!isDeclaration(written)) return qualifiedName(written)?.prefix
  const prefix = written.slice(6)
  return prefix === '' || FIXED.has(asciiLower(prefix)) ? undefined : prefix
}

/** Whether an attribute of the name declares a prefix where HTML reads it. */
export function isDeclaration(written: string): boolean {
  return asciiLower(written.slice(0, 6)) === 'xmlns:'
}

const NONE: readonly string[] = []

const isPrefixed = ({ name, prefix }: Attribute) => prefix !== undefined || name.includes(':')

/** The names with a prefix that may be one of a directive, and those that declare one. */
export function prefixedNames({ tagName, attrs }: ElementNode): readonly string[] {
  if (!tagName.includes(':') && !attrs.some(isPrefixed)) return NONE
  const names = qualifiedName(tagName) ? [tagName] : []
  for (const a of attrs) {
    const name = writtenName(a)
    if (prefixIn(name) !== undefined) names.push(name)
  }
  return names
}

/** @returns the prefix that an attribute declares; undefined for other attributes and for the default namespace */
export function declaredPrefix(a: Attribute): string | undefined {
  if (a.prefix === 'xmlns') return a.name
  return !a.prefix && a.name.startsWith('xmlns:') && a.name.length > 6 ? a.name.slice(6) : undefined
}

/**
 * The namespace that a prefix is bound to.
 *
 * @param element where to look; its own declarations count
 * @returns undefined where it is not bound, or unbound by an empty value
 */
export function namespaceOf(element: ElementNode, prefix: string): string | undefined {
  return declarationOf(element, prefix)?.value || undefined
}

/** The attribute that says what a prefix is bound to: `xmlns` is a prefix itself where the element is one of XML. */
export function declarationOf(element: ElementNode, prefix: string): Attribute | undefined {
  for (let node: ElementNode | undefined = element; node; node = elementAround(node)) {
    for (const a of node.attrs) if (declaredPrefix(a) === prefix) return a
  }
  return undefined
}

/** The element that another one stands in: the contents of a `template` stand in it. */
function elementAround({ parentNode }: ElementNode): ElementNode | undefined {
  if (!parentNode || isElement(parentNode)) return parentNode ?? undefined
  return 'host' in parentNode ? parentNode.host : undefined
}

/**
 * Has an element declare a prefix, in place of what it declared of it before.
 *
 * @param prefix in small letters for HTML
 * @param uri empty to unbind it, which XML cannot
 */
export function bindPrefix(element: ElementNode, prefix: string, uri: string, kind: DocumentKind): void {
  const folded = (name: string | undefined) => (kind === 'html' && name ? asciiLower(name) : name)
  // As HTML's parser reads it, also in XML: so the declaration counts whatever namespace the element is in.
  const declaration = { name: `xmlns:${prefix}`, value: uri }
  element.attrs = [...element.attrs.filter(a => folded(declaredPrefix(a)) !== prefix), declaration]
}

const NOTHING: ReadonlyMap<string, string> = new Map()

/** The prefixes that are bound at a place; nothing of it changes. */
export class Prefixes {
  static readonly none = new Prefixes(NOTHING, undefined)

  readonly #own: ReadonlyMap<string, string>
  readonly #outer: Prefixes | undefined

  private constructor(own: ReadonlyMap<string, string>, outer: Prefixes | undefined) {
    this.#own = own
    this.#outer = outer
  }

  /** @returns undefined where the prefix is not bound, or unbound by an empty value */
  namespace(prefix: string): string | undefined {
    for (let scope: Prefixes | undefined = this; scope; scope = scope.#outer) {
      const uri = scope.#own.get(prefix)
      if (uri !== undefined) return uri === '' ? undefined : uri
    }
    return undefined
  }

  /** The namespaces of the names of an element in this scope. */
  *namespacesOf({ tagName, attrs }: ElementNode): Generator<string> {
    for (const name of [tagName, ...attrs.map(writtenName)]) {
      const prefix = qualifiedName(name)?.prefix
      const uri = prefix === undefined ? undefined : this.namespace(prefix)
      if (uri !== undefined) yield uri
    }
  }

  /** Whether the prefix is bound at the place, or unbound by an empty value. */
  declares(prefix: string): boolean {
    return this.#own.has(prefix) || this.#outer?.declares(prefix) === true
  }

  /**
   * Whether all that declare the prefix here bind it to the same. HTML drops some tags where they stand (a form in a form),
   * and with them what they declare.
   */
  agreesOn(prefix: string): boolean {
    const meant = this.namespace(prefix) ?? ''
    for (let scope: Prefixes | undefined = this; scope; scope = scope.#outer)
      if ((scope.#own.get(prefix) ?? meant) !== meant) return false
    return true
  }

  /** The scope inside an element, its own declarations included. */
  within({ attrs }: ElementNode): Prefixes {
    let own: Map<string, string> | undefined
    for (const a of attrs) {
      const prefix = declaredPrefix(a)
      if (prefix === undefined) continue
      own ??= new Map()
      if (!own.has(prefix)) own.set(prefix, a.value)
    }
    return own ? new Prefixes(own, this) : this
  }

  /** The scope around an element: what its ancestors declare. */
  static around(element: ElementNode): Prefixes {
    const ancestors: ElementNode[] = []
    for (let node = elementAround(element); node; node = elementAround(node)) ancestors.push(node)
    return ancestors.reduceRight((scope, ancestor) => scope.within(ancestor), Prefixes.none)
  }
}

/** What becomes of names with a prefix of a tree where HTML reads its markup: it drops some tags, and moves what stands beside a body. */
export class Rereading {
  /** The root of a document and its body. */
  readonly #own: (ElementNode | undefined)[]
  /** What means something in the body, where what stands beside it comes to stand. */
  readonly #inBody: Prefixes

  /** @param root of a document; undefined for what comes into one */
  constructor(root: ElementNode | undefined) {
    const body = root?.childNodes.filter(isElement).find(({ tagName }) => asciiLower(tagName) === 'body')
    this.#own = [root, body]
    this.#inBody = body ? Prefixes.none.within(body) : Prefixes.none
  }

  /**
   * Takes names from an element that HTML would give to another one, or reads otherwise: the parser adds the attributes of an
   * `html`, which SVG may hold, or of a `body` to those of the first one, and `XMLNS:p` and `xmlns:P` of XML or SVG declare a
   * prefix there in small letters, and in the tree none or another one.
   */
  leave(element: ElementNode): void {
    const isMoved = /^(?:html|body)$/i.test(element.tagName) && !this.#own.includes(element)
    const isLeft = (written: string) =>
      isMoved ? written.includes(':') : isDeclaration(written) && written !== asciiLower(written)
    if (element.attrs.some(a => isLeft(writtenName(a))))
      element.attrs = element.attrs.filter(a => !isLeft(writtenName(a)))
  }

  /** Whether a prefix that an element does not declare itself means the same there, in a scope around it. @param uri what it means */
  keeps(prefix: string, outer: Prefixes, uri: string | undefined): boolean {
    const isSame = !this.#inBody.declares(prefix) || this.#inBody.namespace(prefix) === uri
    return isSame && outer.agreesOn(prefix)
  }
}
