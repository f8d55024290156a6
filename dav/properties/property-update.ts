/** Instructions to set and remove properties, as PROPPATCH and extended MKCOL bring them (RFC 4918 §14.19, DAV-35). */

import { parseHttpDate } from '../../pipeline/http/conditions.ts'
import { isOverlong } from '../../pipeline/http/media.ts'
import { isFieldValue } from '../../pipeline/store/field-value.ts'
import type { Property } from '../../pipeline/store/resource.ts'
import { LATEST_SHOWN } from '../../pipeline/store/tags.ts'
import { trimmed } from '../../pipeline/tree/ascii.ts'
import { declaredPrefix, XML_NAMESPACE } from '../../pipeline/tree/namespaces.ts'
import { type ElementNode, isElement, isText, parentElement } from '../../pipeline/tree/nodes.ts'
import { textContent } from '../../pipeline/tree/serialize.ts'
import { innerXml, outerXml } from '../../pipeline/tree/serialize-xml.ts'
import { atOnce, type Steps } from '../../pipeline/tree/steps.ts'
import type { PropertyPatch } from '../../pipeline/write/properties.ts'
import { childElements, davChild, isDav } from '../requests/xml.ts'
import { liveProperty } from './live-properties.ts'
import { NamedBytes } from './named-bytes.ts'
import { keyOf, nameOf, type PropertyName } from './property-name.ts'
import { propertyElement, propstat } from './response.ts'
import { readUnixSeconds } from './unix-seconds.ts'

/** Bytes of a value, and names on one resource (DAV-34). */
const LONGEST_VALUE = 64 * 1024
const MOST_NAMES = 256

/** Decided in well under a millisecond. */
const INSTRUCTIONS_PER_STEP = 200

/** UTF-16 code units of values that are written in one step: each declares the namespaces in it anew, and its language. */
const VALUES_PER_STEP = 256 * 1024

/** What all values of one request may take: as much as can be kept, though the same name may be set again and again. */
const MOST_WRITTEN = MOST_NAMES * LONGEST_VALUE

export interface Instruction {
  op: 'set' | 'remove'
  name: PropertyName
  element: ElementNode
}

/**
 * The instructions of a `propertyupdate` or `mkcol` element, in document order.
 *
 * @throws Fault 507 where their names, which the answer tells, are too long together
 */
export function readInstructions(root: ElementNode): Instruction[] {
  const named = new NamedBytes()
  return childElements(root).flatMap(action => {
    const op = isDav(action, 'set') ? 'set' : isDav(action, 'remove') ? 'remove' : undefined
    const prop = op && davChild(action, 'prop')
    if (!op || !prop) return []
    return childElements(prop).map((element): Instruction => {
      const name = nameOf(element)
      named.add(name)
      return { op, name, element }
    })
  })
}

/** Windows sets these four on every file it copies; a refusal makes it delete the upload. */
const WINDOWS = 'urn:schemas-microsoft-com:'
const OF_WINDOWS = /^Win32(?:(?:Creation|LastAccess|LastModified)Time|FileAttributes)$/

/** Whether a dead property is one of so many: those of Windows have room beside them (DAV-35). */
function isCounted({ namespace, name }: PropertyName): boolean {
  return namespace !== WINDOWS || !OF_WINDOWS.test(name)
}

/** Whether all instructions are about the times and attributes that Windows keeps (DAV-35). */
export function onlyWindowsTimes(instructions: readonly Instruction[]): boolean {
  return !instructions.some(({ name }) => isCounted(name))
}

type Status = '200 OK' | '403 Forbidden' | '409 Conflict' | '424 Failed Dependency' | '507 Insufficient Storage'

/** What becomes of each property, and the changes if none is refused. */
export interface Judged {
  refused: boolean
  verdicts: { name: PropertyName; status: Status }[]
  patch: PropertyPatch
}

/**
 * Decides instructions: all of them, or none (DAV-35).
 *
 * @param dead properties that the resource has now
 * @param collection the resource is a collection
 */
export function judge(instructions: readonly Instruction[], dead: readonly Property[], collection: boolean): Judged {
  return atOnce(judging(instructions, dead, collection))
}

/** `judge` in steps. */
export function* judging(
  instructions: readonly Instruction[],
  dead: readonly Property[],
  collection: boolean,
): Steps<Judged> {
  const outcomes = new Map<string, { name: PropertyName; status: Status }>()
  const names = new Set(dead.filter(isCounted).map(keyOf))
  const set = new Map<string, Property>()
  const remove = new Map<string, PropertyName>()
  const patch: PropertyPatch = { set: [], remove: [] }
  let written = 0
  let all = 0
  for (const [i, { op, name, element }] of instructions.entries()) {
    if (i % INSTRUCTIONS_PER_STEP === INSTRUCTIONS_PER_STEP - 1 || written > VALUES_PER_STEP) {
      written = 0
      yield
    }
    const key = keyOf(name)
    const setting = liveProperty(name)?.setting ?? 'dead'
    let status: Status = '200 OK'
    if (setting === 'protected' || (setting === 'language' && collection)) status = '403 Forbidden'
    else if (setting === 'language') {
      patch.language = op === 'set' ? trimmed(textContent(element)) : ''
      if (!isFieldValue(patch.language)) status = '409 Conflict'
      else if (isOverlong(patch.language)) status = '507 Insufficient Storage'
    } else if (setting === 'modified' && op === 'set') {
      const seconds = readUnixSeconds(textContent(element))
      if (seconds === undefined) status = '409 Conflict'
      else patch.shown = seconds
    } else if (setting === 'dead' && op === 'set') {
      if (isCounted(name)) names.add(key)
      const isBeyond = all > MOST_WRITTEN || (isCounted(name) && names.size > MOST_NAMES)
      const value = isBeyond ? undefined : storedValue(element)
      written += value?.length ?? 0
      all += value?.length ?? 0
      if (value === undefined || Buffer.byteLength(value) > LONGEST_VALUE) status = '507 Insufficient Storage'
      else set.set(key, { ...name, value })
      remove.delete(key)
      const shown = windowsTime(name, element)
      if (shown !== undefined) patch.shown = shown
    } else if (setting === 'dead') {
      names.delete(key)
      set.delete(key)
      remove.set(key, name)
    }
    const before = outcomes.get(key)
    if (!before || before.status === '200 OK') outcomes.set(key, { name, status })
  }
  const refused = [...outcomes.values()].some(({ status }) => status !== '200 OK')
  const verdicts = [...outcomes.values()].map(({ name, status }) => ({
    name,
    status: refused && status === '200 OK' ? ('424 Failed Dependency' as const) : status,
  }))
  return { refused, verdicts, patch: { ...patch, set: [...set.values()], remove: [...remove.values()] } }
}

/** Windows says when the copied file was changed (DAV-36). */
function windowsTime({ namespace, name }: PropertyName, element: ElementNode): number | undefined {
  if (namespace !== WINDOWS || name !== 'Win32LastModifiedTime') return undefined
  const seconds = parseHttpDate(trimmed(textContent(element)))
  // The leap second of a year's end is told as the first of the next one.
  return seconds !== undefined && seconds >= 0 && seconds <= LATEST_SHOWN ? seconds : undefined
}

/**
 * The value of a dead property: its text as XML or, where it has attributes or more than text, the whole element, so
 * that namespaces and language stay (DAV-34). Text never begins with `<`, so the two cannot be confused.
 */
function storedValue(element: ElementNode): string {
  const language = languageOf(element)
  const plain = element.childNodes.every(isText) && element.attrs.every(a => declaredPrefix(a) !== undefined)
  if (plain && language === undefined) return innerXml(element)
  const spoken = element.attrs.some(a => a.prefix === 'xml' && a.name === 'lang')
  if (language === undefined || spoken) return outerXml(element)
  const attribute = { name: 'lang', prefix: 'xml', namespace: XML_NAMESPACE, value: language }
  return outerXml({ ...element, attrs: [...element.attrs, attribute] })
}

/** `xml:lang` of the nearest element that has one. */
function languageOf(element: ElementNode): string | undefined {
  for (let at: ElementNode | undefined = element; at && isElement(at); at = parentElement(at)) {
    const own = at.attrs.find(a => a.prefix === 'xml' && a.name === 'lang')
    if (own) return own.value
  }
  return undefined
}

const PROTECTED = '<D:error><D:cannot-modify-protected-property/></D:error>'

/** One `propstat` for each status, in order of first appearance. */
export function propstats({ verdicts }: Judged): string {
  let text = ''
  for (const [status, group] of Map.groupBy(verdicts, verdict => verdict.status)) {
    const names = group.map(({ name }) => propertyElement(name)).join('')
    text += propstat(names, status, status === '403 Forbidden' ? PROTECTED : '')
  }
  return text
}
