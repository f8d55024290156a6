import { expect } from 'chai'
import { Allowance } from '../../../../pipeline/language/allowance.ts'
import { createJavaScript, type ScriptJob } from '../../../../pipeline/language/javascript/javascript.ts'
import { ElementValue, LazyDictionary, NamedValue, type Value } from '../../../../pipeline/language/values.ts'
import { type ElementNode, isElement, type ParentNode } from '../../../../pipeline/tree/nodes.ts'
import { find, html, lines, Noted, NS, plain, plainValue, run, value, variant } from './programs.ts'

class Other extends NamedValue {
  readonly typeName: string

  constructor(typeName: string) {
    super()
    this.typeName = typeName
  }

  text(): string {
    return `text of ${this.typeName}`
  }
}

function* elementsIn({ childNodes }: ParentNode): Iterable<ElementNode> {
  for (const node of childNodes) {
    if (!isElement(node)) continue
    yield node
    yield* elementsIn(node)
  }
}

describe('language: JavaScript: values', () => {
  const inwards: [title: string, given: Value, expected: string][] = [
    ['Null', null, 'null'],
    ['a Boolean', true, 'true'],
    ['an Integer', 42n, '42'],
    ['the largest safe Integer', 9007199254740991n, '9007199254740991'],
    ['a Float', 1.5, '1.5'],
    ['a String', 'a"\\\n\u0000\u0001\u2028é😀', JSON.stringify('a"\\\n\u0000\u0001\u2028é😀')],
    ['a List', [1n, ['a']], '[1,["a"]]'],
    [
      'a Dictionary',
      new Map<string, Value>([
        ['b', 1n],
        ['__proto__', 'own'],
        ['2', null],
      ]),
      '{"2":null,"b":1,"__proto__":"own"}',
    ],
    ['a point in time', new Other('Temporal.PlainDate'), '"text of Temporal.PlainDate"'],
    ['a Selector', new Other('Selector'), '"text of Selector"'],
  ]
  for (const [title, given, expected] of inwards)
    it(`JS-35 ${title} on its way in`, async () => {
      expect(await value('a => JSON.stringify(a)', { arguments: [given] })).to.equal(expected)
    })

  it('JS-35 what JavaScript cannot be given fails with `marshal`', async () => {
    for (const given of [
      9007199254740992n,
      -9007199254740992n,
      new Other('Document'),
      new Other('Blob'),
      new Other('Lambda'),
    ])
      expect(variant(await run('export default () => 1', { arguments: [given] }))).to.equal('marshal')
  })

  it('JS-35 an element is a node, and the same one whichever way it comes', async () => {
    const document = html('<p id="a"><b id="b">x</b></p>')
    const [a, b] = [find(document, 'a'), find(document, 'b')].map(
      node => new ElementValue(node, { path: '/', document }),
    )
    const body =
      '(x, y, z) => [x instanceof HTMLParagraphElement, x === y, x.firstChild === z, document.getElementById("b") === z]'
    const views = [{ document, scope: find(document, 'a') }, { document }, { document, version: 'one element' }]
    for (const view of views) {
      const given = await value(body, { document: view, arguments: [a ?? null, a ?? null, b ?? null] })
      expect(given).to.deep.equal([true, true, true, true])
    }
  })

  for (const [title, more] of [
    ['from elsewhere', {}],
    ['whose names are noted in the document of a script', { source: '1', place: 'expression' }],
  ] as const)
    it(`JS-32 JS-35 elements in each other are paid for each with all that is in it: ${title}`, async () => {
      const own = createJavaScript({ workers: 1 })
      const document = html(`${'<div><p>x</p>'.repeat(50)}${'<b>x</b>'.repeat(1_000)}`)
      const given = [...elementsIn(document.root)].filter(({ tagName }) => tagName === 'div')
      expect(given).to.have.length(50)
      const evaluate = (steps: number) => {
        const allowance = new Allowance({ steps, time: 60_000 })
        const values = given.map(node => new ElementValue(node, { path: '/', document }))
        const job: ScriptJob = {
          site: 'a.example',
          ns: NS,
          place: 'method',
          source: 'export default () => 1',
          arguments: [values],
        }
        return own.evaluate('source' in more ? { ...job, ...more, document: { document } } : job, allowance)
      }
      expect(variant(await evaluate(50_000))).to.equal('timeout')
      expect(own.counters()).to.include({ evaluations: 0, workers: 0 })
      await own.close()
    })

  it('JS-35 objects handed in are copies', async () => {
    const given = new Map<string, Value>([['a', 1n]])
    await run('export default a => { a.a = 2; a.b = 3 }', { arguments: [given] })
    expect([...given]).to.deep.equal([['a', 1n]])
  })

  const outwards: [expression: string, expected: unknown][] = [
    ['undefined', null],
    ['null', null],
    ['0', 0n],
    ['-0', 0n],
    ['9007199254740991', 9007199254740991n],
    ['9007199254740992', 9007199254740992],
    ['1e300', 1e300],
    ['1.5', 1.5],
    ['"a\\u0000b\\u0001c\\ud83d\\ude00"', 'a\u0000b\u0001c😀'],
    ['[1, [2], "x"]', [1n, [2n], 'x']],
    ['[1,,3]', [1n, null, 3n]],
    ['new Set([1, 2])', [1n, 2n]],
    ['new Map([["a", 1], ["b", new Map()]])', { a: 1n, b: {} }],
    ['({ a: 1, b: undefined, [Symbol()]: 2 })', { a: 1n, b: null }],
    ['Object.create({ inherited: 1 })', {}],
    ['new Date()', {}],
    ['new (class { a = 1; get b() { return 2 } })()', { a: 1n }],
    ['({ toJSON() { return "never asked" }, a: 1 }).a', 1n],
    ['({ __proto__: null, x: 1 })', { x: 1n }],
    ['document.createElement("i")', '<i></i>'],
    ['[document.createElement("i"), "x"]', ['<i></i>', 'x']],
    ['new DOMParser().parseFromString("<p>1<p>2", "text/html").querySelectorAll("p")', ['<p>1</p>', '<p>2</p>']],
    ['() => 1', 'return-type'],
    ['Symbol("a")', 'return-type'],
    ['NaN', 'return-type'],
    ['1 / 0', 'return-type'],
    ['10n', 'return-type'],
    ['[() => 1]', 'return-type'],
    ['(a => (a.push(a), a))([])', 'return-type'],
    ['document.createTextNode("x")', 'return-type'],
    ['document.createComment("x")', 'return-type'],
    ['document.createDocumentFragment()', 'return-type'],
    ['document', 'return-type'],
    ['Array(65).fill().reduce(a => [a], 1)', 'return-type'],
    ['"x".repeat(4 * 1024 * 1024)', 'return-type'],
    ['new Map([[{}, 1]])', 'return-type'],
  ]
  for (const [expression, expected] of outwards)
    it(`JS-36 ${expression} on its way out`, async () => {
      const document = html('<p>')
      expect(variant(await run(`export default () => (${expression})`, { document: { document } }))).to.deep.equal(
        expected,
      )
    })

  it('JS-36 nesting of 64 levels is still a value', async () => {
    const nested = await value('() => Array(63).fill().reduce(a => [a], 1)')
    expect(JSON.stringify(nested, (_, v) => (typeof v === 'bigint' ? Number(v) : v))).to.equal(
      `${'['.repeat(63)}1${']'.repeat(63)}`,
    )
  })

  it('JS-15 elements of the tree come back as they are', async () => {
    const document = html('<p id="a">x</p>')
    const given = new ElementValue(find(document, 'a'), { path: '/', document })
    const outcome = await run('export default function () { return this }', {
      this: given,
      document: { document, scope: given.node },
    })
    expect('value' in outcome && outcome.value === given).to.equal(true)
  })

  it('JS-14 assignments to Context are told, and nothing else', async () => {
    const context = new Map<string, Value>([
      ['a', 1n],
      ['b', [1n]],
      ['c', 'same'],
    ])
    const outcome = await run(
      'export default () => { Context.a = 2; Context.b.push(2); Context.c = "same"; Context.d = { e: null }; delete Context.b }',
      { context },
    )
    const written = 'written' in outcome ? plainValue(new Map(outcome.written)) : outcome
    expect(written).to.deep.equal({ a: 2n, d: { e: null } })
    expect(variant(await run('export default () => { Context.f = () => 1 }', { context }))).to.equal('return-type')
  })

  it('JS-14 Context names are no globals in a module; request is one', async () => {
    const request = new Noted({ method: 'GET' })
    const body = '() => [typeof a, Context.a, Context.request === request, request.method]'
    expect(await value(body, { context: new Map([['a', 1n]]), request })).to.deep.equal(['undefined', 1n, true, 'GET'])
  })

  it('JS-19 without them there is neither Context nor request nor document', async () => {
    expect(await value('() => [typeof Context, typeof request, typeof document]')).to.deep.equal(
      Array(3).fill('undefined'),
    )
  })

  const reads: [expression: string, read: string[]][] = [
    ['1', []],
    ['request', []],
    ['request.method', []],
    ['request.headers.accept', ['headers']],
    ['typeof request.headers', ['headers']],
    ['request.auth', ['auth']],
    ['"auth" in request', ['auth']],
    ['Object.keys(request).length', ['*', 'method', 'headers', 'auth']],
    ['JSON.stringify(request).length > 2', ['*', 'method', 'headers', 'auth']],
    ['Context.request.headers', ['headers']],
    ['({ ...request }).method', ['*', 'method', 'headers', 'auth']],
  ]
  for (const [expression, read] of reads)
    it(`JS-28 ${expression} reads ${read.join(', ') || 'nothing'}`, async () => {
      const request = new Noted({ method: 'GET', headers: new Map([['accept', '*/*']]), auth: null })
      const source = expression === 'request' ? 'request && 1' : expression
      const outcome = await run(source, { place: 'expression', context: new Map(), request, plainMembers: ['method'] })
      expect(outcome).to.have.property('value')
      // That JSON asks for `toJSON` makes no difference to anybody.
      const found = request.read.slice(1).filter(name => name !== 'toJSON')
      expect(new Set(found)).to.deep.equal(new Set(read.filter(name => name !== 'method')))
    })

  it('JS-28 request is read-only', async () => {
    const request = new Noted({ method: 'GET' })
    const body =
      '() => { request.method = "PUT"; request.x = 1; delete request.method; return [request.method, typeof request.x] }'
    expect(await value(body, { request })).to.deep.equal(['GET', 'undefined'])
  })

  it('JS-21 lookup in headers is that of the dictionary handed in', async () => {
    class Headers extends LazyDictionary {
      get(key: string): Value | undefined {
        return key.toLowerCase() === 'x-desk' ? 'key' : undefined
      }
      keys(): Iterable<string> {
        return ['x-desk']
      }
    }
    const ctx = new Map<string, Value>([['request', new Map<string, Value>([['headers', new Headers()]])]])
    const body =
      'ctx => { const h = ctx.request.headers; return [h["X-Desk"], h["x-desk"], Object.keys(h), h.missing === undefined] }'
    expect(await value(body, { place: 'property', arguments: [ctx] })).to.deep.equal(['key', 'key', ['x-desk'], true])
  })

  it('JS-22 assignments to ctx and its members change nothing, and are no error', async () => {
    const ctx = () => new Map<string, Value>([['request', new Map<string, Value>([['method', 'GET']])]])
    const body =
      'ctx => { ctx.x = 1; ctx.request.method = "PUT"; delete ctx.request; return ctx.request.method + typeof ctx.x }'
    expect(await value(body, { place: 'property', arguments: [ctx()] })).to.equal('GETundefined')
    expect(await value(body, { place: 'action', arguments: [ctx()] })).to.equal(null)
  })

  it('JS-22 the truth value of `when` is that of JavaScript', async () => {
    for (const [body, truthy] of [
      ['[]', true],
      ['""', false],
      ['NaN', false],
      ['() => 1', true],
      ['Promise.resolve(0)', false],
    ] as const) {
      const outcome = await run(`export default () => (${body})`, { place: 'when' })
      expect('truthy' in outcome && outcome.truthy, body).to.equal(truthy)
    }
  })

  it('JS-22 what an action returns is discarded, also when it looks like a response', async () => {
    const body = `() => ({ itemtype: "https://platform.example/ns/HTTPResponse", status: 200 })`
    expect(await value(body, { place: 'action' })).to.equal(null)
    expect(await value('() => Symbol()', { place: 'action' })).to.equal(null)
  })

  const thrown: [title: string, object: string, expected: unknown][] = [
    [
      'by schema_url',
      '{ schema_url: "https://platform.example/ns/HTTPResponse", status: 418, body: "b", headers: { "X-A": 1 } }',
      { status: 418, body: 'b', headers: { 'X-A': '1' }, fields: [['X-A', '1']] },
    ],
    [
      'by itemtype, with a message',
      '{ itemtype: "https://platform.example/ns/HTTPResponse", message: "m" }',
      { status: 500, body: 'm', headers: {}, fields: [] },
    ],
    [
      'body before message',
      '{ itemtype: "https://platform.example/ns/HTTPResponse", body: "b", message: "m", status: 404 }',
      { status: 404, body: 'b', headers: {}, fields: [] },
    ],
    [
      'a status that is none',
      '{ itemtype: "https://platform.example/ns/HTTPResponse", status: "x" }',
      { status: 500, body: '', headers: {}, fields: [] },
    ],
    ['a status alone', '{ status: 409 }', 'threw'],
    ['inherited', 'Object.create({ itemtype: "https://platform.example/ns/HTTPResponse" })', 'threw'],
    ['another type', '{ itemtype: "https://platform.example/ns/Other" }', 'threw'],
    ['a text', '"https://platform.example/ns/HTTPResponse"', 'threw'],
    ['an error', 'new Error("x")', 'threw'],
    ['a class that is not there', 'new HTTPResponse()', 'threw'],
  ]
  for (const [title, object, expected] of thrown)
    it(`JS-45 a thrown response: ${title}`, async () => {
      for (const place of ['action', 'write', 'validate'] as const) {
        expect(
          variant(
            await run(`export default () => { throw ${object.startsWith('{') ? `(${object})` : object} }`, { place }),
          ),
        ).to.deep.equal(expected)
        expect(
          variant(
            await run(`export default async () => { throw ${object.startsWith('{') ? `(${object})` : object} }`, {
              place,
            }),
          ),
        ).to.deep.equal(expected)
      }
      for (const place of ['method', 'default', 'read', 'when', 'computed', 'expression', 'property'] as const) {
        const source =
          place === 'expression' ? `(() => { throw (${object}) })()` : `export default () => { throw (${object}) }`
        expect(variant(await run(source, { place, context: new Map() }))).to.equal('threw')
      }
    })

  it('JS-43 a failure says what was thrown, in 500 characters, and where nothing', async () => {
    const outcome = await run('export default () => { throw new TypeError("x".repeat(1000)) }')
    expect(plain(outcome)).to.match(/^threw: TypeError: x{400,}$/)
    expect('failure' in outcome && outcome.failure.message.length).to.equal(500)
    expect('failure' in outcome && outcome.failure.language).to.equal('https://platform.example/ns/JavaScript/Module')
    expect(plain(await run('export default () => null.x'))).to.match(/^threw: TypeError: /)
    expect(plain(await run('export default () => { throw 5 }'))).to.equal('threw: 5')
  })

  it('JS-30 console writes lines of 1 KB, at most 100, with site and document', async () => {
    lines.length = 0
    const source =
      'export default () => { for (let i = 0; i < 200; i++) console.warn("x".repeat(2000), i); return typeof console.log("a") }'
    expect(plain(await run(source, { origin: '/page.html' }))).to.equal('undefined')
    expect(lines).to.have.length(100)
    expect(lines[0]).to.deep.equal({ site: 'a.example', origin: '/page.html', level: 'warn', text: 'x'.repeat(1024) })
  })

  for (const change of [
    'String.prototype.slice = () => long',
    'Array.prototype.map = () => ({ join: () => ({ slice: () => long }) })',
    'Array.prototype.join = () => ({ slice: () => long })',
    'String.prototype.slice = () => ({ toString: () => long })',
  ])
    it(`JS-30 JS-34 console writes no longer lines after ${change}`, async () => {
      lines.length = 0
      const source = `export default () => { const long = "y".repeat(2000); ${change}; for (let i = 0; i < 200; i++) console.log("a") }`
      expect(plain(await run(source))).to.equal(null)
      expect(lines.map(({ text }) => text)).to.deep.equal(new Array(100).fill('y'.repeat(1024)))
    })

  it('JS-30 texts, bytes, digests and chance', async () => {
    expect(await value('() => new TextDecoder().decode(new TextEncoder().encode("aé😀\\ud800"))')).to.equal(
      'aé😀\ufffd',
    )
    expect(
      await value(
        'async () => [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")))].map(b => b.toString(16).padStart(2, "0")).join("")',
      ),
    ).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(await value('() => crypto.getRandomValues(new Uint8Array(8)).length')).to.equal(8n)
    expect(await value('() => crypto.randomUUID()')).to.match(/^[0-9a-f-]{36}$/)
  })

  it('JS-31 nothing else is there', async () => {
    const absent =
      'fetch process require module exports setTimeout setInterval setImmediate queueMicrotask HTTPResponse XMLHttpRequest WebSocket EventSource Worker WebAssembly Buffer Deno Bun window self navigator location localStorage performance Atomics SharedArrayBuffer host global std os print scriptArgs'
    const body = `() => "${absent}".split(" ").filter(name => name in globalThis || typeof eval("typeof " + name) !== "string")`
    expect(await value(body)).to.deep.equal([])
  })
})
