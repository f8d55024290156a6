/**
 * Selectors of declarations that ask for an element where its class or id was meant (`secret` for `.secret`): they are valid,
 * and a `Deny` for them refuses nobody.
 */

import type { RawAccess } from '../access/extract.ts'
import type { RawDeclarations } from '../model/declarations.ts'
import { shown } from '../model/violations.ts'
import type { RawReactions } from '../react/declared/extract.ts'
import { asciiLower } from '../tree/ascii.ts'
import { type Extensions, parseSelector, type Simple } from '../tree/selector/selector.ts'
import { TurnsBetween } from '../tree/steps.ts'

/** Selectors of one document that are looked at, and characters of one. */
const MOST = 1000
const LONGEST = 1000

/** Names of one document that are told. */
const MOST_NAMES = 50

/** The elements of HTML, old ones included; those of SVG and MathML stand below the last two. */
const KNOWN = new Set(
  (
    'a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br ' +
    'button canvas caption center cite code col colgroup command content data datalist dd del details dfn dialog dir div dl ' +
    'dt em embed fencedframe fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup ' +
    'hr html i iframe image img input ins isindex kbd keygen label legend li link listing main map mark marquee menu menuitem ' +
    'meta meter multicol nav nextid nobr noembed noframes noscript object ol optgroup option output p param picture ' +
    'plaintext portal pre progress q rb rbc rp rt rtc ruby s samp script search section select selectedcontent shadow slot ' +
    'small source spacer span strike strong style sub summary sup table tbody td template textarea tfoot th thead time title ' +
    'tr track tt u ul var video wbr xmp svg math'
  ).split(' '),
)

/** Stands for a value that only a request has. */
const UNKNOWN = '\ue000'

/** A name without its sign, with where it stands, in words. */
interface Unsigned {
  place: string
  name: string
}

/** What a document declares. */
interface Declared {
  access: RawAccess | undefined
  model: RawDeclarations | undefined
  reactions: RawReactions | undefined
}

/** Documents that may hold what is needed, as those of a site are found. */
type DocumentsWith = (needs: readonly (readonly string[])[]) => readonly string[] | Promise<readonly string[]>

const known = new WeakMap<object, readonly Unsigned[]>()

/**
 * @param documentsWith of the site as it stands: XML has elements of any name
 * @returns one sentence for each selector that asks for an element which nothing has
 */
export async function toldUnsigned(
  { access, model, reactions }: Declared,
  extensions: Extensions,
  documentsWith: DocumentsWith,
): Promise<string[]> {
  const found: Unsigned[] = []
  if (access) found.push(...(await unsignedIn(access, selectorsOfRules(access), extensions)))
  if (model) found.push(...(await unsignedIn(model, selectorsOfShapes(model), extensions)))
  if (reactions) found.push(...(await unsignedIn(reactions, selectorsOfReactions(reactions), extensions)))
  if (found.length === 0) return []
  // Documents of which nobody knows what they hold may hold anything.
  const anywhere = (await documentsWith([[UNKNOWN]])).length
  const turns = new TurnsBetween()
  const holds = async (token: string) => {
    await turns.next()
    return (await documentsWith([[token]])).length > anywhere
  }
  const hints = new Map<string, string | undefined>()
  for (const { name } of found) {
    if (hints.has(name) || (hints.size < MOST_NAMES && (await holds(name)))) hints.set(name, hints.get(name))
    else if (hints.size < MOST_NAMES) hints.set(name, hintFor(name, await holds(`.${name}`), await holds(`#${name}`)))
  }
  return found.flatMap(({ place, name }) => {
    const hint = hints.get(name)
    const told = `${place} asks for an element ${shown(name)}, which neither HTML nor a document of the site has`
    return hint === undefined ? [] : [`${told}; did you mean ${hint}?`]
  })
}

function hintFor(name: string, isClass: boolean, isId: boolean): string {
  if (isClass === isId) return `.${shown(name)} or #${shown(name)}`
  return isClass ? `.${shown(name)}` : `#${shown(name)}`
}

type Placed = readonly [place: string, selector: string]

async function unsignedIn(
  raw: object,
  selectors: Iterable<Placed>,
  extensions: Extensions,
): Promise<readonly Unsigned[]> {
  const before = known.get(raw)
  if (before) return before
  const found: Unsigned[] = []
  const turns = new TurnsBetween()
  let looked = 0
  for (const [place, text] of selectors) {
    if (looked++ === MOST) break
    await turns.next()
    if (text.length > LONGEST) continue
    const selector = parseSelector(text.replace(/\$\{[^}]*\}|:username\b/g, UNKNOWN), extensions)
    const names = new Set(selector && typesIn(selector.list))
    for (const name of names)
      if (isStrange(name)) found.push({ place: `the selector ${shown(text)} of ${place}`, name })
  }
  known.set(raw, found)
  return found
}

/** Elements of other namespaces, and those that authors make, have a sign in their name. */
function isStrange(name: string): boolean {
  return !KNOWN.has(name) && !/[-:\ue000]/.test(name)
}

function* typesIn(list: readonly { compounds: readonly { simples: readonly Simple[] }[] }[]): Generator<string> {
  for (const { compounds } of list)
    for (const { simples } of compounds)
      for (const simple of simples) {
        if (simple.kind === 'type' && simple.namespace === 'any') yield asciiLower(simple.name)
        else if ('selectors' in simple) yield* typesIn(simple.selectors)
      }
}

function* selectorsOfRules({ rules }: RawAccess): Generator<Placed> {
  for (const [order, { selector }] of rules.entries()) for (const each of selector) yield [`rule ${order + 1}`, each]
}

function* selectorsOfShapes({ shapes }: RawDeclarations): Generator<Placed> {
  for (const { selectors } of shapes) for (const each of selectors) yield ['a shape', each]
}

function* selectorsOfReactions({ reactions, constraints, handlers }: RawReactions): Generator<Placed> {
  for (const [i, { kind, selector }] of reactions.entries())
    for (const each of selector) yield [`reaction ${i + 1}, a ${kind}`, each]
  for (const { selector } of constraints) yield ['a transition constraint', selector]
  for (const { selector } of handlers) yield ['a transition handler', selector]
}
