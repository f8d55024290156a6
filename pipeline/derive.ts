/** What is found out about a document when it is committed, so that no request has to (design, invariant 3). */

import { extractAccess, type RawAccess } from './access/extract.ts'
import { Fault } from './fault.ts'
import type { Profile } from './held.ts'
import { kindOf } from './http/media.ts'
import { describeItems } from './items.ts'
import { decode, parseDocument, TreeError } from './tree/document.ts'
import type { DocumentKind } from './tree/nodes.ts'
import { type AnyNode, isElement, type TreeDocument } from './tree/nodes.ts'

export interface Derived {
  profile: Profile
  /** Rules and groups as written; undefined when there are none. */
  access: RawAccess | undefined
  /** Microdata items as JSON; undefined when there are none. */
  items: string | undefined
}

/**
 * @param ns base URI of the site's vocabulary
 * @param utf8 whether the document's bytes are valid UTF-8
 */
export function deriveFromTree(document: TreeDocument, ns: string, utf8: boolean): Derived {
  const types = new Set<string>()
  const namespaces = new Set<string>()
  const open: AnyNode[] = [document.root]
  for (let node = open.pop(); node; node = open.pop()) {
    if (isElement(node)) {
      for (const a of node.attrs) {
        if (a.name === 'itemtype') for (const type of a.value.split(/\s+/)) if (type) types.add(type)
        if (a.prefix === 'xmlns' || a.name.startsWith('xmlns:')) namespaces.add(a.value)
      }
    }
    if ('childNodes' in node) for (const child of node.childNodes) if (isElement(child)) open.push(child)
  }
  const profile: Profile = { utf8, types: [...types], namespaces: [...namespaces] }
  const access = types.size > 0 ? extractAccess(document, ns) : undefined
  return { profile, access, items: describeItems(document) }
}

/** A parsed document with everything derived from it. */
export interface ParsedDocument {
  text: string
  tree: TreeDocument
  derived: Derived
}

/**
 * Parses the bytes of a document that is about to be stored.
 *
 * @throws Fault 422 when it breaks a limit, or is XML that is not well formed (HTTP-23, HTTP-181)
 */
export function parseForStorage(bytes: Uint8Array, kind: DocumentKind, ns: string): ParsedDocument {
  const { text, utf8 } = decode(bytes)
  if (kind === 'xml' && !utf8)
    throw new Fault(422, 'InvalidFragment', 'The document is not valid UTF-8. Save it as UTF-8 and upload it again.')
  try {
    const tree = parseDocument(kind, text)
    return { text, tree, derived: deriveFromTree(tree, ns, utf8) }
  } catch (error) {
    throw error instanceof TreeError ? unusable(error) : error
  }
}

function unusable(error: TreeError): Fault {
  return new Fault(422, 'InvalidFragment', `The document cannot be stored: ${error.message}`)
}

/** The profile of bytes that are stored already, for documents whose derived data is missing. */
export function profileOf(bytes: Uint8Array, type: string, ns: string): Profile | undefined {
  const kind = kindOf(type)
  return kind === 'blob' ? undefined : parseForStorage(bytes, kind, ns).derived.profile
}

/** The form in which a store keeps derived data: one text a name. */
export function storedForm(derived: Derived): Record<string, string> {
  const form: Record<string, string> = { profile: JSON.stringify(derived.profile) }
  if (derived.access) form.access = JSON.stringify(derived.access)
  if (derived.items) form.items = derived.items
  return form
}
