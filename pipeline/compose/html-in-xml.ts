/**
 * What HTML documents bring into a composed XML document. In HTML anybody may call an element or attribute nearly anything; in
 * XML some browsers show an error in place of the whole for a name that their edition does not have (KEY-1).
 */

import { isForeign } from '../tree/foreign-names.ts'
import { type ElementNode, HTML_NAMESPACE, isElement, type ParentNode } from '../tree/nodes.ts'
import { NODES_PER_STEP } from '../tree/steps.ts'
import type { Composing } from './composing.ts'
import type { Work } from './work.ts'

/** What is text in XML 1.0, and in a comment cannot be written where a document says that it is XML 1.1. */
const CONTROLS = /[\u007f-\u0084\u0086-\u009f]/g

/**
 * Marks what comes from HTML and is to be written in a form that all editions of XML have; what the authors of XML documents
 * have written stays. Selectors, of rules as well, go by the names that it was given.
 *
 * @param root of the page as it was put together
 */
export function* fittingHtml({ origins, wholes, transients }: Composing, root: ParentNode): Work<void> {
  const open: { parent: ParentNode; isHtml: boolean }[] = [{ parent: root, isHtml: false }]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.parent.childNodes) {
      if (++seen % NODES_PER_STEP === 0) yield
      if (isElement(node)) {
        const from = origins.get(node) ?? wholes.get(node) ?? transients.get(node)
        // What is stored nowhere was written where it stands.
        const isHtml = from ? from.page.tree.kind === 'html' : next.isHtml
        if (isHtml && holdsForeign(node)) node.isCommon = true
        open.push({ parent: node, isHtml })
      } else if (next.isHtml && node.nodeName === '#comment') node.data = node.data.replace(CONTROLS, '\ufffd')
    }
  }
}

/** The same for an element of HTML that code has built, or copied: whose names they are is not known. */
export function fitBuilt(element: ElementNode): void {
  if (element.namespaceURI === HTML_NAMESPACE && holdsForeign(element)) element.isCommon = true
}

function holdsForeign({ tagName, attrs }: ElementNode): boolean {
  return isForeign(tagName) || attrs.some(({ name }) => isForeign(name))
}
