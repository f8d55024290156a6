/** The classes of nodes (JS-40). They hold a handle; trees, and what may be changed in them, are the host's. */

import { Attr, collection, DOMTokenList, exceptionsAre, HTMLCollection, NamedNodeMap, NodeList } from './collections.js'
import { ask, construct, DOM_ERRORS, defineProperty, errorsBy, INTERFACES, OPERATIONS as OP, TEXT } from './host.js'

/** Codes of the names that have one (DOM, "names table"). */
const CODES = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  QuotaExceededError: 22,
  DataCloneError: 25,
}

export class DOMException extends Error {
  #name
  constructor(message = '', name = 'Error') {
    super(TEXT(message))
    this.#name = TEXT(name)
  }
  get name() {
    return this.#name
  }
  get code() {
    return CODES[this.#name] ?? 0
  }
}

exceptionsAre(DOMException)
errorsBy((code, message) => new DOMException(message, DOM_ERRORS[code - 1] ?? 'Error'))

const KEY = {}
/** The object of each node, by its handle: one node is one object. */
const known = []
const classes = []

let handleOf
let isNode

/** The object of a node that the host has named; null for 0. */
export function wrap(name) {
  if (name === 0) return null
  const handle = name >>> 8
  return (known[handle] ??= construct(classes[name & 255], [KEY, handle]))
}

export function nodeList(names) {
  return names === '' ? [] : names.split(',').map(wrapText)
}

const toNumber = Number
function wrapText(name) {
  return wrap(toNumber(name))
}

export function isElement(value) {
  return isNode(value) && value.nodeType === 1
}

export { handleOf, isNode }

const getter = (target, name, get, set) =>
  defineProperty(target, name, { get, set, enumerable: true, configurable: true })

export class Node {
  #handle
  constructor(key, handle) {
    if (key !== KEY) throw new TypeError('Illegal constructor')
    this.#handle = handle
  }
  static {
    isNode = value => typeof value === 'object' && value !== null && #handle in value
    handleOf = value => {
      if (!isNode(value)) throw new TypeError('The argument is no node.')
      return value.#handle
    }
  }
  get nodeType() {
    return TYPES[this.nodeName] ?? (this instanceof DocumentType ? 10 : this instanceof ProcessingInstruction ? 7 : 1)
  }
  get nodeName() {
    return ask(OP.nodeName, this.#handle)
  }
  get textContent() {
    return ask(OP.textContent, this.#handle)
  }
  set textContent(value) {
    ask(OP.setTextContent, this.#handle, text(value ?? ''))
  }
  get nodeValue() {
    return null
  }
  get childNodes() {
    return collection(NodeList, nodeList(ask(OP.childNodes, this.#handle)))
  }
  hasChildNodes() {
    return ask(OP.hasChildNodes, this.#handle) === 1
  }
  contains(other) {
    return other === null || other === undefined ? false : ask(OP.contains, this.#handle, handleOf(other)) === 1
  }
  appendChild(node) {
    return wrap(ask(OP.insertBefore, this.#handle, handleOf(node), 0))
  }
  insertBefore(node, child) {
    return wrap(ask(OP.insertBefore, this.#handle, handleOf(node), child ? handleOf(child) : 0))
  }
  removeChild(child) {
    return wrap(ask(OP.removeChild, this.#handle, handleOf(child)))
  }
  replaceChild(node, child) {
    return wrap(ask(OP.replaceChild, this.#handle, handleOf(node), handleOf(child)))
  }
  cloneNode(deep = false) {
    return wrap(ask(OP.cloneNode, this.#handle, deep ? 1 : 0, 0))
  }
  isSameNode(other) {
    return this === other
  }
}

const TYPES = { '#text': 3, '#comment': 8, '#document': 9, '#document-fragment': 11, __proto__: null }
const CONSTANTS = {
  ELEMENT_NODE: 1,
  ATTRIBUTE_NODE: 2,
  TEXT_NODE: 3,
  CDATA_SECTION_NODE: 4,
  PROCESSING_INSTRUCTION_NODE: 7,
  COMMENT_NODE: 8,
  DOCUMENT_NODE: 9,
  DOCUMENT_TYPE_NODE: 10,
  DOCUMENT_FRAGMENT_NODE: 11,
}
for (const name in CONSTANTS)
  for (const target of [Node, Node.prototype])
    defineProperty(target, name, { value: CONSTANTS[name], enumerable: true })

for (const name of 'parentNode parentElement firstChild lastChild nextSibling previousSibling ownerDocument'.split(' '))
  getter(Node.prototype, name, function () {
    return wrap(ask(OP[name], handleOf(this)))
  })

/** A text of whatever a program gives, made here, where that is its own affair. */
export function text(value) {
  return `${value}`
}

export class CharacterData extends Node {
  get data() {
    return ask(OP.data, handleOf(this))
  }
  set data(value) {
    ask(OP.setTextContent, handleOf(this), text(value ?? ''))
  }
  get nodeValue() {
    return this.data
  }
  set nodeValue(value) {
    this.data = value
  }
  get length() {
    return this.data.length
  }
}
export class Text extends CharacterData {}
export class Comment extends CharacterData {}
export class ProcessingInstruction extends CharacterData {
  get target() {
    return this.nodeName
  }
}
export class DocumentType extends Node {
  get name() {
    return this.nodeName
  }
}

/** One node for what was given: itself, a text for what is none, a fragment for several (DOM, "convert nodes into a node"). */
function given(owner, values) {
  const nodes = values.map(value => (isNode(value) ? value : owner.createTextNode(text(value))))
  if (nodes.length === 1) return nodes[0]
  const fragment = owner.createDocumentFragment()
  for (let i = 0; i < nodes.length; i++) fragment.appendChild(nodes[i])
  return fragment
}

function ownerOf(node) {
  return node.ownerDocument ?? node
}

/** What documents, fragments and elements can do. */
const parents = {
  querySelector(selectors) {
    return wrap(ask(OP.querySelector, handleOf(this), text(selectors)))
  },
  querySelectorAll(selectors) {
    return collection(NodeList, nodeList(ask(OP.querySelectorAll, handleOf(this), text(selectors))))
  },
  append(...values) {
    this.insertBefore(given(ownerOf(this), values), null)
  },
  prepend(...values) {
    const node = given(ownerOf(this), values)
    this.insertBefore(node, this.firstChild)
  },
  replaceChildren(...values) {
    ask(OP.replaceChildren, handleOf(this), handleOf(given(ownerOf(this), values)))
  },
  get children() {
    return collection(HTMLCollection, nodeList(ask(OP.children, handleOf(this))))
  },
  get childElementCount() {
    return ask(OP.childElementCount, handleOf(this))
  },
  get firstElementChild() {
    return wrap(ask(OP.firstElementChild, handleOf(this)))
  },
  get lastElementChild() {
    return wrap(ask(OP.lastElementChild, handleOf(this)))
  },
}

/** What documents and elements can do. */
const lookups = {
  getElementsByTagName(name) {
    return collection(HTMLCollection, nodeList(ask(OP.getElementsByTagName, handleOf(this), text(name))))
  },
  getElementsByTagNameNS(namespace, name) {
    const names = ask(OP.getElementsByTagNameNS, handleOf(this), text(namespace ?? ''), text(name))
    return collection(HTMLCollection, nodeList(names))
  },
  getElementsByClassName(names) {
    return collection(HTMLCollection, nodeList(ask(OP.getElementsByClassName, handleOf(this), text(names))))
  },
}

const byId = {
  getElementById(id) {
    return wrap(ask(OP.getElementById, handleOf(this), text(id)))
  },
}

/** What stands beside others. */
const siblings = {
  before(...values) {
    const parent = this.parentNode
    if (!parent) return
    let previous = this.previousSibling
    while (previous && values.includes(previous)) previous = previous.previousSibling
    const node = given(ownerOf(this), values)
    parent.insertBefore(node, previous ? previous.nextSibling : parent.firstChild)
  },
  after(...values) {
    const parent = this.parentNode
    if (!parent) return
    let next = this.nextSibling
    while (next && values.includes(next)) next = next.nextSibling
    parent.insertBefore(given(ownerOf(this), values), next)
  },
  replaceWith(...values) {
    const parent = this.parentNode
    if (!parent) return
    let next = this.nextSibling
    while (next && values.includes(next)) next = next.nextSibling
    const node = given(ownerOf(this), values)
    if (this.parentNode === parent) parent.replaceChild(node, this)
    else parent.insertBefore(node, next)
  },
  remove() {
    ask(OP.remove, handleOf(this))
  },
}

const elementSiblings = {
  get nextElementSibling() {
    return wrap(ask(OP.nextElementSibling, handleOf(this)))
  },
  get previousElementSibling() {
    return wrap(ask(OP.previousElementSibling, handleOf(this)))
  },
}

function mix(target, ...sources) {
  for (const source of sources)
    for (const name of Object.keys(source))
      defineProperty(target.prototype, name, Object.getOwnPropertyDescriptor(source, name))
}

mix(CharacterData, siblings, elementSiblings)
mix(DocumentType, siblings)

export class DocumentFragment extends Node {}
mix(DocumentFragment, parents, byId)

export class Document extends Node {
  get documentElement() {
    return wrap(ask(OP.documentElement, handleOf(this)))
  }
  get head() {
    return wrap(ask(OP.head, handleOf(this)))
  }
  get body() {
    return wrap(ask(OP.body, handleOf(this)))
  }
  createElement(name) {
    return wrap(ask(OP.createElement, handleOf(this), text(name)))
  }
  createElementNS(namespace, name) {
    return wrap(ask(OP.createElementNS, handleOf(this), text(namespace ?? ''), text(name)))
  }
  createTextNode(data) {
    return wrap(ask(OP.createTextNode, handleOf(this), text(data)))
  }
  createComment(data) {
    return wrap(ask(OP.createComment, handleOf(this), text(data)))
  }
  createDocumentFragment() {
    return wrap(ask(OP.createDocumentFragment, handleOf(this)))
  }
  importNode(node, deep = false) {
    return wrap(ask(OP.cloneNode, handleOf(node), deep ? 1 : 0, handleOf(this)))
  }
}
mix(Document, parents, lookups, byId)

export class Element extends Node {
  get tagName() {
    return this.nodeName
  }
  get localName() {
    return ask(OP.localName, handleOf(this))
  }
  get prefix() {
    return ask(OP.prefix, handleOf(this))
  }
  get namespaceURI() {
    return ask(OP.namespaceURI, handleOf(this))
  }
  get id() {
    return this.getAttribute('id') ?? ''
  }
  set id(value) {
    this.setAttribute('id', value)
  }
  get className() {
    return this.getAttribute('class') ?? ''
  }
  set className(value) {
    this.setAttribute('class', value)
  }
  get classList() {
    return tokens(this)
  }
  set classList(value) {
    this.setAttribute('class', value)
  }
  get attributes() {
    const attributes = JSON_parse(ask(OP.attributes, handleOf(this)))
    return collection(
      NamedNodeMap,
      attributes.map(parts => new Attr(KEY_OF_ATTRIBUTES, this, parts)),
    )
  }
  getAttribute(name) {
    return ask(OP.getAttribute, handleOf(this), text(name))
  }
  getAttributeNS(namespace, name) {
    return ask(OP.getAttributeNS, handleOf(this), text(namespace ?? ''), text(name))
  }
  getAttributeNames() {
    return JSON_parse(ask(OP.attributes, handleOf(this))).map(([name]) => name)
  }
  hasAttribute(name) {
    return this.getAttribute(name) !== null
  }
  hasAttributeNS(namespace, name) {
    return this.getAttributeNS(namespace, name) !== null
  }
  hasAttributes() {
    return this.getAttributeNames().length > 0
  }
  setAttribute(name, value) {
    ask(OP.setAttribute, handleOf(this), text(name), text(value))
  }
  setAttributeNS(namespace, name, value) {
    ask(OP.setAttributeNS, handleOf(this), text(namespace ?? ''), text(name), text(value))
  }
  removeAttribute(name) {
    ask(OP.removeAttribute, handleOf(this), text(name))
  }
  removeAttributeNS(namespace, name) {
    ask(OP.removeAttributeNS, handleOf(this), text(namespace ?? ''), text(name))
  }
  toggleAttribute(name, force) {
    if (this.hasAttribute(name)) {
      if (force === true) return true
      this.removeAttribute(name)
      return false
    }
    if (force === false) return false
    this.setAttribute(name, '')
    return true
  }
  get innerHTML() {
    return ask(OP.innerHTML, handleOf(this))
  }
  set innerHTML(value) {
    ask(OP.setInnerHTML, handleOf(this), text(value ?? ''))
  }
  get outerHTML() {
    return ask(OP.outerHTML, handleOf(this))
  }
  set outerHTML(value) {
    ask(OP.setOuterHTML, handleOf(this), text(value ?? ''))
  }
  insertAdjacentHTML(position, markup) {
    ask(OP.insertAdjacentHTML, handleOf(this), text(position), text(markup))
  }
  closest(selectors) {
    return wrap(ask(OP.closest, handleOf(this), text(selectors)))
  }
  matches(selectors) {
    return ask(OP.matches, handleOf(this), text(selectors)) === 1
  }
}
mix(Element, parents, lookups, siblings, elementSiblings)

const JSON_parse = JSON.parse
const KEY_OF_ATTRIBUTES = DOMTokenList.key
const lists = new WeakMap()
const { get: getList, set: setList } = WeakMap.prototype

function tokens(element) {
  let list = Reflect.apply(getList, lists, [element])
  if (!list) Reflect.apply(setList, lists, [element, (list = new DOMTokenList(KEY_OF_ATTRIBUTES, element))])
  return list
}
delete DOMTokenList.key

export class DOMParser {
  parseFromString(markup, type) {
    const kind = text(type)
    if (!['text/html', 'text/xml', 'application/xml', 'application/xhtml+xml', 'image/svg+xml'].includes(kind))
      throw new TypeError(`"${kind}" is no type of markup.`)
    return wrap(ask(OP.parseFromString, text(markup), kind))
  }
}

export class XMLSerializer {
  serializeToString(node) {
    return ask(OP.outerHTML, handleOf(node))
  }
}

/** The classes by name, those of single tags included. */
export const CLASSES = {
  Node,
  CharacterData,
  Text,
  Comment,
  ProcessingInstruction,
  DocumentType,
  Document,
  DocumentFragment,
  Element,
}

for (const { name, parent, properties } of INTERFACES) {
  CLASSES[name] ??= { [name]: class extends CLASSES[parent] {} }[name]
  classes.push(CLASSES[name])
  for (const property in properties) reflect(CLASSES[name].prototype, property, ...properties[property])
}

const DIGITS = /^[ \t\n\f\r]*([-+]?\d+)/
const { exec } = RegExp.prototype

function reflect(target, property, attribute, reflection) {
  const { kind } = reflection
  getter(
    target,
    property,
    {
      text() {
        return this.getAttribute(attribute) ?? ''
      },
      flag() {
        return this.hasAttribute(attribute)
      },
      integer() {
        const found = Reflect.apply(exec, DIGITS, [this.getAttribute(attribute) ?? ''])
        if (!found) return reflection.default
        const value = toNumber(found[1])
        if (value > 2147483647 || value < (reflection.negative ? -2147483648 : 0)) return reflection.default
        if (reflection.least !== undefined && value < reflection.least) return reflection.least
        return reflection.most !== undefined && value > reflection.most ? reflection.most : value
      },
      choice() {
        const value = this.getAttribute(attribute)
        if (value === null) return reflection.missing
        const lower = value.toLowerCase()
        return reflection.keywords.includes(lower) ? lower : reflection.invalid
      },
    }[kind],
    {
      text(value) {
        this.setAttribute(attribute, value)
      },
      flag(value) {
        if (value) this.setAttribute(attribute, '')
        else this.removeAttribute(attribute)
      },
      integer(value) {
        const number = reflection.negative ? value | 0 : value >>> 0
        this.setAttribute(attribute, !reflection.negative && number > 2147483647 ? reflection.default : number)
      },
      choice(value) {
        this.setAttribute(attribute, value)
      },
    }[kind],
  )
}

Object.assign(CLASSES, {
  NodeList,
  HTMLCollection,
  NamedNodeMap,
  DOMTokenList,
  Attr,
  DOMParser,
  XMLSerializer,
  DOMException,
})
for (const name in CLASSES)
  if (name !== 'DOMException')
    defineProperty(CLASSES[name].prototype, Symbol.toStringTag, { value: name, configurable: true })
