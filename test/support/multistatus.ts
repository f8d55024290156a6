/** Reads `multistatus` bodies as a client does: by namespace, not by prefix. */

import { SaxesParser } from 'saxes'

/** A property as it came. */
export interface ReceivedProperty {
  /** Of its `propstat`. */
  status: number
  /** Its text, or, where it has none, the local names of the elements in it, joined by spaces. */
  value: string
}

/** By name: `getetag` for those of `DAV:`, `{namespace}name` for all others. */
export type ReceivedProperties = Map<string, ReceivedProperty>

/**
 * @returns properties by the path of each `href`, decoded, in order
 * @throws for a body that is not well formed or no multistatus
 */
export function readMultistatus(body: string): Map<string, ReceivedProperties> {
  const responses = new Map<string, ReceivedProperties>()
  const stack: string[] = []
  let href = ''
  let status = ''
  let text = ''
  let inside: string[] = []
  let properties: ReceivedProperties = new Map()
  let pending: [name: string, value: string][] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ uri, local }) => {
    const name = uri === 'DAV:' ? local : `{${uri}}${local}`
    if (stack.length === 0 && name !== 'multistatus') throw new Error(`this is no multistatus: ${body}`)
    stack.push(name)
    if (isProperty(stack.slice(0, -1))) inside.push(local)
    else [text, inside] = ['', []]
    if (stack.join(' ') === 'multistatus response') properties = new Map()
  })
  const onText = (piece: string) => {
    text += piece
  }
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on('closetag', () => {
    const place = stack.join(' ')
    if (place === 'multistatus response href') href = text
    else if (place === 'multistatus response propstat status') status = text
    else if (place === 'multistatus response') responses.set(pathOf(href), properties)
    else if (place === 'multistatus response propstat') {
      const code = Number(/^HTTP\/1\.1 (\d{3})/.exec(status.trim())?.[1])
      for (const [name, value] of pending) properties.set(name, { status: code, value })
      pending = []
    } else if (isProperty(stack) && stack.length === PROPERTY.length + 1)
      pending.push([stack.at(-1) ?? '', text.trim() || inside.join(' ')])
    stack.pop()
  })
  parser.write(body).close()
  return responses
}

const PROPERTY = ['multistatus', 'response', 'propstat', 'prop']

/** Whether a place is a property or something in one. */
function isProperty(stack: readonly string[]): boolean {
  return stack.length > PROPERTY.length && PROPERTY.every((name, i) => stack[i] === name)
}

/** Some servers write whole URLs; only the path counts. */
function pathOf(href: string): string {
  return decodeURIComponent(href.trim().replace(/^https?:\/\/[^/]*/, ''))
}
