/** What a document may not exceed, and the error that says so. The limits hold while a document is read, not after. */

/** Elements inside each other; `html` counts as one. */
export const MAX_DEPTH = 512

/** Attributes on one element. */
export const MAX_ATTRIBUTES = 1_000

/** Nodes and attributes of a document; as a tree they take about half a gigabyte of memory. */
export const MAX_NODES = 2_000_000

/** UTF-16 code units of an attribute whose words name types, properties or references of items: one step reads it. */
export const LONGEST_NAMES = 64 * 1024

/**
 * UTF-16 code units of a name that things are found by: of an element, an attribute, a namespace, a type or property, and an
 * `id`. V8 looks texts of more than 16,383 up by their length alone, so that each would be compared with all.
 */
export const LONGEST_NAME = 8 * 1024

const NAMING = new Set(['itemtype', 'itemprop', 'itemref'])

/** Whether things are found by what an attribute says. */
export function isNaming(attribute: string): boolean {
  return NAMING.has(attribute) || isName(attribute)
}

/** Whether the value of an attribute is one name. */
function isName(attribute: string): boolean {
  return attribute === 'id' || attribute.startsWith('xmlns')
}

/**
 * @param name of an attribute
 * @throws TreeError (`too-large`) for one with more or longer names than anybody reads
 */
export function checkNames(name: string, value: string, offset?: number): void {
  checkName(name, offset)
  if (value.length <= LONGEST_NAME || !isNaming(name)) return
  if (value.length > LONGEST_NAMES && NAMING.has(name)) {
    const most = LONGEST_NAMES.toLocaleString('en')
    throw new TreeError('too-large', `An attribute ${name} has more than ${most} characters.`, offset)
  }
  if (isName(name)) throw longName(offset)
  for (const word of value.split(/[\t\n\f\r ]+/)) checkName(word, offset)
}

/** @throws TreeError (`too-large`) for the name of an element or attribute that is longer than anybody reads */
export function checkName({ length }: string, offset?: number): void {
  if (length > LONGEST_NAME) throw longName(offset)
}

function longName(offset?: number): TreeError {
  const most = LONGEST_NAME.toLocaleString('en')
  return new TreeError('too-large', `A name or id has more than ${most} characters.`, offset)
}

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

export function tooManyElements(): TreeError {
  return new TreeError('too-many-elements', 'Unclosed formatting elements multiply to too many elements.')
}

export function tooManyNodes(offset?: number): TreeError {
  const most = MAX_NODES.toLocaleString('en')
  return new TreeError('too-many-nodes', `The document has more than ${most} nodes and attributes.`, offset)
}

export function tooLarge(): TreeError {
  return new TreeError('too-large', 'The items of the document repeat each other too often to be written out.')
}
