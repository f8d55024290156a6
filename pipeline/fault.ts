/** Failures as data: a status, a kind and a message. They become documents once, at the edge of the server. */

/** Names of failures (HTTP-170, DAV-102, MOD-134). They are part of the interface: clients read them. */
export type Kind =
  | 'BadRequest'
  | 'InvalidPath'
  | 'UriTooLong'
  | 'InvalidRange'
  | 'InvalidSelector'
  | 'InvalidPlacement'
  | 'EmptyBody'
  | 'InvalidFragment'
  | 'NotFound'
  | 'SelectorNoMatch'
  | 'PreconditionFailed'
  | 'NotAcceptable'
  | 'UnsupportedMediaType'
  | 'PayloadTooLarge'
  | 'NotHtml'
  | 'MoveMissingHeaders'
  | 'MoveCrossResource'
  | 'IllegalMove'
  | 'Reserved'
  | 'NoSession'
  | 'MethodNotAllowed'
  | 'NotImplemented'
  | 'Conflict'
  | 'Locked'
  | 'CompositionError'
  | 'TemplateError'
  | 'BindingFailure'
  | 'BudgetExceeded'
  | 'Unavailable'
  | 'Internal'
  | 'BadGateway'
  | 'Timeout'
  | 'HeaderTooLarge'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'Forbidden'
  | 'MalformedXml'
  | 'ChecksumMismatch'
  | 'FiniteDepthOnly'
  | 'DirectoryAlreadyExists'
  | 'ParentDirectoryMissing'
  | 'LockTokenMismatch'
  | 'UnsupportedLock'
  | 'SchemaViolation'
  | 'ConstraintViolation'
  | 'AllowanceExhausted'

/** Codes that RFC 4918 and its relatives put into an XML `error` element (DAV-101). */
export interface Precondition {
  code:
    | 'propfind-finite-depth'
    | 'valid-resourcetype'
    | 'supported-report'
    | 'valid-sync-token'
    | 'lock-token-matches-request-uri'
    | 'lock-token-submitted'
    | 'no-conflicting-lock'
    | 'quota-not-exceeded'
  /** Decoded paths of the resources that the code is about; the mount writes them as `href`s. */
  paths?: readonly string[]
}

/** UTF-16 code units of a message that are told: what code throws may be of any length. */
const LONGEST = 4096

/** What is told of a message, once values have been left out: what is cut may have lost the mark that ends one. */
export function beginning(message: string): string {
  return message.length > LONGEST ? `${message.slice(0, LONGEST).toWellFormed()}…` : message
}

/** Why a piece of code gave no answer (MOD-132). */
export interface CodeFailure {
  /** Item type of the slot. */
  language: string
  variant:
    | 'parse'
    | 'shape'
    | 'threw'
    | 'timeout'
    | 'out-of-memory'
    | 'marshal'
    | 'return-type'
    | 'import-not-allowed'
    | 'unknown-schema'
    | 'unknown-language'
  message: string
}

/** The same, of why code has failed. */
export function beginningOf(failure: CodeFailure): CodeFailure {
  return { ...failure, message: beginning(failure.message) }
}

/** What a failure may carry beside status, kind and message. */
export interface FaultDetails {
  /** Response headers that belong to this failure, such as `ETag` of a 412 or `Allow` of a 405. */
  headers?: Record<string, string>
  /** A refusal by rules (DENY-1): the document names this decoded path instead of a kind. */
  refused?: { resource: string; method: string }
  /** Told to WebDAV clients beside the kind (DAV-101). */
  precondition?: Precondition
  /** A 413 of something smaller than a body: it names its kind, and the connection goes on (COMP-82). */
  isBodyRead?: true
  /** The code that went wrong (MOD-132, HTTP-172): an item beside the message. */
  failure?: CodeFailure
  /** A complete error document made by validation; sent as it is. */
  document?: string
  /** The same as data, for clients that prefer JSON: one object for each violation. */
  violations?: readonly Readonly<Record<string, unknown>>[]
  /** How the same failure is told to whoever may not read what was judged (SEC-6). */
  discreet?: Discreet
  /** The failure that led here; logged, never shown. */
  cause?: unknown
}

/** A failure without the values of the items that it is about. */
export interface Discreet {
  /** Values that are left out are of what was written, or of what was stored before as well. */
  of: 'written' | 'stored'
  fault(): Fault
}

/** The one error type of the pipeline. Thrown where the failure is found, turned into a document at the edge. */
export class Fault extends Error {
  readonly status: number
  readonly kind: Kind
  readonly details: FaultDetails

  /**
   * @param status HTTP status code, 4xx or 5xx (304 never is a fault)
   * @param kind name of the failure
   * @param message one sentence for people; never holds other documents' content, file names or traces (HTTP-170)
   */
  constructor(status: number, kind: Kind, message: string, details: FaultDetails = {}) {
    super(beginning(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Fault'
    this.status = status
    this.kind = kind
    const { failure } = details
    this.details = failure ? { ...details, failure: beginningOf(failure) } : details
  }
}
