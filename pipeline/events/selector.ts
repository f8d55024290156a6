/** The selector of an event (EVT-23): one by which a browser finds in its copy what the server found. */

import { uniqueSelector } from '../tree/address.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import type { ComplexSelector, Compound, Selector, Simple } from '../tree/selector/selector.ts'

/** Pseudo-classes that every browser knows and that only the tree decides, not a user or a script. */
const SHARED_STATES = new Set('root scope empty any-link link enabled disabled required optional'.split(' '))

/**
 * @param text the selector as it was sent, trimmed
 * @param selector the same, compiled
 * @param element what it found, in the document before the change
 * @returns the text, or a structural selector where browsers would not understand it as the server did
 */
export function eventSelector(text: string, selector: Selector, element: ElementNode, document: TreeDocument): string {
  return selector.list.every(isShared) ? text : uniqueSelector(element, document)
}

function isShared({ compounds }: ComplexSelector): boolean {
  return compounds.every(isSharedCompound)
}

function isSharedCompound({ simples, pseudoElement }: Compound): boolean {
  return pseudoElement === undefined && simples.every(isSharedSimple)
}

function isSharedSimple(simple: Simple): boolean {
  switch (simple.kind) {
    case 'state':
      return SHARED_STATES.has(simple.name)
    case 'is':
    case 'not':
    case 'has':
      return simple.selectors.every(isShared)
    case 'nth':
      return simple.of === undefined || simple.of.every(isShared)
    case 'attribute':
      // Only some browsers know the flag.
      return simple.flag !== 's'
    case 'extension':
    case 'computed':
    case 'only':
    case 'never':
    case 'heading':
    case 'lang':
    case 'dir':
      return false
    default:
      return true
  }
}
