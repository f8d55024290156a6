/** The settings as a plain tree of groups, lists and values, made from the schema: what messages, printing, environment variables and the reference walk over. */

import type { z } from 'zod'
import { type About, aboutOf } from './about.ts'
import { settingsSchema } from './schema.ts'
import { valueTypes } from './values.ts'

interface Node {
  about?: About
  /** The value that counts when nothing is written, in the server's units. */
  fallback?: unknown
  /** Nothing may be written, and there is no default. */
  optional: boolean
}

export interface Group extends Node {
  kind: 'group'
  keys: Map<string, Outline>
}

export interface List extends Node {
  kind: 'list'
  item: Outline
}

export interface Value extends Node {
  kind: 'value'
  expected: string
  short?: string
  /** How an operator would write a value. */
  write: (value: unknown) => unknown
}

export type Outline = Group | List | Value

/** A place in the settings: `['sites', 0, 'host']`. */
export type Path = readonly (string | number)[]

/** The outline of all settings. */
export const outline: Group = rootOutline()

function rootOutline(): Group {
  const root = outlineOf(settingsSchema)
  if (root.kind !== 'group') throw new Error('The settings are not a group of keys.')
  return root
}

function outlineOf(schema: z.core.$ZodType): Outline {
  const node: Node = { optional: false }
  let inner = schema as z.core.$ZodTypes
  for (;;) {
    node.about ??= aboutOf(inner)
    const { def } = inner._zod
    if (def.type === 'default') node.fallback ??= def.defaultValue
    else if (def.type === 'optional') node.optional = true
    else if (def.type !== 'prefault') break
    inner = def.innerType as z.core.$ZodTypes
  }
  const type = valueTypes.get(inner as unknown as z.ZodType)
  if (type) return { kind: 'value', ...node, ...type }
  const { def } = inner._zod
  if (def.type === 'object') {
    const keys = Object.entries(def.shape).map(([key, value]): [string, Outline] => [key, outlineOf(value)])
    return { kind: 'group', ...node, keys: new Map(keys) }
  }
  if (def.type === 'array') return { kind: 'list', ...node, item: outlineOf(def.element) }
  if (def.type === 'pipe') {
    // What an operator writes: the input side, unless that only prepares for the other.
    const written = def.in._zod.def.type === 'transform' ? def.out : def.in
    return { ...outlineOf(written), ...node }
  }
  throw new Error(`Settings have no outline for the type ${def.type}.`)
}

/** What stands at a place; undefined when there is no such setting. */
export function outlineAt(path: Path, from: Outline = outline): Outline | undefined {
  let node: Outline | undefined = from
  for (const step of path) {
    if (node?.kind === 'group') node = node.keys.get(String(step))
    else if (node?.kind === 'list' && typeof step === 'number') node = node.item
    else return undefined
  }
  return node
}

/** A place as messages name it: `sites[0].host`. */
export function pathText(path: Path): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}

/** Reads `sites[0].host` or `sites.0.host`. */
export function readPath(text: string): Path {
  return text
    .replace(/\[([0-9]{1,6})\]/g, '.$1')
    .split('.')
    .map(step => (/^[0-9]{1,6}$/.test(step) ? Number(step) : step))
}

/** True when what stands here, or below, must not be shown. */
export function holdsSecret(node: Outline): boolean {
  if (node.about?.secret !== undefined) return true
  if (node.kind === 'group') return [...node.keys.values()].some(holdsSecret)
  return node.kind === 'list' && holdsSecret(node.item)
}
