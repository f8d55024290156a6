/** Tests of attributes, classes and ids, by the case rules of HTML and XML. */
import { asciiLower } from '../ascii.ts'
import { attribute, type ElementNode, HTML_NAMESPACE } from '../nodes.ts'
import { hasNamespace, localPart } from './namespace.ts'
import type { Query } from './query.ts'
import { finder } from './substring.ts'
import type { AttributeSelector } from './syntax.ts'

/** How names and values are compared; follows from the document. */
export interface Mode {
  html: boolean
  /** Class and id selectors ignore the case of ASCII letters. */
  quirks: boolean
}

export type Test = (element: ElementNode, query: Query) => boolean

/** Attributes whose values HTML compares case-insensitively (HTML, “Case-sensitivity of selectors”). */
const CASELESS = new Set(
  `accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir
  direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize
  noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink`.split(
    /[\n ]+/,
  ),
)

/** Between tokens; none of them holds any, though selectors may name it by escapes. */
const BLANK = /[\t\n\f\r ]/

export function idTest(name: string, mode: Mode): Test {
  if (!mode.quirks) return element => attribute(element, 'id') === name
  const lower = asciiLower(name)
  return element => asciiLower(attribute(element, 'id') ?? '') === lower
}

export function classTest(name: string, mode: Mode): Test {
  if (BLANK.test(name)) return () => false
  const token = mode.quirks ? asciiLower(name) : name
  return (element, query) => {
    const value = attribute(element, 'class')
    if (value === undefined) return false
    spendOn(value, query)
    return hasToken(mode.quirks ? asciiLower(value) : value, token)
  }
}

export function attributeTest(selector: AttributeSelector, mode: Mode): Test {
  const { name } = selector
  // HTML lower-cases the names of its attributes while parsing, so in HTML elements any case of the name means them.
  const lower = mode.html ? asciiLower(name) : name
  const exact = valueTest(selector, false)
  const caseless = valueTest(selector, true)
  const isListed = mode.html && CASELESS.has(lower)
  const anyNamespace = selector.namespace === 'any'
  const url = typeof selector.namespace === 'object' ? selector.namespace.url : undefined
  return (element, query) => {
    const isHtml = element.namespaceURI === HTML_NAMESPACE
    const wanted = isHtml ? lower : name
    if (element.attrs.length > 8) query.spend(element.attrs.length >> 3)
    for (const candidate of element.attrs) {
      const isPlain = !candidate.namespace && !candidate.prefix
      if (url !== undefined) {
        if (localPart(candidate.name) !== wanted || !hasNamespace(element, candidate, url, query)) continue
      } else if (candidate.name !== wanted || (!isPlain && !anyNamespace)) continue
      spendOn(candidate.value, query)
      const ignoreCase = selector.flag ? selector.flag === 'i' : isListed && isHtml && isPlain
      if ((ignoreCase ? caseless : exact)(candidate.value)) return true
    }
    return false
  }
}

function valueTest({ operator, value }: AttributeSelector, ignoreCase: boolean): (actual: string) => boolean {
  const expected = ignoreCase ? asciiLower(value) : value
  const test = operatorTest(operator, expected)
  return ignoreCase ? actual => test(asciiLower(actual)) : test
}

function operatorTest(operator: AttributeSelector['operator'], expected: string): (actual: string) => boolean {
  switch (operator) {
    case undefined:
      return () => true
    case '=':
      return actual => actual === expected
    case '|=':
      return actual => actual === expected || actual.startsWith(`${expected}-`)
  }
  if (expected === '') return () => false
  switch (operator) {
    case '~=':
      return BLANK.test(expected) ? () => false : actual => hasToken(actual, expected)
    case '^=':
      return actual => actual.startsWith(expected)
    case '$=':
      return actual => actual.endsWith(expected)
    case '*=':
      return finder(expected)
  }
}

/** Whether a value, split at white space, has the token. */
function hasToken(value: string, token: string): boolean {
  if (value === token) return true
  let start = 0
  for (let at = 0; at <= value.length; at++) {
    const code = at < value.length ? value.charCodeAt(at) : 32
    if (code > 32 || !(code === 32 || (code >= 9 && code <= 13 && code !== 11))) continue
    if (at - start === token.length && value.startsWith(token, start)) return true
    start = at + 1
  }
  return false
}

function spendOn(value: string, query: Query): void {
  if (value.length > 64) query.spend(value.length >> 3)
}
