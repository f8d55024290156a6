/**
 * Where in markup a place is, found as the tokenizer of the HTML standard (or of XML) would, with Liquid left out (LIQ-35).
 * It reads literal text piece by piece; between two pieces stands a span.
 */

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

export interface ScannedAttribute {
  nameStart: number
  nameEnd: number
  /** Without quotes; `valueStart` is -1 for an attribute without value. */
  valueStart: number
  valueEnd: number
}

export interface ScannedTag {
  name: string
  closing: boolean
  selfClosing: boolean
  /** Offsets in the text of the piece that ended the tag. */
  attributes: ScannedAttribute[]
  /** Offset behind the `>`. */
  end: number
}

type State =
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

/** Where the text begins: inside which element. */
export interface MarkupContext {
  kind: 'html' | 'xml'
  /** Tag name of the element that the text is the content of; undefined for a whole document. */
  element?: string
  /** The element is none of HTML's: its `style` and `title` hold ordinary markup. */
  foreign?: boolean
}

export class MarkupScanner {
  readonly #xml: boolean
  #state: State = 'data'
  /** Element whose raw or escapable text this is; only its end tag ends it. */
  #content = ''
  #name = ''
  #closing = false
  #slash = false
  /** Where the comment begins that was opened last. */
  #comment = 0
  #attributes: ScannedAttribute[] = []
  #attribute: ScannedAttribute | undefined
  /** Open `svg` and `math` elements. */
  readonly #foreign: string[] = []
  /** A literal `<!--` stands in this raw text: `<script` would change where it ends. */
  #hidden = false

  constructor(context: MarkupContext) {
    this.#xml = context.kind === 'xml'
    if (context.foreign) this.#foreign.push('')
    else if (context.element) this.#enter(context.element.toLowerCase())
  }

  get position(): Position {
    if (this.#state !== 'content') return POSITIONS[this.#state]
    return RAW.has(this.#content) ? 'raw' : 'escapable'
  }

  /** A short description of the state; equal where text continues in the same way. */
  get fingerprint(): string {
    return `${this.#state} ${this.#state === 'content' ? this.#content : ''} ${this.#foreign.length} ${this.#hidden}`
  }

  /** Whether an unquoted value is about to begin. */
  get beforeValue(): boolean {
    return this.#state === 'before-value'
  }

  /** Whether a tag is open, but no quoted value. */
  get inNames(): boolean {
    return this.position === 'name' || this.position === 'unquoted'
  }

  /** Whether raw text here may not hold `<script` either. */
  get hidden(): boolean {
    return this.#hidden
  }

  /** Takes note of an output at this place: it stands for something that is written there. */
  output(): void {
    switch (this.#state) {
      case 'tag-open':
      case 'end-tag-open':
        this.#open(this.#state === 'end-tag-open', '')
        break
      case 'before-attribute':
      case 'after-name':
        this.#state = 'attribute-name'
        this.#attribute = undefined
        break
      case 'before-value':
        this.#state = 'unquoted'
        break
      default:
    }
  }

  /**
   * Reads literal text.
   *
   * @param onTag called at the end of each tag; true stops the reading there
   * @returns where it stopped
   */
  read(text: string, from: number, to: number, onTag?: (tag: ScannedTag) => boolean): number {
    let at = from
    while (at < to) {
      switch (this.#state) {
        case 'data': {
          const open = this.#find(text, '<', at)
          if (open === -1 || open >= to) return to
          this.#state = 'tag-open'
          at = open + 1
          break
        }
        case 'content':
          at = this.#readContent(text, at, to)
          break
        case 'double':
        case 'single': {
          const close = this.#find(text, this.#state === 'double' ? '"' : "'", at)
          if (close === -1 || close >= to) return to
          this.#endValue(close)
          this.#state = 'before-attribute'
          at = close + 1
          break
        }
        case 'comment':
          at = this.#readTo(text, at, to, '>', i => this.#endsComment(text, i))
          break
        case 'cdata':
          at = this.#readTo(text, at, to, '>', i => text.endsWith(']]', i))
          break
        case 'instruction':
          at = this.#readTo(text, at, to, '>', i => text.endsWith('?', i))
          break
        case 'bogus':
          at = this.#readTo(text, at, to, '>', () => true)
          break
        default: {
          const tag = this.#readInTag(text, at)
          at = this.#next
          if (tag && onTag?.(tag)) return at
        }
      }
    }
    return at
  }

  #next = 0

  /** Where each character was found last, from where on, and in which text. */
  readonly #found = new Map<string, { text: string; from: number; at: number }>()

  /**
   * `indexOf` of one character. What reads stretch after stretch asks for the same one again and again, which may stand far
   * behind all of them.
   */
  #find(text: string, character: string, from: number): number {
    const last = this.#found.get(character)
    if (last && last.text === text && last.from <= from && (last.at < 0 || from <= last.at)) return last.at
    const at = text.indexOf(character, from)
    this.#found.set(character, { text, from, at })
    return at
  }

  #readTo(text: string, at: number, to: number, stop: string, ends: (index: number) => boolean): number {
    const close = this.#find(text, stop, at)
    if (close === -1 || close >= to) return to
    if (ends(close)) this.#state = 'data'
    return close + 1
  }

  /** HTML ends a comment by its first dashes as well. */
  #endsComment(text: string, at: number): boolean {
    if (this.#xml) return at >= this.#comment + 2 && text.endsWith('--', at)
    return text.endsWith('--', at) || text.endsWith('--!', at)
  }

  #readContent(text: string, at: number, to: number): number {
    const open = this.#find(text, '<', at)
    if (open === -1 || open >= to) return to
    if (text.startsWith('<!--', open)) this.#hidden = this.#content === 'script'
    const name = text.slice(open + 2, open + 2 + this.#content.length)
    const after = text[open + 2 + this.#content.length]
    const ends =
      text[open + 1] === '/' && name.toLowerCase() === this.#content && (after === undefined || /[\s/>]/.test(after))
    if (!ends) return open + 1
    this.#open(true, name)
    return open + 2 + name.length
  }

  #open(closing: boolean, name: string): void {
    this.#state = 'tag-name'
    this.#closing = closing
    this.#name = name
    this.#slash = false
    this.#attributes = []
    this.#attribute = undefined
    this.#hidden = false
  }

  /** One character of a tag, or of what begins like one. */
  #readInTag(text: string, at: number): ScannedTag | undefined {
    const char = text[at] ?? ''
    this.#next = at + 1
    switch (this.#state) {
      case 'tag-open':
        if (char === '/') this.#state = 'end-tag-open'
        else if (char === '!') this.#state = 'markup-declaration'
        else if (char === '?') this.#state = this.#xml ? 'instruction' : 'bogus'
        else if (startsName(char, this.#xml)) this.#open(false, char)
        else this.#again(at)
        return undefined
      case 'end-tag-open':
        if (startsName(char, this.#xml)) this.#open(true, char)
        else if (char === '>') this.#state = 'data'
        else this.#state = 'bogus'
        return undefined
      case 'markup-declaration':
        if (text.startsWith('--', at)) {
          this.#state = 'comment'
          this.#next = at + 2
          this.#comment = this.#next
        } else if (this.#xml && text.startsWith('[CDATA[', at)) {
          this.#state = 'cdata'
          this.#next = at + 7
        } else if (char === '>') this.#state = 'data'
        else this.#state = 'bogus'
        return undefined
      default:
        return this.#readAttributes(char, at)
    }
  }

  #readAttributes(char: string, at: number): ScannedTag | undefined {
    const blank = isSpace(char)
    if (char === '>') return this.#endTag(at)
    switch (this.#state) {
      case 'tag-name': {
        if (blank || char === '/') {
          this.#state = 'before-attribute'
          this.#slash = char === '/'
          return undefined
        }
        this.#name += char
        return undefined
      }
      case 'before-attribute':
      case 'after-name':
        if (blank) {
          // No slash but the one right before the `>` closes an element.
          this.#slash = false
          return undefined
        }
        if (char === '/') {
          this.#slash = true
          this.#state = 'before-attribute'
        } else if (char === '=' && this.#state === 'after-name') this.#state = 'before-value'
        else {
          this.#slash = false
          this.#attribute = { nameStart: at, nameEnd: at + 1, valueStart: -1, valueEnd: -1 }
          this.#attributes.push(this.#attribute)
          this.#state = 'attribute-name'
        }
        return undefined
      case 'attribute-name':
        if (blank) this.#state = 'after-name'
        else if (char === '/') {
          this.#slash = true
          this.#state = 'before-attribute'
        } else if (char === '=') this.#state = 'before-value'
        else if (this.#attribute) this.#attribute.nameEnd = at + 1
        return undefined
      case 'before-value':
        if (blank) return undefined
        this.#slash = false
        this.#state = char === '"' ? 'double' : char === "'" ? 'single' : 'unquoted'
        if (this.#attribute) this.#attribute.valueStart = this.#state === 'unquoted' ? at : at + 1
        return undefined
      case 'unquoted':
        if (!blank) return undefined
        this.#endValue(at)
        this.#state = 'before-attribute'
        return undefined
      default:
        return undefined
    }
  }

  #endValue(at: number): void {
    if (this.#attribute) this.#attribute.valueEnd = at
    this.#attribute = undefined
  }

  /** The `<` was text; the character is read once more. */
  #again(at: number): void {
    this.#state = 'data'
    this.#next = at
  }

  #endTag(at: number): ScannedTag {
    if (this.#state === 'unquoted') this.#endValue(at)
    const name = this.#xml ? this.#name : this.#name.toLowerCase()
    this.#state = 'data'
    if (!this.#xml) {
      if (name === 'svg' || name === 'math') {
        if (!this.#closing && !this.#slash) this.#foreign.push(name)
        // What closes another one is left out: where that is open all the same, markup has to be escaped.
        else if (this.#closing && this.#foreign.at(-1) === name) this.#foreign.pop()
      }
      if (!this.#closing && this.#foreign.length === 0) this.#enter(name)
    }
    return {
      name,
      closing: this.#closing,
      selfClosing: this.#slash,
      attributes: this.#attributes,
      end: at + 1,
    }
  }

  #enter(name: string): void {
    if (this.#xml || !(RAW.has(name) || ESCAPABLE.has(name))) return
    this.#state = 'content'
    this.#content = name
  }
}

function startsName(char: string, xml: boolean): boolean {
  return /[a-z]/i.test(char) || (xml && /[_:\u0080-\uffff]/.test(char))
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f'
}
