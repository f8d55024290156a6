import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { doing } from '../../../pipeline/compose/work.ts'
import { indexingAddresses } from '../../../pipeline/tree/address.ts'
import { cloning } from '../../../pipeline/tree/clone.ts'
import { parseDocument, parsingDocument } from '../../../pipeline/tree/document.ts'
import { editing } from '../../../pipeline/tree/edit/edit.ts'
import { MAX_NODES, TreeError } from '../../../pipeline/tree/limits.ts'
import type { ChildNode, DocumentKind, TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { asRequest } from '../../../pipeline/tree/precedence.ts'
import { compileSelector, selectingAll } from '../../../pipeline/tree/selector/selector.ts'
import { innerMarkup, writingMarkup } from '../../../pipeline/tree/serialize.ts'
import { ifShort, inTurns, type Steps } from '../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../support/steps.ts'
import { find, htmlSoup, nodesOf, runs, tidyHtml, xmlDocument } from './samples.ts'

/** Parsers are given texts in pieces of so many code units. */
const PIECE: Record<DocumentKind, number> = { html: 32 * 1024, xml: 8 * 1024 }

/** Text on which parsers are known to look ahead. */
const seams = fc
  .array(
    fc.constantFrom(
      ...'\r\n|\r|&amp;|&am|&#x41|&notin;|&not|😀|\ud83d|\0|<!--|-->|--!>|<![CDATA[|]]>|<|</|<!doctype html>|<!DOC|x| '.split(
        '|',
      ),
      ...'<svg>|</svg>|<p>|</b>|<b a="x\r\ny">|<a x=&lt y=\'&amp\'>|<pre>\r\n|<textarea>\n|</textarea|<table>'.split(
        '|',
      ),
      ...'<script>|<!--<script>|</script>|<plaintext>'.split('|'),
    ),
    { maxLength: 30 },
  )
  .map(parts => parts.join(''))

/** Everything of a document that its parser decides; offsets count from `start`. */
function facts({ root, clean, kind }: TreeDocument, start: number): unknown[] {
  const places = nodesOf(root).map(({ nodeName, sourceCodeLocation: place }: ChildNode) => [
    nodeName,
    ...[place, place?.startTag, place?.endTag].map(span => span && [span.startOffset - start, span.endOffset - start]),
  ])
  return [clean, innerMarkup(root, kind), places]
}

/** Does all steps, and says which part of the time of the processor the longest of them took. */
function longestShare(work: Steps<unknown>): number {
  let longest = 0
  let all = 0
  for (let done: boolean | undefined = false; !done; ) {
    const before = process.threadCpuUsage()
    done = work.next().done
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, user + system)
    all += user + system
  }
  return longest / all
}

describe('tree/steps', () => {
  const samples: [kind: DocumentKind, sources: fc.Arbitrary<string>][] = [
    ['html', fc.oneof(htmlSoup, tidyHtml, seams, seams)],
    ['xml', xmlDocument],
  ]
  for (const [kind, sources] of samples) {
    it(`HTTP-23 ${kind}: a document is the same wherever its text is divided for its parser`, () => {
      fc.assert(
        fc.property(sources, fc.nat(), (source, place) => {
          const text = source.replace(/^<\?xml[^>]*>/, '')
          const behind = (length: number) => {
            const document = parseDocument(kind, `<!--${'x'.repeat(length - 7)}-->${text}`)
            document.root.childNodes.shift()
            return facts(document, length)
          }
          expect(behind(PIECE[kind] - (place % (text.length + 1)))).to.deep.equal(behind(10))
        }),
        runs(300),
      )
    })
  }

  it('HTTP-23 what is longer than a piece is one token all the same', () => {
    const long = 'x😀\r\n'.repeat(60_000)
    const source = `<p title="${long}">${long}</p><!--${long}--><script>${long}</script>`
    const { root } = parseDocument('html', source)
    const read = long.replaceAll('\r', '')
    expect(innerMarkup(root, 'html')).to.equal(
      `<html><head></head><body><p title="${read}">${read}</p><!--${read}--><script>${read}</script></body></html>`,
    )
  })

  const shapes: [name: string, kind: DocumentKind, source: string][] = [
    ['elements', 'html', '<p>x'.repeat(100_000)],
    ['ignored tags', 'html', '</x>'.repeat(100_000)],
    ['ignored tags in a deep place', 'html', '<div>'.repeat(500) + '</x>'.repeat(100_000)],
    ['fostered elements', 'html', `<table>${'<b></b>x'.repeat(50_000)}`],
    ['formatting opened again', 'html', `<p><b class=1><b class=2><b class=3>${'<p>'.repeat(50_000)}`],
    ['a text', 'html', 'x'.repeat(400_000)],
    ['a comment', 'html', `<!--${'x'.repeat(400_000)}`],
    ['an attribute', 'html', `<p title="${'x'.repeat(400_000)}">`],
    ['XML elements', 'xml', `<r>${'<x/>'.repeat(100_000)}</r>`],
    ['an XML text', 'xml', `<r>${'x'.repeat(400_000)}</r>`],
  ]
  for (const [name, kind, source] of shapes) {
    it(`HTTP-181 reading can be left often: ${name}`, () => {
      // Half a millisecond each, roughly.
      expect(stepsOf(parsingDocument(kind, source))).to.be.at.least(source.length / PIECE.html)
    })
  }

  const filled = `<main>${'<p>x</p>'.repeat(40_000)}</main>`
  const sources = { html: `<!doctype html><body>${filled}`, xml: `<r>${filled}</r>` }
  const works: [name: string, kind: DocumentKind, least: number, work: (document: TreeDocument) => Steps<unknown>][] = [
    ['a search', 'html', 80, document => selectingAll(compileSelector('p'), document)],
    ['a costly search', 'html', 80, document => selectingAll(compileSelector('p:nth-last-of-type(3n)'), document)],
    ['addresses', 'html', 80, indexingAddresses],
    ['a copy', 'html', 160, document => cloning(document)],
    ['markup', 'html', 4, document => writingMarkup(find(document.root, 'main'), 'html')],
    ['XML markup', 'xml', 4, document => writingMarkup(document.root, 'xml')],
  ]
  for (const [name, kind, least, work] of works) {
    it(`HTTP-181 long work can be left often: ${name}`, () => {
      expect(stepsOf(work(parseDocument(kind, sources[kind])))).to.be.at.least(least)
    })
  }

  for (const kind of ['html', 'xml'] as const) {
    it(`HTTP-181 no step of a long edit takes a large part of it: ${kind}`, () => {
      let share = 1
      for (let tries = 0; tries < 3 && share >= 0.2; tries++) {
        const document = parseDocument(kind, sources[kind])
        const target = find(document.root, 'main')
        share = longestShare(editing(document, { op: 'replace', target, text: filled.replaceAll('x', 'y') }))
      }
      expect(share).to.be.below(0.2)
    })
  }

  describe('long work leaves the event loop to others', () => {
    const trace: string[] = []
    const work = function* (name: string, steps: number): Steps<string> {
      for (let i = 0; i < steps; i++) {
        trace.push(name)
        // Longer than anybody may work in one turn.
        for (const end = performance.now() + 6; performance.now() < end; );
        yield
      }
      return name
    }

    /** What went on, in the order of turns of the event loop; those in which nobody worked are left out. */
    async function turns(...works: readonly [name: string, steps: number, length: number][]): Promise<string> {
      return traced(works, ([name, steps, length]) => inTurns(work(name, steps), length))
    }

    async function traced<T extends readonly [name: string, ...unknown[]]>(
      works: readonly T[],
      run: (each: T) => Promise<string>,
    ): Promise<string> {
      trace.length = 0
      const count = () => {
        trace.push('.')
        pending = setImmediate(count)
      }
      let pending = setImmediate(count)
      const done = await Promise.all(works.map(run))
      clearImmediate(pending)
      expect(done).to.deep.equal(works.map(([name]) => name))
      return trace
        .join(' ')
        .replaceAll(/(?:\. )+/g, '. ')
        .replaceAll(/^[. ]+|[. ]+$/g, '')
    }

    it('two works no longer than one', async () => {
      expect(await turns(['a', 3, 1e5], ['b', 3, 1e5])).to.equal('a . b . a . b . a . b')
    })

    it('heavy ones wait until there is room, in order; light ones do not', async () => {
      const heavy = 10 * 1024 * 1024
      const order = await turns(['a', 2, heavy], ['b', 1, heavy], ['c', 1, 1e9], ['d', 1, heavy], ['e', 3, 1e5])
      expect(order).to.equal('a . b . e . a . e . e . c . d')
    })

    it('SEC-12 COMP-19 two pages that are put together no longer than one', async () => {
      const pages = ['a', 'b'].map(name => [name] as const)
      const [, ...rest] = (await traced(pages, ([name]) => doing(work(name, 8)))).split(' . ')
      expect(rest).to.include('a').and.include('b')
      for (const turn of rest) expect(turn).to.match(/^[ab]$/)
    })

    for (const [what, run] of [
      ['short texts', (each: Steps<string>) => inTurns(each, 100)],
      ['pages', doing],
    ] as const)
      it(`SEC-12 COMP-19 of many works that come at once a little each is done without a pause: ${what}`, async () => {
        const many = Array.from({ length: 10 }, (_, i) => [String(i)] as const)
        const [first = ''] = (await traced(many, ([name]) => run(work(name, 3)))).split(' . ')
        // All steps of the first two, at most, and one of each other.
        expect(first.split(' ').length).to.be.within(many.length, many.length + 4)
      })

    for (const [what, run] of [
      ['texts', (each: Steps<string>) => inTurns(each, 100)],
      ['pages', doing],
    ] as const)
      it(`SEC-12 COMP-19 what comes while others stand in line has no more without a pause than one of these: ${what}`, async () => {
        const works: [name: string, steps: number][] = [
          ['a', 8],
          ['b', 4],
        ]
        const order = await traced(works, async ([name, steps]) => {
          // The second comes when the first has had what nobody notices, and stands in line.
          if (name === 'b') await turnOfLoop()
          return run(work(name, steps))
        })
        expect(order.split(' . ').filter(turn => /b b|a.*b b/.test(turn))).to.deep.equal([])
      })

    it('SEC-12 each site has a turn, however many works of another one wait', async () => {
      const order = (length: number, ...works: readonly [name: string, site: string, steps: number][]) =>
        traced(works, ([name, site, steps]) => asRequest(() => inTurns(work(name, steps), length), site))
      expect(await order(1e5, ['a', 'one', 2], ['b', 'one', 2], ['c', 'one', 1], ['x', 'other', 3])).to.equal(
        'a . x . a . x . x . b . b . c',
      )
      const heavy = 20 * 1024 * 1024
      expect(
        await order(heavy, ['a', 'one', 1], ['b', 'one', 1], ['c', 'one', 1], ['x', 'other', 1], ['y', 'other', 1]),
      ).to.equal('a . b . x . c . y')
    })
  })

  it('short work is done at once, and errors are told', async () => {
    let done = false
    const short = function* (): Steps<void> {
      yield
      done = true
    }
    const pending = inTurns(short(), 100)
    expect(done).to.equal(true)
    await pending
    const failing = function* (): Steps<void> {
      yield
      throw new TreeError('too-deep', 'no')
    }
    for (const length of [100, 1e6]) {
      const error = await inTurns(failing(), length).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(TreeError)
    }
    // Their places are free again.
    expect(
      await Promise.all(
        [1, 2, 3].map(i =>
          inTurns(
            (function* (): Steps<number> {
              yield
              return i
            })(),
            1e6,
          ),
        ),
      ),
    ).to.deep.equal([1, 2, 3])
  })

  it('work is broken off when it is not short, and then takes back what it has prepared', () => {
    const trace: string[] = []
    const work = function* (milliseconds: number): Steps<string> {
      try {
        for (const end = performance.now() + milliseconds; performance.now() < end; ) yield
        return 'done'
      } finally {
        trace.push(`taken back after ${milliseconds}`)
      }
    }
    expect(ifShort(work(0))).to.deep.equal({ value: 'done' })
    expect(ifShort(work(60_000))).to.equal(undefined)
    expect(trace).to.deep.equal(['taken back after 0', 'taken back after 60000'])
  })

  it('HTTP-4 what is short is not broken off because others have the processor', () => {
    function* waiting(): Steps<string> {
      // Takes no time of the processor, as a thread that is not let on it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3)
      yield
      return 'done'
    }
    expect(ifShort(waiting(), 2)).to.deep.equal({ value: 'done' })
  })

  it('HTTP-181 a document has no more nodes than memory holds', function () {
    this.timeout(300_000)
    const refusal = (kind: DocumentKind, source: string) => {
      try {
        parseDocument(kind, source)
        return undefined
      } catch (error) {
        return error instanceof TreeError ? error.reason : error
      }
    }
    expect(refusal('html', '<p a b c d e f g h i>'.repeat(MAX_NODES / 10 + 1))).to.equal('too-many-nodes')
    expect(refusal('xml', `<r>${'<a b="" c="" d=""/>'.repeat(MAX_NODES / 4)}</r>`)).to.equal('too-many-nodes')
  })
})
