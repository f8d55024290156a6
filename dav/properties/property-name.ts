/** Names of properties: a namespace and a local name. */

import { localName } from '../../pipeline/tree/namespaces.ts'
import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { DAV } from '../requests/xml.ts'

export interface PropertyName {
  /** Empty for a name in no namespace, which is legal (DAV-34). */
  namespace: string
  name: string
}

export function nameOf(element: ElementNode): PropertyName {
  return { namespace: element.namespaceURI, name: localName(element.tagName) }
}

/** A name in the namespace of RFC 4918. */
export function davName(name: string): PropertyName {
  return { namespace: DAV, name }
}

/** A text that no other name has: local names hold no spaces. */
export function keyOf({ namespace, name }: PropertyName): string {
  return `${name} ${namespace}`
}
