/** `:lang()` and `:dir()`: what an element's language and text direction are (HTML, “Language”, “The dir attribute”). */
import { asciiLower } from '../ascii.ts'
import { attribute, type ElementNode, HTML_NAMESPACE, isElement, isText, SVG_NAMESPACE } from '../nodes.ts'
import type { Steps } from '../steps.ts'
import type { Test } from './attribute.ts'
import { inherited } from './inherited.ts'
import { isHtml } from './name.ts'
import type { Query } from './query.ts'
import { walking } from './relation.ts'

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'

const LANGUAGE = Symbol('language')
const PAGE_LANGUAGE = Symbol('language of the page')
const DIRECTION = Symbol('direction')

export function languageTest(ranges: string[]): Test {
  const lower = ranges.map(asciiLower)
  return (element, query) => {
    const language = languageOf(element, query)
    if (language === undefined) return false
    return lower.some(range => inRange(language, range))
  }
}

/** Extended filtering of RFC 4647 §3.3.2, where a range of `""` means a language that is not known. */
function inRange(tag: string, range: string): boolean {
  if (tag === '' || range === '') return tag === range
  const have = tag.split('-')
  const [first, ...wanted] = range.split('-')
  if (first !== '*' && first !== have[0]) return false
  let at = 1
  for (const subtag of wanted) {
    if (subtag === '*') continue
    while (at < have.length && have[at] !== subtag) {
      // A singleton starts an extension, which a range has to name.
      if (have[at]?.length === 1) return false
      at++
    }
    if (at++ >= have.length) return false
  }
  return true
}

/** Language tag in lower case; undefined where nothing says. */
function languageOf(element: ElementNode, query: Query): string | undefined {
  return inherited(LANGUAGE, element, query, ownLanguage) ?? query.prepared(PAGE_LANGUAGE, () => pageLanguage(query))
}

function ownLanguage(element: ElementNode): string | undefined {
  for (const { name, namespace, value } of element.attrs) {
    if (name === 'lang' && namespace === XML_NAMESPACE) return asciiLower(value)
  }
  const hasLang = element.namespaceURI === HTML_NAMESPACE || element.namespaceURI === SVG_NAMESPACE
  const value = hasLang ? attribute(element, 'lang') : undefined
  return value === undefined ? undefined : asciiLower(value)
}

function* pageLanguage(query: Query): Steps<string | undefined> {
  let language: string | undefined
  for (const element of walking(query.document.root, query)) {
    if (!element) yield
    else if (isHtml(element, 'meta') && asciiLower(attribute(element, 'http-equiv') ?? '') === 'content-language') {
      const content = attribute(element, 'content')
      if (content && !content.includes(',')) language = asciiLower(content)
    }
  }
  return language
}

type Direction = 'ltr' | 'rtl'

export function directionTest(direction: string): Test {
  return (element, query) => (inherited(DIRECTION, element, query, ownDirection) ?? 'ltr') === direction
}

function dirAttribute(element: ElementNode): string | undefined {
  if (element.namespaceURI !== HTML_NAMESPACE) return undefined
  const value = asciiLower(attribute(element, 'dir') ?? '')
  return value === 'ltr' || value === 'rtl' || value === 'auto' ? value : undefined
}

function ownDirection(element: ElementNode, query: Query): Direction | undefined {
  const dir = dirAttribute(element)
  if (dir === 'ltr' || dir === 'rtl') return dir
  if (dir === 'auto' || isHtml(element, 'bdi')) return autoDirection(element, query) ?? 'ltr'
  if (isHtml(element, 'input') && asciiLower(attribute(element, 'type') ?? '') === 'tel') return 'ltr'
  return undefined
}

const WITH_TEXT = new Set([
  '',
  'button',
  'email',
  'hidden',
  'password',
  'reset',
  'search',
  'submit',
  'tel',
  'text',
  'url',
])

function autoDirection(element: ElementNode, query: Query): Direction | undefined {
  if (isHtml(element, 'input')) {
    if (!WITH_TEXT.has(asciiLower(attribute(element, 'type') ?? ''))) return undefined
    return textDirection(attribute(element, 'value') ?? '', query)
  }
  // The value of a text area is its text; elsewhere text of parts with a direction of their own does not count.
  for (const child of element.childNodes) {
    query.spend(1)
    let direction: Direction | undefined
    if (isText(child)) direction = textDirection(child.value, query)
    else if (isElement(child) && !dirAttribute(child) && !isHtml(child, 'bdi', 'script', 'style', 'textarea')) {
      direction = autoDirection(child, query)
    }
    if (direction) return direction
  }
  return undefined
}

/**
 * The first letter that has a direction. Letters of the right-to-left blocks are right-to-left, all others left-to-right;
 * Unicode's few strong characters that are not letters are left out.
 */
const STRONG = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}](?<=\p{L}))|\p{L}/u

function textDirection(text: string, query: Query): Direction | undefined {
  query.spend(text.length >> 6)
  if (text.length <= PIECE) return strongIn(text)
  const known = query.once(DIRECTIONS, () => new Map<string, Direction | undefined>())
  if (!known.has(text)) query.make(findingDirection(text, known), text.length)
  return known.get(text)
}

const DIRECTIONS = Symbol('directions of long texts')

/** Characters that are looked at in one step. */
const PIECE = 32 * 1024

function* findingDirection(text: string, known: Map<string, Direction | undefined>): Steps<void> {
  for (let from = 0; from < text.length; from += PIECE) {
    // One character more than the next piece begins with: it may be in two halves.
    const direction = strongIn(text.slice(from, from + PIECE + 1))
    if (direction) {
      known.set(text, direction)
      return
    }
    yield
  }
  known.set(text, undefined)
}

function strongIn(text: string): Direction | undefined {
  const match = STRONG.exec(text)
  return match ? (match[1] ? 'rtl' : 'ltr') : undefined
}
