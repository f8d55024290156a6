/** Settings from environment variables and from `--set`: names of the one, paths of the other, text made to values. */

import { type Outline, outline, outlineAt, type Path, pathText, readPath } from './outline.ts'
import { nearest } from './suggest.ts'
import type { Assignment } from './written.ts'
import { isEndless, yaml } from './yaml.ts'

/** Environment variables with settings begin with this. */
export const VARIABLE_PREFIX = 'SCRIPTORIUM_'

/** Read by the command line, and therefore no setting. */
const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`

/** Kubernetes makes these of a service with our name. */
const SERVICE_LINK =
  /^SCRIPTORIUM(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$/

/** The environment variable that names the settings file. */
export function fileFromEnvironment(env: Record<string, string | undefined>): string | undefined {
  return env[FILE_VARIABLE] || undefined
}

/** The environment variable of a setting: `sites[0].maxBody` is `SCRIPTORIUM_SITES_0_MAX_BODY`. */
export function variableName(path: Path): string {
  return VARIABLE_PREFIX + path.map(step => String(step).replace(/[A-Z]/g, '_$&').toUpperCase()).join('_')
}

/**
 * Settings from the environment, in the order in which they are to be assigned. Empty variables count as not set.
 * Variables that name no setting give a warning and nothing else: others may use names that begin as ours do.
 */
export function fromEnvironment(env: Record<string, string | undefined>): {
  assignments: Assignment[]
  warnings: string[]
} {
  const assignments: Assignment[] = []
  const warnings: string[] = []
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(VARIABLE_PREFIX) || name === FILE_VARIABLE || !text) continue
    const path = pathOfVariable(name.slice(VARIABLE_PREFIX.length), outline)
    if (path) {
      assignments.push({ path, value: fromText(text, path), origin: `environment variable ${name}` })
    } else if (!SERVICE_LINK.test(name)) {
      const known = [...allVariables(outline, [])].map(variable => variable.slice(VARIABLE_PREFIX.length))
      const meant = nearest(name.slice(VARIABLE_PREFIX.length), known)
      const advice = meant === undefined ? '' : `; did you mean ${VARIABLE_PREFIX}${meant}?`
      warnings.push(`environment variable ${name} names no setting${advice}`)
    }
  }
  // Whole before part: SCRIPTORIUM_SITES before SCRIPTORIUM_SITES_0_HOST, and entry 2 before entry 10.
  assignments.sort((a, b) => comparePaths(a.path, b.path))
  return { assignments, warnings }
}

function comparePaths(one: Path, other: Path): number {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [a, b] = [one[index], other[index]]
    if (a === b) continue
    if (a === undefined) return -1
    if (b === undefined) return 1
    if (typeof a === 'number' && typeof b === 'number') return a - b
    return String(a) < String(b) ? -1 : 1
  }
  return 0
}

function pathOfVariable(rest: string, node: Outline): Path | undefined {
  if (rest === '') return []
  if (node.kind === 'group') {
    for (const [key, below] of node.keys) {
      const path = pathBelow(rest, key, variableName([key]).slice(VARIABLE_PREFIX.length), below)
      if (path) return path
    }
  } else if (node.kind === 'list') {
    const index = /^[0-9]{1,6}(?=_|$)/.exec(rest)?.[0]
    if (index !== undefined) return pathBelow(rest, Number(index), index, node.item)
  }
  return undefined
}

function pathBelow(rest: string, step: string | number, spelled: string, below: Outline): Path | undefined {
  if (rest !== spelled && !rest.startsWith(`${spelled}_`)) return undefined
  const path = pathOfVariable(rest.slice(spelled.length + 1), below)
  return path && [step, ...path]
}

/** Names of the variables of all settings, entries of lists as number 0. */
export function* allVariables(node: Outline, path: Path): Generator<string> {
  if (path.length > 0) yield variableName(path)
  if (node.kind === 'group') for (const [key, below] of node.keys) yield* allVariables(below, [...path, key])
  if (node.kind === 'list') yield* allVariables(node.item, [...path, 0])
}

/**
 * Reads `key=value` of `--set`.
 *
 * @returns the assignment, or what is wrong with it
 */
export function fromSet(text: string): Assignment | string {
  const equals = text.indexOf('=')
  if (equals < 1) return `--set ${text}: expected key=value, such as --set listen.port=9000`
  const key = text.slice(0, equals)
  const path = readPath(key)
  if (!outlineAt(path)) return `--set ${key}: no such setting${advice(path)}`
  return { path, value: fromText(text.slice(equals + 1), path), origin: `--set ${key}` }
}

/** Names the setting that differs from a mistyped one in one step and is near. */
function advice(path: Path): string {
  const wrong = path.findIndex((_, step) => !outlineAt(path.slice(0, step + 1)))
  const group = outlineAt(path.slice(0, wrong))
  const key = group?.kind === 'group' ? nearest(String(path[wrong]), group.keys.keys()) : undefined
  if (key === undefined) return ''
  const meant = path.with(wrong, key)
  return outlineAt(meant) ? `; did you mean ${pathText(meant)}?` : ''
}

/** What a text stands for at this place: lists are separated by commas or written as `[…]`, groups as `{…}`. */
function fromText(text: string, path: Path): unknown {
  const node = outlineAt(path)
  if (node?.kind === 'value' || node === undefined) return text
  if (/^\s*[[{]/.test(text)) {
    try {
      const value: unknown = yaml().parse(text, { prettyErrors: false })
      return isEndless(value) ? text : value
    } catch {
      return text
    }
  }
  if (node.kind === 'list' && node.item.kind === 'value') {
    return text
      .split(',')
      .map(item => item.trim())
      .filter(item => item !== '')
  }
  return text
}
