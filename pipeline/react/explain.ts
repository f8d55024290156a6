/** Which reactions a request may run, and why, for people (REA-11, REA-20). */

import type { Site } from '../site/site.ts'
import type { RawAction } from './declared/extract.ts'
import type { Reaction } from './declared/reactions.ts'

/** A trigger or processor that may run. */
export interface ReactionAnswer {
  kind: 'trigger' | 'processor'
  /** Document that declares it, and its place among the reactions there, from 1. */
  document: string
  place: number
  /** What makes it fit the method and path. */
  why: string
  /** What else has to hold when the request comes. */
  provided: readonly string[]
  /** What it does, in order. */
  does: readonly string[]
}

export interface ReactionsAnswer {
  reactions: readonly ReactionAnswer[]
  /** Reactions of the site that do not fit. */
  others: number
  /** What was left out of documents (REA-4), or fits nothing, and why. */
  findings: readonly string[]
}

/** @param path decoded, without query */
export function explainReactions(site: Site, method: string, path: string): ReactionsAnswer {
  const declared = site.declarations('reactions')
  const { triggers, processors } = declared.candidates(method, path) ?? { triggers: [], processors: [] }
  const fitting = [...triggers, ...processors]
  const all = declared.ordered.triggers.length + declared.ordered.processors.length
  return {
    reactions: fitting.map(answerFor),
    others: all - fitting.length,
    findings: declared.allFindings().map(({ path, reason }) => `${path}: ${reason}`),
  }
}

function answerFor({ kind, path, place, raw }: Reaction): ReactionAnswer {
  const listed = (name: string, values: readonly string[]) => `${name} ${values.join(' or ')}`
  const why = [
    raw.method.length > 0 ? listed('method', raw.method) : 'every method',
    raw.resource.length > 0 ? listed('resource', raw.resource) : 'every path',
  ]
  return {
    kind,
    document: path,
    place: place + 1,
    why: why.join(', '),
    provided: [
      ...(raw.selector.length > 0 ? [`a selector of the request finds ${raw.selector.join(' or ')}`] : []),
      ...(kind === 'processor' && raw.status.length > 0 ? [listed('status', raw.status)] : []),
      ...raw.when.map(() => 'its gate is open'),
    ],
    does: [
      ...raw.action.map(action => actionText(action)),
      ...(raw.when.length > 0 ? raw.otherwise.map(action => `else ${actionText(action)}`) : []),
    ],
  }
}

/** Nothing of what is sent is told: it may hold secrets (REA-89). */
function actionText(action: RawAction): string {
  if (!('properties' in action)) return action.type.endsWith('/JavaScript/Module') ? 'runs JavaScript' : 'runs Sessel'
  const url = action.properties.find(([name]) => name === 'url')?.[1]
  if (typeof url !== 'string') return 'calls an address that code gives'
  return url.startsWith('/') ? `calls ${url.replace(/\?.*/s, '')} on this site` : `calls ${hostOf(url)}`
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read'
}
