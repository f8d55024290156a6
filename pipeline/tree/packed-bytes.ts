/** The numbers and strings of packed trees: numbers take as few bytes as they need, strings are parts of a text or names. */

export interface PackedBytes {
  readonly bytes: Uint8Array
  /** Strings that neither stand in the text nor are names in use. */
  readonly own: readonly string[]
  /** Bytes that these take. */
  readonly ownBytes: number
}

/** Names of elements, attributes and namespaces that all packed trees share; documents bring the rest themselves. */
const MOST_NAMES = 4096
const LONGEST_NAME = 64
const names: string[] = []
const numbers = new Map<string, number>()

/** UTF-16 code units that may stand between the values of two attributes beside a name. */
const BETWEEN = 32

/** Values up to this length are looked for among those of the same tree: classes, types, languages. */
const SHARED = 64

/** Bytes of a string beside its code units. */
const STRING = 40

/** Where a string is. */
const EMPTY = 0
const IN_TEXT = 1
const OWN = 2

/** Room that is used again for one tree after another. */
let room = new Uint8Array(16 * 1024)

export class PackWriter {
  readonly #source: string
  readonly #own: string[] = []
  readonly #ownNumbers = new Map<string, number>()
  #ownBytes = 0
  #length = 0
  /** The offset that was written last. */
  #last = 0

  constructor(source: string) {
    this.#source = source
  }

  end(): PackedBytes {
    return { bytes: room.slice(0, this.#length), own: this.#own, ownBytes: this.#ownBytes }
  }

  /** @param n a whole number from 0 */
  number(n: number): void {
    if (this.#length + 8 > room.length) {
      const larger = new Uint8Array(room.length * 2)
      larger.set(room)
      room = larger
    }
    let rest = n
    while (rest > 0x7f) {
      room[this.#length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    room[this.#length++] = rest
  }

  /** A place in the text; what follows each other costs a byte or two. */
  offset(at: number): void {
    const distance = at - this.#last
    this.number(distance < 0 ? -distance * 2 - 1 : distance * 2)
    this.#last = at
  }

  /** The next offset will be told from here. */
  skip(to: number): void {
    this.#last = to
  }

  name(name: string): void {
    this.nameWith(name, 0)
  }

  /** @param bits two bits that are kept with it */
  nameWith(name: string, bits: number): void {
    let known = numbers.get(name)
    if (known === undefined && names.length < MOST_NAMES && name.length <= LONGEST_NAME) {
      const own = alone(name)
      known = names.push(own)
      numbers.set(own, known)
    }
    this.number(((known ?? 0) << 2) | bits)
    if (known === undefined) this.number(this.#ownNumber(name))
  }

  /**
   * A text that stands behind the last offset, if it is in the source as it is.
   *
   * @param ahead UTF-16 code units between the two
   */
  text(text: string, ahead: number): void {
    if (text === '') this.number(EMPTY)
    else if (this.#source.startsWith(text, this.#last + ahead)) {
      this.number((text.length << 2) | IN_TEXT)
      this.number(ahead)
    } else this.#ownText(text)
  }

  /**
   * The value of an attribute.
   *
   * @param from where to look for it, from the last offset
   * @param nameLength UTF-16 code units
   * @returns where to look for the next one
   */
  value(value: string, from: number, nameLength: number): number {
    if (value === '') {
      this.number(EMPTY)
      return from + nameLength
    }
    const start = this.#last + from
    const near = this.#source.slice(start, start + nameLength + value.length + BETWEEN)
    const found = near.indexOf(value, nameLength)
    if (found < 0) {
      this.#ownText(value)
      return from + nameLength + value.length
    }
    this.number((value.length << 2) | IN_TEXT)
    this.number(from + found)
    return from + found + value.length
  }

  #ownText(text: string): void {
    this.number((this.#ownNumber(text) << 2) | OWN)
  }

  #ownNumber(text: string): number {
    const known = this.#ownNumbers.get(text)
    if (known !== undefined) return known
    const own = alone(text)
    const number = this.#own.push(own) - 1
    this.#ownNumbers.set(own, number)
    this.#ownBytes += STRING + 2 * text.length
    return number
  }
}

/** The same string as no part of another one, which would stay in memory with it. */
function alone(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

/** Reads what a `PackWriter` has written, in the same order. */
export class PackReader {
  readonly #bytes: Uint8Array
  readonly #own: readonly string[]
  readonly #source: string
  readonly #values = new Map<string, string>()
  #at = 0
  #last = 0

  constructor({ bytes, own }: PackedBytes, source: string) {
    this.#bytes = bytes
    this.#own = own
    this.#source = source
  }

  number(): number {
    let byte = this.#bytes[this.#at++] ?? 0
    if (byte < 0x80) return byte
    let n = byte & 0x7f
    for (let shift = 7; ; shift += 7) {
      byte = this.#bytes[this.#at++] ?? 0
      n |= (byte & 0x7f) << shift
      if (byte < 0x80) return n >>> 0
    }
  }

  offset(): number {
    const distance = this.number()
    this.#last += distance & 1 ? -((distance + 1) >>> 1) : distance >>> 1
    return this.#last
  }

  /** @returns the same */
  skip(to: number): number {
    this.#last = to
    return to
  }

  name(): string {
    return this.nameWith(this.number() >>> 2)
  }

  /** @param number what came with its bits */
  nameWith(number: number): string {
    return (number === 0 ? this.#own[this.number()] : names[number - 1]) ?? ''
  }

  text(): string {
    const form = this.number()
    if (form === EMPTY) return ''
    if ((form & 3) === OWN) return this.#own[form >>> 2] ?? ''
    const start = this.#last + this.number()
    return this.#source.slice(start, start + (form >>> 2))
  }

  value(): string {
    const value = this.text()
    if (value.length > SHARED) return value
    const known = this.#values.get(value)
    if (known !== undefined) return known
    this.#values.set(value, value)
    return value
  }
}
