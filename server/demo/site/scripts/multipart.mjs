// Reads multipart/mixed answers: what OPTIONS permits, and every match of a selector (RFC 2046, section 5.1).

/**
 * @param {string} contentType the answer's Content-Type, with its boundary
 * @param {string} text the answer's body
 * @returns {{ headers: Map<string, string>, body: string }[]} the parts in order; header names in lower case
 */
export function parts(contentType, text) {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)
  if (boundary === null) return []
  // The line break before a delimiter belongs to the delimiter, so the first one needs it too.
  const pieces = `\r\n${text}`.split(`\r\n--${boundary[1] ?? boundary[2]}`).slice(1)
  return pieces.filter(piece => !piece.startsWith('--')).map(part)
}

function part(piece) {
  const end = piece.indexOf('\r\n\r\n')
  const lines = (end < 0 ? piece : piece.slice(0, end)).split('\r\n')
  const headers = new Map()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  return { headers, body: end < 0 ? '' : piece.slice(end + 4) }
}
