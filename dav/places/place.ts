/**
 * Where the mount keeps a resource. A request asks the place of a resource what can be done with it there, and never which
 * place it is: the site, a draft, or a helper file.
 */

import type { Site } from '../../pipeline/site/site.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import type { PropertyPatch } from '../../pipeline/write/properties.ts'
import type { Exchange } from '../exchange.ts'
import type { Unpublished } from './unpublished.ts'

/** A resource as the mount shows it. */
export interface Node {
  /** Of a draft: an empty file. Of a collection: with the sum of what is shown in it. */
  resource: Resource
  place: Place
  /** Of a draft: the published version behind it. */
  published?: Resource
}

export function isCollection({ resource }: Pick<Node, 'resource'>): boolean {
  return resource.kind === 'collection'
}

/** Both parts of the store that a mount shows. */
export interface Stored {
  site: Site
  unpublished: Unpublished
}

export interface Place {
  /** Visitors see what is here. Elements are read and written only here (DAV-45). */
  readonly isPublished: boolean
  /** What is here has a helper name: it stands for itself and never becomes a draft (DAV-70). */
  readonly isHelper: boolean
  /** What is here is shown as an empty file, whatever it covers (DAV-60). */
  readonly isEmpty: boolean
  /** The empty file was never published: its client still believes that it creates it (DAV-61). */
  readonly isNew: boolean
  /** The part of the store with the bytes and the members of what is here. */
  partOf(stored: Stored): Site
  /** The part with its dead properties. */
  propertiesIn(stored: Stored): Site
  /**
   * Changes dead properties and times.
   *
   * @throws Fault 404 when it is gone
   */
  describe(stored: Stored, path: string, patch: PropertyPatch): Promise<unknown>
  /**
   * Removes a resource, with drafts and helper files below it (DAV-62, DAV-73).
   *
   * @param check made under the lease of the path; it throws what the removal is refused with
   */
  remove(exchange: Exchange, node: Node, check?: Check): Promise<void>
  /**
   * Carries out a COPY or MOVE from here (DAV-62, DAV-72, DAV-73).
   *
   * @returns whether something was replaced
   * @throws Fault when the whole is refused; then nothing has changed
   */
  relocate(exchange: Exchange, relocation: Relocation): Promise<boolean>
}

type Check = () => Promise<void>

export interface Relocation {
  op: 'copy' | 'move'
  source: Node
  /** In the form of the source: a collection's ends in a slash. */
  to: string
  /** The destination has a helper name. */
  toHelper: boolean
  deep: boolean
  /** What stands at the destination, of either form. */
  replaced: Node | undefined
  /** False for `Overwrite: F`. */
  overwrite: boolean
  /** Conditions on the source, and locks of both ends: asked again under the leases of the paths. */
  check: Check
}
