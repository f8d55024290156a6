/**
 * Keeps a write inside the place it was granted for. Some markup has no meaning where it is put (a `div` inside a `p`, a
 * `plaintext` anywhere): the parsed text is then the document, and elements outside the place may change with it.
 */

import type { Authority } from '../authority.ts'
import { Fault } from '../fault.ts'
import type { ProposedEdit, View } from '../tree/edit/edit.ts'
import { type AnyNode, type ElementNode, parentElement } from '../tree/nodes.ts'

/**
 * @param place elements whose children the write is about; undefined stands for the document itself
 * @throws Fault 422 when the edit reaches beyond them and the requester may not write the whole document
 */
export function checkContainment(
  { way }: ProposedEdit,
  view: View,
  place: readonly (ElementNode | undefined)[],
  path: string,
  authority: Authority,
): void {
  if (way !== 'reparsed') return
  const granted = Math.min(...place.map(depth))
  if (view.parents.every(parent => depth(parent) >= granted)) return
  if (authority.admit({ ask: 'put', path, exists: true }) === 'allow') return
  throw new Fault(
    422,
    'InvalidFragment',
    'This markup cannot stand in that place: the page would change outside of it, which needs the right to PUT the whole document.',
  )
}

function depth(node: AnyNode | undefined): number {
  let levels = 0
  for (let at = node; at && 'tagName' in at; at = parentElement(at)) levels++
  return levels
}
