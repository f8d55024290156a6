import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { Allowance } from '../../../../pipeline/language/allowance.ts'
import {
  createJavaScript,
  type JavaScript,
  type SchemaClasses,
  type ScriptJob,
} from '../../../../pipeline/language/javascript/javascript.ts'
import { ElementValue, type Value } from '../../../../pipeline/language/values.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { isElement } from '../../../../pipeline/tree/nodes.ts'
import { find, html, javascript, NS, plain, run, variant } from './programs.ts'

const job = (source: string, more: Partial<ScriptJob> = {}): ScriptJob => ({
  site: 'a.example',
  ns: NS,
  place: 'method',
  source,
  ...more,
})
const ample = () => new Allowance({ steps: 100_000_000, time: 60_000 })

describe('language: JavaScript: workers and limits', () => {
  it('JS-32 recursion of 500 works, one without end is an error that can be caught', async () => {
    expect(
      plain(await run('export default () => { const f = n => n === 0 ? 0 : 1 + f(n - 1); return f(500) }')),
    ).to.equal(500n)
    const source = 'export default () => { const f = () => f(); try { f() } catch (e) { return "caught" } }'
    expect(plain(await run(source))).to.equal('caught')
  })

  it('JS-32 a millisecond of script time costs 400 steps, a call of the DOM one and one for each node', async () => {
    const busy = new Allowance({ steps: 100_000_000, time: 60_000 })
    const source = 'export default () => { for (let i = 0; i < 300_000; i++); }'
    const before = javascript().counters().time
    expect(await javascript().evaluate(job(source), busy)).to.have.property('value')
    const milliseconds = javascript().counters().time - before
    expect(milliseconds).to.be.above(1)
    expect(busy.stepsTaken / milliseconds).to.be.within(399, 801)
    const document = html('<p>x</p>'.repeat(2_000))
    const looking = 'export default () => { const n = () => document.querySelectorAll("i").length; n(); n(); n() }'
    const few = new Allowance({ steps: 5_000, time: 60_000 })
    expect(variant(await javascript().evaluate(job(looking, { document: { document } }), few))).to.equal('timeout')
  })

  it('JS-32 the time of a script is that of its thread: what it waits for is not its own', async () => {
    const hurried = createJavaScript({ workers: 1, limits: { time: 50 } })
    const schemas: SchemaClasses = {
      find: type => ({ type, properties: [], methods: [{ name: 'slow', static: true }] }),
      fields: () => new Map(),
      build: () => Promise.reject(new Error('Nothing is built.')),
      // Longer than a thread that does not end is left alone.
      call: () => {
        Date.now = () => now() - 60 * 24 * 3_600_000
        return new Promise(resolve => setTimeout(resolve, 600, 'at last'))
      },
    }
    const { now } = Date
    const warnings: Error[] = []
    const warn = (warning: Error) => void warnings.push(warning)
    process.on('warning', warn)
    const source = `import A from 'https://a.example/A' with { type: '${NS}/Schema' }; export default () => A.slow()`
    // The thread starts with the first.
    await hurried.evaluate(job('export default () => 1'), ample())
    const outcome = await hurried.evaluate(job(source, { schemas }), ample()).finally(() => {
      Date.now = now
    })
    await hurried.close()
    process.off('warning', warn)
    expect(plain(outcome)).to.equal('at last')
    expect(hurried.counters()).to.include({ kills: 0 })
    expect(warnings, 'a clock that is set back').to.deep.equal([])
  })

  it('JS-32 the time in which a worker starts is not that of the script that it starts for', async () => {
    const fresh = createJavaScript({ workers: 1 })
    // All of the time and more is over when the worker has started: it weighs itself then.
    const now = () => (fresh.counters().memory === 0 ? 0 : 10_005)
    const outcome = await fresh.evaluate(job('export default () => 1'), new Allowance({ time: 10_000 }, undefined, now))
    await fresh.close()
    expect(plain(outcome)).to.equal(1n)
  })

  it('JS-32 what is left of the request bounds a script, and stays spent', async () => {
    const allowance = new Allowance({ steps: 20_000, time: 60_000 })
    expect(variant(await javascript().evaluate(job('export default () => { for (;;); }'), allowance))).to.equal(
      'timeout',
    )
    expect(allowance.timeLeft).to.be.above(0)
    expect(allowance.stepsLeft).to.equal(0)
    expect(variant(await javascript().evaluate(job('export default () => 1'), allowance))).to.equal('timeout')
  })

  it('JS-32 a source of more than 256 KiB, and a result of more than 4 MiB', async () => {
    expect(variant(await run(`export default () => 1 //${'é'.repeat(131_100)}`))).to.equal('parse')
    expect(variant(await run('export default () => Array(5).fill("x".repeat(1024 * 1024))'))).to.equal('return-type')
    expect(
      variant(
        await run(
          'export default () => { const e = document.createElement("p"); e.append("x".repeat(1024 * 1024)); return Array(5).fill(e) }',
          { document: { document: html('') } },
        ),
      ),
    ).to.equal('return-type')
  })

  it('JS-4 evaluations of a batch come in order, each in a realm of its own', async () => {
    const source =
      'export default n => { globalThis.count = (globalThis.count ?? 0) + 1; if (n === 3) throw 1; return [n, globalThis.count] }'
    const jobs = Array.from({ length: 6 }, (_, i) => job(source, { place: 'read', arguments: [BigInt(i)] }))
    const outcomes = await javascript().batch([...jobs, job('export default (')], ample())
    expect(outcomes.map(variant)).to.deep.equal(
      [0n, 1n, 2n, 'threw', 4n, 5n].map(n => (n === 'threw' ? n : [n, 1n])).concat(['parse' as never]),
    )
  })

  it('JS-32 all programs of a batch together take what is left of the request', async () => {
    const own = createJavaScript({ workers: 1, limits: { time: 200 } })
    // Worth 300 ms.
    const allowance = new Allowance({ steps: 120_000, time: 60_000 })
    const outcomes = await own.batch(
      Array.from({ length: 12 }, () => job('export default () => { for (;;); }')),
      allowance,
    )
    expect(outcomes.map(variant)).to.deep.equal(Array(12).fill('timeout'))
    expect(own.counters().time).to.be.below(800)
    await own.close()
  })

  it('JS-34 elements that a script hands over cross once, in pieces that are read in short turns', async () => {
    const news: { question?: { trees?: unknown } }[] = []
    const note = (worker: Worker) => worker.on('message', each => news.push(each))
    process.on('worker', note)
    const own = createJavaScript({ workers: 1 })
    const lengths: number[] = []
    const schemas: SchemaClasses = {
      find: type => ({ type, properties: [], methods: [{ name: 'take', static: true }] }),
      fields: () => new Map(),
      build: () => Promise.reject(new Error('Nothing is built.')),
      call: async ({ arguments: [given] }) => {
        lengths.push(Array.isArray(given) ? given.length : 0)
        return given ?? null
      },
    }
    const source = `import A from 'https://a.example/A' with { type: '${NS}/Schema' }
      export default () => {
        const all = Array(300).fill(document.querySelector('p'))
        A.take(all)
        for (let i = 0; i < 10; i++) A.take([all[0]])
        return A.take([document.querySelector('i')])[0].outerHTML + all.length
      }`
    const document = { document: html('<p>a</p><i>b</i>') }
    expect(plain(await own.evaluate(job(source, { schemas, document }), ample()))).to.equal('<i>b</i>300')
    process.off('worker', note)
    await own.close()
    expect(lengths).to.deep.equal([300, ...Array(11).fill(1)])
    const sizes = news.flatMap(({ question }) => (question?.trees ? [JSON.stringify(question.trees).length] : []))
    expect(sizes.length).to.equal(12)
    expect(sizes.slice(1).reduce((a, b) => a + b)).to.be.below(sizes[0] ?? 0)
  })

  it('JS-32 a document that is copied for a script is paid for by its nodes, before a worker is asked', async () => {
    const own = createJavaScript({ workers: 1 })
    const document = { document: html('<p>x</p>'.repeat(1_000)) }
    const evaluate = (steps: number) =>
      own.evaluate(job('export default () => 1', { document }), new Allowance({ steps, time: 60_000 }))
    expect(variant(await evaluate(4_000))).to.equal('timeout')
    expect(own.counters()).to.include({ evaluations: 0, workers: 0 })
    expect(variant(await evaluate(1_000_000))).to.equal(1n)
    await own.close()
  })

  it('JS-35 elements of a view, also many beside each other, are its own nodes', async () => {
    const document = html(`<ul id="u">${'<li>a</li>'.repeat(100)}</ul><p>b</p>`)
    const scope = find(document, 'u')
    const list = [scope, ...scope.childNodes.filter(isElement)].map(node => new ElementValue(node))
    const outside = document.root.childNodes.find(isElement)
    const source = `[it.length, it[0] === document.documentElement, it.slice(1).every((each, i) => each === it[0].children[i]),
      out.contains(it[0])]`
    const context = new Map<string, Value>([
      ['it', list],
      ['out', outside ? new ElementValue(outside) : null],
    ])
    const seen = await run(source, { place: 'expression', document: { document, scope }, context })
    expect(plain(seen)).to.deep.equal([101n, true, true, false])
  })

  it('JS-34 sites that wait get the worker for those that have none, as soon as another has done with it', async () => {
    const own = createJavaScript({ workers: 1, limits: { time: 300 } })
    const done: string[] = []
    const ask = async (site: string, body: string) => {
      await own.evaluate(job(`export default () => { ${body} }`, { site }), ample())
      done.push(site)
    }
    const endless = 'for (;;);'
    await Promise.all([ask('a', endless), ask('a', endless), ask('b', ''), ask('c', ''), ask('d', '')])
    // On a busy machine another worker may have begun when the time of the first is over.
    expect(done.toSpliced(done.indexOf('a'), 1)).to.deep.equal(['b', 'c', 'd', 'a'])
    await own.close()
  })

  it('JS-34 several sites that never end leave the worker for those that have none to sites whose programs are short', async () => {
    const own = createJavaScript({ workers: 1, limits: { time: 300 } })
    const done: string[] = []
    const ask = async (site: string, body: string) => {
      await own.evaluate(job(`export default () => { ${body} }`, { site }), ample())
      done.push(site)
    }
    const endless = 'for (;;);'
    await Promise.all([ask('a', endless), ask('b', endless)])
    done.length = 0
    await Promise.all([ask('a', endless), ask('b', endless), ask('c', '')])
    expect(done).to.deep.equal(['c', 'a', 'b'])
    await own.close()
  })

  it('JS-38 versions of documents are kept apart, and nobody can change them', async () => {
    const pages = ['<b>1</b>', '<b>2</b>'].map(html)
    const source =
      'export default () => { try { document.querySelector("b").remove() } catch {} return document.querySelector("b").textContent }'
    for (let i = 0; i < 6; i++) {
      const document = pages[i % 2]
      if (!document) continue
      const view = { document, version: `v${i % 2}` }
      expect(plain(await run(source, { document: view }))).to.equal(`${(i % 2) + 1}`)
      // In `default` it is writable, on a copy.
      expect(
        variant(
          await run(`export default () => { document.querySelector("b").textContent = "x" }`, {
            document: view,
            place: 'default',
          }),
        ),
      ).to.equal(null)
    }
  })

  it('JS-24 a version is what it is, also where programs before did not look at it', async () => {
    const count = 'export default () => document.querySelectorAll("b").length'
    const before = [
      'export default () => { if (false) document; return 1 }',
      'import "node:fs"; export default () => document',
      'export default (',
      'throw document; export default () => 1',
      count,
    ]
    const own = createJavaScript({ workers: 1 })
    for (const [i, source] of before.entries()) {
      const document = { document: html('<b>1</b><b>2</b>'), version: `v${i}` }
      await own.evaluate(job(source, { document }), ample())
      expect(variant(await own.evaluate(job(count, { document }), ample())), source).to.equal(2n)
      const batch = await own.batch([job(source, { document }), job(count, { document })], ample())
      expect(variant(batch[1] ?? { failure: { language: '', variant: 'shape', message: '' } }), source).to.equal(2n)
    }
    await own.close()
  })

  it('JS-38 a version of one site is none of another, nor one of the other kind', async () => {
    const own = createJavaScript({ workers: 1 })
    const source = '<p xmlns="urn:x"><BR/></p>'
    const count = job('export default () => [document.querySelectorAll("BR").length, !!document.body].join(" ")')
    const seen: unknown[] = []
    for (const [site, kind, text] of [
      ['a.example', 'xml', source],
      ['a.example', 'html', source],
      ['b.example', 'html', '<p>no break'],
      ['a.example', 'xml', source],
    ] as const) {
      const document = { document: parseDocument(kind, text), version: 'v' }
      seen.push(variant(await own.evaluate({ ...count, site, document }, ample())))
    }
    expect(seen).to.deep.equal(['1 false', '1 true', '0 true', '1 false'])
    await own.close()
  })

  it('JS-38 trees may change as soon as a script was asked for', async () => {
    const document = html('<b>1</b>')
    const asked = run('export default () => document.querySelector("b").textContent', { document: { document } })
    document.root.childNodes.length = 0
    expect(plain(await asked)).to.equal('1')
  })

  it('JS-32 limits are settings', async () => {
    const small = createJavaScript({ workers: 1, limits: { time: 400, memory: 2 * 1024 * 1024 } })
    const source = (bytes: number) => `export default () => new Uint8Array(${bytes}).fill(1).length`
    expect(variant(await small.evaluate(job('export default () => { for (;;); }'), ample()))).to.equal('timeout')
    expect(variant(await small.evaluate(job(source(1_000_000)), ample()))).to.equal(1_000_000n)
    expect(variant(await small.evaluate(job(source(14_000_000)), ample()))).to.equal('out-of-memory')
    await small.close()
  })

  it('JS-32 a worker that cannot start is told of, and one that is ended for its script is not', async () => {
    const told: string[] = []
    const failed = (error: Error) => told.push(error.message)
    // No engine starts with a stack like that.
    const broken = createJavaScript({ workers: 1, limits: { stack: 1 }, failed })
    expect(variant(await broken.evaluate(job('export default () => 1'), ample()))).to.equal('timeout')
    expect(told).not.to.deep.equal([])
    await broken.close()
    told.length = 0
    const own = createJavaScript({ workers: 1, limits: { time: 300 }, failed })
    expect(variant(await own.evaluate(job('export default () => { for (;;); }'), ample()))).to.equal('timeout')
    expect(variant(await own.evaluate(job('export default () => 1'), ample()))).to.equal(1n)
    await own.close()
    expect(told).to.deep.equal([])
  })

  for (const [when, wait] of [
    ['and is known to be', true],
    ['just now', false],
  ] as const)
    it(`JS-32 a worker that has ended with nothing to do, ${when}, is no reason to fail a program`, async () => {
      const started: Worker[] = []
      const note = (worker: Worker) => started.push(worker)
      process.on('worker', note)
      const own = createJavaScript({ workers: 1 })
      for (const site of ['a.example', 'b.example', 'a.example']) {
        expect(variant(await own.evaluate(job('export default () => 1', { site }), ample()))).to.equal(1n)
        const ended = Promise.all(started.splice(0).map(worker => worker.terminate()))
        if (wait) await ended
      }
      const both = ['a.example', 'b.example'].map(site =>
        own.evaluate(job('export default () => 1', { site }), ample()),
      )
      expect((await Promise.all(both)).map(variant)).to.deep.equal([1n, 1n])
      expect(own.counters()).to.include({ evaluations: 5, failures: 0, kills: 0 })
      process.off('worker', note)
      await own.close()
    })

  it('JS-32 programs of several sites that are mixed at random are each answered for themselves, and run once, whichever workers they cost', async () => {
    const lines: string[] = []
    const own = createJavaScript({
      workers: 2,
      limits: { time: 300, memory: 8 * 1024 * 1024 },
      log: ({ text }) => lines.push(text),
    })
    // A fixed sequence, so that a failure can be looked at again.
    let seed = 7
    const chance = (most: number) => (seed = (seed * 48271) % 2147483647) % most
    const bodies = ['for (;;);', 'new Uint8Array(60_000_000).fill(1)', "throw new Error('no')", '', '', '', '']
    const all: Promise<void>[] = []
    for (let i = 0; i < 30; i++) {
      const body = bodies[chance(bodies.length)] ?? ''
      const site = `s${chance(3)}.example`
      const source = `export default () => { console.log('ran ${i}'); ${body}; return ${i} }`
      all.push(
        own.evaluate(job(source, { site, origin: site }), ample()).then(outcome => {
          const expected = ['timeout', 'out-of-memory', 'threw', BigInt(i)][Math.min(bodies.indexOf(body), 3)]
          expect(variant(outcome), `${i} ${body}`).to.be.oneOf([expected])
        }),
      )
      if (chance(4) === 0) await new Promise(resolve => setImmediate(resolve))
    }
    await Promise.all(all)
    expect(new Set(lines).size).to.equal(lines.length)
    expect(own.counters()).to.include({ evaluations: 30, busy: 0, queue: 0 })
    await own.close()
  }).timeout(120_000)

  it('counters tell what was done', async () => {
    const memory: number[] = []
    const own: JavaScript = createJavaScript({
      workers: 1,
      limits: { time: 60_000 },
      grown: () => memory.push(own.counters().memory),
    })
    expect(own.counters()).to.include({ evaluations: 0, workers: 0, busy: 0, queue: 0, memory: 0 })
    const both = Promise.all([
      own.evaluate(job('export default () => 1'), ample()),
      own.evaluate(job('export default () => 2'), ample()),
    ])
    expect(own.counters()).to.include({ busy: 1, queue: 1 })
    await both
    await own.evaluate(job('export default ('), ample())
    expect(own.counters()).to.include({ evaluations: 3, failures: 1, kills: 0, busy: 0, queue: 0 })
    expect(own.counters().time).to.be.above(0)
    // A heap of Node and one of QuickJS, of the worker that has run them.
    expect(Math.min(...memory)).to.be.above(4 * 1024 * 1024)
    const document = { document: html('<p>x</p>'.repeat(10_000)), version: 'large' }
    const looking = 'export default () => document.querySelector("p") ? 1 : 0'
    expect(variant(await own.evaluate(job(looking, { document }), ample()))).to.equal(1n)
    expect(memory.at(-1), 'with a large document').to.be.above((memory[0] ?? 0) + 500_000)
    await own.close()
    expect(own.counters().memory).to.equal(0)
  })

  it('after the end nothing runs, and what was running has failed', async () => {
    const own = createJavaScript({ workers: 1 })
    const running = own.evaluate(job('export default () => { for (;;); }'), ample())
    const waiting = own.evaluate(job('export default () => 1'), ample())
    await own.close()
    expect([variant(await running), variant(await waiting)]).to.deep.equal(['timeout', 'timeout'])
    expect(variant(await own.evaluate(job('export default () => 1'), ample()))).to.equal('timeout')
  })

  it('workers keep no process alive', async () => {
    const program = `import { createJavaScript } from ${JSON.stringify(new URL('../../../../pipeline/language/javascript/javascript.ts', import.meta.url).href)}
      import { Allowance } from ${JSON.stringify(new URL('../../../../pipeline/language/allowance.ts', import.meta.url).href)}
      const outcome = await createJavaScript().evaluate({ site: 'a', ns: 'x', place: 'method', source: 'export default () => "done"' }, new Allowance({ time: 60000 }))
      console.log(outcome.value)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
      timeout: 50_000,
    })
    expect(stdout.trim()).to.equal('done')
  })

  it('JS-21 values of every kind come back as they went', async () => {
    const given: Value = [null, true, 1n, 1.5, 'a', new Map<string, Value>([['k', [new Map()]]])]
    const outcome = await run('export default v => v', { arguments: [given] })
    expect('value' in outcome && outcome.value).to.deep.equal(given)
  })
})
