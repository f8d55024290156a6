/** Markup as jsdom reads it. */

import { JSDOM } from 'jsdom'

/** The only window there is: to make one takes fifty times longer than to read a page. */
const { DOMParser } = new JSDOM('').window

/** A document without a window: nothing in it runs or is loaded. @throws for XML that is not well formed */
export function readDom(markup: string, type: 'text/html' | 'application/xml' = 'text/html'): Document {
  const document = new DOMParser().parseFromString(markup, type)
  const fault = type === 'text/html' ? undefined : document.querySelector('parsererror')
  if (fault) throw new SyntaxError(fault.textContent ?? '')
  return document
}
