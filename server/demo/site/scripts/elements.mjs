// Every element of this page has an address: the page's own path and `Range: selector=…`.
// This module reads and writes elements by it. Nothing here is special to this site.
import { parts } from './multipart.mjs'
import { write } from './stream.mjs'

/**
 * The server said no: `status` is its answer, `tag` the entity tag that it named, if it did, and `violations` what
 * validation found, each as its properties by name.
 */
export class Refusal extends Error {
  constructor(response, text) {
    super(`${response.status} ${response.statusText}`)
    this.status = response.status
    this.tag = response.headers.get('ETag')
    this.violations = violationsIn(text)
  }
}

/** The violations of an error document; of several values of one property the first. */
function violationsIn(text) {
  // Other error pages have styles of their own, which the policy of these pages does not let in, even unseen.
  if (!text.includes('/Violation"')) return []
  const items = new DOMParser().parseFromString(text, 'text/html').querySelectorAll('[itemtype$="/Violation"]')
  return [...items].map(item => {
    const properties = [...item.querySelectorAll('[itemprop]')].reverse()
    return Object.fromEntries(properties.map(property => [property.getAttribute('itemprop'), property.textContent]))
  })
}

async function send(method, headers, body) {
  const response = await fetch(location.pathname, { method, headers, body, cache: 'no-store' })
  if (!response.ok) throw new Refusal(response, await response.text())
  return response
}

const range = selector => ({ Range: `selector=${selector}` })
const match = tag => (tag ? { 'If-Match': tag } : {})
const HTML = { 'Content-Type': 'text/html' }

/** @param {(response: Response) => unknown} read gets from the answer what will be shown */
const change = (method, selector, headers, body, read = () => {}) =>
  write(selector, connection => send(method, { ...range(selector), ...connection, ...headers }, body).then(read))

/** Markup from the server as one element. A template keeps it inert: nothing in it loads or runs here. */
function parse(text) {
  const template = document.createElement('template')
  template.innerHTML = text
  const element = template.content.firstElementChild
  if (element === null) throw new Error('The answer holds no element.')
  return document.importNode(element, true)
}

async function stored(response) {
  return { element: parse(await response.text()), tag: response.headers.get('ETag') }
}

/** The first match, with its tag. */
export async function read(selector) {
  return stored(await send('GET', range(selector)))
}

/** Every match, with its tag, in document order; none is no error. */
export async function readAll(selector) {
  try {
    const response = await send('GET', { ...range(selector), Accept: 'multipart/mixed' })
    const all = parts(response.headers.get('Content-Type') ?? '', await response.text())
    return all.map(({ headers, body }) => ({ element: parse(body), tag: headers.get('etag') ?? null }))
  } catch (error) {
    if (error instanceof Refusal && error.status === 416) return []
    throw error
  }
}

/** Puts an element, or markup of one, at the end of the first match; resolves to the element as it was stored. */
export async function append(selector, content) {
  return change('POST', selector, HTML, content.outerHTML ?? content, stored)
}

/** Replaces the first match, provided that it still is what `tag` stands for. */
export async function replace(selector, element, tag) {
  return change('PUT', selector, { ...match(tag), ...HTML }, element.outerHTML, stored)
}

/** Removes the first match, provided that it still is what `tag` stands for. */
export async function remove(selector, tag) {
  await change('DELETE', selector, match(tag))
}

/** Moves the first match to another place on the page: `before` or `after` the anchor, or into it (`append`, `prepend`). */
export async function move(selector, anchor, placement) {
  await change('MOVE', selector, {
    Destination: location.pathname,
    'Destination-Range': `selector=${anchor}; placement=${placement}`,
  })
}

/**
 * Asks what this visitor may do here.
 * @returns {Promise<{ page: Set<string>, on(element: Element): Set<string> }>} the methods permitted on the page, and
 *   those on an element: the sum of all parts of the answer whose selector the element matches
 */
export async function permissions() {
  const response = await send('OPTIONS', { Accept: 'multipart/mixed' })
  // Without rules for elements there is no body (204) and one Allow for everything.
  if (response.status !== 207) {
    const page = new Set(methods(response.headers.get('Allow')))
    return { page, on: () => page }
  }
  const grants = parts(response.headers.get('Content-Type') ?? '', await response.text()).map(({ headers }) => ({
    selector: /^selector[= ](.*)$/.exec(headers.get('content-range') ?? '')?.[1],
    allow: methods(headers.get('allow')),
  }))
  const sum = some => new Set(some.flatMap(({ allow }) => allow))
  return {
    page: sum(grants.filter(grant => grant.selector === undefined)),
    on: element => sum(grants.filter(grant => grant.selector !== undefined && matches(element, grant.selector))),
  }
}

const methods = list => (list ?? '').split(',').map(name => name.trim())

/** Rules may use selectors that the server knows and browsers do not; those grant nothing that this page could offer. */
function matches(element, selector) {
  try {
    return element.matches(selector)
  } catch {
    return false
  }
}
