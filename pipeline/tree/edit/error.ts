/** Why an edit cannot be made at all. */

import { TreeError, type TreeReason } from '../document.ts'
import type { Steps } from '../steps.ts'

/**
 * `empty`: nothing but white space was given. `no-element`: a replacement without element. `void-anchor`: the anchor can
 * have no children. `parentless`: nothing can stand before or after the document element. `root`: the document element
 * can neither be removed nor moved. `into-itself`: an element cannot become its own descendant. `other-encoding`: the
 * document declares one in which the new characters are others. `directives`: the element has no place of its own in the
 * source, and the page cannot be written anew around its prefixed elements. The rest are limits and well-formedness, as for whole
 * documents.
 */
export type EditReason =
  | 'empty'
  | 'no-element'
  | 'void-anchor'
  | 'parentless'
  | 'root'
  | 'into-itself'
  | 'other-encoding'
  | 'directives'
  | TreeReason

/** An edit that was refused; the document is as it was. */
export class EditError extends Error {
  readonly reason: EditReason

  /**
   * @param reason which rule the edit breaks
   * @param message one sentence for the author of the edit
   */
  constructor(reason: EditReason, message: string) {
    super(message)
    this.name = 'EditError'
    this.reason = reason
  }
}

/** The document was changed by others since somebody began to work on it: what is known of its elements is outdated. */
export class ChangedDocument extends Error {
  constructor(message = 'The element does not belong to the document.') {
    super(message)
    this.name = 'ChangedDocument'
  }
}

/** Somebody is reading the tree of the document, so the edit cannot be made in it; the new source has to be parsed. */
export class PinnedDocument extends Error {
  constructor() {
    super('The tree is being read and stays as it is.')
    this.name = 'PinnedDocument'
  }
}

/** Does the steps of a parse whose failure is the fault of the edit. */
export function* refusing<T>(parse: Steps<T>): Steps<T> {
  try {
    return yield* parse
  } catch (error) {
    if (error instanceof TreeError) throw new EditError(error.reason, error.message)
    throw error
  }
}
