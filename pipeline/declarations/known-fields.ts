/** The fields of all items that declare something, and what is read of each. */

/**
 * `text` is no item; `item` is one; `code` is an item of a language or a script in Sessel, and so may `default` be; a `flag`
 * is true or false. What is wrong with `any` is told by those who read it.
 */
export type FieldValue = 'text' | 'item' | 'code' | 'default' | 'flag' | 'any'

/** Whose other words count. */
export type Words = 'access' | 'group' | 'schema' | 'property' | 'method' | 'shape' | 'reaction' | 'call' | 'code'

/** What items of a type have. */
export interface KindOfItem {
  fields: ReadonlyMap<string, FieldValue>
  words: Words
  /** Whether `itemref` is followed (RULE-4). */
  refers: boolean
}

function kind(words: Words, fields: Partial<Record<FieldValue, string>>): KindOfItem {
  const names = Object.entries(fields).flatMap(([value, list]) =>
    list.split(' ').map(name => [name, value as FieldValue] as const),
  )
  return { fields: new Map(names), words, refers: words === 'access' || words === 'group' }
}

const reaction = kind('reaction', { text: 'resource method selector status', any: 'when action otherwise' })
const call = kind('call', { any: 'url method content-type body retry header' })
const code = kind('code', { any: 'source' })

/** By name below the site's `{ns}`; `Enum` is below the host of schemas. */
export const FIELDS: ReadonlyMap<string, KindOfItem> = new Map([
  ['AuthorizationRule', kind('access', { text: 'actor resource method selector action' })],
  ['Group', kind('group', { text: 'name member' })],
  ['Schema', kind('schema', { text: 'type name parent', item: 'property constraint', code: '@validate' })],
  [
    'Property',
    kind('property', {
      text: 'name type cardinality unique references cascade group',
      flag: '@key',
      default: 'default',
      code: '@validate @write @read @computed',
    }),
  ],
  ['Method', kind('method', { text: 'name returns', flag: 'static', item: 'parameter', any: 'implementation' })],
  ['Parameter', kind('method', { text: 'name type' })],
  ['GroupConstraint', kind('property', { text: 'group cardinality property' })],
  ['ShapeConstraint', kind('shape', { text: 'resource selector constraint permit' })],
  ['Enum', kind('property', { text: 'type name value' })],
  ['Trigger', reaction],
  ['Processor', reaction],
  ['TransitionConstraint', kind('reaction', { text: 'selector property from to' })],
  ['TransitionHandler', kind('reaction', { text: 'selector property becomes', any: 'when action' })],
  ['HttpRequest', call],
  ['HTTPRequest', call],
  ['Pair', kind('call', { any: 'key value' })],
  ['Sessel', code],
  ['Sessel/Lambda', code],
  ['JavaScript/Module', code],
])

function words(lists: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(lists).flatMap(([field, list]) => list.split(' ').map(word => [word, field] as const)))
}

const PLACES = { resource: 'path paths route url', selector: 'css element elements target scope' }

/** Words of other languages for fields, in small letters. They count where the field itself is missing. */
export const OTHER_WORDS: ReadonlyMap<Words, ReadonlyMap<string, string>> = new Map([
  [
    'access',
    words({ ...PLACES, actor: 'user users role roles group groups', method: 'verb verbs', action: 'effect decision' }),
  ],
  ['group', words({ member: 'email emails mail user users' })],
  ['schema', words({ property: 'field fields method methods attribute', parent: 'extends', '@validate': 'validator' })],
  [
    'property',
    words({
      cardinality: 'required mandatory optional',
      references: 'ref reference',
      '@validate': 'validator',
      '@computed': 'compute',
      '@write': 'setter',
      '@read': 'getter',
      value: 'option options',
    }),
  ],
  ['method', words({ implementation: 'code body source', parameter: 'argument arguments', returns: 'return' })],
  ['shape', words({ ...PLACES, constraint: 'require requires', permit: 'allow allowed' })],
  ['reaction', words({ ...PLACES, when: 'if condition guard', otherwise: 'else', action: 'then do run' })],
  ['call', words({ url: 'href uri', body: 'content payload', key: 'name' })],
  ['code', words({ source: 'code script text' })],
])
