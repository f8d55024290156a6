/** Programs that try to get out, to reach what is not theirs, or to take all there is, each with its specified answer. */

export interface Attack {
  /** What it tries. */
  title: string
  source: string
  /** A variant, a value, or a test of the value. */
  expected: unknown
}

const attack = (title: string, body: string, expected: unknown): Attack => ({
  title,
  source: `export default async function (list, dictionary, element) { ${body} }`,
  expected,
})

/** Everything that a program is handed or can make; each has a constructor, whose constructor makes functions of text. */
const OBJECTS =
  `({}) | [] | (() => 1) | (async () => 1) | (function* () {}) | (async function* () {}) | /a/ | 1n | 'text' | 5 | Symbol.iterator
  | new Date() | new Map() | new Set() | new WeakRef({}) | new Error('x') | new Promise(() => {}) | new Uint8Array(1) | new Proxy({}, {})
  | this | document | document.documentElement | document.createElement('a') | document.createTextNode('x') | document.createDocumentFragment()
  | this.classList | this.attributes | this.attributes[0] | this.childNodes | this.children | new DOMParser() | new XMLSerializer()
  | Context | Context.request | request | request.headers | request.headers.accept | Context.dictionary | list | dictionary | element
  | console | console.log | crypto | crypto.subtle | crypto.getRandomValues | crypto.subtle.digest | new TextEncoder() | new TextDecoder()
  | Reflect | JSON | Math | Object.getPrototypeOf(async function () {}) | [][Symbol.iterator]() | HTMLElement | import.meta`
    .split('|')
    .map(each => each.trim())

const chains: Attack[] = OBJECTS.map(object =>
  attack(
    `the constructor of the constructor of ${object}`,
    `const it = ${object}
     const from = Object.getPrototypeOf(it) === null ? Object : it.constructor
     const make = typeof from === 'function' && from.constructor === Function ? from.constructor : Function
     return make('return [typeof process, typeof require, typeof host, typeof WebAssembly, typeof fetch].join()')()`,
    'undefined,undefined,undefined,undefined,undefined',
  ),
)

/** Errors that come from the host's side. */
const HOST_ERRORS: [what: string, body: string][] = [
  ['a refused change', 'this.setAttribute("a", "b")'],
  ['an invalid selector', 'document.querySelector("[")'],
  ['a bad name', 'document.createElement("<")'],
  ['a node in itself', 'const a = document.createElement("a"); a.append(a)'],
  ['a child that is none', 'document.createElement("a").removeChild(this)'],
  ['something that is no node', 'document.createElement("a").appendChild({})'],
  ['a constructor that is not for programs', 'new Text("x")'],
  ['markup that is too deep', 'document.createElement("div").innerHTML = "<div>".repeat(2000)'],
  ['an overflow of the stack', '(function f() { f() })()'],
  ['an invalid buffer', 'new ArrayBuffer(-1)'],
]
const errors: Attack[] = HOST_ERRORS.map(([what, body]) =>
  attack(
    `the constructors of the error of ${what}`,
    `try { ${body} } catch (e) {
       let at = e
       const found = []
       while (at) { found.push(at.constructor.constructor('return typeof process')()); at = Object.getPrototypeOf(at) }
       return [...new Set(found)].join() + (e.stack ?? '').includes('file:')
     }
     return 'nothing thrown'`,
    'undefinedfalse',
  ),
)

const CRAWL = `const seen = new Set(), open = [globalThis, this, list, dictionary, element, document, Context]
  const suspicious = /^(process|require|mainModule|binding|Buffer|WebAssembly|postMessage|host|__filename|parentPort|realm:.*)$/
  const found = []
  while (open.length && seen.size < 20000) {
    const at = open.pop()
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || seen.has(at)) continue
    seen.add(at)
    let keys = []
    try { keys = Reflect.ownKeys(at) } catch {}
    for (const key of keys) {
      if (suspicious.test(String(key))) found.push(String(key))
      let d
      try { d = Reflect.getOwnPropertyDescriptor(at, key) } catch {}
      if (d) open.push(d.value, d.get, d.set)
    }
    try { open.push(Reflect.getPrototypeOf(at)) } catch {}
  }
  return found.join()`

const searches: Attack[] = [
  attack('a walk through everything that can be reached', CRAWL, ''),
  attack(
    'the caller of a function',
    'return (function () { try { return String((function f() { return f.caller })()) } catch (e) { return e.name } })()',
    (v: unknown) => v === 'TypeError' || v === 'null' || v === 'undefined',
  ),
  attack(
    'the arguments of a caller',
    'try { return typeof (function () { return arguments.callee })() } catch (e) { return e.name }',
    'TypeError',
  ),
  attack(
    'the frames of a stack',
    'Error.prepareStackTrace = (e, frames) => frames; return String(new Error("x").stack).includes("file:") || String(new Error("x").stack).includes("/work")',
    false,
  ),
  attack(
    'a stack from within the DOM',
    'try { document.querySelector("[") } catch (e) { return /\\.ts|node_modules/.test(String(e.stack)) }',
    false,
  ),
  attack(
    'the source of functions of the host',
    'return Function.prototype.toString.call(console.log).includes("parentPort")',
    false,
  ),
  attack('indirect eval', 'return (0, eval)("typeof process + typeof globalThis.host")', 'undefinedundefined'),
  attack(
    'an async function of text',
    'return await Object.getPrototypeOf(async function () {}).constructor("return typeof process")()',
    'undefined',
  ),
  attack(
    'a generator function of text',
    'return Object.getPrototypeOf(function* () {}).constructor("yield typeof process")().next().value',
    'undefined',
  ),
  attack('a function that is called with another `this`', 'return (function () { return typeof this })()', 'undefined'),
  attack('the global object of a sloppy function', 'return new Function("return Object.keys(this).join()")()', ''),
  attack(
    'globals by their old names',
    'return [typeof top, typeof parent, typeof frames, typeof opener, typeof GLOBAL, typeof root].join()',
    Array(6).fill('undefined').join(),
  ),
  attack(
    'shells of the engine',
    'return [typeof std, typeof os, typeof bjson, typeof print, typeof load, typeof loadScript, typeof gc].join()',
    Array(7).fill('undefined').join(),
  ),
  attack('meta data of the module', 'return Object.keys(import.meta).join()', ''),
  attack(
    'names that the realm begins with',
    'return ["realm:begin", "realm:enter", "realm:finish", "host"].filter(n => n in globalThis).join()',
    '',
  ),
]

const TAKEN_BACK: [title: string, body: string, expected: unknown][] = [
  [
    'a getter that looks around',
    'return { get a() { return [].constructor.constructor("return typeof process")() } }',
    { a: 'undefined' },
  ],
  ['a getter that throws', 'return { get a() { throw new TypeError("mine") } }', 'threw'],
  ['a getter that never ends', 'return { get a() { for (;;); } }', 'timeout'],
  [
    'a Proxy that answers everything',
    'return new Proxy({}, { get: () => "x", ownKeys: () => ["a", "b"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })',
    { a: 'x', b: 'x' },
  ],
  ['a Proxy that throws', 'return new Proxy({}, { ownKeys() { throw new Error("p") } })', 'threw'],
  [
    'a Proxy with endless keys',
    'return new Proxy({}, { ownKeys() { const a = []; for (;;) a.push("k" + a.length) } })',
    (v: unknown) => v === 'timeout' || v === 'out-of-memory',
  ],
  [
    'a Proxy of a Proxy of a Proxy',
    'let p = { a: 1 }; for (let i = 0; i < 500; i++) p = new Proxy(p, {}); return p',
    (v: unknown) => v === 'threw' || JSON.stringify(v, (_, x) => (typeof x === 'bigint' ? Number(x) : x)) === '{"a":1}',
  ],
  ['a revoked Proxy', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy]', 'threw'],
  ['toJSON', 'return { toJSON() { return "other" }, a: 1 }', 'return-type'],
  [
    'toJSON on all prototypes',
    'Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => "other"; return [1, "a"]',
    [1n, 'a'],
  ],
  ['then, which takes over', 'return { then(done) { done({ then(done) { done(5) } }) } }', 5n],
  ['then, which never answers', 'return { then() {} }', 'threw'],
  ['then, which answers with itself for ever', 'const t = { then(done) { done(t) } }; return t', 'timeout'],
  ['then, which throws', 'return { get then() { throw new RangeError("t") } }', 'threw'],
  ['a module whose namespace is a promise', 'return 1', 1n],
  [
    'valueOf that throws, in a call of the DOM',
    'try { document.createElement({ toString() { throw new Error("mine") } }) } catch (e) { return e.message }',
    'mine',
  ],
  [
    'toString that calls the DOM again',
    'return document.createElement({ toString() { return document.createElement("b").localName } }).localName',
    'b',
  ],
  ['toString that never ends', 'document.querySelector({ toString() { for (;;); } })', 'timeout'],
  ['a symbol in place of a text', 'try { document.createElement(Symbol()) } catch (e) { return e.name }', 'TypeError'],
  ['an array with a getter', 'const a = [1]; Object.defineProperty(a, 0, { get: () => "got" }); return a', ['got']],
  [
    'an array of great length',
    'const a = []; a.length = 4294967295; return a',
    (v: unknown) => v === 'return-type' || v === 'timeout' || v === 'out-of-memory',
  ],
  ['an object that is an iterator', 'return { [Symbol.iterator]() { for (;;); } }', {}],
  [
    'a Map that was tampered with',
    'const m = new Map([["a", 1]]); m.forEach = () => { throw 1 }; Map.prototype.forEach = () => { throw 2 }; return m',
    { a: 1n },
  ],
  [
    'a subclass of Array with a tampered length',
    'class A extends Array { get length() { return 1e9 } } return new A()',
    (v: unknown) => v !== 1,
  ],
  ['an Error', 'return new Error("x")', {}],
  ['a class', 'return class {}', 'return-type'],
  ['an error whose name is a getter that never ends', 'throw { get message() { for (;;); } }', 'timeout'],
  ['an error that cannot be shown', 'throw { get message() { throw 1 } }', 'threw'],
  ['a thrown Proxy', 'throw new Proxy({}, { get() { throw 1 }, getOwnPropertyDescriptor() { throw 2 } })', 'threw'],
  ['a thrown symbol', 'throw Symbol("s")', 'threw'],
  ['a thrown function', 'throw () => 1', 'threw'],
  ['a message of megabytes', 'throw new Error("x".repeat(2000000))', 'threw'],
]
const results: Attack[] = TAKEN_BACK.map(([title, body, expected]) => attack(`passed back: ${title}`, body, expected))

/** Ways to change what was there before; all of them are refused, and nothing is changed (JS-41). */
const CHANGES =
  `this.setAttribute('x', '1') | this.removeAttribute('id') | this.toggleAttribute('x') | this.setAttributeNS(null, 'x', '1') | this.removeAttributeNS(null, 'id')
  | this.id = 'x' | this.className = 'x' | this.title = 'x' | this.hidden = true | this.classList.add('x') | this.classList.remove('k') | this.classList.value = 'x'
  | this.textContent = 'x' | this.innerHTML = 'x' | this.outerHTML = 'x' | this.insertAdjacentHTML('beforeend', 'x') | this.append('x') | this.prepend('x')
  | this.replaceChildren('x') | this.appendChild(document.createElement('b')) | this.insertBefore(document.createElement('b'), this.firstChild)
  | this.removeChild(this.firstChild) | this.replaceChild(document.createElement('b'), this.firstChild) | this.firstChild.remove() | this.firstChild.data = 'x'
  | this.firstChild.textContent = 'x' | this.firstElementChild.before('x') | this.firstElementChild.after('x') | this.firstElementChild.replaceWith('x') | this.attributes[0].value = 'x'
  | document.createElement('div').append(this.firstElementChild) | document.createElement('div').appendChild(this) | document.createDocumentFragment().append(this.firstChild)
  | document.append(document.createComment('x')) | document.removeChild(this) | Element.prototype.setAttribute.call(this, 'x', '1') | Reflect.apply(Node.prototype.appendChild, this, [document.createElement('b')])
  | new DOMParser().parseFromString('<p>', 'text/html').body.append(this.firstElementChild) | Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML').set.call(this, 'x')
  | document.createElement('div').replaceChildren(this.firstChild) | element.setAttribute('x', '1') | Context.element.remove() | Context.dictionary.e.textContent = 'x'`
    .split('|')
    .map(each => each.trim())
const changes: Attack[] = CHANGES.map(change =>
  attack(
    `a change of the stored tree: ${change}`,
    `const before = document.documentElement.outerHTML + element.outerHTML
     let name = 'no error'
     try { ${change} } catch (e) { name = e.name + e.code }
     return name + (document.documentElement.outerHTML + element.outerHTML === before)`,
    'NoModificationAllowedError7true',
  ),
)

const FORGED: [title: string, body: string, expected: unknown][] = [
  [
    'an object with the prototype of a node',
    'try { Object.create(Element.prototype).setAttribute("a", "b") } catch (e) { return e.name }',
    'TypeError',
  ],
  [
    'a node with another prototype',
    'Object.setPrototypeOf(this, Document.prototype); try { this.createElement("a"); this.setAttribute?.("x", "1") } catch (e) { return e.name } return document.documentElement.outerHTML.includes("x=")',
    (v: unknown) => v === false || v === 'TypeError' || v === 'InvalidStateError' || v === 'threw',
  ],
  [
    'a class that extends Node',
    'try { new (class extends Node { constructor() { super({}, 1) } })() } catch (e) { return e.name }',
    'TypeError',
  ],
  ['a text made by hand', 'try { Reflect.construct(Text, [{}, 1]) } catch (e) { return e.name }', 'TypeError'],
  [
    'an element with the constructor of another',
    'try { Reflect.construct(Element, [this, 1], Text) } catch (e) { return e.name }',
    'TypeError',
  ],
  [
    'private fields by name',
    'return Object.getOwnPropertyNames(this).concat(Object.getOwnPropertySymbols(this).map(String)).join()',
    '',
  ],
  ['a Proxy around a node', 'try { new Proxy(this, {}).getAttribute("id") } catch (e) { return e.name }', 'TypeError'],
  [
    'a handle as a number',
    'try { document.createElement("a").appendChild(1) } catch (e) { return e.name }',
    'TypeError',
  ],
  ['numbers in place of texts', 'return document.querySelectorAll(1e308 > 1 ? "b" : 0).length', 1n],
  ['a list of nodes made by hand', 'try { new NodeList({}, []) } catch (e) { return e.name }', 'TypeError'],
  ['a token list made by hand', 'try { new DOMTokenList({}, this) } catch (e) { return e.name }', 'TypeError'],
  ['the key of token lists', 'return typeof DOMTokenList.key', 'undefined'],
  ['the items of a list', 'return typeof NodeList.itemsOf', 'undefined'],
  ['changing a snapshot', 'const l = document.querySelectorAll("b"); delete l[0]; return l.length', 1n],
  [
    'methods replaced within the evaluation',
    'Array.prototype.map = String.prototype.split = Reflect.apply = () => { throw 1 }; try { document.querySelectorAll("b"); this.setAttribute("x", "1") } catch {} return document.documentElement.outerHTML.includes("x=")',
    (v: unknown) => v === false || v === 'threw',
  ],
  [
    'a setter on Array.prototype that waits for internals',
    'const seen = []; Object.defineProperty(Array.prototype, 0, { set(v) { seen.push(typeof v) }, configurable: true }); document.querySelectorAll("b"); delete Array.prototype[0]; return seen.length',
    0n,
  ],
  [
    'a setter on Object.prototype that waits for internals',
    'let seen = 0; for (const k of ["value", "get", "set", "type", "fields"]) Object.defineProperty(Object.prototype, k, { set() { seen++ }, configurable: true }); document.createElement("b").attributes; return seen',
    (v: unknown) => v === 0n || v === 'threw',
  ],
  [
    'an iterator of arrays that spies',
    'const own = Array.prototype[Symbol.iterator]; const seen = []; Array.prototype[Symbol.iterator] = function () { seen.push(this.length); return own.call(this) }; document.createElement("b").append(document.createElement("i")); return seen.every(n => n < 3)',
    true,
  ],
  [
    'a species that spies',
    'class S extends Array {} Object.defineProperty(Array, Symbol.species, { get: () => S }); return document.querySelectorAll("b").length',
    1n,
  ],
  [
    'JSON that answers otherwise',
    'JSON.parse = () => ({}); JSON.stringify = () => "{}"; return [1, this.getAttributeNames().length]',
    [1n, 2n],
  ],
  [
    'promises that answer otherwise',
    'Promise.prototype.then = () => { throw 1 }; Promise.resolve = () => 1; return 7',
    'threw',
  ],
  [
    'the global object without its names',
    'for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {} return 8',
    8n,
  ],
  [
    'globals that are frozen',
    '[Object, Array, Function, Promise, Map, String].forEach(c => Object.freeze(c.prototype)); Object.freeze(globalThis); return 9',
    9n,
  ],
  [
    'a global named like another of the realm',
    'globalThis.host = () => 1; globalThis["realm:finish"] = () => "{}"; return 10',
    10n,
  ],
  ['Context that is replaced', 'globalThis.Context = { x: 1 }; return 11', 11n],
  ['request that is replaced', 'globalThis.request = { headers: 1 }; return request.headers', 1n],
  [
    'writing to request',
    'request.headers.accept = "x"; request.headers = {}; Object.defineProperty(request, "method", { value: 1 }); return request.headers.accept + request.method',
    '*/*GET',
  ],
  ['the prototype of request', 'Object.setPrototypeOf(request, { evil: 1 }); return typeof request.evil', 'undefined'],
  [
    '__proto__ in a dictionary',
    'return [({}).polluted, dictionary.__proto__ === Object.prototype, Object.keys(dictionary).includes("__proto__")]',
    [null, false, true],
  ],
]
const forged: Attack[] = FORGED.map(([title, body, expected]) => attack(`forged: ${title}`, body, expected))

/** All that must not get anywhere. */
export const ESCAPES: readonly Attack[] = [...chains, ...errors, ...searches, ...results, ...changes, ...forged]

/** What one evaluation leaves for the next. */
export const LEFTOVERS: readonly string[] = [
  'globalThis.left = 1',
  'Object.prototype.left = 1',
  'Array.prototype.map = () => "changed"',
  'Array.prototype[Symbol.iterator] = () => { throw 1 }',
  'String.prototype.split = () => []',
  'Function.prototype.call = Function.prototype.apply = () => 1',
  'Promise.prototype.then = () => 1',
  'JSON.parse = JSON.stringify = () => "changed"',
  'Reflect.apply = Reflect.construct = () => 1',
  'Map.prototype.forEach = () => 1',
  'Element.prototype.getAttribute = () => "changed"',
  'Node.prototype.appendChild = () => { throw 1 }',
  'delete globalThis.DOMParser; delete globalThis.Object; delete globalThis.Promise',
  'Object.freeze(globalThis); Object.freeze(Object.prototype); Object.freeze(Array.prototype)',
  'Object.defineProperty(globalThis, "document", { value: 1 })',
  'Error.prototype.toString = () => "changed"; Error.prepareStackTrace = () => 1',
  'RegExp.prototype.exec = () => null',
  'WeakMap.prototype.get = () => 1; WeakMap.prototype.has = () => true',
  'globalThis.timer = Promise.resolve().then(function again() { return 1 })',
]

const TAKING: [title: string, body: string, expected: string | string[]][] = [
  ['an endless loop', 'for (;;);', 'timeout'],
  ['one that catches', 'for (;;) try { for (;;); } catch {}', 'timeout'],
  ['one in finally', 'try { for (;;); } finally { for (;;); }', 'timeout'],
  ['one in a catch in a finally', 'try { throw 1 } catch { try { for (;;); } finally { for (;;); } }', 'timeout'],
  ['an endless generator', 'for (const a of (function* () { for (;;) yield 1 })());', 'timeout'],
  [
    'an iterator that is never done',
    'for (const a of { [Symbol.iterator]: () => ({ next: () => ({}) }) });',
    'timeout',
  ],
  ['labels that go round', 'a: for (;;) { for (;;) continue a }', 'timeout'],
  ['a getter that reads itself', 'const a = { get b() { return this.b } }; return a.b', 'threw'],
  ['a Proxy that asks itself', 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.a', 'threw'],
  ['recursion without end', '(function f() { f() })()', 'threw'],
  ['recursion that catches', '(function f() { try { f() } catch { f() } })()', ['timeout', 'threw']],
  ['mutual recursion', 'const a = () => b(), b = () => a(); a()', 'threw'],
  ['recursion through a native sort', '(function f() { [2, 1].sort(f) })()', 'threw'],
  ['recursion through replace', '(function f() { "a".replace(/a/, f) })()', 'threw'],
  ['recursion through toString', 'const a = { toString() { return "" + a } }; return "" + a', 'threw'],
  [
    'a sort of a great array',
    'const a = Array.from({ length: 300000 }, (_, i) => (i * 7919) % 300007); for (;;) a.sort()',
    ['timeout', 'out-of-memory'],
  ],
  ['a sort whose comparison never ends', '[2, 1].sort(() => { for (;;); })', 'timeout'],
  [
    'a sort that lies',
    'Array.from({ length: 300000 }, (_, i) => i).sort(() => Math.random() - 0.5); for (;;);',
    ['timeout', 'out-of-memory'],
  ],
  ['catastrophic regular expressions', '/^(a+)+$/.test("a".repeat(50) + "b")', ['timeout', 'threw']],
  ['nested quantifiers', '/(x+x+)+y/.test("x".repeat(100))', ['timeout', 'threw']],
  ['alternatives that overlap', '/^(?:a|a|a|a)*$/.test("a".repeat(60) + "b")', ['timeout', 'threw']],
  ['back references', '/^(a*)*\\1b$/.test("a".repeat(60))', ['timeout', 'threw']],
  [
    'a replacement of a long text',
    'let s = "a".repeat(100000); for (;;) s = s.replace(/a/g, "b").replace(/b/g, "a")',
    'timeout',
  ],
  [
    'a regular expression of great depth',
    'new RegExp("(".repeat(100000) + ")".repeat(100000))',
    ['threw', 'timeout', 'out-of-memory'],
  ],
  [
    'a promise chain that never ends',
    'const go = () => Promise.resolve().then(go); await go()',
    ['timeout', 'out-of-memory'],
  ],
  [
    'promises that multiply',
    'const go = () => { Promise.resolve().then(go); Promise.resolve().then(go) }; go(); await new Promise(() => {})',
    ['timeout', 'out-of-memory'],
  ],
  ['an async loop', 'for (;;) await null', 'timeout'],
  ['an async generator without end', 'for await (const a of (async function* () { for (;;) yield 1 })());', 'timeout'],
  ['an array that grows', 'const a = []; for (;;) a.push(1)', ['out-of-memory', 'timeout']],
  ['an array of arrays', 'const a = []; for (;;) a.push(new Array(1000).fill(1))', 'out-of-memory'],
  [
    'an array that grows and catches',
    'const a = []; for (;;) try { for (;;) a.push("x".repeat(10000) + a.length) } catch {}',
    ['timeout', 'out-of-memory'],
  ],
  ['a Map that grows', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, "x" + i)', ['out-of-memory', 'timeout']],
  ['a Set of objects', 'const s = new Set(); for (;;) s.add({ a: [] })', ['out-of-memory', 'timeout']],
  ['an object of keys', 'const o = {}; for (let i = 0; ; i++) o["key" + i] = i', ['out-of-memory', 'timeout']],
  ['a text that doubles', 'let s = "xyxy"; for (;;) s += s', ['out-of-memory', 'threw']],
  [
    'a text that doubles and catches',
    'let s = "xyxy"; for (;;) try { s += s + 1 } catch { s += 1 }',
    ['out-of-memory', 'timeout'],
  ],
  ['a text that is repeated', 'return "x".repeat(1 << 29).length', 'out-of-memory'],
  ['a text that is padded', 'return "x".padStart(1 << 29, "yz").length', 'out-of-memory'],
  ['a text that is joined', 'return Array(1 << 24).join("xyz").length', ['out-of-memory', 'timeout']],
  ['a buffer of a gigabyte', 'new ArrayBuffer(1 << 30)', 'out-of-memory'],
  ['a buffer of a gigabyte, caught', 'try { new Uint8Array(1 << 30) } catch {} return 1', 'out-of-memory'],
  ['many buffers', 'const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))', 'out-of-memory'],
  ['an array of great length that is filled', 'new Array(4294967295).fill(1)', ['out-of-memory', 'timeout']],
  ['a great array from nothing', 'Array.from({ length: 1e9 })', ['out-of-memory', 'timeout']],
  ['an integer of great length', 'let n = 3n; for (;;) n *= n', ['out-of-memory', 'timeout', 'threw']],
  ['a power of great length', 'return String(2n ** 1000000000n).length', ['out-of-memory', 'timeout', 'threw']],
  [
    'closures that hold one another',
    'let f = () => 1; for (;;) { const g = f; f = () => g() + 1 }',
    ['out-of-memory', 'timeout'],
  ],
  ['symbols', 'const a = []; for (;;) a.push(Symbol("x".repeat(100)))', ['out-of-memory', 'timeout']],
  ['weak references', 'const a = []; for (;;) a.push(new WeakRef({}))', ['out-of-memory', 'timeout']],
  [
    'finalizers',
    'const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e5; i++) r.register({}, i); for (;;);',
    ['timeout', 'out-of-memory'],
  ],
  ['functions of text', 'for (let i = 0; ; i++) new Function("return " + i)()', ['timeout', 'out-of-memory']],
  [
    'JSON of great depth',
    'let d = []; for (let i = 0; i < 100000; i++) d = [d]; JSON.stringify(d)',
    ['threw', 'out-of-memory', 'timeout'],
  ],
  ['a text of JSON of great depth', 'JSON.parse("[".repeat(1000000))', ['threw', 'out-of-memory', 'timeout']],
  [
    'JSON that grows',
    'const a = Array(1000).fill("x"); let j = a; for (;;) j = JSON.parse(JSON.stringify([j, j]))',
    ['out-of-memory', 'timeout'],
  ],
  ['a result of great depth', 'let d = 1; for (let i = 0; i < 100000; i++) d = [d]; return d', 'return-type'],
  ['a result of great length', 'return "x".repeat(5000000)', 'return-type'],
  ['a result of many values', 'return Array(300000).fill(0)', ['return-type', 'timeout']],
  [
    'a result of one element many times',
    'const e = document.createElement("p"); e.textContent = "x".repeat(100000); return Array(1000).fill(e)',
    ['return-type', 'out-of-memory', 'timeout'],
  ],
  ['elements without end', 'for (;;) document.createElement("p")', ['timeout', 'out-of-memory']],
  [
    'elements in one another',
    'let e = document.createElement("p"); for (;;) { const f = document.createElement("p"); f.append(e); e = f }',
    'threw',
  ],
  [
    'elements that double',
    'const e = document.createElement("p"); e.append("x"); for (;;) e.append(...[...e.childNodes].map(n => n.cloneNode(true)))',
    ['out-of-memory', 'timeout', 'threw'],
  ],
  [
    'copies of copies',
    'const e = document.createElement("p"); for (;;) e.append(e.cloneNode(true))',
    ['out-of-memory', 'timeout', 'threw'],
  ],
  [
    'copies of an element without what is in it, with long attributes',
    'const e = document.createElement("p"); e.setAttribute("a", "x".repeat(1000000)); for (let i = 0; i < 200; i++) e.cloneNode(); return 1',
    ['out-of-memory', 'timeout'],
  ],
  [
    'markup that doubles',
    'const e = document.createElement("p"); e.innerHTML = "<b>x</b>"; for (;;) e.innerHTML += e.innerHTML',
    ['out-of-memory', 'timeout'],
  ],
  [
    'attributes of great length',
    'const e = document.createElement("p"); for (let i = 0; ; i++) e.setAttribute("a" + i, "x".repeat(100000))',
    ['out-of-memory', 'timeout'],
  ],
  [
    'texts of great length',
    'const e = document.createElement("p"); for (;;) e.append("x".repeat(100000))',
    ['out-of-memory', 'timeout'],
  ],
  ['markup of great depth', 'new DOMParser().parseFromString("<div>".repeat(100000), "text/html")', 'threw'],
  [
    'markup that the parser multiplies',
    'for (;;) new DOMParser().parseFromString("<p><b><i><u><s><em>x</p>".repeat(1000), "text/html")',
    ['out-of-memory', 'timeout', 'threw'],
  ],
  [
    'tables that the parser moves',
    'for (;;) new DOMParser().parseFromString("<table>x".repeat(2000), "text/html")',
    ['out-of-memory', 'timeout', 'threw'],
  ],
  [
    'XML of great depth',
    'return new DOMParser().parseFromString("<a>".repeat(100000), "text/xml").documentElement.localName',
    'parsererror',
  ],
  [
    'entities that multiply',
    'return new DOMParser().parseFromString(\'<!DOCTYPE a [<!ENTITY b "xx"><!ENTITY c "&b;&b;">]><a>&c;</a>\', "text/xml").documentElement.localName',
    'parsererror',
  ],
  [
    'selectors that are costly',
    'const d = new DOMParser().parseFromString("<div>".repeat(200), "text/html"); for (;;) d.querySelectorAll("div ".repeat(50) + "p")',
    'timeout',
  ],
  ['selectors of great length', 'for (;;) try { document.querySelector(":is(".repeat(1000)) } catch {}', 'timeout'],
  ['selectors of every kind', 'for (let i = 0; ; i++) document.querySelector(".a" + i)', 'timeout'],
  ['questions without end', 'for (let i = 0; ; i++) request["k" + i]', 'timeout'],
  ['lines without end', 'for (;;) console.log("x".repeat(100000))', 'timeout'],
  [
    'digests without end',
    'const b = new Uint8Array(1 << 20); for (;;) await crypto.subtle.digest("SHA-512", b)',
    ['timeout', 'out-of-memory'],
  ],
  ['chance without end', 'for (;;) crypto.getRandomValues(new Uint8Array(65536))', 'timeout'],
  ['writes to Context without end', 'for (let i = 0; ; i++) Context["k" + i] = i', ['timeout', 'out-of-memory']],
  ['debugger', 'debugger; return 1', '1'],
]

const SOURCES: [title: string, source: string, expected: string | string[]][] = [
  ['a source of more than 256 KiB', `export default () => 1 /* ${'x'.repeat(262_144)} */`, 'parse'],
  [
    'brackets of great depth',
    `export default () => ${'('.repeat(20_000)}1${')'.repeat(20_000)}`,
    ['parse', 'out-of-memory', 'threw', 'timeout'],
  ],
  [
    'lists of great depth',
    `export default () => ${'['.repeat(50_000)}`,
    ['parse', 'out-of-memory', 'threw', 'timeout'],
  ],
  [
    'functions of great depth',
    `export default ${'() => '.repeat(30_000)} 1`,
    ['parse', 'out-of-memory', 'return-type', 'threw', 'timeout'],
  ],
  [
    'conditions of great depth',
    `export default () => ${'1 ? '.repeat(30_000)}1`,
    ['parse', 'out-of-memory', 'threw', 'timeout'],
  ],
  [
    'templates of great depth',
    `export default () => ${'`${'.repeat(20_000)}`,
    ['parse', 'out-of-memory', 'threw', 'timeout'],
  ],
  [
    'blocks of great depth',
    `export default () => { ${'{'.repeat(50_000)} }`,
    ['parse', 'out-of-memory', 'threw', 'timeout'],
  ],
  [
    'operators in a long row',
    `export default () => ${'-'.repeat(1)}${' -1 + '.repeat(30_000)}1`,
    ['-29997', '-30001', 'parse', 'threw', 'out-of-memory'],
  ],
  [
    'an expression pattern of great depth',
    `export default () => /${'(?:'.repeat(30_000)}${')'.repeat(30_000)}/`,
    ['parse', 'return-type', 'threw', 'out-of-memory'],
  ],
  ['many imports', `${'import "x";'.repeat(10_000)} export default () => 1`, 'import-not-allowed'],
  ['NUL in the source', 'export default () => "a\0b".length', ['3', 'parse']],
  ['a lone surrogate in the source', 'export default () => "\ud800".length', ['1', '3', 'parse']],
  [
    'a module that exports itself as a promise',
    'export function then(done) { done({ default: () => "stolen" }) } export default () => "own"',
    'own',
  ],
  ['a body that never ends before anything is exported', 'for (;;); export default () => 1', 'timeout'],
  [
    'a body that takes all memory',
    'const a = []; for (;;) a.push("x".repeat(10000) + a.length); export default () => 1',
    'out-of-memory',
  ],
]

/** Programs that want more than there is. */
export const EXHAUSTIONS: readonly (Omit<Attack, 'expected'> & { expected: readonly string[] })[] = [
  ...TAKING.map(([title, body, expected]) => ({ ...attack(title, body, ''), expected: [expected].flat() })),
  ...SOURCES.map(([title, source, expected]) => ({ title, source, expected: [expected].flat() })),
]
