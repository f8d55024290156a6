/**
 * Whether the source of an HTML document stands in the order of its tree, so that an edit can be proved locally: no
 * foster parenting, no adoption agency, no formatting element left open.
 */

import { MAX_DEPTH, tooDeep } from './limits.ts'
import { type ChildNode, type DocumentNode, type ElementNode, HTML_NAMESPACE, isElement, type Place } from './nodes.ts'

/** The parser makes these elements up where their tags are missing. */
const IMPLIED = new Set(['html', 'head', 'body', 'tbody', 'tr', 'colgroup'])

/** Open ones reach into what follows: the parser opens them again, or lets controls belong to the form. */
const LASTING = new Set('a b big code em font form i nobr s small strike strong tt u'.split(' '))

/**
 * @param document tree with offsets
 * @param source its text
 * @returns whether start offsets follow tree order, ranges nest without overlap, and nothing was moved or copied
 * @throws TreeError when misnested markup made the tree deeper than its tags are
 */
export function isClean(document: DocumentNode, source: string): boolean {
  return walk(document.childNodes, source, { position: 0, clean: true }, source.length, undefined, 1).clean
}

interface Walk {
  /** Nothing may start before this offset. */
  position: number
  clean: boolean
}

function walk(
  nodes: ChildNode[],
  source: string,
  state: Walk,
  limit: number,
  parent: ElementNode | undefined,
  depth: number,
): Walk {
  for (const node of nodes) {
    const place = node.sourceCodeLocation
    const open = isElement(node)
    if (place) {
      if (place.startOffset < state.position || place.endOffset > limit) state.clean = false
      state.position = open ? (place.startTag?.endOffset ?? place.startOffset) : endOf(place, parent)
    } else if (!open || node.namespaceURI !== HTML_NAMESPACE || !IMPLIED.has(node.tagName)) {
      state.clean = false
    }
    if (!open) continue
    if (depth > MAX_DEPTH) throw tooDeep(place?.startOffset)
    if (place && !isPlain(node, place, source)) state.clean = false
    // Text and comments behind `</body>` and `</html>` belong to these elements, whose ends therefore say nothing.
    const shell = node.namespaceURI === HTML_NAMESPACE && (node.tagName === 'body' || node.tagName === 'html')
    const inner = place && !shell ? (place.endTag?.startOffset ?? place.endOffset) : limit
    walk(node.content ? node.content.childNodes : node.childNodes, source, state, inner, node, depth + 1)
    if (place && !shell) state.position = place.endOffset
  }
  return state
}

/** The white space behind `</body>` joins the last text of `body` and so spans the comments that stand between. */
function endOf(place: Place, parent: ElementNode | undefined): number {
  return parent?.tagName === 'body' ? place.startOffset : place.endOffset
}

function isPlain(element: ElementNode, place: Place, source: string): boolean {
  if (element.namespaceURI === HTML_NAMESPACE && LASTING.has(element.tagName) && !place.endTag) return false
  // The parser renames `image` to `img`.
  return /[\t\n\f\r />]/.test(source.charAt(place.startOffset + 1 + element.tagName.length))
}
