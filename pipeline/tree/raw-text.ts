/**
 * Text that stands in HTML as it is. Its parser reads nothing in it but the end tag of its element, if it takes that for what it is:
 * trees of XML documents, and those that were put together, may hold more, which no shape has judged (MOD-94).
 */

import { asciiLower } from './ascii.ts'
import { type ChildNode, type ElementNode, HTML_NAMESPACE, isElement, isText, type ParentNode } from './nodes.ts'

/** Their text stands in the source as it is; `noscript` because trees are parsed with the scripting flag on. */
export const RAW = new Set(['style', 'script', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'plaintext'])

/** To HTML's parser their content is text, whatever stands in it. */
export const TEXT_ONLY = new Set([...RAW, 'title', 'textarea'])

/** Where HTML's parser takes elements of HTML for others, or for nothing, and their text for markup. */
const ELSEWHERE = new Set([...TEXT_ONLY, 'select'])
/** In HTML, these begin SVG and MathML. */
export const FOREIGN = new Set(['svg', 'math'])
/** Elements in which there is HTML again, by what they have to stand in. */
export const HTML_AGAIN = new Map([
  ...['foreignobject', 'desc', 'title'].map(name => [name, 'svg'] as const),
  ...['mi', 'mo', 'mn', 'ms', 'mtext', 'annotation-xml'].map(name => [name, 'math'] as const),
])
/** Of HTML in a table or form, and of MathML where HTML's parser drops that or moves them out of it. */
const GLYPHS = new Set(['mglyph', 'malignmark'])
const OF_HTML = /^(text\/html|application\/xhtml\+xml)$/i

/** What ends each of them early; nothing ends `plaintext`, and of a script `endOfScript` tells. */
const ENDS = new Map([...RAW].map(name => [name, new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'i')]))
for (const name of ['plaintext', 'script']) ENDS.delete(name)

/** Whether the text in an element is written as it is. */
export function isRaw(element: ElementNode): boolean {
  const { tagName, namespaceURI, childNodes } = element
  if (!RAW.has(tagName) || namespaceURI !== HTML_NAMESPACE) return false
  return !childNodes.some(holdsTags) || (isWholeIn(element) && isReadAsText(element))
}

function holdsTags(node: ChildNode): boolean {
  return isElement(node) || (isText(node) && node.value.includes('<'))
}

function isWholeIn({ tagName, childNodes }: ElementNode): boolean {
  if (childNodes.some(isElement)) return false
  // One that nothing ends is for others to refuse: escaped, it would be another script.
  if (tagName === 'script')
    return endOfScript(childNodes.map(node => (isText(node) ? node.value : '<!---->')).join('')) !== 'within'
  return childNodes.every(node => !isText(node) || !ENDS.get(tagName)?.test(node.value))
}

/** What tells HTML's tokenizer where a script ends. */
const IN_SCRIPT = /<!--|-->|<\/?script[\t\n\f\r />]/gi

/**
 * What ends a script that is written as it is: the tag behind it, one within it, or none, where that behind it is taken for that of
 * another one, which begins in a comment of it (HTML §13.2.5.15 to 31).
 */
export function endOfScript(code: string): 'behind' | 'within' | 'none' {
  let state: 'plain' | 'comment' | 'script' = 'plain'
  IN_SCRIPT.lastIndex = 0
  for (let found = IN_SCRIPT.exec(code); found; found = IN_SCRIPT.exec(code)) {
    const [token] = found
    if (token === '-->') state = 'plain'
    else if (token === '<!--') {
      if (state === 'plain') state = 'comment'
      // The dashes that begin a comment may be those that end it.
      IN_SCRIPT.lastIndex -= 2
    } else if (token.startsWith('</')) {
      if (state !== 'script') return 'within'
      state = 'comment'
    } else if (state === 'comment') state = 'script'
  }
  return state === 'script' ? 'none' : 'behind'
}

/** Whether a script has another one in what looks like a comment, so that it may not end with the first end tag. */
export function mayHoldItsEnd(code: string): boolean {
  const comment = code.indexOf('<!--')
  return comment >= 0 && /<script/i.test(code.slice(comment))
}

/** Contents of templates in `mglyph` and the like of MathML: they do not know what they stand in. */
const inGlyphs = new WeakSet<ParentNode>()

/** To be told of the content of a template before that is written. */
export function noteContent({ parentNode }: ElementNode, content: ParentNode): void {
  let isInGlyph = false
  let node: ParentNode | null = parentNode
  for (; node && isElement(node); node = node.parentNode) {
    const name = asciiLower(node.tagName)
    isInGlyph ||= GLYPHS.has(name)
    if (isInGlyph && name === 'math') break
  }
  if (node && (isElement(node) || inGlyphs.has(node))) inGlyphs.add(content)
  else inGlyphs.delete(content)
}

/** By the names around it, which are all that HTML's parser knows. */
function isReadAsText({ tagName, parentNode }: ElementNode): boolean {
  // Of the stretch that is looked at: whether it is read as something else, where it is HTML, up to the outermost of such elements.
  let again = new Map<string, boolean>()
  let isElsewhere = false
  /** The outermost one that is foreign, above the stretch. */
  let foreign: string | undefined
  let isInGlyph = false
  let node: ParentNode | null = parentNode
  for (; node && isElement(node); node = node.parentNode) {
    const name = asciiLower(node.tagName)
    const kind = name === 'annotation-xml' && !isOfHtml(node) ? undefined : HTML_AGAIN.get(name)
    isInGlyph ||= GLYPHS.has(name)
    if (FOREIGN.has(name)) {
      if (isInGlyph && name === 'math') return false
      if (foreign === undefined && again.size === 0) return false
      foreign = name
      isElsewhere = false
      continue
    }
    if (kind !== undefined) {
      if (foreign !== undefined && (isElsewhere || again.get(foreign) !== false)) return false
      if (foreign !== undefined) again = new Map()
      foreign = undefined
      again.set(kind, isElsewhere)
    }
    isElsewhere ||= ELSEWHERE.has(name) && !(name === 'select' && tagName === 'script')
    if (isElsewhere && again.size === 0) return false
  }
  if (node && inGlyphs.has(node)) return false
  return !isElsewhere && (foreign === undefined || again.get(foreign) === false)
}

/** Whether an `annotation-xml` holds HTML. */
export function isOfHtml({ attrs }: Pick<ElementNode, 'attrs'>): boolean {
  return attrs.some(({ name, value }) => name === 'encoding' && OF_HTML.test(value))
}
