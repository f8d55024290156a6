import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createAnswerCache, ENTRY } from '../../../edge/answer-cache.ts'
import type { Answer } from '../../../pipeline/answer.ts'

const always = { holds: () => true }

function answer(body: Answer['body'], more: Partial<Answer> = {}): Answer {
  return { status: 200, headers: { ETag: '"t"', 'Content-Type': 'text/plain' }, body, reuse: always, ...more } as Answer
}

const BLOB = { size: 1, open: () => Promise.reject(new Error('not to be read')) }

describe('answers kept in memory', () => {
  const empty = (bytes = ENTRY + 100) =>
    createAnswerCache<string>({ bytes, repeats: field => field === 'etag', stands: facts => facts !== 'closed' })

  it('are found by their question alone, with heads for 200 and 304', () => {
    const kept = empty()
    kept.keep('q', answer('ü'), 'facts')
    const found = kept.find('q')
    expect(found).to.deep.include({ status: 200, tag: '"t"', facts: 'facts' })
    expect(found?.head).to.deep.equal(['ETag', '"t"', 'Content-Type', 'text/plain', 'Content-Length', '2'])
    expect(found?.unchanged).to.deep.equal(['ETag', '"t"'])
    expect(Buffer.concat(found?.body ?? []).toString()).to.equal('ü')
    expect(kept.find('other')).to.equal(undefined)
  })

  it('come in the pieces that they were made in', () => {
    const kept = empty()
    const pieces = ['a', 'bc'].map(text => Buffer.from(text))
    kept.keep('q', answer({ pieces, size: 3 }), '')
    expect(kept.find('q')).to.deep.include({ body: pieces, size: 3 })
  })

  it('give up what has changed, and do not come back', () => {
    const kept = empty()
    let holds = true
    kept.keep('q', answer('x', { reuse: { holds: () => holds } }), '')
    expect(kept.find('q')).not.to.equal(undefined)
    holds = false
    expect(kept.find('q')).to.equal(undefined)
    holds = true
    expect(kept.find('q')).to.equal(undefined)
    expect(kept.size).to.equal(0)
  })

  it('hold on to nothing that they were made of once they are given up, whoever has them at hand', () => {
    const kept = empty()
    const reuse = { holds: () => true }
    kept.keep('q', answer('x', { reuse }), '')
    const found = kept.find('q')
    expect(found?.reuse).to.equal(reuse)
    kept.keep('r', answer('y'.repeat(99)), '')
    expect(kept.find('q')).to.equal(undefined)
    expect(found?.reuse.holds()).to.equal(false)
    expect(found && kept.stillFits(found)).to.equal(false)
  })

  const LEFT_OUT: [name: string, answer: Answer, question?: string, facts?: string][] = [
    ['one that may not be reused', { status: 200, headers: {}, body: 'x' }],
    ['a redirect', answer('', { status: 301 })],
    ['a failure', answer('x', { status: 404 })],
    ['a blob', answer({ blob: BLOB, start: 0, end: 1 })],
    ['pieces with a blob', answer({ pieces: [Buffer.from('x'), { blob: BLOB, start: 0, end: 1 }], size: 2 })],
    ['a body of more than 4 MiB', answer(Buffer.alloc(4 * 1024 * 1024 + 1))],
    [
      'pieces of more than 4 MiB',
      answer({ pieces: [Buffer.alloc(4 * 1024 * 1024), Buffer.alloc(1)], size: 2 ** 22 + 1 }),
    ],
    ['an answer without content', { status: 204, headers: {}, reuse: always }],
    ['a long question', answer('x'), 'q'.repeat(4097)],
    ['facts that no longer stand', answer('x'), 'q', 'closed'],
  ]
  for (const [name, made, question = 'q', facts = ''] of LEFT_OUT)
    it(`leave out ${name}`, () => {
      const kept = empty(2 ** 30)
      kept.keep(question, made, facts)
      expect(kept.find(question)).to.equal(undefined)
    })

  describe('of which only the 304 is known', () => {
    const unchanged = answer(undefined, { status: 304, headers: { ETag: '"t"', Vary: 'x' } })

    it('have all its fields, and no others', () => {
      const kept = empty()
      kept.keep('q', unchanged, '', '"t"')
      expect(kept.find('q')).to.deep.include({ tag: '"t"', head: undefined, unchanged: ['ETag', '"t"', 'Vary', 'x'] })
    })

    it('are those to a request that named this tag alone, as it is', () => {
      for (const condition of [undefined, '*', 'W/"t"', '"t", "u"', '"t-br"']) {
        const kept = empty()
        kept.keep('q', unchanged, '', condition)
        expect(kept.find('q'), condition).to.equal(undefined)
      }
    })

    it('make room for the whole, and never take its place', () => {
      const kept = empty()
      kept.keep('q', unchanged, '', '"t"')
      kept.keep('q', answer('x'), '')
      expect(kept.find('q')).to.deep.include({ status: 200, size: 1 })
      kept.keep('q', unchanged, '', '"t"')
      expect(kept.find('q')).to.deep.include({ status: 200, size: 1 })
      expect(kept.size).to.equal(1)
    })
  })

  it('never hold a cookie, which belongs to one visitor', () => {
    const kept = empty()
    kept.keep('q', answer('x', { headers: { 'Set-Cookie': 'secret' } }), '')
    expect(kept.find('q')?.head?.join(' ')).not.to.include('secret')
  })

  it('let go of the oldest when they become too many bytes or too many', () => {
    const kept = empty(3 * ENTRY + 100)
    for (const question of ['a', 'b', 'a', 'c', 'd']) kept.keep(question, answer('x'.repeat(30)), '')
    expect(['a', 'b', 'c', 'd'].filter(question => kept.find(question))).to.deep.equal(['a', 'c', 'd'])
    kept.keep('large', answer('x'.repeat(3 * ENTRY + 101)), '')
    expect(kept.size).to.equal(0)
    const many = empty(4096 * (ENTRY + 1))
    for (let i = 0; i < 5000; i++) many.keep(String(i), answer('x'), '')
    expect(many.size).to.equal(4096)
    expect(many.find('903')).to.equal(undefined)
    expect(many.find('904')).not.to.equal(undefined)
  })

  const long = 'x'.repeat(4096)
  const HEAVY: [name: string, question: string, answer: Answer, least: number][] = [
    ['a long question', long, answer('x'), 2048],
    ['long fields', 'q', answer('x', { headers: { Link: long } }), 3 * 4096 - 2048],
    [
      'long fields of a 304',
      'q',
      answer(undefined, { status: 304, headers: { ETag: '"t"', Vary: long } }),
      3 * 4096 - 2048,
    ],
    ['much that it was made of', 'q', answer('x', { reuse: { ...always, bytes: 100_000 } }), 100_000],
  ]
  for (const [name, question, made, least] of HEAVY)
    it(`SEC-12 count ${name}, which whoever asks may bring about`, () => {
      const kept = createAnswerCache<string>({ bytes: 2 ** 30, repeats: () => true })
      kept.keep(question, made, '', '"t"')
      expect(kept.size).to.equal(1)
      expect(kept.memory.bytes).to.be.at.least(ENTRY + least)
      kept.memory.shrink(0)
      expect(kept.memory.bytes).to.equal(0)
    })
})
