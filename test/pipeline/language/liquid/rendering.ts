/** Rendering in tests: a scope of given names, and a template without a page. */

import type { Allowance } from '../../../../pipeline/language/allowance.ts'
import {
  compileTemplate,
  type LiquidScope,
  type MarkupContext,
  renderTemplate,
} from '../../../../pipeline/language/liquid/liquid.ts'
import { ElementValue, LazyDictionary, type Value } from '../../../../pipeline/language/values.ts'
import { parseHtml } from '../../../../pipeline/tree/html.ts'
import { attribute, type ElementNode, isElement, type ParentNode } from '../../../../pipeline/tree/nodes.ts'
import { unhurried } from '../../../support/unhurried.ts'

export const NS = 'https://ns.example'

/** 2026-07-07T13:07:59.123Z */
export const NOW = Date.UTC(2026, 6, 7, 13, 7, 59, 123)

export function scopeOf(names: Record<string, Value>, more: Partial<LiquidScope> = {}): LiquidScope {
  return {
    lookup: name => (Object.hasOwn(names, name) ? names[name] : undefined),
    property: () => undefined,
    propertyNames: () => [],
    ns: NS,
    now: NOW,
    ...more,
  }
}

export interface Rendering {
  names?: Record<string, Value>
  scope?: Partial<LiquidScope>
  context?: MarkupContext
  allowance?: Allowance
}

export async function rendered(source: string, more: Rendering = {}): Promise<string> {
  const template = compileTemplate(source, more.context ?? { kind: 'html', element: 'div' })
  return renderTemplate(template, scopeOf(more.names ?? {}, more.scope), more.allowance ?? unhurried())
}

export async function failure(work: () => Promise<unknown>): Promise<Error> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('Nothing failed.')
}

/** Elements with `itemscope` and no `itemprop`, as bindings hand them over. */
export function items(markup: string, path = '/stored.html'): ElementValue[] {
  const root = parseHtml(markup)
  const source = { path, document: { kind: 'html' as const, source: markup, root, clean: true } }
  return elements(root)
    .filter(e => attribute(e, 'itemscope') !== undefined && attribute(e, 'itemprop') === undefined)
    .map(node => new ElementValue(node, source))
}

export function elements(node: ParentNode): ElementNode[] {
  const found: ElementNode[] = []
  for (const child of node.childNodes) if (isElement(child)) found.push(child, ...elements(child))
  return found
}

/** A dictionary that tells what was read of it. */
export class Watched extends LazyDictionary {
  readonly read: string[] = []
  readonly #entries: Record<string, Value>

  constructor(entries: Record<string, Value>) {
    super()
    this.#entries = entries
  }

  override get(key: string): Value | undefined {
    this.read.push(key)
    return Object.hasOwn(this.#entries, key) ? this.#entries[key] : undefined
  }

  override keys(): string[] {
    this.read.push('*')
    return Object.keys(this.#entries)
  }
}

export function hash(entries: Record<string, Value>): Map<string, Value> {
  return new Map(Object.entries(entries))
}
