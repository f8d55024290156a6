/** Text inside markup that the server writes itself: escaped so that it reads the same in HTML and in XML. */

const SPECIAL: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // XML and DAV-101 know few named references; the number is understood everywhere.
  "'": '&#39;',
}

/** Characters that XML 1.0 cannot hold in any form. */
const UNWRITABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

/** @returns the text for use between tags and in quoted attribute values; what XML cannot hold becomes U+FFFD */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replace(UNWRITABLE, '\ufffd')
    .replace(/[&<>"']/g, character => SPECIAL[character] ?? character)
}

/** @returns the text for use between tags alone, where quotes stay as they are, as the HTML standard serialises them */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replace(UNWRITABLE, '\ufffd')
    .replace(/[&<>]/g, character => SPECIAL[character] ?? character)
}
