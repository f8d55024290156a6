/** Declarations of live.mjs, which each site serves beside it. */

export interface LiveOptions {
  /** The page, or an element with an id; the whole page if absent. */
  root?: Element
  /** Path of the document to follow; the one of the page if absent. */
  path?: string
  /** Is told of elements that came or changed, and of the entity tag of the first. */
  changed?: (elements: Element[], tag?: string) => void
  /** Paths of documents that the page is put together from; those that its head names by `<link rel="origin">` if absent. */
  origins?: string[]
}

export interface LiveStream {
  /** Names this stream to the server; empty while it is not connected. */
  readonly token: string
  /** `refused`: the server gives no stream. The console says which rule is missing; it is tried again every ten seconds. */
  readonly state: 'connecting' | 'open' | 'refused' | 'closed'
  /** Like `fetch`, for writes of the page itself: it shows them by itself and does not hear of them; other tabs do. */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>
  /** What `fetch` does with answers, for writes that are sent in another way. */
  sent<Answer>(answer: Promise<Answer>): Promise<Answer>
  close(): void
}

/** Keeps a page, or an element of it, in step with its document. */
export function live(options?: LiveOptions): LiveStream
