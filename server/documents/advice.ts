/** What to do next, for the reader of an error document. */

import type { Kind } from '../../pipeline/fault.ts'

const ADVICE: Readonly<Partial<Record<Kind, string>>> = {
  BadRequest: 'Correct the request and send it again.',
  InvalidPath: 'Correct the address; names are written with plain characters or as percent-encoded UTF-8.',
  UriTooLong: 'Use a shorter address or shorter names.',
  InvalidRange: 'Write the range as selector=<css> with a selector after the equals sign.',
  InvalidSelector: 'Correct the CSS selector and try again.',
  InvalidPlacement: 'Use append, prepend, before or after, at a place where an element can stand.',
  EmptyBody: 'Send the content in the body of the request.',
  InvalidFragment:
    'Check the markup that was sent: it must hold an element that fits its place, and nothing that is ruled out there.',
  NotFound: 'Check the address for typing errors. What was here may have been moved or deleted.',
  SelectorNoMatch: 'Read the document again to see which elements it has now.',
  PreconditionFailed: 'Read it again, apply your change to what is there now, and save with the new entity tag.',
  NotAcceptable: 'Ask for a form that can be sent, or leave the Accept header out.',
  UnsupportedMediaType: 'Send the content as one of the supported types.',
  NotHtml: 'Read or replace the whole resource, without a selector.',
  MoveMissingHeaders: 'Send Range, Destination and Destination-Range for an element, only Destination for a document.',
  MoveCrossResource: 'Insert the element in the other document first, then delete it here.',
  IllegalMove: 'Choose another destination.',
  Reserved: 'Choose a path outside the reserved directories.',
  NoSession: 'Allow cookies for this site and try again.',
  MethodNotAllowed: 'The Allow header of this answer lists the methods that can be used here.',
  NotImplemented: 'Use one of the methods that OPTIONS lists.',
  Conflict: 'Try again; if it happens every time, read the resource first to see what has changed.',
  Locked: 'Somebody is editing this. Try again when they have finished.',
  BadGateway: 'Use a destination on this host.',
  Timeout: 'Send the request again; the connection may have been slow.',
  HeaderTooLarge: 'Send fewer or shorter header fields; deleting the cookies of this site may help.',
  BudgetExceeded: 'Try again later. If it keeps happening, the code of this page does more work than is allowed.',
  CompositionError: 'The author of this page has to correct it.',
  TemplateError: 'The author of this page has to correct its template.',
  BindingFailure: 'The author of this page has to correct its code.',
  TooManyRequests: 'Wait as long as Retry-After says, in seconds, and try again.',
  Unavailable: 'Wait a few seconds and try again.',
  Internal: 'Try again later. If it keeps happening, tell the operator of this site the time and the address.',
  SchemaViolation: 'Correct the content so that it fits the schema.',
  ConstraintViolation: 'Correct the content so that it keeps to the constraints.',
}

/** @returns one or two sentences, or undefined where the message says it all */
export function adviceFor(kind: Kind): string | undefined {
  return ADVICE[kind]
}
