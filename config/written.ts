/** Settings as they were written in several places: one tree, and for each part of it where it came from. */

import { type Group, outlineAt, type Path, pathText } from './outline.ts'

/** One value from one place. */
export interface Assignment {
  path: Path
  value: unknown
  /** For messages: `site.yaml:12`, `environment variable SCRIPTORIUM_DATA`, `--port`. */
  origin: string
}

/** The tree, and the origins of its parts by path text. */
export interface Written {
  tree: Record<string, unknown>
  origins: Map<string, string>
}

/** True for a mapping of a settings file. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Puts the values of one more source into the tree, in their order; what stood there is replaced.
 *
 * @returns what is wrong with the places of those that cannot be
 */
export function assignAll(written: Written, assignments: readonly Assignment[]): string[] {
  // Keys that exclude each other: one of this source must not meet another of an earlier one.
  for (const { path, origin } of assignments) {
    const depth = path.findIndex((_, index) => outlineAt(path.slice(0, index + 1))?.about?.whole)
    if (depth !== -1 && depth < path.length - 1) assign(written, { path: path.slice(0, depth + 1), value: {}, origin })
  }
  return assignments.flatMap(assignment => {
    const wrong = assign(written, assignment)
    return wrong === undefined ? [] : `${wrong} (${assignment.origin})`
  })
}

function assign(written: Written, { path, value, origin }: Assignment): string | undefined {
  let place: unknown = written.tree
  for (const [depth, step] of path.slice(0, -1).entries()) {
    const next = child(place, step) ?? (typeof path[depth + 1] === 'number' ? [] : {})
    const wrong = put(place, step, next, path.slice(0, depth + 1))
    if (wrong) return wrong
    place = next
  }
  const text = pathText(path)
  const wrong = put(place, path.at(-1) ?? '', value, path)
  if (wrong) return wrong
  for (const known of written.origins.keys()) if (isBelow(known, text)) written.origins.delete(known)
  written.origins.set(text, origin)
  return undefined
}

function isBelow(text: string, above: string): boolean {
  return text.startsWith(above) && /^[.[]/.test(text.slice(above.length))
}

function child(place: unknown, step: string | number): unknown {
  if (Array.isArray(place) && typeof step === 'number') return place[step]
  return isMapping(place) && Object.hasOwn(place, step) ? place[step] : undefined
}

function put(place: unknown, step: string | number, value: unknown, path: Path): string | undefined {
  if (Array.isArray(place) && typeof step === 'number') {
    if (step > place.length) return `${pathText(path)}: there are only ${place.length} entries before it`
    place[step] = value
  } else if (isMapping(place)) place[step] = value
  else return `${pathText(path)}: a plain value stands above it`
  return undefined
}

/** Where a part of the settings came from: its own origin, or that of what holds it. */
export function originOf(written: Written, path: Path): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const origin = written.origins.get(pathText(path.slice(0, length)))
    if (origin !== undefined) return origin
  }
  return written.origins.get('')
}

/** One mapping over another, groups merged, all else replaced. `null` stays: it undoes what is below. */
export function overlay(group: Group, below: Record<string, unknown>, above: Record<string, unknown>) {
  const merged: Record<string, unknown> = { ...below, ...above }
  for (const [key, node] of group.keys) {
    const [low, high] = [below[key], above[key]]
    if (node.kind === 'group' && !node.about?.whole && isMapping(low) && isMapping(high)) {
      merged[key] = overlay(node, low, high)
    }
  }
  return merged
}

/** The tree without keys that hold nothing (`cors:` in YAML): they count as not written. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => withoutNulls(item))
  if (!isMapping(value)) return value
  const kept = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]))
}
