/** The wire format of event streams (EVT-10 to EVT-12, EVT-48): events and comments as bytes. */

/** Why a session's streams end (EVT-50). */
export type SessionEnd = 'session-expired' | 'session-invalidated'

/** Why a client has to fetch the document again (EVT-48). */
export type ResetReason = 'events-expired' | SessionEnd

/** The comment that keeps an idle connection alive (EVT-12). */
export const PING = Buffer.from(': ping\n\n')

/** Without an id, so that the client's last event id stays what it was (EVT-11). */
export function connectionFrame(brand: string, token: string): Buffer {
  return frame(`event: ${brand}-connection`, token)
}

export function mutationFrame(id: string, payload: string): Buffer {
  return frame(`id: ${id}\nevent: mutation`, payload)
}

/** @param ns base URI of the vocabulary */
export function resetFrame(ns: string, reason: ResetReason): Buffer {
  const item = `<article itemscope itemtype="${ns}/StreamReset">\n  <span itemprop="reason">${reason}</span>\n</article>`
  return frame('event: reset', item)
}

/** How long a client should wait before it connects again (EVT-83); milliseconds. */
export function retryFrame(milliseconds: number): Buffer {
  return Buffer.from(`retry: ${milliseconds}\n\n`)
}

function frame(fields: string, data: string): Buffer {
  return Buffer.from(`${fields}\ndata: ${data.replace(/\r\n?|\n/g, '\ndata: ')}\n\n`)
}

const BODY = '<div itemprop="body">'

/**
 * A mutation without its body (EVT-66). Nothing that comes before the body can hold its tag, and its end is the last of
 * the payload (EVT-21).
 */
export function withoutBody(payload: string): string {
  const start = payload.indexOf(BODY)
  const end = payload.lastIndexOf('</div>')
  return start < 0 || end < start ? payload : payload.slice(0, start + BODY.length) + payload.slice(end)
}
