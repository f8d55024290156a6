/** Errors of the DOM: the realm makes a `DOMException` of them. */

export type DomErrorName =
  | 'HierarchyRequestError'
  | 'InvalidCharacterError'
  | 'NoModificationAllowedError'
  | 'NotFoundError'
  | 'NotSupportedError'
  | 'InvalidStateError'
  | 'SyntaxError'
  | 'NamespaceError'
  | 'QuotaExceededError'

export class DomError extends Error {
  override readonly name: DomErrorName

  constructor(name: DomErrorName, message: string) {
    super(message)
    this.name = name
  }
}
