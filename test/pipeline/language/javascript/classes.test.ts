import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import type {
  MethodCall,
  SchemaClass,
  SchemaClasses,
  ScriptJob,
} from '../../../../pipeline/language/javascript/interface.ts'
import { ElementValue, type Value } from '../../../../pipeline/language/values.ts'
import type { ElementNode } from '../../../../pipeline/tree/nodes.ts'
import { NS, plain, plainValue, run, variant } from './programs.ts'

const NOTE = 'https://n.example/Note'
const LOUD = 'https://n.example/Loud'
const BAG = 'urn:x:Bag'

const of = (type: string, names: Record<string, boolean>, more: Partial<SchemaClass> = {}): SchemaClass => ({
  type,
  properties: Object.entries(names).map(([name, many]) => ({ name, many })),
  methods: [],
  ...more,
})

const CLASSES = new Map<string, SchemaClass>([
  [
    NOTE,
    of(
      NOTE,
      { a: false, many: true },
      {
        methods: [
          { name: 'double', static: true },
          { name: 'greet', static: false },
          { name: 'again', static: true },
          { name: 'fail', static: true },
          { name: 'endless', static: true },
          { name: 'own', static: true },
        ],
      },
    ),
  ],
  [LOUD, of(LOUD, { b: false }, { parent: NOTE })],
  [BAG, of(BAG, {}, { parent: `${NS}/Map` })],
  ['urn:x:Odd', of('urn:x:Odd', { constructor: false, valueOf: false, hasOwnProperty: false })],
  ['urn:x:Round', of('urn:x:Round', {}, { parent: 'urn:x:Round' })],
])

/** What methods are in the schemas of these tests, as modules. */
const METHODS: Record<string, string> = {
  double: 'export default n => n * 2',
  greet: 'export default function (name) { globalThis.left = 1; return this.a + name + typeof document }',
  again: `import Note from "${NOTE}" with { type: "${NS}/Schema" }; export default n => n === 0 ? "end" : Note.again(n - 1)`,
  fail: 'export default () => { throw new TypeError("of the method") }',
  endless: 'export default () => { for (;;); }',
  own: 'export default () => typeof globalThis.left',
}

function built(type: string, fields: ReadonlyMap<string, Value>): ElementValue {
  const node: ElementNode = {
    nodeName: 'div',
    tagName: 'div',
    namespaceURI: 'http://www.w3.org/1999/xhtml',
    attrs: [...fields].map(([name, value]) => ({
      name,
      value: JSON.stringify(plainValue(value), (_, v) => (typeof v === 'bigint' ? Number(v) : v)),
    })),
    childNodes: [],
    parentNode: null,
  }
  return new ElementValue(node, undefined, type)
}

const calls: MethodCall[] = []

const schemas: SchemaClasses = {
  find: type => CLASSES.get(type),
  fields: () => new Map([['a', 'stored']]),
  async build(type, fields) {
    if (fields.get('a') === 'bad') throw new Error('a is bad')
    return built(type, fields)
  },
  async call(call, allowance, inner) {
    calls.push(call)
    const self = call.receiver && (call.receiver.element ?? built(call.type, call.receiver.fields))
    const job: ScriptJob = {
      site: 'a.example',
      ns: NS,
      place: 'call',
      source: METHODS[call.name] ?? '',
      schemas,
      arguments: call.arguments,
    }
    const outcome = await inner({ ...job, ...(self && { this: self }) }, allowance)
    if ('value' in outcome) return outcome.value
    throw new Error('failure' in outcome ? outcome.failure.message : 'a response')
  },
}

const IMPORTS = `import Note from "${NOTE}" with { type: "${NS}/Schema" };
  import Odd from "urn:x:Odd" with { type: "${NS}/Schema" }; import Loud from '${LOUD}' with { type: '${NS}/Schema' }; import Bag from "${BAG}" with { "type": "${NS}/Schema", };`
const within = async (body: string, more = {}) => run(`${IMPORTS} export default ${body}`, { schemas, ...more })

describe('language: JavaScript: schemas as classes', () => {
  const cases: [rule: string, body: string, expected: unknown][] = [
    ['JS-9 names are the last part of the type', '() => [Note.name, Bag.name]', ['Note', 'Bag']],
    [
      'JS-9 parents are extended',
      '() => [new Loud() instanceof Note, Object.getPrototypeOf(Loud) === Note, new Note() instanceof Loud]',
      [true, true, false],
    ],
    ['JS-9 a chain that reaches Map extends it', '() => new Bag() instanceof Map', true],
    [
      'JS-9 declared keys set properties, others are kept',
      '() => { const n = new Loud({ a: 1, b: 2, c: 3 }); return [n.a, n.b, n.c, Object.keys(n)] }',
      [1n, 2n, 3n, ['c']],
    ],
    [
      'JS-9 a key that names the prototype of objects is kept like others',
      '() => { const n = new Note(JSON.parse(`{"a":1,"__proto__":{"b":2}}`)); return [n instanceof Note, n.a, n.b ?? 0, Object.keys(n)] }',
      [true, 1n, 0n, ['__proto__']],
    ],
    [
      'JS-9 properties may have names that all objects have',
      '() => { const n = new Odd({ constructor: 1, valueOf: 2, hasOwnProperty: 3 }); return [n.constructor, n.valueOf, n.hasOwnProperty, Object.keys(n)] }',
      [1n, 2n, 3n, []],
    ],
    [
      'JS-9 properties are accessors',
      '() => { const n = new Note(); n.a = 5; return [n.a, "a" in Note.prototype, Object.hasOwn(n, "a"), new Note().a] }',
      [5n, true, false, null],
    ],
    [
      'JS-10 what may be several is an array',
      '() => [new Note().many, new Note({ many: 1 }).many, new Note({ many: [1, 2] }).many]',
      [[], [1n], [1n, 2n]],
    ],
    [
      'JS-10 Map classes merge',
      '() => { const b = new Bag({ x: 1 }); b.merge(new Map([["y", 2]])).merge({ z: 3 }); return [...b.keys()].join() + b.get("z") }',
      'x,y,z3',
    ],
    ['JS-9 an instance is completed', '() => new Note({ a: 1 })', '<div a="1"></div>'],
    [
      'JS-9 also in a list',
      '() => [new Note({ a: 1 }), new Loud({ b: "x" })]',
      ['<div a="1"></div>', '<div b="&quot;x&quot;"></div>'],
    ],
    ['JS-9 an invalid one fails', '() => new Note({ a: "bad" })', 'threw'],
    ['JS-16 static methods', '() => Note.double(21)', 42n],
    ['JS-16 inherited static methods', '() => Loud.double(2)', 4n],
    [
      'JS-16 methods of instances have them as `this`, and no document',
      '() => new Note({ a: "A" }).greet("!")',
      'stored!undefined',
    ],
    [
      'JS-4 JS-16 a method has a realm of its own, and leaves that of its caller',
      '() => { globalThis.left = 2; const n = new Note({ a: "A" }); n.greet(1); return [Note.own(), globalThis.left, n.a] }',
      ['undefined', 2n, 'A'],
    ],
    ['JS-16 methods call methods', '() => Note.again(3)', 'end'],
    ['JS-16 but not without end', '() => Note.again(100)', 'threw'],
    [
      'JS-16 a failure is an error of the calling expression',
      '() => { try { Note.fail() } catch (e) { return e.message } }',
      'TypeError: of the method',
    ],
    ['JS-16 missing arguments are undefined', '() => Note.double()', 'threw'],
    ['JS-33 a method that never ends spends the time of its caller', '() => Note.endless()', 'timeout'],
    ['JS-34 calls without end', '() => { for (;;) Note.double(1) }', 'timeout'],
  ]
  for (const [rule, body, expected] of cases)
    it(rule, async () => {
      // What never ends is ended after a quarter of a second of its thread.
      const limits = expected === 'timeout' ? { steps: 100_000 } : undefined
      expect(variant(await within(body, limits && { limits }))).to.deep.equal(expected)
    })

  it('JS-8 a chain of parents that goes round ends', async () => {
    const source = `import R from "urn:x:Round" with { type: "${NS}/Schema" }; export default () => R.name`
    expect(plain(await run(source, { schemas }))).to.equal('Round')
  })

  it('JS-35 an instance is an object of its class, a computed property has it as `this`', async () => {
    const self = built(NOTE, new Map())
    const source = 'export default function () { return [this.constructor.name, this.a] }'
    expect(plain(await run(source, { schemas, this: self, place: 'computed' }))).to.deep.equal(['Note', 'stored'])
  })

  it('JS-9 an instance that comes back is the element that it was', async () => {
    const self = built(NOTE, new Map())
    const outcome = await run('export default function () { return this }', { schemas, this: self, place: 'call' })
    expect('value' in outcome && outcome.value === self).to.equal(true)
  })

  for (const use of ['return all', 'Note.double(all)', 'try { Note.double(all) } catch {}; return 1'])
    it(`JS-34 JS-36 more elements than a result may have never leave the thread: ${use}`, async () => {
      const heard: unknown[] = []
      const { emit } = Worker.prototype
      Worker.prototype.emit = function (this: Worker, event: string, ...more: unknown[]) {
        if (event === 'message') heard.push(...more)
        return Reflect.apply(emit, this, [event, ...more])
      }
      const body = `() => {
        const element = new DOMParser().parseFromString('', 'text/html').createElement('p')
        element.append('x'.repeat(1e6))
        const all = Array(20).fill(element)
        ${use}
      }`
      const calls: MethodCall[] = []
      const call: SchemaClasses['call'] = async each => {
        calls.push(each)
        return null
      }
      try {
        const outcome = await run(`${IMPORTS} export default ${body}`, { schemas: { ...schemas, call } })
        expect(plain(outcome)).to.equal('return-type: The result has more than 4194304 characters.')
      } finally {
        Worker.prototype.emit = emit
      }
      expect(calls).to.deep.equal([])
      expect(heard).to.not.be.empty
      expect(JSON.stringify(heard).length).to.be.below(100_000)
    })
})
