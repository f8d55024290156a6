import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Question } from '../../../pipeline/access/admission.ts'
import type { Placement } from '../../../pipeline/tree/edit/edit.ts'
import { at, HIDDEN, outcome } from './asking.ts'
import { html, key, type Line, user } from './site.ts'

describe('selector writes and absence', () => {
  const writes = [
    ['put-element', 'PUT'],
    ['post-element', 'POST'],
    ['delete-element', 'DELETE'],
  ] as const
  for (const [ask, method] of writes) {
    const missing: Question = { ask, path: '/p', exists: true, target: undefined }
    const nowhere: Question = { ask, path: '/p', exists: false, target: undefined }
    const grants: [name: string, line: Line][] = [
      ['a resource-level grant', ['*', method, 'Allow', '/p']],
      ['a grant for some element', ['*', method, 'Allow', '/p', '#zzz']],
      ['a wildcard', ['*', '*', 'Allow', '/p', 'li']],
    ]
    for (const [name, line] of grants) {
      it(`ABS-3 ${method} without match: 416 for a reader with ${name}`, () => {
        expect(outcome({ question: missing, lines: [line] })).to.equal('no-match')
      })
      it(`ABS-2 ${method} on a missing document: 404 for a reader with ${name}`, () => {
        expect(outcome({ question: nowhere, lines: [line] })).to.equal('not-found')
      })
      it(`ABS-2, ABS-3 (a) ${method} by ${name}: refused to who cannot read`, () => {
        const reading: Line = line[1] === '*' ? ['users', 'GET', 'Deny', '/p'] : HIDDEN
        for (const question of [missing, nowhere]) {
          expect(outcome({ question, lines: [line, reading], principal: user('u') })).to.equal('refuse')
        }
      })
      it(`ABS-3 (b) ${method} by ${name}: refused where a resource-level Deny decides`, () => {
        for (const question of [missing, nowhere]) {
          expect(outcome({ question, lines: [line, ['*', method, 'Deny', '/p']] })).to.equal('refuse')
        }
      })
    }
    it(`ABS-3 (b) ${method}: a Deny for elements does not refuse what is not there`, () => {
      const lines: Line[] = [
        ['*', method, 'Allow', '/p'],
        ['*', method, 'Deny', '/p', 'li'],
      ]
      expect(outcome({ question: missing, lines })).to.equal('no-match')
    })
    it(`ABS-3 (c) ${method}: refused without any Allow for the requester`, () => {
      expect(outcome({ question: missing })).to.equal('refuse')
      expect(outcome({ question: nowhere })).to.equal('refuse')
      expect(outcome({ question: missing, lines: [['users', method, 'Allow', '/p']] })).to.equal('refuse')
      expect(outcome({ question: missing, lines: [['*', method, 'Allow', '/q']] })).to.equal('refuse')
      const other = method === 'PUT' ? 'DELETE' : 'PUT'
      expect(outcome({ question: missing, lines: [['*', other, 'Allow', '/p']] })).to.equal('refuse')
    })
    it(`ABS-3 (c) ${method}: a transient element on the page is as good as an Allow`, () => {
      const question = { ...missing, transient: true } as Question
      expect(outcome({ question })).to.equal('no-match')
      expect(outcome({ question, lines: [HIDDEN] })).to.equal('refuse')
      expect(outcome({ question, lines: [['*', method, 'Deny', '/p']] })).to.equal('refuse')
    })
    it(`ABS-5 ${method}: the write's own question counts when the target exists`, () => {
      const question: Question = { ask, path: '/p', exists: true, target: at('#a') }
      expect(outcome({ question, lines: [HIDDEN, ['*', method, 'Allow', '/p', '#a']] })).to.equal('allow')
      expect(outcome({ question, lines: [['*', method, 'Allow', '/p', '#b']] })).to.equal('refuse')
    })
    it(`DEC-8 ${method} on session content needs no rule`, () => {
      const question: Question = { ask, path: '/p', exists: true, target: at('#a'), session: true }
      expect(outcome({ question })).to.equal('allow')
      expect(outcome({ question, defaultGet: 'deny' })).to.equal('refuse')
      expect(outcome({ question, lines: [['*', method, 'Deny', '/p', '#a']] })).to.equal('refuse')
    })
  }

  for (const placement of ['before', 'after'] as const) {
    it(`ABS-4, HTTP-95 POST ${placement} with a missing anchor is refused, whatever is granted`, () => {
      const question: Question = { ask: 'post-element', path: '/p', exists: true, target: undefined, placement }
      expect(outcome({ question, lines: [['*', '*', 'Allow', '/p']] })).to.equal('refuse')
      expect(outcome({ question: { ...question, transient: true }, lines: [['*', '*', 'Allow', '/p']] })).to.equal(
        'refuse',
      )
      const nowhere = { ...question, exists: false }
      expect(outcome({ question: nowhere, lines: [['*', '*', 'Allow', '/p']] })).to.equal('not-found')
    })
  }
})

describe('session-scoped elements', () => {
  const page = html('<div id="basket"><ul><li id="pear">pear</li></ul></div><p id="other"></p>')
  const ask = (what: 'put-element' | 'post-element' | 'delete-element', selector: string, placement?: Placement) => {
    const question = {
      ask: what,
      path: '/p',
      exists: true,
      target: key(page, selector),
      session: true,
      transient: true,
    }
    return { ...question, ...(placement && { placement }) } as Question
  }

  it('KEY-6 the key is the element that the selector matched: the marked one or one inside of it', () => {
    const deny: Line[] = [['*', 'PUT', 'Deny', '/p', '#basket']]
    expect(outcome({ question: ask('put-element', '#basket'), lines: deny })).to.equal('refuse')
    expect(outcome({ question: ask('put-element', '#pear'), lines: deny })).to.equal('allow')
    const inside: Line[] = [['*', 'PUT', 'Deny', '/p', '#basket li']]
    expect(outcome({ question: ask('put-element', '#pear'), lines: inside })).to.equal('refuse')
    expect(outcome({ question: ask('put-element', '#basket'), lines: inside })).to.equal('allow')
  })
  it('KEY-6 the parent of what stands beside, as in any POST', () => {
    const deny: Line[] = [['*', 'POST', 'Deny', '/p', '#basket ul']]
    expect(outcome({ question: ask('post-element', '#pear', 'after'), lines: deny })).to.equal('refuse')
    expect(outcome({ question: ask('post-element', '#pear', 'append'), lines: deny })).to.equal('allow')
  })
  it('KEY-6 DEC-8 tiers decide as always: an Allow above a Deny, a Deny above an Allow', () => {
    const lines: Line[] = [
      ['*', 'DELETE', 'Deny', '/p'],
      ['users', 'DELETE', 'Allow', '/p', '#pear'],
      ['u-7', 'DELETE', 'Deny', '/p', 'li'],
    ]
    const question = ask('delete-element', '#pear')
    expect(outcome({ question, lines })).to.equal('refuse')
    expect(outcome({ question, lines, principal: user('ann') })).to.equal('allow')
    expect(outcome({ question, lines, principal: user('u-7') })).to.equal('refuse')
  })
  it('DEC-8 what a visitor may not see, a visitor may not change', () => {
    const lines: Line[] = [['*', 'GET', 'Deny', '/p']]
    expect(outcome({ question: ask('put-element', '#pear'), lines })).to.equal('refuse')
    const shown: Line[] = [['*', 'GET', 'Allow', '/p', '#pear']]
    expect(outcome({ question: ask('put-element', '#pear'), lines: shown, defaultGet: 'deny' })).to.equal('allow')
  })
  it('DEC-8 MOVE is not covered', () => {
    const target = key(page, '#pear')
    const anchor = key(page, '#basket')
    const question: Question = {
      ask: 'move-element',
      path: '/p',
      exists: true,
      source: target,
      anchor,
      placement: 'append',
    }
    expect(outcome({ question })).to.equal('refuse')
  })
})
