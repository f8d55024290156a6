/**
 * Keeps a write inside the place it was granted for. Some markup has no meaning where it is put (a `div` inside a `p`, a
 * `plaintext` anywhere): the parsed text is then the document. Elements outside the place may change with it, and the new
 * ones may take in what stands around them, which the answer would show (HTTP-81).
 */

import type { Authority } from '../authority.ts'
import { Fault } from '../fault.ts'
import type { ProposedEdit, View } from '../tree/edit/edit.ts'
import { takingInOthers } from '../tree/edit/outcome.ts'
import { type AnyNode, type ElementNode, parentElement } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'

/**
 * In steps.
 *
 * @param place element whose children the write is about; undefined stands for the document itself
 * @param readsAll whether the requester may read all of the document
 * @throws Fault 422 when the edit reaches beyond it and the requester may not write the whole document, and when its answer
 *   would hold what the requester may not read
 */
export function* checkingContainment(
  { way, changes }: ProposedEdit,
  view: View,
  place: ElementNode | undefined,
  path: string,
  authority: Authority,
  readsAll: boolean,
): Steps<void> {
  if (way !== 'reparsed') return
  const granted = depth(place)
  const isContained = view.parents.every(parent => depth(parent) >= granted)
  if (!isContained && authority.admit({ ask: 'put', path, exists: true }) !== 'allow')
    throw misplaced('the page would change outside of it, which needs the right to PUT the whole document')
  if (!readsAll && (yield* takingInOthers(changes, view.nodes)))
    throw misplaced('it would take in what stands around it, which needs the right to read the whole document')
}

function misplaced(why: string): Fault {
  return new Fault(422, 'InvalidFragment', `This markup cannot stand in that place: ${why}.`)
}

function depth(node: AnyNode | undefined): number {
  let levels = 0
  for (let at = node; at && 'tagName' in at; at = parentElement(at)) levels++
  return levels
}
