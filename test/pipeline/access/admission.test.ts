import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Admission, admit, admitDirectory, type Question } from '../../../pipeline/access/admission.ts'
import type { Placement } from '../../../pipeline/tree/edit/edit.ts'
import { at, document, HIDDEN, outcome } from './asking.ts'
import { access, html, key, keys, type Line, site, user } from './site.ts'

describe('METH-3 what is asked', () => {
  const whole = (ask: 'read' | 'subscribe' | 'evaluate' | 'put' | 'post' | 'delete' | 'patch') =>
    ({ ask, path: '/p', exists: true }) as const

  /** For each kind of request: the method that grants it, and whether default-GET does. */
  const rows: [name: string, question: Question, method: string, byDefault: boolean][] = [
    ['GET', whole('read'), 'GET', true],
    ['HEAD', { ...whole('read'), head: true }, 'HEAD', true],
    ['GET with a selector', { ask: 'read-elements', path: '/p', exists: true, keys: [at('#a')] }, 'GET', true],
    ['GET of all matches', { ask: 'read-elements', path: '/p', exists: true, keys: keys(document, 'li') }, 'GET', true],
    ['GET of an event stream', whole('subscribe'), 'GET', false],
    ['QUERY in Sessel', whole('evaluate'), 'QUERY', false],
    ['PUT', whole('put'), 'PUT', false],
    ['POST to a template or directory', whole('post'), 'POST', false],
    ['DELETE', whole('delete'), 'DELETE', false],
    ['PATCH', whole('patch'), 'PATCH', false],
    ['PUT with a selector', { ask: 'put-element', path: '/p', exists: true, target: at('#a') }, 'PUT', false],
    ['POST with a selector', { ask: 'post-element', path: '/p', exists: true, target: at('#a') }, 'POST', false],
    ['DELETE with a selector', { ask: 'delete-element', path: '/p', exists: true, target: at('#a') }, 'DELETE', false],
    ['MOVE of a document', { ask: 'move', path: '/p', destination: '/p', exists: true }, 'MOVE', false],
  ]
  for (const [name, question, method, byDefault] of rows) {
    it(`${name} asks for ${method}${byDefault ? ', or default-GET' : ''}`, () => {
      expect(outcome({ question, defaultGet: 'deny' })).to.equal('refuse')
      expect(outcome({ question, defaultGet: 'allow' })).to.equal(byDefault ? 'allow' : 'refuse')
      for (const granted of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'QUERY']) {
        const expected = granted === method || (method === 'HEAD' && granted === 'GET') ? 'allow' : 'refuse'
        const lines: Line[] = [['*', granted, 'Allow', '/p']]
        expect(outcome({ lines, question, defaultGet: 'deny' }), granted).to.equal(expected)
      }
      expect(outcome({ lines: [['*', '*', 'Allow', '/p']], question, defaultGet: 'deny' })).to.equal('allow')
      expect(outcome({ lines: [['*', '*', 'Deny', '/p']], question })).to.equal('refuse')
    })
  }

  const keyed: [placement: Placement | undefined, selector: string][] = [
    [undefined, '#a'],
    ['append', '#a'],
    ['prepend', '#a'],
    ['before', '#list'],
    ['after', '#list'],
  ]
  for (const [placement, selector] of keyed) {
    it(`POST ${placement ?? 'without placement'} is keyed on ${selector === '#a' ? 'the anchor' : "the anchor's parent"}`, () => {
      const question: Question = { ask: 'post-element', path: '/p', exists: true, target: at('#a'), placement }
      for (const granted of ['#a', '#list']) {
        const expected = granted === selector ? 'allow' : 'refuse'
        expect(outcome({ lines: [['*', 'POST', 'Allow', '/p', granted]], question }), granted).to.equal(expected)
      }
    })
  }
  it('POST beside an anchor without parent is asked without a key', () => {
    const question: Question = { ask: 'post-element', path: '/p', exists: true, target: at('html'), placement: 'after' }
    expect(outcome({ lines: [['*', 'POST', 'Allow', '/p', '*']], question })).to.equal('refuse')
    expect(outcome({ lines: [['*', 'POST', 'Allow', '/p']], question })).to.equal('allow')
  })
  it('KEY-5 a write is decided on its target alone', () => {
    const question: Question = { ask: 'put-element', path: '/p', exists: true, target: at('li') }
    expect(outcome({ lines: [['*', 'PUT', 'Allow', '/p', '#a']], question })).to.equal('allow')
    expect(outcome({ lines: [['*', 'PUT', 'Allow', '/p', '#b']], question })).to.equal('refuse')
  })
})

describe('reads', () => {
  const read = (keysOf: string, exists = true): Question => ({
    ask: 'read-elements',
    path: '/p',
    exists,
    keys: keysOf ? keys(document, keysOf) : [],
  })
  it('ALL-1 one element that is denied refuses all', () => {
    const lines: Line[] = [['*', 'GET', 'Deny', '/p', '#b']]
    expect(outcome({ lines, question: read('#a') })).to.equal('allow')
    expect(outcome({ lines, question: read('li') })).to.equal('refuse')
  })
  it('ALL-2 one element is decided by itself', () => {
    const lines: Line[] = [['*', 'GET', 'Deny', '/p', '#a']]
    expect(outcome({ lines, question: { ...read(''), ask: 'read-elements', keys: [at('li')] } as Question })).to.equal(
      'refuse',
    )
  })
  it('an element may be readable where the page is not', () => {
    const lines: Line[] = [HIDDEN, ['users', 'GET', 'Allow', '/p', '#a']]
    expect(outcome({ lines, question: read('#a'), principal: user('u') })).to.equal('allow')
    expect(outcome({ lines, question: read('#b'), principal: user('u') })).to.equal('refuse')
  })

  const absence: [name: string, question: Question, told: Admission][] = [
    ['a missing document', { ask: 'read', path: '/p', exists: false }, 'not-found'],
    ['a missing document, HEAD', { ask: 'read', path: '/p', exists: false, head: true }, 'not-found'],
    ['a missing document, by selector', read('', false), 'not-found'],
    ['no match', read(''), 'no-match'],
  ]
  for (const [name, question, told] of absence) {
    it(`ABS-1 ${name} is told to readers only`, () => {
      expect(outcome({ question })).to.equal(told)
      expect(outcome({ question, lines: [HIDDEN] })).to.equal('refuse')
      expect(outcome({ question, defaultGet: 'deny' })).to.equal('refuse')
      expect(
        outcome({ question, lines: [['users', 'GET', 'Allow', '/p']], defaultGet: 'deny', principal: user('u') }),
      ).to.equal(told)
    })
  }
  it('ABS-1 a subscription and a Sessel QUERY: first their own permit', () => {
    for (const [ask, method] of [
      ['subscribe', 'GET'],
      ['evaluate', 'QUERY'],
    ] as const) {
      const question: Question = { ask, path: '/p', exists: false }
      expect(outcome({ question }), ask).to.equal('refuse')
      expect(outcome({ question, lines: [['*', method, 'Allow', '/p']] }), ask).to.equal('not-found')
    }
    const blind: Line[] = [HIDDEN, ['*', 'QUERY', 'Allow', '/p']]
    expect(outcome({ question: { ask: 'evaluate', path: '/p', exists: false }, lines: blind })).to.equal('refuse')
  })
})

describe('whole writes and absence', () => {
  it('a missing document may be created by PUT', () => {
    const question: Question = { ask: 'put', path: '/p', exists: false }
    expect(outcome({ question, lines: [['*', 'PUT', 'Allow', '/p'], HIDDEN] })).to.equal('allow')
  })
  it('ABS-7 DELETE: refused unless permitted, then 404 for readers', () => {
    const question: Question = { ask: 'delete', path: '/p', exists: false }
    const granted: Line = ['*', 'DELETE', 'Allow', '/p']
    expect(outcome({ question })).to.equal('refuse')
    expect(outcome({ question, lines: [granted] })).to.equal('not-found')
    expect(outcome({ question, lines: [granted, HIDDEN] })).to.equal('refuse')
  })
  it('HTTP-97 POST without range: 404 for readers, but a directory needs nothing stored', () => {
    const lines: Line[] = [['*', 'POST', 'Allow', '/p|/d/']]
    expect(outcome({ question: { ask: 'post', path: '/p', exists: false }, lines })).to.equal('not-found')
    expect(outcome({ question: { ask: 'post', path: '/p', exists: false } })).to.equal('refuse')
    expect(outcome({ question: { ask: 'post', path: '/d/', exists: false }, lines })).to.equal('allow')
  })
  it('HTTP-115 PATCH looks for nothing', () => {
    const lines: Line[] = [['*', 'PATCH', 'Allow', '/p'], HIDDEN]
    expect(outcome({ question: { ask: 'patch', path: '/p', exists: false }, lines })).to.equal('allow')
  })
})

describe('a directory without its slash', () => {
  const directory = (lines: Line[], index: boolean, defaultGet: 'allow' | 'deny' = 'allow', head = false) =>
    admitDirectory(access(site(lines), { defaultGet }), '/d', index, head)

  it('ABS-6 is redirected to a readable index', () => {
    expect(directory([], true)).to.equal('redirect')
    expect(directory([['*', 'GET', 'Allow', '/d/']], true, 'deny')).to.equal('redirect')
  })
  it('ABS-6 is refused where a rule refuses the name or the index, index or not', () => {
    for (const pattern of ['/d/*', '/d', '/d/index.html', '/d/']) {
      for (const index of [true, false]) {
        expect(directory([['*', 'GET', 'Deny', pattern]], index), pattern).to.equal('refuse')
      }
    }
  })
  it('METH-2 HEAD is refused by a rule for it as well, and redirected where GET is', () => {
    for (const pattern of ['/d/*', '/d', '/d/']) {
      const lines: Line[] = [['*', 'HEAD', 'Deny', pattern]]
      for (const index of [true, false]) expect(directory(lines, index, 'allow', true), pattern).to.equal('refuse')
      expect(directory(lines, true), pattern).to.equal('redirect')
    }
    expect(directory([], true, 'allow', true)).to.equal('redirect')
    expect(directory([['*', 'HEAD', 'Allow', '/d/']], true, 'deny', true)).to.equal('refuse')
  })
  it('ABS-6 is 404 without an index', () => {
    expect(directory([], false)).to.equal('not-found')
  })
  it('ABS-1 tells nothing where nothing may be read', () => {
    expect(directory([], true, 'deny')).to.equal('refuse')
    expect(directory([], false, 'deny')).to.equal('refuse')
  })
})

describe('worked examples', () => {
  it('A public list in a readable page', () => {
    const page = html('<ul id="todo"><li>Milk</li></ul>')
    const mine = access(site([['*', 'PUT|DELETE', 'allow', '/index.html', '#todo li']]))
    const put = (target: string) =>
      admit(mine, { ask: 'put-element', path: '/', exists: true, target: key(page, target) })
    expect(put('#todo > li:nth-child(1)')).to.equal('allow')
    expect(put('#todo')).to.equal('refuse')
    expect(admit(mine, { ask: 'put', path: '/index.html', exists: true })).to.equal('refuse')
    expect(admit(mine, { ask: 'delete-element', path: '/', exists: true, target: undefined })).to.equal('no-match')
  })
  it('Drop box', () => {
    const page = html('<div id="in"></div>')
    const mine = access(
      site([
        ['*', 'GET', 'Deny', '/inbox.html'],
        ['*', 'POST', 'Allow', '/inbox.html', '#in'],
      ]),
    )
    const path = '/inbox.html'
    expect(admit(mine, { ask: 'post-element', path, exists: true, target: key(page, '#in') })).to.equal('allow')
    expect(admit(mine, { ask: 'read', path, exists: true })).to.equal('refuse')
    expect(admit(mine, { ask: 'put-element', path, exists: true, target: undefined })).to.equal('refuse')
  })
})
