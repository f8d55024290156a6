/** Properties that the server makes from a resource's state (DAV-33). */

import { formatHttpDate } from '../../pipeline/http/conditions.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { shownSeconds } from '../../pipeline/store/tags.ts'
import { syncToken } from '../listings/sync-states.ts'
import { shortSupportedLockXml, supportedLockXml } from '../locks/lock-xml.ts'
import { davName, keyOf, type PropertyName } from './property-name.ts'

/** What is shown of one resource in one answer. */
export interface Subject {
  resource: Resource
  /** Quoted: content tag of a file, answer tag of the target, stat tag of a member collection. */
  etag: string
  /** Last segment, or the name of the site. */
  displayName: string
  /** The `lockdiscovery` element; undefined while locks cannot be looked up. */
  lockDiscovery: string | undefined
  /** Bytes on the site; only where asked for, where the site has a quota, and as far as the requester is told. */
  room?: { available: number; used: number | undefined }
  /** Lower-case hex; present only where asked for. */
  checksums?: { sha1: string; md5: string }
  /** The requester may change it. */
  writable: boolean
  /** Every byte counts: the resource has so many properties that a listing comes near to what clients accept (DAV-37). */
  short: boolean
}

/** Text of XML; undefined where the resource has no such property. */
type Tell = (subject: Subject) => string | undefined

export interface LiveProperty {
  name: PropertyName
  /** The whole element; the prefix `D` means `DAV:`. */
  element: Tell
  /** Why a client cannot set it, or who keeps what it sets. */
  setting: 'protected' | 'dead' | 'language' | 'modified' | 'ignored'
}

/** Times whose text is remembered. */
const MOST_TIMES = 256

/** RFC 3339, whole seconds: `2026-03-14T09:26:53Z`. */
const isoDate = remembering(seconds => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`)
const httpDate = remembering(seconds => formatHttpDate(seconds * 1000))

/** Members of a collection often have the same few times. @param format of unix seconds */
function remembering(format: (seconds: number) => string): (seconds: number) => string {
  const known = new Map<number, string>()
  return seconds => {
    let text = known.get(seconds)
    if (text === undefined) {
      text = format(seconds)
      if (known.size === MOST_TIMES) known.clear()
      known.set(seconds, text)
    }
    return text
  }
}

const isFile = ({ resource }: Subject) => resource.kind !== 'collection'

const privilege = (name: string) => `<D:privilege><D:${name}/></D:privilege>`
const READ = privilege('read')
const WRITE = ['write', 'write-content', 'write-properties', 'bind', 'unbind', 'unlock'].map(privilege).join('')

const SYNC_REPORT = '<D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report>'

const CHECKSUMS: PropertyName = { namespace: 'http://owncloud.org/ns', name: 'checksums' }
export const CHECKSUMS_KEY = keyOf(CHECKSUMS)
export const QUOTA_KEYS: ReadonlySet<string> = new Set(
  ['quota-available-bytes', 'quota-used-bytes'].map(name => keyOf(davName(name))),
)
export const SYNC_TOKEN_KEY = keyOf(davName('sync-token'))
export const LOCK_DISCOVERY_KEY = keyOf(davName('lockdiscovery'))

/** Those of `allprop` in the order in which they are written. */
const IN_ALLPROP: LiveProperty[] = [
  live('creationdate', ({ resource }) => isoDate(Math.floor(resource.created / 1000))),
  live('displayname', subject => escapeMarkup(subject.displayName), 'dead'),
  live('getcontentlength', subject => (isFile(subject) ? String(subject.resource.size) : undefined)),
  live('getcontenttype', subject => (isFile(subject) ? escapeMarkup(subject.resource.type) : undefined)),
  live('getcontentlanguage', languageOf, 'language'),
  live('getetag', ({ etag }) => etag),
  live('getlastmodified', ({ resource }) => httpDate(shownSeconds(resource))),
  live('resourcetype', subject => (isFile(subject) ? '' : '<D:collection/>')),
  { name: davName('lockdiscovery'), element: ({ lockDiscovery }) => lockDiscovery, setting: 'protected' },
  {
    name: davName('supportedlock'),
    element: ({ short }) => (short ? shortSupportedLockXml : supportedLockXml),
    setting: 'protected',
  },
]

const ON_DEMAND: LiveProperty[] = [
  // Without a real limit both are absent: current macOS waits for 90 s when it is told of a made-up one.
  live('quota-available-bytes', subject => (isFile(subject) ? undefined : subject.room?.available.toString())),
  live('quota-used-bytes', subject => (isFile(subject) ? undefined : subject.room?.used?.toString())),
  live('current-user-privilege-set', ({ writable }) => (writable ? READ + WRITE : READ)),
  live('supported-report-set', subject => (isFile(subject) ? undefined : SYNC_REPORT)),
  live('sync-token', subject => (isFile(subject) ? undefined : syncToken(subject.resource))),
  live('lastmodified', () => undefined, 'modified'),
  { name: CHECKSUMS, element: checksumsOf, setting: 'ignored' },
]

/** In the order of `allprop`. */
export const ALLPROP: readonly LiveProperty[] = IN_ALLPROP

const BY_KEY: ReadonlyMap<string, LiveProperty> = new Map(
  [...IN_ALLPROP, ...ON_DEMAND].map(property => [keyOf(property.name), property]),
)

/** The live property of a name, or undefined for the name of a dead property. */
export function liveProperty(name: PropertyName): LiveProperty | undefined {
  return BY_KEY.get(keyOf(name))
}

/** @param content of the element, as XML */
function live(name: string, content: Tell, setting: LiveProperty['setting'] = 'protected'): LiveProperty {
  const [start, end, empty] = [`<D:${name}>`, `</D:${name}>`, `<D:${name}/>`]
  const element: Tell = subject => {
    const text = content(subject)
    return text === undefined ? undefined : text === '' ? empty : start + text + end
  }
  return { name: davName(name), element, setting }
}

function languageOf({ resource }: Subject): string | undefined {
  return resource.language === undefined ? undefined : escapeMarkup(resource.language)
}

function checksumsOf({ checksums }: Subject): string | undefined {
  return (
    checksums &&
    `<x:checksums xmlns:x="${CHECKSUMS.namespace}"><x:checksum>SHA1:${checksums.sha1} MD5:${checksums.md5}</x:checksum></x:checksums>`
  )
}
