/** What is wrong with an Atom feed by RFC 4287; the numbers are its sections. */

import { readDom } from '../../support/dom.ts'

const ATOM = 'http://www.w3.org/2005/Atom'

/** How often elements may stand in their parents: `1` once, `?` at most once, `*` any number, `+` at least once. */
const FEED: Record<string, string> = {
  id: '1',
  title: '1',
  updated: '1',
  author: '*',
  category: '*',
  contributor: '*',
  link: '*',
  entry: '*',
  generator: '?',
  icon: '?',
  logo: '?',
  rights: '?',
  subtitle: '?',
}
const ENTRY: Record<string, string> = {
  id: '1',
  title: '1',
  updated: '1',
  author: '*',
  category: '*',
  contributor: '*',
  link: '*',
  content: '?',
  published: '?',
  rights: '?',
  source: '?',
  summary: '?',
}
const PERSON: Record<string, string> = { name: '1', uri: '?', email: '?' }

/** 3.3: RFC 3339, with `T` and `Z` in upper case. */
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/
const IRI = /^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`]+$/i
const REFERENCE = /^[^\s<>"{}|\\^`]+$/
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/

/** @returns one line for each fault; none for a valid feed */
export function atomFaults(text: string): string[] {
  const document = readDom(text, 'application/xml')
  const feed = document.documentElement
  if (feed.namespaceURI !== ATOM || feed.localName !== 'feed') return ['4.1.1 the root is no feed']
  const faults = [...childFaults(feed, FEED, '4.1.1'), ...commonFaults(feed)]
  const entries = parts(feed, 'entry')
  const known = new Set<string>()
  for (const entry of entries) {
    faults.push(...childFaults(entry, ENTRY, '4.1.2'), ...commonFaults(entry))
    if (parts(entry, 'author').length === 0 && parts(feed, 'author').length === 0)
      faults.push('4.1.2 an entry has no author')
    const alternates = parts(entry, 'link').filter(link => relation(link) === 'alternate')
    if (parts(entry, 'content').length === 0 && alternates.length === 0)
      faults.push('4.1.2 an entry has neither content nor an alternate link')
    const key = `${content(entry, 'id')} ${content(entry, 'updated')}`
    if (known.has(key)) faults.push(`4.1.1 two entries are the same: ${key}`)
    known.add(key)
  }
  if (!parts(feed, 'link').some(link => relation(link) === 'self'))
    faults.push('4.1.1 there is no link to the feed itself')
  return faults
}

function commonFaults(parent: Element): string[] {
  const faults: string[] = []
  for (const name of ['updated', 'published'])
    for (const date of parts(parent, name))
      if (!DATE.test(date.textContent ?? '') || Number.isNaN(Date.parse(date.textContent ?? '')))
        faults.push(`3.3 no date: ${date.textContent}`)
  for (const id of parts(parent, 'id'))
    if (!IRI.test(id.textContent ?? '')) faults.push(`4.2.6 no absolute IRI: ${id.textContent}`)
  for (const name of ['title', 'subtitle', 'summary', 'rights'])
    for (const text of parts(parent, name)) {
      const type = text.getAttribute('type') ?? 'text'
      if (!['text', 'html', 'xhtml'].includes(type)) faults.push(`3.1.1 no type of text: ${type}`)
      if (type !== 'xhtml' && text.children.length > 0) faults.push(`3.1.1 markup in ${name}`)
    }
  for (const name of ['author', 'contributor'])
    for (const person of parts(parent, name)) {
      faults.push(...childFaults(person, PERSON, '3.2'))
      const email = content(person, 'email')
      if (email !== undefined && !/^.+@.+$/.test(email)) faults.push(`3.2.3 no address: ${email}`)
    }
  const alternates = new Set<string>()
  for (const link of parts(parent, 'link')) {
    if (!REFERENCE.test(link.getAttribute('href') ?? '')) faults.push('4.2.7.1 a link leads nowhere')
    const type = link.getAttribute('type')
    if (type !== null && !MEDIA_TYPE.test(type)) faults.push(`4.2.7.3 no media type: ${type}`)
    const key = `${type} ${link.getAttribute('hreflang')}`
    if (relation(link) === 'alternate' && alternates.has(key)) faults.push('4.1.1 two alternate links of one kind')
    if (relation(link) === 'alternate') alternates.add(key)
  }
  return faults
}

function childFaults(parent: Element, allowed: Record<string, string>, section: string): string[] {
  const unknown = [...parent.children]
    .filter(child => child.namespaceURI === ATOM && !Object.hasOwn(allowed, child.localName))
    .map(child => `${section} ${child.localName} may not stand in ${parent.localName}`)
  const counted = Object.entries(allowed).flatMap(([name, often]) => {
    const { length } = parts(parent, name)
    const wrong = (often === '1' && length !== 1) || (often === '?' && length > 1)
    return wrong ? [`${section} ${parent.localName} has ${length} times ${name}`] : []
  })
  return [...unknown, ...counted]
}

const relation = (link: Element) => link.getAttribute('rel') ?? 'alternate'
const content = (parent: Element, name: string) => parts(parent, name)[0]?.textContent ?? undefined
const parts = (parent: Element, name: string) =>
  [...parent.children].filter(child => child.namespaceURI === ATOM && child.localName === name)
