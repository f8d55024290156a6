/** Transition handlers: what is delivered when an item has reached a state (REA-120 to REA-125). */

import { type LanguageOf, languagesOf } from '../evaluation/languages.ts'
import { SiteReach } from '../evaluation/reach.ts'
import { referringIn } from '../evaluation/readable.ts'
import { callingBy, schemasOf } from '../evaluation/schemas.ts'
import { escapeMarkup } from '../http/markup.ts'
import { Allowance } from '../language/allowance.ts'
import { compileInTurns, evaluate, isTruthy, SesselSyntaxError } from '../language/sessel/sessel.ts'
import { ElementValue } from '../language/values.ts'
import { findingItems } from '../model/items.ts'
import type { Site } from '../site/site.ts'
import { asciiLower } from '../tree/ascii.ts'
import { parsingDocument } from '../tree/document.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { atOnce, inTurns, TurnsBetween } from '../tree/steps.ts'
import type { Fired } from '../write/transitions.ts'
import { checkedCall, type OutboundCall } from './calls.ts'

/**
 * The calls that handlers make. A gate that is closed or fails makes none (REA-123). The gates of one request share an
 * allowance: when it is spent, the rest stay closed (REA-95).
 *
 * @param more languages of methods beside expressions
 */
export async function deliveriesOf(
  site: Site,
  fired: readonly Fired[],
  more: readonly LanguageOf[],
  report: (message: string, details: object) => void,
): Promise<OutboundCall[]> {
  const calls: OutboundCall[] = []
  const allowance = new Allowance({}, site)
  const turns = new TurnsBetween()
  let large = 0
  for (const each of fired) {
    await turns.next()
    if (each.item === undefined) {
      large++
      continue
    }
    if (allowance.spent !== undefined && each.handler.handler.when.length > 0) continue
    const body = transitionDocument(each, each.item, site.settings.ns)
    if (!(await isOpen(site, each, body, more, allowance, report))) continue
    const { url, method, headers } = each.handler.handler
    const fields = headers.filter(([name]) => asciiLower(name) !== 'content-type')
    const call = checkedCall({ url, method, type: 'text/html', body, retry: '', fields })
    if ('dropped' in call)
      report('A transition is not delivered', { document: each.handler.path, reason: call.dropped })
    else calls.push(call)
  }
  if (large > 0) report('Transitions are not delivered', { count: large, reason: 'the items are too large' })
  return calls
}

/** REA-125. */
function transitionDocument({ path, type, key }: Fired, item: string, ns: string): string {
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
  const selector =
    `[itemtype=${quoted(type)}]` +
    (key ? `:has([itemprop=${quoted(key.property)}]:value-equals(${quoted(key.value)}))` : '')
  return `<!DOCTYPE html>
<html><head><title>Transition</title></head>
<body itemscope itemtype="${escapeMarkup(ns)}/Transition">
<meta itemprop="path" content="${escapeMarkup(path)}">
<meta itemprop="selector" content="${escapeMarkup(selector)}">
${item}
</body></html>
`
}

async function isOpen(
  site: Site,
  { handler }: Fired,
  text: string,
  more: readonly LanguageOf[],
  allowance: Allowance,
  report: (message: string, details: object) => void,
): Promise<boolean> {
  const { when } = handler.handler
  if (when.length === 0) return true
  const reach = new SiteReach(site, allowance, { scope: '/' })
  // Messages of failures quote values of the item, which is the body of the call (REA-86).
  const failed = (reason: string) => {
    report('The gate of a transition handler has failed', { document: handler.path, reason })
    return false
  }
  try {
    const document = await inTurns(parsingDocument('html', text), text.length)
    const self = new ElementValue(bodyOf(document), { path: undefined, document })
    for (const { source } of when) {
      const outcome = await evaluate(
        await compileInTurns(source),
        {
          ns: site.settings.ns,
          self,
          prior: undefined,
          names: new Map(),
          reach,
          base: handler.path,
          schemas: schemasOf(site.model, callingBy(languagesOf(site, allowance, more))),
          refersIn: referringIn(site),
          selectors: site.selectors,
          platform: {},
        },
        allowance,
      )
      if ('failure' in outcome) {
        const { type, reason } = outcome.failure
        return failed(reason === 'thrown' ? 'it has thrown something' : type)
      }
      if (!isTruthy(outcome.value)) return false
    }
    return true
  } catch (error) {
    return failed(error instanceof SesselSyntaxError ? error.message : error instanceof Error ? error.name : 'failure')
  } finally {
    reach.release()
  }
}

/** The Transition item: the first of the document. */
function bodyOf({ root }: TreeDocument): ElementNode {
  const [body] = atOnce(findingItems(root))
  if (!body) throw new Error('The document of a transition has no item.')
  return body
}
