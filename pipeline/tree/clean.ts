/**
 * Whether the source of an HTML document stands in the order of its tree, so that an edit can be proved locally: no
 * foster parenting, no adoption agency, no formatting element left open.
 */

import { MAX_DEPTH, tooDeep } from './limits.ts'
import { LONG } from './long-text.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  isText,
  type SourcePlace,
} from './nodes.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** The parser makes these elements up where their tags are missing. */
const IMPLIED = new Set(['html', 'head', 'body', 'tbody', 'tr', 'colgroup'])

/** Open ones reach into what follows: the parser opens them again, or lets controls belong to the form. */
const LASTING = new Set('a b big code em font form i nobr s small strike strong tt u'.split(' '))

/** Children that are being looked at. */
interface Level {
  nodes: ChildNode[]
  next: number
  /** Nothing in it may end behind this offset. */
  limit: number
  /** Where what follows it begins at the earliest, if it says so. */
  end: number | undefined
  isBody: boolean
}

/**
 * In steps.
 *
 * @param document tree with offsets
 * @param source its text
 * @returns whether start offsets follow tree order, ranges nest without overlap, and nothing was moved or copied
 * @throws TreeError when misnested markup made the tree deeper than its tags are
 */
export function* provingClean(document: DocumentNode, source: string): Steps<boolean> {
  const open: Level[] = [{ nodes: document.childNodes, next: 0, limit: source.length, end: undefined, isBody: false }]
  let clean = true
  /** Nothing may start before this offset. */
  let position = 0
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      position = level.end ?? position
      open.pop()
      continue
    }
    if (++seen % NODES_PER_STEP === 0) yield
    const place = node.sourceCodeLocation
    if (place && (place.startOffset < position || place.endOffset > level.limit)) clean = false
    if (!isElement(node)) {
      if (!place) clean = false
      else if (!level.isBody || level.next < level.nodes.length || !isText(node)) position = place.endOffset
      // White space behind `</body>` joins the last text of `body`, which so spans the comments there, or is all there is
      // of it and stands behind them.
      else if (yield* findingText(node.value)) position = place.startOffset
      continue
    }
    if (place) position = place.startTag?.endOffset ?? place.startOffset
    else if (node.namespaceURI !== HTML_NAMESPACE || !IMPLIED.has(node.tagName)) clean = false
    if (open.length > MAX_DEPTH) throw tooDeep(place?.startOffset)
    if (place && !isPlain(node, place, source)) clean = false
    // Text and comments behind `</body>` and `</html>` belong to these elements, whose ends therefore say nothing.
    const isBody = node.namespaceURI === HTML_NAMESPACE && node.tagName === 'body'
    const isShell = isBody || (node.namespaceURI === HTML_NAMESPACE && node.tagName === 'html')
    open.push({
      nodes: (node.content ?? node).childNodes,
      next: 0,
      limit: place && !isShell ? (place.endTag?.startOffset ?? place.endOffset) : level.limit,
      end: place && !isShell ? place.endOffset : undefined,
      isBody,
    })
  }
  return clean
}

/** Whether a text is more than white space, in steps. */
function* findingText(text: string): Steps<boolean> {
  for (let at = 0; at < text.length; at += LONG) {
    if (/[^\t\n\f\r ]/.test(text.slice(at, at + LONG))) return true
    yield
  }
  return false
}

function isPlain(element: ElementNode, place: SourcePlace, source: string): boolean {
  if (element.namespaceURI === HTML_NAMESPACE && LASTING.has(element.tagName) && !place.endTag) return false
  // The parser renames `image` to `img`.
  return /[\t\n\f\r />]/.test(source.charAt(place.startOffset + 1 + element.tagName.length))
}
