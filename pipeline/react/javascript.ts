/** JavaScript in reactions (REA-32, JS-20 to JS-24). It changes nothing; it answers by throwing. */

import { languagesOf } from '../evaluation/languages.ts'
import { scriptSchemas } from '../evaluation/script-schemas.ts'
import { scripts, viewFor } from '../evaluation/scripts.ts'
import type { Allowance } from '../language/allowance.ts'
import type { DocumentView, JavaScript, ScriptResult } from '../language/javascript/interface.ts'
import { textForm } from '../language/sessel/sessel.ts'
import { LazyDictionary, type Value } from '../language/values.ts'
import type { Site } from '../site/site.ts'
import type { CodeSite, Ran, ReactionLanguage } from './code.ts'

export interface JavaScriptParts {
  site: Site
  allowance: Allowance
  javascript: JavaScript
  /** Canonical path of the request, whose stored document code may look at. */
  path: string
}

export function javascriptReactions(parts: JavaScriptParts): ReactionLanguage {
  const { site, allowance } = parts
  return {
    speaks: type => type === `${site.settings.ns}/JavaScript/Module`,
    gate: at => run(parts, at, 'when', ({ truthy }) => truthy),
    action: at => run(parts, at, 'action', () => undefined),
    property: at => run(parts, at, 'property', ({ value }) => propertyText(value, allowance)),
  }
}

function propertyText(value: Value, allowance: Allowance): string | null {
  if (value === null) return null
  return textForm(value, steps => allowance.step(steps))
}

async function run<T>(
  parts: JavaScriptParts,
  { code, context, path }: CodeSite,
  place: 'when' | 'action' | 'property',
  take: (result: ScriptResult) => T,
): Promise<Ran<T>> {
  const { site, allowance, javascript } = parts
  const stored = await viewOf(parts)
  const view = stored && viewFor(code.source, stored)
  const more = [scripts(javascript)]
  const schemas = scriptSchemas(site, allowance, languagesOf(site, allowance, more), evaluate =>
    scripts({ ...javascript, evaluate }),
  )
  const seen = new Map<string, Value>([['request', new Shown(context.request, REQUEST)]])
  if (context.response) seen.set('response', new Shown(context.response, RESPONSE))
  const outcome = await javascript.evaluate(
    {
      site: site.store.name,
      ns: site.settings.ns,
      origin: path,
      place,
      source: code.source,
      arguments: [seen],
      context: context.shared,
      ...(view && { document: view }),
      schemas,
    },
    allowance,
  )
  if ('failure' in outcome) return outcome
  if ('response' in outcome) {
    const { status, body, fields } = outcome.response
    return { response: { status, body, fields } }
  }
  for (const [name, value] of outcome.written) context.set(name, value)
  return { value: take(outcome) }
}

/** JS-24: the stored document that the request addresses. */
async function viewOf({ site, path }: JavaScriptParts): Promise<DocumentView | undefined> {
  const file = await site.findParsed(path)
  if (!file?.isDocument) return undefined
  return { document: site.tree(file), version: `${path} ${file.tag}` }
}

const REQUEST = ['method', 'path', 'headers', 'query', 'body', 'host', 'auth', 'params']
const RESPONSE = ['status', 'body', 'headers']

/** A dictionary of the host as JavaScript may read it. */
class Shown extends LazyDictionary {
  readonly #of: LazyDictionary
  readonly #names: readonly string[]

  constructor(of: LazyDictionary, names: readonly string[]) {
    super()
    this.#of = of
    this.#names = names
  }

  get(key: string): Value | undefined {
    return this.#names.includes(key) ? this.#of.get(key) : undefined
  }

  keys(): Iterable<string> {
    return this.#names
  }
}
