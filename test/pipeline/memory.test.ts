import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { syncStates, syncToken } from '../../dav/listings/sync-states.ts'
import { createAnswerCache } from '../../edge/answer-cache.ts'
import { bytesOfBodies, holder, limitBodies } from '../../edge/request-body.ts'
import { compiled } from '../../pipeline/compiled.ts'
import { Fault } from '../../pipeline/fault.ts'
import { KeptTogether } from '../../pipeline/kept-together.ts'
import { compileTemplate } from '../../pipeline/language/liquid/liquid.ts'
import { compile } from '../../pipeline/language/sessel/sessel.ts'
import { heapAsked, type KeptMemory, Memory, memoryLimit, USUAL_MEMORY } from '../../pipeline/memory.ts'
import { type DocumentCache, documentCache, documentCacheIn } from '../../pipeline/site/cache.ts'
import { StoredFile } from '../../pipeline/site/stored-file.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { watchRest } from '../../server/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'

const MIB = 1024 * 1024
const page = '<ul>'.padEnd(20_000, '<li class=a>x')

function held(path: string, bytes: Uint8Array = Buffer.from(page)): StoredFile {
  const resource: Resource = {
    path,
    kind: 'document',
    version: 1,
    digest: 'a'.repeat(64),
    size: bytes.length,
    type: 'text/html',
    created: 0,
    modified: 0,
    sameSecond: false,
    properties: '',
  }
  return new StoredFile(resource, { bytes }, undefined)
}

async function putPage({ site, mountUrl, user, password }: TestServer): Promise<void> {
  const authorization = `Basic ${btoa(`${user}:${password}`)}`
  const put = await fetch(`${mountUrl}/a.html`, { method: 'PUT', headers: { authorization }, body: page })
  expect([put.status, site.inMemory('/a.html')?.hasTree]).to.deep.equal([201, false])
}

describe('Memory of caches', () => {
  describe('is limited as a whole', () => {
    const cases: [what: string, asked: number | undefined, contained: number, limit: number, heap?: number][] = [
      ['with a small heap', undefined, 4096 * MIB, 100 * MIB, 200 * MIB],
      ['with a heap of which the program takes most', undefined, 4096 * MIB, 32 * MIB, 96 * MIB],
      ['with a heap that the program nearly fills', undefined, 4096 * MIB, 16 * MIB, 64 * MIB],
      ['by the settings, with a small heap', 150 * MIB, 0, 150 * MIB, 200 * MIB],
      ['without a container', undefined, 0, USUAL_MEMORY],
      ['in a large container', undefined, 4096 * MIB, USUAL_MEMORY],
      ['in a small container', undefined, 512 * MIB, 128 * MIB],
      ['in a tiny container', undefined, 32 * MIB, 16 * MIB],
      ['by the settings', 100 * MIB, 200 * MIB, 100 * MIB],
      ['by settings that ask for too little', 1, 0, 16 * MIB],
    ]
    for (const [what, asked, contained, limit, heap = 4096 * MIB] of cases)
      it(what, () => expect(memoryLimit(asked, contained, heap)).to.equal(limit))
  })

  const HEAPS: [options: string, megabytes: number][] = [
    ['', Number.POSITIVE_INFINITY],
    ['--max-semi-space-size=8', Number.POSITIVE_INFINITY],
    ['--max-old-space-size=192 --expose-gc', 192],
    ['--max_old_space_size=500 --max-old-space-size 300', 300],
  ]
  for (const [options, megabytes] of HEAPS)
    it(`knows the heap that ${options || 'nothing'} asks for`, () =>
      expect(heapAsked(options)).to.equal(megabytes * MIB))

  it('is shared out completely', () => {
    const memory = new Memory(160)
    const holders = [
      'documents',
      'trees',
      'answers',
      'mount-answers',
      'listings',
      'members',
      'states',
      'programs',
      'pages',
      'requests',
      'mount-requests',
    ] as const
    const shares = holders.map(holder => memory.share(holder))
    expect(shares.reduce((sum, share) => sum + share)).to.equal(160)
  })

  it('is given back but for a sixteenth', () => {
    const memory = new Memory(160)
    const left = new Map<string, number>()
    const kept = (name: string): KeptMemory => ({ bytes: 7, shrink: bytes => left.set(name, bytes) })
    memory.hold('documents', kept('documents'))
    memory.hold('trees', kept('trees'))
    expect([...memory.taken()]).to.deep.equal([
      ['documents', 7],
      ['trees', 7],
    ])
    memory.release()
    expect([...left]).to.deep.equal([
      ['documents', memory.share('documents') / 16],
      ['trees', memory.share('trees') / 16],
    ])
  })

  describe('of documents', () => {
    it('counts what is around their bytes, and lets the least used go', () => {
      const cache = documentCache({ budget: 100_000 })
      const paths = ['/1', '/2', '/3', '/4', '/5', '/6']
      for (const path of paths) cache.set('s', held(path))
      expect(cache.documents.bytes).to.be.within(20_000, 100_000)
      expect(paths.filter(path => cache.get('s', path))).to.deep.equal(['/3', '/4', '/5', '/6'])
      cache.documents.shrink(50_000)
      expect(paths.filter(path => cache.get('s', path))).to.deep.equal(['/5', '/6'])
      cache.clear('s')
      expect(cache.documents.bytes).to.equal(0)
    })

    it('SEC-12 counts what a file is called, its type and its languages', () => {
      const cache = documentCache({ budget: 100_000 })
      const texts = { type: 'x'.repeat(1000), language: 'x'.repeat(500) }
      for (const [i, more] of [{}, texts].entries())
        cache.set('s', new StoredFile({ ...held(`/${i}`).resource, ...more }, { bytes: Buffer.from(page) }, undefined))
      const both = cache.documents.bytes
      cache.delete('s', '/1')
      expect(both - 2 * cache.documents.bytes).to.equal(1500 - 'text/html'.length)
      cache.delete('s', '/0')
      expect(cache.documents.bytes).to.equal(0)
    })

    it('SEC-12 counts the types of its items, of which a page can have a quarter as many as bytes', () => {
      const cache = documentCache({ budget: 100 * MIB })
      const types = Array.from({ length: 1000 }, (_, i) => i.toString(36))
      cache.set(
        's',
        new StoredFile(held('/1').resource, { bytes: Buffer.from(page) }, { utf8: true, types, namespaces: [] }),
      )
      expect(cache.documents.bytes).to.be.within(page.length + 32 * 1000, page.length + 50 * 1000)
      cache.delete('s', '/1')
      expect(cache.documents.bytes).to.equal(0)
    })

    it('take their share of the memory of their process, commands included', () => {
      const memory = new Memory(17 * MIB)
      const cache = documentCacheIn(memory)
      for (let i = 0; i < 200; i++) cache.set('s', held(`/${i}`))
      expect(memory.taken().get('documents')).to.be.within(memory.share('documents') * 0.9, memory.share('documents'))
    })

    it('go by when they were used last, which costs a read the same however many there are', () => {
      const cache = documentCache({ budget: 100 * MIB })
      for (let i = 0; i < 100; i++) cache.set('s', held(`/${i}`))
      const { delete: remove } = Map.prototype
      // What a map deletes it walks over later.
      Map.prototype.delete = () => expect.fail('a read has moved a file in a map')
      try {
        for (const path of ['/0', '/1', '/0', '/2', '/0']) expect(cache.get('s', path)?.resource.path).to.equal(path)
      } finally {
        Map.prototype.delete = remove
      }
      cache.documents.shrink(cache.documents.bytes * 0.04)
      const left = Array.from({ length: 100 }, (_, i) => `/${i}`).filter(path => cache.get('s', path))
      expect(left).to.deep.equal(['/0', '/1', '/2', '/99'])
    })

    it('counts compressed copies when they are there', async () => {
      const cache = documentCache({ budget: 100_000 })
      const one = held('/1')
      cache.set('s', one)
      const before = cache.documents.bytes
      while (one.coding('gzip') === 'pending') await new Promise(resolve => setTimeout(resolve, 1))
      const copy = one.coding('gzip')
      expect(copy).to.be.instanceOf(Uint8Array)
      expect(cache.documents.bytes - before).to.equal((copy as Uint8Array).length)
      cache.delete('s', '/1')
      expect(cache.documents.bytes).to.equal(0)
    })
  })

  describe('of trees', () => {
    const opened = (cache: DocumentCache, count: number) =>
      Array.from({ length: count }, (_, i) => {
        const each = held(`/${i}`)
        cache.set('s', each)
        expect(each.tree.clean).to.equal(true)
        cache.weighTree(each)
        return each
      })
    const atOnce = (run: () => void) => run()
    const states = (all: readonly StoredFile[]) =>
      all.map(({ hasTree, treeBytes, packedBytes }) =>
        hasTree ? (treeBytes > packedBytes ? 'open' : 'packed') : 'gone',
      )
    /** Bytes of an open and of a packed tree. */
    const open = held('/')
    expect(open.tree.clean).to.equal(true)
    const weight = open.treeBytes
    open.packTree()
    const packedWeight = open.packedBytes

    it('is that of their nodes, not of their text', () => {
      const cache = documentCache({ budget: MIB, treeBudget: 8 * MIB })
      const [one, two] = opened(cache, 2)
      if (!one || !two) throw new Error('two were opened')
      cache.weighTree(two)
      expect(cache.trees.bytes).to.equal(one.treeBytes + two.treeBytes)
      expect(one.treeBytes).to.be.greaterThan(10 * page.length)
    })

    it('is less than a twelfth when they are packed', () => {
      expect(weight / packedWeight).to.be.greaterThan(12)
    })

    it('goes first to those that were used last; then the oldest go', () => {
      const cache = documentCache({ budget: MIB, treeBudget: 2 * weight + 2 * packedWeight, later: atOnce })
      const all = opened(cache, 4)
      expect(states(all)).to.deep.equal(['packed', 'packed', 'open', 'open'])
      cache.weighTree(all[0] as StoredFile)
      cache.trees.shrink(2 * packedWeight)
      expect(states(all)).to.deep.equal(['packed', 'gone', 'gone', 'packed'])
      expect(cache.trees.bytes).to.equal(2 * packedWeight)
      cache.trees.shrink(0)
      expect([cache.trees.bytes, ...states(all)]).to.deep.equal([0, 'gone', 'gone', 'gone', 'gone'])
    })

    it('stays for packed ones as far as a quarter suffices for the others', () => {
      const cache = documentCache({ budget: MIB, treeBudget: 4.5 * weight, later: atOnce })
      const all = opened(cache, 100)
      expect(cache.trees.bytes).to.be.within(4 * weight, 4.5 * weight)
      const kept = states(all)
      expect(kept.slice(0, 50)).to.deep.equal(Array(50).fill('gone'))
      expect(kept.slice(-10, -4)).to.deep.equal(Array(6).fill('packed'))
      expect(kept.slice(-2)).to.deep.equal(['open', 'open'])
    })

    it('stays under the limit, except for the one in use', () => {
      const cache = documentCache({ budget: MIB, treeBudget: 1, later: atOnce })
      expect(states(opened(cache, 3))).to.deep.equal(['gone', 'gone', 'open'])
    })

    it('is given back when nobody can be showing an edit in them', async () => {
      const cache = documentCache({ budget: MIB, treeBudget: weight + 2 * packedWeight })
      const all = opened(cache, 2)
      expect(states(all)).to.deep.equal(['open', 'open'])
      await new Promise(resolve => setImmediate(resolve))
      expect(states(all)).to.deep.equal(['packed', 'open'])
    })

    it('comes back as the same tree, and stays packed beside it', () => {
      const one = held('/1')
      const before = structuredClone(one.tree.root)
      one.packTree()
      expect(structuredClone(one.tree.root)).to.deep.equal(before)
      expect([one.hasTree, one.treeBytes]).to.deep.equal([true, weight + packedWeight])
      one.releaseTree()
      expect([one.hasTree, one.treeBytes]).to.deep.equal([false, 0])
    })

    it('of large documents is not packed', () => {
      const one = held('/1', Buffer.from('<p>x'.repeat(70_000)))
      expect(one.tree.clean).to.equal(true)
      one.packTree()
      expect(one.hasTree).to.equal(false)
    })
  })

  it('of several owners is theirs together: what was used longest ago goes first', () => {
    const gone: string[] = []
    const together = new KeptTogether<{ name: string }>(300)
    const things = ['a', 'b', 'c', 'd'].map(name => ({ name }))
    const use = (thing: { name: string }, bytes = 100) => together.use(thing, bytes, () => gone.push(thing.name))
    const [a, b, c, d] = things as [(typeof things)[0], (typeof things)[0], (typeof things)[0], (typeof things)[0]]
    for (const thing of [a, b, c]) use(thing)
    together.touch(a)
    use(d)
    expect([together.bytes, ...gone]).to.deep.equal([300, 'b'])
    use(d, 150)
    expect([together.bytes, ...gone]).to.deep.equal([250, 'b', 'c'])
    together.leave(a)
    together.leave(a)
    expect([together.bytes, ...gone]).to.deep.equal([150, 'b', 'c'])
    together.limit(100)
    expect([together.bytes, ...gone]).to.deep.equal([0, 'b', 'c', 'd'])
  })

  it('of programs counts what texts of all kinds were compiled to', () => {
    // Whatever was compiled in this process before: a full cache gives way.
    compiled.shrink(0)
    const program = compile('1 + 1 + 1000')
    expect(compile('1 + 1 + 1000')).to.equal(program)
    compileTemplate('{{ a }} and this', { kind: 'html', element: 'div' })
    expect(compiled.bytes).to.be.within(2_000, 5_000)
    compiled.shrink(0)
    expect(compiled.bytes).to.equal(0)
    expect(compile('1 + 1 + 1000')).not.to.equal(program)
  })

  it('of states of collections is given back; clients then read everything again', () => {
    const all = new KeptTogether<object>(10_000)
    const states = syncStates(all)
    const folder = (path: string) => ({ ...held(path).resource, kind: 'collection' as const, members: path })
    const members = Array.from({ length: 20 }, (_, i) => held(`/${i}`).resource)
    const token = (path: string) => syncToken(folder(path))
    for (const path of ['/a/', '/b/', '/b/', '/c/']) atOnce(states.keep('', folder(path), members))
    expect(all.bytes).to.be.within(5_000, 10_000)
    const elsewhere = (path: string) => atOnce(states.since('', { ...folder(path), members: 'x' }, token(path), []))
    expect(['/a/', '/b/', '/c/'].map(path => elsewhere(path) !== undefined)).to.deep.equal([false, true, true])
    all.shrink(0)
    expect([all.bytes, elsewhere('/c/')]).to.deep.equal([0, undefined])
  })

  it('of answers counts their fields', () => {
    const answers = createAnswerCache<undefined>({ bytes: 10_000, repeats: () => true })
    const reuse = { holds: () => true }
    for (let i = 0; i < 10; i++)
      answers.keep(`${i}`, { status: 200, headers: { ETag: '"a"' }, body: Buffer.alloc(1000), reuse }, undefined)
    expect(answers.memory.bytes).to.be.within(5000, 10_000)
    expect(answers.size).to.equal(3)
    answers.memory.shrink(0)
    expect([answers.memory.bytes, answers.size]).to.deep.equal([0, 0])
  })

  describe('that requests need for a while', () => {
    function caches(limit: number) {
      const memory = new Memory(limit)
      const now = { bodies: 0, trees: 0, answers: 0 }
      for (const holder of ['trees', 'answers'] as const)
        memory.hold(holder, {
          get bytes() {
            return now[holder]
          },
          shrink: bytes => void (now[holder] = Math.min(now[holder], bytes)),
        })
      memory.need('bodies', () => now.bodies)
      return { memory, now }
    }

    const CASES: [name: string, bodies: number, trees: number, answers: number, then: [number, number]][] = [
      ['leaves caches alone where there is room', 600, 300, 100, [300, 100]],
      ['has them give way where there is not', 1280, 500, 200, [100, 30]],
      ['and only those that take more than they may then', 1280, 500, 10, [100, 10]],
      ['leaves them what they have at rest', 1600, 500, 200, [31.25, 9.375]],
    ]
    for (const [name, bodies, trees, answers, then] of CASES)
      it(name, () => {
        const { memory, now } = caches(1600)
        Object.assign(now, { bodies, trees, answers })
        memory.makeRoom()
        expect([now.trees, now.answers]).to.deep.equal(then)
        expect(memory.taken().get('bodies')).to.equal(bodies)
      })

    it('is that of bodies until their answers have left', () => {
      let told = 0
      const before = bytesOfBodies()
      limitBodies(before + 1000, () => told++)
      try {
        const response = new EventEmitter()
        const hold = holder(response as ServerResponse)
        hold(600)
        hold(300)
        expect([bytesOfBodies() - before, told]).to.deep.equal([900, 2])
        expect(() => hold(101)).to.throw(Fault)
        expect([bytesOfBodies() - before, told]).to.deep.equal([900, 2])
        response.emit('close')
        expect(bytesOfBodies()).to.equal(before)
      } finally {
        limitBodies(256 * MIB)
      }
    })
  })

  it('is given back once after some time without requests', () => {
    const done: string[] = []
    let answered = 0
    let outside = 100 * MIB
    const rest = watchRest(
      () => answered,
      () => done.push('released'),
      {
        briefly: () => done.push('collected'),
        thoroughly: () => done.push('shrunk'),
        outside: () => outside,
        trim: () => done.push('trimmed'),
      },
    )
    const look = (times: number) => {
      for (let i = 0; i < times; i++) rest.look()
      return done.splice(0)
    }
    expect(look(5), 'after the start').to.deep.equal([])
    expect(look(10), 'once').to.deep.equal(['released', 'collected', 'trimmed'])
    answered++
    expect(look(5)).to.deep.equal([])
    answered++
    expect(look(5), 'with requests').to.deep.equal([])
    expect(look(1), 'without').to.deep.equal(['released', 'collected'])
    answered += 1000
    expect(look(7), 'after many').to.deep.equal(['released', 'shrunk', 'trimmed'])
    answered += 999
    expect(look(7), 'after some more').to.deep.equal(['released', 'collected', 'trimmed'])
    const work = (looks: number) => {
      for (let i = 0; i < looks; i++, answered++) rest.look()
      return done.splice(0)
    }
    outside += 32 * MIB
    expect(work(10), 'with little to give back').to.deep.equal([])
    outside++
    expect(work(1), 'with much').to.deep.equal(['trimmed'])
    outside += 33 * MIB
    expect(work(5), 'soon again').to.deep.equal([])
    expect(work(10), 'after a while').to.deep.equal(['trimmed'])
    rest.close()
  })

  it('shows in the metrics', async () => {
    const server = await startServer({ settings: { limits: { memory: '64MiB' } } })
    try {
      await putPage(server)
      const text = await (await fetch(`${server.url}/-platform/metrics`)).text()
      expect(text).to.contain(`scriptorium_memory_limit_bytes ${64 * MIB}`)
      const documents = Number(/scriptorium_memory_kept_bytes\{of="documents"\} (\d+)/.exec(text)?.[1])
      expect(documents).to.be.greaterThan(page.length)
      const pages = Number(/scriptorium_memory_kept_bytes\{of="pages"\} (\d+)/.exec(text)?.[1])
      expect(pages).to.be.within(1, 8 * MIB)
      for (const each of ['trees', 'answers', 'mount-answers', 'listings', 'members', 'states', 'programs', 'pages'])
        expect(text).to.match(new RegExp(`scriptorium_memory_kept_bytes\\{of="${each}"\\} \\d+`))
    } finally {
      await server.close()
    }
  })
})
