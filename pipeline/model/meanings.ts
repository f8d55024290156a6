/** What the namespaces of directives mean (COMP-2, COMP-11, COMP-13). */

import type { DocumentKind } from '../tree/nodes.ts'
import type { Registry } from './registry.ts'
import type { Schema } from './schema.ts'

/** What a namespace provides. `other` is neither known nor foreign. */
export type Meaning = 'page' | 'resource' | 'sessel' | 'javascript' | 'foreign' | 'other' | Schema

/** Namespaces that are never those of directives, unless a schema has exactly that type (COMP-13). */
const FOREIGN = [
  'http://www.w3.org/',
  'http://ogp.me/',
  'https://ogp.me/',
  'http://opengraphprotocol.org/',
  'http://www.facebook.com/',
  'http://purl.org/',
  'urn:schemas-microsoft-com:',
]

/** What a namespace means on a site; by exact equality. */
export function meaningOf(uri: string, model: Registry): Meaning {
  const { ns } = model.vocabulary
  switch (uri) {
    case `${ns}/1.0`:
      return 'page'
    case `${ns}/Binding/CSS`:
    case `${ns}/1.0/Resource`:
    case `${ns}/Resource`:
      return 'resource'
    case `${ns}/Binding/Sessel`:
      return 'sessel'
    case `${ns}/Binding/JavaScript`:
      return 'javascript'
  }
  return model.schema(uri) ?? (FOREIGN.some(prefix => uri.startsWith(prefix)) ? 'foreign' : 'other')
}

/** Whether a namespace makes a document one that is composed (COMP-2). */
export function isLive(uri: string, model: Registry, kind: DocumentKind): boolean {
  const meaning = meaningOf(uri, model)
  return meaning !== 'foreign' && (kind === 'html' || meaning !== 'other')
}
