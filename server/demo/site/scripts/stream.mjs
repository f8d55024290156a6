// The event stream of this page: what others change appears by itself, and what the page writes does not come back to it.
import { live } from '/.platform/live.mjs'

let stream

/**
 * Keeps a part of the page in step with what is stored.
 * @param {Element} root has an id; what the page adds inside it is marked `data-own`
 * @param {(elements: Element[], tag?: string) => void} changed told of elements that came or changed, and of the first one's
 *   entity tag if it is known
 */
export function follow(root, changed) {
  stream = live({ root, changed })
}

/** Names this page's stream in its own writes, so that only other windows hear of them. */
export const connection = () => (stream?.token ? { 'Platform-Connection': stream.token } : {})
