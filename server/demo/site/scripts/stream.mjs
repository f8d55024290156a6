// The event streams of this page: what others change appears by itself, and what the page writes does not come back to it.
import { live } from '/.platform/live.mjs'

/** Parts of the page that are followed, each with its stream. */
const followed = []

/**
 * Keeps a part of the page in step with what is stored.
 * @param {Element} root has an id; what the page adds inside it is marked `data-own`
 * @param {(elements: Element[], tag?: string) => void} changed told of elements that came or changed, and of the first one's
 *   entity tag if it is known
 */
export function follow(root, changed) {
  followed.push({ root, stream: live({ root, changed }) })
}

/**
 * Has the page write an element, and names the stream of its part in the write, so that only other windows hear of it.
 * @template T
 * @param {string} selector of the element
 * @param {(connection: Record<string, string>) => Promise<T>} send takes header fields; resolves to what will be shown
 * @returns {Promise<T>}
 */
export function write(selector, send) {
  const element = document.querySelector(selector)
  const stream = followed.find(({ root }) => root.contains(element))?.stream
  const answer = send(stream?.token ? { 'Platform-Connection': stream.token } : {})
  return stream?.sent(answer) ?? answer
}
