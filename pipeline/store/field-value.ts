/** Whether a text can be sent as the value of a header field: one line of Latin-1 (RFC 9110 §5.5). */
export function isFieldValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}
