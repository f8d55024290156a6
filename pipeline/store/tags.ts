/**
 * Tags of files and collections (DAV-52): pure functions from what the store knows of a resource to the values that
 * stand in `ETag` and `getetag`. Sums are taken modulo 2^256, so that one member is exchanged without reading the others.
 */

import { hash } from 'node:crypto'
import type { Property, Resource } from './resource.ts'

/** P without dead properties and K without members: 64 zeros. */
export const ZERO = '0'.repeat(64)

/** Lower-case hex SHA-256 of the UTF-8 bytes of a text. */
function sha256(text: string): string {
  return hash('sha256', text)
}

/** Digits of a content tag; litmus cuts off longer ones. */
export const TAG_DIGITS = 48

/**
 * Entity tag of stored bytes, the same on the mount and on the public surface.
 * @param digest SHA-256 of the bytes, 64 hex digits
 * @returns the tag with its quotes
 */
export function contentTag(digest: string): string {
  return `"${digest.slice(0, TAG_DIGITS)}"`
}

/**
 * Entity tag of a body that is not stored: JSON-LD, a page that was put together.
 * @returns the tag with its quotes; stored bytes have the same one (DAV-52)
 */
export function bodyTag(body: string | Uint8Array): string {
  return contentTag(hash('sha256', body))
}

/** The last second of the year 9999: no date of HTTP or XML has a longer year. */
export const LATEST_SHOWN = 253_402_300_799

/** The time a mount shows as `getlastmodified`, unix seconds: what a client set, else that of the commit (DAV-36). */
export function shownSeconds(resource: Pick<Resource, 'shown' | 'modified'>): number {
  return resource.shown ?? Math.floor(resource.modified / 1000)
}

/** Last segment of a path, without the slash of a collection; empty for the root. */
function nameOf(path: string): string {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}

/** Hex value that stands for a collection in the line its own parent has of it. */
function stat(properties: string, members: string): string {
  return sha256(`0\n${properties}\n${members}\n`)
}

/** What a line is made of beside the name. */
export type Listed = Pick<Resource, 'digest' | 'size' | 'type' | 'shown' | 'modified' | 'properties' | 'members'>

/** The line that a resource contributes to the K of its collection, LF included. */
function lineOf(name: string, isCollection: boolean, listed: Listed): string {
  if (isCollection) return `D\t${name}\t${stat(listed.properties, listed.members ?? ZERO)}\n`
  const { digest, size, type, properties } = listed
  return `F\t${name}\t${digest}\t${size}\t${type}\t${shownSeconds(listed)}\t${properties}\n`
}

/** The same of a resource that has its path. */
export function line(resource: Resource): string {
  return lineOf(nameOf(resource.path), resource.kind === 'collection', resource)
}

/** Tag of a collection at depth 0, without quotes: `d0-` and 64 hex digits. */
export function statTag(collection: Resource): string {
  return `d0-${stat(collection.properties, collection.members ?? ZERO)}`
}

/** Tag of a collection at depth 1, without quotes: `d1-` and 64 hex digits. */
export function listTag(collection: Resource): string {
  return `d1-${sha256(`1\n${collection.properties}\n${collection.members ?? ZERO}\n`)}`
}

/** Tag of the property answer of a file, without quotes: `p-` and 64 hex digits; differs from its content tag (DAV-51). */
export function fileTag(file: Resource): string {
  return `p-${sha256(line(file))}`
}

/** What a resource adds to the K of its collection, as a number below 2^256. */
export function weight(resource: Resource): bigint {
  return weightOf(nameOf(resource.path), resource.kind === 'collection', resource)
}

/** The same of one whose name is known. */
export function weightOf(name: string, isCollection: boolean, listed: Listed): bigint {
  return BigInt(`0x${sha256(lineOf(name, isCollection, listed))}`)
}

/** What one dead property adds to P, as a number below 2^256. */
export function propertyWeight(property: Property): bigint {
  return BigInt(`0x${sha256(`${property.namespace}\n${property.name}\n${property.value}`)}`)
}

/**
 * Adds to a sum modulo 2^256.
 * @param sum 64 hex digits
 * @param difference may be negative
 * @returns 64 hex digits
 */
export function addTo(sum: string, difference: bigint): string {
  if (difference === 0n) return sum
  return BigInt.asUintN(256, BigInt(`0x${sum}`) + difference)
    .toString(16)
    .padStart(64, '0')
}

/** P of DAV-52 over all dead properties of a resource. */
export function propertySum(properties: readonly Property[]): string {
  return addTo(
    ZERO,
    properties.reduce((sum, property) => sum + propertyWeight(property), 0n),
  )
}

/** K of DAV-52 over the listed members of a collection. */
export function memberSum(members: readonly Resource[]): string {
  return addTo(
    ZERO,
    members.reduce((sum, member) => sum + weight(member), 0n),
  )
}
