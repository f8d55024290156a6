/** Reads markup piece by piece as the tokenizer of the HTML standard (or of XML) would, to know where it has come to (LIQ-35). */

import { asciiLower } from '../../tree/ascii.ts'
import { HTML, holdsText, isInSelect, letterOf, Place, type Position, type State, XML } from './place.ts'

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

/** What no end of a comment goes on with. */
const NO_DASHES = '   '

/** Open elements in each other that are told apart; in more, everything is taken for foreign to the end. */
const MOST_FOREIGN = 64

export class MarkupScanner {
  readonly #xml: boolean
  #state: State
  #content: string
  #name: string
  #closing: boolean
  #slash: boolean
  #foreign: string
  #hidden: boolean
  #carried: string
  #attributes: ScannedAttribute[] = []
  #attribute: ScannedAttribute | undefined

  constructor(from: Place) {
    this.#xml = from.xml
    this.#state = from.state
    this.#content = from.content
    this.#name = from.name
    this.#closing = from.closing
    this.#slash = from.slash
    this.#foreign = from.foreign
    this.#hidden = from.hidden
    this.#carried = from.carried
  }

  /** Where it has come to. */
  get place(): Place {
    if (this.#state === 'data' && this.#foreign === '') return this.#xml ? XML : HTML
    return new Place({
      xml: this.#xml,
      state: this.#state,
      content: this.#content,
      name: this.#name,
      closing: this.#closing,
      slash: this.#slash,
      foreign: this.#foreign,
      hidden: this.#hidden,
      carried: this.#carried,
    })
  }

  get position(): Position {
    return this.place.position
  }

  /** Whether an unquoted value is about to begin. */
  get beforeValue(): boolean {
    return this.#state === 'before-value'
  }

  /** Takes note that something stands here of which nothing is known, and which belongs to nothing before it. */
  apart(): void {
    if (this.#state === 'markup-declaration') this.#state = 'bogus'
    this.#carried = this.#state === 'comment' ? NO_DASHES : ''
  }

  /** Takes note of an output at this place: it stands for something that is written there. */
  output(): void {
    this.apart()
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
          at = this.#readTo(text, at, to, 3, before => this.#endsComment(before))
          break
        case 'cdata':
          at = this.#readTo(text, at, to, 2, before => before === ']]')
          break
        case 'instruction':
          at = this.#readTo(text, at, to, 1, before => before === '?')
          break
        case 'bogus':
          at = this.#readTo(text, at, to, 0, () => true)
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

  /** Which character was looked for last, in which text, from where on, and where it stands. */
  #found = { text: '', character: '', from: 0, at: -1 }

  /**
   * `indexOf` of one character. What reads stretch after stretch asks for the same one again and again, which may stand far
   * behind all of them.
   */
  #find(text: string, character: string, from: number): number {
    const last = this.#found
    const isSame = last.character === character && last.text === text
    if (isSame && last.from <= from && (last.at < 0 || from <= last.at)) return last.at
    const at = text.indexOf(character, from)
    this.#found = { text, character, from, at }
    return at
  }

  /** Up to a `>`, or behind all; whether it is the end is told by so many characters before it. */
  #readTo(text: string, at: number, to: number, looks: number, ends: (before: string) => boolean): number {
    const close = this.#find(text, '>', at)
    const end = close === -1 || close >= to ? to : close
    const before = (this.#carried + text.slice(Math.max(at, end - looks), end)).slice(-looks)
    this.#carried = before
    if (end === to) return to
    if (ends(before)) {
      this.#state = 'data'
      this.#carried = ''
    } else this.#carried = `${before}>`.slice(-looks)
    return end + 1
  }

  /** HTML ends a comment by its first dashes as well. */
  #endsComment(before: string): boolean {
    if (this.#xml) return before.endsWith('--')
    return before === '' || before === '-' || before.endsWith('--') || before === '--!'
  }

  #readContent(text: string, at: number, to: number): number {
    const begun = this.#carried
    let open = begun === '' ? this.#find(text, '<', at) : at
    while (begun === '' && open !== -1 && open + 1 < to && !/[/!]/.test(text.charAt(open + 1)))
      open = text.indexOf('<', open + 1)
    if (open === -1 || open >= to) return to
    const end = `</${this.#content}`
    const ahead = begun + text.slice(open, Math.min(to, open + end.length + 1))
    const lower = asciiLower(ahead)
    this.#carried = ''
    if (lower.startsWith(end) && /[ \t\n\f\r/>]/.test(ahead[end.length] ?? '')) {
      this.#open(true, this.#content)
      return open + end.length - begun.length
    }
    if (lower === end || end.startsWith(lower) || '<!--'.startsWith(ahead)) {
      if (ahead === '<!--') this.#hidden ||= this.#content === 'script'
      else this.#carried = ahead
      return to
    }
    if (ahead.startsWith('<!--')) this.#hidden ||= this.#content === 'script'
    return begun === '' ? open + 1 : at
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
        this.#declare(char)
        return undefined
      default:
        return this.#readAttributes(char, at)
    }
  }

  /** Behind `<!`. */
  #declare(char: string): void {
    const begun = this.#carried + char
    this.#carried = ''
    if (begun === '--') this.#state = 'comment'
    else if (this.#xml && begun === '[CDATA[') this.#state = 'cdata'
    else if (begun === '-' || (this.#xml && '[CDATA['.startsWith(begun))) this.#carried = begun
    else this.#state = char === '>' ? 'data' : 'bogus'
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
    const name = this.#xml ? this.#name : asciiLower(this.#name)
    this.#state = 'data'
    if (!this.#xml) this.#enter(name)
    return {
      name,
      closing: this.#closing,
      selfClosing: this.#slash,
      attributes: this.#attributes,
      end: at + 1,
    }
  }

  #enter(name: string): void {
    const foreign = this.#foreign
    const letter = letterOf(name, foreign)
    if (letter !== undefined) {
      const isHtml = name === 'select' || name === 'noscript'
      if (!this.#closing && (isHtml || !this.#slash)) this.#foreign = (foreign + letter).slice(0, MOST_FOREIGN)
      // What closes another one is left out: where that is open all the same, markup has to be escaped.
      else if (this.#closing && foreign.endsWith(letter) && foreign.length < MOST_FOREIGN)
        this.#foreign = foreign.slice(0, -1)
    } else if (!this.#closing && (foreign === '' ? holdsText(name) : isInSelect(name, foreign))) {
      this.#state = 'content'
      this.#content = name
    }
  }
}

function startsName(char: string, xml: boolean): boolean {
  return /[a-z]/i.test(char) || (xml && /[_:\u0080-\uffff]/.test(char))
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f'
}

/** A place as it is for a text that does not go on with what was written before it. */
export function apart(place: Place): Place {
  if (place.carried === '' && place.state === 'data') return place
  const scanner = new MarkupScanner(place)
  scanner.apart()
  return scanner.place
}

/** Where a text leads. */
export function behind(place: Place, text: string): Place {
  if (stays(place, text)) return place
  const scanner = new MarkupScanner(place)
  scanner.read(text, 0, text.length)
  return scanner.place
}

/** What most text is: none that ends its place. */
function stays({ state, carried }: Place, text: string): boolean {
  if (state === 'double') return !text.includes('"')
  if (state === 'single') return !text.includes("'")
  return (state === 'data' || (state === 'content' && carried === '')) && !text.includes('<')
}
