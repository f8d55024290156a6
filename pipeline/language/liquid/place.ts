/** Places in markup: where a text has come to, and how reading goes on from there (LIQ-35). */

import { asciiLower } from '../../tree/ascii.ts'

/** What kind of place a piece of text would be inserted at. */
export type Position =
  | 'text'
  | 'quoted'
  | 'unquoted'
  /** Tag names, attribute names and between attributes. */
  | 'name'
  /** Inside `<!…>`, `<?…>` and the like. */
  | 'declaration'
  | 'comment'
  /** `title` and `textarea`. */
  | 'escapable'
  /** `script`, `style` and other raw text elements. */
  | 'raw'
  /** A CDATA section of XML. */
  | 'cdata'

export type State =
  | 'data'
  | 'tag-open'
  | 'end-tag-open'
  | 'tag-name'
  | 'before-attribute'
  | 'attribute-name'
  | 'after-name'
  | 'before-value'
  | 'double'
  | 'single'
  | 'unquoted'
  | 'markup-declaration'
  | 'comment'
  | 'bogus'
  | 'instruction'
  | 'cdata'
  | 'content'

const RAW = new Set(['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes'])
const ESCAPABLE = new Set(['title', 'textarea'])

/** Kept of the name of a tag: no two that matter begin alike, and no piece of a long text is held on to. */
const NAME_LENGTH = 12

const POSITIONS: Record<Exclude<State, 'content'>, Position> = {
  data: 'text',
  'tag-open': 'declaration',
  'end-tag-open': 'declaration',
  'tag-name': 'name',
  'before-attribute': 'name',
  'attribute-name': 'name',
  'after-name': 'name',
  'before-value': 'unquoted',
  double: 'quoted',
  single: 'quoted',
  unquoted: 'unquoted',
  'markup-declaration': 'declaration',
  comment: 'comment',
  bogus: 'declaration',
  instruction: 'declaration',
  cdata: 'cdata',
}

const NO_STYLES = new Set(['noscript', 'select', 'optgroup', 'option'])

/** Whether the text of an element of HTML is not read as markup. */
export function holdsText(name: string): boolean {
  return RAW.has(name) || ESCAPABLE.has(name)
}

/** Elements in which names of HTML may mean something else: `select` has no styles, and `noscript` is text where scripts run. */
const OUTER = new Map(Object.entries({ svg: 's', math: 'm', select: 'o', noscript: 'n' }))

/** Where HTML begins again in pictures and formulas: no end tag in it ends these. */
const INNER = new Map(
  ['foreignobject', 'desc', 'title', 'annotation-xml', 'mi', 'mo', 'mn', 'ms', 'mtext'].map((name, i) => [
    name.slice(0, NAME_LENGTH),
    String(i),
  ]),
)

/** What is kept of an element in which others mean something else, among such that are open; undefined for any other one. */
export function letterOf(name: string, foreign: string): string | undefined {
  return OUTER.get(name) ?? (foreign === '' ? undefined : INNER.get(name.slice(0, NAME_LENGTH)))
}

/** Whether it holds text where no more than a `select` is open: a script does, and a `textarea`, which ends that. */
export function isInSelect(name: string, foreign: string): boolean {
  return (name === 'script' || name === 'textarea') && /^o*$/.test(foreign)
}

/** Where the text begins: inside which element. */
export interface MarkupContext {
  kind: 'html' | 'xml'
  /** Tag name of the element that the text is the content of; undefined for a whole document. */
  element?: string
  /** The element is none of HTML's: its `style` and `title` hold ordinary markup. */
  foreign?: boolean
}

/** All that what follows is read by. */
interface Reading {
  xml: boolean
  state: State
  /** Element whose raw or escapable text this is; only its end tag ends it. */
  content: string
  /** Of the tag that is open, as far as it is told from others. */
  name: string
  closing: boolean
  slash: boolean
  /** Open elements in which names of HTML mean something else, a letter each. */
  foreign: string
  /** A `<!--` stands in this script: `<script` would change where it ends. */
  hidden: boolean
  /** What was read last, where it may be the beginning of something or of its end. */
  carried: string
}

const IN_TAG = new Set<State>([
  'tag-name',
  'before-attribute',
  'attribute-name',
  'after-name',
  'before-value',
  'double',
  'single',
  'unquoted',
])

export class Place implements Readonly<Reading> {
  readonly xml: boolean
  readonly state: State
  readonly content: string
  readonly name: string
  readonly closing: boolean
  readonly slash: boolean
  readonly foreign: string
  readonly hidden: boolean
  readonly carried: string
  readonly position: Position
  #key: string | undefined

  constructor(reading: Readonly<Reading>) {
    const { state } = reading
    const inTag = IN_TAG.has(state)
    this.xml = reading.xml
    this.state = state
    this.content = state === 'content' ? reading.content : ''
    this.name = inTag ? reading.name.slice(0, NAME_LENGTH) : ''
    this.closing = inTag && reading.closing
    this.slash = inTag && reading.slash
    this.foreign = reading.foreign
    this.hidden = reading.hidden
    this.carried = reading.carried
    this.position = state !== 'content' ? POSITIONS[state] : RAW.has(reading.content) ? 'raw' : 'escapable'
  }

  /** Equal where text goes on in the same way. */
  get key(): string {
    this.#key ??= `${this.state} ${this.content}${this.name} ${this.closing} ${this.slash} ${this.foreign} ${this.hidden} ${this.carried}`
    return this.#key
  }

  is(other: Place): boolean {
    return this === other || (this.xml === other.xml && this.key === other.key)
  }
}

export interface Way {
  from: Place
  to: Place
}

const TEXT: Reading = {
  xml: false,
  state: 'data',
  content: '',
  name: '',
  closing: false,
  slash: false,
  foreign: '',
  hidden: false,
  carried: '',
}

/** Where most text stands: each is one object, so that most comparisons are of the same one. */
export const HTML = new Place(TEXT)
export const XML = new Place({ ...TEXT, xml: true })

/** Where the content of an element begins. */
export function startOf({ kind, element, foreign }: MarkupContext): Place {
  if (kind === 'xml') return XML
  const content = asciiLower(element ?? '')
  if (foreign || NO_STYLES.has(content)) return new Place({ ...TEXT, foreign: 'x' })
  return holdsText(content) ? new Place({ ...TEXT, state: 'content', content }) : HTML
}
