import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Question } from '../../../pipeline/access/admission.ts'
import { at, HIDDEN, outcome } from './asking.ts'
import type { Line } from './site.ts'

describe('element MOVE', () => {
  const move = (change: Partial<Extract<Question, { ask: 'move-element' }>> = {}): Question => ({
    ask: 'move-element',
    path: '/p',
    exists: true,
    source: at('#a'),
    anchor: at('#done'),
    placement: 'append',
    ...change,
  })
  const MOVE: Line = ['*', 'MOVE', 'Allow', '/p']
  const DELETE: Line = ['*', 'DELETE', 'Allow', '/p', '#list > li']
  const POST: Line = ['*', 'POST', 'Allow', '/p', '#done']

  it('AMV-1 three permits', () => {
    expect(outcome({ lines: [MOVE, DELETE, POST], question: move() })).to.equal('allow')
    for (const lines of [[DELETE, POST], [MOVE, POST], [MOVE, DELETE], [MOVE]]) {
      expect(outcome({ lines, question: move() })).to.equal('refuse')
    }
    expect(outcome({ lines: [['*', '*', 'Allow', '/p']], question: move() })).to.equal('allow')
  })
  it('AMV-1 before and after are keyed on the parent: one POST rule covers moves into and within a lane', () => {
    const within = move({ anchor: at('#b'), placement: 'before' })
    expect(outcome({ lines: [MOVE, DELETE, ['*', 'POST', 'Allow', '/p', 'ul']], question: within })).to.equal('allow')
    expect(outcome({ lines: [MOVE, DELETE, ['*', 'POST', 'Allow', '/p', 'li']], question: within })).to.equal('refuse')
    expect(outcome({ lines: [MOVE, DELETE, ['*', 'POST', 'Allow', '/p', 'ul']], question: move() })).to.equal('allow')
  })
  it('AMV-1 a Deny on either element refuses', () => {
    const all: Line = ['*', '*', 'Allow', '/p']
    expect(outcome({ lines: [all, ['*', 'DELETE', 'Deny', '/p', '#a']], question: move() })).to.equal('refuse')
    expect(outcome({ lines: [all, ['*', 'POST', 'Deny', '/p', '#done']], question: move() })).to.equal('refuse')
    expect(outcome({ lines: [all, ['*', 'MOVE', 'Deny', '/p', '#zzz']], question: move() })).to.equal('refuse')
  })
  it('AMV-4 a missing document', () => {
    const question = move({ exists: false, source: undefined, anchor: undefined })
    expect(outcome({ lines: [MOVE], question })).to.equal('not-found')
    expect(outcome({ lines: [MOVE, HIDDEN], question })).to.equal('refuse')
    expect(outcome({ lines: [DELETE, POST], question })).to.equal('refuse')
  })
  it('AMV-4 a missing source', () => {
    const question = move({ source: undefined, anchor: undefined })
    expect(outcome({ lines: [MOVE, DELETE], question })).to.equal('no-match')
    expect(outcome({ lines: [MOVE], question })).to.equal('refuse')
    expect(outcome({ lines: [MOVE, DELETE, HIDDEN], question })).to.equal('refuse')
    expect(outcome({ lines: [MOVE, DELETE, ['*', 'DELETE', 'Deny', '/p']], question })).to.equal('refuse')
  })
  for (const placement of ['append', 'prepend', 'before', 'after'] as const) {
    it(`AMV-4, HTTP-107 a missing anchor, ${placement}`, () => {
      const question = move({ anchor: undefined, placement })
      expect(outcome({ lines: [MOVE, DELETE, POST], question })).to.equal('no-match')
      expect(outcome({ lines: [MOVE, DELETE], question })).to.equal('refuse')
      expect(outcome({ lines: [MOVE, DELETE, POST, HIDDEN], question })).to.equal('refuse')
    })
  }
})

describe('whole-document MOVE', () => {
  const question: Question = { ask: 'move', path: '/p', destination: '/q', exists: true }
  it('AMV-3 MOVE on both paths and nothing else', () => {
    expect(outcome({ lines: [['*', 'MOVE', 'Allow', '/p|/q']], question })).to.equal('allow')
    expect(outcome({ lines: [['*', 'MOVE', 'Allow', '/p']], question })).to.equal('refuse')
    expect(outcome({ lines: [['*', 'MOVE', 'Allow', '/q']], question })).to.equal('refuse')
    expect(outcome({ lines: [['*', 'PUT|DELETE|POST', 'Allow', '/*']], question })).to.equal('refuse')
    expect(
      outcome({
        lines: [
          ['*', 'MOVE', 'Allow', '/*'],
          ['*', 'PUT|DELETE', 'Deny', '/*'],
        ],
        question,
      }),
    ).to.equal('allow')
  })
  it('AMV-3 a Deny on either refuses', () => {
    for (const path of ['/p', '/q']) {
      expect(
        outcome({
          lines: [
            ['*', 'MOVE', 'Allow', '/*'],
            ['*', 'MOVE', 'Deny', path],
          ],
          question,
        }),
      ).to.equal('refuse')
    }
  })
  it('HTTP-108 a missing source is told to readers', () => {
    const lines: Line[] = [['*', 'MOVE', 'Allow', '/*']]
    const missing: Question = { ...question, exists: false }
    expect(outcome({ lines, question: missing })).to.equal('not-found')
    expect(outcome({ lines: [...lines, HIDDEN], question: missing })).to.equal('refuse')
  })
})
