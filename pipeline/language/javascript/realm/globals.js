/** Globals beside those of ECMAScript and the DOM (JS-30, JS-31). */

import { apply, ask, construct, defineProperty, isArray, OPERATIONS as OP, stringify } from './host.js'

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError('The argument is no buffer.')
}

const hex = bytes => {
  let text = ''
  for (let i = 0; i < bytes.length; i++) text += (bytes[i] < 16 ? '0' : '') + bytes[i].toString(16)
  return text
}

const unhex = text => {
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

class TextEncoder {
  get encoding() {
    return 'utf-8'
  }
  encode(text = '') {
    const bytes = []
    for (const character of `${text}`) {
      let code = character.codePointAt(0)
      if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd
      if (code < 0x80) bytes.push(code)
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    }
    return new Uint8Array(bytes)
  }
}

class TextDecoder {
  #fatal
  constructor(label = 'utf-8', options = {}) {
    if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(`${label}`.trim().toLowerCase()))
      throw new RangeError(`There is no decoder of "${label}".`)
    this.#fatal = !!options.fatal
  }
  get encoding() {
    return 'utf-8'
  }
  get fatal() {
    return this.#fatal
  }
  decode(buffer) {
    if (buffer === undefined) return ''
    const answer = ask(OP.decode, hex(bytesOf(buffer)), this.#fatal ? 1 : 0)
    if (answer === null) throw new TypeError('The bytes are no UTF-8.')
    return answer
  }
}

/** Four words of state, drawn anew in each evaluation. */
let words

function word() {
  const sum = (((words[0] + words[1]) | 0) + words[3]) | 0
  words[3] = (words[3] + 1) | 0
  words[0] = words[1] ^ (words[1] >>> 9)
  words[1] = (words[2] + (words[2] << 3)) | 0
  words[2] = (((words[2] << 21) | (words[2] >>> 11)) + sum) | 0
  return sum >>> 0
}

/** The engine's own is the same in every realm, as realms are copies of one. */
defineProperty(Math, 'random', {
  value: {
    random() {
      words ??= new Int32Array(unhex(ask(OP.random, 16)).buffer)
      return ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992
    },
  }.random,
  writable: true,
  configurable: true,
  enumerable: false,
})

const OwnDate = Date

/** The engine's clock; the host is told when it is looked at. */
const SeenDate = new Proxy(OwnDate, {
  construct(target, values, newTarget) {
    if (values.length === 0) ask(OP.clock)
    return construct(target, values, newTarget)
  },
  apply(target, self, values) {
    ask(OP.clock)
    return apply(target, self, values)
  },
})
const { now } = OwnDate
defineProperty(OwnDate, 'now', {
  value: {
    now() {
      ask(OP.clock)
      return now()
    },
  }.now,
  writable: true,
  configurable: true,
  enumerable: false,
})
defineProperty(OwnDate.prototype, 'constructor', {
  value: SeenDate,
  writable: true,
  configurable: true,
  enumerable: false,
})

const ALGORITHMS = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']

const crypto = {
  getRandomValues(array) {
    const bytes = bytesOf(array)
    if (bytes.length > 65536) throw new RangeError('No more than 65536 bytes at a time.')
    bytes.set(unhex(ask(OP.random, bytes.length)))
    return array
  },
  randomUUID: () => ask(OP.uuid),
  subtle: {
    async digest(algorithm, data) {
      const name = `${algorithm?.name ?? algorithm}`.toUpperCase()
      if (!ALGORITHMS.includes(name)) throw new TypeError(`There is no algorithm "${name}".`)
      return unhex(ask(OP.digest, name, hex(bytesOf(data)))).buffer
    },
  },
}

/** Lines that an evaluation may write, and characters of each. */
const MOST_LINES = 100
const MOST_CHARACTERS = 1024
let lines = 0

function shown(value) {
  if (typeof value === 'string') return value
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}`
    return isArray(value) || (typeof value === 'object' && value !== null) ? stringify(value) : String(value)
  } catch {
    return '?'
  }
}

const console = {}
for (const level of ['log', 'info', 'warn', 'error', 'debug'])
  console[level] = (...values) => {
    if (lines++ < MOST_LINES) ask(OP.log, level, values.map(shown).join(' ').slice(0, MOST_CHARACTERS))
  }

export const GLOBALS = { TextEncoder, TextDecoder, crypto, console, Date: SeenDate }

/** Puts what a program may see into the global object, as the engine does with its own. */
export function provide(globals) {
  for (const name in globals)
    defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true, enumerable: false })
}
