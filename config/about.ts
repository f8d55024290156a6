/** What is said of a setting beside its type: documentation, secrecy and how layers combine. */

import { z } from 'zod'

export interface About {
  /** Markdown, one or a few sentences. */
  doc: string
  /** Never shown: the value itself, or the password inside a URL. */
  secret?: 'value' | 'url'
  /** What the documentation says of the default where it is not a plain value. */
  fallback?: string
  /** A group of which a later source (command line, environment) replaces the whole, because its keys exclude each other. */
  whole?: true
}

const registry = z.registry<About>()

/** Declares a setting: its schema, with what is said of it. */
export function setting<S extends z.ZodType>(schema: S, about: string | About): S {
  registry.add(schema, typeof about === 'string' ? { doc: about } : about)
  return schema
}

/** What `setting` said of this schema. */
export function aboutOf(schema: z.core.$ZodType): About | undefined {
  return registry.get(schema as z.ZodType)
}
