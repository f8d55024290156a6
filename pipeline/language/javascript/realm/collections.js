/** Lists of nodes, attributes and tokens. Those of nodes are snapshots. */

import { defineProperty } from './host.js'

const KEY = {}

function checked(key) {
  if (key !== KEY) throw new TypeError('Illegal constructor')
}

class Items {
  #items
  constructor(key, items) {
    checked(key)
    this.#items = items
    for (let i = 0; i < items.length; i++)
      defineProperty(this, i, { value: items[i], enumerable: true, configurable: true })
  }
  get length() {
    return this.#items.length
  }
  item(index) {
    return this.#items[index >>> 0] ?? null
  }
  [Symbol.iterator]() {
    return this.#items.slice()[Symbol.iterator]()
  }
  static itemsOf(value) {
    return #items in value ? value.#items : undefined
  }
}

/** What a list of nodes holds; undefined for anything else. */
export const { itemsOf } = Items
delete Items.itemsOf

export class NodeList extends Items {
  forEach(visit, self) {
    let i = 0
    for (const item of this) Reflect.apply(visit, self, [item, i++, this])
  }
  entries() {
    return [...this].entries()
  }
  keys() {
    return [...this].keys()
  }
  values() {
    return this[Symbol.iterator]()
  }
}

export class HTMLCollection extends Items {
  namedItem(name) {
    const wanted = `${name}`
    if (wanted === '') return null
    return [...this].find(element => element.id === wanted || element.getAttribute('name') === wanted) ?? null
  }
}

export class NamedNodeMap extends Items {
  getNamedItem(name) {
    const wanted = `${name}`.toLowerCase()
    return [...this].find(attribute => attribute.name.toLowerCase() === wanted) ?? null
  }
}

/** @param items an array that nobody else holds */
export function collection(Class, items) {
  return new Class(KEY, items)
}

export class Attr {
  #element
  #parts
  constructor(key, element, parts) {
    checked(key)
    this.#element = element
    this.#parts = parts
  }
  get name() {
    return this.#parts[0]
  }
  get nodeName() {
    return this.#parts[0]
  }
  get nodeType() {
    return 2
  }
  get localName() {
    return this.#parts[4]
  }
  get namespaceURI() {
    return this.#parts[2]
  }
  get prefix() {
    return this.#parts[3]
  }
  get ownerElement() {
    return this.#element
  }
  get value() {
    return this.#element.getAttributeNS(this.#parts[2], this.#parts[4]) ?? this.#parts[1]
  }
  set value(value) {
    this.#element.setAttributeNS(this.#parts[2], this.#parts[0], value)
  }
  get nodeValue() {
    return this.value
  }
}

const SPACE = /[ \t\n\f\r]/

function checkedToken(token, DOMException) {
  const text = `${token}`
  if (text === '') throw new DOMException('A token is not empty.', 'SyntaxError')
  if (SPACE.test(text)) throw new DOMException('A token has no spaces.', 'InvalidCharacterError')
  return text
}

export class DOMTokenList {
  static key = KEY
  #element
  constructor(key, element) {
    checked(key)
    this.#element = element
  }
  #tokens() {
    return [...new Set(this.value.split(/[ \t\n\f\r]+/).filter(token => token !== ''))]
  }
  /** The standard leaves an element without the attribute when there is nothing to write. */
  #update(tokens) {
    if (tokens.length === 0 && !this.#element.hasAttribute('class')) return
    this.#element.setAttribute('class', tokens.join(' '))
  }
  get length() {
    return this.#tokens().length
  }
  get value() {
    return this.#element.getAttribute('class') ?? ''
  }
  set value(value) {
    this.#element.setAttribute('class', value)
  }
  item(index) {
    return this.#tokens()[index >>> 0] ?? null
  }
  contains(token) {
    return this.#tokens().includes(`${token}`)
  }
  add(...tokens) {
    const wanted = tokens.map(token => checkedToken(token, globalException()))
    this.#update([...new Set([...this.#tokens(), ...wanted])])
  }
  remove(...tokens) {
    const unwanted = tokens.map(token => checkedToken(token, globalException()))
    this.#update(this.#tokens().filter(token => !unwanted.includes(token)))
  }
  toggle(token, force) {
    const text = checkedToken(token, globalException())
    if (this.contains(text)) {
      if (force === true) return true
      this.remove(text)
      return false
    }
    if (force === false) return false
    this.add(text)
    return true
  }
  replace(token, by) {
    const [old, next] = [token, by].map(each => checkedToken(each, globalException()))
    const tokens = this.#tokens()
    if (!tokens.includes(old)) return false
    this.#update([...new Set(tokens.map(each => (each === old ? next : each)))])
    return true
  }
  forEach(visit, self) {
    let i = 0
    for (const token of this.#tokens()) Reflect.apply(visit, self, [token, i++, this])
  }
  [Symbol.iterator]() {
    return this.#tokens()[Symbol.iterator]()
  }
  toString() {
    return this.value
  }
}

let exception
/** The class of errors, which is made later. */
export function exceptionsAre(Class) {
  exception = Class
}
function globalException() {
  return exception
}
