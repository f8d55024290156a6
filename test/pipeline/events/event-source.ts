/** Reads event streams as the HTML standard says, and shows what a browser would not: comments, and fields as they came. */

export interface ReceivedEvent {
  /** `message` if not named. */
  event: string
  data: string
  /** Only if this very event had one. */
  id?: string
}

export type Block = ReceivedEvent | { comment: string } | { retry: number }

/** Cuts a stream into its blocks; what is incomplete at its end is left out. */
export function blocksOf(text: string): Block[] {
  const complete = text.slice(0, text.lastIndexOf('\n\n') + 2)
  return complete
    .split('\n\n')
    .filter(block => block !== '')
    .map(blockOf)
}

function blockOf(block: string): Block {
  const fields = block.split('\n').map((line): [string, string] => {
    const colon = line.indexOf(':')
    if (colon < 0) throw new Error(`this is no field: ${JSON.stringify(line)}`)
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
  })
  const all = (name: string) => fields.filter(([field]) => field === name).map(([, value]) => value)
  const [comment] = all('')
  if (comment !== undefined) return { comment }
  const [retry] = all('retry')
  if (retry !== undefined) return { retry: Number(retry) }
  const [id] = all('id')
  return { event: all('event')[0] ?? 'message', data: all('data').join('\n'), ...(id !== undefined && { id }) }
}

/** The events among the blocks. */
export function eventsOf(text: string): ReceivedEvent[] {
  return blocksOf(text).filter(block => 'event' in block)
}

/** A property of a mutation's item, unescaped; undefined if it has none. */
export function property(payload: string, name: string): string | undefined {
  const text = new RegExp(`<span itemprop="${name}">([^<]*)</span>`).exec(payload)?.[1]
  return text?.replaceAll('&lt;', '<').replaceAll('&amp;', '&')
}

/** The body as clients cut it out: between its tag and the last end tag of its kind (EVT-21). */
export function bodyOf(payload: string): string {
  const tag = '<div itemprop="body">'
  return payload.slice(payload.indexOf(tag) + tag.length, payload.lastIndexOf('</div>'))
}
