/**
 * Texts on their own. A text that was cut from another one keeps the whole of it in memory: whoever keeps a word of a request, or
 * of a document, keeps the request or the document.
 */

/** @returns the same text, for whatever is kept longer than what it was cut from */
export function ownText(text: string): string {
  // Joining two texts and looking into the result writes it down anew.
  return ` ${text}`.slice(1)
}
