import { expect } from 'chai'
import { extractAccess } from '../../../pipeline/access/extract.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { page, pages, text } from './pages.ts'

const NS = 'https://platform.example/ns'
const ARTICLE = '/articles/four-metres-to-the-left.html'
const WRITES = ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']

/** Fields of the configuration items of the site and how often each must occur. */
const FIELDS: Record<string, Record<string, [least: number, most: number]>> = {
  [`${NS}/AuthorizationRule`]: { actor: [1, 9], resource: [1, 9], method: [1, 9], selector: [0, 1], action: [1, 1] },
  [`${NS}/Group`]: { name: [1, 1], member: [1, 9] },
  [`${NS}/Schema`]: { type: [1, 1], property: [1, 9] },
  [`${NS}/Property`]: { name: [1, 1], type: [1, 1], cardinality: [1, 1], unique: [0, 2] },
  'https://schema.org/Enum': { type: [1, 1], value: [1, 9] },
  'https://bench.example/Event': { code: [1, 1], name: [1, 1], date: [1, 1], place: [1, 1], text: [1, 9] },
  'https://schema.org/Article': {
    headline: [1, 1],
    description: [1, 1],
    author: [1, 1],
    datePublished: [1, 1],
    image: [1, 1],
  },
  [`${NS}/ShapeConstraint`]: { resource: [1, 9], selector: [1, 9], permit: [1, 99] },
}

const declared = extractAccess(parseDocument('html', text('/rules.html')), NS)
const rules = declared?.rules ?? []
const allowed = rules.filter(rule => rule.action[0] === 'Allow')
/** What anybody may do who comes by. */
const open = allowed.filter(rule => rule.actor.includes('*'))

describe('Demo site, house rules', () => {
  it('are items of known types, with known properties, as many as the type asks for', () => {
    const items = pages.flatMap(({ document }) => [...document.querySelectorAll('[itemscope]')])
    expect(items).to.have.length(29)
    for (const item of items) {
      const fields = FIELDS[item.getAttribute('itemtype') ?? '']
      const names = [...item.querySelectorAll('[itemprop]')]
        .filter(property => property.parentElement?.closest('[itemscope]') === item)
        .map(property => property.getAttribute('itemprop') ?? '')
      expect(fields, item.outerHTML).to.include.keys(...names)
      for (const [name, [least, most]] of Object.entries(fields ?? {})) {
        expect(names.filter(other => other === name).length, name).to.be.within(least, most)
      }
    }
    const loose = pages.flatMap(({ document }) => [...document.querySelectorAll('[itemprop]')])
    expect(loose.every(property => property.closest('[itemscope]'))).to.equal(true)
  })

  it('RULE-1 to RULE-6: the server reads from the table what the table shows', () => {
    const read = rules.map(({ actor, action, method, resource, selector }) =>
      [actor, action, method.join(' '), resource, selector].flat().join(' | '),
    )
    expect(read).to.deep.equal([
      '* | Allow | GET | /*',
      `* | Allow | POST | ${ARTICLE} | /events.html | #comments`,
      '* | Allow | POST | /events.html | #events',
      '* | Allow | POST | /guestbook.html | #entries',
      '* | Allow | PUT DELETE | /guestbook.html | #entries > li',
      '* | Allow | MOVE | /guestbook.html',
      '* | Deny | GET | /members/*',
      'users | Allow | GET | /members/*',
      '* | Deny | GET | /editors/*',
      'editors | Allow | GET | /editors/*',
      'editors | Allow | PUT | /members/index.html | #notice',
      '* | Deny | PUT POST DELETE MOVE PATCH | /rules.html',
    ])
  })

  it('let visitors write into comments, calendar and guest book only, and by element only', () => {
    const writes = open.filter(rule => rule.method.some(method => WRITES.includes(method) || method === '*'))
    for (const rule of writes) {
      expect([ARTICLE, '/events.html', '/guestbook.html'], 'no pattern, and one of the three pages').to.include.members(
        rule.resource,
      )
      // AMV-1: an element move needs a MOVE of the page; it must not bring whole-document methods along.
      if (rule.selector.length === 0) expect(rule.method).to.deep.equal(['MOVE'])
    }
  })

  it('GRP-1: the group that rules name is declared, with addresses', () => {
    expect(declared?.groups.map(({ name, members }) => ({ name, members }))).to.deep.equal([
      { name: 'editors', members: ['marit@bench.example', 'ines@bench.example'] },
    ])
  })

  it('DEC-1: what is closed to everybody is open to somebody', () => {
    const closed = rules.filter(rule => rule.action[0] === 'Deny' && rule.method.includes('GET'))
    for (const { resource } of closed)
      expect(
        allowed.filter(rule => rule.resource.join() === resource.join()).flatMap(({ actor }) => actor),
      ).to.have.length(1)
    expect(closed).to.have.length(2)
  })

  it('AMV-3: no two paths allow MOVE, so no page can be moved away', () => {
    const moves = allowed.filter(rule => rule.method.includes('MOVE'))
    expect(moves.flatMap(rule => rule.resource)).to.deep.equal(['/guestbook.html'])
  })

  it('RULE-9: no rule about MOVE has a selector', () => {
    for (const rule of rules.filter(({ method }) => method.includes('MOVE'))) expect(rule.selector).to.deep.equal([])
  })

  it('AMV-1, KEY-1: what they select exists, and a move inside the guest book has all three permits', () => {
    for (const { resource, selector } of rules.filter(rule => rule.selector.length > 0)) {
      for (const path of resource)
        expect(page(path).document.querySelector(selector.join()), `${path} ${selector}`).not.to.equal(null)
    }
    const grants = allowed.filter(rule => rule.resource.includes('/guestbook.html')).flatMap(rule => rule.method)
    expect(grants).to.include.members(['MOVE', 'DELETE', 'POST'])
  })
})

describe('Demo site, shapes of what visitors write', () => {
  const shapes = [...page('/rules.html').document.querySelectorAll(`[itemtype="${NS}/ShapeConstraint"]`)].flatMap(
    item => {
      const values = (name: string) =>
        [...item.querySelectorAll(`[itemprop=${name}]`)].map(({ textContent }) => textContent ?? '')
      return values('resource').map(path => ({ path, scope: values('selector')[0] ?? '', permits: values('permit') }))
    },
  )

  /** MOD-94, MOD-95: each element matches a permit, and each attribute is named in one that matches. */
  function refused(element: Element, permits: string[]): boolean {
    const matching = permits.filter(permit => element.matches(permit))
    const covered = (name: string) => matching.some(permit => permit.split(' ').at(-1)?.includes(`[${name}`))
    return matching.length === 0 || !element.getAttributeNames().every(covered)
  }

  it('cover every place that visitors may write to', () => {
    const places = allowed
      .filter(rule => rule.method.includes('POST'))
      .flatMap(rule => rule.resource.map(path => ({ path, css: rule.selector.join() })))
    expect(shapes).to.have.length(places.length)
    for (const { path, css } of places) {
      const list = page(path).document.querySelector(css)
      const covering = shapes.filter(shape => shape.path === path && list?.matches(shape.scope))
      expect(covering, `${path} ${css}`).to.have.length(1)
    }
  })

  it('permit what the site itself holds there', () => {
    for (const { path, scope, permits } of shapes) {
      const inside = [...page(path).document.querySelectorAll(`${scope} *`)]
      expect(inside.length).to.be.above(8)
      expect(inside.filter(element => refused(element, permits)).map(String)).to.deep.equal([])
    }
  })

  for (const markup of [
    '<script src="/x.js"></script>',
    '<img src="x" alt="">',
    '<p onclick="x()">x</p>',
    '<p style="color:red">x</p>',
    '<p class="by" id="main">x</p>',
    '<b class="name fresh">x</b>',
    '<a href="javascript:x()">x</a>',
    '<meta http-equiv="refresh" content="0">',
    `<p itemscope itemtype="${NS}/AuthorizationRule"><b class="name" itemprop="actor">*</b></p>`,
    '<ol><li class="entry" id="entry-1">x</li></ol>',
  ]) {
    it(`refuse ${markup.slice(0, 48)}`, () => {
      for (const { path, scope, permits } of shapes) {
        const list = page(path).document.querySelector(scope)?.cloneNode(true) as Element
        const item = list.querySelector('li')
        if (item === null) throw new Error(`${path} has no item to write into.`)
        item.innerHTML = markup
        // The permits speak of the list by its id, which the copy still has.
        expect(
          [...list.querySelectorAll('*')].some(element => refused(element, permits)),
          path,
        ).to.equal(true)
      }
    })
  }
})
