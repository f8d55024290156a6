/** What a document may not exceed, and the error that says so. The limits hold while a document is read, not after. */

/** Elements inside each other; `html` counts as one. */
export const MAX_DEPTH = 512

/** Attributes on one element. */
export const MAX_ATTRIBUTES = 1_000

/**
 * Elements in a document of `length` characters. A start tag has three characters at least, so only documents come near
 * whose unclosed formatting elements the HTML parser copies into every paragraph (`<p><b><i>…</p><p>x</p><p>x`).
 */
export function maxElements(length: number): number {
  return length / 2 + 4_096
}

/** Nodes and attributes of a document; as a tree they take about half a gigabyte of memory. */
export const MAX_NODES = 2_000_000

export type TreeReason =
  | 'malformed'
  | 'too-deep'
  | 'too-many-attributes'
  | 'too-many-elements'
  | 'too-many-nodes'
  | 'too-large'

/** Why a text is no document, or none that is accepted. */
export class TreeError extends Error {
  readonly reason: TreeReason
  /** Where in the text, in UTF-16 code units, when known. */
  readonly offset: number | undefined

  /**
   * @param reason which rule the text breaks
   * @param message one sentence for the author of the text
   * @param offset where in the text, in UTF-16 code units
   */
  constructor(reason: TreeReason, message: string, offset?: number) {
    super(message)
    this.name = 'TreeError'
    this.reason = reason
    this.offset = offset
  }
}

export function tooDeep(offset?: number): TreeError {
  return new TreeError('too-deep', `Elements are nested deeper than ${MAX_DEPTH} levels.`, offset)
}

export function tooManyAttributes(offset?: number): TreeError {
  return new TreeError('too-many-attributes', `An element has more than ${MAX_ATTRIBUTES} attributes.`, offset)
}

export function tooManyElements(offset?: number): TreeError {
  return new TreeError('too-many-elements', 'Unclosed formatting elements multiply to too many elements.', offset)
}

export function tooManyNodes(offset?: number): TreeError {
  const most = MAX_NODES.toLocaleString('en')
  return new TreeError('too-many-nodes', `The document has more than ${most} nodes and attributes.`, offset)
}

export function tooLarge(): TreeError {
  return new TreeError('too-large', 'The items of the document repeat each other too often to be written out.')
}
