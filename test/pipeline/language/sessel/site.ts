/** A small site for programs: documents by path, a few schemas, and what became of a program as one line of text. */
import { AllowanceSpent } from '../../../../pipeline/language/allowance.ts'
import {
  compile,
  emptyHost,
  evaluate,
  jsonText,
  type MethodView,
  OpenDictionary,
  type SchemaView,
  SesselError,
  type SesselHost,
  SesselSyntaxError,
  textForm,
} from '../../../../pipeline/language/sessel/sessel.ts'
import { ElementValue, NamedValue, type Source, type Value } from '../../../../pipeline/language/values.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { rootElement } from '../../../../pipeline/tree/nodes.ts'
import { additions } from '../../../../pipeline/tree/selector/selector.ts'
import { unhurried } from '../../../support/unhurried.ts'

export const NS = 'https://scriptorium.test/ns'

const SHOP = `<!doctype html><html lang="en"><body><h1>Teas</h1><ul><li class="tea" data-cat="green">Sencha <data itemprop="price" value="8">8</data></li><li class="tea" data-cat="black">Assam <data itemprop="price" value="6.5">6.50</data></li></ul></body></html>`

const PEOPLE = `<!doctype html><html><body><main id="main"><h1>People</h1>
<div id="ada" itemscope itemtype="https://example.com/Person"><span itemprop="name">Ada  Lovelace</span>
<meta itemprop="born" content="1815"><a itemprop="url" href="/ada">home</a><i itemprop="tag">math</i><i itemprop="tag">poetry</i>
<div itemprop="address" itemscope itemtype="https://example.com/Address"><b itemprop="city">London</b></div></div>
<div id="bob" itemscope itemtype="https://example.com/Author"><span itemprop="name">Bob</span><meta itemprop="born" content="1990"></div>
<table><tr><td>1</td></tr></table><template><p class="hidden">x</p></template><img alt="none"><p></p></main></body></html>`

const DOCUMENTS: Readonly<Record<string, string>> = {
  '/shop.html': SHOP,
  '/people.html': PEOPLE,
  '/notes/one.html': '<!doctype html><html><body><p class="note" id="n1">First <b>note</b></p></body></html>',
  '/notes/two.html':
    '<!doctype html><html><body xmlns:x="https://example.com/x"><p class="note">Second</p><x:card x:size="2">c</x:card><svg><circle r="1"/></svg></body></html>',
}

const sources = new Map(
  Object.entries(DOCUMENTS).map(([path, html]): [string, Source] => [
    path,
    { path, document: parseDocument('html', html) },
  ]),
)
const paths = [...sources.keys()].sort()

export function documentAt(path: string): Source {
  const found = sources.get(path)
  if (!found) throw new Error(`no document at ${path}`)
  return found
}

const property = {
  many: false,
  single: false,
  required: false,
  type: undefined,
  default: undefined,
  computed: undefined,
  read: [],
}

const METHODS: readonly MethodView[] = [
  {
    name: 'greet',
    parameters: ['greeting'],
    isStatic: false,
    implementation: { sessel: '(greeting ?? "Hello") + ", " + self.name + "!"' },
  },
  {
    name: 'greet',
    parameters: ['greeting', 'mark'],
    isStatic: false,
    implementation: { sessel: 'greeting + ", " + self.name + mark' },
  },
  { name: 'count', parameters: [], isStatic: true, implementation: { sessel: 'self.search().count()' } },
  {
    name: 'later',
    parameters: ['x'],
    isStatic: false,
    implementation: { run: async ({ parameters }) => parameters.get('x') ?? null },
  },
  { name: 'broken', parameters: [], isStatic: false, implementation: { sessel: '1 +' } },
  { name: 'loop', parameters: [], isStatic: false, implementation: { sessel: 'self.loop()' } },
  {
    name: 'doesNotUnderstand',
    parameters: ['messageName', 'parameters'],
    isStatic: false,
    implementation: { sessel: '"#{messageName}(#{parameters.join("|")})"' },
  },
]

const PERSON: SchemaView = {
  type: 'https://example.com/Person',
  properties: new Map([
    ['name', { ...property, name: 'name', single: true, required: true }],
    ['tag', { ...property, name: 'tag', many: true }],
    ['born', { ...property, name: 'born' }],
    ['age', { ...property, name: 'age', computed: { sessel: '2000 - self.born.Integer()' } }],
    [
      'url',
      { ...property, name: 'url', read: [{ sessel: 'self.map(u => u.set_attr("href", "https://x" + u.value()))' }] },
    ],
    ['mood', { ...property, name: 'mood', default: { text: 'calm' } }],
  ]),
  methodsNamed: wanted => METHODS.filter(({ name }) => name === wanted),
  check: item => (item.childNodes.length > 50 ? 'too many values' : undefined),
}

const AUTHOR: SchemaView = { ...PERSON, type: 'https://example.com/Author' }

/** Its default asks for what is not bound there. */
const LOST: SchemaView = {
  type: 'https://example.com/Lost',
  properties: new Map([['place', { ...property, name: 'place', default: { sessel: 'self' } }]]),
  methodsNamed: () => [],
}

const SCHEMAS = new Map([PERSON, AUTHOR, LOST].map(schema => [schema.type, schema]))

const isa = (type: string, ancestor: string) => type === ancestor || (type === AUTHOR.type && ancestor === PERSON.type)

export const SELECTORS = additions(isa)

/** A dictionary that programs may write to. */
export class Entries extends OpenDictionary {
  readonly entries: Map<string, Value>

  constructor(entries: Iterable<readonly [string, Value]>) {
    super()
    this.entries = new Map(entries)
  }

  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  keys(): Iterable<string> {
    return this.entries.keys()
  }

  set(key: string, value: Value): void {
    this.entries.set(key, value)
  }
}

export interface Stored {
  path: string
  markup: string
}

/** @param self path of the document that is asked; nothing is bound where it is undefined */
export function hostFor(self: string | undefined = '/shop.html', more: Partial<SesselHost> = {}): SesselHost {
  const source = self === undefined ? undefined : documentAt(self)
  const root = source && rootElement(source.document)
  const request = new Map<string, Value>([
    ['method', 'GET'],
    ['path', self ?? '/'],
    ['query', new Map([['q', 'tea']])],
    ['auth', new Map<string, Value>([['username', null]])],
  ])
  const context = new Entries([
    ['request', request],
    ['response', new Entries([['status', 200n]])],
  ])
  const names = new Map<string, Value>([
    ['request', request],
    ['Context', context],
  ])
  return {
    ...emptyHost(NS, SELECTORS),
    self: root && source ? new ElementValue(root, source) : undefined,
    names,
    base: self,
    reach: {
      everywhere: () => paths,
      matching: glob => paths.filter(path => path.startsWith(glob.replace(/\*.*$/, ''))),
      document: path => sources.get(path),
    },
    schemas: {
      schema: type => SCHEMAS.get(type),
      isa,
      subtypes: type => (type === PERSON.type ? [PERSON.type, AUTHOR.type] : [type]),
    },
    ...more,
  }
}

/** What became of a program: the value as JSON, its text form where it has none, or `!` and what went wrong. */
export async function became(text: string, host: SesselHost = hostFor()): Promise<string> {
  try {
    const outcome = await evaluate(compile(text), host, unhurried())
    if ('response' in outcome) return `!response ${JSON.stringify(outcome.response)}`
    if ('failure' in outcome) return `!${outcome.failure.type}: ${outcome.failure.message}`
    const { value } = outcome
    return value instanceof NamedValue && /Lambda|Class|Type|Blob/.test(value.typeName)
      ? `${value.typeName} ${textForm(value, () => undefined)}`
      : jsonText(value)
  } catch (error) {
    if (error instanceof SesselError) return `!${error.type}: ${error.message}`
    if (error instanceof SesselSyntaxError) return `!parse: ${error.message}`
    if (error instanceof AllowanceSpent) return `!spent: ${error.spent}`
    throw error
  }
}
