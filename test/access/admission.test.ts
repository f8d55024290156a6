import { expect } from 'chai'
import { describe, it } from 'mocha'
import { admit, admitDirectory, type Outcome, type Placement, type Question } from '../../pipeline/access/admission.ts'
import type { Principal } from '../../pipeline/access/principal.ts'
import { access, html, key, keys, type Line, site, user } from './site.ts'

const document = html('<ul id="list"><li id="a"></li><li id="b"></li></ul><ul id="done"></ul>')
const at = (selector: string) => key(document, selector)

type Ask = { lines?: Line[]; question: Question; defaultGet?: 'allow' | 'deny'; principal?: Principal }

function outcome({ lines = [], question, defaultGet = 'allow', principal }: Ask): Outcome {
  return admit(access(site(lines), { defaultGet, ...(principal && { principal }) }), question)
}

const HIDDEN: Line = ['*', 'GET', 'Deny', '/p']

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

  const absence: [name: string, question: Question, told: Outcome][] = [
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

describe('a directory without its slash', () => {
  const directory = (lines: Line[], index: boolean, defaultGet: 'allow' | 'deny' = 'allow') =>
    admitDirectory(access(site(lines), { defaultGet }), '/d', index)

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
